"""Placeholders among licences, sources and citations are found; what is meant is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from vgen_eval.cards import check_card
from vgen_eval.cards.terms import is_placeholder, unfilled_terms
from vgen_eval.cli import main
from vgen_eval.making.card import UNKNOWN
from vgen_eval.plugins import Catalog

MODEL = """\
model: mine
title: Mine
adapter: constant
answers: [image]
licence: {licence}
availability: code
"""


@pytest.mark.parametrize(
    "text",
    ["TODO", "todo", "TBD", "tbd.", "...", "\u2026", "-", "?", "xxx", "FIXME", UNKNOWN, "fill in",
     "<licence>", "TODO: ask the authors", "todo: ask", "TBD (ask Ann)", "to be determined",
     "placeholder", "Fill this in", "(tbd)", "change me"],
)  # fmt: skip
def test_placeholders_are_found_wherever_they_stand(text: str) -> None:
    assert is_placeholder(text, unknown=False)


@pytest.mark.parametrize(
    "text",
    ["none", "n/a", "CC0-1.0", "MIT", "proprietary", "Todo, K. et al. Depth. 2020",
     "todo datasets by Ann", "unknown to the authors; found on a disk", "<https://acme.example>",
     "Learning to fill in the gaps. 2019", "made by rule", ""],
)  # fmt: skip
def test_what_says_something_is_left_alone(text: str) -> None:
    assert not is_placeholder(text, unknown=True)


@pytest.mark.parametrize("text", ["unknown", "Unknown.", "not known"])
def test_unknown_is_a_placeholder_where_it_must_be_known(text: str) -> None:
    assert is_placeholder(text, unknown=True)
    assert not is_placeholder(text, unknown=False)


def write_model(folder: Path, licence: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(MODEL.format(licence=licence))
    return path


def test_a_models_licence_may_be_unknown_and_no_placeholder(tmp_path: Path) -> None:
    assert unfilled_terms(write_model(tmp_path, "unknown")) == []
    (problem,) = unfilled_terms(write_model(tmp_path, "TODO"))
    assert str(problem) == f"{tmp_path}/mine.yaml:5: licence: 'TODO' is a placeholder"


def test_a_card_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    path = tmp_path / "card.yaml"
    path.write_text("[not a card")
    assert unfilled_terms(path) == []


def test_check_says_it_as_a_note_and_finds_no_fault(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write_model(tmp_path, "TODO")
    notes: list[str] = []
    told = [str(p) for p in check_card(path, Catalog.discover(), notes=notes)]
    assert all("TODO" not in text for text in told)
    assert notes == ["line 5: licence: 'TODO' is a placeholder: fill it in before others use it"]
    main(["check", str(path)])
    assert f"note: {path}: {notes[0]}" in capfd.readouterr().err
