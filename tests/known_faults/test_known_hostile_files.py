"""Files that would run code or fill the memory: refused by name, and the others are scored."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import DEPTH, MASK, npy, picture, score, write_predictions, write_task

# --- pickles ------------------------------------------------------------------------------


class MakesFolder:
    """An object whose pickle makes a folder when it is loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.makedirs, (str(self.folder),)


@pytest.mark.parametrize("side", ["prediction", "truth"])
def test_an_array_of_objects_is_refused_and_its_pickle_never_runs(
    tmp_path: Path, side: str
) -> None:
    """https://github.com/numpy/numpy/issues/12759"""
    marker = tmp_path / "it_ran"
    objects = npy(np.array([MakesFolder(marker)], dtype=object), allow_pickle=True)
    plain = npy(np.full((4, 4), 1, np.float32))
    files = {"bad.npy": objects, "ok.npy": plain}
    both = dict.fromkeys(files, plain)
    truths, predictions = (both, files) if side == "prediction" else (files, both)
    run = score(tmp_path, DEPTH, truths, predictions, size=(4, 4), options={"fit": "none"})
    assert not marker.exists()
    assert run.status("bad") == ("undecodable" if side == "prediction" else "bad_sample")
    assert run.status("ok") == "ok"
    assert "bad.npy: holds objects, which need a pickle: not allowed" in run.reasons["bad"]
    # a failed answer is scored as the failure value, 4 m for 1 m; a bad truth is not scored
    assert run.number() == pytest.approx(1.5 if side == "prediction" else 0.0, abs=1e-6)
    # the file is what it is said to be
    np.load(io.BytesIO(objects), allow_pickle=True)
    assert marker.exists()


# --- cards --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("name: evil\nmetric: !!python/object/apply:os.makedirs [IT_RAN]\n",
         "!!python/object/apply:os.makedirs"),
        ("name: evil2\nfn: !!python/name:os.system\n", "!!python/name:os.system"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("word", ["--tasks", "--model"])
def test_a_card_that_names_code_is_refused_and_runs_none(
    tmp_path: Path, text: str, tag: str, word: str
) -> None:
    """https://github.com/praekeltfoundation/vumi/issues/111"""
    (tmp_path / "card.yaml").write_text(text)
    whole = {"--tasks": "samples/counting", "--model": "copy", word: "card.yaml"}
    words = [each for pair in whole.items() for each in pair]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "vgen_eval.cli", "run", *words, "--json"],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    assert f"card.yaml:2: {text.splitlines()[1].partition(':')[0]}: tag {tag} " in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["card.yaml"]


# --- bombs --------------------------------------------------------------------------------


def array_bomb() -> bytes:
    """An .npz file of a megabyte that declares, and holds, 256 MiB of zeros."""
    head = io.BytesIO()
    shape = {"descr": "|u1", "fortran_order": False, "shape": (16384, 16384)}
    np.lib.format.write_array_header_1_0(head, shape)
    zeros = bytes(1 << 22)
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("arr_0.npy", "w", force_zip64=True) as member,
    ):
        member.write(head.getvalue())
        for _ in range((1 << 28) // len(zeros)):
            member.write(zeros)
    return buffer.getvalue()


def picture_bomb(side: int = 30000) -> bytes:
    """A 1-bit PNG of side x side black pixels."""
    press = zlib.compressobj(1)
    row = bytes(1 + (side + 7) // 8) * 100
    body = b"".join(press.compress(row) for _ in range(side // 100)) + press.flush()
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)),
        (b"IDAT", body),
        (b"IEND", b""),
    ]
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


WATCH = """
import json, resource, sys
from pathlib import Path
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def score(folder):
    (card,) = import_predictions(
        task=sys.argv[1], predictions=Path(folder), model_name="theirs", answer="mask",
        catalog=Catalog.discover(), output=sys.argv[4], workers=1,
    )
    return card

score(sys.argv[2])
before = peak_mb()
card = score(sys.argv[3])
grown = peak_mb() - before
print(json.dumps({"run": card.run, "giou": card.score("giou").value, "growth_mb": grown}))
"""


def test_small_files_that_declare_much_are_refused_unread(tmp_path: Path) -> None:
    """https://github.com/keras-team/keras/pull/23212"""
    pytest.importorskip("resource")
    small = np.zeros((36, 64), np.uint8)
    small[8:24, 8:40] = 255
    large = picture(np.kron(small, np.ones((60, 60), np.uint8)))  # 3840x2160
    bombs = {"array.npz": array_bomb(), "picture.png": picture_bomb()}
    assert max(map(len, bombs.values())) < 2_000_000
    names = ["array", "picture", "large"]
    task = write_task(
        tmp_path, MASK, {f"{name}.png": picture(small) for name in names}, size=small.shape
    )
    alone = write_predictions(tmp_path / "first", {"large.png": large})
    everything = write_predictions(tmp_path, {"large.png": large, **bombs})
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCH, task, str(alone), str(everything),
         str(tmp_path / "results")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["growth_mb"] < 200
    lines = (tmp_path / "results" / told["run"] / "predictions.jsonl").read_text().splitlines()
    found = {line["sample"]: line for line in map(json.loads, lines)}
    assert {name: found[name]["status"] for name in names} == {
        "array": "undecodable", "picture": "undecodable", "large": "ok",
    }  # fmt: skip
    assert told["giou"] == pytest.approx(1 / 3)  # the large one is right, the others are none
    assert found["array"]["reason"].startswith("array.npz: ")
    assert found["picture"]["reason"].startswith("picture.png: ")
    assert str(30000**2) in found["picture"]["reason"]
    assert "declares 268435584 bytes" in found["array"]["reason"]
