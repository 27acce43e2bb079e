"""Answers scored as a run scores them, for views: a score line of decoder, judge and metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gradekit import PICTURE, drive
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.judging import Case, Judge, Question
from vgen_eval.types import AnswerForm, Prediction, Sample, Scene
from vgen_eval.viewing import Bars, Pane, Seen, Words

NO_REPLIES: Mapping[str, str | None] = MappingProxyType({})


def seen_of(
    answer: Any,
    target: Any,
    *,
    form: AnswerForm,
    decoder: Any,
    metric: Any,
    failure: Any = None,
    choices: tuple[str, ...] = (),
    judge: Judge | None = None,
    replies: Mapping[str, str | None] | Callable[[Question], str | None] = NO_REPLIES,
    knows_decoder: bool = True,
    **fields: str,
) -> Seen:
    scene = Scene(image=PICTURE, size=(4, 5), choices=choices)
    sample = Sample(id="a", group="a", images=(PICTURE,), target=target, fields=fields)
    line: dict[str, Any] = {"status": "ok"}
    lines: list[dict[str, Any]] = []
    substitute = False
    try:
        decoded = decoder.decode(answer, scene)
    except Undecodable as exc:
        line = {"status": "undecodable", "reason": exc.what}
        decoded, substitute = failure.decode(None, scene), True
    judged: Prediction = decoded
    if judge is not None and not substitute:
        case = Case(
            sample="a", attempt=0, prediction=decoded, scene=scene, images=(PICTURE,),
            target=target, fields=fields,
        )  # fmt: skip
        judged, asked = drive(judge, case, replies)
        told = replies if callable(replies) else lambda question: replies[question.name]
        lines = [line_of(question, told(question)) for turn in asked for question in turn]
        summary: Mapping[str, Any] = {"answer": decoded.summary, **judged.summary}
    else:
        summary = decoded.summary
    found = metric.update(judged.value, target, None)
    line |= {
        "prediction": dict(summary),
        "substitute": substitute,
        "statistics": {"metric": found},
        "values": dict(metric.compute(found)),
        "flags": [*decoded.flags],
    }
    return Seen(
        sample=sample, scene=scene, form=form, answer=answer, prediction=decoded,
        substitute=substitute, score=line, metrics={"metric": metric}, judgements=lines,
        decoder=decoder if knows_decoder else None,
    )  # fmt: skip


def line_of(question: Question, reply: str | None) -> dict[str, Any]:
    """As `judgements.jsonl` has it."""
    shown = [
        {"image": part.sha256, "size": [part.height, part.width]}
        if isinstance(part, Image)
        else part
        for part in question.parts
    ]
    line = {"question": question.name, "round": question.round, "asked": shown}
    return {**line, **({"reason": "gone"} if reply is None else {"reply": reply})}


def pane(panes: Sequence[Pane], title: str) -> Pane:
    (found,) = [each for each in panes if each.title == title]
    return found


def bars(panes: Sequence[Pane], title: str) -> Bars:
    body = pane(panes, title).body
    assert isinstance(body, Bars)
    return body


def facts(panes: Sequence[Pane], title: str) -> dict[str, str]:
    body = pane(panes, title).body
    assert isinstance(body, Words)
    assert len(dict(body.facts)) == len(body.facts)
    return dict(body.facts)


def text(panes: Sequence[Pane], title: str) -> str:
    body = pane(panes, title).body
    assert isinstance(body, Words)
    return body.text
