"""Reads classes from a picture painted in a palette: every pixel to its nearest colour."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import Image, resize
from vgen_eval.prompting import fill, placeholders
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.colours import AnyColour, Paint, as_code, as_hex, as_rgb, spell
from vgen_eval_plugins.pictures import RGB, read_painted
from vgen_eval_plugins.semantic.colour_table import ColourTable, RuledTable
from vgen_eval_plugins.semantic.labels import OPEN, LabelMap
from vgen_eval_plugins.semantic.palette_picture import draw_palette
from vgen_eval_plugins.semantic.palettes import listed_classes, shuffle_colours

__all__ = [
    "DRIFT_DISTANCE",
    "DRIFT_SHARE",
    "NearestColour",
    "NearestColourOptions",
    "dealt_palette",
]

DRIFT_DISTANCE = 60.0
"""Distance in RGB to its nearest entry beyond which a pixel has drifted from the palette."""

DRIFT_SHARE = 0.2
"""Share of drifted pixels above which an answer is flagged: seams alone stay far below."""

DRIFT_PIXELS = 1 << 18

POLICY = "each pixel to its nearest entry, blended seams too"

TABLES = 4
"""Lists of classes whose table of colours, 16 MiB, and palette pictures are kept."""

Colour = AnyColour | Paint
ClassRule = Annotated[str, msgspec.Meta(pattern=r"^(all|oracle|oracle\+[1-9][0-9]*)$")]
Table = ColourTable | RuledTable


class NearestColourOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The palette: known to the prompt, to the decoder and to the encoder."""

    palette: Annotated[
        dict[str, Colour],
        msgspec.Meta(
            description='Class -> "#rrggbb", [r, g, b] or {rgb: "#rrggbb", word: red}, in order.',
            min_length=1,
        ),
    ]
    void: Annotated[
        Colour | None,
        msgspec.Meta(description="Colour that stands for none of them; null: there is none."),
    ] = Paint("#000000", "black")
    max_distance: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=442)] | None,
        msgspec.Meta(description="RGB distance beyond which a pixel is left open."),
    ] = None
    classes: Annotated[
        ClassRule,
        msgspec.Meta(
            description="What the prompt lists and the decoder looks for: all; oracle: the classes "
            "in the truth; oracle+K: and K others."
        ),
    ] = "all"
    seed: Annotated[int, msgspec.Meta(description="Draws the others of oracle+K.", ge=0)] = 0
    palette_seed: Annotated[
        int | None,
        msgspec.Meta(description="Deals the colours out anew among the classes; null: as written."),
    ] = None
    derangement: Annotated[
        bool, msgspec.Meta(description="Then no class keeps its own colour.")
    ] = False
    decode: Annotated[
        Literal["euclidean", "dot", "lab"],
        msgspec.Meta(
            description="Nearest in RGB or in CIELAB; dot: the least dot product, which is what "
            "PixelArena prints and its code does not do."
        ),
    ] = "euclidean"
    pair: Annotated[
        str,
        msgspec.Meta(description="One class in {pairs}; {name}, {word}, {hex}, {rgb} are filled."),
    ] = "the {name} {word}"
    palette_picture: Annotated[
        bool, msgspec.Meta(description="Show pictures of the palette after the sample's?")
    ] = False

    def __post_init__(self) -> None:
        seen: dict[int, str] = {}
        named = list(self.palette.items())
        if self.void is not None:
            named.append(("void", self.void))
        for name, colour in named:
            code = as_code(colour)
            if code in seen:
                raise ValueError(f"'{seen[code]}' and '{name}' share the colour {as_hex(code)}")
            seen[code] = name
        unknown = placeholders(self.pair) - {"name", "word", "hex", "rgb"}
        if unknown:
            raise ValueError(f"pair: no field '{unknown.pop()}': name, word, hex and rgb are")
        if self.max_distance is not None and self.decode != "euclidean":
            raise ValueError("max_distance is one in RGB: decode euclidean")


class NearestColour:
    """Picture -> label map: nearest pixel to the original's size, then nearest colour.

    Euclidean distance in RGB, ties to the earlier entry, the void colour last; void pixels are
    open. Nothing is smoothed: where two colours blend, the seam goes to whatever entry lies
    nearest, a third class if there is one between them; `max_distance` leaves such pixels open.
    With an oracle's list only the classes listed can be found. Sources: "Open-Source Image Editing
    Models Are Zero-Shot Vision Learners" (arXiv 2605.04566); PixelArena (arXiv 2512.16303).
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = NearestColourOptions

    def __init__(self, options: NearestColourOptions) -> None:
        self.options = options
        self.palette = dealt_palette(options)

    def fields(self, scene: Scene) -> Mapping[str, str]:
        """What a prompt may say of the classes listed.

        {palette}: "road: red (#ff0000); sky: ..."; {pairs}: "the road red, the sky ...";
        {encodings}: a line "road : [255, 0, 0]" each; {classes}: "road, sky"; {void}: "black
        (#000000)", if there is one.
        """
        entries = {name: self.palette[name] for name in self._listed(scene)}
        words = {
            "palette": "; ".join(f"{called(n, c)}: {spell(c)}" for n, c in entries.items()),
            "pairs": ", ".join(fill(self.options.pair, _facts(n, c)) for n, c in entries.items()),
            "encodings": "\n".join(f"{n} : {list(as_rgb(c))}" for n, c in entries.items()),
            "classes": ", ".join(called(name, colour) for name, colour in entries.items()),
        }
        if self.options.void is not None:
            words["void"] = spell(self.options.void)
        return words

    def pictures(self, scene: Scene) -> Sequence[Image]:
        """The palette of the classes listed, where the card asks for it."""
        if not self.options.palette_picture:
            return ()
        return _draw_pages(
            tuple((name, as_rgb(self.palette[name])) for name in self._listed(scene))
        )

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """LabelMap at `scene.size` from uint8 (H, W, 3) RGB; Undecodable for anything else.

        Flags: wrong_aspect; constant (one label everywhere); copied_input; palette_drift (over
        20 % of the pixels lie farther than 60 from every entry).
        """
        listed = self._listed(scene)
        table = self._table(listed)
        painted, flags = read_painted(answer, scene)
        height, width = scene.size
        restored = resize(painted, height=height, width=width, kind="labels")
        codes = table.look_up(restored)
        labels = _to_labels(codes, len(listed))
        low, high, _, _ = cv2.minMaxLoc(labels)
        if low == high:
            flags.append("constant")
        drift = _drift(table, restored, codes)
        if drift > DRIFT_SHARE:
            flags.append("palette_drift")
        still_open = float(np.count_nonzero(labels == OPEN) / labels.size)
        return Prediction(
            value=LabelMap(labels, listed, tuple(as_rgb(self.palette[name]) for name in listed)),
            flags=tuple(flags),
            summary={
                "open_fraction": round(still_open, 6),
                "drift_fraction": round(drift, 4),
                "policy": POLICY,
                "fit": scene.fit,
            },
        )

    def _listed(self, scene: Scene) -> tuple[str, ...]:
        rule, seed = self.options.classes, self.options.seed
        return listed_classes(tuple(self.palette), rule, scene, seed=seed)

    def _table(self, listed: tuple[str, ...]) -> Table:
        entries = [as_rgb(self.palette[name]) for name in listed]
        if self.options.void is not None:
            entries.append(as_rgb(self.options.void))
        return _make_table(tuple(entries), self.options.decode, self.options.max_distance)


# for all decoders together: a viewer opens many runs of one palette
@functools.lru_cache(TABLES)
def _make_table(
    entries: tuple[tuple[int, int, int], ...], rule: str, max_distance: float | None
) -> Table:
    if rule != "euclidean":
        return RuledTable(entries, rule)
    return ColourTable(entries, max_distance=max_distance)


@functools.lru_cache(TABLES)
def _draw_pages(entries: tuple[tuple[str, tuple[int, int, int]], ...]) -> Sequence[Image]:
    return draw_palette(entries)


def dealt_palette(options: NearestColourOptions) -> Mapping[str, Colour]:
    """Class -> the colour that it is painted in, dealt out anew where a seed says so."""
    if options.palette_seed is None:
        return options.palette
    taken = shuffle_colours(
        tuple(options.palette), seed=options.palette_seed, derangement=options.derangement
    )
    return {name: _recoloured(options.palette[name], options.palette[taken[name]])
            for name in options.palette}  # fmt: skip


def _recoloured(own: Colour, other: Colour) -> Colour:
    """The other's colour and its word; what the prompt calls the class stays."""
    if isinstance(own, Paint) and own.called is not None:
        word = other.word if isinstance(other, Paint) else as_hex(as_code(other))
        return Paint(as_hex(as_code(other)), word, own.called)
    if isinstance(other, Paint) and other.called is not None:
        return Paint(other.rgb, other.word)
    return other


def called(name: str, colour: Colour) -> str:
    """What the prompt calls a class."""
    return colour.called if isinstance(colour, Paint) and colour.called else name


def _facts(name: str, colour: Colour) -> Mapping[str, str]:
    code = as_hex(as_code(colour))
    word = colour.word if isinstance(colour, Paint) else code
    rgb = str(list(as_rgb(colour)))
    return {"name": called(name, colour), "word": word, "hex": code, "rgb": rgb}


def _drift(table: Table, picture: RGB, codes: NDArray[Any]) -> float:
    """Share of drifted pixels; large pictures are read on evenly spaced rows."""
    step = max(1, codes.size // DRIFT_PIXELS)
    distance = table.distance(picture[::step], codes[::step])
    return float(np.count_nonzero(distance > DRIFT_DISTANCE) / distance.size)


def _to_labels(codes: NDArray[Any], classes: int) -> NDArray[np.int32]:
    """int32 labels of the table's codes: 0 and the void's code are open."""
    table = np.full(max(256, classes + 2), OPEN, np.int32)
    table[1 : classes + 1] = np.arange(classes)
    if codes.dtype == np.uint8:
        return np.asarray(cv2.LUT(codes, table[:256]))
    return np.asarray(table.take(codes))
