"""Tiny specialists, and the programs that drive them as processes of their own."""

from __future__ import annotations

import base64
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_specialists
from PIL import Image
from vgen_eval_plugins.models.command.launch import PROGRAMS
from vgen_eval_plugins.standins.vision_ops import mend_torchvision

Message = dict[str, Any]
MEND = """
from vgen_eval_plugins.standins.vision_ops import mend_torchvision
mend_torchvision()
"""
"""Runs in each program before anything else: torchvision must import beside this torch."""
SIZE = (40, 30)
"""Width and height of the test's picture."""


@pytest.fixture(scope="session")
def picture() -> Image.Image:
    noise = np.random.default_rng(3).integers(0, 256, (SIZE[1], SIZE[0], 3), np.uint8)
    return Image.fromarray(noise)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Name of a tiny model -> its folder."""
    mend_torchvision()
    import torch

    torch.set_num_threads(1)
    base = tmp_path_factory.mktemp("specialists")
    return {
        "depth": tiny_specialists.build_depth_anything(base / "depth"),
        "clip": tiny_specialists.build_clip(base / "clip"),
        "oneformer": tiny_specialists.build_oneformer(base / "oneformer"),
        "sam3": tiny_specialists.build_sam3(base / "sam3"),
        "marigold_depth": tiny_specialists.build_marigold(base / "marigold_depth", "Depth"),
        "marigold_normals": tiny_specialists.build_marigold(base / "marigold_normals", "Normals"),
    }


def converse(program: str, messages: Sequence[Message]) -> tuple[list[Message], int]:
    """What a program says to the messages and its exit code, run as a script in this process.

    A process of its own would import torch once more for each.
    """
    stdin, path, stdout = sys.stdin, list(sys.path), os.dup(1)
    sys.stdin = io.StringIO("".join(json.dumps(message) + "\n" for message in messages))
    sys.path.insert(0, str(PROGRAMS))
    code = 0
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 1)
        try:
            runpy.run_path(str(PROGRAMS / program), run_name="__main__")
        except SystemExit as exc:
            code = int(str(exc.code))
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
            sys.stdin, sys.path[:] = stdin, path
            sys.modules.pop("speaking", None)
        said.seek(0)
        return [json.loads(line) for line in said.read().splitlines()], code


def converse_apart(
    program: str, messages: Sequence[Message], folder: Path, *, mended: bool = True
) -> tuple[list[Message], int]:
    """The same in a process of its own; `folder` is scratch. `mended`: with a torchvision."""
    if mended:
        (folder / "sitecustomize.py").write_text(MEND, encoding="utf-8")
    # as a card starts it: in its own folder; nothing may be looked up on the hub
    env = {
        **os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, program],
        input="".join(json.dumps(message) + "\n" for message in messages),
        cwd=PROGRAMS,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def hello(place: Path | None, **config: Any) -> Message:
    checkpoint = None if place is None else {"repo": None, "revision": None, "path": str(place)}
    base = {"type": "hello", "protocol": 1, "process": 0, "device": "cpu"}
    return {**base, "checkpoint": checkpoint, "config": config}


def request(form: str, picture: Image.Image, **more: Any) -> Message:
    file = io.BytesIO()
    picture.save(file, "PNG")
    png = base64.b64encode(file.getvalue()).decode()
    base = {"id": form, "form": form, "prompt": "the cat", "choices": [], "seed": 5, "fields": {}}
    return {**base, "images": [png], **more}


def read_array(text: str) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False)
    return found


def read_picture(text: str) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))
