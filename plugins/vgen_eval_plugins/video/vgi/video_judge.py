"""VGI-Bench's judge of videos: windows of frames, a closer look, counts, completeness.

Source: arXiv 2608.19583, section 4 and its code.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import ClassVar

import msgspec
from vgen_eval.judging import Asking, Case, Question, Reply

from vgen_eval_plugins.video.vgi import judge_options, wording
from vgen_eval_plugins.video.vgi.film import Film
from vgen_eval_plugins.video.vgi.marks import rubric_score
from vgen_eval_plugins.video.vgi.records import VgiTruth
from vgen_eval_plugins.video.vgi.talk import Talk
from vgen_eval_plugins.video.vgi.verdicts import Judging, make_verdict, mean_of, summarise

__all__ = ["VgiVideo"]


class VgiVideo:
    """Clip -> VgiVerdict: rubric, completeness, their product, success."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "VGI verdict"
    Options: ClassVar[type[msgspec.Struct]] = judge_options.Options

    def __init__(self, options: judge_options.Options) -> None:
        self.options = options

    def prompts(self) -> Mapping[str, str]:
        """Its templates."""
        return {
            "task": wording.TASK,
            "checklist": wording.CHECKLIST,
            "window": wording.WINDOW,
            "closer": wording.CLOSER,
            "polish": wording.POLISH,
            "completeness": wording.COMPLETENESS,
            "tiers": wording.TIERS,
            "labels": wording.LABELS if self.options.failure_labels else "",
        }

    def expected_calls(self) -> float:
        """Calls for an answer of 5 to 10 seconds, two closer looks among them."""
        preset = self.options.preset
        windows = 1 if preset == "no_window" else 8 if preset == "even_8" else 4
        zooms = 2 if preset in ("full", "no_window", "rubric_only") else 0
        calls = 0 if preset == "completeness_only" else windows + zooms + 1
        calls += 0 if preset == "rubric_only" else 1
        return float(calls * self.options.repeats)

    def judge(self, case: Case) -> Asking:
        """The verdict on `case.prediction.value`, a Clip, by `case.target`, a VgiTruth.

        JudgeError when a reply that is needed cannot be read, by the options.
        """
        film = self._film(case)
        judgings: list[Judging] = []
        for turn in range(self.options.repeats):
            judging = yield from self._judge_once(case, film, turn)
            judgings.append(judging)
        return mean_of(judgings)

    def _film(self, case: Case) -> Film:
        options = self.options
        return Film(
            case.prediction.value,
            frame_at=options.frame_at,
            labels=options.labels,
            duration=options.duration,
            grid_end=options.grid_end,
            scaling=options.scaling,
        )

    def _judge_once(
        self, case: Case, film: Film, turn: int
    ) -> Generator[Sequence[Question], Sequence[Reply], Judging]:
        truth: VgiTruth = case.target
        options = self.options
        talk = Talk(options, case, film, turn)
        rubric: float | None = None
        completeness: float | None = None
        violations: tuple[int, ...] = ()
        if options.preset != "completeness_only":
            if truth.checklist:
                yield from talk.look_at_all()
                if talk.failed and options.failed_window == "zero":
                    return _conclude(options, talk, 0.0, 0.0, ())
                violations = yield from talk.count_violations()
            else:
                talk.flags.append("no_rubric")
            rubric = rubric_score(violations, options.rounding)
        if options.preset != "rubric_only":
            completeness = yield from talk.judge_completeness()
        return _conclude(options, talk, rubric, completeness, violations)


def _conclude(
    options: judge_options.Options,
    talk: Talk,
    rubric: float | None,
    completeness: float | None,
    violations: tuple[int, ...],
) -> Judging:
    if talk.failed:
        talk.flags.append("failed_windows")
    verdict = make_verdict(
        options,
        rubric,
        completeness,
        violations,
        labels=talk.labels,
        is_open=bool(talk.failed) and options.failed_window == "keep_partial",
    )
    return Judging(verdict, tuple(talk.flags), summarise(verdict, talk.noted, talk.failed))
