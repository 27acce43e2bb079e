"""Card files for one test, and the problems that reading them brings up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from vgen_eval.cards import load_card
from vgen_eval.errors import CardError

Write = Callable[..., Path]
Problems = Callable[[str | bytes], list[str]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_card(text: str | bytes, name: str = "card.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write_card


@pytest.fixture
def problems_of(write: Write) -> Problems:
    """Each problem as `line path: message`; [] for a sound card."""

    def read(text: str | bytes) -> list[str]:
        try:
            load_card(write(text))
        except CardError as exc:
            return [f"{p.line} {p.path}: {p.message}" for p in exc.problems]
        return []

    return read
