"""openai_compatible: perplexity of whole options is nothing that a service gives."""

from __future__ import annotations

import pytest
from openaikit import TWO_SPOTS, ask, make_adapter
from vgen_eval.errors import CallError


@pytest.mark.parametrize("scoring", ["closed_set", "closed_set_full"])
def test_it_is_refused_before_a_call_is_paid_for(service, scoring):
    with pytest.raises(CallError, match="the first token alone: ask for words"):
        ask(
            make_adapter(service), "choice", TWO_SPOTS, choices=("right", "poor"),
            choice_scoring=scoring,
        )  # fmt: skip
    assert service.seen == []


def test_the_first_tokens_probability_is_given_where_it_is_what_is_asked_for(service):
    output = ask(
        make_adapter(service), "choice", TWO_SPOTS, choices=("right", "poor"),
        choice_scoring="next_token",
    )  # fmt: skip
    assert set(output.answer) == {"right", "poor"}
