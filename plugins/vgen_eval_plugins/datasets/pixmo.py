"""PixMo's rows, one label of one picture each: in a seeded order, checked, with their pictures."""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from vgen_eval_plugins.datasets.fetching import Fetched, Fetcher, Wanted
from vgen_eval_plugins.datasets.parquet import find_shards, read_batches
from vgen_eval_plugins.datasets.prepared_counts import Line, PreparedCounts, make_ids

__all__ = ["LeftOut", "PixMo", "PixMoOptions", "Points", "Row", "count_range"]

Points = tuple[tuple[float, float], ...]

ROUND = 50_000
"""Pictures chosen in one pass over the files when all of them are wanted."""
SPARE = 64
"""Pictures chosen beyond those wanted, at least: some links are dead."""
RANGES = ((0, "0"), (5, "1-5"), (10, "6-10"), (20, "11-20"), (50, "21-50"))

SHA256 = "image_sha256"
METHOD = "collection_method"
_HEX = re.compile(r"[0-9a-f]{64}")
COLUMNS = (SHA256, "image_url", "label", "count")
OPTIONAL = ("points", METHOD)


class LeftOut(Exception):
    """A row that is left out; its words are the kind of fault, in the plural."""


class Row(msgspec.Struct, frozen=True):
    """A row of the files, as it is but for the blanks around its label."""

    number: int
    """Its place in the release."""
    url: str
    label: str
    count: int
    points: Points | None
    """None where the row has no such list."""
    method: str | None


def count_range(count: int) -> str:
    """The tag `count` of a sample: results are broken down by it."""
    return next((name for most, name in RANGES if count <= most), "51+")


class PixMoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How many pictures are prepared; both data sets say in theirs which."""

    count: Annotated[
        int | None, msgspec.Meta(description="Pictures to prepare; null: all of them.")
    ] = None
    seed: Annotated[
        int, msgspec.Meta(description="Seed of the order in which they are taken.", ge=0)
    ] = 0
    trusted: Annotated[
        str | None,
        msgspec.Meta(description="Origin that may be plain http and private: a mirror."),
    ] = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise ValueError(f"count is 1 or more, or null, not {self.count}")


class PixMo(PreparedCounts):
    """What PixMo-Count and PixMo-Points share."""

    options: PixMoOptions

    def splits(self) -> Sequence[str]:
        """Heads of the Parquet files' names; the first that is there counts."""
        raise NotImplementedError

    def methods(self) -> Sequence[str]:
        """The collection methods that are wanted; none: every row is."""
        return ()

    def check_row(self, row: Row) -> None:
        """LeftOut for a row whose count and points disagree."""
        raise NotImplementedError

    def place_points(self, row: Row, size: tuple[int, int]) -> Points | None:
        """x, y in pixels of a (width, height) picture; LeftOut when they lie outside."""
        raise NotImplementedError

    @property
    def choice(self) -> Mapping[str, Any]:
        """How many pictures, in which order."""
        return {"count": self.options.count, "seed": self.options.seed}

    def prepare(self, say: Callable[[str], None]) -> None:
        """Chooses pictures, fetches them, and writes the index; what is there is not fetched.

        MissingData for files that are not there or damaged; StorageError when nothing can be
        written. Rows whose count and points disagree, and pictures that cannot be had, are left
        out and counted in prepared.json.
        """
        files = find_shards(self._release, splits=self.splits())
        left_out: Counter[str] = Counter()
        rows: dict[str, list[Row]] = {}
        fetcher = Fetcher(self._release.root, trusted=self.options.trusted)
        wanted = self._wanted(files, rows, left_out)
        placed: list[tuple[int, Line]] = []
        for picture in fetcher.bring(wanted, count=self.options.count, say=say):
            placed += self._lines_of(picture, rows.pop(picture.sha256), left_out)
        lines = [line for _, line in sorted(placed, key=lambda pair: pair[0])]
        left_out.update(fetcher.counts)
        told = self.report(lines, left_out, say)
        self.write(lines, {**told, "lost": fetcher.lost})

    def _wanted(
        self, files: Sequence[Path], rows: dict[str, list[Row]], left_out: Counter[str]
    ) -> Iterator[Wanted]:
        """Pictures in the order of sha256(seed, sha256); their rows are put into `rows`.

        The files are read twice a round: only the rows of that round's pictures are in memory.
        """
        count = self.options.count
        room = ROUND if count is None else count + max(SPARE, count // 2)
        after = -1
        while True:
            # what a whole pass tells is told once
            chosen = self._choose(files, room, after, left_out if after < 0 else Counter())
            gathered = self._gather(files, [sha256 for _, sha256 in chosen])
            for _, sha256 in chosen:
                kept = []
                for fields in gathered.pop(sha256):
                    try:
                        kept.append(self._read_row(*fields))
                    except LeftOut as exc:
                        left_out[str(exc)] += 1
                if kept:
                    rows[sha256] = kept
                    yield Wanted(sha256, tuple(dict.fromkeys(row.url for row in kept)))
            if len(chosen) < room:
                return
            after = chosen[-1][0]

    def _choose(
        self, files: Sequence[Path], room: int, after: int, left_out: Counter[str]
    ) -> list[tuple[int, str]]:
        """(rank, sha256) of the first pictures beyond the rank `after`, `room` at most."""
        best: list[tuple[int, str]] = []  # the last in order on top of the heap
        chosen: set[str] = set()
        head = f"{self.options.seed}\n".encode()
        for batch in read_batches(files, (SHA256,), title=self.title, optional=(METHOD,)):
            left_out["rows without a sha256"] += batch.column(SHA256).null_count
            for sha256 in batch.filter(self._mask(batch)).column(SHA256).to_pylist():
                rank = int.from_bytes(hashlib.sha256(head + sha256.encode()).digest(), "big")
                full = len(best) >= room
                if rank <= after or (full and rank > -best[0][0]) or sha256 in chosen:
                    continue
                chosen.add(sha256)
                if full:
                    chosen.discard(heapq.heappushpop(best, (-rank, sha256))[1])
                else:
                    heapq.heappush(best, (-rank, sha256))
        return sorted((-turned, sha256) for turned, sha256 in best)

    def _mask(self, batch: Any) -> Any:
        """Which rows of a batch have a sha256 and a collection method that is wanted."""
        import pyarrow as pa
        import pyarrow.compute as pc

        methods = self.methods()
        mask = pc.is_valid(batch.column(SHA256))
        if methods and METHOD in batch.schema.names:
            known = pc.is_in(batch.column(METHOD), pa.array(methods))
            mask = pc.and_(mask, known)
        return mask

    def _gather(self, files: Sequence[Path], wanted: Sequence[str]) -> dict[str, list[Any]]:
        """The fields of every row of these pictures, in the files' order."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        found: dict[str, list[Any]] = {sha256: [] for sha256 in wanted}
        known, before = pa.array(wanted, pa.string()), 0
        for batch in read_batches(files, COLUMNS, title=self.title, optional=OPTIONAL):
            kept = pc.is_in(batch.column(SHA256).cast(pa.string()), known)
            mask = pc.and_(kept, self._mask(batch))
            numbers = before + np.flatnonzero(np.asarray(mask))
            before += batch.num_rows
            for number, row in zip(numbers.tolist(), batch.filter(mask).to_pylist(), strict=True):
                found[row[SHA256]].append((number, row))
        return found

    def _read_row(self, number: int, fields: Mapping[str, Any]) -> Row:
        """LeftOut for a row that says nothing that could be scored."""
        label, count, url = fields["label"], fields["count"], fields["image_url"]
        points = fields.get("points")
        if not _HEX.fullmatch(fields[SHA256]):
            raise LeftOut("rows without a sha256")
        if not isinstance(label, str) or not label.strip():
            raise LeftOut("rows without a label")
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise LeftOut("rows without a count")
        if not isinstance(url, str) or not url:
            raise LeftOut("rows without an address")
        placed = _read_points(points)
        row = Row(number, url, label.strip(), count, placed, fields.get(METHOD))
        self.check_row(row)
        return row

    def _lines_of(
        self, picture: Fetched, rows: list[Row], left_out: Counter[str]
    ) -> list[tuple[int, Line]]:
        """(place in the release, line) of every label of a picture."""
        kept: dict[tuple[Any, ...], tuple[Row, Points | None]] = {}
        # not the files' order, which may change with a release: ids hang on it
        for row in sorted(rows, key=lambda row: (row.label, row.count, row.number)):
            try:
                points = self.place_points(row, picture.size)
            except LeftOut as exc:
                left_out[str(exc)] += 1
                continue
            key = (row.label, row.count, points)
            if key in kept:
                left_out["repeated rows"] += 1
                continue
            kept[key] = (row, points)
        ids = make_ids(picture.sha256, [row.label for row, _ in kept.values()])
        return [
            (row.number, self._line(name, picture, row, points))
            for name, (row, points) in zip(ids, kept.values(), strict=True)
        ]

    def _line(self, name: str, picture: Fetched, row: Row, points: Points | None) -> Line:
        tags = {"count": count_range(row.count)}
        if row.method is not None:
            tags["collection"] = row.method
        return Line(
            part=self.part,
            id=name,
            sha256=picture.sha256,
            suffix=picture.suffix,
            size=picture.size,
            count=row.count,
            points=points,
            fields={"query": row.label},
            tags=tags,
        )


def _read_points(points: Any) -> Points | None:
    """x, y of a list of {x, y}, or of {x: list, y: list}: both are how such columns are stored."""
    try:
        if isinstance(points, dict):
            xs, ys = points["x"], points["y"]
            if xs is None and ys is None:
                return None
            return tuple((float(x), float(y)) for x, y in zip(xs, ys, strict=True))
        if points is None:
            return None
        return tuple((float(point["x"]), float(point["y"])) for point in points)
    except (TypeError, KeyError, ValueError):
        raise LeftOut("rows with points that are none") from None
