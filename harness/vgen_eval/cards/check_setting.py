"""What `--set` made of a protocol, held to all that `check` asks of one in a file."""

from __future__ import annotations

from typing import Any

import msgspec

from vgen_eval.cards.check_task import check_protocol
from vgen_eval.cards.checking import Checker, Finder
from vgen_eval.cards.load import ParsedCard
from vgen_eval.cards.problems import join
from vgen_eval.cards.records import ProtocolCard, TaskCard
from vgen_eval.errors import UsageError

__all__ = ["check_setting"]

WHERE = "protocol"
"""What the paths of such settings begin with."""


def check_setting(
    card: TaskCard, before: ProtocolCard, after: ProtocolCard, catalog: Finder, *, label: str,
    home: str,
) -> None:  # fmt: skip
    """UsageError for the first fault that `after` has and `before`, the card's own, has not."""
    known = _faults(card, before, catalog, home)
    new = [fault for fault in _faults(card, after, catalog, home) if fault not in known]
    if not new:
        return
    path, message = new[0]
    more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
    is_of_data = path.startswith(f"{WHERE}.data")
    shown = card.dataset.reader if is_of_data else label
    raise UsageError(
        f"{label}: {path}: {message}{more}",
        cure=f"leave that setting out or mend it; vgen-eval show {shown} tells what can be set",
    )


def _faults(
    card: TaskCard, body: ProtocolCard, catalog: Finder, home: str
) -> list[tuple[str, str]]:
    """Path and message of each."""
    # every key counts as written, so that each is checked
    lines = {WHERE: 0, **{join(WHERE, key): 0 for key in body.__struct_fields__}}
    whole: Any = msgspec.structs.replace(card, protocols={WHERE: body})
    checker = Checker(ParsedCard("task", whole, lines), catalog, file="setting", home=home)
    check_protocol(checker, card, body, WHERE)
    return [(problem.path, problem.message) for problem in checker.problems]
