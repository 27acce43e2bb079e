"""Plugins that exist for one test: the toy, the toy with one fault, the example."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from contractkit import Make

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "plugin_example"


def _install(site: Path, name: str, package: str) -> None:
    """The metadata that an installer would have written."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vgen_eval]\n{name} = {package}\n")


def _forget(package: str) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[module]
    importlib.invalidate_caches()


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Installs the toy plugin, one text in one of its files replaced; gives its distribution."""

    def make(file: str = "", old: str = "", new: str = "") -> str:
        site = tmp_path / "site"
        package = site / "toyplug"
        shutil.copytree(HERE / "zoo" / "toyplug", package,
                        ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        # a heavy library that is nothing but its name
        (site / "torch.py").write_text("FAKE = True\n")
        if file:
            path = package / file
            text = path.read_text(encoding="utf-8")
            assert old in text
            text = text.replace(old, new)
            if "KEPT" in new:
                text += "\n\nKEPT = []\n"
            path.write_text(text, encoding="utf-8")
        _install(site, "toy-plug", "toyplug")
        monkeypatch.setenv("VGEN_EVAL_PLUGINS", "toy-plug")
        monkeypatch.syspath_prepend(str(site))
        _forget("toyplug")
        return "toy-plug"

    yield make
    _forget("toyplug")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Installs the example plugin; gives its distribution."""
    site = tmp_path / "site"
    _install(site, "plugin-example", "plugin_example")
    monkeypatch.setenv("VGEN_EVAL_PLUGINS", "plugin-example")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(site))
    _forget("plugin_example")
    return "plugin-example"
