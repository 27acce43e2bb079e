"""`vgen-eval check plugin NAME`: the contract, checked; what fails is told with its cure."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from vgen_eval.testing import Check, Conformance

__all__ = ["check_plugin_command"]

FAILED = 1
HEARTBEAT_S = 15.0
"""Between two lines of progress where no terminal redraws them."""
_TOLD = re.compile(r"see (?:(\S+::\w+)|the checks of the (\w+))$")
_NEEDS = re.compile(r"needs (\w+), see there")


def check_plugin_command(
    name: str, *, as_json: bool, only: str | None, output: str, timeout_s: float, verbose: bool
) -> int:
    """Checks a plugin, says what came of it and keeps the record; 1 when a check failed.

    The record is kept of a whole check alone: one of a part would read like the whole.
    """
    import msgspec

    from vgen_eval.cli import terminal
    from vgen_eval.cli.signals import Unwinding
    from vgen_eval.conformance import write_record
    from vgen_eval.testing import check_plugin

    terminal.guard_stdout()
    unwinding = Unwinding()
    try:
        with unwinding, _Progress() as progress:
            record = check_plugin(
                name, only=only, timeout_s=timeout_s, on_progress=progress.subject
            )
    except KeyboardInterrupt:
        if unwinding.exit_code is None:
            raise
        terminal.note("error: interrupted; no record was written")
        return unwinding.exit_code
    path = write_record(Path(output).expanduser(), record) if only is None else None
    if as_json:
        terminal.say_json(msgspec.to_builtins(record))
    else:
        terminal.say(*map(terminal.clean, _lines(record, path, verbose=verbose)))
    return FAILED if record.failed else 0


class _Progress:
    """How far it is: a line that is redrawn on a terminal, one now and then in a log."""

    def __init__(self) -> None:
        from vgen_eval.cli import terminal

        self._redraws = terminal.is_terminal(sys.stderr)
        self._lock = threading.Lock()
        self._said = -HEARTBEAT_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        from vgen_eval.cli import terminal

        terminal.redraw("")

    def subject(self, label: str, done: int, total: int) -> None:
        """A subject's checks begin; called from several threads."""
        from vgen_eval.cli import terminal

        text = f"checking {label}" + (f", {done} of {total} done" if label != "package" else "")
        with self._lock:
            if self._redraws:
                terminal.redraw(text)
            elif time.monotonic() - self._said >= HEARTBEAT_S:
                self._said = time.monotonic()
                terminal.note(text)


def _lines(record: Conformance, path: Path | None, *, verbose: bool) -> list[str]:
    from vgen_eval.cli import terminal

    lines = []
    if verbose:
        rows = [[check.id, check.outcome, check.detail] for check in record.checks]
        lines += [*terminal.fitted(rows), ""]
    for check in record.failures:
        lines += [f"{check.id}: {check.detail}", f"  cure: {check.cure}"]
    lines += _skips(record)
    skipped = f"   {record.skipped} skipped" if record.skipped else ""
    lines.append(
        f"{record.plugin} {record.version}   {terminal.plural(record.passed, 'check')} passed   "
        f"{record.failed} failed{skipped}"
    )
    if path is not None:
        lines.append(f"record: {path}")
    return lines


def _skips(record: Conformance) -> list[str]:
    """A line for each reason why checks were not made, and one for parts that nothing uses."""
    from vgen_eval.cli import terminal

    by_id = {check.id: check for check in record.checks}
    skipped = [check for check in record.checks if check.outcome == "skipped"]
    idle = [check.subject for check in skipped if check.check == "used"]
    reasons = Counter(_reason(check, by_id) for check in skipped if check.check != "used")
    lines = [
        f"skipped: {reason} ({terminal.plural(count, 'check')})"
        for reason, count in reasons.most_common()
    ]
    if idle == ["package"]:
        return [*lines, "not tried: the plugin brings no card and no component"]
    if idle:
        lines.append(f"not tried, since no card of the plugin uses it: {', '.join(idle)}")
    return lines


def _reason(check: Check, by_id: Mapping[str, Check]) -> str:
    """Why a check was not made; of one that builds on others, what came of the first of them."""
    told = _TOLD.search(check.detail)
    if told:
        home = told[1] or f"{told[2]}:"
        homes = [name for name in by_id if name.startswith(home)]
        failed = [name for name in homes if by_id[name].outcome == "failed"]
        return f"builds on {failed[0]}" if failed else check.detail
    found = _NEEDS.fullmatch(check.detail)
    need = by_id.get(f"{check.subject}::{found[1]}") if found else None
    if need is None:
        return check.detail
    return f"builds on {need.id}" if need.outcome == "failed" else _reason(need, by_id)
