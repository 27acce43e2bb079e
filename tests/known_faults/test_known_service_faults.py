"""Replies of services that public tools got wrong: through the adapter, the engine and a run."""

from __future__ import annotations

import base64
import email.utils
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import MASK, picture, write_task
from vgen_eval import evaluate
from vgen_eval.cards.records import Limits
from vgen_eval.engine.limits import MAX_WAIT_S, asked_wait
from vgen_eval.errors import RateLimited
from vgen_eval.imaging import Image, decode_image
from vgen_eval.remote import retry_after
from vgen_eval.types import Request
from vgen_eval_plugins.standins.gemini import IMAGE_MODEL, GeminiService
from vgen_eval_plugins.standins.server import status

pytest.importorskip("google.genai")

GREEN, RED = (0, 255, 0), (255, 0, 0)


@pytest.fixture(scope="module")
def running() -> Iterator[GeminiService]:
    with GeminiService() as service:
        yield service


@pytest.fixture
def service(running: GeminiService) -> Iterator[GeminiService]:
    running.seen.clear()
    yield running
    assert running.unmet == 0


class Run:
    """One sample, whose truth is all of an 8x8 picture, asked of the service."""

    def __init__(self, folder: Path, service: GeminiService) -> None:
        self._folder = folder
        self._service = service
        self._task = write_task(
            folder, MASK, {"a.png": picture(np.full((8, 8), 255, np.uint8))}, size=(8, 8),
            answer={"form": "image", "decoder": "binary_mask"},
        )  # fmt: skip

    def ask(self, body: Mapping[str, Any] | None = None, **settings: Any) -> Mapping[str, Any]:
        """The line of the attempt that the body came to; without one the stand-in answers."""
        if body is not None:
            self._service.order(status(200, body=body))
        evaluate(
            tasks=self._task, model="gemini", bounds=False, answer="image",
            model_args={"model": IMAGE_MODEL, "base_url": self._service.url},
            output=str(self._folder / "results"), **settings,
        )  # fmt: skip
        (self.run,) = [path.parent for path in self._folder.rglob("result_card.json")]
        *_, line = (self.run / "predictions.jsonl").read_text().splitlines()
        return dict(json.loads(line))

    def colours(self, line: Mapping[str, Any]) -> set[tuple[int, ...]]:
        """Those of the answer's pixels."""
        (path,) = self.run.rglob(f"*{line['answer']['sha256']}*")
        pixels = decode_image(path.read_bytes(), what=path.name)
        return {tuple(map(int, pixel)) for pixel in pixels.reshape(-1, 3)}


@pytest.fixture
def run(tmp_path: Path, service: GeminiService) -> Run:
    return Run(tmp_path, service)


def part(colour: tuple[int, int, int], *, mime: str = "image/png", **more: Any) -> dict[str, Any]:
    """A part with a PNG of 8x8 pixels of that colour."""
    data = base64.b64encode(picture(np.full((8, 8, 3), colour, np.uint8))).decode()
    return {**more, "inlineData": {"mimeType": mime, "data": data}}


# --- words, nothing, no candidate -------------------------------------------------------------


def test_words_in_place_of_a_picture_are_no_answer_kept_and_asked_again_on_request(
    run: Run, service: GeminiService
) -> None:
    """https://github.com/gavrielc/Nano-PDF/issues/2"""
    words = "Here is how I would draw it..."
    content = {"role": "model", "parts": [{"text": words}]}
    line = run.ask({"candidates": [{"content": content, "finishReason": "STOP"}]})
    assert (line["status"], line["reason"], line["text"]) == ("no_answer", "STOP", words)
    assert run.ask(retry_failed=("no_answer",))["status"] == "ok"
    assert len(service.seen) == 2


def test_parts_that_are_null_are_no_answer_with_the_finish_reason(run: Run) -> None:
    """https://github.com/gavrielc/Nano-PDF/issues/2"""
    content = {"role": "model", "parts": None}
    line = run.ask({"candidates": [{"content": content, "finishReason": "NO_IMAGE"}]})
    assert (line["status"], line["reason"]) == ("no_answer", "NO_IMAGE")


def test_a_reply_without_candidates_is_refused_with_the_block_reason(run: Run) -> None:
    """https://github.com/gavrielc/Nano-PDF/issues/2"""
    line = run.ask({"promptFeedback": {"blockReason": "OTHER"}})
    assert (line["status"], line["reason"]) == ("refused", "OTHER")


# --- drafts among thoughts -------------------------------------------------------------


def test_a_draft_among_the_thoughts_is_not_the_answer(run: Run) -> None:
    """https://github.com/Lixpi/lixpi/issues/135"""
    parts = [part(RED, thought=True), {"text": "ok"}, part(GREEN)]
    line = run.ask({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
    assert (line["status"], line.get("flags", [])) == ("ok", [])
    assert run.colours(line) == {GREEN}


def test_an_only_picture_counts_though_a_thought_under_a_wrong_type(run: Run) -> None:
    """https://github.com/Lixpi/lixpi/issues/135"""
    parts = [part(GREEN, mime="image/jpeg", thought=True)]
    line = run.ask({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
    assert (line["status"], line["flags"]) == ("ok", ["thought_image_used"])
    assert run.colours(line) == {GREEN}


# --- Retry-After in every form -------------------------------------------------------------

NOW = email.utils.parsedate_to_datetime("Wed, 09 Sep 2026 12:00:00 GMT").timestamp()
HEADERS: tuple[tuple[dict[str, str], float | None], ...] = (
    ({"retry-after": "5"}, 5),
    ({"Retry-After": "Wed, 09 Sep 2026 12:00:59 GMT"}, 59),
    ({"retry-after-ms": "4321"}, 4.321),
    ({"retry-after": "Wed, 09 Sep 2026 11:00:00 GMT"}, 0),
    ({"retry-after": "-7"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "86400"}, 120),
    ({}, None),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after": "nan"}, None),
)
"""Headers -> seconds that are waited; None: as after any fault."""


@pytest.mark.parametrize(("headers", "seconds"), HEADERS)
def test_a_service_is_given_the_time_that_it_asks_for_and_two_minutes_at_most(
    headers: dict[str, str], seconds: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    """https://github.com/interviewstreet/hiring-agent/issues/386"""
    waited = asked_wait(RateLimited("slow", retry_after=retry_after(headers, now=NOW)))
    assert waited == (None if seconds is None else pytest.approx(seconds, abs=0.01))
    assert ("cut to 120 s" in caplog.text) == (headers.get("retry-after") == "86400")


@pytest.mark.parametrize(("headers", "seconds"), HEADERS)
def test_the_wait_that_a_service_asks_for_comes_through_the_adapter(
    headers: dict[str, str], seconds: float | None, service: GeminiService
) -> None:
    """https://github.com/interviewstreet/hiring-agent/issues/386"""
    from vgen_eval_plugins.models.gemini.adapter import Gemini

    adapter = Gemini(Gemini.Options(model=IMAGE_MODEL, base_url=service.url))
    adapter.load()
    service.order(status(429, headers=headers))
    request = Request(
        id="a#0", sample="a", attempt=0, family="referring", form="image", prompt="Paint.",
        images=(Image(np.zeros((8, 8, 3), np.uint8)),),
    )  # fmt: skip
    with pytest.raises(RateLimited) as caught:
        list(adapter.generate([request]))
    adapter.close()
    if any(text.endswith("GMT") for text in headers.values()):  # dates hang on the day
        seconds = retry_after(headers)
        assert seconds is not None
        seconds = min(seconds, MAX_WAIT_S)
    waited = asked_wait(caught.value)
    assert waited == (None if seconds is None else pytest.approx(seconds, abs=1))
    assert len(service.seen) == 1, "the SDK does not try again by itself"


def test_the_waits_of_an_attempt_are_bounded() -> None:
    """https://github.com/interviewstreet/hiring-agent/issues/386"""
    waits = [asked_wait(RateLimited("slow", retry_after=wait)) for wait in (1e4, 1e9, 86400)]
    assert waits == [MAX_WAIT_S] * 3
    assert (Limits().tries - 1) * MAX_WAIT_S == 480
