"""A data set of nothing but ids, a judge with rounds and presets, a metric of its marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from vgen_eval import Image, Item, NoOptions, Prediction, Sample, Scene, SumMetric, Value
from vgen_eval.errors import JudgeError, MissingData, Unreadable
from vgen_eval.judging import Asking, Case, Question, put
from vgen_eval.types import Statistics


class Scenes:
    """Samples s00, s01, ...: two of a domain after one another, three of a level."""

    version: ClassVar[int] = 1
    gone: ClassVar[bool] = False

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        n: int = 12

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        if self.gone:
            raise MissingData("scenes: gone")
        self.options = options

    def index(self) -> Sequence[Item]:
        return [
            Item(
                id=f"s{at:02d}",
                group=f"g{at}",
                tags={"domain": "puzzle" if at % 4 < 2 else "motion", "level": str(at % 3)},
            )
            for at in range(self.options.n)
        ]

    def load(self, item: Item) -> Sample:
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(np.zeros((8, 8, 3), np.uint8)),),
            target="",
            tags=item.tags,
        )

    def fingerprint(self) -> str:
        return str(self.options.n)


class Words:
    """The words themselves."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        return Prediction(value=answer, summary={"words": answer})


class Nought(Words):
    """The failure value: a mark of 0."""

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        return Prediction(value=0.0)


class Panel:
    """The mean of the votes on the whole, times that of the votes on details."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        rounds: int = 1
        preset: Annotated[
            Literal["full", "whole_only", "doubtful"], msgspec.Meta(description="What is asked.")
        ] = "full"

    def __init__(self, options: Options) -> None:
        self.options = options

    def judge(self, case: Case) -> Asking:
        asked = ["whole"] if self.options.preset == "whole_only" else ["whole", "details"]
        marks = []
        for what in asked:
            questions = [
                Question(name=f"{what}/{at}", round=at, parts=(f"{what}: {case.prediction.value}",))
                for at in range(self.options.rounds)
            ]
            votes = yield from put(questions, _vote, re_asks=0)
            read = [vote for vote in votes if not isinstance(vote, Unreadable)]
            if not read:
                raise JudgeError(f"{what}: no vote can be read")
            marks.append(fmean(read))
        if self.options.preset == "doubtful":
            yield [Question(name="sure", parts=("Are you sure?",))]
        mark = marks[0] * (marks[1] if len(marks) > 1 else 1.0)
        return Prediction(value=mark, summary={"mark": mark})

    def prompts(self) -> Mapping[str, str]:
        return {"whole": "whole: {answer}", "details": "details: {answer}"}


def _vote(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Unreadable(f"no vote: {text}") from None


class Mark(SumMetric):
    """The mark, what it lacks, and a value that no single answer has."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(name="mark", of="mark", aggregation="mean", higher_is_better=True),
        Value(name="lack", of="lack", aggregation="mean", higher_is_better=False),
        Value(name="spread", of="spread", aggregation="pooled", higher_is_better=False),
    )

    def update(self, pred: float, target: Any, valid: Any) -> Statistics:
        return {"n": 1, "sum": pred}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        mark = statistics["sum"] / statistics["n"]
        return {
            "mark": mark,
            "lack": 1 - mark,
            "spread": mark * statistics["n"] if statistics["n"] > 1 else None,
        }
