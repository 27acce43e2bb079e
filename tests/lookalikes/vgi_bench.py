"""VGI-Bench: first frames by task and level, one prompt a task, rubrics and tiers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalikes.files import write_png

__all__ = ["TASKS", "write"]

TASKS = (
    "maze_square", "maze_round", "sliding_puzzle", "jigsaw_puzzle", "hanoi_tower",
    "leave_parking_lot", "polyform_tiling", "euler_path", "sorting", "pick_unique", "color_mix",
    "object_packing", "classify_blocks", "rolling_dice", "recover_2d_net", "expand_3d_to_2d",
    "light_reflection", "section_3d_figure", "clock_running", "gears", "rope_untangle",
    "untie_knot", "unhook_ring", "tool_use_common", "tool_use_uncommon", "block_assembly",
    "remove_obstacle",
)  # fmt: skip


def _frame(place: int) -> NDArray[np.uint8]:
    """16:9, one grey a place with a bright corner."""
    picture = np.full((72, 128, 3), 20 + place % 200, np.uint8)
    picture[:10, :10] = 250
    return picture


def write(
    root: Path,
    *,
    tasks: Sequence[str] = TASKS,
    numbers: Sequence[int] = tuple(range(1, 11)),
    rubrics: bool = True,
) -> list[dict[str, Any]]:
    """`bench_data/<task>/{input_image,prompt,judge_spec}`: as many instances a level as numbers.

    Rubrics: of maze_square one list with an entry an instance, with answers; of the others one
    entry for all. Prompts for pictures there are of maze_round alone; own tiers of sorting alone.
    """
    home = root / "vgi_bench" / "bench_data"
    found = []
    for task in tasks:
        folder = home / task
        (folder / "judge_spec").mkdir(parents=True)
        _write(folder / "prompt/video_gen_prompt" / f"{task}.txt", f"Show how: {task}.\n")
        if task == "maze_round":
            _write(folder / "prompt/image_gen_prompt" / f"{task}.txt", "Paint the way out.\n")
        if task == "sorting":
            _write(folder / "judge_spec/_completeness_judge.txt", "0: mixed\n2: sorted\n")
        entries = []
        for level in (1, 2, 3):
            for number in numbers:
                name = f"{task}_lv{level}_{number:03d}"
                picture = _frame(len(found))
                write_png(folder / f"input_image/lv{level}" / f"{name}.png", picture)
                entries.append(
                    {
                        "id": name,
                        "rubric": [f"Overall task: leave by {name}.", "No wall.", "One dot."],
                        "answer": f"left {number}",
                    }
                )
                found.append({"id": name, "picture": picture, "task": task, "level": level})
        if rubrics:
            told: Any = entries if task == "maze_square" else [{"rubric": ["Solve it."]}]
            _write(folder / "judge_spec" / f"_judge_rubric_{task}.json", json.dumps(told))
    return found


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
