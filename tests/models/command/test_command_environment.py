"""Environments built from requirements: by uv and by venv, once, whole or not at all."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from commandkit import Start, ask
from vgen_eval.errors import NotRunnable, StorageError, UsageError
from vgen_eval_plugins.models.command.environment import (
    _locked,
    build_environment,
    environments_root,
)
from vgen_eval_plugins.models.command.requirements import Requirements, read_requirements

WHEEL = "tinypkg-1.0-py3-none-any.whl"


def write_wheel(folder: Path, *, value: int = 42, needs: str = "") -> Path:
    """A wheel of one module, made by hand."""
    meta = "Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0\n"
    meta += f"Requires-Dist: {needs}\n" if needs else ""
    files = {
        "tinypkg.py": f"VALUE = {value}\ndef main(): print(VALUE)\n",
        "tinypkg-1.0.dist-info/METADATA": meta,
        "tinypkg-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        "tinypkg-1.0.dist-info/entry_points.txt": "[console_scripts]\ntiny = tinypkg:main\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, "tinypkg-1.0.dist-info/RECORD"))
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        for name, text in {**files, "tinypkg-1.0.dist-info/RECORD": record}.items():
            archive.writestr(name, text)
    return folder / WHEEL


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")


def requirements(folder: Path, *lines: str) -> Requirements:
    return read_requirements(lines, file=None, folder=folder)


def left() -> list[str]:
    """What lies in the cache, locks apart."""
    return [path.name for path in environments_root().iterdir() if path.suffix != ".lock"]


def check_use(python: Path) -> None:
    """The environment is one, holds the package, and its scripts know where it lies."""
    say = "import tinypkg, sys; print(tinypkg.VALUE, sys.prefix != sys.base_prefix)"
    assert subprocess.check_output([python, "-c", say], text=True).split() == ["42", "True"]
    assert subprocess.check_output([python.parent / "tiny"], text=True) == "42\n"


def test_an_environment_is_built_once_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder, größer"
    folder.mkdir()
    write_wheel(folder)
    monkeypatch.setenv("PIP_TARGET", str(folder / "elsewhere"))
    monkeypatch.setenv("UV_SYSTEM_PYTHON", "1")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    wanted = requirements(folder, f"./{WHEEL}")
    python = build_environment(None, wanted)
    assert python.is_relative_to(tmp_path / "cache" / "envs")
    check_use(python)
    made = (python.parent.parent / "vgen-eval.json").stat().st_mtime_ns
    assert build_environment(None, wanted) == python
    assert (python.parent.parent / "vgen-eval.json").stat().st_mtime_ns == made
    assert not (folder / "elsewhere").exists()
    write_wheel(folder, value=43)  # another package, though named alike
    assert build_environment(None, requirements(folder, f"./{WHEEL}")) != python


def test_a_build_that_fails_names_why_and_leaves_nothing(tmp_path: Path) -> None:
    write_wheel(tmp_path, needs="no-such-package-at-all==9.9")
    wanted = requirements(tmp_path, f"./{WHEEL}")
    with pytest.raises(NotRunnable, match=r"exit code [12]: .*no-such-package-at-all") as caught:
        build_environment(None, wanted)
    assert "options.env" in str(caught.value.cure)
    assert left() == []


def test_a_build_that_was_killed_halfway_is_made_anew(tmp_path: Path) -> None:
    write_wheel(tmp_path)
    wanted = requirements(tmp_path, f"./{WHEEL}")
    python = build_environment(None, wanted)
    (python.parent.parent / "vgen-eval.json").unlink()
    (python.parent.parent / "half").touch()
    assert build_environment(None, wanted) == python
    assert not (python.parent.parent / "half").exists()


def test_an_installer_that_outlives_its_builder_keeps_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "one.lock"
    with _locked(lock) as held:
        child = subprocess.Popen(["sleep", "60"], pass_fds=(held,))
    try:
        with lock.open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        child.kill()
        child.wait()
    with _locked(lock):
        pass
    write_wheel(tmp_path)
    program = tmp_path / "uv"  # tells which descriptors it was given beside its own three
    program.write_text("#!/bin/sh\nls -l /proc/$$/fd >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(NotRunnable, match=r"\.lock"):
        build_environment(None, requirements(tmp_path, f"./{WHEEL}"), builder="uv")


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("VGEN_CACHE", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="Not a directory") as caught:
        build_environment(None, requirements(tmp_path))
    assert caught.value.cure == "VGEN_CACHE=DIR"


def test_two_processes_that_want_the_same_build_it_once(tmp_path: Path) -> None:
    write_wheel(tmp_path)
    code = (
        "import logging, sys; from pathlib import Path; logging.basicConfig(level=logging.INFO)\n"
        "from vgen_eval_plugins.models.command.environment import build_environment\n"
        "from vgen_eval_plugins.models.command.requirements import read_requirements\n"
        f"wanted = read_requirements(['./{WHEEL}'], file=None, folder=Path(sys.argv[1]))\n"
        "print(build_environment(None, wanted, builder='venv'))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said[0][0] == said[1][0]
    assert "".join(err for _, err in said).count("building an environment") == 1
    assert "another process builds it: waiting" in "".join(err for _, err in said)
    assert len(left()) == 1
    check_use(Path(said[0][0].strip()))


def test_a_program_runs_in_its_environment(start: Start, tmp_path: Path) -> None:
    write_wheel(tmp_path)
    (tmp_path / "needs.txt").write_text(f"# ours\n./{WHEEL}\n")
    body = """
import tinypkg
ready(versions={"tinypkg": "1.0"})
for r in requests():
    said = subprocess.check_output(["tiny"], text=True)
    reply(r, text=f"{tinypkg.VALUE} {said.strip()} {sys.prefix}")
"""
    adapter = start(body, env={"requirements_file": "needs.txt"})
    value, said, prefix = ask(adapter)["a"].split()
    assert (value, said) == ("42", "42")
    assert Path(prefix).parent == environments_root()


def test_a_python_that_is_not_here_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match=r"no Python 3\.2 here"):
        build_environment("3.2", requirements(tmp_path), builder="venv")
    assert left() == []


def test_requirements_are_names_https_addresses_and_files_of_the_folder(tmp_path: Path) -> None:
    write_wheel(tmp_path)
    sound = (
        "numpy", "numpy==2.1.0", "torch>=2.4,<3", "numpy (>=1.26)", "uvicorn[standard]~=0.30",
        "tomli>=2; python_version < '3.11'", f"numpy==2.1 --hash=sha256:{'a' * 64}",
        "torch==2.4.1+cpu", "net @ https://example.org/net-1.0-py3-none-any.whl",
        "net @ git+https://example.org/net.git@0123abc", "https://example.org/net-1.0.tar.gz",
    )  # fmt: skip
    found = requirements(tmp_path, *sound, f"./{WHEEL}", WHEEL, f"file:{WHEEL}")
    assert found.lines == (*sound, *[(tmp_path / WHEEL).as_uri()] * 3)


@pytest.mark.parametrize(
    "line",
    [
        "-e .", "--index-url https://evil.example", "-r more.txt", "numpy --pre",
        "numpy==1.0 --config-settings=x", "http://example.org/net.whl", "git+ssh://a/b.git",
        "net @ http://example.org/net.whl", "https://user:secret@example.org/net.whl",
        "net @ file:///etc/net.whl", "/etc/net.whl", "../net.whl", "file:///net.whl",
        "./absent.whl", "${SECRET}", "https://example.org/${HF_TOKEN}/net.whl", "a b", "a\nb", "",
        "numpy; $(id)", "numpy \\", "net @ ../x", "numpy; `id`", "numpy && id", "numpy | sh",
        # what would begin another line of the file, or an option on this one
        "numpy; os_name\n--index-url https://evil.example", "numpy\n==1.0", "numpy[a\n]",
        "numpy; os_name\x0b-e .", "numpy; os_name\u2028--pre", "numpy; os_name\r-r /etc/passwd",
        "net @ https://example.org/net.whl; os_name\n-e .",
        "numpy; os_name == 'posix' --index-url https://evil.example",
        "numpy; os_name == ' --pre'", "numpy; " + "a" * 60 + "!", "numpy; " + "a " * 9000 + "!",
    ],
)  # fmt: skip
def test_what_is_no_plain_requirement_is_refused(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "card"
    folder.mkdir()
    write_wheel(tmp_path)
    (tmp_path / WHEEL).rename(tmp_path / "net.whl")
    with pytest.raises(UsageError, match="requirement"):
        read_requirements([line], file=None, folder=folder)
