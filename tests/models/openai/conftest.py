"""A service of OpenAI's protocol on loopback, and a key that must not be seen anywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openaikit import KEY, KEY_ENV, MADE
from vgen_eval_plugins.standins.openai import OpenAIService

pytest.importorskip("openai")


@pytest.fixture(scope="session")
def services() -> Iterator[tuple[OpenAIService, OpenAIService]]:
    """A strict service that asks for no key, and one that asks for KEY."""
    with OpenAIService() as free, OpenAIService(key=KEY) as locked:
        yield free, locked
        for adapter in MADE.values():
            adapter.close()  # an open connection is a warning, and so an error


@pytest.fixture
def service(services: tuple[OpenAIService, OpenAIService]) -> Iterator[OpenAIService]:
    """A strict service that asks for no key, as if it were new."""
    services[0].renew()
    yield services[0]
    assert services[0].unmet == 0


@pytest.fixture
def locked_service(services: tuple[OpenAIService, OpenAIService]) -> OpenAIService:
    """One that asks for KEY, as if it were new."""
    services[1].renew()
    return services[1]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> str:
    """KEY in the environment."""
    monkeypatch.setenv(KEY_ENV, KEY)
    return KEY


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the SDK's own variables, whatever this machine has."""
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS", "ADMIN_KEY"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
