"""Measures in a model's place: words for quality, options, sentences, no answer with a reason."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import skimage.data
from classickit import write_files
from numpy.typing import NDArray
from vgen_eval.cards import convert
from vgen_eval.errors import MissingData
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request
from vgen_eval_plugins.baselines.blind import Blind
from vgen_eval_plugins.baselines.classical import Classical
from vgen_eval_plugins.quality.classic.adapter import ClassicQuality
from vgen_eval_plugins.quality.classic.answers import (
    answer_question,
    describe_facts,
    grade_words,
    is_grading,
)
from vgen_eval_plugins.quality.classic.brisque import brisque, read_regression
from vgen_eval_plugins.quality.classic.facts import Facts, measure_facts
from vgen_eval_plugins.quality.classic.niqe import niqe, our_pristine_model
from vgen_eval_plugins.quality.description.targets import GoldenText
from vgen_eval_plugins.quality.perception.targets import OptionTarget
from vgen_eval_plugins.samples.distortions import Distortion, distort

SIX = ("good", "fine", "high", "poor", "bad", "low")
SOUND = Facts(sharpness=0.6, noise=0.5, blockiness=1.0, brightness=120.0, contrast=1.5)
BLURRY = msgspec.structs.replace(SOUND, sharpness=0.05)
RGB = NDArray[np.uint8]
PHOTOS: Any = skimage.data
CARD: Any = None
"""lacks and identify look at the options alone."""


def request(*pictures: RGB, choices: tuple[str, ...] = SIX, **more: Any) -> Request:
    given = {"form": "choice", "family": "quality", **more}
    return Request(
        id="a#0", sample="a", attempt=0, prompt="", choices=choices,
        images=tuple(Image(picture) for picture in pictures), **given,
    )  # fmt: skip


def rater(**options: Any) -> ClassicQuality:
    made = ClassicQuality(convert(ClassicQuality.Options, options, file="card"))
    made.load()
    return made


def one(adapter: Any, asked: Request) -> Output:
    (output,) = adapter.generate([asked])
    assert output.id == asked.id
    return output  # type: ignore[no-any-return]


def worse(kind: str, *amounts: float) -> list[RGB]:
    picture = PHOTOS.chelsea()
    made = [distort(picture, [convert_distortion(kind, amount)]) for amount in amounts]
    return [picture, *made]


def convert_distortion(kind: str, amount: float) -> Distortion:
    return msgspec.convert({"kind": kind, "amount": amount}, Distortion)


def difference(output: Output) -> float:
    return float(output.answer["good"] - output.answer["poor"])


@pytest.mark.parametrize("goodness", [-700.0, -2.0, 0.0, 3.0, 700.0])
def test_words_for_quality_are_log_probabilities_a_goodness_apart(goodness: float) -> None:
    found = grade_words(goodness, (*SIX, "purple"))
    assert sum(math.exp(value) for value in found.values()) == pytest.approx(1)
    assert found["good"] - found["poor"] == pytest.approx(goodness)
    assert found["good"] == found["fine"] == found["high"]
    assert found["poor"] == found["bad"] == found["low"]
    assert found["good"] - found["purple"] == pytest.approx(goodness / 2)


def test_words_grade_only_where_both_sides_are_there() -> None:
    assert is_grading(("Good", "poor"))
    assert not is_grading(("good", "fine"))
    assert not is_grading(("Yes", "No"))
    assert not is_grading(())


@pytest.mark.parametrize(
    ("measure", "kind", "amounts"),
    [
        ("niqe", "blur", (0.8, 1.5, 3)),
        ("psnr", "noise", (5, 15, 40)),
        ("ssim", "jpeg", (50, 20, 5)),
    ],
)
def test_a_measure_prefers_the_weaker_distortion(
    measure: str, kind: str, amounts: tuple[float, ...]
) -> None:
    pictures = worse(kind, *amounts)
    adapter = rater(measure=measure)
    found = [difference(one(adapter, request(each, pictures[0]))) for each in pictures]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


def test_identical_pictures_count_as_one_hundred_decibels() -> None:
    picture = PHOTOS.chelsea()
    found = one(rater(measure="psnr"), request(picture, picture))
    assert difference(found) == pytest.approx((100 - 30) / 5)
    assert all(math.isfinite(value) for value in found.answer.values())


@pytest.mark.parametrize(
    ("measure", "pictures", "told"),
    [
        ("niqe", [np.full((256, 256, 3), 230, np.uint8)], "flat"),
        ("niqe", [np.zeros((8, 8, 3), np.uint8)], "8x8"),
        ("niqe", [], "no picture"),
        ("psnr", [np.zeros((8, 8, 3), np.uint8)], "second picture, 1 came"),
        ("ssim", [np.zeros((8, 8, 3), np.uint8)] * 2, "smaller than SSIM's window"),
        ("ssim", [np.zeros((20, 20, 3), np.uint8), np.zeros((20, 21, 3), np.uint8)], "two sizes"),
    ],
)
def test_a_picture_without_a_measure_gets_no_answer_and_a_reason(
    measure: str, pictures: list[RGB], told: str
) -> None:
    found = one(rater(measure=measure), request(*pictures))
    assert found.answer is None
    assert told in (found.reason or "")


def test_choices_that_are_no_grades_get_no_answer_and_a_reason() -> None:
    found = one(rater(), request(PHOTOS.chelsea(), choices=("Yes", "No")))
    assert found.answer is None
    assert "no words for good and for poor" in (found.reason or "")


def test_brisque_says_which_files_it_lacks(tmp_path: Path) -> None:
    options = convert(ClassicQuality.Options, {"measure": "brisque"}, file="card")
    told = ClassicQuality.lacks(options, CARD)
    assert [line.partition(":")[0] for line in told] == ["no model", "no ranges"]
    with pytest.raises(MissingData, match="no regression of its own"):
        rater(measure="brisque")
    named = {"measure": "brisque", "model": str(tmp_path / "m.yml"), "ranges": str(tmp_path / "r")}
    options = convert(ClassicQuality.Options, named, file="card")
    assert [line.split()[:2] for line in ClassicQuality.lacks(options, CARD)] == [
        ["no", "file"]
    ] * 2
    assert ClassicQuality.lacks(convert(ClassicQuality.Options, {}, file="card"), CARD) == ()


def test_brisque_grades_by_a_regression_that_the_user_brings(tmp_path: Path) -> None:
    model, ranges = write_files(tmp_path)
    files = {"measure": "brisque", "model": str(model), "ranges": str(ranges)}
    picture = PHOTOS.chelsea()
    value = brisque(picture, read_regression(model, ranges)).value
    assert value is not None
    found = difference(one(rater(**files), request(picture)))
    assert found == pytest.approx((50 - value) / 15)
    options = convert(ClassicQuality.Options, files, file="card")
    assert set(ClassicQuality.identify(options, CARD)) == {"model_sha256", "ranges_sha256"}
    assert ClassicQuality.lacks(options, CARD) == []


def test_a_pristine_model_of_ones_own_is_read_and_counts_as_identity(tmp_path: Path) -> None:
    ours = our_pristine_model()
    shifted = tuple(value + 1 for value in ours.mean)
    path = tmp_path / "own.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(ours, mean=shifted)))
    picture = PHOTOS.chelsea()
    own = one(rater(pristine=str(path)), request(picture))
    assert difference(own) != difference(one(rater(), request(picture)))
    options = convert(ClassicQuality.Options, {"pristine": str(path)}, file="card")
    assert set(ClassicQuality.identify(options, CARD)) == {"pristine_sha256"}
    path.write_text("{}")
    with pytest.raises(MissingData, match=r"own\.json"):
        rater(pristine=str(path))


@pytest.mark.parametrize(
    ("kind", "amount", "worst"),
    [
        ("blur", 3, "blur"), ("noise", 25, "noise"), ("jpeg", 8, "blocks"),
        ("blocks", 8, "blocks"), ("dark", 0.2, "dark"), ("contrast", 0.25, "contrast"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["astronaut", "chelsea", "coffee"])
def test_facts_find_the_distortion_that_was_made(
    name: str, kind: str, amount: float, worst: str
) -> None:
    picture = getattr(PHOTOS, name)()
    assert measure_facts(picture).worst is None
    assert measure_facts(distort(picture, [convert_distortion(kind, amount)])).worst == worst


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (8, 8), (9, 9, 3), (64, 64)])
@pytest.mark.parametrize("level", [0, 230])
def test_facts_of_tiny_and_flat_pictures_are_finite(shape: tuple[int, ...], level: int) -> None:
    facts = measure_facts(np.full(shape, level, np.uint8))
    assert all(math.isfinite(value) for value in msgspec.structs.astuple(facts))
    assert all(0 <= value <= 100 for value in facts.severity.values())


@pytest.mark.parametrize(
    ("question", "options", "sound", "blurry"),
    [
        ("Is the picture blurry?", ("Yes", "No"), "No", "Yes"),
        ("Is the picture sharp?", ("Yes", "No"), "Yes", "No"),
        ("Is it noisy?", ("Yes", "No"), "No", "No"),
        ("What is wrong?", ("Noise", "Blur", "No distortion"), "No distortion", "Blur"),
        ("How sharp is it?", ("Blurry", "Normal"), "Normal", "Blurry"),
        ("How bright is it?", ("Bright", "Normal", "Dark"), "Normal", "Normal"),
        ("Which animal is it?", ("A cat", "A dog"), "A cat", "A cat"),
    ],
)
def test_options_are_chosen_by_the_facts_that_they_name(
    question: str, options: tuple[str, ...], sound: str, blurry: str
) -> None:
    for facts, expected in ((SOUND, sound), (BLURRY, blurry)):
        found = answer_question(facts, question, options)
        assert max(found, key=lambda option: found[option]) == expected
        assert sum(math.exp(value) for value in found.values()) == pytest.approx(1)


def test_a_description_names_the_faults_and_no_other() -> None:
    assert describe_facts(BLURRY).startswith("The quality of the picture is poor. It is blurry")
    assert "sharp" not in describe_facts(BLURRY)
    assert "blurry" not in describe_facts(SOUND)
    assert describe_facts(SOUND).startswith("The quality of the picture is good. It is sharp")


def test_the_classical_baseline_grades_by_niqe() -> None:
    picture = PHOTOS.chelsea()
    value = niqe(picture).value
    assert value is not None
    found = one(Classical(msgspec.Struct()), request(picture))
    assert difference(found) == pytest.approx((12 - value) / 4)
    flat = one(Classical(msgspec.Struct()), request(np.full((256, 256, 3), 9, np.uint8)))
    assert flat.answer is None
    assert "flat" in (flat.reason or "")


def test_the_classical_baseline_answers_questions_by_letter_and_by_likelihood() -> None:
    fields = {"question": "Is the picture blurry?", "options": "A. No\nB. Yes"}
    picture, _, blurry = worse("blur", 0.8, 3)
    for shown, letter, word in ((picture, "A", "No"), (blurry, "B", "Yes")):
        asked = request(shown, choices=("No", "Yes"), fields=fields)
        found = one(Classical(msgspec.Struct()), asked).answer
        assert max(found, key=lambda option: found[option]) == word
        said = msgspec.structs.replace(asked, form="text")
        assert one(Classical(msgspec.Struct()), said).answer == letter
    told = one(Classical(msgspec.Struct()), request(blurry, choices=(), form="text")).answer
    assert "blurry" in told


def test_the_floor_says_the_first_option_one_sentence_and_no_grade() -> None:
    blind = Blind(Blind.Options())
    seen: list[Any] = []

    def encode(target: Any) -> Any:
        seen.append(target)
        return target

    more: dict[str, Any] = {"encode": encode}
    fields = {"question": "Is it?", "options": "A. No\nB. Yes"}
    question = request(choices=("No", "Yes"), fields=fields, form="text", **more)
    one(blind, question)
    one(blind, request(choices=(), form="text", **more))
    option, average = seen
    assert option == OptionTarget({"A": "No", "B": "Yes"}, "A")
    assert isinstance(average, GoldenText)
    assert average.text == "The picture is of average quality."
    assert getattr(average, "quality", None) == 0.5  # where a number is asked for
    grades = one(blind, request(**more)).answer
    assert set(grades.values()) == {-math.log(6)}
