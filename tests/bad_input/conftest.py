"""A folder to run the command in: with the two plugins of these tests, or with none."""

from __future__ import annotations

from pathlib import Path

import bad_data
import bad_models
import pytest
from badkit import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder that sees the built-ins alone, for one test."""
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A folder that sees `plug-bad` and `plug-data` too, for the tests of one file."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    shell.install("plug-bad", bad_models.files())
    shell.install("plug-data", bad_data.files())
    return shell
