"""Card files that are no cards: every fault with its line, from `run` and from `check` alike."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import vgen_eval
from bad_data import task_card
from badkit import Shell, snapshot, write

CARDS = Path(vgen_eval.__file__).parents[2] / "task_cards/samples"
# those about photographs, which need no file beside them
LINES = b"".join(
    line
    for line in (CARDS / "counting.jsonl").read_bytes().splitlines(keepends=True)
    if b'"image"' in line
)
GOOD = """\
task: toys/card
version: 1
family: counting
title: A toy
dataset:
  reader: samples
  options: {annotations: counting.jsonl, kind: counting}
  licence: none
  source: here
  citation: none
default_protocol: plain
protocols:
  plain:
    answers:
      - {form: text, prompt: {mid: How many?}, decoder: count_text, encoder: count_text}
      - {form: image, prompt: {mid: Dots.}, decoder: red_dots, encoder: red_dots}
    metrics: [{name: count_error}]
    primary: mae
    failure_value: zero_count
"""
BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{before}' if before else 'x'] * 9)}]\n"
    for before, name in zip(" abcdefghijkl", "abcdefghijklm", strict=True)
).replace("* ", "x")
FAULTY: dict[str, tuple[str | bytes, int | None, str]] = {
    "unknown-key": (GOOD.replace("    primary", "    primry: x\n    primary"), 18,
                    "protocols.plain.primry: unknown key (did you mean 'primary'?)"),
    "missing-key": (GOOD.replace("family: counting\n", ""), 1, "family: required key is missing"),
    "duplicate-key": (GOOD.replace("version: 1\n", "version: 1\nversion: 2\n"), 3,
                      "version: key stands twice (first on line 2)"),
    "python-object": (GOOD.replace("A toy", '!!python/object/apply:os.mkdir ["PWNED"]'), 4,
                      "tag !!python/object/apply:os.mkdir is not allowed"),
    "python-name": (GOOD.replace("A toy", "!!python/name:os.system x"), 4,
                    "tag !!python/name:os.system is not allowed"),
    "yaml-bomb": (BOMB + GOOD, 1, "anchors and aliases are not allowed"),
    "too-deep": (GOOD + "z: " + "[" * 3000 + "]" * 3000 + "\n", 20, "nesting depth"),
    "dots-in-the-name": (GOOD.replace("toys/card", "../../evil"), 1, "task: '../../evil'"),
    "absolute-name": (GOOD.replace("toys/card", "/evil"), 1, "task: '/evil'"),
    "escape-in-the-name": (GOOD.replace("toys/card", '"toys/\\e[31mred"'), 1,
                           "'toys/\\x1b[31mred'"),
    "raw-escape": (GOOD.replace("A toy", "\x1b[31mA toy"), None, "control characters"),
    "two-documents": (GOOD + "---\n" + GOOD, 20, "a second document begins"),
    "list": ("- a\n", 1, "a card is a mapping"),
    "empty": ("", None, "the file is empty"),
    "nothing-but-zeros": ("\0" * 100, None, "control characters"),
    "not-utf-8": (GOOD.encode() + b"# \xff\n", 20, "not UTF-8: byte 0xff"),
    "huge": (GOOD + "# " + "x" * (1 << 20) + "\n", None, "larger than 1048576 bytes"),
}  # fmt: skip


@pytest.fixture(scope="module")
def cards(home: Shell) -> Shell:
    """The folder with every faulty card in it, each under its own name."""
    for name, (text, _, _) in FAULTY.items():
        write(home.folder / f"{name}.yaml", text)
    write(home.folder / "counting.jsonl", LINES)
    return home


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_card_is_refused_with_its_line_and_what_shows_the_rest(
    cards: Shell, name: str
) -> None:
    _, line, said = FAULTY[name]
    before = snapshot(cards.folder)
    where = f"{name}.yaml:" + (f"{line}: " if line else " ")
    done = cards("--tasks", f"./{name}.yaml", "--model", "copy")
    done.refuses(2, where, said, f"vgen-eval check {name}.yaml")
    assert snapshot(cards.folder) == before
    assert not list(cards.folder.rglob("PWNED"))


def test_check_lists_every_fault_of_every_file_at_once(cards: Shell) -> None:
    files = [f"{name}.yaml" for name in FAULTY]
    done = cards("check", *files, "--json")
    assert done.code == 2
    assert done.err == ""
    document = done.document
    assert document["files"] == files
    by_file = {file: [p for p in document["problems"] if p["file"] == file] for file in files}
    for name, (_, line, said) in FAULTY.items():
        problems = by_file[f"{name}.yaml"]
        assert any(
            p["line"] == line and said in f"{p['path']}: {p['message']}" for p in problems
        ), (name, problems)
    assert len(by_file["yaml-bomb.yaml"]) == 101  # a hostile file has no end, the list has one
    assert by_file["yaml-bomb.yaml"][-1]["message"] == "reading stopped after 100 problems"
    assert not list(cards.folder.rglob("PWNED"))


def test_what_a_card_names_and_nobody_has_is_a_usage_error(cards: Shell) -> None:
    write(cards.folder / "unknown.yaml", GOOD.replace("decoder: red_dots", "decoder: red_dotz"))
    said = "no decoder 'red_dotz'. Nearest: red_dots"
    cards("--tasks", "unknown.yaml", "--model", "copy").refuses(2, said)
    done = cards("check", "unknown.yaml")
    assert done.code == 2
    assert done.out.startswith(f"unknown.yaml:16: protocols.plain.answers[1].decoder: {said}")


def test_annotations_outside_of_the_cards_folder_are_not_read(cards: Shell) -> None:
    write(cards.folder / "out.yaml", GOOD.replace("counting.jsonl", "../../../etc/passwd"))
    cards("--tasks", "out.yaml", "--model", "copy").refuses(2, "leads out of")


def test_a_folder_a_pipe_and_nothing_are_no_card_files(cards: Shell) -> None:
    (cards.folder / "places").mkdir()
    (cards.folder / "places/folder.yaml").mkdir()
    os.mkfifo(cards.folder / "places/pipe.yaml")  # whoever opens it waits for ever
    for name in ("places/folder.yaml", "places/pipe.yaml", "places/gone.yaml"):
        cards("--tasks", name, "--model", "copy").refuses(2, f"no card file '{name}'")
        cards("--tasks", "all", "--model", name).refuses(2, f"no card file '{name}'")
    cards("check", "places").refuses(2, "places holds no *.yaml file")
    done = cards("check", "places/gone.yaml")
    assert (done.code, done.err) == (2, "")
    assert done.out.startswith("places/gone.yaml: cannot be read: No such file or directory")


def test_a_model_card_is_no_task_and_a_task_card_no_model(cards: Shell) -> None:
    write(cards.folder / "good.yaml", GOOD)
    write(cards.folder / "model.yaml", "model: m\nadapter: copy\nanswers: [image]\nlicence: x\n")
    cards("--tasks", "model.yaml", "--model", "copy").refuses(2, "is a model card, not a task card")
    cards("--tasks", "all", "--model", "good.yaml").refuses(2, "is a task card, not a model card")


@pytest.mark.parametrize("fault", ["unknown key", "unknown reader", "unknown decoder", "a pipe"])
def test_a_faulty_card_of_a_plugin_hurts_no_other_task(shell: Shell, fault: str) -> None:
    card = json.loads(GOOD_AS_JSON)
    if fault == "unknown key":
        card["colour"] = "red"
    elif fault == "unknown reader":
        card["dataset"]["reader"] = "nonesuch"
    elif fault == "unknown decoder":
        for answer in card["protocols"]["plain"]["answers"]:
            answer["decoder"] = "nonesuch"
    site = shell.install(
        "plug-card", {"plug_card/__init__.py": "", "plug_card/cards/toys.yaml": json.dumps(card)}
    )
    if fault == "a pipe":
        os.mkfifo(site / "plug_card/cards/pipe.yaml")
    write(site / "plug_card/cards/counting.jsonl", LINES)
    done = shell("--tasks", "all", "--model", "copy", "--limit", "1", "--no-bounds", "--json")
    assert done.code == 0, done
    ran = {result["task"] for result in done.document["results"]}
    assert {"samples/counting", "samples/referring"} <= ran
    named = json.dumps([done.document["skipped"], done.document["notices"]])
    assert ("toys/card" in named) == (fault != "a pipe")
    if fault != "a pipe":
        shell("--tasks", "plug-card:toys/card", "--model", "copy").refuses(2)


GOOD_AS_JSON = json.dumps(
    json.loads(task_card("toys/card", root=None))
    | {
        "family": "counting",
        "dataset": {
            "reader": "samples", "licence": "none", "source": "here", "citation": "none",
            "options": {"annotations": "counting.jsonl", "kind": "counting"},
        },
        "protocols": {
            "plain": {
                "answers": [
                    {"form": "image", "prompt": {"mid": "Dots."}, "decoder": "red_dots",
                     "encoder": "red_dots"}
                ],
                "metrics": [{"name": "count_error"}], "primary": "mae",
                "failure_value": "zero_count",
            }
        },
    }
)  # fmt: skip
