"""`vgen-eval check`: problems of card files, a plugin's contract, or whether a judge is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vgen_eval.cli.fractions import Number

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

PLUGIN, JUDGE = "plugin", "judge"
FAULTY = 2
TIMEOUT_S = 60.0
TIE_BAND = 0.05
_OF_A_PLUGIN = ("--only", "--timeout", "--verbose")
_OF_A_JUDGE = ("--human", "--value", "--tie-band", "--by", "--rounds", "--data-root")


@click.command("check")
@click.argument("cards", nargs=-1, required=True, metavar="CARD...")
@click.option("--all-data", is_flag=True, help="Read every sample of a task, however many.")
@click.option("--only", metavar="GLOB", help="Of a plugin: subjects (model:*) or checks (batch_*).")
@click.option(
    "--output",
    metavar="DIR",
    help="Results folder (results): of a plugin, where its record goes; of a judge, its runs.",
)
@click.option(
    "--timeout",
    type=Number(min=0, min_open=True),
    metavar="S",
    help="Of a plugin: seconds that one check may take (60).",
)
@click.option("-v", "--verbose", is_flag=True, help="Of a plugin: a line for every check.")
@click.option("--human", metavar="FILE", help="Of a judge: what people said, .csv or .jsonl.")
@click.option("--value", metavar="NAME", help="Of a judge: the value it gives (the primary).")
@click.option(
    "--tie-band",
    type=Number(min=0),
    metavar="X",
    help="Of a judge: differences below it are ties (.05).",
)
@click.option("--by", metavar="TAG,...", help="Of a judge: each value of these tags, too; or all.")
@click.option("--rounds", metavar="N,...", help="Of a judge: replay it with so many votes (1,3,5).")
@click.option("--data-root", metavar="DIR", help="Of a judge: data folder, for replays.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    cards: tuple[str, ...],
    all_data: bool,
    only: str | None,
    output: str | None,
    timeout: float | None,
    verbose: bool,
    human: str | None,
    value: str | None,
    tie_band: float | None,
    by: str | None,
    rounds: str | None,
    data_root: str | None,
    as_json: bool,
) -> int:
    """Check card files: keys, values, the components and tasks they name, and their data.

    CARD is a YAML file, or a folder whose *.yaml files are all checked.

    \b
      vgen-eval check my_task.yaml             every problem, with its line
      vgen-eval check plugin acme-editor       the contract that plugins are held to
      vgen-eval check judge RUN... --human FILE    does a judge go with people?

    FILE holds labels (id,label[,model|run][,attempt]), preferences (id,better,worse) or rankings
    (id,ranking: "a > b = c"); better and worse are models or runs. What a judge would say with
    other rounds, or under its presets, is replayed from what the runs kept; no model is asked.
    """  # fmt: skip
    of_plugin = dict(zip(_OF_A_PLUGIN, (only, timeout, verbose), strict=True))
    of_judge = dict(zip(_OF_A_JUDGE, (human, value, tie_band, by, rounds, data_root), strict=True))
    first = cards[0]
    if first == JUDGE:
        _refuse("plugin NAME", of_plugin)
        _refuse("CARD", {"--all-data": all_data})
        from vgen_eval.cli.check_judge import check_judge_command

        return check_judge_command(
            cards[1:], human=human, value=value, band=TIE_BAND if tie_band is None else tie_band,
            by=by, rounds=rounds, data_root=data_root, output=output or "results", as_json=as_json,
        )  # fmt: skip
    _refuse("judge RUN...", of_judge)
    if first != PLUGIN:
        _refuse("plugin NAME", {**of_plugin, "--output": output})
        return _check_cards(cards, all_data=all_data, as_json=as_json)
    _refuse("CARD", {"--all-data": all_data})
    from vgen_eval.cli.check_plugin import check_plugin_command

    return check_plugin_command(
        _one_plugin(cards), as_json=as_json, only=only, output=output or "results",
        timeout_s=timeout or TIMEOUT_S, verbose=verbose,
    )  # fmt: skip


def _one_plugin(cards: tuple[str, ...]) -> str:
    """The plugin that is named; UsageError where it is not one."""
    from vgen_eval.errors import UsageError

    if len(cards) != 2:
        raise UsageError(
            "NAME of one plugin is missing: vgen-eval check plugin NAME"
            if len(cards) == 1
            else "one plugin at a time: vgen-eval check plugin NAME",
            cure="vgen-eval list plugins",
        )
    return cards[1]


def _refuse(owner: str, options: Mapping[str, object]) -> None:
    """UsageError for an option that belongs to the other use of the verb."""
    from vgen_eval.errors import UsageError

    for option, given in options.items():
        if given is not None and given is not False:
            raise UsageError(
                f"{option} is an option of `check {owner}`", cure="vgen-eval check --help"
            )


def _check_cards(cards: tuple[str, ...], *, all_data: bool, as_json: bool) -> int:
    from vgen_eval.cards import check_card
    from vgen_eval.cli import terminal
    from vgen_eval.plugins import Catalog

    terminal.guard_stdout()
    catalog = Catalog.discover()
    files = [file for word in cards for file in _files(Path(word).expanduser())]
    notes: dict[Path, list[str]] = {file: [] for file in files}
    found = {
        file: check_card(
            file, catalog, home=_home(file, catalog), all_data=all_data, notes=notes[file]
        )
        for file in files
    }
    for file, said in notes.items():
        terminal.note(*(f"note: {file}: {text}" for text in said))
    count = sum(map(len, found.values()))
    if as_json:
        problems = [
            {"file": p.file, "line": p.line, "path": p.path, "message": p.message}
            for entry in found.values()
            for p in entry
        ]
        terminal.say_json({"files": [str(file) for file in found], "problems": problems})
        return FAULTY if count else 0
    for file, problems_of in found.items():
        lines = [str(problem) for problem in problems_of] or [f"{file}: ok"]
        terminal.say(*map(terminal.clean, lines))
    if count:
        terminal.say(terminal.plural(count, "error"))
    return FAULTY if count else 0


def _files(path: Path) -> list[Path]:
    from vgen_eval.errors import UsageError

    if not path.is_dir():
        return [path]
    # a pipe of that name would be waited for
    files = sorted(file for file in path.rglob("*.yaml") if file.is_file())
    if not files:
        raise UsageError(f"{path} holds no *.yaml file")
    return files


def _home(file: Path, catalog: Catalog) -> str:
    """The distribution in whose card folders the file lies; vgen-eval for any other."""
    from vgen_eval.plugins import BUILTIN

    place = file.resolve()
    for plugin in catalog.plugins:
        if any(place.is_relative_to(folder.resolve()) for folder in plugin.card_dirs):
            return plugin.name
    return BUILTIN
