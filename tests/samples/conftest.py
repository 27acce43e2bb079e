"""The tiny photographs, importable as a package would be, and readers of lines about them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from samplekit import PACKAGE, Make, Photos
from vgen_eval.cards import convert
from vgen_eval_plugins.samples.reader import Samples


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Photos]:
    folder = tmp_path / "packages" / PACKAGE / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    yield Photos(folder)
    assert PACKAGE not in sys.modules


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A reader of these lines; `scenes`: a list of scenes, or the text of their file."""

    def build(
        kind: str,
        *lines: Any,
        scenes: Any = None,
        scenes_file: str = "scenes.json",
        **options: Any,
    ) -> Samples:
        folder = tmp_path / "card"
        folder.mkdir(exist_ok=True)
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        (folder / "lines.jsonl").write_text(text)
        if scenes is not None:
            named = scenes if isinstance(scenes, str) else json.dumps(scenes)
            (folder / "scenes.json").write_text(named)
            options["scenes"] = scenes_file
        chosen = {"annotations": "lines.jsonl", "kind": kind, "package": PACKAGE, **options}
        record = convert(Samples.Options, chosen, file="card.yaml")
        return Samples(record, root=None, folder=folder)

    return build
