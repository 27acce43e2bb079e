"""An environment of a program's own: built from its requirements on first use, then shared.

It lies below $VGEN_CACHE/envs (~/.cache/vgen-eval/envs) under a digest of what it is made of. An
environment cannot be moved once its scripts name its interpreter, so it is built where it stays;
the record that is written last says that it is whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from vgen_eval.errors import NotRunnable, StorageError

from vgen_eval_plugins.models.command.requirements import Requirements
from vgen_eval_plugins.models.service import words

__all__ = ["EnvOptions", "build_environment", "environments_root"]

log = logging.getLogger(__name__)

LAYOUT = 1
"""Version of how environments are laid out."""
RECORD = "vgen-eval.json"
LAST = 400
"""Characters of what a failed installer said last."""
WAIT_S = 0.2

Builder = Literal["uv", "venv"]

_PASSED = re.compile(
    r"(PATH|HOME|USER|LOGNAME|LANG|LC_.*|TMPDIR|XDG_.*|LD_LIBRARY_PATH|SSL_CERT_.*|SSH_AUTH_SOCK"
    r"|REQUESTS_CA_BUNDLE|(https?|all|no)_proxy|(HTTPS?|ALL|NO)_PROXY|PIP_.*|UV_.*|NETRC"
    r"|CC|CXX|CUDA_HOME|SOURCE_DATE_EPOCH|SYSTEMROOT)"
)
"""Variables that an installer sees: the user's own choice of index and proxy, and compilers."""
_ELSEWHERE = frozenset({
    "PIP_PREFIX", "PIP_PYTHON", "PIP_REQUIREMENT", "PIP_ROOT", "PIP_TARGET", "PIP_USER",
    "UV_PREFIX", "UV_PROJECT", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_TARGET", "UV_WORKING_DIR",
})  # fmt: skip
"""Of those: what would install into another place, or more than is asked."""
_USER = re.compile(r"(?<=://)[^/\s@]+@")

PythonVersion = Annotated[str, msgspec.Meta(pattern=r"^3\.\d{1,2}(\.\d{1,3})?$")]


class EnvOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The environment that a program runs in."""

    python: Annotated[
        PythonVersion | None,
        msgspec.Meta(description="Version of Python, 3.11; null: the one that runs vgen-eval."),
    ] = None
    requirements: Annotated[
        tuple[str, ...],
        msgspec.Meta(description="NAME==VERSION, NAME @ https://..., ./FILE.whl; no options."),
    ] = ()
    requirements_file: Annotated[
        str | None, msgspec.Meta(description="A file of such lines in the card's folder.")
    ] = None


def environments_root() -> Path:
    """Where environments lie."""
    cache = os.environ.get("VGEN_CACHE")
    return (Path(cache).expanduser() if cache else Path.home() / ".cache" / "vgen-eval") / "envs"


def build_environment(
    python: str | None, requirements: Requirements, *, builder: Builder | None = None
) -> Path:
    """The interpreter of an environment that holds the requirements; built unless it is there.

    Two processes that want the same one build it once. `builder`: uv where it is found, else venv
    and pip. NotRunnable, with the installer's last words, when it cannot be built; nothing of it
    is left then.
    """
    root = environments_root()
    folder = root / _digest(python, requirements)[:24]
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(root / f"{folder.name}.lock") as lock:
            if not _is_whole(folder):
                _build(folder, python, requirements, builder or _builder(), lock=lock)
    except OSError as exc:
        raise StorageError(f"{folder}: {exc.strerror or exc}", cure="VGEN_CACHE=DIR") from exc
    return _interpreter(folder)


def _digest(python: str | None, requirements: Requirements) -> str:
    """Of all that an environment is made of; another machine's does not fit here."""
    facts = {
        "layout": LAYOUT,
        "python": python or f"{sys.version_info[0]}.{sys.version_info[1]} of {sys.base_prefix}",
        "platform": [sys.platform, platform.machine()],
        "requirements": sorted(requirements.given),
        "files": sorted(requirements.files.items()),
    }
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"


def _is_whole(folder: Path) -> bool:
    """Is the record there, and the interpreter not that of a Python that is gone?"""
    return (folder / RECORD).is_file() and os.access(_interpreter(folder), os.X_OK)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Alone with the environment; the lock goes with its process, however that ends.

    Its file descriptor is for the installers that the process starts: one that outlives a builder
    which was killed still writes, so it still holds the lock.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        told = False
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    log.warning("%s: another process builds it: waiting", path.stem)
                    told = True
                time.sleep(WAIT_S)
        yield fd
    finally:
        os.close(fd)


def _builder() -> Builder:
    return "venv" if shutil.which("uv") is None else "uv"


def _build(
    folder: Path, python: str | None, requirements: Requirements, builder: Builder, *, lock: int
) -> None:
    """Makes the environment; whatever stops it, Ctrl-C too, leaves nothing of it."""
    shutil.rmtree(folder, ignore_errors=True)  # of a build that was killed
    log.warning(
        "building an environment of %d requirements with %s in %s: this is done once",
        len(requirements.lines), builder, folder,
    )  # fmt: skip
    start = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="vgen-eval-") as scratch:
            wanted = Path(scratch) / "requirements.txt"
            wanted.write_text("".join(f"{line}\n" for line in requirements.lines), "utf-8")
            steps = _with_uv if builder == "uv" else _with_venv
            for step in steps(folder, python, wanted, has_any=bool(requirements.lines)):
                _install(step, cwd=scratch, lock=lock)
            installed = _install(_freeze(folder, builder), cwd=scratch, lock=lock)
        record = {"built_by": builder, "python": python, "requirements": requirements.given,
                  "installed": installed.split("\n")}  # fmt: skip
        (folder / RECORD).write_bytes(msgspec.json.encode(record))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    log.warning("built %s in %.0f s", folder.name, time.monotonic() - start)


def _with_uv(
    folder: Path, python: str | None, wanted: Path, *, has_any: bool
) -> Iterator[Sequence[str]]:
    uv = _program("uv")
    yield [uv, "venv", "--no-project", "--python", python or sys.executable, str(folder)]
    if has_any:
        interpreter = str(_interpreter(folder))
        yield [uv, "pip", "install", "--python", interpreter, "--requirements", str(wanted)]


def _with_venv(
    folder: Path, python: str | None, wanted: Path, *, has_any: bool
) -> Iterator[Sequence[str]]:
    yield [_find_python(python), "-m", "venv", str(folder)]
    if has_any:
        yield [*_pip(folder), "install", "--requirement", str(wanted)]


def _pip(folder: Path) -> list[str]:
    quiet = ("--disable-pip-version-check", "--no-input")
    return [str(_interpreter(folder)), "-m", "pip", *quiet]


def _freeze(folder: Path, builder: Builder) -> Sequence[str]:
    if builder == "uv":
        return [_program("uv"), "pip", "freeze", "--python", str(_interpreter(folder))]
    return [*_pip(folder), "freeze"]


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise NotRunnable(f"there is no program '{name}' on PATH", cure=f"pip install {name}")
    return found


def _find_python(version: str | None) -> str:
    """An interpreter of that version for venv, which downloads none as uv does."""
    own = platform.python_version_tuple()
    if version is None or tuple(version.split(".")) == own[: version.count(".") + 1]:
        return sys.executable
    found = shutil.which(f"python{version}")
    # a shim of that name may stand for no Python at all
    if found is None or subprocess.run([found, "-V"], capture_output=True, check=False).returncode:
        raise NotRunnable(f"there is no Python {version} here", cure="pip install uv: it gets one")
    return found


def _install(command: Sequence[str], *, cwd: str, lock: int) -> str:
    """What a step says on stdout; NotRunnable with its last lines when it fails."""
    done = subprocess.run(
        command, cwd=cwd, env=dict(_environment()), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False, pass_fds=(lock,),
    )  # fmt: skip
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).split("\n")]
        last = _USER.sub("", words(" | ".join(filter(None, said)), longest=1 << 20))[-LAST:]
        step = " ".join((Path(command[0]).name, *command[1:3]))
        raise NotRunnable(
            f"the environment cannot be built: {step} ended with exit code {done.returncode}: "
            f"{last}",
            cure="mend options.env of the card; nothing of it was left",
        )
    return done.stdout.strip()


def _environment() -> Mapping[str, Any]:
    return {
        name: value
        for name, value in os.environ.items()
        if _PASSED.fullmatch(name) and name not in _ELSEWHERE
    }
