"""Lines about distorted photographs: ranked, asked about, described."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from samplekit import Make, Photos, toy_scene
from vgen_eval.errors import CardError
from vgen_eval.types import Sample
from vgen_eval_plugins.quality.description.targets import GoldenText
from vgen_eval_plugins.quality.perception.targets import OptionTarget
from vgen_eval_plugins.quality.targets import Opinion
from vgen_eval_plugins.samples.reader import Samples

DARK = [{"kind": "dark", "amount": 0.5}]


def only(data: Samples) -> Sample:
    (item,) = data.index()
    return data.load(item)


def test_a_ranked_photograph_is_shown_distorted_and_scored_by_its_level(
    photos: Photos, make: Make
) -> None:
    line = photos.line(series="photo/dark", level=1, levels=3, distortions=DARK)
    data = make("quality", line)
    sample = only(data)
    assert data.measures == "quality"
    assert np.array_equal(sample.images[0].array, np.rint(photos.pixels * 0.5))
    assert sample.target == Opinion(2.0, part="photo/dark", low=0.0, high=3.0)
    assert sample.choices == ()


def test_the_original_is_a_second_picture_where_the_card_asks_for_it(
    photos: Photos, make: Make
) -> None:
    line = photos.line(series="s", level=1, levels=3, distortions=DARK, crop=[5, 10, 20, 12])
    shown, original = only(make("quality", line, show_original=True)).images
    cut = photos.pixels[5:25, 10:22]
    assert np.array_equal(original.array, cut)
    assert np.array_equal(shown.array, np.rint(cut * 0.5))


def test_a_question_has_lettered_options_choices_and_the_right_letter(
    photos: Photos, make: Make
) -> None:
    line = photos.line(question="How bright?", options=["Bright", "Dark"], answer="Dark")
    data = make("perception", line)
    sample = only(data)
    assert data.measures == "option"
    assert np.array_equal(sample.images[0].array, photos.pixels)
    assert sample.target == OptionTarget({"A": "Bright", "B": "Dark"}, "B")
    assert sample.choices == ("Bright", "Dark")
    assert sample.fields == {"question": "How bright?", "options": "A. Bright\nB. Dark"}


def test_a_description_is_the_golden_text(photos: Photos, make: Make) -> None:
    data = make("description", photos.line(golden="It is dark.", distortions=DARK))
    assert data.measures == "description"
    assert only(data).target == GoldenText("It is dark.")


@pytest.mark.parametrize(
    ("kind", "changes", "told"),
    [
        ("quality", {"series": "s", "level": 0, "levels": 3, "distortions": DARK}, "level 0 is"),
        ("quality", {"series": "s", "level": 1, "levels": 3}, "level 0 is"),
        ("quality", {"series": "s", "level": 4, "levels": 3, "distortions": DARK}, "ends at 3"),
        ("perception", {"question": "q", "options": ["a", "b"], "answer": "c"}, "'c' is none"),
        ("perception", {"question": "q", "options": ["a", "a"], "answer": "a"}, "stands twice"),
        ("perception", {"question": "q", "options": ["a"], "answer": "a"}, "length >= 2"),
        ("description", {"golden": ""}, "length >= 1"),
        (
            "description",
            {"golden": "g", "distortions": [{"kind": "blur", "amount": 99}]},
            "0.1 to 50",
        ),
    ],
)
def test_faulty_lines_are_told_with_their_number(
    photos: Photos, make: Make, kind: str, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(CardError, match=told) as caught:
        make(kind, photos.line(**changes)).index()
    assert caught.value.problems[0].line == 1


def test_kinds_without_scenes_refuse_a_scene(make: Make) -> None:
    line = {"id": "a", "group": "g", "scene": "toy", "golden": "g"}
    with pytest.raises(CardError, match="kind description has photographs alone"):
        make("description", line, scenes=[toy_scene()]).index()


def test_originals_are_for_ranked_photographs_alone(photos: Photos, make: Make) -> None:
    with pytest.raises(CardError, match="show_original"):
        make("description", photos.line(golden="g"), show_original=True)
