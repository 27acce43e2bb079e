"""LLDescribe: pictures, and golden texts, which only their owners have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lookalikes.files import write_jpeg
from lookalikes.scenes import crowd

__all__ = ["write"]

TEXTS = (
    "The picture is sharp and evenly lit, with soft blue discs and hardly any noise.",
    "The light is even, colours are cold; the discs at the border are cut by the frame.",
)


def write(root: Path, *, golden: bool = True) -> list[dict[str, Any]]:
    """`lldescribe/images/NNN.jpg`, and `lldescribe/golden.json` of {img_path, golden}."""
    folder = root / "lldescribe"
    records, found = [], []
    for number, text in enumerate(TEXTS):
        name = f"{number:03d}.jpg"
        rgb, _ = crowd(80 + number, 3)
        write_jpeg(folder / "images" / name, rgb)
        records.append({"img_path": name, "golden": text})
        found.append({"id": name, "picture": rgb, "lossy": True, "text": text})
    if golden:
        (folder / "golden.json").write_text(json.dumps(records), "utf-8")
    return found
