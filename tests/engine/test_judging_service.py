"""A judge behind a service: paid apart from the model, within the budget, resumable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import kit
import pytest
from test_judging import judged_task, transcript
from vgen_eval_plugins.standins.openai import OpenAIService

pytest.importorskip("openai")


@pytest.fixture
def service() -> Iterator[OpenAIService]:
    with OpenAIService() as found:
        yield found


def judge_of(folder: Path, service: OpenAIService) -> str:
    card = {
        "model": "counter", "adapter": "openai_compatible", "answers": ["text"],
        "licence": "CC0-1.0", "limits": {"backoff_s": 0.0, "concurrency": 1},
        "options": {"model": "tiny-vision", "base_url": f"{service.url}/v1"},
        "price": {"per_million_input_usd": 1000.0, "per_million_output_usd": 0.0},
    }  # fmt: skip
    path = folder / "counter.yaml"
    path.write_text(json.dumps(card))
    return str(path)


def ask(folder: Path, service: OpenAIService) -> dict[str, str]:
    """A task that the service judges."""
    return {
        "tasks": judged_task(folder), "model": kit.model(folder),
        "judge": judge_of(folder, service),
    }  # fmt: skip


def test_what_a_judge_costs_stands_apart_from_what_the_model_does(toys, service):
    card = kit.run(toys, **ask(toys, service))
    lines = transcript(toys, card)
    assert card.complete
    judge = card.volatile["judge"]
    assert judge["calls"] == len(lines) == 12
    tokens = sum(line["volatile"]["input_tokens"] for line in lines)
    assert tokens > 0
    assert judge["cost_usd"] == pytest.approx(tokens * 1000 / 1e6)
    assert card.volatile["cost_usd"] is None
    assert judge["reported_models"] == [{"model": "tiny-vision-2025-10-09", "answers": 12}]


def test_a_budget_counts_the_judges_calls_and_the_next_command_goes_on(toys, service):
    asked = ask(toys, service)
    first = kit.run(toys, **asked, max_calls=9)
    assert not first.complete
    kept = len(transcript(toys, first))
    assert 0 < kept < 12
    second = kit.run(toys, **asked)
    assert second.complete
    assert second.run == first.run
    assert len(transcript(toys, second)) == 12
    assert second.volatile["judge"]["calls"] == 12


def test_a_service_that_is_gone_leaves_the_answers_that_came(toys):
    with OpenAIService() as service:
        asked = ask(toys, service)
    with pytest.raises(Exception, match="has answered none of"):
        kit.run(toys, **asked)
    (kept,) = (toys / "out" / "runs").rglob("predictions.jsonl")
    assert kit.lines(kept)
