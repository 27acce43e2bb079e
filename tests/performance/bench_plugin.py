"""The benchmarks' plugin: written into a throwaway folder, found through PYTHONPATH."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

NAME = "vgen-bench"
PACKAGE = "vgen_bench"

HOOKS = f'''\
from vgen_eval.hookspecs import hookimpl


@hookimpl
def vgen_datasets():
    return {{"echo": "{PACKAGE}.parts:Echo", "photos": "{PACKAGE}.parts:Photos"}}


@hookimpl
def vgen_adapters():
    return {{"noop": "{PACKAGE}.parts:Noop", "perfect": "{PACKAGE}.parts:Perfect"}}


@hookimpl
def vgen_decoders():
    return {{"word": "{PACKAGE}.parts:Word", "silence": "{PACKAGE}.parts:Silence"}}


@hookimpl
def vgen_metrics():
    return {{"match": "{PACKAGE}.parts:Match"}}
'''

NOOP = "model: noop\ntitle: No model\nadapter: noop\nanswers: [text]\nlicence: none\n"
PERFECT = (
    "model: perfect\ntitle: The truth\nrole: ceiling\nadapter: perfect\n"
    "answers: [image]\nlicence: none\n"
)

TEXT_TASK = """\
task: {name}
version: 1
family: toys
title: A word
dataset: {{reader: echo, options: {{n: {n}}}, licence: none, source: here, citation: none}}
protocols:
  plain:
    answers: [{{form: text, prompt: {{mid: "Say {{query}}"}}, decoder: word}}]
    metrics: [{{name: match}}]
    primary: accuracy
    failure_value: silence
default_protocol: plain
"""

PICTURE_TASK = """\
task: {name}
version: 1
family: toys
title: A disc in a photograph
dataset:
  reader: photos
  options: {{folder: "{folder}", n: {n}, dots: {dots}}}
  licence: none
  source: here
  citation: none
protocols:
  plain:
    answers:
      - {{form: image, prompt: {{mid: "Find {{query}}"}}, decoder: {codec}, encoder: {codec}}}
    metrics: [{{name: {metric}}}]
    primary: {primary}
    failure_value: {failure}
default_protocol: plain
"""


def text_task(name: str, n: int) -> str:
    """The card of a text task of `n` samples."""
    return TEXT_TASK.format(name=name, n=n)


def mask_task(name: str, n: int, folder: Path) -> str:
    """The card of a segmentation task over the photographs in `folder`."""
    return PICTURE_TASK.format(
        name=name, n=n, folder=folder, dots="false", codec="binary_mask", metric="mask_iou",
        primary="giou", failure="empty_mask",
    )  # fmt: skip


def dots_task(name: str, n: int, folder: Path) -> str:
    """The card of a counting task over the photographs in `folder`."""
    return PICTURE_TASK.format(
        name=name, n=n, folder=folder, dots="true", codec="red_dots", metric="count_error",
        primary="mae", failure="zero_count",
    )  # fmt: skip


def install(folder: Path, cards: Mapping[str, str]) -> dict[str, str]:
    """Writes the plugin with these cards, file name -> text, and gives an environment with it.

    This process finds it too.
    """
    package = folder / PACKAGE
    info = folder / f"{PACKAGE}-1.0.dist-info"
    (package / "cards").mkdir(parents=True)
    info.mkdir()
    shutil.copy(Path(__file__).with_name("bench_parts.py"), package / "parts.py")
    (package / "__init__.py").write_text(HOOKS)
    for name, text in {"noop": NOOP, "perfect": PERFECT, **cards}.items():
        (package / "cards" / f"{name}.yaml").write_text(text)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vgen_eval]\nbench = {PACKAGE}\n")
    sys.path.insert(0, str(folder))
    known = os.environ.get("PYTHONPATH")
    paths = os.pathsep.join([str(folder), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": paths}


def write_photos(folder: Path, n: int, *, side: int = 1024) -> None:
    """`n` pictures p000.jpg ... with smooth colours and some grain, (side, side)."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(0)
    grain = rng.integers(-12, 13, (side, side, 3), dtype=np.int16)
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(n):
        coarse = rng.integers(0, 200, (9, 9, 3), dtype=np.uint8)
        smooth = cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC)
        photo = np.clip(smooth.astype(np.int16) + grain, 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"p{at:03}.jpg"), photo)


def console_script() -> str:
    """The `vgen-eval` of the running interpreter's environment."""
    path = Path(sysconfig.get_path("scripts")) / "vgen-eval"
    if not path.exists():
        raise SystemExit(f"{path} is not there: pip install vgen-eval into this environment first")
    return str(path)
