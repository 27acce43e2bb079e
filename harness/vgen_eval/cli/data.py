"""`vgen-eval data`: what data tasks need, whether it is whole, and making it so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from vgen_eval.cli.completing import complete_data
from vgen_eval.cli.data_export import export_data
from vgen_eval.cli.verbs import VerbGroup

if TYPE_CHECKING:
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.data.state import DataState
    from vgen_eval.data.verify import Verified
    from vgen_eval.engine.naming import TaskRef
    from vgen_eval.errors import VgenEvalError
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

NOT_READY = 3
SHOWN = 20
"""Faults that are written out; the rest is counted."""


@click.group(
    "data",
    cls=VerbGroup,
    invoke_without_command=True,
    subcommand_metavar="VERB [OPTIONS]",
    options_metavar="",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List, verify or prepare the data that tasks need.

    \b
      vgen-eval data list                   what is here, what is missing, what to do
      vgen-eval data list depth/nyuv2       source, licence, terms, and how its files lie
      vgen-eval data list depth/nyuv2 --ids > ids.txt      its samples, for --samples @ids.txt
      vgen-eval data prepare counting/pixmo-count --accept-terms
      vgen-eval data export depth/nyuv2 -o DIR    pictures and prompts, for a program elsewhere
      vgen-eval data verify depth/nyuv2     read all of it, name every fault

    NAME is a task, a glob ('depth/*'), or a folder below the data folder (nyuv2).
    """  # fmt: skip
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


command.add_command(export_data)

_NAMES = click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_data)
_NAMED = click.argument(
    "names", nargs=-1, metavar="NAME...", required=True, shell_complete=complete_data
)
_ROOT = click.option(
    "--data-root", metavar="DIR", help="Folder of the data sets (else $VGEN_DATA)."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")


@command.command("list")
@_NAMES
@click.option("--family", metavar="NAME", help="Only tasks of this family.")
@click.option("--missing", is_flag=True, help="Only those whose data is not whole.")
@click.option("--ids", is_flag=True, help="Of one task: the ids of its samples, one a line.")
@_ROOT
@_JSON
def list_data(
    names: Sequence[str], family: str | None, missing: bool, ids: bool, data_root: str | None,
    as_json: bool,
) -> int:  # fmt: skip
    """List the data of tasks: is it here, where to get it, under what terms.

    Of one task alone the whole story is told, with how its files have to lie. No sample is read.
    --ids names the samples whose files are here, as --samples takes them; --ids --missing the
    others.
    """
    from vgen_eval.cli import data_facts, terminal
    from vgen_eval.data.naming import parts_of
    from vgen_eval.data.state import look_at
    from vgen_eval.plugins import Catalog

    terminal.guard_stdout()
    catalog = Catalog.discover()
    refs = _refs(names or ("all",), catalog)
    refs = _of_family(refs, family) if family is not None else refs
    if ids:
        return _list_ids(refs, catalog, data_root, missing=missing, as_json=as_json)
    if len(refs) == 1 and _is_bare(names):
        refs = list(parts_of(refs[0]))
    found = []
    for at, ref in enumerate(refs):
        terminal.redraw(f"{ref.name}, {at} of {len(refs)} looked at")
        found.append((ref, look_at(ref, catalog, data_root=data_root)))
    terminal.redraw("")
    alone = len({ref.name for ref, _ in found}) == 1
    shown = [(ref, state) for ref, state in found if not (missing and state.whole)]
    if as_json:
        terminal.say_json([data_facts.record(ref, state) for ref, state in shown])
    elif not shown:
        terminal.note("nothing is missing")
    elif alone:
        terminal.say(*data_facts.story(found, catalog))
    else:
        terminal.say(data_facts.headline(data_root), "", *data_facts.table(shown))
        ready = sum(state.whole for _, state in found)
        terminal.note(
            f"{ready} of {terminal.plural(len(found), 'task')} ready; "
            "vgen-eval data list NAME says where data comes from and how it lies"
        )
    return 0


def _list_ids(
    refs: Sequence[TaskRef], catalog: Catalog, data_root: str | None, *, missing: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Says the ids of one task's samples: of those whose files are here, or of the others."""
    from vgen_eval.cli import terminal
    from vgen_eval.data.state import expected_of, list_ids
    from vgen_eval.errors import UsageError
    from vgen_eval.wording import part_of

    if len(refs) != 1:
        raise UsageError(
            f"--ids is of one task, these are {len(refs):,}", cure="vgen-eval data list TASK --ids"
        )
    here, gone = list_ids(refs[0], catalog, data_root=data_root)
    shown = gone if missing else here
    if as_json:
        terminal.say_json(shown)
        return 0
    terminal.say(*(terminal.clean(name) for name in shown))
    whole = max(len(here) + len(gone), expected_of(refs[0]) or 0)
    if missing:
        lacking = whole - len(here)
        unnamed = lacking - len(gone)
        told = f", {unnamed:,} of them not even by name" if unnamed else ""
        terminal.note(f"{part_of(lacking, whole, 'sample')} not here{told}")
    else:
        terminal.note(f"{part_of(len(here), whole, 'sample')} here")
    return 0


def _is_bare(names: Sequence[str]) -> bool:
    return not any("@" in name for name in names)


def _of_family(refs: Sequence[TaskRef], family: str) -> list[TaskRef]:
    from vgen_eval.errors import UsageError, nearest

    families = {ref.card.family for ref in refs}
    if family not in families:
        raise UsageError(
            f"no task of the family '{family}'.{nearest(family, families)}",
            cure=f"families here: {', '.join(sorted(families)) or 'none'}",
        )
    return [ref for ref in refs if ref.card.family == family]


@command.command("verify")
@_NAMED
@click.option("--samples", multiple=True, metavar="ID,..", help="Only these; @FILE reads ids.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="N samples, evenly spaced.")
@click.option("--all", "every", is_flag=True, help="All samples, as without these options.")
@_ROOT
@_JSON
def verify_data(
    names: Sequence[str],
    samples: Sequence[str],
    limit: int | None,
    every: bool,
    data_root: str | None,
    as_json: bool,
) -> int:
    """Read the data of tasks and name every fault: missing, cut short, of another release.

    A bare task name means all of its protocols, as far as their data is here. Exit status 3 when
    anything is not sound.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.options import read_samples
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.data.verify import verify
    from vgen_eval.errors import NotRunnable, StorageError, UsageError
    from vgen_eval.plugins import Catalog

    if sum((bool(samples), limit is not None, every)) > 1:
        raise UsageError("--all, --samples and --limit each say which samples: give one of them")
    terminal.guard_stdout()
    catalog = Catalog.discover()
    ids = list(read_samples(samples))
    groups = _groups(names, catalog)
    records, unwinding = [], Unwinding()
    try:
        with unwinding:
            for ref, main in [(r, r is parts[0]) for parts in groups for r in parts]:
                if ids and not main:
                    continue  # they are named as the default protocol has them
                found: Verified | VgenEvalError
                try:
                    found = verify(
                        ref, catalog, data_root=data_root, samples=ids, limit=limit,
                        tell=_progress(ref, unwinding),
                    )  # fmt: skip
                except (NotRunnable, StorageError) as exc:
                    found = exc
                terminal.redraw("")
                records.append(_verified(ref, found, main=main, as_json=as_json))
    except KeyboardInterrupt:
        return _interrupted(unwinding)
    if as_json:
        terminal.say_json(records)
    return 0 if all(record["ok"] for record in records) else NOT_READY


def _progress(ref: TaskRef, unwinding: Unwinding) -> Callable[[str, int, int], None]:
    from vgen_eval.cli import terminal

    def tell(what: str, done: int, total: int) -> None:
        unwinding.check()
        terminal.redraw(f"{ref.name}: {what}, {done:,} of {total:,} read")

    return tell


def _verified(
    ref: TaskRef, found: Verified | VgenEvalError, *, main: bool, as_json: bool
) -> dict[str, Any]:
    """Says what was found, and gives it as a record.

    Another protocol's part of the data that is not there at all is no fault of what is.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.data_facts import name_of
    from vgen_eval.data.verify import Verified

    empty = {"task": ref.label, "ok": False, "samples": 0, "read": 0, "sound": 0, "missing": 0,
             "unreadable": 0, "differing": 0, "faults": [], "reason": None}  # fmt: skip
    if not isinstance(found, Verified):
        faults = [str(p) for p in getattr(found.__cause__, "problems", ())]  # of its index
        if not as_json and main:
            terminal.say(*(terminal.clean(fault) for fault in faults[:SHOWN]))
        reason = f"{found.what} ({found.cure})" if found.cure else found.what
        if not as_json and main:
            terminal.say(terminal.clean(f"{name_of(ref)}: {reason}"))
        elif not as_json:
            terminal.note(f"note: not here for {name_of(ref)}: {reason}")
        return empty | {"ok": not main, "reason": reason, "faults": faults}
    problems = [str(problem) for problem in found.problems]
    if not as_json:
        terminal.say(*(terminal.clean(problem) for problem in problems[:SHOWN]))
        if len(problems) > SHOWN:
            terminal.say(f"... and {len(problems) - SHOWN:,} more (--json names them all)")
        terminal.say(f"{name_of(ref)}: {_verdict(found)}")
    return empty | {
        "ok": not problems,
        "samples": found.samples,
        "read": found.read,
        "sound": found.sound,
        "missing": len(found.missing),
        "unreadable": len(found.unreadable),
        "differing": len(found.differing),
        "faults": problems,
    }


def _verdict(found: Verified) -> str:
    from vgen_eval.cli.terminal import plural

    part = "" if found.read == found.samples else f"{found.read:,} of "
    text = f"{part}{plural(found.samples, 'sample')} read, "
    if not found.problems:
        return f"{text}sound"
    counts = [
        f"{found.sound:,} sound",
        f"{plural(len(found.missing), 'file')} missing" if found.missing else "",
        f"{len(found.unreadable):,} unreadable" if found.unreadable else "",
        f"{len(found.differing):,} not as the card says" if found.differing else "",
    ]
    return text + ", ".join(filter(None, counts))


@command.command("prepare")
@_NAMED
@click.option("--revision", metavar="SHA", help="Commit of the data set on the Hub.")
@click.option("--accept-terms", is_flag=True, help="I accept the terms that the cards name.")
@_ROOT
def prepare_data(
    names: Sequence[str], revision: str | None, accept_terms: bool, data_root: str | None
) -> int:
    """Fetch what the Hub gives under its terms, and convert what has to be converted.

    What is there is left as it is, so the same command goes on after an interruption. HF_ENDPOINT
    and HF_TOKEN are those of the Hub's own library. Terms are accepted by you: on the terminal, or
    by --accept-terms; what was accepted and fetched is written down in fetched.json.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.errors import StorageError, VgenEvalError
    from vgen_eval.plugins import Catalog

    terminal.guard_stdout()
    catalog = Catalog.discover()
    groups = _groups(names, catalog)
    _check_revision(groups, revision)
    code, unwinding = 0, Unwinding()
    try:
        with unwinding:
            for parts in groups:
                try:
                    done = _prepare(parts, catalog, unwinding, data_root, revision, accept_terms)
                except StorageError:
                    raise
                except VgenEvalError as exc:
                    if len(groups) == 1:
                        raise
                    terminal.note(f"error: {exc.what}", *([exc.cure] if exc.cure else []))
                    done = exc.exit_code
                code = code or done
    except KeyboardInterrupt:
        return _interrupted(unwinding)
    return code


def _check_revision(groups: Sequence[Sequence[TaskRef]], revision: str | None) -> None:
    from vgen_eval.errors import UsageError

    repos = {hub.repo for parts in groups if (hub := parts[0].card.dataset.hub) is not None}
    if revision is not None and len(repos) > 1:
        raise UsageError(
            f"--revision is a commit of one data set, these are {len(repos)}: "
            f"{', '.join(sorted(repos))}",
            cure="prepare them one by one",
        )


def _prepare(
    parts: Sequence[TaskRef],
    catalog: Catalog,
    unwinding: Unwinding,
    data_root: str | None,
    revision: str | None,
    accept_terms: bool,
) -> int:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.data_facts import name_of, next_step, samples
    from vgen_eval.data.prepare import bring

    def say(line: str) -> None:
        unwinding.check()
        terminal.note(line)

    def accept(ref: TaskRef) -> str | None:
        return "--accept-terms" if accept_terms else _ask_terms(ref)

    states: list[DataState] = bring(
        parts, catalog, data_root=data_root, revision=revision, accept=accept, say=say,
        bars=terminal.is_terminal(sys.stderr),
    )  # fmt: skip
    for ref, state in zip(parts, states, strict=True):
        if ref is not parts[0] and state.state in ("not found", "not prepared"):
            terminal.note(f"note: not here for {name_of(ref)}: {state.reason}")
            continue
        terminal.say(f"{name_of(ref)}: {state.state}, {samples(state)}")
        if not state.whole:
            where = f"source: {ref.card.dataset.source}"
            terminal.note(
                state.first or state.reason or "", f"next: {next_step(ref, state)}", where
            )
    return 0 if states[0].whole else NOT_READY


def _ask_terms(ref: TaskRef) -> str | None:
    """How a person accepted the terms; None when nobody did."""
    from vgen_eval.cli import terminal

    data = ref.card.dataset
    terminal.note(f"{ref.name}: {data.terms}", f"licence: {data.licence}", f"see {data.source}")
    if not terminal.is_terminal(sys.stdin):
        return None
    try:
        agreed = click.confirm("do you accept these terms?", default=False, err=True)
    except click.Abort:
        terminal.note("")
        return None
    return "on the terminal" if agreed else None


def _interrupted(unwinding: Unwinding) -> int:
    from vgen_eval.cli import terminal

    if unwinding.exit_code is None:
        raise KeyboardInterrupt
    terminal.redraw("")
    terminal.note("error: interrupted; the same command goes on")
    return unwinding.exit_code


def _refs(names: Sequence[str], catalog: Catalog) -> list[TaskRef]:
    from vgen_eval.cli import terminal
    from vgen_eval.data.naming import find_tasks

    notices: list[str] = []
    refs = find_tasks(names, catalog, notices=notices)
    terminal.note(*(f"note: {notice}" for notice in notices))
    return refs


def _groups(names: Sequence[str], catalog: Catalog) -> list[list[TaskRef]]:
    """Each task with those of its protocols that need other data, unless one is named."""
    from vgen_eval.data.naming import parts_of

    refs = _refs(names, catalog)
    return [list(parts_of(ref)) if _is_bare(names) else [ref] for ref in refs]
