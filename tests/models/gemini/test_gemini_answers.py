"""What Gemini's responses come to: pictures, drafts, words, reasons, usage."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import pytest
from gemkit import GREEN, RED, ask, body, make, picture_part, png, request
from vgen_eval.answers import unpack
from vgen_eval.errors import AccessDenied, CallError, Refused
from vgen_eval.types import Usage
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.standins.gemini import IMAGE_MODEL, GeminiService
from vgen_eval_plugins.standins.server import status


def test_words_in_place_of_a_picture_are_kept_with_the_finish_reason(
    service: GeminiService, gemini: Gemini
) -> None:
    service.order(status(200, body=body({"text": "Here is how I would draw it..."})))
    output = ask(gemini, request("image"))
    assert (output.answer, output.reason) == (None, "STOP")
    assert output.text == "Here is how I would draw it..."


def test_null_parts_are_no_answer_with_the_finish_reason(
    service: GeminiService, gemini: Gemini
) -> None:
    candidate = {"content": {"role": "model", "parts": None}, "finishReason": "NO_IMAGE"}
    service.order(status(200, body={"candidates": [candidate]}))
    output = ask(gemini, request("image"))
    assert (output.answer, output.reason, output.text) == (None, "NO_IMAGE", None)


def test_a_blocked_prompt_is_refused_with_the_block_reason(
    service: GeminiService, gemini: Gemini
) -> None:
    service.order(status(200, body={"promptFeedback": {"blockReason": "OTHER"}}))
    with pytest.raises(Refused, match=r"^OTHER$"):
        ask(gemini, request("image"))


def test_the_last_picture_that_is_no_thought_is_the_answer(
    service: GeminiService, gemini: Gemini
) -> None:
    parts = (picture_part(RED, thought=True), {"text": "ok"}, picture_part(GREEN))
    service.order(status(200, body=body(*parts)))
    output = ask(gemini, request("image"))
    assert unpack("image", data=output.answer).reshape(-1, 3).tolist() == [list(GREEN)] * 64
    assert (output.text, output.flags) == ("ok", ())
    assert output.pictures == (png(RED),)


def test_the_only_picture_counts_though_a_thought_and_is_flagged_whatever_its_label(
    service: GeminiService, gemini: Gemini
) -> None:
    part = picture_part(GREEN, mime="image/jpeg", thought=True)
    service.order(status(200, body=body(part)))
    output = ask(gemini, request("image"))
    assert unpack("image", data=output.answer).reshape(-1, 3).tolist() == [list(GREEN)] * 64
    assert output.flags == ("thought_image_used",)
    assert output.pictures == ()


def test_of_several_pictures_the_last_counts_and_the_others_are_evidence(
    service: GeminiService, gemini: Gemini
) -> None:
    blue, white = (0, 0, 255), (255, 255, 255)
    parts = [picture_part(RED), picture_part(blue, thought=True), picture_part(GREEN)]
    parts.append(picture_part(white, thought=True))
    service.order(status(200, body=body(*parts)))
    output = ask(gemini, request("image"))
    assert output.answer == png(GREEN)
    assert output.pictures == (png(blue), png(white), png(RED))
    assert output.usage == Usage(images=2)


def test_several_thought_pictures_give_the_last_and_keep_the_rest(
    service: GeminiService, gemini: Gemini
) -> None:
    parts = (picture_part(RED, thought=True), picture_part(GREEN, thought=True))
    service.order(status(200, body=body(*parts)))
    output = ask(gemini, request("image"))
    assert (output.answer, output.pictures) == (png(GREEN), (png(RED),))
    assert output.flags == ("thought_image_used",)


def test_thought_text_is_kept_apart_from_the_answer(service: GeminiService, gemini: Gemini) -> None:
    parts = ({"text": "Let me count. ", "thought": True}, {"text": "It is "}, {"text": "7."})
    service.order(status(200, body=body(*parts)))
    output = ask(gemini, request("text"))
    assert (output.answer, output.thinking, output.text) == ("It is 7.", "Let me count. ", None)


def test_a_picture_beside_a_text_answer_is_evidence(service: GeminiService, gemini: Gemini) -> None:
    service.order(status(200, body=body({"text": "7"}, picture_part(RED))))
    output = ask(gemini, request("text"))
    assert (output.answer, output.pictures) == ("7", (png(RED),))


@pytest.mark.parametrize(
    "finish",
    ["SAFETY", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "RECITATION", "BLOCKLIST", "SPII",
     "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"],
)  # fmt: skip
def test_a_finish_by_policy_is_refused_with_its_reason_and_its_usage(
    service: GeminiService, gemini: Gemini, finish: str
) -> None:
    answer = body({"text": "partly"}, finish=finish, responseId="abc")
    answer["usageMetadata"] = {"promptTokenCount": 9}
    answer["candidates"][0]["finishMessage"] = "Not this one."
    service.order(status(200, body=answer))
    with pytest.raises(Refused) as caught:
        ask(gemini, request("image"))
    assert str(caught.value) == f"{finish}: Not this one."
    assert caught.value.usage == Usage(input_tokens=9)
    assert caught.value.request_id == "abc"


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "MALFORMED_RESPONSE", "OTHER", "IMAGE_OTHER"])
def test_other_finishes_keep_what_was_answered_so_far(
    service: GeminiService, gemini: Gemini, finish: str
) -> None:
    service.order(status(200, body=body({"text": "It is 1"}, finish=finish)))
    service.order(status(200, body=body(finish=finish)))
    kept = ask(gemini, request("text"))
    assert (kept.answer, kept.reason) == ("It is 1", None)
    assert kept.flags == (("truncated",) if finish == "MAX_TOKENS" else ())
    none = ask(gemini, request("text"))
    assert (none.answer, none.reason) == (None, finish)


@pytest.mark.parametrize("answer", [{}, {"candidates": []}, {"candidates": None}])
def test_no_candidate_and_no_reason_is_no_answer(
    service: GeminiService, gemini: Gemini, answer: dict[str, Any]
) -> None:
    service.order(status(200, body=answer))
    output = ask(gemini, request("image"))
    assert (output.answer, output.reason) == (None, "no candidate")


@pytest.mark.parametrize(
    "answer",
    [
        {"candidates": [None]}, {"candidates": [{}]}, {"candidates": [{"content": None}]},
        {"candidates": [{"content": {"parts": [None, {"inlineData": None}, {"text": None}]}}]},
    ],
)  # fmt: skip
def test_hollow_candidates_are_no_answer(
    service: GeminiService, gemini: Gemini, answer: dict[str, Any]
) -> None:
    service.order(status(200, body=answer))
    output = ask(gemini, request("image"))
    assert (output.answer, output.reason) == (None, "no finish reason")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("!!not base64!!", "not base64"),
        (base64.b64encode(b"<html>no</html>").decode(), "a web page in place of a picture"),
        ("", "an empty file in place of a picture"),
    ],
)
def test_bytes_that_are_no_picture_are_no_answer(
    service: GeminiService, gemini: Gemini, data: str, told: str
) -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": data}}
    service.order(status(200, body=body({"text": "there"}, part)))
    output = ask(gemini, request("image"))
    assert output.answer is None
    assert output.reason is not None
    assert told in output.reason
    assert output.text == "there"


def test_a_suspended_account_ends_the_run(service: GeminiService, gemini: Gemini) -> None:
    service.order(status(200, body=body(finish="PUP_LIMITED_DISABLED")))
    with pytest.raises(AccessDenied, match="PUP_LIMITED_DISABLED"):
        ask(gemini, request("image"))


def test_usage_names_what_was_read_cached_thought_and_drawn(
    service: GeminiService, gemini: Gemini
) -> None:
    answer = body(
        picture_part(GREEN),
        usageMetadata={
            "promptTokenCount": 300, "cachedContentTokenCount": 40, "candidatesTokenCount": 1295,
            "thoughtsTokenCount": 60, "toolUsePromptTokenCount": 7, "totalTokenCount": 1662,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 42},
                                    {"modality": "IMAGE", "tokenCount": 258}],
            "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290},
                                        {"modality": "TEXT", "tokenCount": 5}],
        },
        modelVersion="gemini-x-001", responseId="r-1", createTime="2026-01-02T03:04:05Z",
    )  # fmt: skip
    service.order(status(200, body=answer))
    output = ask(gemini, request("image"))
    assert output.usage == Usage(
        input_tokens=307, cached_tokens=40, input_image_tokens=258, output_tokens=1355,
        thinking_tokens=60, image_tokens=1290, images=1,
    )  # fmt: skip
    assert (output.request_id, output.reported_model) == ("r-1", "gemini-x-001")
    assert output.reported_date == "2026-01-02T03:04:05Z"


def test_usage_without_details_leaves_open_what_is_not_told(
    service: GeminiService, gemini: Gemini
) -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": True, "thoughtsTokenCount": -1}
    service.order(status(200, body=body({"text": "7"}, usageMetadata=usage)))
    assert ask(gemini, request("text")).usage == Usage(input_tokens=5)


TEXT_5 = {"modality": "TEXT", "tokenCount": 5}
IMAGE_1290 = {"modality": "IMAGE", "tokenCount": 1290}


@pytest.mark.parametrize(
    ("details", "pictures"),
    [
        (None, 1295), ([], 1295), ([TEXT_5], 1290), ([TEXT_5, IMAGE_1290], 1290),
        ([TEXT_5, {"modality": "IMAGE"}], 1290), ([{"modality": "TEXT", "tokenCount": 9999}], 0),
    ],
)  # fmt: skip
def test_tokens_of_a_picture_that_are_not_told_apart_are_the_pictures(
    service: GeminiService, gemini: Gemini, details: Any, pictures: int
) -> None:
    usage = {
        "promptTokenCount": 600, "candidatesTokenCount": 1295, "thoughtsTokenCount": 60,
        "candidatesTokensDetails": details,
    }  # fmt: skip
    service.order(
        status(200, body=body({"text": "Here."}, picture_part(GREEN), usageMetadata=usage))
    )
    assert ask(gemini, request("image")).usage == Usage(
        input_tokens=600, output_tokens=1355, thinking_tokens=60, image_tokens=pictures, images=1
    )


def test_tokens_of_words_in_place_of_a_picture_are_no_pictures(
    service: GeminiService, gemini: Gemini
) -> None:
    usage = {"promptTokenCount": 600, "candidatesTokenCount": 20}
    service.order(status(200, body=body({"text": "No."}, usageMetadata=usage)))
    assert ask(gemini, request("image")).usage == Usage(input_tokens=600, output_tokens=20)


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ({"promptTokenCount": 600}, 0),
        ({"promptTokenCount": 600, "totalTokenCount": 600}, 0),
        ({"promptTokenCount": 600, "thoughtsTokenCount": 40, "totalTokenCount": 640}, 40),
    ],
)
def test_a_blocked_prompt_wrote_nothing_beyond_its_thoughts(
    service: GeminiService, gemini: Gemini, told: dict[str, int], written: int
) -> None:
    answer = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": told}
    service.order(status(200, body=answer))
    with pytest.raises(Refused) as caught:
        ask(gemini, request("image"))
    assert caught.value.usage == Usage(
        input_tokens=600, output_tokens=written, thinking_tokens=told.get("thoughtsTokenCount")
    )


def test_a_candidate_without_tokens_in_the_total_wrote_none(
    service: GeminiService, gemini: Gemini
) -> None:
    told = {"promptTokenCount": 600, "toolUsePromptTokenCount": 7}
    service.order(
        status(200, body=body(finish="NO_IMAGE", usageMetadata={**told, "totalTokenCount": 607})),
        status(200, body=body(finish="NO_IMAGE", usageMetadata={**told, "totalTokenCount": 900})),
    )
    assert ask(gemini, request("image")).usage == Usage(input_tokens=607, output_tokens=0)
    assert ask(gemini, request("image")).usage == Usage(input_tokens=607)


def logprobs(*positions: dict[str, float]) -> dict[str, Any]:
    rows = [
        [{"token": token, "logProbability": value} for token, value in position.items()]
        for position in positions
    ]
    return {
        "topCandidates": [{"candidates": row} for row in rows],
        "chosenCandidates": [row[0] for row in rows],
    }


def test_choices_are_summed_over_spellings_of_the_first_word(
    service: GeminiService, gemini: Gemini
) -> None:
    answer = body({"text": " Yes."})
    answer["candidates"][0]["logprobsResult"] = logprobs(
        {" ": 0.0},
        {"Yes": math.log(0.5), " yes": math.log(0.25), "No": math.log(0.125), "Maybe": -9.0},
        {".": 0.0, "no": -0.5},
    )
    service.order(status(200, body=answer))
    output = ask(gemini, request("choice", choices=("yes", "no")))
    assert output.answer == pytest.approx({"yes": math.log(0.75), "no": math.log(0.125)})
    assert (output.text, output.flags) == (" Yes.", ())


def test_choices_that_differ_by_case_alone_are_told_apart(
    service: GeminiService, gemini: Gemini
) -> None:
    answer = body({"text": "A"})
    answer["candidates"][0]["logprobsResult"] = logprobs({"A": -0.5, "a": -1.5})
    service.order(status(200, body=answer))
    output = ask(gemini, request("choice", choices=("A", "a")))
    assert output.answer == {"A": -0.5, "a": -1.5}


def test_a_choice_outside_the_likeliest_tokens_has_no_value_and_is_flagged(
    service: GeminiService, gemini: Gemini
) -> None:
    answer = body({"text": "good"})
    answer["candidates"][0]["logprobsResult"] = logprobs({"good": -0.1, "fair": -3.0})
    service.order(status(200, body=answer), status(200, body=answer))
    output = ask(gemini, request("choice", choices=("good", "poor")))
    assert output.answer == {"good": -0.1, "poor": None, "fair": -3.0}
    assert output.flags == ("choice_floored",)
    none = ask(gemini, request("choice", choices=("yes", "no")))
    assert none.answer is None
    assert none.reason == "no choice among the 2 likeliest tokens: ['good', 'fair']"


def test_an_unlikely_token_that_was_chosen_is_no_floor(
    service: GeminiService, gemini: Gemini
) -> None:
    answer = body({"text": "weird"})
    result = logprobs({"good": -0.1, "fair": -3.0})
    result["chosenCandidates"] = [{"token": "weird", "logProbability": -9999.0}]
    answer["candidates"][0]["logprobsResult"] = result
    service.order(status(200, body=answer))
    output = ask(gemini, request("choice", choices=("good", "poor")))
    assert output.answer == {"good": -0.1, "poor": None, "fair": -3.0}


def test_the_service_is_asked_for_twenty_log_probabilities(
    service: GeminiService, gemini: Gemini
) -> None:
    output = ask(gemini, request("choice", choices=("excellent", "yes")))
    config = service.seen[0].body["generationConfig"]
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 20)
    assert set(output.answer) == {"excellent", "yes"}


def test_a_model_without_log_probabilities_says_so(service: GeminiService, gemini: Gemini) -> None:
    service.order(status(200, body=body({"text": "yes"})))
    with pytest.raises(CallError, match="gave no log-probabilities"):
        ask(gemini, request("choice", choices=("yes", "no")))
    picky = make(service, model=IMAGE_MODEL)
    picky.load()
    with pytest.raises(CallError, match=f"Logprobs is not enabled for models/{IMAGE_MODEL}"):
        ask(picky, request("choice", choices=("yes", "no")))
    picky.close()


def test_the_stand_in_paints_the_bright_half_and_counts_it(gemini: Gemini) -> None:
    painted = unpack("image", data=ask(gemini, request("image")).answer)
    assert painted.shape == (16, 24, 3)
    assert not painted[:, :12].any()
    assert (painted[:, 12:] == 255).all()
    assert ask(gemini, request("text")).answer == "1"
    assert np.array_equal(painted, unpack("image", data=ask(gemini, request("image")).answer))
