"""The records that cards are read into: task cards, model cards, suites.

Each field carries its one-line description, which becomes the JSON Schema that editors complete
from. A field marked `provenance` says where something comes from and cannot change an answer or
a score; it is left out of `identity_digest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from vgen_eval.cards.names import NAME
from vgen_eval.imaging import WHITE, Fit
from vgen_eval.types import AnswerForm, Role

__all__ = [
    "AnswerCard",
    "Calibration",
    "Checkpoint",
    "DataPart",
    "DatasetCard",
    "Exposure",
    "Hub",
    "InputCard",
    "Limits",
    "MetricCard",
    "ModelCard",
    "Needs",
    "Price",
    "ProtocolCard",
    "Sampling",
    "SuiteCard",
    "TaskCard",
]

WORD = r"^[a-z0-9][a-z0-9_-]*$"
COMPONENT = r"^([A-Za-z0-9][A-Za-z0-9._-]*:)?[A-Za-z0-9][A-Za-z0-9_.-]*$"
MODEL_REF = (
    r"^([A-Za-z0-9][A-Za-z0-9._-]*:)?[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$"
)
REENCODE = r"^jpeg:([1-9][0-9]?|100)$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"

# msgspec takes a bound only on the bare type, so optional fields name these
ComponentName = Annotated[str, msgspec.Meta(pattern=COMPONENT)]
ModelRef = Annotated[str, msgspec.Meta(pattern=MODEL_REF)]
Word = Annotated[str, msgspec.Meta(pattern=WORD)]
Reencoding = Annotated[str, msgspec.Meta(pattern=REENCODE)]
Variable = Annotated[str, msgspec.Meta(pattern=VARIABLE)]
ChoiceScoring = Literal["next_token", "closed_set", "closed_set_full"]
Count = Annotated[int, msgspec.Meta(ge=1)]
Side = Annotated[int, msgspec.Meta(ge=8)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Dollars = Annotated[float, msgspec.Meta(ge=0)]
Level = Annotated[int, msgspec.Meta(ge=0, le=255)]


def _doc(text: str, **more: Any) -> msgspec.Meta:
    return msgspec.Meta(description=text, **more)


def _provenance(text: str, **more: Any) -> msgspec.Meta:
    return msgspec.Meta(description=text, extra={"provenance": True}, **more)


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a card: immutable, unknown keys refused."""


class Hub(Record, frozen=True, kw_only=True):
    """The data set of the Hugging Face Hub that `vgen-eval data prepare` may fetch."""

    repo: Annotated[str, _provenance("Repository, owner/name.")]
    revision: Annotated[
        str | None, _provenance("Commit that pins it; null: the user has to name one.")
    ] = None
    files: Annotated[tuple[str, ...], _provenance("Patterns of the files; none: all of them.")] = ()


class DatasetCard(Record, frozen=True, kw_only=True):
    """Which data a task is measured on, and under what terms."""

    reader: Annotated[ComponentName, _doc("Reader of this layout, [distribution:]name.")]
    root: Annotated[
        str | None, _doc("Folder below the data root; null for data that a package ships.")
    ] = None
    options: Annotated[Mapping[str, Any], _doc("The reader's own options.")] = {}
    revision: Annotated[str | None, _doc("Release, commit or date that pins the data.")] = None
    n: Annotated[Count | None, _doc("Number of samples; checked against the index.")] = None
    hashes: Annotated[
        Mapping[str, str], _doc("sha256 of files, by path below the root, where published.")
    ] = {}
    sizes: Annotated[
        Mapping[str, int], _provenance("Bytes of files, by path below the root, where published.")
    ] = {}
    size_gb: Annotated[Positive | None, _provenance("GB to download, about.")] = None
    hub: Annotated[Hub | None, _provenance("Where it may be fetched from; null: by hand.")] = None
    layout_checked: Annotated[
        Literal["official", "sample", "notes"],
        _provenance("Against what the reader was proved: official files, a sample, or notes."),
    ] = "notes"
    licence: Annotated[str, _provenance("Licence of the data (SPDX id where there is one).")]
    terms: Annotated[str | None, _provenance("Terms to accept before use.")] = None
    redistribution: Annotated[
        str | None, _provenance("May the data be passed on, and what of it we ship.")
    ] = None
    source: Annotated[str, _provenance("Where the data comes from.")]
    unpack: Annotated[
        str | None, _provenance("What to fetch there, and the folders that it has to give.")
    ] = None
    citation: Annotated[str, _provenance("How to cite it.")]


class InputCard(Record, frozen=True, kw_only=True):
    """How a picture is prepared for the model."""

    long_side: Annotated[
        Side | None, _doc("Resize so that the long side has this many pixels; null: as it is.")
    ] = None
    upsample: Annotated[bool, _doc("May `long_side` enlarge a smaller picture?")] = False
    size: Annotated[
        tuple[Side, Side] | None, _doc("Height and width of every picture; null: its own.")
    ] = None
    fit: Annotated[
        Fit, _doc("How a picture of another shape gets to `size`: stretched, or between bars.")
    ] = "stretch"
    pad: Annotated[tuple[Level, Level, Level], _doc("R, G, B of the bars.")] = (0, 0, 0)


class JudgeCard(Record, frozen=True, kw_only=True):
    """Who judges an answer, and how: a model in the role of a judge."""

    name: Annotated[
        ComponentName, _doc("How it is judged: what is asked, and what the replies come to.")
    ]
    model: Annotated[
        ModelRef, _doc("Model card that is asked, [distribution:]name; --judge names another.")
    ]
    options: Annotated[Mapping[str, Any], _doc("Options of the way of judging.")] = {}


class AnswerCard(Record, frozen=True, kw_only=True):
    """One answer form a protocol accepts, with its own prompt, decoder and encoder."""

    form: Annotated[AnswerForm, _doc("Form of the answer.")]
    prompt: Annotated[
        Mapping[str, str],
        _doc(
            "Variant (short, mid, long) -> text; {field} is filled from the sample, {{ is a brace."
        ),
    ] = {}
    prefix: Annotated[
        str,
        _doc("How the model's own turn begins; its answer, or each choice, goes on there."),
    ] = ""
    choices: Annotated[
        tuple[str, ...],
        _doc("Words whose log-probabilities are asked for; none: the sample's own."),
    ] = ()
    choice_scoring: Annotated[
        ChoiceScoring | None,
        _doc(
            "A choice's number: next_token, the log-probability of the word; closed_set, the mean "
            "over its tokens; closed_set_full, the mean over the prompt's tokens too; null: as the "
            "model's card says."
        ),
    ] = None
    decoder: Annotated[
        ComponentName | None, _doc("answer -> prediction; null: named as the form.")
    ] = None
    options: Annotated[Mapping[str, Any], _doc("The decoder's own options.")] = {}
    encoder: Annotated[
        ComponentName | None, _doc("truth -> ideal answer; null: named as the form.")
    ] = None
    encoder_options: Annotated[
        Mapping[str, Any],
        _doc("The encoder's own options; none: the decoder's, where both take the same."),
    ] = {}
    fit: Annotated[
        Fit,
        _doc("An answer of another shape than the input is stretched, or loses bars around it."),
    ] = "stretch"
    background: Annotated[
        tuple[Level, Level, Level], _doc("R, G, B that transparent pixels of a picture lie on.")
    ] = WHITE
    reencode: Annotated[
        Reencoding | None,
        _doc("jpeg:QUALITY: a picture is compressed so before it is read; null: it is not."),
    ] = None
    judge: Annotated[
        JudgeCard | None, _doc("A judge measures what the decoder gives; null: metrics do alone.")
    ] = None


class MetricCard(Record, frozen=True, kw_only=True):
    """A metric and its options."""

    name: Annotated[ComponentName, _doc("Metric, [distribution:]name.")]
    label: Annotated[
        str | None, _doc("Prefix of its values' names (label.value), where a metric stands twice.")
    ] = None
    options: Annotated[Mapping[str, Any], _doc("The metric's own options.")] = {}


class Sampling(Record, frozen=True, kw_only=True):
    """The subset a protocol itself prescribes; `--limit` narrows it further."""

    limit: Annotated[Count | None, _doc("How many samples; null: all.")] = None
    unit: Annotated[
        Literal["example", "image"], _doc("example: samples; image: one sample a group.")
    ] = "example"
    seed: Annotated[int, _doc("Seed of the order in which groups are taken.", ge=0)] = 0


class DataPart(Record, frozen=True, kw_only=True):
    """Which part or variant of the data a protocol is about."""

    options: Annotated[Mapping[str, Any], _doc("Options of the reader, over the data set's.")] = {}
    n: Annotated[
        Count | None,
        _doc(
            "Samples of that part; null: as many as the data set, or any where options are given."
        ),
    ] = None


class Calibration(Record, frozen=True, kw_only=True):
    """What a decoder may learn from the truth of a few samples before anything is scored."""

    samples: Annotated[int, _doc("How many: the first of the run, in the data's order.", ge=1)] = 5
    exclude: Annotated[bool, _doc("Are they left out of the score?")] = False


class ProtocolCard(Record, frozen=True, kw_only=True):
    """A complete, named way to run a task, as a paper or the field does."""

    title: Annotated[str, _provenance("One line: whose way this is.")] = ""
    source: Annotated[str | None, _provenance("Paper and section, or code, it follows.")] = None
    extends: Annotated[
        str | None,
        _doc("A complete protocol of this card whose keys hold where this one is silent."),
    ] = None
    data: Annotated[DataPart, _doc("Part or variant of the data.")] = DataPart()
    input: Annotated[InputCard, _doc("Input preparation.")] = InputCard()
    answers: Annotated[tuple[AnswerCard, ...], _doc("Answer forms accepted, best first.")] = ()
    metrics: Annotated[tuple[MetricCard, ...], _doc("Metrics computed.")] = ()
    primary: Annotated[str, _doc("The value that ranks models, named as a metric reports it.")] = ""
    select_by: Annotated[
        str | None, _doc("The value that best-of-p picks attempts by; null: each value by itself.")
    ] = None
    calibration: Annotated[
        Calibration | None, _doc("Let the decoder calibrate itself; null: it does not.")
    ] = None
    failure_value: Annotated[
        str,
        _doc(
            "Substitute prediction for a model failure: a decoder that reads no answer; "
            "`skip` leaves failures out, as some papers do."
        ),
    ] = ""
    failure_options: Annotated[Mapping[str, Any], _doc("Options of the failure value.")] = {}
    seed: Annotated[
        Literal["fixed", "per_sample"], _doc("One seed for all samples, or one derived for each.")
    ] = "fixed"
    sampling: Annotated[Sampling, _doc("The subset this protocol prescribes.")] = Sampling()
    attempts: Annotated[int, _doc("Repeats of each sample.", ge=1, le=1000)] = 1


class TaskCard(Record, frozen=True, kw_only=True):
    """A task card: one benchmark."""

    task: Annotated[str, _doc("Name: group/name.", pattern=NAME)]
    version: Annotated[int, _doc("Raised when a change makes scores incomparable.", ge=1)]
    family: Annotated[str, _doc("Family: depth, counting, referring, ...", pattern=WORD)]
    title: Annotated[str, _provenance("One line: what it measures.")] = ""
    dataset: Annotated[DatasetCard, _doc("The data.")]
    protocols: Annotated[Mapping[str, ProtocolCard], _doc("Name -> protocol.")]
    default_protocol: Annotated[str, _doc("The protocol that a bare task name means.")]


class Checkpoint(Record, frozen=True, kw_only=True):
    """Which weights."""

    repo: Annotated[str | None, _doc("Hub repository.")] = None
    revision: Annotated[str | None, _doc("Commit that pins it.")] = None
    path: Annotated[str | None, _doc("Local folder.")] = None


class Limits(Record, frozen=True, kw_only=True):
    """How the engine calls the model; none of it changes an answer."""

    timeout_s: Annotated[
        Positive | None, _provenance("Seconds a call may take per request; null: no limit.")
    ] = None
    tries: Annotated[
        int, _provenance("Calls at most for one attempt when faults may pass.", ge=1, le=100)
    ] = 5
    backoff_s: Annotated[
        float, _provenance("First wait after a fault that may pass; doubled each time.", ge=0)
    ] = 1.0
    concurrency: Annotated[
        Count | None, _provenance("Calls at once at most; null: as many as the adapter says.")
    ] = None
    per_minute: Annotated[
        Positive | None, _provenance("Calls started a minute at most; null: no limit.")
    ] = None


class Needs(Record, frozen=True, kw_only=True):
    """What the model needs on the machine."""

    extra: Annotated[str | None, _provenance("Extra of vgen-eval to install.")] = None
    vram_gb: Annotated[Positive | None, _provenance("Device memory in GB.")] = None
    key_env: Annotated[Variable | None, _provenance("Environment variable that holds the key.")] = (
        None
    )
    serve: Annotated[
        str | None, _provenance("Command that starts the server of your own that it is asked at.")
    ] = None


class Price(Record, frozen=True, kw_only=True):
    """What a call costs, for estimates and for the card."""

    per_image_usd: Annotated[Dollars | None, _provenance("US dollars an image made.")] = None
    per_video_second_usd: Annotated[
        Dollars | None, _provenance("US dollars a second of video made.")
    ] = None
    per_million_input_usd: Annotated[
        Dollars | None, _provenance("US dollars a million input tokens.")
    ] = None
    per_million_cached_usd: Annotated[
        Dollars | None, _provenance("The same for those read from a cache; null: as any.")
    ] = None
    per_million_cache_write_usd: Annotated[
        Dollars | None, _provenance("The same for those written to a cache; null: as any.")
    ] = None
    per_million_input_image_usd: Annotated[
        Dollars | None, _provenance("The same for those of pictures; null: as any.")
    ] = None
    per_million_output_usd: Annotated[
        Dollars | None, _provenance("US dollars a million output tokens.")
    ] = None
    per_million_image_usd: Annotated[
        Dollars | None, _provenance("The same for those of pictures made; null: as any.")
    ] = None
    source: Annotated[str | None, _provenance("Where and when the price was read.")] = None


class Exposure(Record, frozen=True, kw_only=True):
    """Known contact of the training with a task's data."""

    task: Annotated[str, _provenance("Task or family.")]
    status: Annotated[Literal["reported", "suspected", "none"], _provenance("What is known of it.")]
    source: Annotated[str, _provenance("Who says so.")]


class ModelCard(Record, frozen=True, kw_only=True):
    """A model card: what is measured, and how it is driven."""

    model: Annotated[str, _doc("Name: vendor/model, or one word.", pattern=NAME)]
    title: Annotated[str, _provenance("One line: what it is.")] = ""
    adapter: Annotated[ComponentName, _doc("What drives it, [distribution:]name.")]
    role: Annotated[Role, _doc("model, ceiling, floor, human or judge.")] = "model"
    checkpoint: Annotated[Checkpoint | None, _doc("Which weights.")] = None
    answers: Annotated[tuple[AnswerForm, ...], _doc("Answer forms it can give.", min_length=1)]
    options: Annotated[Mapping[str, Any], _doc("The adapter's own options (-M on the CLI).")] = {}
    generation: Annotated[
        Mapping[str, Any], _doc("Settings of each call; `seed` is the base of the seeds.")
    ] = {}
    limits: Annotated[Limits, _provenance("Timeouts and tries.")] = Limits()
    needs: Annotated[Needs, _provenance("What it needs to run.")] = Needs()
    price: Annotated[Price | None, _provenance("What it costs.")] = None
    licence: Annotated[str, _provenance("Licence of the weights or terms of the service.")]
    redistribution: Annotated[
        str | None, _provenance("May the weights be passed on, and under what terms.")
    ] = None
    source: Annotated[str | None, _provenance("Home page, paper or repository.")] = None
    papers: Annotated[
        tuple[Word, ...], _provenance("Rosters it stands in: the papers that measured it.")
    ] = ()
    developer: Annotated[str | None, _provenance("Who made it.")] = None
    availability: Annotated[
        Literal["open_weights", "closed_weights", "code", "unknown"],
        _provenance("How it can be had; `code`: no learned weights."),
    ] = "unknown"
    exposure: Annotated[
        tuple[Exposure, ...], _provenance("Known contact with tasks' data in training.")
    ] = ()
    verified: Annotated[
        bool | None,
        _provenance(
            "false: no source pins a revision, or nobody has run this card yet; null: not said."
        ),
    ] = None
    runnable: Annotated[bool, _provenance("false: nobody can run it; see `reason`.")] = True
    reason: Annotated[str | None, _provenance("Why it is not runnable.")] = None


class SuiteCard(Record, frozen=True, kw_only=True):
    """A named list of tasks with a stated aggregate."""

    suite: Annotated[str, _doc("Name.", pattern=NAME)]
    title: Annotated[str, _provenance("One line: what it is for.")] = ""
    tasks: Annotated[tuple[str, ...], _doc("task[@protocol], each of them.", min_length=1)]
    aggregate: Annotated[
        Literal["none", "mean"],
        _doc("none: a table; mean: of the primaries, which must share unit and direction."),
    ] = "none"
