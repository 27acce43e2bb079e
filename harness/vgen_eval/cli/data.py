"""`vgen-eval data`: what data tasks need, whether it is whole, and making it so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.completing import complete_tasks
from vgen_eval.cli.verbs import VerbGroup

if TYPE_CHECKING:
    from pathlib import Path

    from vgen_eval.data.state import DataState
    from vgen_eval.engine.naming import TaskRef
    from vgen_eval.errors import Problem
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

NOT_READY = 3
SHOWN = 20
"""Faults that are written out; the rest is counted."""

WORDS = {
    "built in": "ships with a package",
    "not prepared": "to be prepared",
}


@click.group(
    "data",
    cls=VerbGroup,
    invoke_without_command=True,
    subcommand_metavar="VERB [OPTIONS]",
    options_metavar="",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, verify or prepare the data that tasks need."""  # fmt: skip
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_TASKS = click.argument("tasks", nargs=-1, metavar="[TASK]...", shell_complete=complete_tasks)
_NAMED = click.argument(
    "tasks", nargs=-1, metavar="TASK...", required=True, shell_complete=complete_tasks
)
_ROOT = click.option(
    "--data-root", metavar="DIR", help="Folder of the data sets (else $VGEN_DATA)."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")


@command.command("list")
@_TASKS
@click.option("--family", metavar="NAME", help="Tasks of this family alone.")
@click.option("--missing", is_flag=True, help="Those alone whose data is not whole.")
@_ROOT
@_JSON
def list_data(
    tasks: Sequence[str], family: str | None, missing: bool, data_root: str | None, as_json: bool
) -> int:
    """List the data of tasks (all): is it there, where to get it, under what terms."""
    from vgen_eval.cli import terminal
    from vgen_eval.data.state import look_at
    from vgen_eval.plugins import Catalog

    catalog = Catalog.discover()
    found = [
        (ref, look_at(ref, catalog, data_root=data_root))
        for ref in _refs(tasks or ("all",), catalog)
        if family in (None, ref.card.family)
    ]
    if missing:
        found = [(ref, s) for ref, s in found if s.state not in ("ready", "built in")]
    if as_json:
        terminal.say_json([_record(ref, state) for ref, state in found])
        return 0
    if len(found) == 1:
        terminal.say(*_story(*found[0]))
        return 0
    rows = [["task", "state", "samples", "below the data root", "size", "licence"]]
    for ref, state in found:
        data = ref.card.dataset
        rows.append(
            [
                ref.name,
                WORDS.get(state.state, state.state),
                _count(state),
                data.root or "-",
                f"{data.size_gb:g} GB" if data.size_gb else "-",
                terminal.clip(data.licence, 40),
            ]
        )
    terminal.say(*terminal.layout(rows, right="llrl"))
    terminal.note("vgen-eval data list TASK says where it comes from and what to do")
    return 0


def _count(state: DataState) -> str:
    if state.state in ("partial", "ready", "built in"):
        whole = f"{state.found:,}"
        return whole if not state.expected else f"{whole}/{state.expected:,}"
    return f"-/{state.expected:,}" if state.expected else "-"


def _record(ref: TaskRef, state: DataState) -> dict[str, Any]:
    import msgspec

    data = ref.card.dataset
    kept = ("root", "licence", "terms", "redistribution", "source", "citation", "revision",
            "size_gb", "layout_checked")  # fmt: skip
    return {
        **msgspec.to_builtins(state),
        **{key: getattr(data, key) for key in kept},
        "hub": msgspec.to_builtins(data.hub),
    }


def _story(ref: TaskRef, state: DataState) -> list[str]:
    from vgen_eval.cli.show_card import pairs

    data = ref.card.dataset
    hub = data.hub and f"{data.hub.repo} at {data.hub.revision or 'a commit of your choice'}"
    place = state.path or (f"$VGEN_DATA/{data.root}" if data.root else "a package")
    gone = f"{state.missing:,} files, the first: {state.first}" if state.first else ""
    lines = pairs(
        [
            ("task", ref.label),
            ("state", f"{WORDS.get(state.state, state.state)}, {_count(state)} samples"),
            ("missing", gone),
            ("reason", state.reason),
            ("looked for in", place),
            ("size", f"{data.size_gb:g} GB" if data.size_gb else ""),
            ("source", data.source),
            ("on the Hub", hub),
            ("licence", data.licence),
            ("terms", data.terms),
            ("passing on", data.redistribution),
            ("layout checked", data.layout_checked),
            ("citation", data.citation),
            ("next", _next(ref, state)),
        ]
    )
    return [*lines, "", *_layout(ref)]


def _next(ref: TaskRef, state: DataState) -> str:
    if state.state in ("ready", "built in"):
        return f"vgen-eval --tasks {ref.name} --model NAME"
    if state.state == "partial":
        return f"vgen-eval data verify {ref.name}"
    if state.state == "not prepared" or ref.card.dataset.hub is not None:
        return f"vgen-eval data prepare {ref.name}"
    return "get it from its source and lay it out as below"


def _layout(ref: TaskRef) -> list[str]:
    """What the reader says of the files it wants: its own documentation."""
    import inspect

    from vgen_eval.errors import VgenEvalError
    from vgen_eval.plugins import Catalog

    home = ref.distribution if ref.distribution != "local" else "vgen-eval"
    try:
        reader = Catalog.discover().component("dataset", ref.card.dataset.reader, home=home).obj
    except VgenEvalError:
        return []
    text = inspect.getdoc(reader) or ""
    return [f"  {line}".rstrip() for line in text.splitlines()]


@command.command("verify")
@_NAMED
@click.option("--samples", multiple=True, metavar="ID,..", help="Only these; @FILE reads ids.")
@_ROOT
@_JSON
def verify_data(
    tasks: Sequence[str], samples: Sequence[str], data_root: str | None, as_json: bool
) -> int:
    """Read the data of tasks whole and name every fault."""
    from vgen_eval.cli import terminal
    from vgen_eval.cli.options import read_samples
    from vgen_eval.data.state import verify
    from vgen_eval.errors import NotRunnable
    from vgen_eval.plugins import Catalog

    catalog = Catalog.discover()
    ids = list(read_samples(samples))
    records = []
    for ref in _refs(tasks, catalog):
        try:
            task, problems = verify(ref, catalog, data_root=data_root, items=ids)
            count, reason = len(ids) or len(task.items), None
        except NotRunnable as exc:
            count, problems, reason = 0, [], f"{exc.what} ({exc.cure})" if exc.cure else exc.what
        records.append(
            {
                "task": ref.label,
                "samples": count,
                "faults": [str(problem) for problem in problems],
                "reason": reason,
            }
        )
        if not as_json:
            _say_verified(ref, count, problems, reason)
    if as_json:
        terminal.say_json(records)
    return NOT_READY if any(r["faults"] or r["reason"] for r in records) else 0


def _say_verified(
    ref: TaskRef, count: int, problems: Sequence[Problem], reason: str | None
) -> None:
    from vgen_eval.cli import terminal

    if reason is not None:
        terminal.say(f"{ref.name}: {reason}")
        return
    for problem in problems[:SHOWN]:
        terminal.say(terminal.clean(problem))
    if len(problems) > SHOWN:
        terminal.say(f"... and {len(problems) - SHOWN:,} more")
    samples = terminal.plural(count, "sample")
    verdict = terminal.plural(len(problems), "fault") if problems else "sound"
    terminal.say(f"{ref.name}: {samples} read, {verdict}")


@command.command("prepare")
@_NAMED
@click.option("--revision", metavar="SHA", help="Commit of the data set on the Hub.")
@click.option("--accept-terms", is_flag=True, help="I accept the terms that the card names.")
@_ROOT
def prepare_data(
    tasks: Sequence[str], revision: str | None, accept_terms: bool, data_root: str | None
) -> int:
    """Fetch what the Hub gives under its terms, and convert what has to be, once."""
    from vgen_eval.cli import terminal
    from vgen_eval.data.prepare import fetch, make_root, prepare
    from vgen_eval.data.state import look_at
    from vgen_eval.plugins import Catalog

    catalog = Catalog.discover()
    code = 0
    fetched: set[str] = set()
    for ref in _refs(tasks, catalog):
        data = ref.card.dataset
        root = make_root(data, data_root)
        if data.hub is not None and str(root) not in fetched and not _is_there(root):
            _ask_terms(ref, accept=accept_terms)
            fetch(data, root, revision=revision, say=terminal.note)
        fetched.add(str(root))
        prepare(ref, catalog, root, say=terminal.note)
        state = look_at(ref, catalog, data_root=data_root)
        terminal.say(f"{ref.name}: {state.state}, {_count(state)} samples")
        if state.state not in ("ready", "built in"):
            code = NOT_READY
            terminal.note(
                state.first or state.reason or "", f"  {_next(ref, state)}: {data.source}"
            )
    return code


def _is_there(root: Path) -> bool:
    """Was it fetched whole, or laid there by hand?"""
    from vgen_eval.data.prepare import RECORD

    begun = (root / ".cache" / "huggingface").exists()
    return (root / RECORD).exists() or (not begun and any(root.iterdir()))


def _ask_terms(ref: TaskRef, *, accept: bool) -> None:
    """UsageError unless the terms were accepted, by option or at the terminal."""
    from vgen_eval.cli import terminal
    from vgen_eval.errors import UsageError

    data = ref.card.dataset
    if accept or not data.terms:
        return
    terminal.note(f"{ref.name}: {data.terms}", f"licence: {data.licence}", f"see {data.source}")
    import sys

    if terminal.is_terminal(sys.stdin) and click.confirm("do you accept them?", err=True):
        return
    raise UsageError(
        f"{ref.name}: its terms were not accepted", cure="--accept-terms says that you accept them"
    )


def _refs(names: Sequence[str], catalog: Catalog) -> list[TaskRef]:
    from vgen_eval.engine.naming import expand_tasks

    notices: list[str] = []
    refs = list(expand_tasks(names, catalog, notices=notices))
    if notices:
        from vgen_eval.cli import terminal

        terminal.note(*notices)
    return refs
