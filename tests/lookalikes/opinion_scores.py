"""The seven sets of Q-Bench A3: its lists of scores, and pictures where their makers put them.

Scores are texts in half of the lists, in CGIQA's with a blank after them, as in Q-Bench's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalikes.files import write_jpeg, write_png

__all__ = ["SETS", "write"]

SETS: dict[str, tuple[str, str, Callable[[int], str]]] = {
    "koniq": ("koniq.json", "1024x768", lambda at: f"{826373 + 17 * at}.jpg"),
    "spaq": ("spaq.json", "TestImage", lambda at: f"{at + 1:05d}.jpg"),
    "livefb": ("flive.json", "database", lambda at: f"voc_emotic_ava/AVA__{at + 9}.jpg"),
    "livec": ("livec.json", "Images/trainingImages", lambda at: f"t{at + 1}.png"),
    "cgiqa": ("cgi.json", "database", lambda at: f"{'game' if at < 3000 else 'movie'}_{at}.png"),
    "agiqa": ("agi.json", "images", lambda at: f"AttnGAN_normal_{at:03d}.jpg"),
    "kadid": ("kadid.json", "images", lambda at: f"I{at // 3 + 1:02d}_01_{at % 3 + 1:02d}.png"),
}
"""Folder below the data root -> its list, where the pictures lie, their names."""

AS_TEXT = {"koniq", "cgiqa", "agiqa", "kadid"}


def write(root: Path, name: str, *, samples: int = 6) -> list[dict[str, Any]]:
    """The list in Q-Bench's folders below `root/name`, and pictures; keys score and part as well.

    CGIQA-6K gets all of its 6,000 records, the first and the last `samples` / 2 of which have
    pictures: which part a record is of hangs on its place.
    """
    file, folder, naming = SETS[name]
    count = 6000 if name == "cgiqa" else samples
    there = {*range(samples // 2), *range(count - (samples - samples // 2), count)}
    records, found = [], []
    for at in range(count):
        score = round(1 + 80 * ((at * 37) % 101) / 101, 4)
        picture = naming(at)
        told: Any = score if name not in AS_TEXT else f"{score}{' ' * (name == 'cgiqa')}"
        records.append({"img_path": picture, "gt_score": told})
        if at not in there:
            continue
        pixels = _pixels(at)
        path = root / name / folder / picture
        (write_jpeg if picture.endswith(".jpg") else write_png)(path, pixels)
        part = "" if name != "cgiqa" else "game" if at < 3000 else "movie"
        found.append(
            {"id": picture, "picture": pixels, "lossy": picture.endswith(".jpg"), "score": score,
             "part": part, "group": picture.split("_")[0] if name == "kadid" else picture}
        )  # fmt: skip
    lists = root / name / "a3_iqa_databases" / "jsons"
    lists.mkdir(parents=True, exist_ok=True)
    (lists / file).write_text(json.dumps(records), encoding="utf-8")
    return found


def _pixels(seed: int) -> NDArray[np.uint8]:
    rows, columns = np.mgrid[:48, :64]
    wave = 128 + 100 * np.sin((rows + seed) / 9) * np.cos(columns / (5 + seed % 7))
    return np.repeat(wave[..., None], 3, axis=2).astype(np.uint8)
