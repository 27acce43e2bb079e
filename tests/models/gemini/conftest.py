"""The stand-in of the Gemini API, and an adapter that is loaded against it: made once a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gemkit import KEY, KEY_ENV, make
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.standins.gemini import GeminiService


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


@pytest.fixture(scope="session")
def gemini_running() -> Iterator[tuple[GeminiService, Gemini]]:
    """Both, for the session."""
    with GeminiService(key=KEY) as service, pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, KEY)
        adapter = make(service)
        adapter.load()
        yield service, adapter
        adapter.close()


@pytest.fixture
def service(gemini_running: tuple[GeminiService, Gemini]) -> Iterator[GeminiService]:
    """The strict stand-in, which wants the key and has seen nothing yet."""
    service, _ = gemini_running
    service.seen.clear()
    service._orders.clear()  # of a test that failed
    yield service
    assert service.unmet == 0


@pytest.fixture
def gemini(gemini_running: tuple[GeminiService, Gemini]) -> Gemini:
    """An adapter of a card without call arguments."""
    return gemini_running[1]
