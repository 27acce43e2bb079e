"""Which classes a picture's palette holds, and in which colours: lists, distractors, shuffles."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence

from vgen_eval.errors import BadSample, NoValidTarget
from vgen_eval.types import Scene

from vgen_eval_plugins.semantic.labels import PRESENT

__all__ = ["listed_classes", "shuffle_colours"]


def listed_classes(names: Sequence[str], rule: str, scene: Scene, *, seed: int) -> tuple[str, ...]:
    """The classes of the palette that a scene's prompt lists, in the palette's order.

    `all`; `oracle`: those in the truth, which the reader tells in the field `present`; `oracle+K`:
    and K others, drawn by a seed and the scene's own classes. BadSample when the sample does not
    tell its classes, or has none that the palette knows; NoValidTarget when its truth has none.
    """
    if rule == "all":
        return tuple(names)
    if PRESENT not in scene.fields:
        raise BadSample(
            f"the classes of the truth are asked for, and the sample has no field '{PRESENT}'",
            cure="use a reader that tells them, or `classes: all`",
        )
    if not scene.fields[PRESENT]:
        raise NoValidTarget("no pixel of the label map has a known class")
    told = scene.fields[PRESENT].split("\n")
    chosen = {name for name in names if name in told}
    if not chosen:
        raise BadSample(f"none of the palette's classes is in the truth: {', '.join(told)[:200]}")
    more = int(rule.partition("+")[2] or 0)
    others = [name for name in names if name not in chosen]
    digest = hashlib.sha256("\n".join([str(seed), *told]).encode()).digest()
    chosen |= set(random.Random(digest).sample(others, min(more, len(others))))
    return tuple(name for name in names if name in chosen)


def shuffle_colours(
    names: Sequence[str], *, seed: int, derangement: bool = False
) -> Mapping[str, str]:
    """Class -> the class whose colour it takes: one permutation for a seed.

    `derangement`: no class keeps its own, where there is another.
    """
    rng = random.Random(seed)
    taken = list(names)
    while True:
        rng.shuffle(taken)
        kept = any(name == other for name, other in zip(names, taken, strict=True))
        if not (derangement and kept and len(taken) > 1):
            return dict(zip(names, taken, strict=True))
