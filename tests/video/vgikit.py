"""Small real clips, instances, and a judge's model that answers from a table."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

import av
import numpy as np
from vgen_eval.imaging import Image
from vgen_eval.judging import Case, Question, Reply
from vgen_eval.types import Prediction, Scene
from vgen_eval.video import Clip
from vgen_eval_plugins.video.vgi.judge_options import Options
from vgen_eval_plugins.video.vgi.records import VgiTruth
from vgen_eval_plugins.video.vgi.video_judge import VgiVideo

COMPAT: Mapping[str, Any] = {
    "frame_at": "at_or_after",
    "labels": "reckoned",
    "duration": "container",
    "grid_end": "rounded",
    "scaling": "truncated",
    "numbers": "truncated",
    "reading": "plain",
    "failed_window": "keep_partial",
    "failed_counts": "one_violation",
    "failed_tier": "rubric_decides",
    "rounding": "twice",
    "re_asks": 0,
}
"""The original's way, as the protocol `vgi` names it."""

Script = Mapping[str, Any]
"""Question's name, or a pattern of names -> reply: an object, a text, or None for no reply."""

NOTHING: Script = {
    "window/*": {"comments": [{"frames": [], "comment": "nothing"}]},
    "zoom/*": {"comments": [{"frames": [], "comment": "nothing"}]},
    "completeness*": {"tier": 2},
}


def make_clip(
    frames: int,
    *,
    fps: Fraction | int = 30,
    size: tuple[int, int] = (64, 48),
    times: Sequence[float] | None = None,
    sound_s: float = 0.0,
    form: str = "mp4",
    title: str = "",
) -> bytes:
    """An H.264 video of one grey a frame, `grey_of(index)`.

    `times`: when each frame comes on, where that is not even. `sound_s`: seconds of silence.
    """
    width, height = size
    file = io.BytesIO()
    with av.open(file, "w", format=form) as container:
        container.metadata["title"] = title
        stream = container.add_stream("libx264", rate=Fraction(fps))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "ultrafast", "bf": "0", "qp": "4"}
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 90_000)
        sound = container.add_stream("aac", rate=48_000, layout="mono") if sound_s else None
        for at in range(frames):
            pixels = np.full((height, width, 3), grey_of(at), np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            if times is not None:
                frame.pts, frame.time_base = round(times[at] * 90_000), Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        if sound is not None:
            for at in range(round(sound_s * 48_000 / 1024)):
                silence = av.AudioFrame.from_ndarray(
                    np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
                )
                silence.sample_rate, silence.pts = 48_000, at * 1024
                container.mux(sound.encode(silence))
            container.mux(sound.encode())
    return file.getvalue()


def grey_of(frame: int) -> int:
    """Level of a frame: neighbours are 6 apart."""
    return 30 + 6 * (frame % 32)


def truth_of(*checklist: str, task: str = "maze_square", **more: Any) -> VgiTruth:
    domain = more.pop("domain", "structured_puzzles")
    return VgiTruth(task=task, domain=domain, goal="Lead the dot out.", checklist=checklist, **more)


def case_of(value: Any, truth: VgiTruth, *, size: tuple[int, int] = (48, 64)) -> Case:
    image = Image(np.full((*size, 3), 90, np.uint8))
    return Case(
        sample=f"{truth.task}_lv1_001",
        attempt=0,
        prediction=Prediction(value=value),
        scene=Scene(image=image, size=size),
        images=(image,),
        target=truth,
    )


class Play:
    """A judging played to its end with replies from a script; `asked` has its questions."""

    def __init__(self, judge: Any, case: Case, *scripts: Script) -> None:
        self.asked: list[Question] = []
        self._scripts = scripts
        asking = judge.judge(case)
        try:
            questions = next(asking)
            while True:
                self.asked += questions
                questions = asking.send([self._reply(question) for question in questions])
        except StopIteration as end:
            self.prediction: Prediction = end.value

    def _reply(self, question: Question) -> Reply:
        for script in self._scripts:
            for pattern, reply in script.items():
                if question.name == pattern or fnmatchcase(question.name, pattern):
                    text = reply(question) if callable(reply) else reply
                    if text is not None and not isinstance(text, str):
                        text = json.dumps(text)
                    return Reply(name=question.name, text=text, reason="no reply")
        raise AssertionError(f"nobody answers {question.name}")

    @property
    def names(self) -> list[str]:
        return [question.name for question in self.asked]

    def words(self, name: str) -> str:
        (question,) = [entry for entry in self.asked if entry.name == name]
        return "\n".join(part for part in question.parts if isinstance(part, str))

    def frames(self, name: str) -> list[tuple[float, int]]:
        """(time, label) of the frames that a question shows."""
        lines = [line for line in self.words(name).splitlines() if line.startswith("t = ")]
        return [(float(line.split()[2]), int(line.rsplit(" ", 1)[1])) for line in lines]

    def pictures(self, name: str) -> list[Image]:
        (question,) = [entry for entry in self.asked if entry.name == name]
        return [part for part in question.parts if isinstance(part, Image)]


def play(data: bytes, truth: VgiTruth, *scripts: Script, **options: Any) -> Play:
    """The video judge over a clip's bytes; NOTHING replies where the scripts do not."""
    judge = VgiVideo(Options(**options))
    return Play(judge, case_of(Clip.open(data), truth), *scripts, NOTHING)


def counts(*violations: Any) -> dict[str, Any]:
    return {"items": [{"index": at, "violations": x} for at, x in enumerate(violations, 1)]}


def nominate(*frames: Any) -> dict[str, Any]:
    return {
        "comments": [{"frames": list(frames), "comment": "unclear"}],
        "frames_to_inspect_closely": list(frames),
    }


def scores(played: Play) -> tuple[Any, ...]:
    verdict = played.prediction.value
    return verdict.rubric, verdict.completeness, verdict.final, verdict.success


def values_of(metric: Any, pairs: Sequence[tuple[Any, Any]]) -> Mapping[str, Any]:
    total = None
    for pred, target in pairs:
        found = metric.update(pred, target, None)
        total = found if total is None else metric.merge(total, found)
    return metric.compute(total)
