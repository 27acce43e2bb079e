"""`vgen-eval check`: every problem of card files, each with its line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

RESERVED = ("plugin", "judge")
FAULTY = 2


@click.command("check")
@click.argument("cards", nargs=-1, required=True, metavar="CARD...")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(cards: tuple[str, ...], as_json: bool) -> int:
    """Check card files: keys, values, and the components and tasks they name.

    CARD is a YAML file, or a folder whose *.yaml files are all checked.
    """  # fmt: skip
    from vgen_eval.cards import check_card
    from vgen_eval.cli import terminal
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog

    first = cards[0]
    if first in RESERVED:
        raise UsageError(
            f"'check {first}' is kept for a later release",
            cure=f"a card file of that name is given as ./{first}",
        )
    terminal.guard_stdout()
    catalog = Catalog.discover()
    files = [file for word in cards for file in _files(Path(word).expanduser())]
    found = {file: check_card(file, catalog, home=_home(file, catalog)) for file in files}
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
