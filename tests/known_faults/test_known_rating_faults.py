"""Ratings that public tools got wrong: of words, judges and measures, and how they correlate."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import Scored, picture, read_run, write_model
from linekit import SCORE, score_lines, write_line_task
from numpy.typing import NDArray
from vgen_eval import evaluate
from vgen_eval_plugins.standins.openai import OpenAIService
from vgen_eval_plugins.standins.server import status

RGB = NDArray[np.uint8]


# --- probabilities of words ---------------------------------------------------------------

YES_NO = {
    "form": "choice", "prompt": {"mid": "Is it good?"}, "prefix": "It is", "choices": ["yes", "no"],
    "choice_scoring": "next_token", "decoder": "word_probability",
    "options": {
        "positive": ["yes"], "negative": ["no"], "temperature": 1, "combine": "sum_exp",
        "values": "logprob", "least_mass": 0.001,
    },
}  # fmt: skip
FILLER = ("", -9999.0)
"""What a service puts where it has no more tokens to tell of."""


@pytest.fixture(scope="module")
def service() -> Iterator[OpenAIService]:
    pytest.importorskip("openai")
    with OpenAIService() as running:
        yield running
        assert running.unmet == 0


def ask(folder: Path, service: OpenAIService, tokens: Sequence[tuple[str, float]]) -> Scored:
    """One sample, answered by a service with these likeliest tokens and log-probabilities."""
    top = [{"token": token, "logprob": value, "bytes": None} for token, value in tokens]
    choice = {
        "index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": tokens[0][0]},
        "logprobs": {"content": [{**top[0], "top_logprobs": top}]},
    }  # fmt: skip
    body = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000,
        "model": "tiny-vision", "choices": [choice],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }  # fmt: skip
    service.order(status(200, body=body))
    (card,) = evaluate(
        tasks=write_line_task(folder, SCORE, {"a": {"score": 3}}, answer=YES_NO),
        model=write_model(
            folder, "speller", adapter="openai_compatible", answers=["choice"],
            options={"model": "tiny-vision", "base_url": f"{service.url}/v1"},
        ),
        allow_host=(service.host,), output=str(folder / "results"), bounds=False,
    )  # fmt: skip
    return read_run(folder / "results", card)


def test_a_word_beyond_the_likeliest_leaves_a_doubt_and_no_certainty(
    tmp_path: Path, service: OpenAIService
) -> None:
    """https://github.com/ollama/ollama/issues/18579"""
    tokens = [("Yes", math.log(0.6)), (" yes", math.log(0.1)), ("So", math.log(0.05)),
              ("The", math.log(0.05)), FILLER]  # fmt: skip
    run = ask(tmp_path, service, tokens)
    assert run.status() == "ok"
    assert "incomplete_candidates" in run.flags()
    told = run.summary()
    assert told["mass"] == pytest.approx([0.7, 0.0], abs=1e-4)  # both spellings
    assert told["unlisted_mass"] == pytest.approx(0.2, abs=1e-4)
    assert told["p_interval"] == pytest.approx([0.777778, 1.0], abs=1e-4)
    assert told["missing"] == ["no"]
    assert 0.777778 < told["quality"] < 1.0
    assert run.card.counts.flags["incomplete_candidates"] == 1


def test_a_reply_that_begins_with_prose_has_no_score_and_is_no_low_one(
    tmp_path: Path, service: OpenAIService
) -> None:
    """https://github.com/linzhiqiu/t2v_metrics/issues/41"""
    prose = [("So", -0.5762534290884459), ("Got", -0.8257647051747844),
             ("Okay", -9.944309547056383)]  # fmt: skip
    words = [("Yes", math.log(2e-6)), ("No", math.log(1e-6))]
    run = ask(tmp_path, service, [*prose, *words])
    assert run.status() == "undecodable"
    assert run.lines["a"]["reason"].startswith("answer_token_absent: yes, no hold 3e-06 of ")
    assert run.summary() == {"quality": None}
    assert run.value() is None


# --- judges' marks ------------------------------------------------------------------------

MARKS: Mapping[str, tuple[str, int | None]] = {
    "chelsea-blur": ("Score: 2/2", 2),
    "astronaut-noise": ("**FINAL VERDICT IS: 1**", 1),
    "coffee-jpeg": ("I cannot rate this video.", None),
    "chelsea-dark": ('{"score": 9}', None),
    "coffee-contrast": ("1 out of 10", None),
}
"""Sample -> a judge's reply on a scale from 0 to 2, and the mark that it gives."""


def test_a_reply_of_a_judge_that_cannot_be_read_is_an_error_and_no_lowest_mark(
    tmp_path: Path,
) -> None:
    """https://github.com/NVIDIA-NeMo/Evaluator/pull/1094"""
    rules = [
        {"sample": sample, "question": "completeness/*", "reply": reply}
        for sample, (reply, _) in MARKS.items()
    ]
    rules.append({"question": "*", "reply": "Score: 2"})
    judge = write_model(
        tmp_path, "marker", adapter="scripted", role="judge", answers=["text"],
        options={"rules": rules},
    )  # fmt: skip

    def judged() -> Scored:
        (card,) = evaluate(
            tasks="samples/description", model=lambda request: "It is blurry.", forms=["text"],
            judge=judge, samples=tuple(MARKS), output=str(tmp_path / "results"), bounds=False,
            set={"protocol.answers[0].judge.options.re_asks": 0},
        )  # fmt: skip
        return read_run(tmp_path / "results", card)

    run = judged()
    assert {
        name: line["prediction"].get("completeness") if line["status"] == "ok" else None
        for name, line in run.lines.items()
    } == {name: mark for name, (_, mark) in MARKS.items()}
    assert run.card.counts.statuses == {"ok": 2, "judge_error": 3}
    assert run.value("completeness") == 1.5  # the mean of 2 and 1; with noughts it were .6
    assert run.card.score("completeness").n == 2
    assert not run.card.complete
    again = judged()
    assert again.card.content_digest == run.card.content_digest
    assert again.lines == run.lines


# --- measures of pictures -----------------------------------------------------------------

WORDS = {
    "form": "choice", "prompt": {"mid": "How good is it?"}, "choices": ["good", "poor"],
    "choice_scoring": "next_token", "decoder": "word_probability",
}  # fmt: skip


def measure(folder: Path, model: str, shown: Mapping[str, Sequence[Any]]) -> Scored:
    """What a measure says of each sample's pictures, which people scored 1, 2, 3, ..."""
    files = {
        f"{sample}-{at}.png": picture(each)
        for sample, pictures in shown.items()
        for at, each in enumerate(pictures)
    }
    truths = {
        sample: {"score": score, "images": [f"{sample}-{at}.png" for at in range(len(pictures))]}
        for score, (sample, pictures) in enumerate(shown.items(), 1)
    }
    (card,) = evaluate(
        tasks=write_line_task(folder, SCORE, truths, files=files, answer=WORDS), model=model,
        output=str(folder / "results"), bounds=False,
    )  # fmt: skip
    return read_run(folder / "results", card)


def noisy(side: int) -> RGB:
    """uint8 (side, side): a ramp with noise on it, as no smooth picture is."""
    ramp = np.linspace(0, 200, side)[None, :] + np.linspace(0, 20, side)[:, None]
    noise = np.random.default_rng(60).normal(0, 25, (side, side))
    return np.clip(np.rint(ramp + noise), 0, 255).astype(np.uint8)


def test_a_measure_says_the_same_of_the_same_pixels_and_nothing_of_what_it_cannot(
    tmp_path: Path,
) -> None:
    """https://github.com/chaofengc/IQA-PyTorch/issues/77"""
    grey = noisy(192)
    colour = np.stack([grey] * 3, axis=2)
    opaque = np.dstack([colour, np.full_like(grey, 255)])
    flat = np.full((192, 192, 3), 230, np.uint8)
    shown = {"rgb": colour, "grey": grey, "rgba": opaque, "tiny": grey[:8, :8], "flat": flat}
    run = measure(tmp_path, "niqe", {name: [each] for name, each in shown.items()})
    same = [run.summary(name)["difference"] for name in ("rgb", "grey", "rgba")]
    assert same == pytest.approx([same[0]] * 3, rel=1e-5)
    assert run.card.counts.statuses == {"ok": 3, "no_answer": 2}
    assert run.reasons["tiny"] == "NIQE wants two patches of 96 pixels, 8x8 holds 0"
    assert run.reasons["flat"] == "the picture is flat: NIQE has no statistics of it"
    score = run.card.score()
    assert score.value is None
    assert (score.reason or "").startswith("no_substitute: 2 of 5 pictures")
    assert all("nan" not in json.dumps(line).lower() for line in run.lines.values())


def test_psnr_is_of_whole_numbers_and_of_identical_pictures_a_number(tmp_path: Path) -> None:
    """https://github.com/Lightning-AI/torchmetrics/issues/2787"""
    a, b = np.random.default_rng(13340).integers(0, 256, (2, 20, 30, 3), dtype=np.uint8)
    wrapped = ((a - b) * (a - b)).mean()
    assert 10 * math.log10(255**2 / wrapped) == pytest.approx(27.97, abs=0.01)
    run = measure(tmp_path, "psnr", {"ab": [a, b], "aa": [a, a], "ba": [b, a]})
    assert run.card.counts.statuses == {"ok": 3}
    psnr = {name: 30 + 5 * run.summary(name)["difference"] for name in run.lines}
    assert psnr == pytest.approx({"ab": 7.852441, "ba": 7.852441, "aa": 100.0}, abs=1e-3)
    # both low ones beside the high one in the middle: an infinity would leave no correlation
    assert run.number("plcc") == pytest.approx(0.0, abs=1e-9)


# --- correlations -------------------------------------------------------------------------


def correlate(folder: Path, ratings: Sequence[int], opinions: Sequence[int]) -> Scored:
    """The ratings as answers in words, beside what people said."""
    names = [f"r{at}" for at in range(len(ratings))]
    truths = {name: {"score": score} for name, score in zip(names, opinions, strict=True)}
    said = {name: f"{rating}" for name, rating in zip(names, ratings, strict=True)}
    run = score_lines(folder, SCORE, truths, said)
    assert run.card.counts.statuses == {"ok": len(ratings)}
    return run


@pytest.mark.parametrize("metric", ["srcc", "plcc"])
@pytest.mark.parametrize(
    ("ratings", "opinions", "reason"),
    [
        ([3] * 8, [1, 2, 3, 4, 5, 4, 3, 2], "constant_input: every prediction is the same"),
        ([1, 2], [2, 1], "too_few_samples: 2 of 3 pairs at least"),
    ],
)
def test_a_correlation_that_is_none_is_null_with_its_reason(
    tmp_path: Path, ratings: list[int], opinions: list[int], reason: str, metric: str
) -> None:
    """https://github.com/scipy/scipy/issues/11111"""
    run = correlate(tmp_path, ratings, opinions)
    assert run.value(metric) is None  # in a file that is strict JSON
    assert run.card.score(metric).reason == reason
    assert reason.partition(":")[0] in run.report
