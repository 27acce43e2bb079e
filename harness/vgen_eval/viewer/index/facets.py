"""What a run's samples can be filtered by, counted over all of them."""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from collections.abc import Sequence

from vgen_eval import jsonio
from vgen_eval.viewer.index.querying import Seen
from vgen_eval.viewer.records import Facets

__all__ = ["BINS", "count_facets", "histogram"]

BINS = 20


def count_facets(db: sqlite3.Connection, seen: Seen) -> Facets:
    """Of a run: one pass over its rows."""
    statuses: Counter[str] = Counter()
    flags: Counter[str] = Counter()
    tags: dict[str, Counter[str]] = {}
    scores: list[float] = []
    same: Counter[tuple[str, str, str]] = Counter()
    query = "SELECT status, flags, tags, score FROM samples WHERE run = ?"
    for status, flagged, tagged, score in db.execute(query, (seen.number,)):
        same[status, flagged, tagged] += 1
        if score is not None:
            scores.append(score)
    for (status, flagged, tagged), count in same.items():
        statuses[status] += count
        for flag in jsonio.loads(f"[{flagged[1:-1]}]"):
            flags[flag] += count
        for name, value in jsonio.loads(f"{{{tagged[1:-1]}}}").items():
            tags.setdefault(name, Counter())[value] += count
    edges, counts = histogram(scores)
    return Facets(
        statuses=dict(sorted(statuses.items())),
        flags=dict(sorted(flags.items())),
        tags={name: dict(sorted(found.items())) for name, found in sorted(tags.items())},
        edges=edges,
        counts=counts,
    )


def histogram(values: Sequence[float]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Edges and counts of equally wide bins from the least to the largest; each but the last
    without its upper end. One bin where all are the same, () and () where there are none.
    """
    finite = [value for value in values if abs(value) != float("inf")]
    if not finite:
        return (), ()
    low, high = min(finite), max(finite)
    width = high / BINS - low / BINS
    edges = (low, *(low + width * at for at in range(1, BINS)), high)
    if not all(a < b for a, b in itertools.pairwise(edges)):
        return (low, high), (len(finite),)
    counts = [0] * BINS
    for value in finite:
        at = min(int(value / width - low / width), BINS - 1)
        if value < edges[at]:  # of a last digit that was rounded
            at -= 1
        elif at < BINS - 1 and value >= edges[at + 1]:
            at += 1
        counts[at] += 1
    return edges, tuple(counts)
