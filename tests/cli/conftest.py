"""The command in a process of its own, and a plugin whose models are loud or slow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from clikit import HARNESS, ROOT, Command

NAMES = ("loud", "slow", "unloadable", "leaky", "far")
MODELS = '''
import ctypes, logging, os, subprocess, sys, time
from vgen_eval.adapters import BaseAdapter
from vgen_eval.errors import AccessDenied
from vgen_eval.types import Output


class Loud(BaseAdapter):
    """Writes to stdout in every way there is."""

    def load(self):
        print("PYTHON")
        os.write(1, b"DESCRIPTOR\\n")
        subprocess.run([sys.executable, "-c", "print('CHILD')"])
        ctypes.CDLL(None).puts(b"LIBRARY")

    def generate(self, requests):
        for request in requests:
            print("PYTHON")
            yield Output(id=request.id, answer="3")


class Slow(BaseAdapter):
    """Takes its time for each answer."""

    def generate(self, requests):
        for request in requests:
            time.sleep(0.25)
            yield Output(id=request.id, answer="3")


class Unloadable(BaseAdapter):
    """Fails as somebody's code fails."""

    def load(self):
        raise ValueError("the weights\\x1b[31m are\\nnot there")

    def generate(self, requests):
        return iter(())


class Leaky(BaseAdapter):
    """Says its key wherever it can."""

    def load(self):
        logging.getLogger("plug_noise").warning("the key is %s", self.key())

    def generate(self, requests):
        for request in requests:
            if request.sample.startswith("c"):
                raise RuntimeError(f"refused {self.key()}")
            print(self.key()[:0], end="")
            yield Output(id=request.id, answer=f"3 {self.key()}")


class Far(BaseAdapter):
    """A service that denies all that begins with an r."""

    endpoint = "far.example:8443"

    def generate(self, requests):
        for request in requests:
            if request.sample.startswith("r"):
                raise AccessDenied("far.example: status 403", cure="another account")
            yield Output(id=request.id, answer="3")
'''
PACKAGE = """
from vgen_eval.hookspecs import hookimpl

NAMES = ("loud", "slow", "unloadable", "leaky", "far")

@hookimpl
def vgen_adapters():
    return {name: f"plug_noise.models:{name.title()}" for name in NAMES}
"""
CARD = "model: {0}\ntitle: Is {0}\nadapter: {0}\nanswers: [text]\nlicence: CC0-1.0\n"


def _environment(*places: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("VGEN_DATA", "COLUMNS")}
    paths = [*map(str, places), str(HARNESS), str(ROOT / "plugins")]
    return kept | {"PYTHONPATH": os.pathsep.join(paths), "VGEN_EVAL_PLUGINS": "plug-noise"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that sees the built-ins and the plugin `plug-noise`."""
    site = tmp_path / "site"
    files = {
        "plug_noise/__init__.py": PACKAGE,
        "plug_noise/models.py": MODELS,
        **{f"plug_noise/cards/{n}.yaml": CARD.format(n) for n in NAMES},
        "plug_noise-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plug-noise\n"
        "Version: 1.0\n",
        "plug_noise-1.0.dist-info/entry_points.txt": "[vgen_eval]\nplug-noise = plug_noise\n",
    }
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return _environment(site)


@pytest.fixture
def vgen(tmp_path: Path, environment: dict[str, str]) -> Command:
    """Runs `vgen-eval` with the given words in a folder of its own."""

    def run(*words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "vgen_eval.cli", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment | extra,
            timeout=120,
            check=False,
        )

    return run
