"""A whole run of video/vgi over a small look-alike, with real clips and a scripted judge."""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import cache
from pathlib import Path
from typing import Any

import vgen_eval
import yaml
from lookalikes import vgi_bench
from vgen_eval.results.card import ResultCard
from vgen_eval.types import Request
from vgen_eval_plugins.models.scripted import Scripted
from vgikit import counts, make_clip, nominate

CARDS = Path(__file__).parents[2] / "task_cards/video"
TASKS = ["maze_square", "sorting"]

PLAIN = {"comments": [{"frames": [], "comment": "nothing to tell"}]}
RULES: list[tuple[str, str, Any]] = [
    ("maze_square_lv1_001", "polish*", counts(0, 1)),
    ("sorting_lv2_001", "window/1*", {}),
    ("sorting_lv2_001", "completeness*", {"tier": 1}),
    ("sorting_lv3_001", "window/0", nominate(15)),
    ("sorting_lv3_001", "polish*", counts(1)),
    ("sorting_lv3_001", "completeness*", {"tier": 1}),
    ("sorting_*", "polish*", counts(0)),
    ("*", "completeness*", {"tier": 2}),
    ("maze_square_lv1_001", "vote/*", {"success": True}),
    ("sorting_lv1_001", "vote/1", {"success": True}),
    ("*", "vote/*", {"success": False}),
    ("*", "*", PLAIN),
]
"""Of what the judge's model says: sample, question, reply."""

CALLS: list[str] = []
"""Samples that the model of videos was asked for."""
PROMPTS: dict[str, str] = {}
"""What the painter was told, by sample."""


@cache
def clip() -> bytes:
    return make_clip(150)


def paint(request: Request) -> bytes | None:
    """A clip of five seconds; for one sample no video, for another one no answer."""
    CALLS.append(request.sample)
    if request.sample == "maze_square_lv3_001":
        return None
    return b"no video" if request.sample == "maze_square_lv2_001" else clip()


def draw(request: Request) -> Any:
    """The first frame, darker."""
    PROMPTS[request.sample] = request.prompt
    return request.images[0].array // 2


def prepare(folder: Path) -> None:
    """The data, the shipped task cards about two of its tasks, and the judge's card."""
    vgi_bench.write(folder / "data", tasks=TASKS, numbers=[1])
    for name in ("vgi", "vgi-image"):
        card = yaml.safe_load((CARDS / f"{name}.yaml").read_text())
        card["dataset"]["options"].update(tasks=TASKS, fraction="full")
        card["dataset"]["n"] = 6
        (folder / f"{name}.yaml").write_text(json.dumps(card))
    rules = [
        {"sample": sample, "question": question, "reply": json.dumps(reply)}
        for sample, question, reply in RULES
    ]
    (folder / "clerk.yaml").write_text(
        json.dumps(
            {
                "model": "clerk",
                "adapter": "scripted",
                "role": "judge",
                "answers": ["text"],
                "licence": "CC0-1.0",
                "options": {"rules": rules},
            }
        )
    )


def run(folder: Path, protocol: str = "vgi", *, out: str = "out", **more: Any) -> ResultCard:
    """One evaluation; its only card."""
    (card,) = vgen_eval.evaluate(
        tasks=f"{folder / 'vgi.yaml'}@{protocol}", model=paint, model_name="painter",
        forms=["video"], judge=str(folder / "clerk.yaml"), data_root=folder / "data",
        output=str(folder / out), bounds=False, **more,
    )  # fmt: skip
    return card


def kill_at(call: int) -> None:
    """This process ends at once when the judge's model is asked for the `call`-th time."""
    reply, seen = Scripted._reply, [0]

    def deadly(self: Scripted, request: Request) -> str | None:
        seen[0] += 1
        if seen[0] == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return reply(self, request)

    Scripted._reply = deadly  # type: ignore[method-assign]


def run_pictures(folder: Path, **more: Any) -> ResultCard:
    """The same of video/vgi-image."""
    (card,) = vgen_eval.evaluate(
        tasks=str(folder / "vgi-image.yaml"), model=draw, model_name="drawer", forms=["image"],
        judge=str(folder / "clerk.yaml"), data_root=folder / "data",
        output=str(folder / "out"), bounds=False, **more,
    )  # fmt: skip
    return card


if __name__ == "__main__":
    kill_at(int(sys.argv[2]))
    run(Path(sys.argv[1]))
