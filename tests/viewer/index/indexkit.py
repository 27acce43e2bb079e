"""Runs as the harness leaves them, made up; and what an index should say of them, the plain way."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.results.card import Counts, ResultCard, Score
from vgen_eval.statistics import Interval
from vgen_eval.types import STATUS_GROUP

DIGEST = "abcdef0123456789"
STATUSES = ("ok", "refused", "undecodable", "error", "no_valid_target", "judge_error")

Line = dict[str, Any]


def record_of(ids: Sequence[str], **more: Any) -> dict[str, Any]:
    """A run.json with everything that a run is read by."""
    record = {
        "schema": 1, "run": "feedc0ffee12", "task": "toys/depth@standard",
        "model": "vgen-eval:painter", "answer": "image",
        "prompt": {"variant": "mid", "text": "Paint it."},
        "selection": {}, "attempts": 1, "samples": list(ids),
        "identity": {
            "task": {
                "task": "vgen-eval:toys/depth", "data": "0" * 64,
                "protocol": {"metrics": [{"name": "toy"}], "primary": "good"},
            },
        },
        "model_identity": {"adapter": "vgen-eval:blind", "adapter_version": "1", "card": {}},
        "score_digest": DIGEST,
        "cards": {"task": {"family": "depth"}, "model": {"model": "painter", "role": "model"}},
        "settings": {"set": {}, "data_root": None},
        "created": "2026-01-02T03:04:05Z",
    }  # fmt: skip
    return {**record, **more}


def prediction(sample: str, attempt: int = 0, status: str = "ok", **more: Any) -> Line:
    """A line of predictions.jsonl."""
    return {"sample": sample, "attempt": attempt, "form": "image", "status": status, **more}


def score(
    sample: str, values: Mapping[str, float | None] | None = None, attempt: int = 0,
    status: str = "ok", **more: Any,
) -> Line:  # fmt: skip
    """A line of scores/<digest>.jsonl."""
    line: Line = {"sample": sample, "attempt": attempt, "of": f"{status}:", "status": status}
    if values is not None:
        line |= {"substitute": False, "statistics": {"toy": {"n": 1}}, "values": dict(values)}
    return {**line, **more}


def text(lines: Iterable[Line]) -> str:
    """Lines as a journal holds them."""
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def card_of(
    lines: Iterable[Line], *, value: float | None = 0.5, primary: str = "good",
    higher_is_better: bool = True, expected: int | None = None, unit: str = "",
) -> dict[str, Any]:  # fmt: skip
    """The result card of these score lines."""
    current = {(line["sample"], line["attempt"]): line["status"] for line in lines}
    statuses: dict[str, int] = {}
    groups = dict.fromkeys(("answered", "model_failure", "infrastructure", "data_fault"), 0)
    for status in current.values():
        statuses[status] = statuses.get(status, 0) + 1
        groups[STATUS_GROUP[status]] += 1
    wanted = len(current) if expected is None else expected
    counts = Counts(
        expected=wanted, not_run=wanted - len(current), statuses=statuses, flags={},
        failure_value="skip", **groups,
    )  # fmt: skip
    number = Score(
        metric=primary, aggregation="mean", selection="mean", subset="all", value=value,
        ci95=Interval(low=0.25, high=0.75, clusters=9), n=len(current),
        higher_is_better=higher_is_better, unit=unit,
    )  # fmt: skip
    card = ResultCard(
        run="runs/x", complete=counts.not_run == 0 and counts.infrastructure == 0,
        task="toys/depth", protocol="standard", model="painter", answer="image", prompt="mid",
        primary=primary, counts=counts, scores=(number,), content_digest="0" * 64, task_info={},
        protocol_info={"score_digest": DIGEST}, model_info={}, dataset_info={}, selection={},
        plugins=(), versions={}, hardware={}, volatile={},
    )  # fmt: skip
    found: dict[str, Any] = msgspec.to_builtins(card)
    return found


def write_run(
    folder: Path, record: Mapping[str, Any], *, items: Iterable[Line] | None = None,
    predictions: Iterable[Line] | None = None, scores: Sequence[Line] | None = None,
    card: Mapping[str, Any] | None = None,
) -> Path:  # fmt: skip
    """The files of a run; its predictions are those that were scored where none are given."""
    if predictions is None:
        asked = [(line["sample"], line["attempt"], line["status"]) for line in scores or ()]
        predictions = [prediction(*one) for one in asked]
    (folder / "scores").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(record, indent=2))
    if items is not None:
        (folder / "samples.jsonl").write_text(text(items))
    (folder / "predictions.jsonl").write_text(text(predictions))
    if scores is not None:
        (folder / "scores" / f"{record['score_digest']}.jsonl").write_text(text(scores))
    if card is not None:
        (folder / "result_card.json").write_text(json.dumps(card))
    return folder


class Drawn:
    """A run of random lines, and what its samples come to."""

    def __init__(self, seed: int, *, samples: int = 150, attempts: int = 1) -> None:
        self.random = random.Random(seed)
        self.attempts = attempts
        self.ids = [f"im{at:03}-{self.random.choice('AbÄ')}" for at in range(samples)]
        self.items = [
            {
                "id": name,
                "group": f"g{at // 3}",
                "tags": {
                    "place": self.random.choice(("in", "out", 'a "b", c')),
                    "k=v": self.random.choice(("x", "y=z")),
                },
            }
            for at, name in enumerate(self.ids)
        ]
        self.predictions = [self._line(prediction) for _ in range(int(1.4 * samples * attempts))]
        self.scores = [self._score() for _ in range(int(1.2 * samples * attempts))]

    def _line(self, make: Any, **more: Any) -> Line:
        status = self.random.choice(STATUSES)
        if self.random.random() < 0.3:
            more["reason"] = f"because {self.random.randrange(5)}"
        elif make is prediction and self.random.random() < 0.5:
            more["volatile"] = {"reason": "of the moment", "seconds": 0.25}
        name = self.random.choice([*self.ids, "not of this run"])
        attempt = self.random.randrange(self.attempts + (self.random.random() < 0.02))
        line: Line = make(name, attempt=attempt, status=status, **more)
        return line

    def _score(self) -> Line:
        # few different numbers: there are ties
        numbers = [None, 0.0, 0.25, 0.5, 1.0, -2.0, 7.5]
        values = {name: self.random.choice(numbers) for name in ("bad", "good", "ugly")}
        if self.random.random() < 0.1:
            del values["ugly"]
        flags = self.random.sample(["flat", "gray", ","], k=self.random.randrange(3))
        more: Line = {"flags": flags, "substitute": self.random.random() < 0.2}
        if self.random.random() < 0.1:
            more["fault"] = "no_letter"
        if self.random.random() < 0.1:
            return self._line(score)
        return self._line(score, values=values, **more)

    def record(self) -> dict[str, Any]:
        return record_of(self.ids, attempts=self.attempts)

    def expected(self) -> list[dict[str, Any]]:
        """Of each sample, in the run's order: the fields of its row."""
        calls = {(line["sample"], line["attempt"]): line for line in self.predictions}
        marks = {(line["sample"], line["attempt"]): line for line in self.scores}
        rows = []
        for at, item in enumerate(self.items):
            each = []
            for attempt in range(self.attempts):
                key = (item["id"], attempt)
                if key in calls or key in marks:
                    each.append(_attempt(calls.get(key), marks.get(key)))
            rows.append({"at": at, **item, **_sample(each)})
        return rows


def _attempt(call: Line | None, mark: Line | None) -> Line:
    status = (mark or call or {})["status"]
    reason = (mark or {}).get("reason", "")
    if not reason and call is not None and call["status"] == status:
        reason = call.get("reason") or call.get("volatile", {}).get("reason", "")
    flags = [] if mark is None or mark.get("substitute") else mark.get("flags", [])
    flags = [*flags, *([mark["fault"]] if mark and "fault" in mark else [])]
    values = (mark or {}).get("values", {})
    return {"status": status, "reason": reason, "flags": flags, "values": values}


def _sample(each: list[Line]) -> Line:
    states = [part["status"] for part in each]
    if not states:
        status = "not_run"
    elif len(set(states)) == 1:
        status = states[0]
    else:
        status = next(state for state in states if state != "ok")
    reasons = [part["reason"] for part in each if part["status"] == status and part["reason"]]
    flags = list(dict.fromkeys(flag for part in each for flag in part["flags"]))
    values = {}
    for name in ("bad", "good", "ugly"):
        found = [part["values"][name] for part in each if part["values"].get(name) is not None]
        values[name] = sum(found) / len(found) if found else None
    return {
        "status": status,
        "reason": reasons[0] if reasons else "",
        "flags": flags,
        "values": values,
        "score": values["good"],
    }
