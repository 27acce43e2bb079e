"""Adapters of small programs, and no process left behind by any test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from commandkit import Start, make_adapter, wait_until, write_program
from vgen_eval_plugins.models.command.adapter import Command


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield

    def left() -> list[psutil.Process]:
        return [c for c in psutil.Process().children(recursive=True) if c.pid not in before]

    wait_until(lambda: not left())


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Writes a program and loads its adapter; all are closed at the end."""
    made: list[Command] = []

    def begin(body: str, **options: Any) -> Command:
        write_program(tmp_path / "program.py", body)
        adapter = make_adapter(tmp_path, **options)
        made.append(adapter)
        adapter.load()
        return adapter

    yield begin
    for adapter in made:
        adapter.close()
