"""What comes with an answer: flags, words, thinking, drafts, names; each where it belongs."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kit
import numpy as np
import PIL.Image
import pytest
from toybench.parts import Teller, picture_of
from vgen_eval import Output, Refused, Request

Give = Callable[[Request], dict[str, Any]]


def png(level: int) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(np.full((4, 4, 3), level, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def saying(monkeypatch: pytest.MonkeyPatch, give: Give) -> None:
    """Makes the teller give outputs of these fields."""

    def generate(self: Any, requests: Any) -> Any:
        for request in requests:
            self.asked.append((request.sample, request.attempt))
            yield Output(**{"id": request.id, "answer": "1", **give(request)})

    monkeypatch.setattr(Teller, "generate", generate)


def run(toys: Path, **more: Any) -> tuple[list[Any], list[Any], Any]:
    """Prediction lines and score lines by sample, and the card."""
    more.setdefault("tasks", kit.task(toys, name="three", n=3))
    more.setdefault("model", kit.model(toys, name="teller3"))
    card = kit.run(toys, **more)
    by_sample = [sorted(found, key=lambda line: line["sample"]) for found in
                 (kit.predictions(toys, card), kit.scores(toys, card))]  # fmt: skip
    return by_sample[0], by_sample[1], card


def test_flags_of_the_model_join_those_of_its_decoder_and_count(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saying(monkeypatch, lambda _: {"answer": "10", "flags": ("thought_image_used", "round")})
    lines, scores, card = run(toys)
    assert lines[0]["flags"] == ["thought_image_used", "round"]
    assert scores[0]["flags"] == ["thought_image_used", "round"]
    assert card.counts.flags == {"round": 3, "thought_image_used": 3}


def test_flags_go_with_an_answer_that_is_taken_from_another_run(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saying(monkeypatch, lambda _: {"flags": ("draft_used",)})
    first = run(toys)[2]
    kit.asked()
    more = {"metrics": [{"name": "toybench:error"}], "failure_options": {"number": 3.0}}
    task = kit.task(toys, name="again", n=3, protocol=more, per_group=2)
    lines, scores, card = run(toys, tasks=task)
    assert kit.asked() == []
    assert card.run != first.run
    assert [line["volatile"]["cached"] for line in lines] == [first.run] * 3
    assert all(line["flags"] == ["draft_used"] for line in lines)
    assert all("draft_used" in score["flags"] for score in scores)


@pytest.mark.parametrize(
    ("given", "flags"), [("one", ["one"]), (["a", "a", 7], ["a", "7"]), ((), None), (None, None)]
)
def test_odd_flags_are_words(
    toys: Path, monkeypatch: pytest.MonkeyPatch, given: Any, flags: Any
) -> None:
    saying(monkeypatch, lambda _: {"flags": given})
    assert run(toys)[0][0].get("flags") == flags


def test_words_in_the_place_of_an_answer_are_kept_with_the_providers_reason(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"answer": None, "text": "I would rather not", "reason": "NO_IMAGE"}
    saying(monkeypatch, lambda _: said)
    lines, scores, card = run(toys)
    assert (lines[0]["status"], lines[0]["reason"]) == ("no_answer", "NO_IMAGE")
    assert lines[0]["text"] == "I would rather not"
    assert (scores[0]["status"], scores[0]["reason"]) == ("no_answer", "NO_IMAGE")
    assert card.counts.statuses == {"no_answer": 3}
    assert "text" not in lines[0]["volatile"]


def test_an_answer_that_is_missing_without_a_word_has_the_plain_reason(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saying(monkeypatch, lambda _: {"answer": None})
    assert run(toys)[0][0]["reason"] == "the model gave nothing"


def test_what_comes_beside_an_answer_may_differ_between_equal_runs(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = 0

    def give(_request: Request) -> dict[str, Any]:
        nonlocal number
        number += 1
        return {
            "text": f"here it is, {number}", "thinking": f"hm \ud800 {number}",
            "request_id": f"r{number}", "reported_model": "m-2",
            "reported_date": f"2026-01-0{number % 2 + 1}T12:00:0{number}Z",
            "pictures": (png(number),),
        }  # fmt: skip

    saying(monkeypatch, give)
    lines, _, first = run(toys)
    volatile = {line["volatile"]["request_id"]: line["volatile"] for line in lines}["r1"]
    assert volatile["text"] == "here it is, 1"
    assert volatile["thinking"] == "hm ? 1"
    assert volatile["reported_date"] == "2026-01-02T12:00:01Z"
    assert first.volatile["reported_models"] == [{"model": "m-2", "answers": 3}]
    assert first.volatile["reported_dates"] == [
        {"date": "2026-01-01", "answers": 1}, {"date": "2026-01-02", "answers": 2},
    ]  # fmt: skip
    second = run(toys, fresh=True)[2]
    assert second.content_digest == first.content_digest


@pytest.mark.parametrize(
    ("keep", "kept"), [("all", {"s000", "s001"}), ("failed", {"s001"}), ("none", set())]
)
def test_pictures_on_the_way_are_files_that_obey_keep(
    toys: Path, monkeypatch: pytest.MonkeyPatch, keep: str, kept: set[str]
) -> None:
    def give(request: Request) -> dict[str, Any]:
        number = int(request.sample[1:])
        # sample 1 answers what cannot be read as a number of its picture
        answer = picture_of(number) if number != 1 else b"no picture"
        return {"answer": answer, "pictures": [png(100 + number), png(200 + number)]}

    saying(monkeypatch, give)
    task = kit.task(toys, n=2, protocol={"answers": [kit.IMAGE]})
    model = kit.model(toys, card={"answers": ["image"]})
    lines, _, card = run(toys, tasks=task, model=model, keep=keep)
    outputs = kit.run_folder(toys, card) / "outputs"
    for line in lines:
        pictures = line["volatile"]["pictures"]
        assert len(pictures) == 2
        number = int(line["sample"][1:])
        there = [(outputs / entry["file"]).exists() for entry in pictures]
        assert there == [line["sample"] in kept] * 2
        if all(there):
            assert (outputs / pictures[0]["file"]).read_bytes() == png(100 + number)


@pytest.mark.parametrize(
    "picture", [b"text", b"", None, "a picture", np.zeros((2, 2)), object(), 7, b"\0\0\0 ftypisom"]
)
def test_evidence_that_is_no_picture_is_passed_over_with_a_word(
    toys: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, picture: Any
) -> None:
    saying(monkeypatch, lambda _: {"pictures": (picture, png(5))})
    with caplog.at_level(logging.WARNING):
        lines, _, card = run(toys)
    assert card.counts.statuses == {"ok": 3}
    assert len(lines[0]["volatile"]["pictures"]) == 1
    assert "a picture beside the answer is passed over" in caplog.text


def test_a_single_picture_needs_no_list(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, lambda _: {"pictures": np.zeros((2, 2, 3), np.uint8)})
    assert len(run(toys)[0][0]["volatile"]["pictures"]) == 1


def test_no_key_that_a_service_repeats_is_kept(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-planted-evidence-0123456789"
    monkeypatch.setenv("TOY_KEY", key)

    def give(request: Request) -> dict[str, Any]:
        if request.sample == "s002":
            raise Refused(f"the key {key} " + "x" * 470 + key)
        said = f"you are {key}"
        answer = None if request.sample == "s001" else said
        return {
            "answer": answer, "text": said, "thinking": said, "reason": said, "flags": (said,),
            "request_id": said, "reported_model": said, "reported_date": said,
        }  # fmt: skip

    saying(monkeypatch, give)
    card = kit.model(toys, card={"needs": {"key_env": "TOY_KEY"}})
    lines, _, _ = run(toys, model=card)
    assert lines[1]["text"] == "you are [TOY_KEY]"
    for path in (toys / "out").rglob("*"):
        text = path.read_bytes() if path.is_file() else b""
        assert key.encode() not in text
        assert key[:16].encode() not in text


@pytest.mark.parametrize("resumed", [False, True])
def test_bytes_that_a_failed_attempt_keeps_are_not_deleted_with_a_good_one_that_shares_them(
    toys: Path, monkeypatch: pytest.MonkeyPatch, resumed: bool
) -> None:
    def give(request: Request) -> dict[str, Any]:
        answer = b"no picture" if request.sample == "s000" else picture_of(7)
        return {"answer": answer, "pictures": [png(9)]}  # the same beside each

    saying(monkeypatch, give)
    task = kit.task(toys, n=4, protocol={"answers": [kit.IMAGE]})
    arguments = {"tasks": task, "model": kit.model(toys, card={"answers": ["image"]})}
    lines, _, card = run(toys, **arguments, keep="failed", workers=1)
    folder = kit.run_folder(toys, card)
    if resumed:  # as if it had ended after the first sample
        for path in (folder / "predictions.jsonl", *(folder / "scores").glob("*.jsonl")):
            kept = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(next(line for line in kept if b'"s000"' in line))
        lines, _, _ = run(toys, **arguments, keep="failed", workers=1)
    assert len(lines) == 4
    wanted = {lines[0]["volatile"]["pictures"][0]["file"]}
    wanted |= {lines[0]["answer"]["file"]} if "answer" in lines[0] else set()
    assert {path.name for path in (folder / "outputs").iterdir()} == wanted
