"""What calls cost, to the last digit: usage under a card's price, in decimal numbers."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from vgen_eval.cards.records import ModelCard, Price
from vgen_eval.types import AnswerForm, Usage

__all__ = ["add_up", "cost_of", "format_usd", "has_price", "is_free", "is_paid", "price_per_call"]

MILLION = 1_000_000
ZERO = Decimal(0)

LEAST_SHOWN = Decimal("0.000001")
"""US dollars below which nobody wants the digits."""


def has_price(price: Price | None) -> bool:
    """Whether a card names any amount."""
    if price is None:
        return False
    amounts = (name for name in price.__struct_fields__ if name.endswith("_usd"))
    return any(getattr(price, name) is not None for name in amounts)


def is_paid(card: ModelCard, endpoint: str | None) -> bool:
    """Does somebody else do the work, who may want money: a service, or the owner of a key?"""
    return endpoint is not None or card.needs.key_env is not None


def cost_of(
    usage: Usage | None, price: Price | None, *, form: AnswerForm, answered: bool
) -> Decimal | None:
    """US dollars of one call; None when that cannot be known.

    What the provider says it cost, where it says so; else the sum of the parts that the card
    prices: tokens read, tokens written, seconds of video, and pictures where no token price covers
    what is written. A card that prices tokens prices all of them: some without a price are not
    free, their cost is not known. `answered`: an answer of `form` came, so at least one picture or
    video did.
    """
    if usage is not None and usage.cost_usd is not None:
        return _exact(usage.cost_usd)
    if price is None or not has_price(price):
        return None
    usage = usage or Usage()
    told = usage.input_tokens is not None or usage.output_tokens is not None
    by_image = price.per_image_usd is not None and (form == "image" or usage.images is not None)
    if by_image and not told:
        return _of_images(usage, price, answered=answered)  # all there is to go by
    parts = []
    by_token = _prices_input(price) or _prices_output(price)
    if by_token:
        parts.append(_of_input(usage, price))
    if by_image and not _prices_output(price):
        parts.append(_of_images(usage, price, answered=answered))
    elif by_token:
        parts.append(_of_output(usage, price))
    if price.per_video_second_usd is not None and form == "video":
        seconds = usage.video_seconds if answered else usage.video_seconds or 0.0
        parts.append(_times(seconds, price.per_video_second_usd))
    known = [part for part in parts if part is not None]
    return sum(known, ZERO) if parts and len(known) == len(parts) else None


def _prices_input(price: Price) -> bool:
    return price.per_million_input_usd is not None or price.per_million_input_image_usd is not None


def _prices_output(price: Price) -> bool:
    return price.per_million_output_usd is not None or price.per_million_image_usd is not None


def _of_input(usage: Usage, price: Price) -> Decimal | None:
    """Tokens read: those from a cache and of pictures at prices of their own where there are."""
    return _of_tokens(
        usage.input_tokens,
        price.per_million_input_usd,
        (
            (usage.cached_tokens, price.per_million_cached_usd),
            (usage.cache_write_tokens, price.per_million_cache_write_usd),
            (usage.input_image_tokens, price.per_million_input_image_usd),
        ),
    )


def _of_output(usage: Usage, price: Price) -> Decimal | None:
    """Tokens written, thinking among them: those of pictures at a price of their own."""
    return _of_tokens(
        usage.output_tokens,
        price.per_million_output_usd,
        ((usage.image_tokens, price.per_million_image_usd),),
    )


def _of_tokens(
    count: int | None, rate: float | None, special: Iterable[tuple[int | None, float | None]]
) -> Decimal | None:
    """All tokens of one direction: `special` kinds, (count, rate), at rates of their own."""
    total, rest, known = ZERO, count, count is not None
    for part, own in special:
        if own is None or part is None:
            continue  # at the rate of any
        known = True
        total += _exact(part) * _exact(own)
        rest = None if rest is None else max(0, rest - part)
    if rate is None:
        return None if rest or not known else total / MILLION
    plain = _times(rest, rate)
    return None if plain is None else (total + plain) / MILLION


def _of_images(usage: Usage, price: Price, *, answered: bool) -> Decimal:
    made = int(answered) if usage.images is None else usage.images
    return made * _exact(price.per_image_usd or 0.0)


def _times(count: float | None, each: float) -> Decimal | None:
    """None when the count is not known and matters."""
    if count is None:
        return None if each else ZERO
    return _exact(count) * _exact(each)


def _exact(value: float) -> Decimal:
    """The number that the shortest text of a float spells: 0.04, not its binary neighbour."""
    return Decimal(repr(value))


def add_up(costs: Iterable[float]) -> Decimal:
    """The exact sum of costs as lines hold them."""
    return sum(map(_exact, costs), ZERO)


def is_free(price: Price | None) -> bool:
    """Whether a card names amounts and every one of them is nothing."""
    if price is None or not has_price(price):
        return False
    return not any(getattr(price, name) for name in price.__struct_fields__ if name[-4:] == "_usd")


def price_per_call(price: Price | None, form: AnswerForm) -> Decimal | None:
    """What a call is expected to cost by the card alone; None when it depends on its tokens."""
    if price is None or price.per_image_usd is None or form != "image":
        return None
    return _exact(price.per_image_usd)


def format_usd(amount: Decimal | float) -> str:
    """$5.00, $1,234.50, $0.0123: cents, and finer where there are fewer than ten."""
    exact = Decimal(str(amount))
    if 0 < exact < LEAST_SHOWN:
        return f"<${LEAST_SHOWN:f}"
    if exact and abs(exact) < Decimal("0.1"):
        return f"${Decimal(f'{exact:.3g}'):f}"
    return f"${exact:,.2f}"
