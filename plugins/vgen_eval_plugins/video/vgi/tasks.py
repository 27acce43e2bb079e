"""VGI-Bench's tasks: their domains, their skills, which have a picture for an answer.

Source: data/task_names.yaml of VGI-Bench (arXiv 2608.19583), kept as a table here; the domains and
the skills are its own words.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

__all__ = ["DOMAINS", "IMAGE_TASKS", "LEVELS", "SKILLS", "TASKS", "Task"]

LEVELS: Mapping[str, str] = {"lv1": "easy", "lv2": "mid", "lv3": "hard"}
"""As in file names -> as in the paper."""

DOMAINS = (
    "structured_puzzles", "visual_organization", "spatiotemporal_dynamics", "physical_manipulation",
)  # fmt: skip
SKILLS = (
    "planning", "spatial", "physics", "attribute_grounding", "temporal", "affordance", "topology",
)  # fmt: skip


class Task(msgspec.Struct, frozen=True):
    """One of the 27."""

    name: str
    domain: str
    skills: tuple[str, ...]
    gt: tuple[str, ...] = ()
    """What the published scores' judge was shown of the solution: image, text, both or none."""


_TABLE = """
structured_puzzles maze_square planning image
structured_puzzles maze_round planning image
structured_puzzles sliding_puzzle planning image
structured_puzzles jigsaw_puzzle attribute_grounding image
structured_puzzles hanoi_tower planning image
structured_puzzles leave_parking_lot planning text
structured_puzzles polyform_tiling spatial,planning image
structured_puzzles euler_path temporal,planning -
visual_organization sorting attribute_grounding,planning image
visual_organization pick_unique attribute_grounding,spatial image,text
visual_organization color_mix attribute_grounding,physics -
visual_organization object_packing attribute_grounding,affordance -
visual_organization classify_blocks attribute_grounding,planning -
spatiotemporal_dynamics rolling_dice spatial,temporal -
spatiotemporal_dynamics recover_2d_net spatial,planning image
spatiotemporal_dynamics expand_3d_to_2d spatial image
spatiotemporal_dynamics light_reflection physics -
spatiotemporal_dynamics section_3d_figure spatial image
spatiotemporal_dynamics clock_running temporal image,text
spatiotemporal_dynamics gears spatial,temporal image,text
physical_manipulation rope_untangle topology,physics text
physical_manipulation untie_knot topology,physics text
physical_manipulation unhook_ring planning,physics text
physical_manipulation tool_use_common affordance,physics -
physical_manipulation tool_use_uncommon affordance,physics -
physical_manipulation block_assembly spatial,planning -
physical_manipulation remove_obstacle affordance,physics -
"""


def _read(line: str) -> Task:
    domain, name, skills, gt = line.split()
    shown = () if gt == "-" else tuple(gt.split(","))
    return Task(name=name, domain=domain, skills=tuple(skills.split(",")), gt=shown)


TASKS: Mapping[str, Task] = {
    task.name: task for task in (_read(line) for line in _TABLE.strip().splitlines())
}
IMAGE_TASKS = (
    "classify_blocks", "clock_running", "color_mix", "gears", "light_reflection", "maze_round",
    "maze_square", "object_packing", "pick_unique", "polyform_tiling", "recover_2d_net",
    "rolling_dice", "section_3d_figure", "sorting", "tool_use_common", "tool_use_uncommon",
)  # fmt: skip
"""Those that a last picture shows solved or not."""
