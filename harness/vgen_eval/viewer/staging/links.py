"""Addresses of pages: keys with a readable tail, the state in the query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from vgen_eval.viewer.records import Query, RunRow, SampleRow

__all__ = [
    "compare",
    "gallery",
    "models",
    "query_string",
    "run",
    "sample",
    "sample_with",
    "since",
    "task",
    "thumb",
]


def query_string(pairs: Iterable[tuple[str, object]]) -> str:
    """ "?a=b&c=d"; "" where there is nothing to say."""
    text = urlencode([(name, str(value)) for name, value in pairs], safe="~/=:@,")
    return f"?{text}" if text else ""


def run(row: RunRow) -> str:
    """Its result card."""
    return f"/r/{row.slug}"


def gallery(row: RunRow, query: Query | None = None, **changes: Any) -> str:
    """Its samples, as a query chooses them."""
    return f"/r/{row.slug}/s" + query_string((query or Query()).pairs(**changes))


def sample(
    row: RunRow, found: SampleRow, query: Query | None = None, attempt: int | None = None
) -> str:
    """One sample; the list that the reader came from is carried along."""
    pairs: list[tuple[str, object]] = list((query or Query()).pairs(page=1))
    if attempt is not None:
        pairs.append(("a", attempt))
    return sample_with(row, found, pairs)


def sample_with(row: RunRow, found: SampleRow, pairs: Iterable[tuple[str, object]] = ()) -> str:
    """One sample, the page's state in pairs."""
    return f"/r/{row.slug}/s/{found.slug}" + query_string(pairs)


def since(row: RunRow) -> str:
    """What is new of the run; a mark goes behind it."""
    return f"/r/{row.key}/since/"


def thumb(run_key: str, sample_key: str, *, attempt: int = 1, layer: str = "", width: int) -> str:
    """A small picture of one attempt, from 1; by keys alone, as a page has many of them."""
    pairs: list[tuple[str, object]] = [("layer", layer)] if layer else []
    return f"/r/{run_key}/s/{sample_key}/{attempt}/thumb.webp" + query_string(
        [*pairs, ("w", width)]
    )


def task(row: RunRow) -> str:
    """The leaderboard of its task."""
    return f"/t/{row.task_slug}"


def models(row: RunRow, found: SampleRow) -> str:
    """All models on one sample."""
    return f"/t/{row.task_slug}/s/{found.slug}"


def compare(rows: Iterable[RunRow], **more: object) -> str:
    """Runs side by side."""
    return "/c" + query_string([("runs", ",".join(row.key for row in rows)), *more.items()])
