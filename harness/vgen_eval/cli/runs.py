"""`vgen-eval runs`: list the runs of a results folder, or delete some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from vgen_eval.cli.verbs import VerbGroup

__all__ = ["command"]


@click.group(
    "runs",
    cls=VerbGroup,
    invoke_without_command=True,
    subcommand_metavar="VERB [OPTIONS]",
    options_metavar="",
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List or delete runs."""  # fmt: skip
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("list")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def list_runs(output: str, as_json: bool) -> int:
    """List the runs of a results folder."""
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import number
    from vgen_eval.store.run import find_runs

    records = [_describe(path, Path(output)) for path in find_runs(Path(output))]
    if as_json:
        terminal.say_json(records)
        return 0
    if not records:
        terminal.note(f"no runs in {Path(output, 'runs')}")
        return 0
    head = ["run", "model", "task", "answer", "prompt", "done", "failed", "score", "", "", "state"]
    rows = [[*head, "changed" if any(r["changed"] for r in records) else ""]]
    for r in records:
        value = "" if r["metric"] is None else number(r["value"])
        rows.append(
            [
                r["run"],
                r["model"],
                r["task"],
                r["answer"],
                r["prompt"] or "-",
                f"{r['done']:,}/{r['expected']:,}",
                f"{r['failed']:,}",
                r["metric"] or "-",
                value,
                r["unit"] or "",
                r["state"],
                ", ".join(f"{key}={value}" for key, value in r["changed"].items()),
            ]
        )
    terminal.say(*terminal.fitted(rows, right="lllllrrlrlll"))
    return 0


def _describe(path: Path, output: Path) -> dict[str, Any]:
    """What a line says of a run, however little of it is readable."""
    from vgen_eval.cli.run_facts import count_done
    from vgen_eval.distributions import bare_name
    from vgen_eval.errors import NotRunnable
    from vgen_eval.results.card import read_card
    from vgen_eval.store.run import RunStore

    record: dict[str, Any] = {
        "id": path.relative_to(output / "runs").as_posix(),
        "run": path.name,
        "model": "?", "task": "?", "answer": "?", "prompt": None, "done": 0, "expected": 0,
        "failed": 0, "changed": {}, "metric": None, "value": None, "unit": None,
        "state": "damaged", "path": str(path),
    }  # fmt: skip
    try:
        asked = RunStore(path).record
        done, expected = count_done(path, asked)
        record |= {
            "model": bare_name(asked["model"]),
            "task": asked["task"],
            "answer": asked["answer"],
            "prompt": asked["prompt"]["variant"],
            "done": done,
            "expected": expected,
            "state": "no card",
            "changed": _changes(asked),
        }
        card = read_card(path)
    except (NotRunnable, KeyError, TypeError, AttributeError):
        return record
    score = card.score()
    # a run that was killed while it went on has more lines than its card knows of
    whole = card.complete and record["done"] == record["expected"]
    counts = card.counts
    return record | {
        "failed": counts.failed,
        "metric": card.primary,
        "value": score.value,
        "unit": score.unit,
        "state": "complete" if whole else "incomplete",
    }


def _changes(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What tells the run from the plain one of its task and model."""
    settings = asked.get("settings", {})
    options = {f"options.{key}": value for key, value in settings.get("model_args", {}).items()}
    part = {"samples": len(asked["samples"])} if asked.get("selection") else {}
    judge = {"judge": settings["judge"]} if settings.get("judge") else {}
    return {**judge, **settings.get("set", {}), **options, **part}


@command.command("rm")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_runs(runs: Sequence[str], output: str, yes: bool) -> int:
    """Delete runs, given as paths or as starts of their ids: cards, predictions and answers."""
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import size
    from vgen_eval.errors import UsageError

    paths = list(dict.fromkeys(_confine(word, Path(output)) for word in runs))
    total = sum(f.lstat().st_size for path in paths for f in path.rglob("*") if not f.is_dir())
    if not yes:
        terminal.note(*(f"  {path}" for path in paths))
        question = f"delete {terminal.plural(len(paths), 'run')}, {size(total)}?"
        try:
            agreed = click.confirm(question, default=False, err=True)
        except click.Abort:
            terminal.note("")
            raise UsageError("nobody answered, so nothing is deleted", cure="--yes") from None
        if not agreed:
            terminal.note("nothing is deleted")
            return 1
    for path in paths:
        _remove(path, Path(output))
        terminal.say(f"deleted {path}")
    return 0


def _confine(word: str, output: Path) -> Path:
    """The run's real path; UsageError unless it is a run inside the runs folder."""
    from vgen_eval.cli.finding import find_run, match_runs
    from vgen_eval.errors import UsageError

    path = find_run(word, output).resolve()
    if not match_runs(word, output):
        raise UsageError(
            f"'{word}' is no run itself: it holds one", cure=f"vgen-eval runs rm {path.name}"
        )
    root = (output / "runs").resolve()
    if path == root or not path.is_relative_to(root):
        raise UsageError(
            f"'{word}' is not inside {output / 'runs'}", cure="name its results folder: --output"
        )
    return path


def _remove(path: Path, output: Path) -> None:
    """Deletes a run that nobody writes, and the folders that are empty then."""
    import contextlib
    import shutil

    from vgen_eval.errors import StorageError
    from vgen_eval.store.run import RunStore

    store = RunStore(path)
    store.lock()
    try:
        shutil.rmtree(path)
    except OSError as exc:
        raise StorageError(f"cannot delete {path}: {exc.strerror or exc}") from exc
    finally:
        store.close()
    root = (output / "runs").resolve()
    for folder in path.parents:
        if folder == root or not folder.is_relative_to(root):
            break
        with contextlib.suppress(OSError):
            folder.rmdir()
