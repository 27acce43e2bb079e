"""Judges driven by hand: replies by the question's name, and the transcript of what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from vgen_eval.imaging import Image
from vgen_eval.judging import Case, Judge, Question, Reply
from vgen_eval.types import Prediction, Scene

PICTURE = Image(np.zeros((4, 5, 3), np.uint8))


def scene_of(*choices: str) -> Scene:
    return Scene(image=PICTURE, size=(4, 5), choices=choices)


def case_of(answer: str, target: Any, **fields: str) -> Case:
    return Case(
        sample="a", attempt=0, prediction=Prediction(value=answer), scene=scene_of(),
        images=(PICTURE,), target=target, fields=fields,
    )  # fmt: skip


def drive(
    judge: Judge, case: Case, answer: Callable[[Question], str | None] | Mapping[str, str | None]
) -> tuple[Prediction, list[list[Question]]]:
    """What the judge makes of those replies, and what it asked, a list for each time."""
    told = answer if callable(answer) else lambda question: answer[question.name]
    asking = judge.judge(case)
    transcript: list[list[Question]] = []
    try:
        questions = next(asking)
        while True:
            transcript.append(list(questions))
            replies = [Reply(name=each.name, text=told(each), reason="gone") for each in questions]
            questions = asking.send(replies)
    except StopIteration as stop:
        return stop.value, transcript


def words_of(question: Question) -> str:
    return "\n".join(part for part in question.parts if isinstance(part, str))
