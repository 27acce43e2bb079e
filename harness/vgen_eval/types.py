"""The words that cards, plugins and the engine share; nothing here loads numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import msgspec

from vgen_eval.imaging import Box, Fit, Geometry, Image

__all__ = [
    "FORMS",
    "STATUS_GROUP",
    "Adapter",
    "AnswerForm",
    "Dataset",
    "Decoder",
    "Encoder",
    "Example",
    "Item",
    "Metric",
    "NoOptions",
    "Output",
    "Prediction",
    "Request",
    "Role",
    "Sample",
    "Scene",
    "Statistics",
    "Status",
    "Usage",
    "Value",
]

AnswerForm = Literal[
    "image", "text", "choice", "video", "depth_map", "normal_map", "mask", "label_map", "points"
]
FORMS: tuple[AnswerForm, ...] = (
    "image", "text", "choice", "video", "depth_map", "normal_map", "mask", "label_map", "points",
)  # fmt: skip

Role = Literal["model", "ceiling", "floor", "human", "judge"]

Status = Literal[
    "ok",
    "refused", "no_answer", "undecodable", "missing",
    "error", "timeout", "judge_error",
    "no_valid_target", "bad_sample",
]  # fmt: skip
StatusGroup = Literal["answered", "model_failure", "infrastructure", "data_fault"]

STATUS_GROUP: Mapping[str, StatusGroup] = {
    "ok": "answered",
    "refused": "model_failure",
    "no_answer": "model_failure",
    "undecodable": "model_failure",
    "missing": "model_failure",
    "error": "infrastructure",
    "timeout": "infrastructure",
    "judge_error": "infrastructure",
    "no_valid_target": "data_fault",
    "bad_sample": "data_fault",
}

NO_TAGS: Mapping[str, str] = MappingProxyType({})
"""Shared: an empty dict of its own costs each of 100,000 items 64 bytes."""

Statistics = dict[str, Any]
"""Small sufficient statistics of one sample or of many: name -> number or list of numbers."""


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Options of a component that has none."""


class Item(msgspec.Struct, frozen=True):
    """One line of a data set's index: enough to plan with, no pixels."""

    id: str
    group: str
    """The image or scene: the unit of subsets and of the bootstrap."""
    tags: Mapping[str, str] = NO_TAGS


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a data set, loaded.

    `target` belongs to the family (a count, a mask, ...); `valid` is a bool map of the pixels
    whose truth is known, None when all of them are.
    """

    id: str
    group: str
    images: tuple[Image, ...]
    target: Any
    valid: Any = None
    fields: Mapping[str, str] = {}
    """Text that a prompt may name: {query}."""
    choices: tuple[str, ...] = ()
    """Its own words whose log-probabilities are asked for; none: the protocol's."""
    tags: Mapping[str, str] = {}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What one model call receives for one attempt at one sample."""

    id: str
    """Unique in the run; the output must carry it."""
    sample: str
    attempt: int
    family: str
    form: AnswerForm
    prompt: str
    images: tuple[Image, ...]
    parts: tuple[str | Image, ...] = ()
    """Words and pictures in the order in which they are to be shown: those of `prompt` and
    `images`. None: the pictures, then the prompt."""
    prefix: str = ""
    """How the model's own turn begins; its answer goes on from there."""
    wants_json: bool = False
    """Is the answer to be one JSON object? For services that can be held to it."""
    choices: tuple[str, ...] = ()
    choice_scoring: str = ""
    """What a choice's number is to be: `next_token`, `closed_set` or `closed_set_full`, as cards
    say it. Empty: as the model's card says."""
    fields: Mapping[str, str] = {}
    settings: Mapping[str, Any] = {}
    """The model card's `generation`, overrides applied, without the seed."""
    seed: int = 0
    ideal: Any = None
    """The encoder's answer to the truth: given to models of role `ceiling`, None for others."""
    encode: Callable[[Any], Any] | None = None
    """The protocol's encoder, target -> answer: given to models of role `floor` for a prior."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a call used, as far as the provider says."""

    input_tokens: int | None = None
    """All that was read, pictures included."""
    cached_tokens: int | None = None
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int | None = None
    """Of the input: written to the provider's cache."""
    input_image_tokens: int | None = None
    """Of the input: pictures, where they have a price of their own."""
    output_tokens: int | None = None
    """All that was written, thinking and pictures included."""
    thinking_tokens: int | None = None
    """Of the output: thinking."""
    image_tokens: int | None = None
    """Of the output: pictures."""
    images: int | None = None
    """Pictures made."""
    video_seconds: float | None = None
    """Length of the videos made."""
    cost_usd: float | None = None
    """What the provider says it cost; None: the engine reckons by the card's price."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a model gave for one request.

    `answer` by form: image - uint8 (H, W, 3) RGB or (H, W, 4) RGBA, a Pillow image, or the bytes
    of a PNG, JPEG or WebP file; text - str; choice - word -> log-probability; mask - bool (H, W);
    label_map - int (H, W); depth_map - float (H, W); normal_map - float (H, W, 3); points - (N, 2)
    x, y in pixels of the first image; video - bytes. None: the model gave nothing.
    """

    id: str
    answer: Any
    usage: Usage | None = None
    request_id: str | None = None
    reported_model: str | None = None
    """The model's name as the service gives it back."""
    reported_date: str | None = None
    """The date that the service gives for the answer or its model (ISO 8601)."""
    reason: str | None = None
    """Why `answer` is None, in the provider's words: a finish reason."""
    flags: tuple[str, ...] = ()
    """What qualifies the answer; joins the decoder's flags: `thought_image_used`, ..."""
    text: str | None = None
    """Words that came beside the answer, or in its place."""
    thinking: str | None = None
    """The thinking trace: evidence, never the answer."""
    pictures: tuple[Any, ...] = ()
    """Pictures that came on the way and are not the answer (drafts, steps): evidence."""
    source: str | None = None
    """The file an imported answer came from, for messages."""
    answer_s: float | None = None
    """Seconds that the answer took, of one that was given elsewhere: a person's."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What a decoder or an encoder may see beside the answer or the truth."""

    image: Image
    """The first input picture as the model saw it."""
    size: tuple[int, int]
    """(height, width) of the original picture, in which targets live."""
    fields: Mapping[str, str] = {}
    choices: tuple[str, ...] = ()
    box: Box | None = None
    """(top, left, height, width): the part of `image` that shows the original; None: all of it."""
    fit: Fit = "stretch"
    """How the card lays an answer of another shape onto `image`."""

    @property
    def geometry(self) -> Geometry:
        """The way between the original and `image`; answers come back through its `restore`."""
        seen = (self.image.height, self.image.width)
        box = self.box or (0, 0, *seen)
        return Geometry(original=self.size, seen=seen, box=box, fit=self.fit)


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """An answer beside its truth: what a decoder is calibrated on."""

    answer: Any
    scene: Scene
    target: Any
    valid: Any = None


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement read off an answer, on the target's grid.

    Pixels that the answer leaves open are NaN in maps and -1 in label maps.
    """

    value: Any
    flags: tuple[str, ...] = ()
    """What qualifies the answer: `constant`, `copied_input`, ..."""
    summary: Mapping[str, Any] = {}
    """What to write down of it: small, JSON."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One number that a metric reports."""

    name: str
    of: str
    """The key of `compute`'s result that it is made of."""
    aggregation: Literal["mean", "pooled"]
    """mean: of the per-sample values; pooled: computed from the merged statistics."""
    higher_is_better: bool
    unit: str = ""
    low: float | None = None
    high: float | None = None


@runtime_checkable
class Adapter(Protocol):
    """Drives one kind of model. `generate` is the one method that must be written."""

    max_batch: int
    """How many requests one call may hold."""
    concurrency: int
    """How many calls may run at once."""
    deterministic: bool
    """Same request, same bytes, whatever the batch."""

    # Optional: endpoint: str | None, host[:port] of the service it calls. Calls to one endpoint
    # share limits that adapt to it, and time-outs are tried again. None: the model runs here.
    # For `vgen-eval bench`: synchronize(self), which returns once the device has done what was
    # asked of it (without it CUDA and MPS are waited for where torch is loaded here); and
    # memory(self) -> Mapping, what it knows of its memory: JSON, units in the names (peak_mib).

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """Outputs for the requests, in any order, each with its request's id.

        Raises RateLimited, Transient or Refused; retries belong to the engine.
        """
        ...


class Dataset(Protocol):
    """Reads one layout of data. Built as `Reader(options, root=, folder=)`."""

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]

    def __init__(self, options: Any, *, root: Path | None, folder: Path) -> None:
        """`root`: the data folder, None for built-in data; `folder`: where the card lies."""
        ...

    def index(self) -> Sequence[Item]:
        """Every sample, in the data set's order; MissingData when the files are not there."""
        ...

    def load(self, item: Item) -> Sample:
        """The sample with its pixels and truth; BadSample when its files are faulty."""
        ...

    def fingerprint(self) -> str:
        """A cheap digest that changes when samples or annotations do."""
        ...

    # Optional, all of them about the files on disk:
    # look(self, items) -> Sequence[Problem], files of these samples that are missing or empty; none
    # is opened. The engine asks for it before a model is loaded, so that `index` need not.
    # verify(self, items) -> Sequence[Problem], every fault that reading these samples' files shows.
    # prepare(self, say) -> None, converts once what has to be converted; `say` takes one line of
    # progress at a time. `index` raises MissingData until it was done.
    # draft(cls, request), a class method, see `vgen_eval.drafts`.
    # And: measures, what the truth is ("depth", "mask", ...), of a reader whose options choose it;
    # a protocol whose metrics measure something else is refused before anything runs.


class Decoder(Protocol):
    """answer -> prediction: pure. Built as `Decoder(options)`.

    Decoders, encoders and metrics may say `measures = "mask"` (or "count", ...): what a prediction
    is. A protocol whose parts say different things is refused before anything runs.
    """

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]

    def __init__(self, options: Any) -> None: ...

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The measurement; Undecodable, with the reason, when the answer holds none."""
        ...

    # Optional: fields(self, scene) -> Mapping[str, str], prompt fields that follow from its
    # options: {palette} in words. They stand beside the sample's own.
    # pictures(self, scene) -> Sequence[Image], further pictures that the model is shown after the
    # sample's: a palette.
    # calibrate(self, examples) -> Mapping, what the truth of a few samples settles, as JSON, and
    # calibrated(self, record) -> Decoder, the decoder that it makes. Only where the protocol says
    # `calibration`; the record stands in the result card.


class Encoder(Protocol):
    """target -> ideal answer: pure. Built as `Encoder(options)`.

    One whose Options are its decoder's takes the decoder's where the card gives it none.
    """

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]

    def __init__(self, options: Any) -> None: ...

    def encode(self, target: Any, scene: Scene) -> Any:
        """The answer of the form that a model which sees perfectly would give.

        NoValidTarget when the truth holds nothing that could be written.
        """
        ...


class Metric(Protocol):
    """update -> merge -> compute, over small statistics. Built as `Metric(options)`."""

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]
    values: ClassVar[tuple[Value, ...]]

    def __init__(self, options: Any) -> None: ...

    def update(self, pred: Any, target: Any, valid: Any) -> Statistics:
        """Statistics of one sample; NoValidTarget when its truth holds nothing to score."""
        ...

    def merge(self, a: Statistics, b: Statistics) -> Statistics:
        """Statistics of both: associative and commutative."""
        ...

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """The values of merged statistics; None where one is undefined."""
        ...

    # Optional: flags(self, statistics) -> Sequence[str], what one sample's statistics say of its
    # prediction: `degenerate_fit`, ... They join the decoder's flags.
    #
    # Optional: explain(self, statistics) -> Mapping[str, str], why values of merged statistics are
    # None: key of the value -> reason. It stands in the result card.
    #
    # Optional: class_confusion(self, pred, target, valid) -> (names, counts), of a metric of
    # classes: names of the truth's classes, and pixels (classes, classes + 2) by truth and answer;
    # the last two columns are a class that the truth does not know, and none. `plot confusion`.
