"""CountBench: web pictures whose captions say how many, 2 to 10, with the questions of its QA."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import decode_image

from vgen_eval_plugins.datasets.parquet import find_shards, read_batches
from vgen_eval_plugins.datasets.pixmo import count_range
from vgen_eval_plugins.datasets.prepared_counts import (
    IMAGES,
    Line,
    PreparedCounts,
    make_ids,
    suffix_of,
    write_atomic,
)

__all__ = ["BLANK", "CountBench", "blank_number"]

BLANK = "___"
ROWS = 16
"""In memory at one time: each brings its picture."""
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class CountBench(PreparedCounts):
    """`data/*.parquet`: image {bytes, path}, text, number, and question where it is CountBenchQA.

    Some 10 % of CountBench's 540 rows have no image and are left out; CountBenchQA has the 491
    others. The caption states the count, so that what a prompt may name is the caption with the
    number blank (`query`) and the question (`question`), which asks for the blank where the
    release has none.
    """

    title = "CountBench"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which files."""

        files: Annotated[
            tuple[str, ...],
            msgspec.Meta(description="Heads of the files' names; the first that is there counts."),
        ] = ("test", "train")

    @property
    def part(self) -> str:
        """There is one."""
        return "all"

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes the pictures and the index; MissingData for files that are damaged or not there.

        Rows without a picture, a number or words are left out and counted in prepared.json.
        """
        files = find_shards(self._release, splits=self.options.files)
        left_out: Counter[str] = Counter()
        lines: list[Line] = []
        taken: set[str] = set()
        batches = read_batches(
            files,
            ("image", "text", "number"),
            title=self.title,
            optional=("question",),
            size=ROWS,
        )
        for row in (row for batch in batches for row in batch.to_pylist()):
            try:
                line = self._keep(row)
            except _LeftOut as exc:
                left_out[str(exc)] += 1
                continue
            name = next(name for name in _numbered(line.id) if name not in taken)
            taken.add(name)
            lines.append(msgspec.structs.replace(line, id=name))
        self.write(lines, self.report(lines, left_out, say))

    def _keep(self, row: dict[str, Any]) -> Line:
        """The row's line, its picture written; _LeftOut for one that cannot be scored."""
        image, text, number = row["image"], row["text"], row["number"]
        data = image.get("bytes") if isinstance(image, dict) else None
        if not data:
            raise _LeftOut("rows without a picture")
        if not isinstance(number, int) or number < 0 or not isinstance(text, str) or not text:
            raise _LeftOut("rows without a number or a caption")
        sha256 = hashlib.sha256(data).hexdigest()
        suffix = suffix_of(data)
        name = f"{IMAGES}/{sha256}.{suffix}"
        try:
            height, width = decode_image(data, what=name).shape[:2]
        except Undecodable:
            raise _LeftOut("unreadable pictures") from None
        path = self._release.root / name
        if not _holds(path, data):
            write_atomic(path, data)
        query = blank_number(text, number)
        question = row.get("question")
        return Line(
            part=self.part,
            id=make_ids(sha256, [query])[0],
            sha256=sha256,
            suffix=suffix,
            size=(width, height),
            count=number,
            fields={"query": query, "question": question or _question(query)},
            tags={"count": count_range(number)},
        )


class _LeftOut(Exception):
    """A row that is left out, and why."""


def _holds(path: Any, data: bytes) -> bool:
    try:
        return bool(path.read_bytes() == data)
    except OSError:
        return False


def _numbered(name: str) -> Iterator[str]:
    yield name
    at = 2
    while True:
        yield f"{name}-{at}"
        at += 1


def blank_number(text: str, number: int) -> str:
    """The caption with every mention of the number, in digits or as a word, left blank."""
    forms = [rf"0*{number}"]
    if number < len(WORDS):
        forms.append(WORDS[number])
    pattern = rf"(?<![^\W_])(?<!\d[.,:])(?:{'|'.join(forms)})(?![^\W_])(?![.,:]\d)"
    return " ".join(re.sub(pattern, BLANK, text, flags=re.IGNORECASE).split())


def _question(query: str) -> str:
    if BLANK in query:
        return (
            f"The number was left blank in this caption of the picture: '{query}'. "
            f"Which number belongs in place of {BLANK}?"
        )
    return f"How many are there of what this caption of the picture speaks of: '{query}'?"
