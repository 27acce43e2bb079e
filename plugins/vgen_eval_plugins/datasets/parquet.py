"""Rows of Parquet files, a batch at a time: what a release of many million rows asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vgen_eval.errors import MissingData, MissingExtra

from vgen_eval_plugins.datasets.release import WHERE, Release

__all__ = ["find_shards", "read_batches"]

BATCH = 8192
"""Rows in memory at one time."""

_SHARD = re.compile(r"(?P<head>.+)-(?P<number>\d+)-of-(?P<all>\d+)(?:-[0-9a-f]+)?")


def find_shards(release: Release, *, splits: Sequence[str]) -> list[Path]:
    """data/SPLIT-*.parquet, in order; the first of the splits' names that has any.

    MissingData where there are none, and where a shard of `-00001-of-00002` is not there.
    """
    folder = release.root / "data"
    for split in splits:
        found = sorted(folder.glob(f"{split}-*.parquet"))
        if found:
            _check_complete(release, found)
            return found
    wanted = " or ".join(f"{split}-*.parquet" for split in splits)
    raise MissingData(f"{release.title}: {folder} holds no {wanted}", cure=WHERE)


def _check_complete(release: Release, found: Sequence[Path]) -> None:
    matches = [match for path in found if (match := _SHARD.fullmatch(path.stem)) is not None]
    for head, whole in sorted({(match["head"], match["all"]) for match in matches}):
        there = {int(m["number"]) for m in matches if (m["head"], m["all"]) == (head, whole)}
        missing = sorted(set(range(int(whole))) - there)
        if missing:
            named = f"{head}-{missing[0]:0{len(whole)}d}-of-{whole}"
            raise MissingData(
                f"{release.title}: {len(missing)} of {int(whole)} files are not in "
                f"{found[0].parent}, {named} the first",
                cure=WHERE,
            )


def read_batches(
    paths: Sequence[Path], columns: Sequence[str], *, title: str, optional: Sequence[str] = (),
    size: int = BATCH,
) -> Iterator[Any]:  # fmt: skip
    """Record batches of at most `size` rows that hold these columns alone, in the files' order.

    `optional`: columns that need not be there. MissingData, naming the file, for one that is no
    Parquet file, ends early or lacks a column; MissingExtra without pyarrow.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as exc:
        raise MissingExtra("data") from exc
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                known = set(file.schema_arrow.names)
                missing = [name for name in columns if name not in known]
                if missing:
                    raise MissingData(
                        f"{title}: {path} has no column '{missing[0]}' (it has "
                        f"{', '.join(sorted(known)) or 'none'})",
                        cure="use the release that the card names",
                    )
                named = [*columns, *(name for name in optional if name in known)]
                for group in range(file.num_row_groups):
                    yield from file.iter_batches(size, row_groups=[group], columns=named)
        except (OSError, pa.ArrowException) as exc:  # the second are ValueErrors and more
            raise MissingData(
                f"{title}: {path} cannot be read as Parquet: {_first_line(exc)}",
                cure="fetch the file again",
            ) from exc


def _first_line(exc: BaseException) -> str:
    return (str(exc).splitlines() or [type(exc).__name__])[0]
