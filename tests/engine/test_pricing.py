"""What a call costs: to the last digit, and not at all where it cannot be known."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval import Usage
from vgen_eval.cards.records import Price
from vgen_eval.engine.pricing import (
    add_up,
    cost_of,
    format_usd,
    has_price,
    is_free,
    price_per_call,
)
from vgen_eval.engine.usage import count_tokens, read_usage, sum_usage

TEXT = {"per_million_input_usd": 0.3, "per_million_output_usd": 2.5}
PAINTER = {
    "per_million_input_usd": 5.0, "per_million_cached_usd": 1.25,
    "per_million_input_image_usd": 10.0, "per_million_output_usd": 20.0,
    "per_million_image_usd": 40.0,
}  # fmt: skip

CASES: list[tuple[dict[str, Any], dict[str, Any] | None, str, str | None]] = [
    # the provider's own word wins over the card
    ({"cost_usd": 0.0123, "input_tokens": 5}, TEXT, "text", "0.0123"),
    ({"cost_usd": 0.0}, None, "text", "0.0"),
    # by tokens; thinking is part of what is written
    ({"input_tokens": 1000, "output_tokens": 200}, TEXT, "text", "0.0008"),
    ({"input_tokens": 1000, "output_tokens": 200, "thinking_tokens": 150}, TEXT, "text", "0.0008"),
    # cached and pictures at prices of their own: 600 * 5 + 300 * 1.25 + 100 * 10
    (
        {"input_tokens": 1000, "cached_tokens": 300, "input_image_tokens": 100, "output_tokens": 0},
        PAINTER, "image", "0.004375",
    ),
    # 50 * 20 + 1000 * 40
    ({"input_tokens": 0, "output_tokens": 1050, "image_tokens": 1000}, PAINTER, "image", "0.041"),
    # kinds that are not told apart are like any
    ({"input_tokens": 1000, "output_tokens": 100}, PAINTER, "image", "0.007"),
    # a kind beyond the total is no credit
    ({"input_tokens": 10, "cached_tokens": 30, "output_tokens": 0}, PAINTER, "text", "0.0000375"),
    # by pictures
    ({}, {"per_image_usd": 0.04}, "image", "0.04"),
    ({"images": 3}, {"per_image_usd": 0.04}, "image", "0.12"),
    # pictures beside tokens only where these do not cover what is written
    (
        {"input_tokens": 1000, "images": 1}, {"per_million_input_usd": 2.0, "per_image_usd": 0.03},
        "image", "0.032",
    ),
    (
        {"input_tokens": 1000, "output_tokens": 10, "images": 1}, {**TEXT, "per_image_usd": 0.03},
        "image", "0.000325",
    ),
    # no tokens are told: a price a picture is all there is to go by
    ({}, {**TEXT, "per_image_usd": 0.03}, "image", "0.03"),
    ({"video_seconds": 4.5}, {"per_video_second_usd": 0.1}, "video", "0.45"),
    # nothing is free that is not said to be
    ({}, None, "image", None),
    ({}, {}, "image", None),
    ({}, TEXT, "text", None),
    ({"input_tokens": 5}, TEXT, "text", None),
    ({"images": 0}, {"per_million_image_usd": 40.0}, "image", None),
    ({}, {"per_video_second_usd": 0.1}, "video", None),
    ({}, {"per_image_usd": 0.04}, "text", None),
    # what is said to be free is
    ({}, {"per_million_input_usd": 0.0, "per_million_output_usd": 0.0}, "text", "0"),
]  # fmt: skip


@pytest.mark.parametrize(("usage", "price", "form", "cost"), CASES)
def test_a_call_costs_what_its_usage_and_price_say(
    usage: dict[str, Any], price: dict[str, Any] | None, form: Any, cost: str | None
) -> None:
    found = cost_of(
        Usage(**usage) if usage else None, None if price is None else Price(**price),
        form=form, answered=True,
    )  # fmt: skip
    assert found == (None if cost is None else Decimal(cost))


def test_a_call_that_made_no_picture_pays_for_none() -> None:
    price = Price(per_image_usd=0.04)
    assert cost_of(None, price, form="image", answered=False) == 0
    assert cost_of(Usage(images=1), price, form="image", answered=False) == Decimal("0.04")


@given(st.lists(st.integers(0, 5_000_000), min_size=1, max_size=300))
def test_sums_of_costs_are_exact(micro: list[int]) -> None:
    costs = [float(Decimal(amount) / 1_000_000) for amount in micro]
    assert Fraction(add_up(costs)) == Fraction(sum(micro), 1_000_000)


def test_two_thousand_equal_costs_are_two_thousand_times_one() -> None:
    assert float(add_up([0.1] * 2000)) == 200.0
    assert sum([0.1] * 2000) != 200.0


def test_a_card_may_name_a_price_source_and_no_price() -> None:
    assert not has_price(None)
    assert not has_price(Price(source="their page"))
    assert has_price(Price(per_video_second_usd=0.0))


def test_free_is_what_a_card_says_costs_nothing_at_all() -> None:
    assert is_free(Price(per_million_input_usd=0.0, per_million_output_usd=0.0))
    assert not is_free(Price(per_million_input_usd=0.0, per_million_output_usd=1.0))
    assert not is_free(Price(source="their page"))
    assert not is_free(None)


def test_only_pictures_have_a_price_before_they_are_made() -> None:
    assert price_per_call(Price(per_image_usd=0.04), "image") == Decimal("0.04")
    assert price_per_call(Price(per_image_usd=0.04), "text") is None
    assert price_per_call(Price(**TEXT), "text") is None
    assert price_per_call(None, "image") is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [(5, "$5.00"), (1234.5, "$1,234.50"), (0.0123, "$0.0123"), (0, "$0.00"), (1e-5, "$0.00001"),
     (Decimal("0.04"), "$0.04"), (0.1, "$0.10"), (46.16, "$46.16"),
     (1e-300, "<$0.000001"), (1e-6, "$0.000001"), (0.0, "$0.00")],
)  # fmt: skip
def test_dollars_are_shown_to_the_cent_and_finer_where_there_are_few(
    amount: float | Decimal, text: str
) -> None:
    assert format_usd(amount) == text


def test_usage_of_several_tries_adds_up_field_by_field() -> None:
    usages = [Usage(input_tokens=5, images=1), Usage(output_tokens=2), Usage(input_tokens=7)]
    assert sum_usage(usages) == {"input_tokens": 12, "images": 1, "output_tokens": 2}
    assert count_tokens(usages) == 14
    assert count_tokens([Usage(images=1)]) is None


def test_usage_that_is_none_is_passed_over_with_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert read_usage({"input_tokens": 5}, "s1") is None
    assert "s1: its usage is dict: passed over" in caplog.text
    assert read_usage(Usage(input_tokens=-1), "s1") is None
    assert "s1: usage.input_tokens is -1: passed over" in caplog.text
    assert read_usage(Usage(video_seconds=2.5), "s1") == Usage(video_seconds=2.5)
