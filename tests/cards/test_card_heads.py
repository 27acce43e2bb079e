"""A card's head is what lists show: read without the rest, equal to what loading says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from card_texts import MODEL, SUITE, TASK
from vgen_eval.cards import CardHead, load_card, read_head
from vgen_eval.errors import CardError

ROOT = Path(__file__).parents[2]
CARDS = sorted(
    path
    for folder in ("task_cards", "model_cards", "tests/plugin_example/plugin_example")
    for path in (ROOT / folder).rglob("*.yaml")
)


def test_there_are_cards_to_compare():
    assert CARDS


@pytest.mark.parametrize("path", CARDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_head_of_every_card_is_that_of_the_loaded_card(path):
    head, loaded = read_head(path), load_card(path)
    assert head == CardHead(
        loaded.kind,
        loaded.name,
        getattr(loaded.record, "family", None),
        loaded.record.title,
        path,
    )


@pytest.mark.parametrize(
    ("text", "kind", "name", "family", "title"),
    [
        (TASK, "task", "depth/rooms", "depth", "How far things are"),
        (MODEL, "model", "acme/editor", None, "An editor"),
        (SUITE, "suite", "rooms", None, "Two ways to see a room"),
        ("tasks: [a]\nsuite: rooms\n", "suite", "rooms", None, ""),
        (
            "o: {title: x, task: y}\ntitle: |\n  A\nfamily: x\ntask: 'a/b'\n",
            "task",
            "a/b",
            "x",
            "A\n",
        ),
        ("family: depth\nmodel: m\n", "model", "m", None, ""),
        ("{task: a/b, family: x, title: yes}", "task", "a/b", "x", "yes"),
        ("task: !!str a\nfamily: !!str 12\n", "task", "a", "12", ""),
    ],
)
def test_the_head_is_found_wherever_its_keys_stand(text, kind, name, family, title, write):
    path = write(text)
    assert read_head(path) == CardHead(kind, name, family, title, path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("- a\n", "a card is a mapping"),
        ("name: x\n", "no card: none of the keys task, model, suite names it"),
        ("x: {task: a}\n", "no card"),
        ("task: a/b\n", "family: required key is missing"),
        ("task: 12\nfamily: x\n", "task: wanted text"),
        ("task:\nfamily: x\n", "task: wanted text"),
        ("task: [a]\nfamily: x\n", "task: wanted text"),
        ("task: .inf\nfamily: x\n", "task: wanted text"),
        ("task: A b\nfamily: x\n", "task: 'A b' is no name"),
        ("task: a/b\ntask: a/c\nfamily: x\n", "task: key stands twice"),
        ("task: a/b\nmodel: c\n", "model: one file holds one card"),
        ("task: a/b\nfamily: x\no: [1, 2\n", "not YAML"),
        ("? [a]\n: &x b\ntask: a/b\n", "anchors and aliases"),
        ("!foo {task: a/b}\n", "tag !foo is not allowed"),
    ],
)
def test_what_is_no_card_has_no_head(text, message, write):
    with pytest.raises(CardError) as caught:
        read_head(write(text))
    assert message in str(caught.value)


def test_reading_stops_where_the_head_is_complete(write):
    path = write("model: m\ntitle: t\n" + "x: [" * 3)
    assert read_head(path).title == "t"
    with pytest.raises(CardError):
        load_card(path)


def test_listing_loads_no_arrays_no_hooks_and_no_records(write):
    code = (
        "import sys, pathlib, vgen_eval.cards as cards\n"
        "assert not set(sys.modules) & {'yaml', 'msgspec'}\n"
        f"cards.read_head(pathlib.Path({str(write(MODEL))!r}))\n"
        "heavy = {'numpy', 'cv2', 'pluggy', 'click', 'vgen_eval.cards.records'}\n"
        "print(sorted(set(sys.modules) & heavy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.stdout == "[]\n"


def test_every_exported_name_is_there():
    from vgen_eval import cards

    assert all(callable(getattr(cards, name)) for name in cards.__all__)
    assert set(cards._HOMES) == set(cards.__all__)
    with pytest.raises(AttributeError, match="no attribute 'load_crad'"):
        _ = cards.load_crad
