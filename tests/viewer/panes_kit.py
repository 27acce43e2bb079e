"""How browser tests come to a sample's panes: its address, its arrays, what its address says."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from browser_kit import Server, page_of, row_of
from vgen_eval.viewer.looking import Look

__all__ = ["first_of", "look_at", "query", "settle", "slug", "slug_of", "visit"]


def first_of(server: Server, task: str, model: str) -> str:
    """The first sample of a run."""
    name: str = server.site.index.record(row_of(server, task, model))["samples"][0]
    return name


def look_at(server: Server, task: str, model: str, sample: str) -> Look:
    """What the viewer draws of the first attempt."""
    run = row_of(server, task, model)
    look: Look = server.site.looker.look(server.site.results / run.path, sample, 0)
    return look


def visit(page: Any, server: Server, task: str, model: str, rest: str = "") -> Look:
    """Opens the first sample of a run; gives its arrays."""
    sample = first_of(server, task, model)
    page.goto(page_of(server, task, model, sample, rest))
    page.wait_for_selector("[data-stage].ready")
    return look_at(server, task, model, sample)


def settle(page: Any) -> None:
    """Waits for two frames: whatever was asked for is drawn."""
    page.evaluate("() => new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))")


def query(page: Any, name: str) -> str | None:
    """A field of the address, once the page had its time to write it."""
    page.wait_for_timeout(350)
    found = parse_qs(urlsplit(page.url).query).get(name)
    return found[0] if found else None


def slug(page: Any) -> str:
    """The sample's part of the address."""
    return slug_of(page.url)


def slug_of(address: str) -> str:
    return address.partition("/s/")[2].partition("?")[0].partition("#")[0]
