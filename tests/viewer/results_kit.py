"""Results to look at: real runs of every family, by sound models and by hostile ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import vgen_eval
import yaml
from vgen_eval.results.card import ResultCard
from vgen_eval.types import Request

sys.path.insert(0, str(Path(__file__).parents[1] / "video"))
import vgirun

__all__ = [
    "BIG",
    "BIG_TASK",
    "BOXED_TASK",
    "EVIL_IDS",
    "FAMILIES",
    "LONG",
    "MANY",
    "MANY_TASK",
    "MARK",
    "World",
    "make_world",
    "run_of",
]

CARDS = Path(__file__).parents[2] / "task_cards"
MANY = 130
"""Samples of the task that needs three pages."""
MANY_TASK, BIG_TASK, BOXED_TASK = "own/many", "own/big", "own/boxed"
BIG = 1024
"""Pixels a side of the task of large maps."""
LONG = 1_000_000
"""Letters of the longest text that a model says."""
MARK = "vgenHostile"
"""Global that a script out of a text would set."""
FAMILIES = {
    "depth": "samples/depth", "normals": "samples/normals", "mask": "samples/referring",
    "labels": "samples/semantic", "count": "samples/counting", "quality": "samples/quality",
    "option": "samples/perception", "answer": "samples/answers",
    "description": "samples/description", "puzzle": "samples/hanoi",
}  # fmt: skip
"""What is measured -> a task of it; by films judged in words there is `video/vgi` too."""

EVIL_IDS = (
    f'<img src=x onerror="window.{MARK}=1">',
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    'quote"s & <b>bold</b>',
    "\u202etxt.exe\u202c \u0007bell",
    "naïve — 北京 🎈",
    "a" * 300,
)
"""Of samples of the task with many."""
EVIL_TEXTS = (
    f"<script>window.{MARK}=1;alert(1)</script>",
    f'<img src=x onerror="window.{MARK}=2;alert(2)"><svg onload="window.{MARK}=3">',
    f'</script></textarea></bdi><iframe srcdoc="<script>top.{MARK}=4</script>"></iframe>',
    f'<a href="javascript:window.{MARK}=5">3</a> [x](javascript:alert(3))',
    "\u202eright to left\u202c \x1b[31mred\x1b[0m \x00\x07\x7f\u2066 isolate",
    "{{ 7 * 7 }} {% raise %} ${7*7} <%= 7 %>",
    "\n\n\n<b>bold</b>\t<style>body{display:none}</style>",
)
"""What the hostile model says, whatever it is asked."""


class World:
    """A results folder, and where its data lie."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.data = folder / "data"


def make_world(folder: Path) -> World:
    """Every run that the tests look at, in about ten seconds."""
    world = World(folder)
    _write_many(folder / "many")
    _write_big(folder / "big")
    _write_boxed(folder / "boxed")
    puzzles = [FAMILIES["puzzle"], "samples/maze"]
    _evaluate(world, tasks=puzzles, models=["oracle"], limit=1)
    others = [task for task in FAMILIES.values() if task not in puzzles]
    _evaluate(world, tasks=others, models=["oracle", "classical"], limit=2)
    maps = [FAMILIES[family] for family in ("depth", "normals", "mask", "labels")]
    _evaluate(world, tasks=maps, models=["blind"], limit=2)
    # two that differ in their outcome over and over, one sample a group: a comparison says who won
    many = str(folder / "many" / "task.yaml")
    _evaluate(world, tasks=many, model=near, model_name="near", forms=["text"])
    _evaluate(world, tasks=many, model=hostile, model_name="hostile", forms=["text"])
    texts = [FAMILIES[family] for family in ("count", "option", "answer", "description", "quality")]
    _evaluate(world, tasks=texts, model=hostile, model_name="hostile", forms=["text"], limit=2)
    flaky = {"hang_s": 0.2}
    _evaluate(
        world, tasks=[FAMILIES["depth"], FAMILIES["count"], FAMILIES["labels"]], models=["flaky"],
        attempts=2, model_args=flaky, set={"limits.timeout_s": 0.1, "limits.backoff_s": 0.0},
    )  # fmt: skip
    big = str(folder / "big" / "task.yaml")
    _evaluate(world, tasks=big, models=["oracle", "classical"])
    _evaluate(world, tasks=big, model=half_size, model_name="half-size", forms=["image"])
    boxed = str(folder / "boxed" / "task.yaml")
    _evaluate(world, tasks=boxed, model=as_seen, model_name="as-seen", forms=["image"])
    vgirun.prepare(folder)
    vgirun.CALLS.clear()
    vgirun.run(folder, out="results")
    return world


def _evaluate(world: World, **asked: Any) -> list[ResultCard]:
    return list(vgen_eval.evaluate(bounds=False, output=str(world.results), **asked))


def run_of(results: Path, task: str, model: str) -> Path:
    """The folder of the only run of a model on a task, below the results folder."""
    found = []
    for record in sorted(results.rglob("run.json")):
        asked = json.loads(record.read_text())
        if asked["task"].split("@")[0].split(":")[-1] == task and asked["model"].endswith(model):
            found.append(record.parent)
    (one,) = found
    return one


# --- models -------------------------------------------------------------------------------


def near(request: Request) -> str:
    """The right count for two of three samples, which it finds in its prompt; 2 too many else."""
    number = _number(request)
    return str(number % 7 + (0 if number % 3 else 2))


def hostile(request: Request) -> str:
    """Markup, scripts, control characters; a million letters for one; a count at its end."""
    number = _number(request)
    text = EVIL_TEXTS[number % len(EVIL_TEXTS)]
    if number == 12:
        text = ("<b>long</b> and longer, \u202e" * (LONG // 20))[: LONG - 40]
    return f"{text}\nAnswer: {number % 7 + number % 4}"


def half_size(request: Request) -> Any:
    """The picture at half its size, turned grey: a map of another size."""
    picture = request.images[0].array
    return np.repeat(picture[::2, ::2].mean(axis=2).astype(np.uint8)[:, :, None], 3, axis=2)


def as_seen(request: Request) -> Any:
    """The picture as the model saw it, with its bars."""
    return request.images[0].array


def _number(request: Request) -> int:
    """The number that the query says; of a sample without one, a sum of its letters."""
    words = request.fields.get("query", "").split()
    return int(words[-1]) if words and words[-1].isdigit() else sum(map(ord, request.sample))


# --- data of one's own --------------------------------------------------------------------


def _write_many(folder: Path) -> None:
    """A counting task of `MANY` samples over four pictures; some ids and tags are hostile."""
    folder.mkdir()
    for at in range(4):
        _photo(at, 96).save(folder / f"{at}.png")
    lines = []
    for at in range(MANY):
        name = EVIL_IDS[at - 5] if 5 <= at < 5 + len(EVIL_IDS) else f"s{at:03d}"
        tags = {"half": "even" if at % 2 == 0 else "odd"}
        if at % 50 == 9:
            tags["<i>tag</i>"] = '"><script>alert(9)</script>'
        line = {
            "id": name, "image": f"{at % 4}.png", "count": at % 7, "query": f"things number {at}",
            "tags": tags,
        }  # fmt: skip
        lines.append(json.dumps(line))
    (folder / "manifest.jsonl").write_text("\n".join(lines))
    title = f'Many <b onmouseover="window.{MARK}=6">samples</b>'
    _write_card(folder, "counting", MANY_TASK, "count", MANY, title)


def _write_big(folder: Path) -> None:
    """Depth of large pictures: two planes and a ball, 1 % of noise, a hole without a truth."""
    folder.mkdir()
    _photo(7, BIG).save(folder / "scene.png")
    y, x = np.mgrid[0:BIG, 0:BIG] / BIG
    depth = 2.0 + 6.0 * y + np.random.default_rng(0).normal(0, 0.02, (BIG, BIG))
    ball = (x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.06
    depth[ball] -= 1.0
    depth[40:140, 60:260] = np.nan
    np.save(folder / "scene.npy", depth.astype(np.float32))
    line = {"id": "scene", "image": "scene.png", "depth": "scene.npy"}
    (folder / "manifest.jsonl").write_text(json.dumps(line))
    _write_card(folder, "depth", BIG_TASK, "depth", 1, "One large depth map")


def _write_boxed(folder: Path) -> None:
    """Depth of a picture that the model sees smaller, between bars."""
    folder.mkdir()
    _photo(3, 160).crop((0, 0, 160, 120)).save(folder / "scene.png")
    depth = np.linspace(1, 5, 120 * 160, dtype=np.float32).reshape(120, 160)
    np.save(folder / "scene.npy", depth)
    line = {"id": "scene", "image": "scene.png", "depth": "scene.npy"}
    (folder / "manifest.jsonl").write_text(json.dumps(line))
    _write_card(folder, "depth", BOXED_TASK, "depth", 1, "Seen between bars")
    card = json.loads((folder / "task.yaml").read_text())
    card["protocols"]["standard"]["input"] = {"size": [96, 256], "fit": "letterbox"}
    (folder / "task.yaml").write_text(json.dumps(card))


def _write_card(folder: Path, like: str, task: str, target: str, n: int, title: str) -> None:
    """The shipped task card about these data."""
    card = yaml.safe_load((CARDS / f"samples/{like}.yaml").read_text())
    card |= {
        "task": task,
        "title": title,
        "dataset": {
            "reader": "manifest", "options": {"target": target}, "n": n, "licence": "CC0-1.0",
            "source": "rule", "citation": "none",
        },
    }  # fmt: skip
    (folder / "task.yaml").write_text(json.dumps(card))


def _photo(seed: int, side: int) -> PIL.Image.Image:
    coarse = np.random.default_rng(seed).integers(0, 255, (5, 5, 3), np.uint8)
    return PIL.Image.fromarray(coarse).resize((side, side), PIL.Image.Resampling.BICUBIC)
