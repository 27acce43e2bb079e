"""What a family shows of a sample: panes of neutral kinds, which the viewer draws.

A view turns a truth and a prediction into panes: maps of numbers, of directions, of classes, marks
on the picture, bars, words, clips. The viewer knows these kinds and no family; a family knows its
views and no page. Input pictures and the raw answer are shown by the viewer itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import msgspec

from vgen_eval.imaging import Image
from vgen_eval.types import AnswerForm, Decoder, Metric, Prediction, Sample, Scene

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vgen_eval.video import Clip

__all__ = [
    "Bar",
    "Bars",
    "Body",
    "ClassMap",
    "Colour",
    "Directions",
    "Film",
    "Mark",
    "Marks",
    "Moment",
    "Pane",
    "Picture",
    "Role",
    "ScalarMap",
    "Seen",
    "View",
    "Words",
]

Role = Literal["input", "answer", "prediction", "target", "error", "detail"]
"""What a pane is of: `detail` is whatever else helps."""

Colour = tuple[int, int, int]
"""RGB, 0 to 255."""


class Picture(msgspec.Struct, frozen=True, eq=False):
    """A picture as it is."""

    image: Image


class ScalarMap(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A number for every pixel, drawn through a colour map."""

    values: NDArray[np.floating[Any]]
    """(H, W); not finite where there is none: drawn as a hatch, read as a dash."""
    unit: str = ""
    """After the number: m, deg; empty for ratios."""
    kind: Literal["sequential", "diverging", "error"] = "sequential"
    """sequential: a quantity; diverging: a signed difference, 0 in the middle; error: unsigned,
    dark is good."""
    low: float | None = None
    high: float | None = None
    """Ends of the colours. None: from the panes that share its range, of the target first: 2nd to
    98th percentile (of |value|, for a diverging map)."""
    reverse: bool = False
    """Is the low end bright? For depth: near is bright."""
    ticks: tuple[float, ...] = ()
    """Values that the scale bar marks besides its ends."""
    filled: NDArray[np.bool_] | None = None
    """(H, W): where the number stands for one that the answer does not have, so as it is scored;
    said beside the number. None: nowhere."""


class Directions(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A unit vector for every pixel: float (H, W, 3), right up toward; NaN where there is none."""

    values: NDArray[np.floating[Any]]
    frame: str = "right up toward"
    """In words, what its three components point to: drawn as (n + 1) / 2."""


class ClassMap(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A class for every pixel; over the input picture where `opacity` is below 1."""

    ids: NDArray[np.integer[Any]]
    """(H, W): an index into `classes`; -1: none, drawn as a hatch (clear, with `clear`)."""
    classes: tuple[str, ...]
    colours: tuple[Colour, ...] = ()
    """One a class; none: the viewer's own, the same for a class in every pane of a sample."""
    none: str = "ignored"
    """What -1 means, in a word."""
    opacity: float = 1.0
    clear: bool = False
    """Is the picture seen where the id is -1?"""
    patterned: tuple[str, ...] = ()
    """Classes drawn with dots beside their colour: what must be told apart without it."""
    notes: Mapping[str, str] = {}
    """Class -> what its row of the legend says beside its name: "IoU 0.71"."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A place on the input picture."""

    x: float
    y: float
    """Pixels of the original picture, centres whole."""
    shape: Literal["ring", "square", "cross", "dot"]
    meaning: str
    """In a word, the same for all of one shape: "matched", "extra", "missed"."""
    to: tuple[float, float] | None = None
    """A thin line leads there: from a matched point to its truth."""


class Marks(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Marks on the input picture."""

    marks: tuple[Mark, ...]


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One of several things that were to be chosen from or rated."""

    label: str
    value: float | None
    right: bool = False
    """Is it the truth? Told by a tick and a word."""
    chosen: bool = False


class Bars(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers side by side: probabilities of options, ratings on a scale."""

    bars: tuple[Bar, ...]
    low: float = 0.0
    high: float = 1.0
    unit: str = ""


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """Text, and facts about it: what was extracted, by which rule."""

    text: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value, in the order in which they are to be read."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A remark about a time of a clip, or about all of it (`time_s` None)."""

    time_s: float | None
    words: str
    good: bool | None = None
    """Does it speak for the answer, or against it?"""


class Film(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A clip: a strip of frames, remarks at their times, a number along the time."""

    clip: Clip
    moments: tuple[Moment, ...] = ()
    shown: tuple[float, ...] = ()
    """Seconds at which a judge or a checker looked."""
    curve: tuple[tuple[float, float], ...] = ()
    """(seconds, value) along the clip; its meaning is the pane's note."""


Body = Picture | ScalarMap | Directions | ClassMap | Marks | Bars | Words | Film


class Pane(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One thing to look at, with its title."""

    role: Role
    title: str
    body: Body
    note: str = ""
    """One line below it: what the colours are of, what was clipped, how it was aligned."""
    shares: str = ""
    """Panes of a sample with the same word have one range of colours, whatever the model."""


class Seen(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One attempt at one sample, as it was scored."""

    sample: Sample
    """With its truth: `target` and `valid`."""
    scene: Scene
    form: AnswerForm
    answer: Any
    """As decoders take it; None where there is none."""
    prediction: Prediction | None
    """What the decoder reads off the answer (a judge's verdict stands in `score`); the failure
    value where `substitute`; None where nothing was scored: only the truth is shown then."""
    substitute: bool
    score: Mapping[str, Any]
    """The score line: status, reason, prediction (the summary), statistics, values, flags."""
    metrics: Mapping[str, Metric]
    """Those of the protocol by their keys: they know how a prediction is aligned with the truth."""
    judgements: Sequence[Mapping[str, Any]] = ()
    """The judge's replies: question, round, reply, reason."""
    decoder: Decoder | None = None
    """What read the answer, for its options; None: not known, and a view does without."""


class View(Protocol):
    """Truth and prediction -> panes: pure. Built without arguments.

    The hook `vgen_views` names it by what it shows: the `measures` of a protocol's metrics.
    """

    version: ClassVar[int]
    measures: ClassVar[str]

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """The panes of the roles target, prediction, error and detail, in the order of reading.

        On the target's grid where they are maps. What it raises becomes a notice on the page.
        """
        ...
