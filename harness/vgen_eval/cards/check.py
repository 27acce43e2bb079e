"""All that `vgen-eval check` says of one card: its schema, then what it names."""

from __future__ import annotations

from pathlib import Path

from vgen_eval.cards.check_data import check_data
from vgen_eval.cards.check_task import check_task, primary_values
from vgen_eval.cards.checking import Checker, Finder, message_of
from vgen_eval.cards.load import ParsedCard, load_card, salvage_card
from vgen_eval.cards.problems import join_index
from vgen_eval.cards.protocols import protocol
from vgen_eval.cards.records import ModelCard, ProtocolCard, SuiteCard, TaskCard
from vgen_eval.cards.salvage import told_already
from vgen_eval.cards.terms import unfilled_terms
from vgen_eval.cards.yaml_nodes import read_text
from vgen_eval.distributions import HOME
from vgen_eval.errors import CardError, Problem, UsageError, VgenEvalError
from vgen_eval.types import Value

__all__ = ["check_card"]


def check_card(
    path: Path,
    catalog: Finder,
    *,
    home: str = HOME,
    all_data: bool = False,
    trials: bool = True,
    notes: list[str] | None = None,
) -> list[Problem]:
    """Every problem of a card file, in the order of its lines; [] when it is sound.

    catalog: `vgen_eval.plugins.Catalog`, which is asked for the components and tasks that the
    card names. home: the distribution whose names a bare name means first. all_data: read the
    files of every sample that comes with a task card, however many. trials: tell as well what
    shows once the data is read through its reader: a wrong count, a prompt field that no sample
    has, an exception. notes: takes what is no problem and should be known, such as how many were
    read, and terms that are placeholders.
    """
    notes = [] if notes is None else notes
    try:
        parsed, first = salvage_card(read_text(path), file=str(path))
    except CardError as exc:
        return list(exc.problems)
    if parsed is None:
        return first
    checker = Checker(parsed, catalog, file=str(path), home=home)
    if isinstance(parsed.record, TaskCard):
        check_task(checker, parsed.record)
        if not first:
            check_data(
                checker, parsed.record, folder=path.parent, every=all_data, trials=trials,
                notes=notes,
            )  # fmt: skip
    elif isinstance(parsed.record, ModelCard):
        _check_model(checker, parsed.record)
    else:
        _check_suite(checker, parsed.record)
    notes += [
        f"line {term.line}: {term.path}: {term.message}: fill it in before others use it"
        for term in unfilled_terms(parsed, file=str(path))
    ]
    later = [p for p in checker.problems if not told_already(p, first)]
    return sorted([*first, *later], key=lambda p: (p.line is None, p.line or 0))


def _check_model(checker: Checker, card: ModelCard) -> None:
    """Note every fault of a model card."""
    checker.refuse_blank(("licence", card.licence))
    if not card.runnable and not (card.reason or "").strip():
        checker.add("reason", "runnable: false needs a reason")
    for index, form in enumerate(card.answers):
        if form in card.answers[:index]:
            checker.add(join_index("answers", index), f"the form {form!r} stands twice")
    adapter = checker.component("adapter", card.adapter, "adapter", card.options, "options")
    forms = getattr(adapter, "forms", None)
    if isinstance(forms, (tuple, list, set, frozenset)) and forms:
        for index, form in enumerate(card.answers):
            if form not in forms:
                checker.add(
                    join_index("answers", index),
                    f"the adapter {card.adapter!r} gives no {form} (only {', '.join(forms)})",
                )


def _check_suite(checker: Checker, card: SuiteCard) -> None:
    """Note every fault of a suite."""
    first: tuple[str, Value] | None = None
    for index, name in enumerate(card.tasks):
        path = join_index("tasks", index)
        if name in card.tasks[:index]:
            checker.add(path, f"{name!r} stands twice")
        try:
            body, home = _protocol_of(checker, name)
        except VgenEvalError as exc:
            checker.add(path, message_of(exc))
            continue
        if card.aggregate != "mean":
            continue
        value = _primary_of(checker, body, home)
        if value is None:
            checker.add(path, f"the primary of {name!r} is not known, so that no mean can be taken")
        elif first is None:
            first = (name, value)
        elif (value.unit, value.higher_is_better) != (first[1].unit, first[1].higher_is_better):
            checker.add(
                path,
                f"no mean can be taken of {_describe(value)} here and {_describe(first[1])} in"
                f" {first[0]!r}; use aggregate: none",
            )


def _protocol_of(checker: Checker, name: str) -> tuple[ProtocolCard, str]:
    """The protocol that `task[@protocol]` means, and the home of its names."""
    task, _, chosen = name.partition("@")
    plugin, head = checker.catalog.find("task", task, home=checker.home)
    record = load_card(head.path).record
    if not isinstance(record, TaskCard):
        raise UsageError(f"{task!r} is no task")
    return protocol(record, chosen or record.default_protocol), plugin.name


def _primary_of(checker: Checker, body: ProtocolCard, home: str) -> Value | None:
    """The one value that a protocol's primary means; None when that cannot be told."""
    parsed = ParsedCard("task", checker.parsed.record, {})
    named = primary_values(Checker(parsed, checker.catalog, file=checker.file, home=home), body)
    return named[0] if len(named) == 1 else None


def _describe(value: Value) -> str:
    direction = "higher" if value.higher_is_better else "lower"
    return f"{value.name} ({value.unit or 'no unit'}, {direction} is better)"
