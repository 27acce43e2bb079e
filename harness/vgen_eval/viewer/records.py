"""What the viewer's parts say to one another: rows of the index, a query, what a page holds."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from vgen_eval.errors import UsageError, nearest

__all__ = [
    "CHOSEN",
    "KEY_LENGTH",
    "PAGE_SIZE",
    "Facets",
    "PairRow",
    "Pairing",
    "Query",
    "RunRow",
    "RunState",
    "SampleRow",
    "Walk",
    "key_of",
    "read_whole",
    "slug",
]

KEY_LENGTH = 14
"""Hex letters of a key: of a million names two are alike with a chance of 1 in 100,000."""
PAGE_SIZE = 60
CHOSEN = 12
"""Samples that a rule takes where no number is given, as in a report."""
MOST_CHOSEN = 100_000
MOST_PAGES = 10**7
LONGEST = 18
"""Digits of a whole number in an address: longer ones are none, and slow to read."""

RunState = Literal["running", "complete", "incomplete", "stopped", "unreadable"]
"""running: a process writes it now; complete; incomplete: its card has attempts of infrastructure
failures or none yet; stopped: it has no card and nobody writes it, its card is older than its
lines, or lines that were scored are gone; unreadable: damaged, or of another schema."""


def key_of(name: str) -> str:
    """The key of a run (its path below the results folder), a sample (id) or a task@protocol."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_LENGTH]


def read_whole(text: str, *, most: int = 10**LONGEST - 1) -> int | None:
    """The whole number from 0 to `most` that an address says; None where it says none."""
    if not 1 <= len(text) <= LONGEST or not text.isascii() or not text.isdigit():
        return None
    number = int(text)
    return number if number <= most else None


def slug(key: str, name: str) -> str:
    """The key with a tail that people can read: 8f3a1b2c4d-nyuv2-0036. Only the key counts."""
    tail = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[-40:].strip("-")
    return f"{key}-{tail}" if tail else key


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run as lists show it."""

    key: str
    path: str
    """Below the results folder."""
    state: RunState
    reason: str = ""
    """Why it is unreadable, incomplete or stopped, with the cure; of any: its damaged lines."""
    task: str
    """task@protocol; "" where run.json does not say."""
    model: str
    """Bare name for built-in ones, distribution:name for others."""
    role: str = "model"
    family: str = ""
    answer: str = ""
    prompt: str | None = None
    primary: str = ""
    higher_is_better: bool = True
    unit: str = ""
    value: float | None = None
    """Of the primary, from the card; None without a card."""
    interval: tuple[float, float] | None = None
    attempts: int = 1
    samples: int = 0
    """Asked for."""
    expected: int = 0
    """Attempts asked for."""
    ended: int = 0
    failed: int = 0
    created: str = ""
    changed: float = 0.0
    """Unix seconds of its last line."""

    @property
    def slug(self) -> str:
        """For its address."""
        return slug(self.key, f"{self.model}-{self.task}")

    @property
    def task_slug(self) -> str:
        """For its task's address."""
        return slug(key_of(self.task), self.task)


# gc=False: it is in no cycle, and selections hold as many as a run has
class SampleRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A sample of a run as lists show it."""

    run: str
    """Key of the run."""
    key: str
    id: str
    group: str
    at: int
    """Its place in the run's order."""
    status: str
    """Of its attempts: the one that all have, else the first that is not `ok`; not_run for none."""
    score: float | None
    """Of the primary: the mean over attempts that have one."""
    values: Mapping[str, float | None] = {}
    """Every per-sample value: the mean over attempts."""
    flags: tuple[str, ...] = ()
    tags: Mapping[str, str] = {}
    attempts: int = 1
    reason: str = ""

    @property
    def slug(self) -> str:
        """For its address."""
        return slug(self.key, self.id)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples of a run are shown, in what order: all of it lies in the address."""

    sort: str = ""
    """A value's name, `id`, `status` or `order`; "": the primary, worst first."""
    dir: str = ""
    """asc or desc; "": the worst first for values, asc for the rest."""
    status: tuple[str, ...] = ()
    flag: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    """tag=value each; several of one tag are alternatives."""
    score: str = ""
    """LOW~HIGH of the primary, either may be missing."""
    q: str = ""
    """Part of an id."""
    quadrant: str = ""
    """Of a comparison: both_bad, only_a, only_b, both_good."""
    page: int = 1
    layer: str = ""
    """Which pane thumbnails show: a role."""
    select: str = ""
    """A rule of `viewer.selection`: of what the filters leave, these samples in its order."""
    n: int = 0
    """Samples that the rule takes at most; 0: CHOSEN."""

    @classmethod
    def read(cls, given: Iterable[tuple[str, str]]) -> Query:
        """From the pairs of an address; UsageError naming what a field cannot be."""
        found: dict[str, Any] = {}
        for name, value in given:
            if name not in cls.__struct_fields__ or not value:
                continue
            if name in ("status", "flag", "tag"):
                found[name] = (*found.get(name, ()), value)
            elif name == "page":
                number = read_whole(value, most=MOST_PAGES)
                if not number:
                    raise UsageError(f"page: '{value[:20]}' is no number of a page")
                found[name] = number
            elif name == "n":
                found[name] = _read_count(value)
            else:
                found[name] = value
        if found.get("dir", "asc") not in ("asc", "desc"):
            raise UsageError(
                f"dir: '{found['dir'][:20]}' is not asc or desc."
                f"{nearest(found['dir'], ('asc', 'desc'))}"
            )
        query = cls(**found)
        query.bounds()
        return query

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """What an address says of it, defaults left out; `changes` put in their place first."""
        query = msgspec.structs.replace(self, **changes)
        found: list[tuple[str, str]] = []
        for name in self.__struct_fields__:
            value = getattr(query, name)
            if isinstance(value, tuple):
                found += [(name, entry) for entry in value]
            elif value and not (name == "page" and value == 1) and (name != "n" or query.select):
                found.append((name, str(value)))
        return found

    def bounds(self) -> tuple[float | None, float | None]:
        """Ends of `score`; UsageError where they are no numbers."""
        if not self.score:
            return None, None
        low, mark, high = self.score.partition("~")
        try:
            ends = tuple(float(end) if end.strip() else None for end in (low, high))
        except ValueError:
            ends = ()
        if not mark or not ends or any(end is not None and math.isnan(end) for end in ends):
            raise UsageError(f"score: '{self.score[:40]}' is no range LOW~HIGH")
        return ends[0], ends[1]


def _read_count(value: str) -> int:
    """How many samples a rule takes."""
    number = read_whole(value.strip(), most=MOST_CHOSEN)
    if not number:
        raise UsageError(f"n: '{value[:20]}' is no number of samples, 1 to {MOST_CHOSEN:,}")
    return number


class Walk(msgspec.Struct, frozen=True, kw_only=True):
    """A sample's place in the list that the reader came from."""

    place: int | None
    """From 1; None where the filter leaves it out."""
    total: int
    unfiltered: int
    before: SampleRow | None = None
    after: SampleRow | None = None


class Facets(msgspec.Struct, frozen=True, kw_only=True):
    """What a run's samples can be filtered by, with counts over all of them."""

    statuses: Mapping[str, int]
    flags: Mapping[str, int]
    tags: Mapping[str, Mapping[str, int]]
    edges: tuple[float, ...] = ()
    """Of the bins of the primary's histogram; () where no sample has a value."""
    counts: tuple[int, ...] = ()


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sample under two runs."""

    first: SampleRow
    second: SampleRow
    delta: float | None
    """second - first of the primary; positive is larger, be that better or not."""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs' samples side by side."""

    rows: tuple[PairRow, ...]
    """Of the page."""
    total: int
    """That the filter leaves."""
    common: int
    counts: Mapping[str, int]
    """both_bad, only_a (only A is good), only_b, both_good, and a_better, b_better, tie."""
    threshold: float | None
    """What is good: at least (at most, where lower is better) this. The median of both runs' values
    together, unless each value is 0 or 1: then 1 is good."""
