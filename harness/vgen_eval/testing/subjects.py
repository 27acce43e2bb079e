"""What of a plugin is checked: its package, cards, codecs and metrics; nothing is imported here."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.cards.records import AnswerCard, ModelCard, ProtocolCard, TaskCard
from vgen_eval.discovery import normalise
from vgen_eval.errors import VgenEvalError
from vgen_eval.testing.rules import Kind, rules_of

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Plugin

__all__ = [
    "Subject",
    "list_subjects",
    "list_unused",
    "protocols_of",
    "share_checks",
    "wanted_checks",
]

Hooks = Mapping[str, Sequence[str]]
"""Kind of component -> the names a plugin offers."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is checked, in a process of its own."""

    kind: Kind
    label: str
    name: str = ""
    """Of the card, or of the metric."""
    task: str = ""
    protocol: str = ""
    form: str = ""
    at: int = 0
    """Place of the metric among the protocol's."""
    adapter: str = ""
    """Of a model: the plugin's own adapter that drives it; "" for another's, or a faulty card."""
    forms: str = ""
    """Of a model: the forms that it answers in, and its role."""
    like: str = ""
    """Of a card: the model whose checks stand for it."""
    idle: str = ""
    """Of a card: why nobody can run it."""


def wanted_checks(subject: Subject, only: str | None) -> list[str]:
    """The checks of a subject that a glob means: by subject, by check, or by subject::check."""
    checks = list(rules_of(subject.kind))
    if only is None:
        return checks
    return [
        check
        for check in checks
        if any(
            fnmatch.fnmatchcase(text, only)
            for text in (subject.label, check, f"{subject.label}::{check}")
        )
    ]


def list_subjects(
    catalog: Catalog, plugin: Plugin, hooks: Hooks | None, stubs: Sequence[str] = ()
) -> list[Subject]:
    """Every subject; `hooks`: what the package offers, None where it cannot be imported.

    `stubs`: the adapters that name a stub: one that no card uses is tried by it.
    """
    found = [Subject(kind="package", label="package"), *_models(catalog, plugin)]
    used = {subject.adapter for subject in found}
    found += [
        Subject(kind="model", label=f"adapter:{name}", adapter=name)
        for name in stubs
        if name not in used
    ]
    found += [
        Subject(kind="task", label=f"task:{head.name}", name=head.name)
        for owner, head in catalog.heads("task")
        if owner.name == plugin.name
    ]
    return found + _parts(catalog, plugin, hooks) if hooks is not None else found


def _models(catalog: Catalog, plugin: Plugin) -> Iterator[Subject]:
    """Its model cards: those that can be run are checked with all that drives them."""
    for owner, head in catalog.heads("model"):
        if owner.name != plugin.name:
            continue
        label = f"model:{head.name}"
        try:
            card = cards.load_card(head.path).record
            assert isinstance(card, ModelCard)
        except VgenEvalError:  # told by cards_valid
            yield Subject(kind="model", label=label, name=head.name)
            continue
        distribution, colon, bare = card.adapter.rpartition(":")
        is_own = not colon or normalise(distribution) == normalise(plugin.name)
        if not card.runnable:
            idle = card.reason or "no reason given"
            yield Subject(kind="card", label=label, name=head.name, adapter=bare, idle=idle)
            continue
        yield Subject(
            kind="model", label=label, name=head.name, adapter=bare if is_own else "",
            forms=",".join([*sorted(card.answers), card.role]),
        )  # fmt: skip


def share_checks(subjects: Sequence[Subject], stubs: Collection[str]) -> list[Subject]:
    """The same subjects; models that one adapter drives to the same forms are checked once.

    Under the adapter's stub they are the same thing: the first of them stands for the others,
    which become cards. An adapter without a stub loads what each card names.
    """
    first: dict[tuple[str, str], Subject] = {}
    found = []
    for subject in subjects:
        if subject.kind != "model" or subject.adapter not in stubs or not subject.name:
            found.append(subject)
            continue
        shown = first.setdefault((subject.adapter, subject.forms), subject)
        if shown is subject:
            found.append(subject)
        else:
            found.append(msgspec.structs.replace(subject, kind="card", like=shown.label))
    return found


def _parts(catalog: Catalog, plugin: Plugin, hooks: Hooks) -> list[Subject]:
    """Codecs and metrics as the plugin's protocols use them, each use once."""
    codecs: dict[str, Subject] = {}
    metrics: dict[str, Subject] = {}
    for task, name, body in protocols_of(catalog, plugin):
        for answer in body.answers:
            parts = [*_names(answer), ("decoder", body.failure_value)]
            if any(_is_own(part, kind, plugin, hooks) for kind, part in parts):
                key = jsonio.digest(_codec_key(answer, body))
                label = f"codec:{task}@{name}/{answer.form}"
                codecs.setdefault(
                    key,
                    Subject(kind="codec", label=label, task=task, protocol=name, form=answer.form),
                )
        for at, metric in enumerate(body.metrics):
            if not _is_own(metric.name, "metric", plugin, hooks):
                continue
            bare = metric.name.rpartition(":")[2]
            key = jsonio.digest([bare, msgspec.to_builtins(metric.options), task])
            taken = {other.label for other in metrics.values()}
            label = f"metric:{bare}"
            if label in taken:
                label = f"metric:{bare}@{task}@{name}"
            if label in taken:
                label += f"#{at}"
            metrics.setdefault(
                key,
                Subject(kind="metric", label=label, name=bare, task=task, protocol=name, at=at),
            )
    return [*codecs.values(), *metrics.values()]


def _codec_key(answer: AnswerCard, body: ProtocolCard) -> object:
    facts = {key: value for key, value in msgspec.to_builtins(answer).items() if key != "prompt"}
    return [facts, msgspec.to_builtins(body.input), body.failure_value]


def _names(answer: AnswerCard) -> Iterator[tuple[str, str]]:
    yield "decoder", answer.decoder or answer.form
    yield "encoder", answer.encoder or answer.form


def protocols_of(catalog: Catalog, plugin: Plugin) -> Iterator[tuple[str, str, ProtocolCard]]:
    """Task, name and body of every protocol of the plugin's readable task cards."""
    for owner, head in catalog.heads("task"):
        if owner.name != plugin.name:
            continue
        try:
            record = cards.load_card(head.path).record
            assert isinstance(record, TaskCard)
            bodies = [(name, cards.protocol(record, name)) for name in record.protocols]
        except VgenEvalError:  # told by cards_valid
            continue
        for name, body in bodies:
            yield head.name, name, body


def _records(catalog: Catalog, plugin: Plugin) -> Iterator[object]:
    """The plugin's model and task cards that can be read."""
    for kind in ("model", "task"):
        for owner, head in catalog.heads(kind):
            if owner.name != plugin.name:
                continue
            try:
                yield cards.load_card(head.path).record
            except VgenEvalError:  # told by cards_valid
                continue


def _is_own(name: str, kind: str, plugin: Plugin, hooks: Hooks) -> bool:
    distribution, colon, bare = name.rpartition(":")
    if colon and normalise(distribution) != normalise(plugin.name):
        return False
    return bare in hooks.get(kind, ())


def list_unused(
    catalog: Catalog, plugin: Plugin, hooks: Hooks, stubs: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Components that no card of the plugin uses, so that nothing tries them: kind and name."""
    used: set[tuple[str, str]] = {("adapter", name) for name in stubs}
    for card in _records(catalog, plugin):
        if isinstance(card, ModelCard):
            used.add(("adapter", card.adapter.rpartition(":")[2]))
        elif isinstance(card, TaskCard):
            used.add(("dataset", card.dataset.reader.rpartition(":")[2]))
    for _, _, body in protocols_of(catalog, plugin):
        used |= {("metric", metric.name.rpartition(":")[2]) for metric in body.metrics}
        used.add(("decoder", body.failure_value.rpartition(":")[2]))
        for answer in body.answers:
            used |= {(kind, name.rpartition(":")[2]) for kind, name in _names(answer)}
    return [
        (kind, name)
        for kind in ("adapter", "dataset", "decoder", "encoder", "metric")
        for name in hooks.get(kind, ())
        if (kind, name) not in used
    ]
