"""The page about one's own data names every field and option, and its lines are read."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
from manifestkit import HEIGHT, WIDTH, make_photo, open_manifest, save
from vgen_eval_plugins.manifest.lines import Line
from vgen_eval_plugins.manifest.options import (
    DepthFiles,
    LabelFiles,
    NormalFiles,
    Options,
    Scores,
)

PAGE = (Path(__file__).parents[2] / "docs" / "your_data.md").read_text(encoding="utf-8")


def test_every_field_and_option_is_on_the_page() -> None:
    named = set(re.findall(r"`([a-z_0-9]+)`", PAGE))
    for record in (Line, Options, DepthFiles, NormalFiles, LabelFiles, Scores):
        assert {field.name for field in msgspec.structs.fields(record)} <= named


def test_the_lines_of_the_page_are_samples(tmp_path: Path) -> None:
    found = re.search(r"<!-- check: lines -->\n```json\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    save(tmp_path / "images" / "desk.png", make_photo())
    for name in ("desk_1", "desk_2", "desk_seen"):
        save(tmp_path / "masks" / f"{name}.png", np.eye(HEIGHT, WIDTH, dtype=np.uint8) * 255)
    data = open_manifest(tmp_path, *found[1].splitlines(), target="mask")
    assert data.verify(data.index()) == []
    assert data.load(data.index()[1]).fields == {"query": 'what "it" means, 100 %'}
