"""What the models of a plan want of this machine and of its user: keys, extras, environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cli.extras import missing_of
from vgen_eval.cli.model_needs import missing_extra, missing_key
from vgen_eval.engine.models import Model, build_adapter
from vgen_eval.engine.pricing import is_paid
from vgen_eval.engine.trust import Demands, demands_of
from vgen_eval.errors import NotRunnable

if TYPE_CHECKING:
    from vgen_eval.engine.plan import Plan
    from vgen_eval.engine.settings import Settings

__all__ = ["Wanted", "ask_demands"]


class Wanted(msgspec.Struct, frozen=True):
    """One model's."""

    model: Model
    demands: Demands
    endpoint: str | None
    extra: str | None
    """The extra that it needs and that is not here."""
    fault: str | None
    """Why its adapter cannot even be built."""

    @property
    def is_paid(self) -> bool:
        """May a call cost money?"""
        return is_paid(self.model.card, self.endpoint)

    @property
    def missing_names(self) -> list[str]:
        """Variables, extras and permissions that are wanting, by name."""
        found = [self.model.missing_key] if self.model.missing_key else []
        if self.extra is not None:
            found.append(f"vgen-eval[{self.extra}]")
        if not self.demands.host_allowed:
            found.append(f"--allow-host {self.demands.host}")
        if not (self.demands.environment_allowed and self.demands.program_allowed):
            found.append("--allow-env")
        return found

    @property
    def missing(self) -> Iterator[str]:
        """The same with the cures, for people."""
        yield from missing_key(self.model.card)
        yield from missing_extra(self.model.card)
        demands = self.demands
        if not demands.host_allowed:
            yield (
                f"permission to send the key in {demands.key_env} to {demands.host}: "
                f"--allow-host {demands.host}"
            )
        program = f"the program of {self.model.name}"
        if not demands.program_allowed and demands.program_key:
            yield f"permission to give the key in {demands.program_key} to {program}: --allow-env"
        if not demands.program_allowed and demands.program_env:
            names = ", ".join(demands.program_env)
            yield f"permission to pass {names} to {program}: --allow-env"
        if not demands.environment_allowed:
            yield f"permission to install what {self.model.name} asks for: --allow-env"
        if self.fault is not None:
            yield self.fault

    def lines(self) -> Iterator[str]:
        """Where keys and variables go and what would be installed, for people."""
        demands = self.demands
        if demands.host is not None:
            yield f"{self.model.name}: sends the key in {demands.key_env} to {demands.host}"
        if demands.program_key:
            yield f"{self.model.name}: gives the key in {demands.program_key} to its program"
        if demands.program_env:
            yield f"{self.model.name}: passes {', '.join(demands.program_env)} to its program"
        if demands.environment:
            yield f"{self.model.name}: installs {', '.join(demands.environment)}"

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {
            "model": self.model.qualified,
            "endpoint": self.endpoint,
            **msgspec.to_builtins(self.demands),
            "missing_extra": self.extra,
            "fault": self.fault,
        }


def ask_demands(plan: Plan, settings: Settings) -> dict[int, Wanted]:
    """id of a model or a judge -> what it wants; its adapter is built for that, not loaded."""
    models = {id(model): model for model in (*plan.models, *plan.judges)}
    return {key: _ask(model, settings) for key, model in models.items()}


def _ask(model: Model, settings: Settings) -> Wanted:
    extra = model.card.needs.extra
    lacking = extra if extra is not None and missing_of(extra) else None
    try:
        adapter = build_adapter(model, settings.device)
    except NotRunnable as exc:
        fault = f"{exc.what} ({exc.cure})" if exc.cure else exc.what
        return Wanted(model, Demands(), None, lacking, fault)
    endpoint = getattr(adapter, "endpoint", None)
    return Wanted(model, demands_of(model, adapter, settings), endpoint, lacking, None)
