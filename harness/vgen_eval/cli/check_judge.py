"""`vgen-eval check judge RUN... --human FILE`: whether a judge goes with people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["check_judge_command"]

MOST_DIGITS = 6
"""Of a number of votes."""


def check_judge_command(
    words: Sequence[str],
    *,
    human: str | None,
    value: str | None,
    band: float,
    by: str | None,
    rounds: str | None,
    data_root: str | None,
    output: str,
    as_json: bool,
) -> int:
    """Measures the judge of the runs and says what came of it; 3 where a run cannot be read."""
    import msgspec

    from vgen_eval.cli import terminal
    from vgen_eval.cli.check_judge_table import table
    from vgen_eval.cli.reading import open_runs
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.judging.trust import check_judge

    terminal.guard_stdout()
    if not words:
        raise UsageError(
            "no run named: vgen-eval check judge RUN... --human FILE",
            cure="vgen-eval runs list shows them all",
        )
    if human is None:
        raise UsageError(
            "--human FILE is missing: what people said of the answers",
            cure="a .csv or .jsonl file: id,label or id,better,worse or id,ranking",
        )
    votes = None if rounds is None else _rounds(rounds)
    catalog = Catalog.discover()
    runs, exit_code = open_runs(words, Path(output), catalog=catalog)
    found = check_judge(
        runs, Path(human).expanduser(), catalog, value=value, band=band,
        by=[tag.strip() for tag in (by or "").split(",") if tag.strip()],
        rounds=votes, data_root=data_root,
        on_replay=lambda what: terminal.redraw(f"replaying {what}"),
    )  # fmt: skip
    terminal.redraw("")
    if as_json:
        terminal.say_json({**msgspec.to_builtins(found), "exit_code": exit_code})
    else:
        terminal.say(*map(terminal.clean, table(found)))
    return exit_code


def _rounds(text: str) -> list[int]:
    """The numbers of votes, each once; UsageError where one is none."""
    from vgen_eval.errors import UsageError

    found: dict[int, None] = {}
    for part in text.split(","):
        word = part.strip()
        if not word.isdecimal() or len(word) > MOST_DIGITS or int(word) < 1:
            raise UsageError(
                f"--rounds: '{word}' is no number of votes", cure="--rounds 1,3,5 for example"
            )
        found[int(word)] = None
    return list(found)
