"""What is wrong with the data that a task card brings along: annotations, and prompt fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from vgen_eval.cards.checking import Checker, message_of
from vgen_eval.cards.problems import MAX_PROBLEMS, join, join_index
from vgen_eval.cards.records import AnswerCard, TaskCard
from vgen_eval.cards.walk import convert
from vgen_eval.errors import CardError, VgenEvalError, nearest
from vgen_eval.prompting import placeholders
from vgen_eval.types import Sample, Scene
from vgen_eval.wording import describe, part_of, plural

__all__ = ["READ_AT_MOST", "check_data", "spread"]

Thing = TypeVar("Thing")

READ_AT_MOST = 500
"""Samples of which the files are read, unless all are asked for."""


def check_data(
    checker: Checker, card: TaskCard, *, folder: Path, every: bool = False, trials: bool = True,
    notes: list[str],
) -> None:  # fmt: skip
    """Note faults of the index and of the files, and prompts that name a field nobody has.

    Data that lies below the data root is not looked at: it does not come with the card. Files are
    read by readers that can `verify` them, of evenly spaced samples where there are many; `notes`
    then says of how many. `every`: of all. Without `trials` the files alone are told of, not
    the count, the prompts' fields, or what the reader raises.
    """
    reader = checker.look_up("dataset", card.dataset.reader)
    if card.dataset.root is not None or isinstance(reader, Exception) or checker.problems:
        return
    if not trials and not hasattr(reader, "verify"):
        return
    try:
        options = convert(reader.Options, card.dataset.options, file=checker.file)
        dataset = reader(options, root=None, folder=folder)
        items = dataset.index()
        if trials and card.dataset.n is not None and len(items) != card.dataset.n:
            checker.add("dataset.n", f"the data has {plural(len(items), 'sample')}")
        if hasattr(dataset, "verify"):
            read = items if every else spread(items, READ_AT_MOST)
            checker.problems += dataset.verify(read)[: MAX_PROBLEMS - len(checker.problems)]
            if len(read) < len(items):
                notes.append(
                    f"the files of {part_of(len(read), len(items), 'sample')} were read "
                    "(--all-data reads all)"
                )
        _check_kind(checker, card, getattr(dataset, "measures", None))
        if trials and items and not checker.problems:
            _check_fields(checker, card, dataset.load(items[0]))
    except CardError as exc:
        checker.problems += exc.problems
    except VgenEvalError as exc:
        checker.add("dataset", message_of(exc))
    # a reader is anyone's code
    except Exception as exc:
        if trials:
            checker.add("dataset", f"reading it raised {describe(exc)}")


def _check_kind(checker: Checker, card: TaskCard, held: str | None) -> None:
    """Note metrics about another kind of thing than the truth is."""
    for name, body in card.protocols.items():
        for index, metric in enumerate(body.metrics if not body.data.options else ()):
            taken = getattr(checker.look_up("metric", metric.name), "measures", None)
            if held and taken and held != taken:
                at = join_index(join(join("protocols", name), "metrics"), index)
                checker.add(at, f"{metric.name!r} measures {taken}, the truth is {held}")


def spread(things: Sequence[Thing], count: int) -> Sequence[Thing]:
    """At most `count` of the things, evenly spaced, the first and the last among them."""
    if len(things) <= count:
        return things
    return [things[at * (len(things) - 1) // max(count - 1, 1)] for at in range(count)]


def _check_fields(checker: Checker, card: TaskCard, sample: Sample) -> None:
    for name, body in card.protocols.items():
        for index, answer in enumerate(body.answers):
            fields = {*sample.fields, *_decoder_fields(checker, answer, sample)}
            at = join(join_index(join(join("protocols", name), "answers"), index), "prompt")
            for variant, text in answer.prompt.items():
                for field in sorted(_placeholders(text) - fields):
                    message = f"the samples have no field '{field}'.{nearest(field, fields)}"
                    checker.add(join(at, variant), message)


def _decoder_fields(checker: Checker, answer: AnswerCard, sample: Sample) -> Mapping[str, str]:
    """The prompt fields that the answer's decoder makes of its options."""
    kind = checker.look_up("decoder", answer.decoder or answer.form)
    if not hasattr(kind, "fields") or not sample.images:
        return {}
    image = sample.images[0]
    scene = Scene(image=image, size=(image.height, image.width), fields=sample.fields)
    made = kind(convert(kind.Options, answer.options, file=checker.file)).fields(scene)
    return dict(made)


def _placeholders(text: str) -> Any:
    try:
        return placeholders(text)
    except ValueError:  # told elsewhere
        return set()
