"""Judge of painted answers to VGI-Bench's tasks: solved or not, by a majority of votes.

Ours: the original's branch for pictures is not public; that it is binary is (arXiv 2608.19583).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec
from vgen_eval.errors import JudgeError, Unreadable
from vgen_eval.imaging import Image
from vgen_eval.judging import Asking, Case, Question, put
from vgen_eval.types import Prediction

from vgen_eval_plugins.video.vgi import wording
from vgen_eval_plugins.video.vgi.film import REFERENCE_SIDE, shrink
from vgen_eval_plugins.video.vgi.records import VgiTruth, VgiVerdict
from vgen_eval_plugins.video.vgi.replies import read_vote

__all__ = ["VgiImage"]


class VgiImage:
    """Picture -> VgiVerdict with success alone; its final score is 1 or 0."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "VGI verdict"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """How it is judged."""

        votes: Annotated[
            int, msgspec.Meta(description="Votes, an odd number: most of them decide.", ge=1, le=25)
        ] = 3
        re_asks: Annotated[
            int,
            msgspec.Meta(description="How often an unreadable vote is asked for again.", ge=0),
        ] = 1

        def __post_init__(self) -> None:
            if self.votes % 2 == 0:
                raise ValueError(f"votes is {self.votes}: an odd number decides")

    def __init__(self, options: Options) -> None:
        self.options = options

    def prompts(self) -> Mapping[str, str]:
        """Its templates."""
        return {"task": wording.TASK, "checklist": wording.CHECKLIST, "vote": wording.IMAGE}

    def expected_calls(self) -> float:
        """One a vote."""
        return float(self.options.votes)

    def judge(self, case: Case) -> Asking:
        """The verdict on `case.prediction.value`, an Image, by `case.target`, a VgiTruth.

        A vote that cannot be read counts for neither side; JudgeError where no side has more than
        half of all votes.
        """
        parts = self._parts(case)
        questions = [
            Question(name=f"vote/{at}", parts=parts, wants_json=True, round=at)
            for at in range(self.options.votes)
        ]
        votes = yield from put(questions, read_vote, re_asks=self.options.re_asks)
        unread = [vote for vote in votes if isinstance(vote, Unreadable)]
        yes, no = votes.count(True), votes.count(False)
        if 2 * max(yes, no) <= len(votes):
            raise JudgeError(f"no majority of {len(votes)} votes: {unread[0].what}")
        success = yes > no
        score = float(success)
        verdict = VgiVerdict(rubric=None, completeness=None, final=score, success=success)
        summary = {"success": success, "votes": {"yes": yes, "no": no, "unread": len(unread)}}
        return Prediction(value=verdict, flags=("votes_unread",) if unread else (), summary=summary)

    def _parts(self, case: Case) -> tuple[str | Image, ...]:
        truth: VgiTruth = case.target

        def shown(image: Image) -> Image:
            return shrink(image, REFERENCE_SIDE, "rounded")

        parts: list[str | Image] = [
            wording.IMAGE.format(task=wording.task_words(truth, with_answer=True)),
            "The first picture, which the model was given:",
            shown(case.images[0]),
        ]
        if truth.gt_image is not None:
            parts += ["What a right solution looks like:", shown(truth.gt_image)]
        parts += ["The picture that the model painted:", shown(case.prediction.value)]
        return tuple(parts)
