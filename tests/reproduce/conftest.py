"""The command in this process, its one JSON document read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reproducekit import Say
from vgen_eval.cli import main


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs `vgen-eval reproduce` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("VGEN_DATA", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        code = main(["reproduce", *words, "--output", "out", "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run
