"""The table of an ablation: runs by values, differences, and what becomes of their order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vgen_eval.engine.ablation import Reading
    from vgen_eval.plugins import Catalog
    from vgen_eval.types import Value

__all__ = ["ablate", "read_ablation"]

LEAST_VALUES = 2


def read_ablation(word: str) -> tuple[str, list[Any]]:
    """KEY and its values, of KEY=a,b,c; UsageError for fewer than two."""
    from vgen_eval.cards import parse_setting
    from vgen_eval.cli.options import split_commas
    from vgen_eval.errors import UsageError

    key, _, rest = word.partition("=")
    values = [parse_setting(f"{key}={part}")[1] for part in split_commas(rest) if part]
    if not key or len(values) < LEAST_VALUES or len({str(v) for v in values}) < len(values):
        raise UsageError(
            f"--ablate {word}: a key and two values or more, each once, are wanted",
            cure="--ablate fit=depth_lsq,disparity_lsq_clamped",
        )
    return key, values


def ablate(
    paths: Sequence[Path],
    catalog: Catalog,
    word: str,
    *,
    metric: str | None,
    data_root: str | None,
    workers: int | None,
    as_json: bool,
    stopped: Any,
) -> int:
    """Reads the runs under each value and says what it comes to."""
    from vgen_eval.cli import terminal
    from vgen_eval.engine.ablation import read_variants

    key, values = read_ablation(word)
    readings = read_variants(
        paths, catalog, key=key, values=values, data_root=data_root, workers=workers,
        stopped=stopped,
    )  # fmt: skip
    record = _record(readings, key, values, metric)
    if as_json:
        terminal.say_json(record)
        return 0
    terminal.say(*_table(record))
    return 0


def _value(reading: Reading, metric: str | None) -> Value:
    from vgen_eval.errors import UsageError, nearest

    job = reading.job
    known = {value.name: value for named in job.task.metrics for value in named.values}
    name = metric or job.task.primary.name
    if name not in known:
        raise UsageError(f"{job.task.ref.label} reports no '{name}'.{nearest(name, known)}")
    return known[name]


def _record(
    readings: Sequence[Sequence[Reading]], key: str, values: Sequence[Any], metric: str | None
) -> dict[str, Any]:
    import msgspec

    from vgen_eval.results.comparing import compare

    rows = []
    for row in readings:
        base, base_value = row[0], _value(row[0], metric)
        cells = []
        for reading in row:
            value = _value(reading, metric)
            same = value.unit == base_value.unit and value.name == base_value.name
            found = compare(base.summary, base_value, reading.summary, value)
            told = msgspec.to_builtins(found)
            if not same:
                told |= {"difference": None, "interval": None, "n": found.n}
            cells.append(
                {
                    "task": reading.job.task.ref.label,
                    "metric": value.name,
                    "unit": value.unit,
                    "higher_is_better": value.higher_is_better,
                    **told,
                }
            )
        rows.append({"run": str(row[0].path), "model": row[0].job.model.qualified, "values": cells})
    return {"key": key, "values": list(values), "runs": rows, "ranking": _ranking(rows)}


def _ranking(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each task with several runs: their places under each value, and how far they moved."""
    import msgspec

    from vgen_eval.results.comparing import rank_moves, ranks

    tasks: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        tasks.setdefault(row["values"][0]["task"], []).append(row)
    found = []
    for task, members in tasks.items():
        columns = list(zip(*(row["values"] for row in members), strict=True))
        known = all(cell["value"] is not None for column in columns for cell in column)
        if len(members) < LEAST_VALUES or not known:
            continue
        places = [
            ranks(
                [cell["value"] for cell in column],
                higher_is_better=column[0]["higher_is_better"],
            )
            for column in columns
        ]
        moves = [msgspec.to_builtins(rank_moves(places[0], after)) for after in places]
        models = [row["model"] for row in members]
        found.append({"task": task, "models": models, "places": places, "moves": moves})
    return found


def _table(record: dict[str, Any]) -> list[str]:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import number

    values = [_show(value) for value in record["values"]]
    lines = [f"{record['key']}: kept answers read again, no model asked; against {values[0]}", ""]
    rows = [["model", "task", "metric", *values]]
    for row in record["runs"]:
        first = row["values"][0]
        rows.append(
            [
                row["model"].removeprefix("vgen-eval:"),
                first["task"].partition("@")[0] if record["key"] == "protocol" else first["task"],
                first["metric"],
                *(_cell(cell) for cell in row["values"]),
            ]
        )
        gaps = [_gap(cell) for cell in row["values"][1:]]
        rows.append(["", f"  {first['n']:,} samples", "", "", *gaps])
    lines += terminal.layout(rows)
    why = {
        cell["interval"]["reason"]
        for row in record["runs"]
        for cell in row["values"][1:]
        if cell["interval"] and cell["interval"]["reason"]
    }
    lines += [f"  no interval: {reason}" for reason in sorted(why)]
    for ranking in record["ranking"]:
        lines += ["", f"order of {len(ranking['models'])} runs, {ranking['task']}"]
        for at, value in enumerate(values):
            placed = sorted(zip(ranking["places"][at], ranking["models"], strict=True))
            names = " > ".join(model.removeprefix("vgen-eval:") for _, model in placed)
            moved = ranking["moves"][at]
            tau = "-" if moved["tau"] is None else number(moved["tau"])
            note = "" if at == 0 else f"   tau {tau}, moved by {moved['largest']:g} at most"
            lines.append(f"  {value}: {names}{note}")
    return lines


def _show(value: Any) -> str:
    return "null" if value is None else str(value)


def _cell(cell: dict[str, Any]) -> str:
    from vgen_eval.cli.numbers import number

    return "-" if cell["value"] is None else number(cell["value"])


def _gap(cell: dict[str, Any]) -> str:
    """ "+0.02 [0.01, 0.03]": the difference and its interval."""
    from vgen_eval.cli.numbers import number

    if cell["difference"] is None:
        return "another metric" if cell["interval"] is None else "-"
    told = f"{'+' if cell['difference'] > 0 else ''}{number(cell['difference'])}"
    interval = cell["interval"]
    if interval["low"] is None:
        return told
    return f"{told} [{number(interval['low'])}, {number(interval['high'])}]"
