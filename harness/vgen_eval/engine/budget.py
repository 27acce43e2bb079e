"""The purse of a command: calls, tokens and money that all its jobs together may use.

A call is reserved before it is made, at the most that one of its model has used so far, so that a
budget is not crossed by calls that are made at once. Calls of a price that nobody knows go alone,
until one tells: of a service that charges, an answer for nothing tells nothing. Tokens and money
can be crossed only by what calls under way use beyond the largest seen; calls never.
"""

from __future__ import annotations

import threading
from decimal import Decimal

import msgspec

from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.pricing import format_usd, is_free, price_per_call
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.stopping import Stop
from vgen_eval.types import AnswerForm
from vgen_eval.wording import plural

__all__ = ["Account", "Purse", "Spent"]

ZERO = Decimal(0)


class Spent(msgspec.Struct, frozen=True):
    """What one try of one request came to; None: not known."""

    tokens: int | None
    cost: Decimal | None
    answered: bool


class Account:
    """A model's part in the purse: what one call of it is expected to use at most."""

    def __init__(
        self,
        name: str,
        *,
        form: AnswerForm,
        cost: Decimal | None,
        charges: bool,
        free: bool = False,
    ) -> None:
        """`cost`: of a call by the card; `charges`: a service answers, so no call is taken to be
        free before the largest seen says so, unless the card says that it is: `free`."""
        self.name = name
        self.form = form
        self.charges = charges
        self.free = free
        self.card_cost = cost
        self.most_cost: Decimal | None = None
        self.most_tokens: int | None = None

    @property
    def cost(self) -> Decimal | None:
        """Dollars to reserve for a call, at least what the card says; None: not known."""
        seen, told = self.most_cost, self.card_cost
        most = told if seen is None else seen if told is None else max(seen, told)
        return None if not most and self.charges and not self.free else most

    @property
    def tokens(self) -> int | None:
        """Tokens to reserve for a call; None: not known."""
        return None if not self.most_tokens and self.charges else self.most_tokens

    def learn(self, spent: Spent) -> None:
        """Takes in what a call used."""
        if spent.cost is not None and (spent.answered or spent.cost):
            self.most_cost = max(self.most_cost or ZERO, spent.cost)
        if spent.tokens is not None and (spent.answered or spent.tokens):
            self.most_tokens = max(self.most_tokens or 0, spent.tokens)
        if spent.answered and not self.charges:
            self.most_cost = self.most_cost or ZERO
            self.most_tokens = self.most_tokens or 0


class Reserved:
    """One call that is under way: what its account says a call may use is not there for others."""

    def __init__(self, account: Account, calls: int) -> None:
        self.account = account
        self.calls = calls

    @property
    def tokens(self) -> int:
        """At the most that is known by now, not when it began."""
        return self.calls * (self.account.tokens or 0)

    @property
    def cost(self) -> Decimal:
        """US dollars, likewise."""
        return self.calls * (self.account.cost or ZERO)


class Purse:
    """Gives calls their share, and ends the run when there is none left."""

    def __init__(self, settings: Settings, stop: Stop) -> None:
        self._most_calls = settings.max_calls
        self._most_tokens = settings.max_tokens
        limit = settings.max_cost
        self._most_cost = None if limit is None else Decimal(repr(limit))
        self._stop = stop
        self._changed = threading.Condition()
        self._calls = 0
        self._tokens = 0
        self._cost = ZERO
        self._flying: list[Reserved] = []
        self._reached: str | None = None
        self._unknown: str | None = None

    @classmethod
    def of(cls, settings: Settings, stop: Stop) -> Purse | None:
        """The purse of a command; None where nothing is limited."""
        limits = (settings.max_calls, settings.max_tokens, settings.max_cost)
        return None if limits == (None, None, None) else cls(settings, stop)

    def open_account(self, card: ModelCard, form: AnswerForm, *, charges: bool) -> Account:
        """The account under which a job's calls are made."""
        cost = price_per_call(card.price, form)
        return Account(card.model, form=form, cost=cost, charges=charges, free=is_free(card.price))

    def reserve(self, account: Account, count: int, stop: Stop) -> Reserved | None:
        """Room for so many requests in one call, or for as many of them as there is.

        Waits while calls are on their way: they may leave some, and have it before the run ends.
        None when the run is being stopped, which it is from then on where the budget is reached
        or cannot be kept: where no call is left to make, neither matters.
        """
        with self._changed:
            while not stop.soft.is_set():
                if self._unknown is not None:
                    self._reached = self._reached or "unknown"
                    break
                granted, may_grow = self._room(account, count)
                if granted == count or (granted and not may_grow):
                    reserved = Reserved(account, granted)
                    self._flying.append(reserved)
                    return reserved
                if not may_grow:
                    break
                self._changed.wait()
            else:
                return None
        self._stop.finish()
        return None

    def _room(self, account: Account, count: int) -> tuple[int, bool]:
        """Requests that may be made now, and whether more may be once calls in flight end."""
        calls = tokens = cost = count
        if self._most_calls is not None:
            reserved = sum(entry.calls for entry in self._flying)
            calls = min(count, max(0, self._most_calls - self._calls - reserved))
        if self._most_tokens is not None:
            left = self._most_tokens - self._tokens - sum(entry.tokens for entry in self._flying)
            tokens = self._fitting(left, account.tokens, count)
        if self._most_cost is not None:
            dollars = self._most_cost - self._cost - sum(entry.cost for entry in self._flying)
            cost = self._fitting(dollars, account.cost, count)
        granted = min(calls, tokens, cost)
        may_grow = bool(self._flying) and (granted == 0 or granted < calls)
        if granted == 0 and not may_grow:
            bound = "calls" if calls == 0 else "tokens" if tokens == 0 else "cost"
            self._reached = self._reached or bound
        return granted, may_grow

    def _fitting(self, left: Decimal | int, each: Decimal | int | None, count: int) -> int:
        """How many calls of that use fit; one, when nothing else is under way, of unknown use."""
        if each is None:
            return 1 if left > 0 and not self._flying else 0
        if each <= 0:
            return count if left > 0 else 0
        return max(0, min(count, int(left // each)))

    def settle(self, reserved: Reserved, spent: list[Spent] | None) -> None:
        """A call ended: what it used takes the place of what was reserved; None: never made."""
        account = reserved.account
        with self._changed:
            self._flying.remove(reserved)
            if spent is not None:
                self._calls += reserved.calls
                for entry in spent:
                    self._tokens += entry.tokens or 0
                    self._cost += entry.cost or ZERO
                    account.learn(entry)
                    self._look_for_unknown(account, entry)
            self._changed.notify_all()

    def _look_for_unknown(self, account: Account, spent: Spent) -> None:
        if not account.charges or not spent.answered or self._unknown is not None:
            return
        if self._most_cost is not None and spent.cost is None:
            field = "per_image_usd" if account.form == "image" else "per_million_output_usd"
            self._unknown = (
                f"stopped: what an answer of {account.name} costs is not known, so --max-cost "
                f"cannot be kept; --set price.{field}=... says it"
            )
        elif self._most_tokens is not None and spent.tokens is None:
            self._unknown = (
                f"stopped: {account.name} does not say how many tokens an answer took, so "
                "--max-tokens cannot be kept; --max-calls can"
            )

    def wake(self) -> None:
        """Makes those who wait look whether they are still to wait."""
        with self._changed:
            self._changed.notify_all()

    @property
    def reason(self) -> str | None:
        """Why the run was stopped, and how it goes on; None when it was not by the purse."""
        if self._reached is None:
            return None
        if self._unknown is not None:
            return self._unknown
        if self._reached == "cost" and self._most_cost is not None:
            limit, used = format_usd(self._most_cost), f"{format_usd(self._cost)} spent"
        elif self._reached == "calls":
            limit, used = plural(self._most_calls or 0, "call"), f"{self._calls:,} made"
        else:
            limit, used = plural(self._most_tokens or 0, "token"), f"{self._tokens:,} used"
        if not self._calls:
            return (
                f"stopped: {limit} is less than one call takes: --max-{self._reached} must be more"
            )
        return (
            f"stopped: budget of {limit} reached, {used}; "
            "the same command goes on, and may use as much again"
        )
