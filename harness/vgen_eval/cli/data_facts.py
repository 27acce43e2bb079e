"""What `vgen-eval data list` says: a line for each task, or the whole story of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cli import terminal
from vgen_eval.cli.show_card import pairs
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.data.state import DataState
    from vgen_eval.engine.naming import TaskRef
    from vgen_eval.plugins import Catalog

__all__ = ["count", "headline", "name_of", "next_step", "record", "samples", "story", "table"]

Row = tuple["TaskRef", "DataState"]
KEPT = ("root", "licence", "terms", "redistribution", "source", "unpack", "citation", "revision",
        "size_gb", "layout_checked")  # fmt: skip
LICENCE_WIDTH = 24


def name_of(ref: TaskRef) -> str:
    """The task as it is typed; its protocol where that is not the default."""
    own = ref.protocol == ref.card.default_protocol
    return ref.label.removesuffix(f"@{ref.protocol}") if own else ref.label


def headline(data_root: str | None) -> str:
    """Where data is looked for."""
    base = data_root or os.environ.get("VGEN_DATA")
    if not base:
        return "data folder: not set (--data-root DIR or $VGEN_DATA)"
    return f"data folder: {base}{'' if data_root else '   ($VGEN_DATA)'}"


def table(found: Sequence[Row]) -> list[str]:
    """A line for each task, those whose data lies in one folder together."""
    rows = [["data set", "task", "state", "samples", "size", "licence", "next"]]
    for root, group in _by_root(found).items():
        told = ""
        for ref, state in group:
            data = ref.card.dataset
            facts = [f"{data.size_gb:g} GB" if data.size_gb else "-",
                     terminal.clip(data.licence.strip(), LICENCE_WIDTH)]  # fmt: skip
            rows.append(
                [root if not told else "", name_of(ref), _state(state), count(state), *facts,
                 "" if state.whole else _short(ref, state)]
            )  # fmt: skip
            told = root
    return terminal.fitted(rows, right="lllrrl", indent="  ")


def _by_root(found: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for ref, state in found:
        groups.setdefault(ref.card.dataset.root or "(in the package)", []).append((ref, state))
    return groups


def _state(state: DataState) -> str:
    if state.missing:
        return f"partial, {terminal.plural(state.missing, 'file')} missing"
    return state.state


def count(state: DataState) -> str:
    """Samples whose files are there, of those that there should be."""
    there = f"{state.found:,}" if state.state in ("partial", "ready", "built in") else "-"
    return f"{there}/{state.expected:,}" if state.expected else there


def samples(state: DataState) -> str:
    """The same, with the noun."""
    noun = plural(state.expected or state.found, "sample").rpartition(" ")[2]
    return f"{count(state)} {noun}"


def next_step(ref: TaskRef, state: DataState) -> str:
    """What to do now."""
    name = name_of(ref)
    if state.whole:
        return f"vgen-eval --tasks {name} --model NAME"
    if state.state == "faulty":
        return "mend what the reason names"
    if state.state == "not prepared" or ref.card.dataset.hub is not None:
        return f"vgen-eval data prepare {name}"
    if state.state == "partial":
        return f"vgen-eval data verify {name}"
    return "get it from its source and lay it out as below"


def _short(ref: TaskRef, state: DataState) -> str:
    step = next_step(ref, state)
    if step.startswith("vgen-eval "):
        return step.removeprefix("vgen-eval ")
    return f"data list {name_of(ref)}"


def record(ref: TaskRef, state: DataState) -> dict[str, Any]:
    """Everything of one task, for programs."""
    data = ref.card.dataset
    return {
        **msgspec.to_builtins(state),
        "reader": data.reader,
        **{key: getattr(data, key) for key in KEPT},
        "hub": msgspec.to_builtins(data.hub),
        "next": next_step(ref, state),
    }


def story(found: Sequence[Row], catalog: Catalog) -> list[str]:
    """The whole story of one task, and how its other protocols fare that need other data."""
    ref, state = found[0]
    data, hub = ref.card.dataset, ref.card.dataset.hub
    below = f"$VGEN_DATA/{data.root}" if data.root else "the package that brings the task"
    others = [(f"for {other.label}", f"{_state(s)}, {samples(s)}") for other, s in found[1:]]
    lines = pairs(
        [
            ("task", ref.label),
            ("state", f"{_state(state)}, {samples(state)}"),
            ("the first", state.first),
            ("reason", state.reason),
            ("cure", _cure(ref, state)),
            *others,
            ("looked for in", state.path or below),
            ("size", f"{data.size_gb:g} GB" if data.size_gb else ""),
            ("source", data.source),
            ("to unpack", data.unpack),
            ("on the Hub", hub and f"{hub.repo} at {hub.revision or 'a commit that you name'}"),
            ("licence", data.licence),
            ("terms", data.terms),
            ("passing on", data.redistribution),
            ("layout checked", data.layout_checked),
            ("citation", data.citation),
            ("next", next_step(ref, state)),
        ]
    )
    return [*lines, *_layout(ref, catalog)]


def _cure(ref: TaskRef, state: DataState) -> str:
    """The cure, without what is being told here anyway."""
    parts = (state.cure or "").split("; ")
    return "; ".join(part for part in parts if f"vgen-eval data list {ref.name}" not in part)


def _layout(ref: TaskRef, catalog: Catalog) -> list[str]:
    """What the reader says of the files it wants: its own documentation."""
    import inspect

    from vgen_eval.data.state import reader_of
    from vgen_eval.errors import VgenEvalError

    if ref.card.dataset.root is None:
        return []
    try:
        text = inspect.getdoc(reader_of(ref, catalog)) or ""
    except VgenEvalError:
        return []
    return ["", *(terminal.clean(f"  {line}").rstrip() for line in text.splitlines())]
