"""Real runs of the samples, made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from tablekit import find
from vgen_eval import jsonio
from vgen_eval.engine.importing import import_predictions
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import Run

COUNTING, SEMANTIC, REFERRING = "samples/counting", "samples/semantic", "samples/referring"


def seven(_request: Any) -> str:
    return "7"


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Oracle, classical and blind by pictures; one model that answers in words."""
    folder = tmp_path_factory.mktemp("results")
    vgen_eval.evaluate(
        tasks=[COUNTING, SEMANTIC, REFERRING], models=["oracle", "classical", "blind"],
        output=str(folder),
    )  # fmt: skip
    vgen_eval.evaluate(
        tasks=COUNTING, model=seven, forms=["text"], model_name="seven", bounds=False,
        output=str(folder),
    )  # fmt: skip
    return folder


@pytest.fixture(scope="session")
def variants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model, asked in several ways; three attempts, too."""
    folder = tmp_path_factory.mktemp("variants")
    ways: list[dict[str, Any]] = [
        {}, {"prompt": "short"}, {"limit": 5}, {"set": {"generation.seed": 1}}, {"attempts": 3},
    ]  # fmt: skip
    for way in ways:
        vgen_eval.evaluate(
            tasks=COUNTING, model="classical", bounds=False, output=str(folder), **way
        )
    return folder


@pytest.fixture(scope="session")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Answers to the counting task that were made elsewhere."""
    folder = tmp_path_factory.mktemp("theirs")
    (ref,) = expand_tasks([COUNTING], Catalog.discover(), notices=[])
    items = open_task(ref, Catalog.discover(), overrides={}, data_root=None).items
    path = folder / "counts.jsonl"
    lines = (jsonio.dumps({"id": item.id, "output": "7"}).decode() for item in items)
    path.write_text("\n".join(lines))
    import_predictions(
        task=COUNTING, predictions=path, model_name="theirs", catalog=Catalog.discover(),
        output=str(folder / "out"),
    )  # fmt: skip
    (run,) = find(folder / "out", model="theirs")
    return run


@pytest.fixture
def counting(results: Path) -> Run:
    """The classical model's run of the counting task."""
    (run,) = find(results, task=COUNTING, model="classical")
    return run
