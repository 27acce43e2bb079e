"""The optional libraries of vgen-eval: which are wanted by an extra, which are here."""

from __future__ import annotations

import re
from importlib import metadata

__all__ = ["list_extras", "missing_of"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")


def _requirements() -> list[str]:
    try:
        return metadata.requires("vgen-eval") or []
    except metadata.PackageNotFoundError:  # run from the source tree
        return []


def list_extras() -> dict[str, list[str]]:
    """Extra -> distributions that it brings."""
    found: dict[str, list[str]] = {}
    for requirement in _requirements():
        name, extra = _NAME.match(requirement), _EXTRA.search(requirement)
        if name and extra:
            found.setdefault(extra.group(1), []).append(name.group())
    return found


def missing_of(extra: str) -> list[str]:
    """The distributions of an extra that are not installed; its own name when it is not known."""
    wanted = list_extras().get(extra)
    if wanted is None:
        return [f"the extra '{extra}'"]
    return [name for name in wanted if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
