"""A comparison of many samples in a process of its own, whose memory and time are not the server's.

`python -m vgen_eval.viewer.contrasting anyway|"" RUN...` writes a `Told` in MessagePack to stdout.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vgen_eval.errors import VgenEvalError
from vgen_eval.results.contrast import Contrast, contrast
from vgen_eval.results.reading import name_apart, read_run

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["contrast_apart", "contrast_here"]

NICENESS = 5
"""Added to its own: pages come first."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    found: Contrast | None = None
    refused: str = ""
    cure: str | None = None


def contrast_here(paths: Sequence[Path], catalog: Catalog, *, anyway: bool) -> Contrast:
    """As `vgen-eval compare` has it; VgenEvalError where it refuses."""
    runs = [read_run(path, catalog) for path in paths]
    name_apart(runs)
    return contrast(runs, catalog, anyway=anyway)


def contrast_apart(paths: Sequence[Path], *, anyway: bool) -> Contrast:
    """The same from another process, with the plugins that are installed."""
    command = [sys.executable, "-m", __name__, "anyway" if anyway else "", *map(str, paths)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    try:
        told = msgspec.msgpack.decode(done.stdout, type=Told)
    except msgspec.DecodeError:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise VgenEvalError(
            f"the test ended without a result: {said[-1] if said else f'code {done.returncode}'}",
            cure="vgen-eval compare makes it on the command line",
        ) from None
    if told.found is None:
        raise VgenEvalError(told.refused, cure=told.cure)
    return told.found


def main(anyway: str, *paths: str) -> None:
    """Writes what came of it; whatever else is printed meanwhile goes to stderr."""
    from vgen_eval.plugins import Catalog

    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        found = contrast_here([*map(Path, paths)], Catalog.discover(), anyway=bool(anyway))
        told = Told(found=found)
    except VgenEvalError as exc:
        told = Told(refused=exc.what, cure=exc.cure)
    with out:
        out.write(msgspec.msgpack.encode(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
