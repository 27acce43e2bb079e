"""A real disk that is full in the middle of a run: an error with its cure, and then it goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kit
import pytest

RUN = """
import sys, vgen_eval
task, model, disk = sys.argv[1:]
filler = open(f"{disk}/filler", "wb")
with filler:
    filler.write(bytes(350_000))
arguments = dict(tasks=task, model=model, output=disk + "/out", bounds=False)
try:
    vgen_eval.evaluate(**arguments)
except vgen_eval.VgenEvalError as exc:
    print(type(exc).__name__, exc.exit_code, exc, "|", exc.cure)
else:
    sys.exit("the disk was never full")
import os
os.unlink(f"{disk}/filler")
(card,) = vgen_eval.evaluate(**arguments)
print(card.complete, card.content_digest)
"""


def test_a_run_on_a_disk_that_is_full_ends_with_its_cure_and_goes_on(toys: Path) -> None:
    mount = toys / "disk"
    mount.mkdir()
    if shutil.which("unshare") is None or in_small_disk(mount, ["true"]).returncode != 0:
        pytest.skip("no file system can be mounted here")
    task = kit.task(toys, n=45, protocol={"answers": [kit.IMAGE]})
    model = kit.model(toys, card={"answers": ["image"]})
    done = in_small_disk(mount, [sys.executable, "-W", "error", "-c", RUN, task, model, str(mount)])
    assert done.returncode == 0, done.stderr
    error, outcome = done.stdout.splitlines()
    assert error.startswith("StorageError 1 cannot write ")
    assert "No space left on device" in error
    assert "run the same command again" in error
    whole = kit.run(toys, tasks=task, model=model)
    assert outcome == f"True {whole.content_digest}"


def in_small_disk(mount: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    script = f'mount -t tmpfs -o size=512k none {mount} && exec "$@"'
    places = [str(kit.HERE), str(mount.parent / "site"), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, "sh", *command],
        check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )  # fmt: skip
