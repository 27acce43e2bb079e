"""`vgen-eval check plugin NAME`: the contract, checked; what fails is told with its cure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgen_eval.testing import Conformance

__all__ = ["check_plugin_command"]

FAILED = 1


def check_plugin_command(
    name: str, *, as_json: bool, only: str | None, output: str, timeout_s: float, verbose: bool
) -> int:
    """Checks a plugin, says what came of it and keeps the record; 1 when a check failed.

    The record is kept of a whole check alone: one of a part would read like the whole.
    """
    import msgspec

    from vgen_eval.cli import terminal
    from vgen_eval.testing import check_plugin
    from vgen_eval.testing.record import write_record

    terminal.guard_stdout()
    record = check_plugin(name, only=only, timeout_s=timeout_s)
    path = write_record(Path(output).expanduser(), record) if only is None else None
    if as_json:
        terminal.say_json(msgspec.to_builtins(record))
    else:
        terminal.say(*map(terminal.clean, _lines(record, path, verbose=verbose)))
    return FAILED if record.failed else 0


def _lines(record: Conformance, path: Path | None, *, verbose: bool) -> list[str]:
    from vgen_eval.cli import terminal

    lines = []
    if verbose:
        rows = [[check.id, check.outcome, check.detail] for check in record.checks]
        lines += [*terminal.layout(rows), ""]
    for check in record.failures:
        lines += [f"{check.id}: {check.detail}", f"  cure: {check.cure}"]
    skipped = f"   {record.skipped} skipped" if record.skipped else ""
    lines.append(
        f"{record.plugin} {record.version}   {terminal.plural(record.passed, 'check')} passed   "
        f"{record.failed} failed{skipped}"
    )
    if path is not None:
        lines.append(f"record: {path}")
    return lines
