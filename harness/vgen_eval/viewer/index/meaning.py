"""What a run's values mean: which key of its lines is a name of its card, and which end is good."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.distributions import home_of
from vgen_eval.errors import VgenEvalError
from vgen_eval.types import Value
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.card import ResultCard

__all__ = ["Meaning", "Resolver", "mean_of"]

log = logging.getLogger(__name__)


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """Of the values of one run."""

    primary: str = ""
    """Its name."""
    key: str | None = None
    """Of the primary, in `values` of the score lines; None where that is not known yet."""
    higher_is_better: bool = True
    unit: str = ""
    keys: Mapping[str, str] = {}
    """Names of the card -> keys, where they are not the same."""
    lower: tuple[str, ...] = ()
    """Keys and names of values that are better when lower."""


class Resolver:
    """Asks the metrics of a protocol, each protocol once; broken plugins are logged, no more."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._catalog = catalog
        self._known: dict[bytes, tuple[Value, ...]] = {}

    def values(self, record: Mapping[str, Any]) -> tuple[Value, ...]:
        """What the metrics that run.json names report, labels before the names."""
        task = record.get("identity", {}).get("task", {})
        metrics = task.get("protocol", {}).get("metrics", ()) if isinstance(task, Mapping) else ()
        home = str(task.get("task", "")).partition(":")[0]
        asked = msgspec.json.encode([home, metrics])
        if asked not in self._known:
            self._known[asked] = tuple(self._ask(metrics, home_of(home)))
        return self._known[asked]

    def _ask(self, metrics: Sequence[Mapping[str, Any]], home: str) -> Iterator[Value]:
        for entry in metrics:
            try:
                yield from self._report(entry, home)
            except VgenEvalError as exc:
                log.info("values of metric %s are not known: %s", entry, exc.what)
            # a plugin is anyone's code, and a record may be damaged
            except (Exception, SystemExit) as exc:
                log.info("values of metric %s are not known: %s", entry, describe(exc))

    def _report(self, entry: Mapping[str, Any], home: str) -> Sequence[Value]:
        from vgen_eval.plugins import Catalog

        if self._catalog is None:
            self._catalog = Catalog.discover()
        component = self._catalog.component("metric", entry["name"], home=home)
        options = cards.convert(component.obj.Options, entry.get("options", {}), file="run.json")
        prefix = f"{entry['label']}." if entry.get("label") else ""
        return [
            msgspec.structs.replace(value, name=prefix + value.name, of=prefix + value.of)
            for value in component.obj(options).values
        ]


def mean_of(
    record: Mapping[str, Any], card: ResultCard | None, names: Sequence[str], resolver: Resolver
) -> Meaning:
    """Of a run whose lines have values of these names.

    The card tells, and the metrics where it does not: that imports their plugins.
    """
    primary = card.primary if card is not None else _asked_primary(record)
    told: dict[str, tuple[bool, str]] = {}
    if card is not None:
        told = {score.metric: (score.higher_is_better, score.unit) for score in card.scores}
    keys: dict[str, str] = {}
    unknown = [name for name in told if name not in names]
    if primary and (primary not in told or (names and primary not in names)):
        unknown.append(primary)
    if unknown and (names or primary not in told):
        for value in resolver.values(record):
            told.setdefault(value.name, (value.higher_is_better, value.unit))
            told.setdefault(value.of, (value.higher_is_better, value.unit))
            if value.name != value.of and value.name not in names:
                keys[value.name] = value.of
    for name, key in keys.items():
        told.setdefault(key, told.get(name, (True, "")))
    higher_is_better, unit = told.get(primary, (True, ""))
    own = primary if primary in names else keys.get(primary)
    return Meaning(
        primary=primary,
        key=own if own in names else None,
        higher_is_better=higher_is_better,
        unit=unit,
        keys=keys,
        lower=tuple(name for name, (higher, _) in told.items() if not higher),
    )


def _asked_primary(record: Mapping[str, Any]) -> str:
    """As run.json has it."""
    node: Any = record
    for field in ("identity", "task", "protocol", "primary"):
        node = node.get(field) if isinstance(node, Mapping) else None
    return node if isinstance(node, str) else ""
