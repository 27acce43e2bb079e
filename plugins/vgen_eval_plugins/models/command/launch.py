"""From a card's words to a program: what is started, in which environment, known by which files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.paths import confined

from vgen_eval_plugins.models.command.process import Launch

__all__ = ["KEPT", "PROGRAMS", "digest_files", "folder_of", "make_launch", "missing_scripts"]

KEPT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE", "TMPDIR",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME", "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TORCH_HOME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "VGEN_CACHE",
)  # fmt: skip
"""Variables that a program gets from the harness's own environment, and every LC_*."""

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
"""The programs that ship with the built-in plugins."""

WHOLE = 1 << 26
"""Bytes up to which a file is digested whole."""

_SECRET = re.compile(
    r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?$|_(KEY|TOKEN|SECRET)_", re.IGNORECASE
)
_PYTHON = re.compile(r"python(3(\.\d+)?)?")


def folder_of(given: str | None) -> Path:
    """The folder that a program's relative paths mean; UsageError when it is none."""
    if given == "{programs}":
        return PROGRAMS
    folder = Path(given or ".").expanduser().resolve()
    if not folder.is_dir():
        raise UsageError(f"options.folder '{given}' is no folder")
    return folder


def make_launch(
    program: Sequence[str],
    *,
    folder: Path,
    python: Path | None,
    pass_env: Sequence[str],
    key_env: str | None,
) -> Launch:
    """What to start. `python`: the interpreter of the environment that was built, None for none.

    UsageError for words that cannot be meant, NotRunnable when the program is not here.
    """
    env = _environment(pass_env, key_env=key_env, python=python)
    interpreter = str(python or sys.executable)
    first, *rest = program
    if _PYTHON.fullmatch(first):
        first = "{python}"
    args = [
        word.replace("{python}", interpreter).replace("{folder}", str(folder))
        for word in (first, *rest)
    ]
    args[0] = _find(args[0], folder, path=env.get("PATH", os.defpath))
    list(_local_files(program, folder))  # for what it refuses
    return Launch(name=" ".join(program)[:80], args=tuple(args), folder=folder, env=env)


def missing_scripts(program: Sequence[str], folder: Path) -> list[str]:
    """Words for the script that a `python` is to run and that is not in the folder."""
    first, *rest = program
    if not (_PYTHON.fullmatch(first) or first == "{python}") or not rest:
        return []
    script = rest[0].replace("{folder}", str(folder))
    if not script.endswith(".py") or (folder / script).is_file():
        return []
    return [f"there is no {script} in {folder}: options.folder says where it lies"]


def _find(word: str, folder: Path, *, path: str) -> str:
    """The program's file: absolute, below the folder, or on PATH."""
    if Path(word).is_absolute():
        return word
    if "/" in word:
        try:
            return str(confined(folder, word))
        except ValueError as exc:
            raise UsageError(
                f"options.program: {exc}", cure="or name it by its whole path"
            ) from exc
    found = shutil.which(word, path=path)
    if found is None:
        raise NotRunnable(
            f"there is no program '{word}' on PATH",
            cure=f"install it, or write ./{word} for a file in {folder}",
        )
    return found


def _environment(
    pass_env: Sequence[str], *, key_env: str | None, python: Path | None
) -> dict[str, str]:
    """What the program sees of our environment: little, and no key that its card does not name."""
    for name in pass_env:
        if name != key_env and _SECRET.search(name):
            raise UsageError(
                f"options.pass_env: {name} is a key by its name",
                cure=f"name it in the card, needs: {{key_env: {name}}}: it is passed, and cut out "
                "of all that is kept or shown",
            )
    wanted = {*KEPT, *pass_env, *filter(None, [key_env])}
    env = {k: v for k, v in os.environ.items() if k in wanted or k.startswith("LC_")}
    if python is not None:
        env["VIRTUAL_ENV"] = str(python.parent.parent)
        env["PATH"] = f"{python.parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    return env


def digest_files(program: Sequence[str], files: Sequence[str], folder: Path) -> Mapping[str, str]:
    """Name -> sha256 of the folder's files that the words name, and of those listed beside.

    `files` may hold patterns (`src/**/*.py`). UsageError for what leads out of the folder, and
    for a listed file that is not there.
    """
    paths = dict(_local_files(program, folder))
    for name in files:
        paths |= dict(_listed_files(name, folder))
    return {name: _digest(path) for name, path in sorted(paths.items())}


def _local_files(program: Sequence[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Files of the folder among the words, also behind the `=` of --option=FILE."""
    for word in program:
        for name in {word, word.partition("=")[2]} - {""}:
            if name.startswith(("/", "-", "~")) or not _is_file(folder, name):
                continue
            try:
                path = confined(folder, name)
            except ValueError as exc:
                raise UsageError(
                    f"options.program: {exc}",
                    cure="or name it by its whole path; it is no part of the model's identity then",
                ) from exc
            yield path.relative_to(folder).as_posix(), path


def _is_file(folder: Path, name: str) -> bool:
    try:
        return (folder / name).is_file()
    except (OSError, ValueError):  # too long, or a NUL: a word and no file
        return False


def _listed_files(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        confined(folder, name)
        found = [path for path in sorted(folder.glob(name)) if path.is_file()]
    except (ValueError, NotImplementedError) as exc:
        raise UsageError(f"options.files: {exc}") from exc
    if not found:
        raise UsageError(f"options.files: no file '{name}' in {folder}")
    for path in found:
        yield path.relative_to(folder).as_posix(), path


def _digest(path: Path) -> str:
    """sha256 of a file; of one beyond WHOLE, its size, beginning and end: weights are gigabytes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE:
            return hashlib.sha256(file.read()).hexdigest()
        digest = hashlib.sha256(f"{size}\n".encode() + file.read(1 << 20))
        file.seek(-(1 << 20), os.SEEK_END)
        digest.update(file.read())
    return digest.hexdigest()
