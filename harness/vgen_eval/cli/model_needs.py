"""What a model card needs to run, and which of it is not here: nothing is loaded to tell."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from vgen_eval.cards.records import ModelCard

__all__ = ["find_memory", "lacks", "missing", "missing_extra", "missing_key", "needs"]

LOOPBACK_S = 0.3
"""How long a server on this machine may take to accept a connection."""


def needs(card: ModelCard, *, long: bool = False) -> list[str]:
    """Words for what it needs: extra, key, server, environment, device memory; short for a list."""
    wanted = card.needs
    memory = f"{wanted.vram_gb:g} GB" if wanted.vram_gb else ""
    own = "environment" if isinstance(card.options.get("env"), Mapping) else ""
    if long:
        found = (
            wanted.extra and f"the extra {wanted.extra}",
            wanted.key_env and f"a key in {wanted.key_env}",
            wanted.serve and "a server of your own",
            own and "an environment of its own",
            memory and f"{memory} of device memory",
        )
    else:
        key, server = wanted.key_env and f"${wanted.key_env}", wanted.serve and "own server"
        found = (wanted.extra, key, server, own and "own environment", memory)
    return [word for word in found if word]


def lacks(card: ModelCard, extras: dict[str, bool]) -> list[str]:
    """Words for what is plainly not here, for a list; [] when it may run.

    `extras`: extra -> is it whole, kept over the cards of a list.
    """
    from vgen_eval.cli.extras import missing_of

    if not card.runnable:
        return ["not runnable"]
    found = []
    extra, key = card.needs.extra, card.needs.key_env
    if extra:
        if extra not in extras:
            extras[extra] = not missing_of(extra)
        if not extras[extra]:
            found.append(extra)
    if key and not os.environ.get(key):
        found.append(f"${key}")
    if card.needs.vram_gb and list(_short_memory(card.needs.vram_gb, find_memory())):
        found.append(f"{card.needs.vram_gb:g} GB")
    return found


def missing(card: ModelCard, adapter: Any = None, *, folder: Path | None = None) -> list[str]:
    """What keeps the model from running here, each with its cure, as far as can be seen.

    `adapter`: its class; asked by its `lacks`, where it has one. `folder`: where the card lies.
    """
    found = []
    if not card.runnable:
        found.append(f"it cannot be run: {card.reason or 'no reason given'}")
    found += [*missing_extra(card), *missing_key(card)]
    serve = card.needs.serve
    if serve and _is_silent(str(card.options.get("base_url", ""))):
        found.append(f"nothing answers at {card.options['base_url']}: {serve}")
    if card.needs.vram_gb:
        found += _short_memory(card.needs.vram_gb, find_memory())
    if adapter is not None and card.runnable:
        found += _told_by(adapter, card, folder)
    return found


def missing_extra(card: ModelCard) -> Iterator[str]:
    """The libraries of its extra that are not here, and the command that installs them."""
    from vgen_eval.cli.extras import missing_of

    extra = card.needs.extra
    if extra and (lacking := missing_of(extra)):
        yield f"{', '.join(lacking)}: pip install 'vgen-eval[{extra}]'"


def missing_key(card: ModelCard) -> Iterator[str]:
    """The variable of its key, where it is not set."""
    key = card.needs.key_env
    if key and not os.environ.get(key):
        yield f"{key} is not set: export {key}=..."


@functools.cache
def find_memory() -> Sequence[float] | None:
    """Device memory of each NVIDIA GPU here in GB (10^9 bytes); None when that cannot be told."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return [pynvml.nvmlDeviceGetMemoryInfo(handle).total / 1e9 for handle in handles]
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _short_memory(wanted: float, here: Sequence[float] | None) -> Iterable[str]:
    if here is None or any(memory >= wanted for memory in here):
        return
    seen = f"the largest here has {max(here):.0f} GB" if here else "no NVIDIA GPU is seen here"
    yield f"a device with {wanted:g} GB of memory: {seen}"


def _is_silent(base_url: str) -> bool:
    """Is it an address of this machine at which nothing accepts a connection?"""
    import socket
    from urllib.parse import urlsplit

    from vgen_eval.errors import UsageError
    from vgen_eval.remote import endpoint_of, is_loopback

    try:
        if not is_loopback(endpoint_of(base_url)):
            return False
    except UsageError:
        return False
    parts = urlsplit(base_url)
    place = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    try:
        with socket.create_connection(place, timeout=LOOPBACK_S):
            return False
    except OSError:
        return True


def _told_by(adapter: Any, card: ModelCard, folder: Path | None) -> list[str]:
    """What the adapter itself misses; a card whose options are wrong is `check`'s to tell."""
    from vgen_eval.engine.models import read_options
    from vgen_eval.errors import CardError, VgenEvalError

    ask = getattr(adapter, "lacks", None)
    if ask is None:
        return []
    try:
        options = read_options(adapter, card, folder=folder)
    except CardError as exc:
        return [str(problem) for problem in exc.problems]
    except VgenEvalError as exc:
        return [exc.what]
    return [str(text) for text in ask(options, card)]
