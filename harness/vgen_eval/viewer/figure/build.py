"""A figure before it is drawn: rows of cells, the colours they are in, the caption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from vgen_eval.results.figures.chosen import axis_label
from vgen_eval.viewer.drawing.ranges import shared_ranges
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.figure.cells import Cell, Place, fill, has, notices_of, plain, status_of
from vgen_eval.viewer.figure.scales import Scale, Seen, list_colours, tell_colours
from vgen_eval.viewer.gathering import Gathered
from vgen_eval.viewer.looking import Look
from vgen_eval.viewing import Colour
from vgen_eval.wording import plural

__all__ = ["Band", "Figure", "Layout", "build_figure"]

Layout = Literal["editors", "gallery"]
DPI = 300
WORDS = 0.45
"""Height of a row of words, for a width of 1."""
MOST_CLASSES = 16


class Band(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One row of cells, with what stands left of it and the bar to its right."""

    sample: str
    cells: tuple[Cell, ...]
    aspect: float
    """Height of its cells for a width of 1."""
    title: str = ""
    scale: Scale | None = None
    error_scale: Scale | None = None
    """Of errors that stand in the same row."""


class Figure(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Everything that is drawn, and the record of it."""

    heads: tuple[str, ...]
    bands: tuple[Band, ...]
    blocks: tuple[int, ...] = ()
    """Columns before which there is a gap: where a model's block begins."""
    classes: tuple[tuple[str, Colour], ...] = ()
    """For a legend: classes that are seen."""
    record: Mapping[str, Any]


def build_figure(
    gathered: Gathered, *, layout: Layout, width: float, style: Style | None = None,
    with_error: bool = False,
) -> Figure:  # fmt: skip
    """`editors`: a row of answers over a row of what they were read as, a pair a sample.

    `gallery`: a row a sample, a block of columns a model. `width`: inches. Ranges of numbers are
    the truth's, one for all models on a sample. `style`: another map, other ends.
    """
    style = style or Style()
    seen = Seen()
    models = len(gathered.runs)
    columns = 1 + models if layout == "editors" else 2 * (1 + models)
    side = max(64, round(width / columns * DPI))
    bands: list[Band] = []
    notes: list[str] = list(gathered.notes)
    shown: list[dict[str, Any]] = []
    for sample in gathered.selection.ids:
        looks = gathered.looks(sample)
        notes += notices_of(looks)
        maker = _Maker(gathered, sample, looks, style=style, side=side, seen=seen)
        bands += (
            maker.pair(with_error=with_error)
            if layout == "editors"
            else maker.row(with_error=with_error)
        )
        shown.append(maker.record())
    labels = [
        label if role == "model" else f"{label} ({role})"
        for label, role in zip(gathered.labels, gathered.roles, strict=True)
    ]
    heads, blocks = _columns(layout, labels, 3 if with_error else 2)
    record = {
        "kind": "figure",
        "layout": layout,
        **gathered.told(),
        "metric": gathered.candidates[0].primary,
        "colours": list_colours(seen, style),
        "shown": shown,
        "notes": list(dict.fromkeys(notes)),
    }
    record["caption"] = _caption(gathered, record, seen)
    return Figure(
        heads=heads,
        bands=tuple(map(_lowered, bands)),
        blocks=blocks,
        classes=tuple(list(seen.classes.items())[:MOST_CLASSES]),
        record=record,
    )


def _columns(
    layout: Layout, labels: Sequence[str], own: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Heads of the columns, and the columns that begin a block; `own`: columns of a model."""
    if layout == "editors":
        return ("input, truth", *labels), (1,)
    heads = ("input", "truth", *(h for label in labels for h in (label, *[""] * (own - 1))))
    return heads, tuple(range(2, len(heads), own))


class _Maker:
    """The bands of one sample."""

    def __init__(
        self, gathered: Gathered, sample: str, looks: Sequence[Look], *, style: Style, side: int,
        seen: Seen,
    ) -> None:  # fmt: skip
        self.gathered = gathered
        self.sample = sample
        self.looks = looks
        self.style = style
        self.side = side
        self.seen = seen
        self.ranges = shared_ranges(looks)
        self.aspect = _aspect(looks)

    def pair(self, *, with_error: bool) -> Iterator[Band]:
        """Input and answers over truth and predictions; the errors below them, if asked for."""
        first, _ = self._row("input", "answer")
        first = (self._ask(first[0]), *first[1:])
        yield Band(sample=self.sample, cells=first, aspect=self.aspect, title=self.sample)
        scored = [self._score(at) for at in range(len(self.looks))]
        second, scale = self._row("target", "prediction", under=scored)
        yield Band(sample=self.sample, cells=second, aspect=self.aspect, scale=scale)
        if with_error and any(look.of_role("error") for look in self.looks):
            third, scale = self._row(None, "error")
            yield Band(sample=self.sample, cells=third, aspect=self.aspect, scale=scale)

    def row(self, *, with_error: bool) -> Iterator[Band]:
        """Input, truth, then a block a model."""
        places: tuple[Place, ...] = ("answer", "prediction", *(("error",) if with_error else ()))
        target, scale = self._shared("target")
        cells = [self._ask(self._shared("input")[0]), target]
        of_errors: Scale | None = None
        for at, look in enumerate(self.looks):
            for place in places:
                cell, found = self._cell(place, look)
                if place == "error":
                    of_errors = of_errors or found
                else:
                    scale = scale or found
                under = self._score(at) if place == "prediction" else ""
                cells.append(msgspec.structs.replace(cell, under=under))
        yield Band(
            sample=self.sample, cells=tuple(cells), aspect=self.aspect, title=self.sample,
            scale=scale, error_scale=of_errors,
        )  # fmt: skip

    def _ask(self, cell: Cell) -> Cell:
        """The input with what is asked of it."""
        asked = next((look.facts["asked"] for look in self.looks if "asked" in look.facts), "")
        return msgspec.structs.replace(cell, asked=plain(asked))

    def record(self) -> dict[str, Any]:
        """The sample's line in the record."""
        of_runs = zip(self.gathered.labels, self.looks, strict=True)
        return {
            "sample": self.sample,
            "asked": self._ask(Cell(kind="empty")).asked,
            "statuses": {label: status_of(look) for label, look in of_runs},
            "scores": {
                label: self.gathered.row(at, self.sample).score
                for at, label in enumerate(self.gathered.labels)
            },
            "ranges": {name: list(ends) for name, ends in sorted(self.ranges.items())},
        }

    def _row(
        self, common: Place | None, each: Place, *, under: Sequence[str] = ()
    ) -> tuple[tuple[Cell, ...], Scale | None]:
        first, scale = self._shared(common) if common else (Cell(kind="empty"), None)
        cells = [first]
        for at, look in enumerate(self.looks):
            cell, found = self._cell(each, look)
            scale = scale or found
            cells.append(msgspec.structs.replace(cell, under=under[at]) if under else cell)
        return tuple(cells), scale

    def _shared(self, place: Place) -> tuple[Cell, Scale | None]:
        """What is the same for all models: of the first that has it."""
        for look in self.looks:
            if has(place, look):
                return self._cell(place, look)
        return self._cell(place, self.looks[0])

    def _cell(self, place: Place, look: Look) -> tuple[Cell, Scale | None]:
        style = Style() if place == "error" else self.style
        cell, shown = fill(place, look, style=style, ranges=self.ranges, long_side=self.side)
        of = "error" if place == "error" else "prediction"
        # the raw answer's colours are the model's own
        is_read = place in ("target", "prediction", "error")
        return cell, self.seen.scale(shown, of, style, self.ranges) if is_read else None

    def _score(self, at: int) -> str:
        row = self.gathered.row(at, self.sample)
        name = self.gathered.candidates[at].primary
        if row.score is None:
            return "" if status_of(self.looks[at]) == "ok" else "no score"
        return f"{name} {row.score:.3g}"


def _lowered(band: Band) -> Band:
    """A row of words alone need not be as high as a picture."""
    if any(cell.kind == "picture" for cell in band.cells):
        return band
    return msgspec.structs.replace(band, aspect=min(band.aspect, WORDS))


def _aspect(looks: Iterable[Look]) -> float:
    """Height for a width of 1, of the original; between a strip and a tower."""
    for look in looks:
        picture = look.picture
        for shown in (picture, *look.panes) if picture else look.panes:
            if shown.width and shown.height:
                return min(1.5, max(0.3, shown.height / shown.width))
    return 0.6


def _caption(gathered: Gathered, record: Mapping[str, Any], seen: Seen) -> str:
    """Task, the choice, the colours with their range, what the number under a cell is."""
    parts = [gathered.runs[0].task, gathered.selection.words]
    parts += [tell_colours(entry) for entry in record["colours"]]
    parts += [f"normals as (n + 1) / 2, {frame}" for frame in seen.frames]
    if len(seen.classes) > MOST_CLASSES:
        parts.append(
            f"{MOST_CLASSES} of {plural(len(seen.classes), 'class', 'classes')} in the legend"
        )
    first = gathered.runs[0].card
    better = gathered.candidates[0].directions.get(first.primary)
    if better is not None and any(any(e["scores"].values()) for e in record["shown"]):
        said = {"metric": first.primary, "unit": _unit(gathered), "higher_is_better": better}
        parts.append(f"under each: {axis_label(said)}")
    if any(run.card.selection.get("attempts", 1) != 1 for run in gathered.runs):
        parts.append(f"attempt {gathered.attempt + 1}, numbers are means over attempts")
    return "; ".join(parts)


def _unit(gathered: Gathered) -> str:
    try:
        return gathered.runs[0].card.score().unit
    except KeyError:
        return ""
