"""Whose word it is that a key goes to a host, or that an environment is built: the user's or ours.

Model cards of plugins and files are somebody else's: by themselves they may send no key anywhere
and have nothing installed.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from vgen_eval.engine.models import HOME, Model
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.types import Adapter

__all__ = ["Demands", "demands_of", "refuse"]

ENVIRONMENT_ADAPTER = f"{HOME}:command"
"""What builds the environment that `options.env` of a card names."""


class Demands(msgspec.Struct, frozen=True, kw_only=True):
    """What a model wants beside computing, and what of it nobody allowed."""

    key_env: str | None = None
    host: str | None = None
    """Who gets the key."""
    host_allowed: bool = True
    environment: tuple[str, ...] = ()
    """What would be installed for it, and the program that would get a key."""
    environment_allowed: bool = True


def demands_of(model: Model, adapter: Adapter, settings: Settings) -> Demands:
    """What the model wants, by its card and the adapter built from it."""
    key_env = model.card.needs.key_env
    host = getattr(adapter, "endpoint", None)
    sends = key_env is not None and isinstance(host, str)
    environment = _environment(model)
    return Demands(
        key_env=key_env,
        host=host if sends else None,
        host_allowed=not sends or model.trusted or _is_allowed(str(host), settings),
        environment=environment,
        environment_allowed=(
            not environment
            or model.trusted
            or settings.allow_env
            or "env" in settings.model_args
            or any(key.startswith("options.env") for key in settings.set)
        ),
    )


def refuse(model: Model, adapter: Adapter, settings: Settings) -> None:
    """NotRunnable, with its cure, when the model wants what nobody allowed."""
    found = demands_of(model, adapter, settings)
    if not found.host_allowed:
        raise NotRunnable(
            f"model '{model.name}' ({model.distribution}) would send the key in {found.key_env} "
            f"to {found.host}",
            cure=f"--allow-host {found.host}   if that is where it belongs",
        )
    if not found.environment_allowed:
        raise NotRunnable(
            f"model '{model.name}' ({model.distribution}) would install and run "
            f"{', '.join(found.environment)}",
            cure="--allow-env   if you trust it",
        )


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


def _environment(model: Model) -> tuple[str, ...]:
    if model.adapter != ENVIRONMENT_ADAPTER:
        return ()
    key_env, env = model.card.needs.key_env, model.card.options.get("env")
    given = (f"a program with the key in {key_env}",) if key_env else ()
    if not env:
        return given
    named = [str(entry) for entry in env.get("requirements") or ()]
    if env.get("requirements_file"):
        named.append(str(env["requirements_file"]))
    return (*given, *(named or ("an environment",)))
