"""A clean environment without a network: vgen-eval's own wheel, and plugins beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

__all__ = ["ROOT", "CleanRoom", "build_wheel"]

ROOT = Path(__file__).parents[1]
SOURCES = (
    "harness", "plugins", "task_cards", "model_cards", "results/published",
    "setup.cfg", "pyproject.toml", "README.md", "LICENSE",
)  # fmt: skip
PIP = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "-q")


def _run(words: list[str], *, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, timeout=180, check=False
    )


def build_wheel(source: Path, target: Path) -> Path:
    """The wheel of a source folder, built by the setuptools that is installed here."""
    words = [sys.executable, "-m", "pip", "wheel", *PIP, "-w", str(target), str(source)]
    done = _run(words, cwd=source, env=dict(os.environ))
    assert done.returncode == 0, done.stderr[-3000:]
    (wheel,) = target.glob("*.whl")
    return wheel


class CleanRoom:
    """An environment of its own: vgen-eval from its wheel, libraries from the one that runs now.

    A path file lends it the libraries. Path files of the lent folder are not read, so what is
    installed as editable out there, vgen-eval among it, cannot be imported in here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder / "env", symlinks=True)
        self.bin = folder / "env" / "bin"
        (self.site,) = (folder / "env" / "lib").glob("python*/site-packages")
        lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        (self.site / "lent.pth").write_text("".join(f"{path}\n" for path in sorted(lent)))
        for name in ("pip", "pytest", "mypy"):
            self._add_program(name, f'"{self.bin}/python" -m {name}')
        self._add_program("ruff", f'"{sysconfig.get_path("scripts")}/ruff"')
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("VGEN_", "PYTHON"))}
        self.env |= {
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(folder / "env"),
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,  # it may name an index, or a folder of wheels
            "PIP_NO_BUILD_ISOLATION": "0",  # as pip reads it: 0 turns the isolation off
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        self.install(self._wheel_of_vgen_eval())

    def _add_program(self, name: str, words: str) -> None:
        script = self.bin / name
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        script.chmod(0o755)

    def _wheel_of_vgen_eval(self) -> Path:
        # from a copy: what an earlier build left in the checkout would be packed as well
        source = self.folder / "source"
        leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, source / name, ignore=leave)
            else:
                shutil.copy(ROOT / name, source / name)
        return build_wheel(source, self.folder)

    def install(self, wheel: Path) -> None:
        """Installs a wheel."""
        done = self.run("pip", "install", *PIP, str(wheel))
        assert done.returncode == 0, done.stderr[-3000:]

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A program of the environment, in a folder of its own unless one is named."""
        return _run([str(self.bin / words[0]), *words[1:]], cwd=cwd or self.folder, env=self.env)
