"""The words in which VGI judges are asked. They are ours; the rules in them are VGI-Bench's.

Source of the rules: arXiv 2608.19583 and its code, whose own wording is not used.
"""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval_plugins.video.vgi.records import FAILURE_LABELS, VgiTruth

__all__ = [
    "CHECKLIST",
    "CLOSER",
    "COMPLETENESS",
    "IMAGE",
    "LABELS",
    "POLISH",
    "TASK",
    "TIERS",
    "WINDOW",
    "task_words",
]

TASK = """\
Task: {task}
What is to be achieved: {goal}"""

CHECKLIST = """
Checklist, what has to hold throughout:
{checklist}"""

_LOOKING = """\
- Comment on what the frames show, so far as it bears on the goal or on the checklist. Every frame \
that you see must be covered by a comment at least.
- Where something goes against the checklist, say which entry, in which frames, and what happens.
- Leave aside jitter, slivers of an object, flicker and traces of compression.
"""
"""Rules of both looks."""

WINDOW = (
    """\
A model made a video from a first frame and an instruction. You see {count} frames of one part of \
it, in their order. A line before each gives its time and its frame number.
{task}
Rules:
"""
    f"{_LOOKING}"
    """\
- Tell only what is to be seen. Never infer what happened between two frames: nominate both of \
them, the one before and the one after, for a closer look.
- Nominate {cap} frames at most, none where nothing is open.
- Give no verdict on the video.
Reply with one JSON object and nothing else:
"""
    '{{"comments": [{{"frames": [frame numbers], "comment": "what they show"}}], '
    '"frames_to_inspect_closely": [frame numbers]}}'
)

CLOSER = (
    """\
A model made a video from a first frame and an instruction. Part of it is looked at more closely: \
you see {count} frames of that part, in their order and closer together than before. A line before \
each gives its time and its frame number.
{task}
Rules:
"""
    f"{_LOOKING}"
    """\
- Tell only what is to be seen, and never infer what happened between two frames.
- Give no verdict on the video.
Reply with one JSON object and nothing else:
"""
    '{{"comments": [{{"frames": [frame numbers], "comment": "what they show"}}]}}'
)

POLISH = (
    """\
Several reviewers looked at parts of one video that a model made, and wrote comments. Work out \
from the comments alone how often each entry of the checklist was violated.
{task}
Rules:
- Count distinct, substantive violations of each entry. What is borderline or cosmetic does not \
count.
- A violation that lasts counts once.
- Parts overlap: the same incident told by two reviewers counts once, and so do reports within 0.5 \
seconds of each other on both sides of the border of two parts.
- Where a closer look disagrees with the first one, believe the closer look.
- Give every entry of the checklist once, in its order, also those without a violation.
Comments:
{comments}
Reply with one JSON object and nothing else:
"""
    '{{"items": [{{"index": number of the entry, "violations": how many, '
    '"reason": "why"{labels}}}]}}'
)

LABELS = ', "labels": [for each violation one of ' + ", ".join(f'"{x}"' for x in FAILURE_LABELS)
LABELS += "]"

COMPLETENESS = (
    """\
A model made a video from a first frame and an instruction. You see {count} frames of the whole \
video, in their order. A line before each gives its time and its frame number. Judge how far the \
task was brought to its end, not how well its rules were kept on the way.
{task}
Tiers:
{tiers}
Reply with one JSON object and nothing else:
"""
    '{{"tier": 0, 1 or 2, "reason": "why"}}'
)

TIERS = """\
0 - failed: little progress towards the goal, or the scene drifts into another one.
1 - partial: real progress, but the state at the end is not the one that is wanted.
2 - complete: the goal is reached at the end; minor blemishes are allowed."""

IMAGE = (
    """\
A model was given a picture and an instruction, and painted the state after the task is done. You \
see the first picture, then the one that it painted. Decide whether the task is solved.
{task}
Rules:
- It is solved only when the goal is reached completely and nothing on the checklist is violated.
- What the task does not change must be as it was; leave aside traces of compression and small \
differences of colour or framing.
- Judge only what is to be seen. When in doubt it is not solved.
Reply with one JSON object and nothing else:
"""
    '{{"success": true or false, "reason": "why"}}'
)


def task_words(truth: VgiTruth, *, with_checklist: bool = True, with_answer: bool = False) -> str:
    """The task as a judge is told it."""
    words = TASK.format(task=truth.task.replace("_", " "), goal=truth.goal)
    if with_checklist and truth.checklist:
        words += CHECKLIST.format(checklist=_numbered(truth.checklist))
    if with_answer and truth.answer:
        words += f"\nThe right answer: {truth.answer}"
    if truth.gt_text:
        words += f"\nThe right solution: {truth.gt_text}"
    return words


def _numbered(entries: Sequence[str]) -> str:
    return "\n".join(f"{at}. {entry}" for at, entry in enumerate(entries, 1))
