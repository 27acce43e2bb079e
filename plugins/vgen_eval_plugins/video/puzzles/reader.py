"""Puzzles made from seeds, each drawn in a plain and in a photographic style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval import jsonio
from vgen_eval.errors import BadSample
from vgen_eval.imaging import Image
from vgen_eval.types import Item, Sample
from vgen_eval.video import load_av

from vgen_eval_plugins.video.puzzles import hanoi, hanoi_drawing, maze_drawing

__all__ = ["PuzzleOptions", "Puzzles"]

Style = Literal["abstract", "real"]
_DRAWN = 1
"""Counts up when pictures or puzzles change: part of the fingerprint."""
_LARGEST = {"maze": 16, "hanoi": 6}


class PuzzleOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which puzzles, and how they are drawn."""

    puzzle: Annotated[Literal["maze", "hanoi"], msgspec.Meta(description="Which kind.")]
    styles: Annotated[
        tuple[Style, ...],
        msgspec.Meta(description="abstract: flat on white; real: like a photograph.", min_length=1),
    ] = ("abstract", "real")
    sizes: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=2)], ...],
        msgspec.Meta(
            description="maze: rows of cells, the columns follow from the picture; hanoi: discs. "
            "One level each, from easy to hard.",
            min_length=1,
        ),
    ] = (4,)
    seeds: Annotated[int, msgspec.Meta(description="Puzzles of each size.", ge=1, le=10_000)] = 1
    width: Annotated[int, msgspec.Meta(description="Of the picture.", ge=96, le=4096)] = 1280
    height: Annotated[int, msgspec.Meta(description="Of the picture.", ge=64, le=4096)] = 720

    def __post_init__(self) -> None:
        most = _LARGEST[self.puzzle]
        if max(self.sizes) > most:
            raise ValueError(f"sizes of a {self.puzzle} go to {most}, {max(self.sizes)} given")
        for name, values in (("styles", self.styles), ("sizes", self.sizes)):
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names one twice")


class Puzzles:
    """The puzzles of an options record: every size, seed and style.

    The two styles of one puzzle are a pair, and one group: the same maze, the same tower. The
    truth is in the seed, so no file is read; but answers are videos, so without PyAV there is no
    index.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = PuzzleOptions

    def __init__(self, options: PuzzleOptions, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options

    def index(self) -> Sequence[Item]:
        """Every puzzle, easy ones first; MissingExtra when videos cannot be read here."""
        load_av()
        options = self.options
        return [
            self._item(level, seed, style)
            for level in range(len(options.sizes))
            for seed in range(options.seeds)
            for style in options.styles
        ]

    def _item(self, level: int, seed: int, style: str) -> Item:
        pair = f"{self.options.puzzle}-{self.options.sizes[level]}-{seed}"
        tags = {"style": style, "level": str(level + 1), "pair": pair}
        return Item(id=f"{pair}-{style}", group=pair, tags=tags)

    def load(self, item: Item) -> Sample:
        """The sample: its first frame, its truth, and the words that prompts name."""
        try:
            _, size, seed = item.group.rsplit("-", 2)
            style = item.tags["style"]
            numbers = int(size), int(seed)
        except (ValueError, KeyError) as exc:
            raise BadSample(f"{item.id}: is no puzzle of this data set") from exc
        picture, truth, fields = self._draw(*numbers, style)
        return Sample(
            id=item.id, group=item.group, images=(picture,), target=truth, fields=fields,
            tags=item.tags,
        )  # fmt: skip

    def _draw(self, size: int, seed: int, style: str) -> tuple[Image, Any, Mapping[str, str]]:
        frame = (self.options.width, self.options.height)
        if self.options.puzzle == "maze":
            columns = max(2, round(size * frame[0] / frame[1]))
            maze = maze_drawing.make_truth(size, columns, seed, style=style, size=frame)
            row, column = maze.maze.start
            picture = maze_drawing.draw_maze(maze, (column + 0.5, row + 0.5))
            return Image(picture), maze, _MAZE_WORDS[style]
        tower = hanoi.make_truth(size, seed, style=style, size=frame)
        picture = hanoi_drawing.draw_discs(tower, hanoi_drawing.places(tower, tower.start))
        return Image(picture), tower, _tower_words(tower)

    def fingerprint(self) -> str:
        """Digest of the options: the puzzles follow from them."""
        return jsonio.digest([_DRAWN, msgspec.to_builtins(self.options)])


_MAZE_WORDS: Mapping[str, Mapping[str, str]] = {
    "abstract": {"marker": "red dot", "walls": "black lines", "goal": "green square"},
    "real": {"marker": "red ball", "walls": "wooden walls", "goal": "green felt square"},
}


def _tower_words(tower: hanoi.HanoiTruth) -> Mapping[str, str]:
    source, goal = (
        hanoi.PEGS[next(k for k, stack in enumerate(pegs) if stack)]
        for pegs in (tower.start, tower.goal)
    )
    *most, last = tower.colours
    colours = f"{', '.join(most)} and {last}" if most else last
    return {"discs": str(tower.discs), "colours": colours, "source": source, "goal": goal}
