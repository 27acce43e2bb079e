"""A counting task whose data lies below a data root, and the command in a process of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from hub import SHA, Hub
from PIL import Image as Pillow

__all__ = ["FILES", "HUB", "environment", "picture", "run", "write_card", "write_data"]

HUB = {"repo": "owner/set", "revision": SHA, "files": ["*.png", "manifest.jsonl"]}


def picture(value: int = 9) -> bytes:
    file = io.BytesIO()
    Pillow.fromarray(np.full((4, 6, 3), value, np.uint8)).save(file, "PNG")
    return file.getvalue()


LINES = b"".join(
    json.dumps({"id": f"s{at}", "images": [f"{at}.png"], "query": "cats", "count": at}).encode()
    + b"\n"
    for at in range(3)
)
FILES = {"manifest.jsonl": LINES, **{f"{at}.png": picture(at) for at in range(3)}}


def write_card(folder: Path, **dataset: Any) -> Path:
    """A counting task over a manifest, its data below the data root."""
    card = {
        "task": "my/cats",
        "version": 1,
        "family": "counting",
        "dataset": {
            "reader": "manifest", "root": "cats", "options": {"target": "count"}, "n": 3,
            "licence": "CC0-1.0", "source": "https://example.org/cats", "citation": "none",
            **dataset,
        },
        "default_protocol": "plain",
        "protocols": {
            "plain": {
                "answers": [{"form": "text", "prompt": {"mid": "How many {query}?"},
                             "decoder": "count_text", "encoder": "count_text"}],
                "metrics": [{"name": "count_error"}],
                "primary": "mae",
                "failure_value": "zero_count",
            }
        },
    }  # fmt: skip
    path = folder / "task.yaml"
    path.write_text(json.dumps(card))
    return path


def write_data(root: Path) -> None:
    (root / "cats").mkdir(parents=True, exist_ok=True)
    for name, data in FILES.items():
        (root / "cats" / name).write_bytes(data)


def environment(*, hub: Hub | None = None, home: Path | None = None) -> dict[str, str]:
    """That of a process which asks this Hub."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "VGEN_"))}
    return kept | {"HF_ENDPOINT": hub.url if hub else "http://127.0.0.1:9", "HF_HOME": str(home)}


def run(*words: object, hub: Hub | None = None, home: Path | None = None, **more: str) -> Any:
    """A command of its own: the Hub's library reads its address when it is imported."""
    return subprocess.run(
        [sys.executable, "-m", "vgen_eval.cli", "data", *map(str, words)],
        env=environment(hub=hub, home=home) | more,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
