"""The view of judged videos: windows, comments at their frames' times, rubric as scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import vgirun
from vgen_eval.imaging import Image
from vgen_eval.judging import Question
from vgen_eval.plugins import Catalog
from vgen_eval.types import Prediction, Sample, Scene
from vgen_eval.video import Clip
from vgen_eval.viewer.looking import Look, Looker
from vgen_eval.viewing import Film, Pane, Seen, Words
from vgen_eval_plugins.video.vgi.image_judge import VgiImage
from vgen_eval_plugins.video.vgi.records import VgiTruth
from vgen_eval_plugins.video.vgi.view import VgiView
from vgikit import COMPAT, Play, case_of, counts, make_clip, nominate, play, truth_of

UNEVEN = [0.0, 0.1, 0.35, 0.4, 0.9, 1.0, 1.55, 1.6, 2.2, 2.25]
TRUTH = truth_of("No wall is crossed.", "One dot.")


def line_of(question: Question, reply: str) -> dict[str, Any]:
    """As `judgements.jsonl` has it."""
    shown = [
        {"image": part.sha256, "size": [part.height, part.width]}
        if isinstance(part, Image)
        else part
        for part in question.parts
    ]
    return {"question": question.name, "round": question.round, "asked": shown, "reply": reply}


def seen_of(value: Any, truth: VgiTruth, played: Play, form: Any, **more: Any) -> Seen:
    case = case_of(value, truth)
    lines = [line_of(each, played._reply(each).text or "") for each in played.asked]
    verdict = played.prediction.value
    score: dict[str, Any] = {
        "status": "ok",
        "prediction": {"answer": {}, **played.prediction.summary},
        "values": {"final": verdict.final, "success": float(bool(verdict.success))},
        "statistics": {},
    }
    return Seen(
        sample=Sample(id="a", group="a", images=case.images, target=truth),
        scene=Scene(image=case.images[0], size=(48, 64)),
        form=form, answer=None, prediction=Prediction(value=value), substitute=False,
        score={**score, **more}, metrics={}, judgements=lines,
    )  # fmt: skip


def film_of(panes: Any) -> Film:
    (found,) = [pane.body for pane in panes if isinstance(pane.body, Film)]
    return found


def verdict_of(panes: Any) -> dict[str, str]:
    (found,) = [pane.body for pane in panes if pane.title == "Verdict"]
    assert isinstance(found, Words)
    return dict(found.facts)


def look(data: bytes, *scripts: Mapping[str, Any], **options: Any) -> tuple[Play, Any]:
    played = play(data, TRUTH, *scripts, **options)
    return played, VgiView().panes(seen_of(Clip.open(data), TRUTH, played, "video"))


def test_what_was_shown_is_marked_at_the_frames_own_times_of_a_variable_rate() -> None:
    data = make_clip(len(UNEVEN), times=UNEVEN)
    played, panes = look(data, {"window/0": nominate(3), "polish": counts(0, 0)})
    film = film_of(panes)
    shown = {label for name in played.names for _, label in played.frames(name)}
    assert len(shown) > 5
    assert film.shown == tuple(sorted(film.clip.times[label] for label in shown))
    assert set(film.shown) <= set(film.clip.times)
    assert film.curve == ()


def test_comments_stand_at_the_first_frame_that_they_name() -> None:
    data = make_clip(len(UNEVEN), times=UNEVEN)
    reply = {
        "comments": [
            {"frames": [7, 3], "comment": "the dot leaps"},
            {"frames": [], "comment": "all is calm"},
        ],
        "frames_to_inspect_closely": [3],
    }
    played, panes = look(data, {"window/0": reply, "polish": counts(0, 0)})
    film = film_of(panes)
    at = {moment.words: moment.time_s for moment in film.moments}
    assert at["window/0: frames 3, 7: the dot leaps"] == film.clip.times[3]
    assert at["window/0: all is calm"] == film.clip.times[0]
    (first, *_) = played.frames("zoom/0")
    assert at["zoom/0: nothing"] == film.clip.times[first[1]]
    # no more than the judge's own summary holds, and in its words
    told = played.prediction.summary["comments"]
    assert sorted(at) == sorted(told)


def test_reckoned_times_lead_to_the_frames_that_were_decoded() -> None:
    data = make_clip(150)
    played, panes = look(data, {"window/0": nominate(15), "polish": counts(1, 0)}, **COMPAT)
    film = film_of(panes)
    asked = [time for name in played.names for time, _ in played.frames(name)]
    clip = film.clip
    decoded = {frame.time for frame in clip.first_at_or_after(asked) if frame is not None}
    assert set(film.shown) == decoded
    (moment,) = [each for each in film.moments if each.words.startswith("window/0")]
    assert moment.time_s == pytest.approx(0.5)


def test_the_rubric_is_told_entry_by_entry_with_the_reason_that_was_counted() -> None:
    items = [
        {"index": 1, "violations": 2, "reason": "it goes through twice"},
        {"index": 2, "violations": 0, "reason": "one dot throughout"},
    ]
    scripts = {
        "polish": {"items": items},
        "completeness": {"tier": 1, "reason": "half way"},
        "window/0": nominate(7),
    }
    played, panes = look(make_clip(20), scripts)
    told = verdict_of(panes)
    assert played.prediction.value.violations == (2, 0)
    assert told["1. No wall is crossed."] == "2 violations: it goes through twice"
    assert told["2. One dot."] == "0 violations: one dot throughout"
    assert told["completeness, why"] == "half way"
    assert told["frames for a closer look"] == "7"
    assert told["final"] == f"{played.prediction.value.final:.6g}"


def test_a_failed_window_says_why_at_its_place_and_has_no_comment() -> None:
    data = make_clip(150)
    options = {**COMPAT, "re_asks": 1}
    played, panes = look(data, {"window/1*": "{}", "polish": counts(0, 0)}, **options)
    film = film_of(panes)
    (why,) = played.prediction.summary["failed"]
    (moment,) = [each for each in film.moments if each.words.startswith("window/1")]
    assert moment.words == why
    (start, _), *_ = played.frames("window/1")
    assert moment.time_s == next(t for t in film.clip.times if t >= start)
    assert verdict_of(panes)["window without a comment"] == why


def test_what_was_asked_under_other_options_is_not_shown() -> None:
    data = make_clip(20)
    old = play(data, TRUTH, {"window/0": nominate(7), "polish": counts(0, 0)})
    now = play(data, TRUTH, {"polish": counts(0, 0)}, preset="no_zoom")
    seen = seen_of(Clip.open(data), TRUTH, now, "video")
    stale = [line_of(each, old._reply(each).text or "") for each in old.asked]
    panes = VgiView().panes(msgspec.structs.replace(seen, judgements=[*stale, *seen.judgements]))
    film = film_of(panes)
    assert [moment.words for moment in film.moments] == ["window/0: nothing"]
    closer = {label for _, label in old.frames("zoom/0")}
    known = {label for name in now.names for _, label in now.frames(name)}
    assert closer - known
    assert film.shown == tuple(sorted(film.clip.times[label] for label in known))


def test_several_judgings_are_told_apart() -> None:
    scripts = {"polish": counts(0, 0), "polish#1": counts(1, 0)}
    _, panes = look(make_clip(20), scripts, repeats=2)
    told = verdict_of(panes)
    assert told["judging 1: 1. No wall is crossed."] == "0 violations"
    assert told["judging 2: 1. No wall is crossed."] == "1 violation"
    assert told["judging 2: final"] == "0.75"
    words = [moment.words for moment in film_of(panes).moments]
    assert words == ["window/0: nothing", "window/0#1: nothing"]


def test_votes_on_a_picture_are_told_with_the_judges_words() -> None:
    picture = Image(np.full((48, 64, 3), 7, np.uint8))
    judge = VgiImage(VgiImage.Options(votes=3))
    replies = {
        "vote/0": {"success": True, "reason": "fine"},
        "vote/1": {"success": False},
        "vote/2": {"success": True},
    }
    played = Play(judge, case_of(picture, TRUTH), replies)
    panes = VgiView().panes(seen_of(picture, TRUTH, played, "image"))
    told = verdict_of(panes)
    assert (told["votes yes"], told["votes no"], told["votes unread"]) == ("2", "1", "0")
    assert json.loads(told["judge, vote/0"])["reason"] == "fine"
    assert not any(isinstance(pane.body, Film) for pane in panes)


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Look]:
    """Whole runs, opened as pages open them."""
    folder = tmp_path_factory.mktemp("vgi")
    vgirun.prepare(folder)
    run = folder / "out" / vgirun.run(folder).run
    return {path: _look(run, path) for path in _samples(run)}


def _samples(run: Path) -> list[str]:
    lines = (run / "predictions.jsonl").read_text().splitlines()
    return sorted({json.loads(line)["sample"] for line in lines})


def _look(run: Path, sample: str) -> Look:
    return Looker(Catalog.discover()).look(run, sample, 0)


def test_a_real_run_shows_what_its_score_lines_say(looks: Mapping[str, Look]) -> None:
    assert len(looks) == 6
    for sample, found in looks.items():
        assert found.score is not None
        panes: list[Pane] = [shown.pane for shown in found.panes]
        told = verdict_of(panes)
        assert float(told["final"]) == pytest.approx(found.score["values"]["final"]), sample
        assert not found.notices or found.score["status"] != "ok"
    undecodable = looks["maze_square_lv2_001"]
    told = verdict_of([shown.pane for shown in undecodable.panes])
    assert told["status"] == "undecodable"
    assert "no video file" in told["reason"]
    assert told["counted as"] == "scores of 0, no success"
