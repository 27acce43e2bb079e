"""The card's generation arguments: checked before anything loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mllmkit import load
from vgen_eval.errors import UsageError
from vgen_eval_plugins.models.mllm.settings import check_settings, generation_config


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_new_tokens": 32},
        {"do_sample": True, "temperature": 0.7, "top_p": 0.8, "top_k": 20},
        {"temperature": 0},
        {"num_beams": 3, "repetition_penalty": 1.1, "stop_strings": ["\n"]},
    ],
)
def test_arguments_of_generate_are_taken(settings: dict[str, Any]) -> None:
    check_settings(settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_tokens": 5}, r"generation.max_tokens: .* takes none. Nearest: max_new_tokens"),
        ({"temprature": 1.0}, r"takes none\. Nearest: temperature"),
        ({"dtype": "bfloat16"}, "generation.dtype: transformers' generate takes none"),
        ({"num_return_sequences": 2}, "set by the harness: attempts are asked for with --attempts"),
        ({"output_scores": True}, "set by the harness: log-probabilities are the answer form"),
        ({"temperature": 0.7}, "generation.temperature has no effect without do_sample"),
        ({"do_sample": False, "top_p": 0.7}, "generation.top_p has no effect without do_sample"),
        ({"do_sample": True, "temperature": -1.0}, "generation.temperature is a number above 0"),
        ({"max_new_tokens": 0}, "generation: .*max_new_tokens"),
    ],
)
def test_other_arguments_are_refused_with_the_reason(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_settings(settings)


def test_they_are_refused_before_the_checkpoint_is_looked_at(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes none"):
        load(tmp_path / "nowhere", generation={"max_tokens": 5, "seed": 1})


def test_a_models_own_sampling_counts_only_where_the_card_samples() -> None:
    from transformers import GenerationConfig

    own = GenerationConfig(
        do_sample=True, temperature=0.1, top_p=0.5, repetition_penalty=1.05, max_length=20
    )
    greedy = generation_config(own, {})
    assert (greedy.do_sample, greedy.temperature, greedy.top_p) == (False, None, None)
    assert (greedy.repetition_penalty, greedy.max_new_tokens) == (1.05, 1024)
    assert greedy.max_length is None
    drawn = generation_config(own, {"do_sample": True, "top_p": 0.9, "max_new_tokens": 7})
    assert (drawn.do_sample, drawn.temperature, drawn.top_p) == (True, 0.1, 0.9)
    assert drawn.max_new_tokens == 7
    assert own.max_length == 20
