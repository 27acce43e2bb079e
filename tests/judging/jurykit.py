"""Real runs whose answers a scripted judge has marked, and what people say of them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import vgen_eval

__all__ = ["Votes", "judge_card", "make_run", "model_card", "room", "task_card", "write_lines"]

HERE = Path(__file__).parent

Votes = Mapping[str, Sequence[Any]]
"""Sample -> votes by round; "*": of every other sample. What is no number cannot be read."""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs the toy plugin for one test; gives a folder for cards and results."""
    info = tmp_path / "site" / "juryroom-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: juryroom\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vgen_eval]\njuryroom = juryroom\n")
    monkeypatch.delenv("VGEN_EVAL_PLUGINS", raising=False)
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    importlib.invalidate_caches()
    import juryroom.parts

    monkeypatch.setattr(juryroom.parts.Scenes, "gone", False)
    return tmp_path


def task_card(folder: Path, *, judged: bool = True, n: int = 12, **options: Any) -> str:
    """Writes the task card, its judge with these options; gives its path. JSON is YAML."""
    answer: dict[str, Any] = {
        "form": "text", "prompt": {"mid": "Which is it?"}, "decoder": "juryroom:words",
    }  # fmt: skip
    if judged:
        judge = {"name": "juryroom:panel", "model": "scripted", "options": options}
        answer["judge"] = judge
    card = {
        "task": "room/scenes",
        "version": 1,
        "family": "toys",
        "dataset": {
            "reader": "juryroom:scenes", "options": {"n": n}, "licence": "CC0-1.0",
            "source": "rule", "citation": "none",
        },
        "default_protocol": "plain",
        "protocols": {
            "plain": {
                "answers": [answer],
                "metrics": [{"name": "juryroom:mark"}],
                "primary": "mark",
                "failure_value": "juryroom:nought",
            }
        },
    }  # fmt: skip
    return _write(folder, "scenes", card)


def model_card(folder: Path, name: str) -> str:
    """A model that says its own name; gives the path of its card."""
    return _scripted(folder, name, [{"reply": name}], role="model")


def judge_card(folder: Path, votes: Mapping[str, Votes], details: Mapping[str, Votes]) -> str:
    """A judge that votes so on each model's answers; gives the path of its card."""
    rules = [
        {
            "question": f"{what}/{at}", "sample": sample, "words": f": {model}$",
            "reply": None if vote is None else str(vote),
        }
        for what, by_model in (("whole", votes), ("details", details))
        for model, by_sample in by_model.items()
        for sample, votes_of in sorted(by_sample.items(), key=lambda one: one[0] == "*")
        for at, vote in enumerate(votes_of)
    ]  # fmt: skip
    return _scripted(folder, "clerk", [*rules, {"question": "sure", "reply": "yes"}], role="judge")


def _scripted(folder: Path, name: str, rules: list[dict[str, Any]], *, role: str) -> str:
    card = {
        "model": name, "adapter": "scripted", "role": role, "answers": ["text"],
        "licence": "CC0-1.0", "options": {"rules": rules},
    }  # fmt: skip
    return _write(folder, name, card)


def _write(folder: Path, name: str, card: Mapping[str, Any]) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(card))
    return str(path)


def make_run(folder: Path, model: str, task: str, judge: str | None, **more: Any) -> Path:
    """The run of a model on the task."""
    told = {} if judge is None else {"judge": judge}
    [card] = vgen_eval.evaluate(
        tasks=task, models=[model_card(folder, model)], output=str(folder / "out"), bounds=False,
        **told, **more,
    )  # fmt: skip
    return folder / "out" / card.run


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    """Writes what people said, a JSON object a line."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
