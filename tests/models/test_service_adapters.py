"""What the adapters of services have in common: how they are built, and what keeps them from it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from vgen_eval.cards.records import Checkpoint, Limits, ModelCard, Needs
from vgen_eval.errors import CallError, MissingExtra, MissingKey, UsageError
from vgen_eval.types import Request
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.models.openai.adapter import OpenAICompatible
from vgen_eval_plugins.models.service_adapter import ServiceAdapter

KEY_ENV = "VGEN_TEST_SERVICE_KEY"
NOWHERE = "http://127.0.0.1:9/v1"

every_kind = pytest.mark.parametrize(
    ("kind", "library"),
    [(OpenAICompatible, "openai"), (Gemini, "google"), (Anthropic, "anthropic")],
    ids=["openai", "gemini", "anthropic"],
)


def make(kind: type[Any], *, key_env: str | None = None, **options: Any) -> ServiceAdapter:
    card = ModelCard(
        model="m", adapter="a", answers=("text",), licence="none", needs=Needs(key_env=key_env),
        limits=Limits(timeout_s=3.0), checkpoint=Checkpoint(repo="vendor/model"),
    )  # fmt: skip
    adapter: ServiceAdapter = kind(kind.Options(**{"base_url": NOWHERE} | options), card=card)
    return adapter


@every_kind
def test_a_missing_library_is_named_with_the_pip_command(kind, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra) as caught:
        make(kind).load()
    assert caught.value.cure == "pip install 'vgen-eval[api]'"


@every_kind
def test_a_missing_key_is_told_before_any_call(kind, library, monkeypatch):
    pytest.importorskip(library)
    monkeypatch.delenv(KEY_ENV, raising=False)
    with pytest.raises(MissingKey, match=f"{KEY_ENV} is not set"):
        make(kind, key_env=KEY_ENV).load()


@every_kind
def test_a_model_must_be_named(kind, library):
    pytest.importorskip(library)
    with pytest.raises(UsageError, match="no model is named") as caught:
        kind(kind.Options(base_url=NOWHERE)).load()
    assert "-M model=NAME" in str(caught.value.cure)


@every_kind
def test_what_it_calls_is_known_before_loading(kind, library):
    adapter = make(kind, concurrency=3)
    assert (adapter.endpoint, adapter.concurrency, adapter.timeout) == ("127.0.0.1:9", 3, 3.0)
    assert adapter.model == "vendor/model"
    assert make(kind, model="other").model == "other"
    assert kind(kind.Options(base_url=NOWHERE)).timeout == 600.0


@every_kind
def test_an_adapter_that_is_closed_or_not_loaded_makes_no_call(kind, library):
    pytest.importorskip(library)
    adapter = make(kind)
    request = Request(
        id="s#0", sample="s", attempt=0, family="counting", form="text", prompt="?", images=()
    )
    for _ in range(2):
        with pytest.raises(CallError, match="not loaded"):
            list(adapter.generate([request]))
        adapter.load()
        adapter.close()
        adapter.close()


@every_kind
def test_a_key_that_would_travel_in_the_clear_is_told_of(kind, library, monkeypatch, caplog):
    pytest.importorskip(library)
    monkeypatch.setenv(KEY_ENV, "planted-key-0123456789")
    for url, told in (("HTTP://gateway.example/v1", True), (NOWHERE, False)):
        caplog.clear()
        adapter = make(kind, key_env=KEY_ENV, base_url=url)
        adapter.load()
        adapter.close()
        assert ("plain http shows the key" in caplog.text) is told
        assert "planted" not in caplog.text
