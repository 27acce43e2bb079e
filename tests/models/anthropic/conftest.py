"""The stand-in of the Messages API, and an adapter that is loaded against it: once a session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from antkit import KEY, KEY_ENV, make
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.standins.anthropic import AnthropicService


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


@pytest.fixture(scope="session")
def anthropic_running() -> Iterator[tuple[AnthropicService, Anthropic]]:
    """Both, for the session."""
    with AnthropicService(key=KEY) as service, pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, KEY)
        adapter = make(service)
        adapter.load()
        yield service, adapter
        adapter.close()


@pytest.fixture
def service(anthropic_running: tuple[AnthropicService, Anthropic]) -> Iterator[AnthropicService]:
    """The strict stand-in, which wants the key and has seen nothing yet."""
    service, _ = anthropic_running
    service.seen.clear()
    service._orders.clear()  # of a test that failed
    service.refuses.clear()
    yield service
    assert service.unmet == 0


@pytest.fixture
def claude(anthropic_running: tuple[AnthropicService, Anthropic]) -> Anthropic:
    """An adapter of a card without call arguments."""
    return anthropic_running[1]
