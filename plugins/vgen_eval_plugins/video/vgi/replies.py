"""What a VGI judge's model says: comments and nominations, counts of violations, tiers, votes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeGuard

import msgspec
from vgen_eval.errors import Undecodable, Unreadable

from vgen_eval_plugins.parsing.objects import read_object
from vgen_eval_plugins.video.vgi.grid import choose_nominations
from vgen_eval_plugins.video.vgi.records import FAILURE_LABELS

__all__ = [
    "Comment",
    "Counts",
    "Incomplete",
    "Looked",
    "Numbers",
    "Reading",
    "read_counts",
    "read_tier",
    "read_vote",
    "read_window",
]

Numbers = Literal["integral", "truncated"]
"""integral: 2 and 2.0 are, all else is not. truncated: "3" is 3, 2.7 is 2, true is 1, a count of
-4 is 0."""
Reading = Literal["strict", "plain"]
"""strict: no key stands twice, and a window's reply has comments or nominations. plain: as Python's
reader of JSON has it, of a key that stands twice the last; any object that holds something will do
for a window."""

COMMENT = 2000
"""Characters of a comment that are kept."""
COMMENTS = 200
"""Of one reply."""
MOST = 10**9
"""Violations: more are that many."""


class Comment(msgspec.Struct, frozen=True):
    """A remark about some frames."""

    frames: tuple[int, ...]
    text: str


class Looked(msgspec.Struct, frozen=True):
    """What came of one window."""

    comments: tuple[Comment, ...]
    nominated: tuple[int, ...]


class Counts(msgspec.Struct, frozen=True):
    """Violations by entry of the checklist, from 1; entries may be missing."""

    counts: Mapping[int, int]
    labels: Mapping[int, tuple[str, ...]]


class Incomplete(Unreadable):
    """Counts that leave an entry out; those of the others."""

    def __init__(self, what: str, counts: Counts) -> None:
        super().__init__(what)
        self.counts = counts


def read_window(text: str, known: Collection[int], reading: Reading = "strict") -> Looked:
    """Comments, and nominations by the rules of `choose_nominations`, `known` as it has it.

    Unreadable: nothing, no JSON, `{}`, a list of several; `strict`: neither of the two in it.
    """
    found = _read_filled(text, reading)
    comments, nominated = found.get("comments"), found.get("frames_to_inspect_closely")
    if reading == "strict" and comments is None and nominated is None:
        raise Unreadable("the reply holds neither comments nor frames to inspect closely")
    entries = comments if isinstance(comments, list) else []
    read = [_read_comment(entry, known) for entry in entries[:COMMENTS]]
    return Looked(
        comments=tuple(comment for comment in read if comment.text),
        nominated=tuple(choose_nominations(nominated, known)),
    )


def read_counts(text: str, entries: int, numbers: Numbers, reading: Reading = "strict") -> Counts:
    """Violations of entries 1 .. `entries`.

    `integral`: Unreadable where an entry stands twice, is none of these, or has no whole number
    >= 0; Incomplete where one is missing. `truncated`: of an entry that stands twice the last
    counts, and what cannot be read is left out. Unreadable when it is no JSON object with a list
    of items.
    """
    found = _read_filled(text, reading)
    counts: dict[int, int] = {}
    labels: dict[int, tuple[str, ...]] = {}
    faults = []
    items = found.get("items")
    if not isinstance(items, list):
        raise Unreadable("the reply holds no list of items")
    for item in items:
        index = item.get("index") if isinstance(item, dict) else None
        if not _is_integer(index) or not 1 <= index <= entries:
            faults.append(f"no entry {index!r}"[:80])
            continue
        if index in counts:
            faults.append(f"entry {index} twice")
        count = _as_count(item.get("violations"), numbers)
        if count is None:
            faults.append(f"entry {index}: {item.get('violations')!r} violations"[:80])
            counts.pop(index, None)
            continue
        counts[index] = count
        labels[index] = _read_labels(item.get("labels"), count)
    read = Counts(counts=counts, labels=labels)
    missing = [str(index) for index in range(1, entries + 1) if index not in counts]
    if numbers == "integral" and faults:
        raise Unreadable(f"the counts cannot be taken: {'; '.join(faults[:5])}")
    if numbers == "integral" and missing:
        raise Incomplete(f"the counts cannot be taken: entry {', '.join(missing)} missing", read)
    return read


def read_tier(text: str, numbers: Numbers, reading: Reading = "strict") -> int:
    """0, 1 or 2; Unreadable for all else."""
    told = _read_filled(text, reading).get("tier")
    tier = _as_integer(told, numbers)
    if tier is None or tier not in (0, 1, 2):
        raise Unreadable(f"tier 0, 1 or 2 was wanted, {told!r} came"[:120])
    return tier


def read_vote(text: str) -> bool:
    """Is it solved? Unreadable unless the reply says true or false."""
    told = _read_filled(text, "strict").get("success")
    if not isinstance(told, bool):
        raise Unreadable(f"true or false was wanted, {told!r} came"[:120])
    return told


def _read_filled(text: str, reading: Reading) -> dict[str, Any]:
    try:
        found = read_object(text, is_plain=reading == "plain")
    except Undecodable as exc:
        raise Unreadable(exc.what) from exc
    if not found:
        raise Unreadable("the reply is {}")
    return found


def _read_comment(entry: Any, known: Collection[int]) -> Comment:
    if isinstance(entry, str):
        return Comment((), _one_line(entry))
    if not isinstance(entry, dict):
        return Comment((), "")
    frames = entry.get("frames")
    told = frames if isinstance(frames, list) else [frames]
    text = entry.get("comment")
    return Comment(
        tuple(sorted({frame for frame in told if _is_integer(frame) and frame in known})),
        _one_line(text) if isinstance(text, str) else "",
    )


def _one_line(text: str) -> str:
    words = text[: 2 * COMMENT].encode("utf-8", "replace").decode()  # half a pair is no text
    return " ".join(words.split())[:COMMENT]


def _read_labels(told: Any, count: int) -> tuple[str, ...]:
    kinds = told if isinstance(told, list) else []
    return tuple(kind for kind in kinds if kind in FAILURE_LABELS)[:count]


def _is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_count(value: Any, numbers: Numbers) -> int | None:
    count = _as_integer(value, numbers)
    if count is None or (count < 0 and numbers == "integral"):
        return None
    return min(max(0, count), MOST)


def _as_integer(value: Any, numbers: Numbers) -> int | None:
    """The integer that a value is, or is cut to; None where it is none."""
    if numbers == "integral":
        whole = _is_integer(value) or (isinstance(value, float) and value.is_integer())
        return int(value) if whole else None
    if not isinstance(value, (str, int, float)):
        return None
    try:
        return int(value)  # that of "2.7" is an error where that of 2.7 is 2
    except (ValueError, OverflowError):  # infinity, NaN, other words
        return None
