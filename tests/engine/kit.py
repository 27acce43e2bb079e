"""What the tests share: the toy plugin installed, cards written, runs read as plain JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from vgen_eval import ResultCard

HERE = Path(__file__).parent

TASK = {
    "task": "toys/numbers",
    "version": 1,
    "family": "toys",
    "dataset": {
        "reader": "toybench:numbers", "options": {}, "licence": "CC0-1.0", "source": "rule",
        "citation": "none",
    },
    "default_protocol": "plain",
}  # fmt: skip
PROTOCOL = {
    "answers": [
        {
            "form": "text",
            "prompt": {"short": "{query}?", "mid": "Which is it: {query}?"},
            "decoder": "toybench:number",
            "encoder": "toybench:number",
        }
    ],
    "metrics": [{"name": "toybench:error"}],
    "primary": "mae",
    "failure_value": "toybench:fixed",
}
ALL_FORMS = [
    {"form": form, "decoder": "toybench:anything", "choices": ["a", "b"]}
    for form in (
        "image", "text", "choice", "video", "depth_map", "normal_map", "mask", "label_map",
        "points",
    )
]  # fmt: skip
IMAGE = {
    "form": "image", "prompt": {"mid": "Paint {query}."}, "decoder": "toybench:number",
    "encoder": "toybench:number",
}  # fmt: skip
MODEL = {
    "model": "teller",
    "adapter": "toybench:teller",
    "answers": ["text"],
    "licence": "CC0-1.0",
    "limits": {"backoff_s": 0.0},
}


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs the toy plugin for one test; gives a folder for cards and results."""
    site = write_metadata(tmp_path / "site")
    monkeypatch.delenv("VGEN_EVAL_PLUGINS", raising=False)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    import toybench.parts

    toybench.parts.Teller.asked.clear()
    monkeypatch.setattr(toybench.parts.Teller, "failing", True)
    return tmp_path


def write_metadata(site: Path) -> Path:
    """The metadata that an installer would have written."""
    info = site / "toybench-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toybench\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vgen_eval]\ntoybench = toybench\n")
    return site


def task(folder: Path, *, name: str = "numbers", protocol: Any = None, **options: Any) -> str:
    """Writes a task card of the toy data set with these options; gives its path. JSON is YAML."""
    card = {
        **TASK,
        "dataset": {**TASK["dataset"], "options": options},  # type: ignore[dict-item]
        "protocols": {"plain": {**PROTOCOL, **(protocol or {})}},
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(card))
    return str(path)


def model(folder: Path, *, name: str = "teller", card: Any = None, **options: Any) -> str:
    """Writes a model card of the teller with these adapter options; gives its path."""
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({**MODEL, "model": name, "options": options, **(card or {})}))
    return str(path)


def run(folder: Path, **arguments: Any) -> ResultCard:
    """One evaluation into `folder`/out, without bounds unless asked for; its only card."""
    (card,) = vgen_eval.evaluate(**{"output": str(folder / "out"), "bounds": False, **arguments})
    return card


def run_folder(folder: Path, card: ResultCard) -> Path:
    return folder / "out" / card.run


def lines(path: Path) -> list[dict[str, Any]]:
    """Every line of a JSONL file, strictly read."""
    return [strict(line) for line in path.read_text().splitlines()]


def predictions(folder: Path, card: ResultCard) -> list[dict[str, Any]]:
    return lines(run_folder(folder, card) / "predictions.jsonl")


def scores(folder: Path, card: ResultCard) -> list[dict[str, Any]]:
    (path,) = (run_folder(folder, card) / "scores").glob("*.jsonl")
    return lines(path)


def strict(text: str | bytes) -> Any:
    """JSON without NaN and infinity."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(token: str) -> Any:
    raise AssertionError(f"{token} is no JSON")


def settled(folder: Path, card: ResultCard) -> dict[str, Any]:
    """result_card.json without what may differ between equal runs."""
    record = strict((run_folder(folder, card) / "result_card.json").read_text())
    record.pop("volatile")
    return record  # type: ignore[no-any-return]


def asked() -> list[tuple[str, int]]:
    """What the teller was asked since the last look."""
    import toybench.parts

    seen = list(toybench.parts.Teller.asked)
    toybench.parts.Teller.asked.clear()
    return seen


def child(code: str, *arguments: object, site: Path, **more: Any) -> subprocess.Popen[bytes]:
    """A Python process in which the toy plugin is installed; its stderr is kept."""
    places = [str(HERE), str(site), os.environ.get("PYTHONPATH", "")]
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-W", "error", "-c", code, *(str(a) for a in arguments)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, **more)


def predictions_tolerant(folder: Path) -> list[dict[str, Any]]:
    """The lines of a damaged predictions file that can be read."""
    found = []
    for line in (folder / "predictions.jsonl").read_bytes().splitlines():
        with contextlib.suppress(ValueError):
            found.append(strict(line))
    return found
