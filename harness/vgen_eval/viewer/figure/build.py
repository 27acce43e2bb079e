"""A figure before it is drawn: rows of cells, the colours they are in, the caption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from vgen_eval.results.figures.chosen import axis_label
from vgen_eval.viewer.drawing.ranges import shared_ranges
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.figure.cells import Cell, Place, fill, has, notices_of, plain, status_of
from vgen_eval.viewer.figure.geometry import DPI, side_of
from vgen_eval.viewer.figure.scales import Key, Scale, Seen, list_colours, tell_colours
from vgen_eval.viewer.gathering import Gathered, attempts_of
from vgen_eval.viewer.looking import Look
from vgen_eval.viewing import Film, ScalarMap
from vgen_eval.wording import plural

__all__ = ["Band", "Figure", "Layout", "build_figure"]

Layout = Literal["editors", "gallery"]
MOST_KEYS = 16
"""Rows of the legend."""


class Band(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One row of cells, with what stands left of it and the bar to its right."""

    sample: str
    cells: tuple[Cell, ...]
    aspect: float
    """Height of its pictures for a width of 1."""
    title: str = ""
    scale: Scale | None = None
    error_scale: Scale | None = None
    """Of errors that stand in the same row."""


class Figure(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Everything that is drawn, and the record of it."""

    heads: tuple[str, ...]
    """One a column."""
    bands: tuple[Band, ...]
    blocks: tuple[int, ...] = ()
    """Columns before which there is a gap: where a block begins, which ends before the next."""
    models: tuple[str, ...] = ()
    """Names of the blocks, above the heads of their columns; none where a column is a model."""
    legend: tuple[Key, ...] = ()
    """What the colours and marks mean that are seen."""
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
    bands: list[Band] = []
    is_gallery, any_errors = layout == "gallery", False
    notes: list[str] = list(gathered.notes)
    shown: list[dict[str, Any]] = []
    for sample in gathered.selection.ids:
        looks = gathered.looks(sample)
        notes += notices_of(looks)
        has_error = with_error and any(look.of_role("error") for look in looks)
        any_errors |= has_error
        side = _side(looks, layout, width, with_error=has_error)
        maker = _Maker(gathered, sample, looks, style=style, side=side, seen=seen)
        if is_gallery:
            bands.append(maker.row(with_error=with_error))
        else:
            bands += maker.pair(with_error=has_error)
        shown.append(maker.record())
    labels = [
        label if role == "model" else f"{label} ({role})"
        for label, role in zip(gathered.labels, gathered.roles, strict=True)
    ]
    if with_error and not any_errors:
        bands = [_without_errors(band) if is_gallery else band for band in bands]
        notes.append("--error: nothing is shown of where predictions of this task are off")
    own: tuple[str, ...] = ("answer", "prediction", *(("error",) if any_errors else ()))
    heads = ("input", "truth", *own * len(labels)) if is_gallery else ("input, truth", *labels)
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
        bands=tuple(bands),
        blocks=tuple(range(2, len(heads), len(own))) if is_gallery else (1,),
        models=tuple(labels) if is_gallery else (),
        legend=tuple(seen.legend()[:MOST_KEYS]),
        record=record,
    )


def _side(looks: Iterable[Look], layout: Layout, width: float, *, with_error: bool) -> float:
    """Width of a cell in inches, as it will be."""
    looks = list(looks)
    roles = {one.pane.role for look in looks for one in look.panes
             if isinstance(one.pane.body, ScalarMap)}  # fmt: skip
    of_reading, of_error = bool(roles & {"target", "prediction"}), with_error and "error" in roles
    if layout == "editors":
        return side_of(width, 1 + len(looks), 1, int(of_reading or of_error))
    own = 3 if with_error else 2
    return side_of(width, 2 + own * len(looks), len(looks), of_reading + of_error)


def _without_errors(band: Band) -> Band:
    """The row of a gallery without the last column of each block."""
    kept = [cell for at, cell in enumerate(band.cells) if at < 2 or (at - 2) % 3 != 2]
    return msgspec.structs.replace(band, cells=tuple(kept))


class _Maker:
    """The bands of one sample."""

    def __init__(
        self, gathered: Gathered, sample: str, looks: Sequence[Look], *, style: Style,
        side: float, seen: Seen,
    ) -> None:  # fmt: skip
        self.gathered = gathered
        self.sample = sample
        self.looks = looks
        self.style = style
        self.seen = seen
        self.ranges = shared_ranges(looks)
        self.aspect = _aspect(looks)
        wide, high = (max(64, int(part * DPI)) for part in (side, side * self.aspect))
        self.box = (wide, high)

    def pair(self, *, with_error: bool) -> Iterator[Band]:
        """Input and answers over truth and predictions; the errors below them, if asked for."""
        first, _ = self._row("input", "answer")
        first = (self._ask(first[0]), *first[1:])
        yield Band(sample=self.sample, cells=first, aspect=self.aspect, title=self.sample)
        scored = [self._score(at) for at in range(len(self.looks))]
        second, scale = self._row("target", "prediction", under=scored)
        yield Band(sample=self.sample, cells=second, aspect=self.aspect, scale=scale)
        if with_error:
            third, scale = self._row(None, "error")
            yield Band(sample=self.sample, cells=third, aspect=self.aspect, scale=scale)

    def row(self, *, with_error: bool) -> Band:
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
        return Band(
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
        # nothing is shared by errors: their row says what it is
        first, scale = self._shared(common) if common else (Cell(kind="empty", text=each), None)
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
        cell, shown = fill(place, look, style=style, ranges=self.ranges, box=self.box)
        if shown is None:
            return cell, None
        self.seen.has_clips |= isinstance(shown.pane.body, Film)
        if place in ("input", "answer"):
            return cell, None  # the raw answer's colours are the model's own
        of = "error" if place == "error" else "prediction"
        return cell, self.seen.note(shown, look, of, style, self.ranges)

    def _score(self, at: int) -> str:
        row = self.gathered.row(at, self.sample)
        name = self.gathered.candidates[at].primary
        if row.score is None:
            return "" if status_of(self.looks[at]) == "ok" else "no score"
        return f"{name} {row.score:.3g}"


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
    if seen.has_clips:
        parts.append("clips as frames, from the first to the last")
    if len(seen.keys) > MOST_KEYS:
        parts.append(f"{MOST_KEYS} of {plural(len(seen.keys), 'class', 'classes')} in the legend")
    first = gathered.runs[0].card
    better = gathered.candidates[0].directions.get(first.primary)
    scores = [score for shown in record["shown"] for score in shown["scores"].values()]
    if better is not None and any(score is not None for score in scores):
        said = {"metric": first.primary, "unit": _unit(gathered), "higher_is_better": better}
        parts.append(f"under each: {axis_label(said)}")
    if any(attempts_of(run) != 1 for run in gathered.runs):
        parts.append(f"attempt {gathered.attempt + 1}, numbers are means over attempts")
    return "; ".join(parts)


def _unit(gathered: Gathered) -> str:
    try:
        return gathered.runs[0].card.score().unit
    except KeyError:
        return ""
