"""Small results to look at, and a catalog whose views are those of a test."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import vgen_eval
import yaml
from vgen_eval.plugins import Catalog, Component
from vgen_eval.viewer.looking import Look, Looker, Shown

__all__ = [
    "FAMILIES",
    "WithViews",
    "catalog",
    "copy_of",
    "every_family",
    "lines_of",
    "look",
    "looker",
    "only_run",
    "own_depth",
    "pane",
    "rewrite",
    "run_of",
]

CARDS = Path(__file__).parents[2] / "task_cards"

FAMILIES = {
    "depth": ("target", "prediction", "error"),
    "normals": ("target", "prediction", "error"),
    "referring": ("target", "prediction", "error"),
    "semantic": ("target", "prediction", "error"),
    "counting": ("target", "prediction"),
    "answers": ("target", "prediction"),
    "quality": ("target", "prediction"),
}
"""Built-in samples of a family -> roles that its view shows."""


@functools.cache
def every_family(folder: Path) -> Path:
    """Results of the oracle on two samples of each, made once a session; `folder`: its parent."""
    tasks = [f"samples/{name}" for name in FAMILIES]
    results = folder / "every_family"
    vgen_eval.evaluate(tasks=tasks, models=["oracle"], limit=2, bounds=False, output=str(results))
    return results


def run_of(results: Path, task: str) -> Path:
    (found,) = (results / "runs" / "oracle" / "samples" / f"{task}@standard").iterdir()
    return found


def copy_of(results: Path, task: str, folder: Path) -> Path:
    return Path(shutil.copytree(run_of(results, task), folder / "runs" / "m" / "t" / "r"))


@functools.cache
def catalog() -> Catalog:
    return Catalog.discover()


def looker(**more: Any) -> Looker:
    return Looker(catalog(), **more)


def look(run: Path, sample: str | None = None) -> Look:
    first = json.loads((run / "run.json").read_text())["samples"][0]
    return looker().look(run, sample or first)


def pane(found: Look, name: str) -> Shown:
    shown = found.find(name)
    assert shown is not None, [each.name for each in found.panes]
    return shown


class WithViews:
    """The installed catalog with other views."""

    def __init__(self, views: Mapping[str, Any]) -> None:
        self._catalog = Catalog.discover()
        self._views = views

    def component(self, kind: str, name: str, *, home: str) -> Component:
        if kind == "view" and name in self._views:
            return Component("toys", name, self._views[name], "1.0")
        return self._catalog.component(kind, name, home=home)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)


def own_depth(folder: Path, model: Any, **more: Any) -> Path:
    """The run of a model on a depth task of one's own: two scenes, 40 x 60; gives its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in ("near", "far"):
        shade = np.tile(np.linspace(0, 255, 60, dtype=np.uint8), (40, 1))
        PIL.Image.fromarray(np.repeat(shade[..., None], 3, 2)).save(folder / f"{name}.png")
        depth = np.tile(np.linspace(1, 5, 60, dtype=np.float32), (40, 1))
        depth[:4] = np.nan
        np.save(folder / f"{name}.npy", depth)
        lines.append(json.dumps({"id": name, "image": f"{name}.png", "depth": f"{name}.npy"}))
    (folder / "manifest.jsonl").write_text("\n".join(lines))
    card = yaml.safe_load((CARDS / "samples/depth.yaml").read_text())
    card |= {
        "task": "own/depth",
        "dataset": {
            "reader": "manifest", "options": {"target": "depth"}, "n": 2, "licence": "CC0-1.0",
            "source": "rule", "citation": "none",
        },
    }  # fmt: skip
    (folder / "task.yaml").write_text(json.dumps(card))
    asked = {"models": [model]} if isinstance(model, str) else {"model": model, "forms": ["image"]}
    vgen_eval.evaluate(
        tasks=[str(folder / "task.yaml")], output=str(folder / "results"), bounds=False,
        **{**asked, **more},
    )  # fmt: skip
    return only_run(folder / "results")


def only_run(results: Path) -> Path:
    (record,) = results.rglob("run.json")
    return record.parent


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rewrite(path: Path, change: Any) -> None:
    """Every line as `change` makes it."""
    lines = [json.dumps(change(line)) for line in lines_of(path)]
    path.write_text("\n".join(lines) + "\n")
