"""Throwaway plugins: a package and the metadata an installer would have written, in a folder."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from throwaway import NO_OPTIONS, TASK, Install, component_class, hooks
from vgen_eval.discovery import SWITCH


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Make distributions importable for one test, in this process and in its children.

    Without `entries` the distribution has one entry point that names its package.
    """
    monkeypatch.delenv(SWITCH, raising=False)

    def write(
        name: str,
        files: Mapping[str, str],
        *,
        entries: Mapping[str, str] | None = None,
        version: str = "1.0",
        direct_url: Any = None,
        installer: str | None = None,
        site: str = "site",
    ) -> Path:
        folder = tmp_path / site
        package = name.replace("-", "_").lower()
        lines = entries if entries is not None else {name: package}
        info = folder / f"{package}-{version}.dist-info"
        texts = {folder / path: text for path, text in files.items()}
        texts[info / "METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        texts[info / "entry_points.txt"] = "[vgen_eval]\n" + "".join(
            f"{label} = {value}\n" for label, value in lines.items()
        )
        if direct_url is not None:
            texts[info / "direct_url.json"] = (
                direct_url if isinstance(direct_url, str) else json.dumps(direct_url)
            )
        if installer is not None:
            texts[info / "INSTALLER"] = installer
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if str(folder) not in sys.path:
            monkeypatch.syspath_prepend(str(folder))
        importlib.invalidate_caches()
        return folder

    before = set(sys.modules)
    yield write
    for module in set(sys.modules) - before:
        origin = getattr(sys.modules[module], "__file__", None) or ""
        if origin.startswith(str(tmp_path)):
            del sys.modules[module]


@pytest.fixture
def broken_three(install: Install) -> Install:
    """Three plugins: one cannot be imported, one exits, one prints; each has a task card."""
    sources = {
        "raises": "import a_module_that_is_not_there\n",
        "exits": "import sys\nsys.exit(3)\n",
        "prints": 'print("{not json")\nNAME = "quiet"\n'
        + hooks(metrics={"quiet": "plug_prints.parts:Quiet"}),
    }
    for word, source in sources.items():
        install(
            f"plug-{word}",
            {
                f"plug_{word}/__init__.py": source,
                f"plug_{word}/parts.py": NO_OPTIONS
                + component_class("Quiet", "update", "merge", "compute"),
                f"plug_{word}/cards/task.yaml": TASK.format(name=f"toys/{word}"),
            },
        )
    return install
