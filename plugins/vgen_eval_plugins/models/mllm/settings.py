"""The card's `generation`: arguments of transformers' `generate`, checked before anything loads."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import UsageError

from vgen_eval_plugins.models.arguments import check_arguments

__all__ = ["MAX_NEW_TOKENS", "check_settings", "generation_config", "is_sampling"]

MAX_NEW_TOKENS = 1024
"""Where the card says nothing."""

SAMPLING = (
    "temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff",
)  # fmt: skip
"""Arguments that nothing but sampling reads."""
OURS = {
    "seed": "the engine sets it for each attempt",
    "num_return_sequences": "attempts are asked for with --attempts",
    "return_dict_in_generate": "the adapter reads tokens alone",
    "output_attentions": "the adapter reads tokens alone",
    "output_hidden_states": "the adapter reads tokens alone",
    "output_scores": "log-probabilities are the answer form `choice`",
    "output_logits": "log-probabilities are the answer form `choice`",
}
"""Known to transformers, and not the card's to set."""


def check_settings(settings: Mapping[str, Any]) -> None:
    """UsageError when an argument is unknown, not the card's to set, or would have no effect."""
    from transformers import GenerationConfig

    known = {key for key in vars(GenerationConfig()) if not key.startswith("_")}
    known -= {"transformers_version"}
    check_arguments(settings, known=known, ours=OURS, call="transformers' generate")
    for key, value in settings.items():
        if key in SAMPLING and value is not None and not is_sampling(settings):
            if key == "temperature" and value == 0:
                continue  # the common way to ask for greedy decoding
            raise UsageError(
                f"generation.{key} has no effect without do_sample",
                cure="add generation.do_sample: true, or leave it out",
            )
    heat = settings.get("temperature")
    if (
        is_sampling(settings)
        and heat is not None
        and not (isinstance(heat, (int, float)) and heat > 0)
    ):
        raise UsageError(f"generation.temperature is a number above 0, {heat!r} seen")
    try:
        GenerationConfig(**_given(settings))
    except (ValueError, TypeError) as exc:
        raise UsageError(f"generation: {' '.join(str(exc).split())[:300]}") from exc


def is_sampling(settings: Mapping[str, Any]) -> bool:
    """Are tokens drawn? Only where the card says so, whatever the model's own defaults are."""
    return bool(settings.get("do_sample"))


def generation_config(own: Any, settings: Mapping[str, Any]) -> Any:
    """The model's own GenerationConfig with the card's arguments in it.

    Greedy unless the card samples; what the model recommends for sampling (temperature, ...)
    counts only then. At most MAX_NEW_TOKENS new tokens where the card sets no limit.
    """
    made = copy.deepcopy(own)
    made.max_length = None
    made.max_new_tokens = None if "max_length" in settings else MAX_NEW_TOKENS
    made.do_sample = is_sampling(settings)
    if not made.do_sample:
        for key in SAMPLING:
            setattr(made, key, None)
    for key, value in _given(settings).items():
        setattr(made, key, value)
    return made


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    greedy = not is_sampling(settings)
    return {
        key: value
        for key, value in settings.items()
        if key not in OURS and not (greedy and key in SAMPLING)
    }
