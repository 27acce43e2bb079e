"""The docs are what the code says, and the README's code runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_generated_docs_are_up_to_date_and_links_lead_somewhere() -> None:
    check = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readmes_function_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- run: function -->\n```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    monkeypatch.chdir(tmp_path)
    exec(compile(found[1], "README.md", "exec"), {})
    score, ceiling, floor = map(float, capsys.readouterr().out.split())
    assert 0 < score < 0.2
    assert ceiling >= 0.995
    assert 0 < floor < 0.2


@pytest.mark.parametrize("kind", ["task", "model", "suite"])
def test_the_cards_of_the_docs_are_sound(kind: str, tmp_path: Path) -> None:
    from vgen_eval.cards import check_card
    from vgen_eval.plugins import Catalog

    text = (ROOT / "docs" / "cards.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- check: {kind} -->\n```yaml\n(.*?)```", text, re.DOTALL)
    assert found is not None
    card = tmp_path / "card.yaml"
    card.write_text(found[1], encoding="utf-8")
    lines = re.search(r"<!-- check: lines -->\n```json\n(.*?)```", text, re.DOTALL)
    assert lines is not None
    (tmp_path / "eyes.jsonl").write_text(lines[1], encoding="utf-8")
    assert [str(problem) for problem in check_card(card, Catalog.discover())] == []
