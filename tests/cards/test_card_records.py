"""A card becomes a record, or every one of its faults is told at once with its place."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from card_texts import MODEL, SUITE, TASK
from vgen_eval.cards import convert, load_card
from vgen_eval.cards.records import AnswerCard, ModelCard, SuiteCard, TaskCard
from vgen_eval.errors import BrokenPlugin, CardError


def test_a_task_card_becomes_a_record(write):
    loaded = load_card(write(TASK))
    assert (loaded.kind, loaded.name) == ("task", "depth/rooms")
    assert isinstance(loaded.record, TaskCard)
    paper = loaded.record.protocols["paper"]
    assert paper.answers == (
        AnswerCard(
            form="image", prompt={"mid": "Paint {what}"}, decoder="luma", options={"gain": 2}
        ),
        AnswerCard(form="depth_map"),
    )
    assert paper.seed == "per_sample"
    assert loaded.record.dataset.options == {"split": "val"}


@pytest.mark.parametrize(
    ("text", "kind", "name", "cls"),
    [
        (MODEL, "model", "acme/editor", ModelCard),
        (SUITE, "suite", "rooms", SuiteCard),
    ],
)
def test_the_top_level_key_tells_the_kind(text, kind, name, cls, write):
    loaded = load_card(write(text))
    assert (loaded.kind, loaded.name, type(loaded.record)) == (kind, name, cls)


FAULTY = """\
task: Depth/Rooms
version: 0
family: 3
titel: How far
dataset:
  reader: two words
  root: 1.10
  n: many
  options: [a]
  layout_checked: offical
  licence: yes
  source:
protocols:
  mine:
    input: {long_side: 4}
    answers:
      - form: image
        prompt: {mid: 12}
        decodr: luma
      - image
    metrics: affine
    attempts: 2.0
    sampling: {limit: 0, unit: picture, seed: -1}
default_protocol: true
"""


def test_all_faults_come_at_once_with_line_path_and_cure(problems_of):
    forms = "choice, depth_map, image, label_map, mask, normal_map, points, text, video"
    assert forms.count(",") == 8
    assert problems_of(FAULTY) == [
        "1 task: 'Depth/Rooms' does not fit ^[a-z0-9][a-z0-9._-]{0,99}"
        "(/[a-z0-9][a-z0-9._-]{0,99}){0,9}$",
        "2 version: 0 must be at least 1",
        "3 family: wanted text, got the number 3; quote it: '3'",
        "4 titel: unknown key (did you mean 'title'?)",
        "5 dataset.citation: required key is missing: How to cite it.",
        (
            "6 dataset.reader: 'two words' does not fit"
            " ^([A-Za-z0-9][A-Za-z0-9._-]*:)?[A-Za-z0-9][A-Za-z0-9_.-]*$"
        ),
        "7 dataset.root: wanted text, got the number 1.1; quote it: '1.10'",
        "8 dataset.n: wanted a whole number, got text 'many'",
        "9 dataset.options: wanted a mapping, got a list",
        (
            "10 dataset.layout_checked: 'offical' is not one of notes, official, sample"
            " (did you mean 'official'?)"
        ),
        "12 dataset.source: wanted text, got nothing (null)",
        "15 protocols.mine.input.long_side: 4 must be at least 8",
        "18 protocols.mine.answers[0].prompt.mid: wanted text, got the number 12; quote it: '12'",
        "19 protocols.mine.answers[0].decodr: unknown key (did you mean 'decoder'?)",
        "20 protocols.mine.answers[1]: wanted a mapping, got text 'image'",
        "21 protocols.mine.metrics: wanted a list, got text 'affine'; write [affine]",
        "22 protocols.mine.attempts: wanted a whole number, got the number 2.0",
        "23 protocols.mine.sampling.limit: 0 must be at least 1",
        "23 protocols.mine.sampling.unit: 'picture' is not one of example, image",
        "23 protocols.mine.sampling.seed: -1 must be at least 0",
        "24 default_protocol: wanted text, got true; quote it: 'true'",
    ]


def test_the_error_shows_the_first_fault_and_counts_the_rest(write):
    path = write(FAULTY)
    with pytest.raises(CardError) as caught:
        load_card(path)
    assert str(caught.value).startswith(f"{path}:1: task: 'Depth/Rooms' does not fit")
    assert str(caught.value).endswith("(and 20 more)")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tsk: a/b\n", ("1 : no card: none of the keys task, model, suite stands at the top level"
         " (did you mean 'task'?)")),
        ("model: a\ntask: a/b\n", "1 : one file holds one card, this has the keys task and model"),
        ("suite: a\ntasks: []\n", "2 tasks: must not be empty"),
        ('suite: "a\\n"\ntasks: [x]\n', r"1 suite: 'a\n' does not fit"),
        ("suite: a\ntasks: [x, 3]\n", "2 tasks[1]: wanted text, got the number 3; quote it: '3'"),
    ],
)  # fmt: skip
def test_a_fault_of_the_whole_card_is_told(text, expected, problems_of):
    [problem] = problems_of(text)
    assert problem.startswith(expected)


@pytest.mark.parametrize(
    ("value", "seen"), [("2", 2.0), ("2.5", 2.5), ("1e-3", 0.001), ("null", None)]
)
def test_a_whole_number_does_where_a_float_is_wanted(value, seen, write):
    record = load_card(write(MODEL + f"limits: {{timeout_s: {value}}}\n")).record
    assert isinstance(record, ModelCard)
    assert record.limits.timeout_s == seen
    assert type(record.limits.timeout_s) is type(seen)


def test_an_optional_field_tells_its_own_bound(problems_of):
    assert problems_of(MODEL + "limits: {timeout_s: 0}\nprice: {per_image_usd: -1.5}\n") == [
        "8 limits.timeout_s: 0 must be more than 0",
        "9 price.per_image_usd: -1.5 must be at least 0",
    ]


def test_free_mappings_keep_their_values_as_written(write):
    text = MODEL.replace("{steps: 4}", "{a: [1, 2.5, {b: null}], c: 'no', d: no, e: 16:9}")
    record = load_card(write(text)).record
    assert isinstance(record, ModelCard)
    assert record.options == {"a": [1, 2.5, {"b": None}], "c": "no", "d": "no", "e": "16:9"}


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    level: Annotated[int, msgspec.Meta(ge=0, le=9)] = 1


class Options(msgspec.Struct, frozen=True):
    """Not marked to forbid unknown keys: they are refused all the same."""

    fit: Literal["depth_lsq", "disparity_lsq"] = "depth_lsq"
    max_depth: Annotated[float | None, msgspec.Meta(description="Metres.")] = None
    size: int | str = 0
    names: Annotated[list[str], msgspec.Meta(min_length=1, max_length=2)] = msgspec.field(
        default_factory=lambda: ["a"]
    )
    inner: Inner = Inner()
    pair: tuple[int, int] = (0, 0)
    even: Annotated[int, msgspec.Meta(multiple_of=2)] = 0
    by_name: dict[Annotated[str, msgspec.Meta(max_length=3)], bool] = {}


def test_options_are_read_from_a_plain_mapping():
    read = convert(
        Options,
        {"fit": "disparity_lsq", "max_depth": 10, "size": "big", "names": ("x",), "pair": [1, 2]},
        file="card.yaml",
    )
    assert read == Options(
        fit="disparity_lsq", max_depth=10.0, size="big", names=["x"], pair=(1, 2)
    )


def test_all_faults_of_options_are_told_with_the_path_they_stand_at():
    bad: dict[Any, Any] = {
        "fit": "lstsq", "max_dept": 1, "size": 1.5, "names": [], "inner": {"level": 10, "x": 1},
        "even": 3, "by_name": {"long": 1}, 3: 4, "max_depth": float("nan"),
    }  # fmt: skip
    with pytest.raises(CardError) as caught:
        convert(Options, bad, file="card.yaml", path="metrics[0].options")
    assert sorted(str(p) for p in caught.value.problems) == sorted(
        "card.yaml: metrics[0].options" + line
        for line in (
            ".fit: 'lstsq' is not one of depth_lsq, disparity_lsq",
            ".max_dept: unknown key (did you mean 'max_depth'?)",
            ".size: wanted a whole number or text, got the number 1.5",
            ".names: must not be empty",
            ".inner.level: 10 must be at most 9",
            ".inner.x: unknown key",
            ".even: 3 must be a multiple of 2",
            ".by_name.long: may have at most 3, has 4",
            ".by_name.long: wanted true or false, got the number 1",
            ": the key 3 is not text",
            ".max_depth: nan is no finite number",
        )
    )


def test_what_only_the_record_itself_can_refuse_is_told_too():
    class Ordered(msgspec.Struct):
        pair: tuple[int, int] = (0, 1)

        def __post_init__(self) -> None:
            if self.pair[0] > self.pair[1]:
                raise ValueError("pair must rise")

    with pytest.raises(CardError, match=r"card: o: pair must rise"):
        convert(Ordered, {"pair": [2, 1]}, file="card", path="o")
    with pytest.raises(CardError, match=r"card: o\.pair: Expected `array` of length 2"):
        convert(Ordered, {"pair": [1]}, file="card", path="o")


class Near(msgspec.Struct, tag="near", forbid_unknown_fields=True):
    metres: int = 0


class Far(msgspec.Struct, tag="far", forbid_unknown_fields=True):
    scale: int | float = 1


class Tagged(msgspec.Struct):
    part: Near | Far


def test_records_told_apart_by_a_tag_are_read_by_it():
    read = convert(Tagged, {"part": {"type": "far", "scale": 2}}, file="card")
    assert read == Tagged(Far(scale=2))
    with pytest.raises(CardError, match=r"card: part: .*unknown field `metres`"):
        convert(Tagged, {"part": {"type": "far", "metres": 2}}, file="card")


def test_options_that_cannot_be_read_are_the_plugins_fault():
    class Lost(msgspec.Struct):
        field: NoSuchType  # noqa: F821

    with pytest.raises(BrokenPlugin, match="Lost cannot be read"):
        convert(Lost, {}, file="card")
    with pytest.raises(BrokenPlugin, match=r"no msgspec\.Struct"):
        convert(dict, {}, file="card")


def test_python_values_that_are_no_data_are_refused():
    loop: dict[str, Any] = {}
    loop["again"] = loop
    record = {"options": {"a": object(), "b": 2**70, "c": loop}}
    with pytest.raises(CardError) as caught:
        convert(AnswerCard, {"form": "mask", **record}, file="card")
    messages = [p.message for p in caught.value.problems]
    assert messages == [
        "wanted plain data, got a object",
        "the number does not fit 64 bits",
        "nested deeper than 64 levels",
    ]
