"""What several folders of tests share."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from cleanroom import CleanRoom
from hypothesis import HealthCheck, settings

# how fast examples are made and run says something of the machine alone, which others may share
settings.register_profile(
    "shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shared machine")

os.environ.pop("COLUMNS", None)
"""A worker of pytest-xdist has it, and what is printed to a file would have an edge."""


@pytest.fixture(scope="module", autouse=True)
def no_keys_of_others() -> None:
    """Keys that another file's tests read would be cut out under another name."""
    from vgen_eval import secrets

    secrets._known.clear()


@pytest.fixture(scope="session")
def clean_room(tmp_path_factory: pytest.TempPathFactory) -> CleanRoom:
    """An environment with vgen-eval's wheel, made once."""
    return CleanRoom(tmp_path_factory.mktemp("clean_room"))


def sendable(value: Any) -> Any:
    """The same, with lone surrogates written out: what one process can tell another."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {sendable(key): sendable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(sendable(entry) for entry in value)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """A worker's report: tests of hostile text log it, and a worker that cannot say so dies."""
    return sendable((yield))
