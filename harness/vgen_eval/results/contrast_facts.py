"""What runs that are set beside one another differ in, and what to call each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.distributions import HOME, LOCAL
from vgen_eval.results.identity import MODEL, differences
from vgen_eval.results.reading import Run

__all__ = [
    "Apart",
    "Differing",
    "is_of_the_model",
    "label_models",
    "label_runs",
    "show_fact",
    "tell_apart",
]

VERSIONS = "versions"

_FOLLOW_THE_MODEL = ("seed_base",)
"""Facts of a protocol that come out of a model's card or of its answers."""

_TELL_THEMSELVES = ("protocol", "prompt.variant", "answer.form")
"""Facts whose values need no name beside them."""

LONGEST_FACT = 40
MOST_TOLD = 2


class Differing(msgspec.Struct, frozen=True):
    """One fact, as each of the runs has it; None where one has no such fact."""

    field: str
    values: tuple[Any, ...]


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """Every fact in which one of several runs differs from the first."""

    identity: tuple[Differing, ...]
    """Of the task, its data, the samples, the protocol, the prompt: numbers do not compare."""
    model: tuple[Differing, ...]
    """Of the models and their settings: what is compared."""
    versions: tuple[Differing, ...]
    """Of the libraries that the runs were made with."""


def is_of_the_model(field: str) -> bool:
    """Is the fact one of the model, and no part of what was asked of it?"""
    return _is_below(field, MODEL) or any(_is_below(field, name) for name in _FOLLOW_THE_MODEL)


def tell_apart(facts: Sequence[Mapping[str, Any]]) -> Apart:
    """What the runs of these facts differ in, field by field, in the order of the first."""
    differing = {one.field for other in facts[1:] for one in differences(facts[0], other)}
    fields = dict.fromkeys(name for each in facts for name in each if name in differing)
    found = [Differing(name, tuple(each.get(name) for each in facts)) for name in fields]
    return Apart(
        identity=tuple(
            one for one in found
            if not is_of_the_model(one.field) and not _is_below(one.field, VERSIONS)
        ),
        model=tuple(one for one in found if is_of_the_model(one.field)),
        versions=tuple(one for one in found if _is_below(one.field, VERSIONS)),
    )  # fmt: skip


def _is_below(field: str, name: str) -> bool:
    return field == name or field.startswith(f"{name}.")


def label_runs(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: its model, and what sets apart those of one model."""
    labels = label_models([run.card.model for run in runs], [run.facts for run in runs])
    twice = {label for label, count in Counter(labels).items() if count > 1}
    return [
        f"{label} {run.name}" if label in twice else label
        for run, label in zip(runs, labels, strict=True)
    ]


def label_models(names: Sequence[str], facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each model's name, with the facts in which it differs from others of the name."""
    labels = [name.removeprefix(f"{HOME}:").removeprefix(f"{LOCAL}:") for name in names]
    found = list(labels)
    for label in dict.fromkeys(labels):
        members = [at for at, other in enumerate(labels) if other == label]
        apart = tell_apart([facts[at] for at in members])
        short = (one for one in (*apart.identity, *apart.model) if all(map(_is_short, one.values)))
        for one in islice(short, MOST_TOLD):
            if len({found[at] for at in members}) == len(members):
                break
            for at, value in zip(members, one.values, strict=True):
                name = "" if one.field in _TELL_THEMSELVES else f"{one.field.split('.')[-1]}="
                found[at] = f"{found[at]} {name}{show_fact(value)}"
    return found


def _is_short(value: Any) -> bool:
    return len(show_fact(value)) < LONGEST_FACT


def show_fact(value: Any) -> str:
    """A fact on one line, cut to what a line has room for; - for none."""
    if value is None:
        return "-"
    text = value if isinstance(value, str) else jsonio.dumps(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 3]}..."
