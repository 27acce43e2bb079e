"""Whose word it is that a key leaves, or that an environment is built: the user's or ours.

Model cards of plugins and files are somebody else's: by themselves they may send no key anywhere,
pass no key or other variable to a program, and have nothing installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from vgen_eval.distributions import HOME
from vgen_eval.engine.models import Model
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.secrets import redact
from vgen_eval.types import Adapter

__all__ = ["Demands", "demands_of", "refuse", "refuse_keys"]

ENVIRONMENT_ADAPTER = f"{HOME}:command"
"""What builds the environment that `options.env` of a card names."""


class Demands(msgspec.Struct, frozen=True, kw_only=True):
    """What a model wants beside computing, and what of it nobody allowed."""

    key_env: str | None = None
    host: str | None = None
    """Who gets the key."""
    host_allowed: bool = True
    environment: tuple[str, ...] = ()
    """What would be installed for it."""
    environment_allowed: bool = True
    program_key: str | None = None
    """The variable with the key that its program would get."""
    program_env: tuple[str, ...] = ()
    """The other variables that its program would get."""
    program_allowed: bool = True


def demands_of(model: Model, adapter: Adapter, settings: Settings) -> Demands:
    """What the model wants, by its card and the adapter built from it."""
    key_env = model.card.needs.key_env
    host = getattr(adapter, "endpoint", None)
    sends = key_env is not None and isinstance(host, str)
    runs = model.adapter == ENVIRONMENT_ADAPTER
    environment = _environment(model) if runs else ()
    program_key = key_env if runs else None
    program_env = _listed(model.card.options.get("pass_env")) if runs else ()
    allowed = model.trusted or settings.allow_env
    return Demands(
        key_env=key_env,
        host=host if sends else None,
        host_allowed=not sends or model.trusted or _is_allowed(str(host), settings),
        environment=environment,
        environment_allowed=not environment or allowed or _is_env_typed(settings),
        program_key=program_key,
        program_env=program_env,
        program_allowed=not (program_key or program_env) or allowed,
    )


def refuse(model: Model, adapter: Adapter, settings: Settings) -> None:
    """NotRunnable, with its cure, when the model wants what nobody allowed.

    UsageError when its options hold a key.
    """
    refuse_keys(model, settings)
    found = demands_of(model, adapter, settings)
    if not found.host_allowed:
        raise NotRunnable(
            f"model '{model.name}' ({model.distribution}) would send the key in {found.key_env} "
            f"to {found.host}",
            cure=f"--allow-host {found.host}   if that is where it belongs",
        )
    wants = []
    if not found.program_allowed and found.program_key:
        wants.append(f"give the key in {found.program_key} to its program")
    if not found.program_allowed and found.program_env:
        wants.append(f"pass {', '.join(found.program_env)} to its program")
    if not found.environment_allowed:
        wants.append(f"install {', '.join(found.environment)}")
    if wants:
        raise NotRunnable(
            f"model '{model.name}' ({model.distribution}) would {' and '.join(wants)}",
            cure="--allow-env   if you trust it",
        )


def refuse_keys(model: Model, settings: Settings) -> None:
    """UsageError when what is written down of a model holds a key that was read."""
    card = model.card
    kept = {
        "options": card.options, "generation": card.generation, "checkpoint": card.checkpoint,
        "needs": card.needs, "options as read": model.options, "facts": model.facts,
        "-M": settings.model_args, "--set": settings.set,
    }  # fmt: skip
    for where, value in kept.items():
        for place, text in _strings_in(msgspec.to_builtins(value), where):
            cut = redact(text)
            if cut != text:
                raise UsageError(
                    f"model '{model.name}': {redact(place)} holds a key, and would be written "
                    f"down: {cut[:200]}",
                    cure="take it out: keys are named by needs.key_env",
                )


def _strings_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Each text within, keys too, and where it stands."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield place, str(key)
            yield from _strings_in(inner, f"{place}.{key}")
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings_in(inner, place)
    elif isinstance(value, int):  # YAML reads a key of digits as a number
        yield place, str(value)


def _is_allowed(host: str, settings: Settings) -> bool:
    """Did the user name the host: in --allow-host, or as the address to be called?"""
    wanted = host.lower()
    bare = urlsplit(f"//{wanted}").hostname or ""
    if any(word.lower() in (wanted, bare, f"[{bare}]") for word in settings.allow_host):
        return True
    typed = (settings.model_args.get("base_url"), settings.set.get("options.base_url"))
    return any(_host_in(url) == wanted for url in typed if isinstance(url, str))


def _host_in(url: str) -> str | None:
    from vgen_eval.remote import endpoint_of  # brings ssl and http along

    try:
        return endpoint_of(url).lower()
    except UsageError:
        return None


def _is_env_typed(settings: Settings) -> bool:
    """Did the user give the environment, or a part of it?"""
    typed = (*settings.set, *(f"options.{key}" for key in settings.model_args))
    return any(key == "options.env" or key.startswith("options.env.") for key in typed)


def _environment(model: Model) -> tuple[str, ...]:
    env = model.card.options.get("env")
    if not env:
        return ()
    if not isinstance(env, Mapping):  # the adapter says what is wrong with it
        return ("an environment",)
    named = list(_listed(env.get("requirements")))
    if env.get("requirements_file"):
        named.append(str(env["requirements_file"]))
    return tuple(named or ("an environment",))


def _listed(value: Any) -> tuple[str, ...]:
    return tuple(str(entry) for entry in ([value] if isinstance(value, str) else value or ()))
