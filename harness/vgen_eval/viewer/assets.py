"""Scripts, style and colour tables: read once, served by name, never by path."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files
from typing import NamedTuple

from vgen_eval import jsonio

__all__ = ["MAPS", "Asset", "address_of", "find_asset", "text_of"]

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
MAPS = "maps.json"
"""Name of the colour tables."""


class Asset(NamedTuple):
    """A file that ships, or that is made of one table."""

    body: bytes
    type: str
    version: str
    """Of its content: an address with it never goes stale."""


def find_asset(name: str) -> Asset | None:
    """What is served as /static/NAME; None for any other name."""
    return _maps() if name == MAPS else _files().get(name)


@functools.cache
def _files() -> dict[str, Asset]:
    found = {}
    for entry in files("vgen_eval.viewer").joinpath("static").iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if suffix in TYPES:
            found[entry.name] = _asset(entry.read_bytes(), TYPES[suffix])
    return found


@functools.cache
def _maps() -> Asset:
    """Colour map -> its 256 RGB triples, as scripts take them."""
    from vgen_eval.viewer.drawing.maps import TABLES

    tables = {
        name: [[int(part) for part in triple] for triple in table] for name, table in TABLES.items()
    }
    return _asset(jsonio.dumps(tables), "application/json")


def _asset(body: bytes, kind: str) -> Asset:
    return Asset(body, kind, hashlib.sha256(body).hexdigest()[:12])


def address_of(name: str) -> str:
    """Where a page finds it; KeyError where nothing is served by that name."""
    asset = find_asset(name)
    if asset is None:
        raise KeyError(name)
    return f"/static/{name}?v={asset.version}"


def text_of(name: str) -> str:
    """Its source, for a page that carries it inside; KeyError where there is none."""
    asset = find_asset(name)
    if asset is None:
        raise KeyError(name)
    return asset.body.decode()
