"""What a table is laid out by, and which facts of a result each of these accounts for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import ResultCard, Score
from vgen_eval.results.identity import MODEL

__all__ = [
    "ALL",
    "DIMENSIONS",
    "ROLES",
    "Dimension",
    "accounts_for",
    "is_of_model",
    "read_axes",
    "role_of",
    "value_of",
]

DIMENSIONS = ("model", "task", "prompt", "protocol", "family", "metric", "tag")

ALL = "all"
"""The subset of all samples."""

ROLES = ("model", "human", "judge", "ceiling", "floor")
"""In the order in which a table has them."""


class Dimension(msgspec.Struct, frozen=True):
    """One of DIMENSIONS; `tag`: the one tag that is meant, None for all of them."""

    kind: str
    tag: str | None = None

    @property
    def name(self) -> str:
        """As it is written."""
        return self.kind if self.tag is None else f"{self.kind}:{self.tag}"


def read_axes(
    rows: Sequence[str], cols: Sequence[str]
) -> tuple[tuple[Dimension, ...], tuple[Dimension, ...]]:
    """Both axes from their words; UsageError for none, an unknown one, or one that stands twice."""
    for axis, words in (("rows", rows), ("columns", cols)):
        if not words:
            raise UsageError(
                f"a table without anything to lay out in {axis}",
                cure=f"one or several of {', '.join(DIMENSIONS)}, tag:NAME",
            )
    axes = tuple(map(_dimension, rows)), tuple(map(_dimension, cols))
    kinds = [dimension.kind for axis in axes for dimension in axis]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise UsageError(
                f"'{kind}' stands {kinds.count(kind)} times in the rows and columns",
                cure=f"each once: {', '.join(DIMENSIONS)}, tag:NAME",
            )
    return axes


def _dimension(word: str) -> Dimension:
    kind, colon, tag = word.strip().partition(":")
    if kind not in DIMENSIONS or (colon and (kind != "tag" or not tag)):
        raise UsageError(
            f"a table has no '{word}'.{nearest(word, DIMENSIONS)}",
            cure=f"rows and columns: {', '.join(DIMENSIONS)}, tag:NAME",
        )
    return Dimension(kind, tag or None)


_VALUE: dict[str, Callable[[ResultCard, Score], str]] = {
    "model": lambda card, _: card.model,
    "task": lambda card, _: card.task,
    "prompt": lambda card, _: card.prompt or "no prompt",
    "protocol": lambda card, _: card.protocol,
    "family": lambda card, _: str(card.task_info.get("family")),
    "metric": lambda _, score: score.metric,
    "tag": lambda _, score: score.subset,
}


def value_of(dimension: Dimension, card: ResultCard, score: Score) -> str:
    """Where on that dimension a number stands."""
    return _VALUE[dimension.kind](card, score)


def role_of(card: ResultCard) -> str:
    """The role of the run's model; `model` for a word that is none."""
    role = card.model_info.get("role")
    return role if role in ROLES else "model"


def is_of_model(field: str) -> bool:
    """Is the fact one of the model? `seed_base` is its `generation.seed` once more."""
    return field in (MODEL, "seed_base") or field.startswith(f"{MODEL}.")


def accounts_for(axis: Iterable[Dimension], field: str) -> bool:
    """Is it by design of the axis that the fact differs along it?

    Tasks differ in all but the model; of a family or a protocol the same may be said.
    """
    return any(_accounts_for(dimension.kind, field) for dimension in axis)


def _accounts_for(kind: str, field: str) -> bool:
    if kind == "model":
        return is_of_model(field)
    if kind == "prompt":
        return field.startswith("prompt.")
    if kind in ("metric", "tag"):
        return field == {"metric": "metric", "tag": "subset"}[kind]
    return not is_of_model(field)
