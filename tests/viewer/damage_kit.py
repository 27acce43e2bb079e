"""Results that are broken in every known way: sound runs, then one thing done to each."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results_kit import run_of

__all__ = ["DAMAGES", "SECRET", "frameless_clip", "huge_header", "make_broken"]

SECRET = "what lies outside of the results"
DEPTH, HANOI = "samples/depth", "samples/hanoi"


def make_broken(sound: Path, folder: Path) -> Path:
    """A results folder with one run a damage, each in a folder named for it; gives that folder."""
    results = folder / "broken"
    (folder / "secret.txt").write_text(SECRET)
    for name, (task, damage) in DAMAGES.items():
        source = run_of(sound, task, "oracle")
        run = results / name / source.relative_to(sound)
        shutil.copytree(source, run)
        damage(run)
    twin = run_of(sound, DEPTH, "classical")
    for team in ("team-a", "team-b"):
        shutil.copytree(twin, results / team / twin.relative_to(sound))
    for name in ("..%2f..%2fetc", "<img src=x onerror=alert(1)>"):
        shutil.copytree(twin, results / "names" / "runs" / name / twin.name)
    (results / "outside").symlink_to(folder)
    return results


def cut_short(run: Path) -> None:
    """Its last line is half written, and nobody made a card of it."""
    path = run / "predictions.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 150])
    shutil.rmtree(run / "scores")
    (run / "result_card.json").unlink()
    (run / "result_card.md").unlink()


def spoil_lines(run: Path) -> None:
    """A line in the middle is noise."""
    path = run / "predictions.jsonl"
    first, *rest = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([b'{"sample": "motorc\xff\xfe', *rest, first[:40]]) + b"\n")


def age_card(run: Path) -> None:
    """Its card is of the first days."""
    path = run / "result_card.json"
    card = json.loads(path.read_text())
    path.write_text(json.dumps(card | {"schema_version": "0.9"}))


def age_record(run: Path) -> None:
    """Its record is of days to come."""
    path = run / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 99}))


def spoil_record(run: Path) -> None:
    (run / "run.json").write_bytes(b'{"schema": 1, "task": \xff')


def lose_outputs(run: Path) -> None:
    shutil.rmtree(run / "outputs")


def alter_outputs(run: Path) -> None:
    """Still pictures, but not those that were scored."""
    for path in (run / "outputs").iterdir():
        path.write_bytes(path.read_bytes() + b"altered")


def link_outputs(run: Path) -> None:
    """They lead out of the results."""
    outside = next(parent for parent in run.parents if (parent / "secret.txt").exists())
    for path in (run / "outputs").iterdir():
        path.unlink()
        path.symlink_to(outside / "secret.txt")


def put_huge(run: Path) -> None:
    replace_outputs(run, huge_header())


def put_frameless(run: Path) -> None:
    replace_outputs(run, frameless_clip())


def put_markup(run: Path) -> None:
    """A page in a picture's place."""
    replace_outputs(run, b"<!doctype html><script>alert(document.domain)</script>")


def replace_outputs(run: Path, data: bytes) -> None:
    """As if the model had answered these bytes to everything: lines and digests agree."""
    digest = hashlib.sha256(data).hexdigest()
    texts: dict[Path, Any] = {
        path: path.read_text() for path in [run / "predictions.jsonl", *run.glob("scores/*.jsonl")]
    }
    for path in list((run / "outputs").iterdir()):
        path.unlink()
        (run / "outputs" / f"{digest}{path.suffix}").write_bytes(data)
        texts = {file: text.replace(path.stem, digest) for file, text in texts.items()}
    for file, text in texts.items():
        file.write_text(text)


def huge_header(width: int = 12_000, height: int = 9_000) -> bytes:
    """A PNG file that says it has 108 megapixels, in a few bytes."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(
            ">I", zlib.crc32(kind + body)
        )  # fmt: skip

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def frameless_clip() -> bytes:
    """An MP4 file without a frame in it."""

    def box(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", 8 + len(body)) + kind + body

    movie = struct.pack(">IIIII", 0, 0, 0, 1000, 0) + b"\0" * 80
    return box(b"ftyp", b"isom\0\0\2\0isommp42") + box(b"moov", box(b"mvhd", movie)) + box(
        b"mdat", b""
    )  # fmt: skip


DAMAGES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "cut": (DEPTH, cut_short),
    "noise": (DEPTH, spoil_lines),
    "old-card": (DEPTH, age_card),
    "new-record": (DEPTH, age_record),
    "no-record": (DEPTH, spoil_record),
    "gone": (DEPTH, lose_outputs),
    "altered": (DEPTH, alter_outputs),
    "linked": (DEPTH, link_outputs),
    "huge": (DEPTH, put_huge),
    "markup": (DEPTH, put_markup),
    "frameless": (HANOI, put_frameless),
}
"""Name -> the task whose oracle's run is damaged, and how."""
