"""Checking a card goes beyond its schema: all that it names is there and takes its options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench import Bench
from card_texts import MODEL, SUITE, TASK
from vgen_eval.cards import check_card

Check = Callable[..., list[str]]


@pytest.fixture
def check(write, tmp_path) -> Check:
    """Each problem as `line path: message`."""

    def run(text: str, **others: str) -> list[str]:
        for name, other in others.items():
            write(other, f"{name}.yaml")
        path = write(text, "checked.yaml")
        found = check_card(path, Bench(tmp_path))
        assert all(p.file == str(path) for p in found)
        return [f"{p.line} {p.path}: {p.message}" for p in found]

    return run


@pytest.mark.parametrize("text", [TASK, MODEL])
def test_a_sound_card_has_no_problems(text, check):
    assert check(text) == []


def test_faults_of_schema_and_of_what_is_named_are_told_at_once(check):
    text = TASK.replace("decoder: luma", "decodr: none").replace("split: val", "split: test")
    assert check(text.replace("failure_value: flat", "failure_value: nothing")) == [
        "5 dataset.options.split: 'test' is not one of train, val",
        "9 protocols.paper.answers[0].decodr: unknown key (did you mean 'decoder'?)",
        "13 protocols.paper.failure_value: no decoder 'nothing'.",
    ]


def test_what_only_follows_from_a_schema_fault_is_not_told(check):
    # the answer has no decoder any more, and a metric without a name reports nothing
    assert check(TASK.replace("decoder: luma", "decodr: luma")) == [
        "9 protocols.paper.answers[0].decodr: unknown key (did you mean 'decoder'?)"
    ]


def test_a_card_without_a_sound_record_is_told_by_the_schema_alone(check):
    text = TASK.replace("version: 1", "version: one").replace("reader: rooms", "reader: halls")
    (problem,) = check(text)
    assert "version: wanted a whole number" in problem


PAPER = "protocols.paper"
FAULTS = [
    ("default_protocol: paper", "default_protocol: papr",
     "19 default_protocol: no protocol 'papr' (did you mean 'paper'?)"),
    ("CC0", "' '", "5 dataset.licence: must not be empty"),
    ("source: a", "source: ''", "5 dataset.source: must not be empty"),
    ("reader: rooms", "reader: halls", "5 dataset.reader: no dataset 'halls'."),
    ("reader: rooms", "reader: torn",
     "5 dataset.reader: plugin 'torn': ImportError: no_such_module (mend it)"),
    ("split: val", "split: test", "5 dataset.options.split: 'test' is not one of train, val"),
    ("- {form: depth_map}", "- {form: image}",
     f"10 {PAPER}.answers[1].form: the form 'image' stands twice"),
    ("{what}'", "{what'", (f"9 {PAPER}.answers[0].prompt.mid: lone '{{' at character 7, near"
     " 'Paint {what': write {name} for a field and {{ or }} for a brace")),
    ("decoder: luma", "decoder: lumen", f"9 {PAPER}.answers[0].decoder: no decoder 'lumen'."),
    ("decoder: luma, options: {gain: 2}", "decoder: unreadable",
     (f"9 {PAPER}.answers[0].options: bench.Unreadable.Options cannot be read:"
     " name 'NoSuchType' is not defined")),
    ("gain: 2", "gain: 0", f"9 {PAPER}.answers[0].options.gain: 0 must be more than 0"),
    ("gain: 2", "gian: 2", (f"9 {PAPER}.answers[0].options.gian: unknown key"
     " (did you mean 'gain'?)")),
    ("{form: depth_map}", "{form: depth_map, options: {a: 1}}",
     f"10 {PAPER}.answers[1].options.a: unknown key"),
    ("{form: depth_map}", "{form: mask}", f"10 {PAPER}.answers[1].form: no decoder 'mask'."),
    ("{form: depth_map}", "{form: depth_map, encoder: luma}",
     f"10 {PAPER}.answers[1].encoder: no encoder 'luma'."),
    ("{form: depth_map}", "{form: depth_map, encoder_options: {a: 1}}",
     f"10 {PAPER}.answers[1].encoder_options: there is no encoder 'depth_map' to take them"),
    ("{form: depth_map}", "{form: depth_map, encoder: image, encoder_options: {a: 1}}",
     f"10 {PAPER}.answers[1].encoder_options.a: unknown key"),
    ("{form: depth_map}", "{form: choice, choices: [a, b, a]}",
     f"10 {PAPER}.answers[1].choices: a word stands twice"),
    ("fit: depth_lsq", "fit: lstsq",
     f"11 {PAPER}.metrics[0].options.fit: 'lstsq' is not one of depth_lsq, disparity_lsq"),
    ("[{name: depth_error, options: {fit: depth_lsq}}]", "[{name: depth_eror}]",
     f"11 {PAPER}.metrics[0].name: no metric 'depth_eror'."),
    ("[{name: depth_error, options: {fit: depth_lsq}}]",
     "[{name: depth_error}, {name: accuracy}, {name: depth_error}]",
     f"11 {PAPER}.metrics[2]: two metrics report 'abs_rel': give one of them a label"),
    ("failure_value: flat", "failure_value: none",
     f"13 {PAPER}.failure_value: no decoder 'none'."),
    ("failure_value: flat", "failure_value: skip\n    failure_options: {a: 1}",
     f"14 {PAPER}.failure_options: skip takes no options"),
    ("failure_value: flat", "failure_value: flat\n    failure_options: {a: 1}",
     f"14 {PAPER}.failure_options.a: unknown key"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_one_fault_of_a_task_card_is_told_once_with_its_line(old, new, expected, check):
    assert TASK.count(old) == 1
    assert check(TASK.replace(old, new)) == [expected]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("failure_value: flat", "failure_value: skip"),
        ("primary: abs_rel", "primary: rmse_all"),
        ("[{name: depth_error}]", "[{name: depth_error}, {name: depth_error, label: again}]"),
        ("{form: depth_map}", "{form: depth_map, encoder: image, encoder_options: {gain: 1}}"),
        ("{form: depth_map}", "{form: choice, choices: [a, b]}"),
    ],
)
def test_what_a_task_card_may_say(old, new, check):
    assert check(TASK.replace(old, new)) == []


def test_a_primary_must_be_a_value_of_the_metrics(check):
    what = "'{}' is no value of the metrics; they report: {}"
    unknown = what.format("abs_real", "abs_rel, rmse, rmse_all")
    assert check(TASK.replace("primary: abs_rel", "primary: abs_real")) == [
        f"12 protocols.paper.primary: {unknown}",
        f"15 protocols.short.primary: {unknown}",
    ]
    labelled = TASK.replace("[{name: depth_error}]", "[{name: depth_error, label: new}]")
    unlabelled = what.format("abs_rel", "new.abs_rel, new.rmse, new.rmse_all")
    assert check(labelled) == [f"15 protocols.short.primary: {unlabelled}"]
    silent = TASK.replace("[{name: depth_error}]", "[{name: silent}]")
    nothing = what.format("abs_rel", "none")
    assert check(silent) == [f"15 protocols.short.primary: {nothing}"]


def test_a_protocol_must_be_complete(check):
    text = TASK.replace("default_protocol", "  bare: {title: x}\ndefault_protocol")
    assert check(text) == [
        f"19 protocols.bare.{key}: is needed to run this protocol"
        for key in ("answers", "metrics", "primary", "failure_value")
    ]


def test_what_a_protocol_has_from_another_is_told_there_alone(check):
    text = TASK[: TASK.index("  short:")] + "  more: {extends: paper, attempts: 2}\n"
    text += "default_protocol: more\n"
    assert check(text) == []
    text = text.replace("luma", "lumen").replace("flat", "none").replace("abs_rel", "abs")
    assert [problem.split(":")[0] for problem in check(text)] == [
        "9 protocols.paper.answers[0].decoder",
        "12 protocols.paper.primary",
        "13 protocols.paper.failure_value",
    ]


def test_a_task_needs_a_protocol_with_a_usable_name(check):
    head = TASK[: TASK.index("protocols:")]
    assert check(head + "protocols: {}\ndefault_protocol: x\n") == [
        "6 protocols: must not be empty"
    ]
    assert check(TASK.replace("  short:", "  'a@b':")) == [
        '15 protocols["a@b"]: a protocol\'s name holds letters, digits, dots, - and _ only, 100'
        " at most"
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Apache-2.0", "''", ["7 licence: must not be empty"]),
        ("painter", "paintr", ["3 adapter: no adapter 'paintr'."]),
        ("painter", "torn", ["3 adapter: plugin 'torn': ImportError: no_such_module (mend it)"]),
        ("steps: 4", "steps: 0", ["5 options.steps: 0 must be at least 1"]),
        ("steps: 4", "stps: 4", ["5 options.stps: unknown key (did you mean 'steps'?)"]),
        (
            "text]",
            "mask]",
            ["4 answers[1]: the adapter 'painter' gives no mask (only image, text)"],
        ),
        ("text]", "image]", ["4 answers[1]: the form 'image' stands twice"]),
        ("licence", "runnable: false\nlicence", ["None reason: runnable: false needs a reason"]),
        ("licence", "runnable: false\nreason: weights withdrawn\nlicence", []),
        ("painter\nanswers: [image, text]", "any\nanswers: [mask]", []),
    ],
)
def test_faults_of_a_model_card_are_told(old, new, expected, check):
    assert check(MODEL.replace(old, new, 1)) == expected


def test_a_suite_names_tasks_and_protocols_that_are_there(check):
    assert check(SUITE, task=TASK) == []
    text = "suite: x\ntasks:\n- depth/rooms\n- depth/halls\n- depth/rooms@shrt\n- depth/rooms\n"
    assert check(text, task=TASK) == [
        "4 tasks[1]: no task 'depth/halls'.",
        (
            "5 tasks[2]: task depth/rooms has no protocol 'shrt'. Nearest: short"
            " (it has: paper, short)"
        ),
        "6 tasks[3]: 'depth/rooms' stands twice",
    ]


def test_a_suite_of_a_faulty_task_says_so(check, tmp_path):
    [problem] = check(SUITE.replace(", depth/rooms@short", ""), task=TASK.replace("luma", "l u"))
    assert problem.startswith(f"3 tasks[0]: {tmp_path / 'task.yaml'}:9: protocols.paper.answers[0]")


def test_a_mean_needs_one_unit_and_direction(check):
    other = TASK.replace("depth/rooms", "depth/signs").replace("abs_rel", "rmse")
    third = TASK.replace("depth/rooms", "depth/words").replace("abs_rel", "acc")
    third = third.replace("depth_error", "accuracy").replace(", options: {fit: depth_lsq}", "")
    text = "suite: x\naggregate: mean\ntasks: [depth/rooms@paper, depth/rooms@short]\n"
    assert check(text, a=TASK, b=other, c=third) == []
    text = "suite: x\naggregate: mean\ntasks:\n- depth/rooms\n- depth/signs\n- depth/words\n"
    mean = "no mean can be taken of {} (no unit, higher is better) here and"
    first = "abs_rel (no unit, lower is better) in 'depth/rooms'; use aggregate: none"
    assert check(text) == [
        f"5 tasks[1]: no mean can be taken of rmse (m, lower is better) here and {first}",
        f"6 tasks[2]: {mean.format('acc')} {first}",
    ]
    broken = TASK.replace("depth/rooms", "depth/torn").replace("depth_error", "torn")
    assert check("suite: x\naggregate: mean\ntasks: [depth/torn]\n", d=broken) == [
        "3 tasks[0]: the primary of 'depth/torn' is not known, so that no mean can be taken"
    ]


def test_names_are_looked_up_from_the_cards_home(write, tmp_path):
    bench = Bench(tmp_path)
    assert check_card(write(MODEL), bench, home="acme-editor") == []
    assert bench.asked == {"acme-editor"}


ROOT = Path(__file__).parents[2]
CARDS = sorted(p for d in ("task_cards", "model_cards") for p in (ROOT / d).rglob("*.yaml"))


@pytest.mark.parametrize("path", CARDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_card_of_the_project_is_sound(path):
    from vgen_eval.plugins import Catalog

    assert [str(problem) for problem in check_card(path, Catalog.discover())] == []
