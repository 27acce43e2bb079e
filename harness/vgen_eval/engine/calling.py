"""From an adapter and its card to what calls it: how many at once, at whose cost."""

from __future__ import annotations

from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.budget import Purse
from vgen_eval.engine.calls import Caller
from vgen_eval.engine.limits import Gate
from vgen_eval.engine.pricing import is_paid
from vgen_eval.engine.stopping import Stop
from vgen_eval.types import Adapter, AnswerForm

__all__ = ["count_callers", "make_caller"]


def count_callers(adapter: Adapter, card: ModelCard) -> int:
    """Calls at once at most: what the adapter bears, and the card allows."""
    allowed = card.limits.concurrency or adapter.concurrency
    return max(1, min(adapter.concurrency, allowed))


def make_caller(
    adapter: Adapter, card: ModelCard, form: AnswerForm, *, stop: Stop, gate: Gate | None,
    purse: Purse | None,
) -> Caller:  # fmt: skip
    """What calls an adapter for answers of a form, paid for from the purse."""
    account = None
    if purse is not None:
        charges = is_paid(card, getattr(adapter, "endpoint", None))
        account = purse.open_account(card, form, charges=charges)
    return Caller(
        adapter, card.limits, price=card.price, stop=stop, gate=gate, purse=purse, account=account
    )
