"""What is wrong with the data that a task card brings along: annotations, and prompt fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vgen_eval.cards.checking import Checker, message_of
from vgen_eval.cards.problems import join, join_index
from vgen_eval.cards.records import TaskCard
from vgen_eval.cards.walk import convert
from vgen_eval.errors import CardError, VgenEvalError, nearest
from vgen_eval.prompting import placeholders

__all__ = ["check_data"]


def check_data(checker: Checker, card: TaskCard, *, folder: Path) -> None:
    """Note faults of the index, and prompts that name a field which the samples do not have.

    Data that lies below the data root is not looked at: it does not come with the card.
    """
    reader = checker.look_up("dataset", card.dataset.reader)
    if card.dataset.root is not None or isinstance(reader, Exception) or checker.problems:
        return
    try:
        options = convert(reader.Options, card.dataset.options, file=checker.file)
        dataset = reader(options, root=None, folder=folder)
        items = dataset.index()
        if card.dataset.n is not None and len(items) != card.dataset.n:
            checker.add("dataset.n", f"the data has {len(items)} samples")
        if items:
            _check_fields(checker, card, set(dataset.load(items[0]).fields))
    except CardError as exc:
        checker.problems += exc.problems
    except VgenEvalError as exc:
        checker.add("dataset", message_of(exc))
    # a reader is anyone's code
    except Exception as exc:
        checker.add("dataset", f"reading it raised {type(exc).__name__}: {exc}")


def _check_fields(checker: Checker, card: TaskCard, fields: set[str]) -> None:
    for name, body in card.protocols.items():
        for index, answer in enumerate(body.answers):
            at = join(join_index(join(join("protocols", name), "answers"), index), "prompt")
            for variant, text in answer.prompt.items():
                for field in sorted(_placeholders(text) - fields):
                    message = f"the samples have no field '{field}'.{nearest(field, fields)}"
                    checker.add(join(at, variant), message)


def _placeholders(text: str) -> Any:
    try:
        return placeholders(text)
    except ValueError:  # told elsewhere
        return set()
