"""The judge of painted answers: three votes, most of them decide."""

from __future__ import annotations

import numpy as np
import pytest
from vgen_eval.cards import convert
from vgen_eval.errors import CardError, JudgeError, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.video.vgi.decoders import Picture, VgiFailure
from vgen_eval_plugins.video.vgi.image_judge import VgiImage
from vgikit import Play, case_of, truth_of

TRUTH = truth_of("One dot.", answer="left 3")
YES, NO = {"success": True, "reason": "out"}, {"success": False}


def ask(*replies: object, re_asks: int = 0, **more: object) -> Play:
    painted = Image(np.full((600, 1600, 3), 120, np.uint8))
    judge = VgiImage(VgiImage.Options(votes=len(replies), re_asks=re_asks))
    script = {f"vote/{at}": reply for at, reply in enumerate(replies)}
    return Play(judge, case_of(painted, TRUTH), {**script, **more})


@pytest.mark.parametrize(
    ("votes", "success"), [((YES, YES, NO), True), ((NO, YES, NO), False), ((YES,), True)]
)
def test_most_votes_decide(votes: tuple[object, ...], success: bool) -> None:
    verdict = ask(*votes).prediction.value
    assert (verdict.success, verdict.final) == (success, float(success))
    assert (verdict.rubric, verdict.completeness) == (None, None)


def test_votes_are_asked_at_once_in_rounds_and_shown_both_pictures() -> None:
    played = ask(YES, NO, YES)
    assert [question.round for question in played.asked] == [0, 1, 2]
    first, painted = played.pictures("vote/0")
    assert (first.width, first.height) == (64, 48)
    assert (painted.width, painted.height) == (768, 288)
    assert "left 3" in played.words("vote/0")
    assert "1. One dot." in played.words("vote/0")
    assert played.prediction.summary["votes"] == {"yes": 2, "no": 1, "unread": 0}


def test_a_vote_that_cannot_be_read_counts_for_neither_side() -> None:
    played = ask(YES, "perhaps", YES)
    assert played.prediction.value.success is True
    assert played.prediction.flags == ("votes_unread",)
    with pytest.raises(JudgeError, match="no majority of 3 votes"):
        ask(YES, "perhaps", NO)
    again = {"vote/1?1": NO}
    assert ask(YES, "perhaps", NO, re_asks=1, **again).prediction.value.success is False


def test_an_even_number_of_votes_is_refused() -> None:
    with pytest.raises(CardError, match="odd"):
        convert(VgiImage.Options, {"votes": 2}, file="card.yaml")


def test_a_picture_is_handed_on_as_it_came() -> None:
    image = Image(np.full((4, 6, 3), 9, np.uint8))
    scene = Scene(image=image, size=(4, 6))
    decoder = Picture(NoOptions())
    pixels = np.arange(72, dtype=np.uint8).reshape(4, 6, 3)
    read = decoder.decode(pixels, scene)
    assert np.array_equal(read.value.array, pixels)
    assert read.flags == ()
    assert decoder.decode(image.array, scene).flags == ("copied_input", "constant")
    for wrong in ("words", None, np.zeros((0, 4, 3), np.uint8), np.zeros((4, 4)), pixels / 255):
        with pytest.raises(Undecodable):
            decoder.decode(wrong, scene)


def test_a_failure_is_0_and_no_success() -> None:
    scene = Scene(image=Image(np.zeros((1, 1, 3), np.uint8)), size=(1, 1))
    verdict = VgiFailure(NoOptions()).decode(None, scene).value
    assert (verdict.final, verdict.rubric, verdict.completeness) == (0.0, 0.0, 0.0)
    assert verdict.success is False
