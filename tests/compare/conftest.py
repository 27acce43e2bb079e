"""Runs of the baselines, made once for all tests here, none of which changes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from comparekit import Compare, count, make_runs, truths
from vgen_eval.cli import main


@pytest.fixture(scope="session")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with four baselines on the five sample tasks."""
    folder = tmp_path_factory.mktemp("compared")
    make_runs(folder)
    return folder


@pytest.fixture(scope="session")
def counted(tmp_path_factory: pytest.TempPathFactory, output: Path) -> dict[str, Path]:
    """Runs of predicted counts: right, off by one, mixed, and the mixed ones once more."""
    folder = tmp_path_factory.mktemp("counted")
    right = truths(output)
    mixed = {name: true + (at % 4) * (-1) ** at for at, (name, true) in enumerate(right.items())}
    return {
        "right": count(folder, "right", right),
        "off": count(folder, "off", {name: true + 1 for name, true in right.items()}),
        "mixed": count(folder, "mixed", {name: max(n, 0) for name, n in mixed.items()}),
        "again": count(folder, "again", {name: max(n, 0) for name, n in mixed.items()}),
    }


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str]) -> Compare:
    """The document of `vgen-eval compare WORDS --json`."""

    def run(*words: object) -> dict[str, Any]:
        assert main(["compare", *map(str, words), "--json"]) == 0
        said = capsys.readouterr()
        assert "NaN" not in said.out
        assert "Infinity" not in said.out
        record: dict[str, Any] = json.loads(said.out)
        return record

    return run
