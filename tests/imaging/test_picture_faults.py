"""Broken and hostile picture files: refused by name, before they cost memory."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pixelkit
import pytest
from pixelkit import saved
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import (
    decode_depth,
    decode_image,
    decode_labels,
    decode_mask,
    decode_normals,
    read_bytes,
)

PHOTO = np.random.default_rng(0).integers(0, 256, (48, 40, 3), dtype=np.uint8)
READERS = (decode_image, decode_labels, decode_mask, decode_normals, decode_depth)
FORMS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")


def refused(data: bytes, words: str = "") -> None:
    for reader in READERS:
        with pytest.raises(Undecodable, match=f"^odd name.png: .*{words}"):
            reader(data, what="odd name.png")  # type: ignore[operator]


def outcome(reader: Any, data: bytes) -> Any:
    """The array, or what is said of the file."""
    try:
        return reader(data, what="f")
    except Undecodable as exc:
        return exc.what


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"<!DOCTYPE html><html>502</html>", "begins with '<!DOCTYPE"),
        (b'{"error": "busy"}', "begins with"),
        (b"\x89PNG\r\n\x1a\n", "not a picture"),
        (b"\xff\xd8\xff\xe0", "not a picture"),
        (b"\x80\x04\x95 a pickle", "unknown format"),
        (b"\0" * 100, "unknown format"),
        (b"PK\x03\x04 no archive", "not an array file|not a picture"),
        (b"%PDF-1.7", "unknown format"),
    ],
)
def test_what_is_no_picture_is_refused_by_name(data: bytes, words: str) -> None:
    refused(data, words)


@pytest.mark.parametrize("form", FORMS)
def test_no_cut_file_is_padded(form: str) -> None:
    data = saved(PHOTO, form)
    for part in (0.3, 0.6, 0.9):
        with pytest.raises(Undecodable, match=r"^cut: "):
            decode_image(data[: int(len(data) * part)], what="cut")


def test_no_cut_file_of_sixteen_bits_is_padded() -> None:
    deep = np.random.default_rng(0).integers(0, 65536, (48, 40, 3), dtype=np.uint16)
    data = pixelkit.png16(deep)
    with pytest.raises(Undecodable, match=r"^cut: .*truncated"):
        decode_normals(data[: len(data) // 2], what="cut")
    with pytest.raises(Undecodable, match=r"^cut: .*truncated"):
        decode_image(data[: len(data) // 2], what="cut")


def test_a_tiff_that_holds_a_part_of_its_pixels_is_refused() -> None:
    data = bytearray(saved(PHOTO, "TIFF"))
    at = data.index(struct.pack("<HHI", 257, 4, 1)) + 8  # ImageLength
    assert data[at] == 48
    data[at] = 49
    refused(bytes(data), "declares 40x49 pixels and holds 40x48")


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (0, 0)])
def test_pictures_without_pixels_are_refused(size: tuple[int, int]) -> None:
    refused(pixelkit.png((*size, 8, 2), b""))
    gif = b"GIF89a" + struct.pack("<HHBBB", *size, 0, 0, 0) + b";"
    refused(gif)


@pytest.mark.parametrize(
    ("size", "words"),
    [((20_000, 5_001), "declares 20000x5001 pixels, over the limit"), ((30_000,) * 2, "pixels")],
)
def test_declared_sizes_over_the_limit_are_refused(size: tuple[int, int], words: str) -> None:
    refused(pixelkit.png((*size, 1, 0), b"\0" * 1000), words)


@pytest.mark.parametrize("kind", [b"iCCP", b"zTXt", b"iTXt"])
def test_a_chunk_that_unpacks_to_hundreds_of_megabytes_is_not_unpacked(kind: bytes) -> None:
    packed = zlib.compress(b"\0" * (1 << 26), 9)
    body = {b"iCCP": b"n\0\0", b"zTXt": b"n\0\0", b"iTXt": b"n\0\1\0\0\0"}[kind] + packed
    rows = b"".join(b"\0" + row.tobytes() for row in PHOTO)
    data = pixelkit.png((40, 48, 8, 2), rows, pixelkit.chunk(kind, body))
    found = outcome(decode_image, data)
    assert isinstance(found, str) or np.array_equal(found, PHOTO)


@pytest.mark.parametrize("form", FORMS)
def test_flipped_bytes_give_a_picture_or_undecodable_and_nothing_else(form: str) -> None:
    rng = np.random.default_rng(FORMS.index(form))
    small = PIL.Image.fromarray(PHOTO[:12, :10])
    data = saved(small, form)
    for _ in range(40):
        broken = bytearray(data)
        for at in rng.integers(0, min(len(data), 400), 3):
            broken[at] = rng.integers(0, 256)
        for reader in READERS:
            found = outcome(reader, bytes(broken))
            assert found.startswith("f: ") if isinstance(found, str) else found.size


# --- memory -------------------------------------------------------------------------------

CHILD = """
import resource, sys
from pathlib import Path
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import decode_depth, decode_image, decode_mask

def peak():
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit

folder = Path(sys.argv[1])
decode_image((folder / "small.png").read_bytes(), what="small")
decode_depth((folder / "small.npz").read_bytes(), what="small")
before = peak()
for name in ("bomb.npz", "bomb.png", "liar.npz", "liar.npy"):
    for reader in (decode_depth, decode_mask, decode_image):
        try:
            reader((folder / name).read_bytes(), what=name)
            raise SystemExit(f"{name} was read")
        except Undecodable as exc:
            assert name in exc.what
assert decode_image((folder / "ok_4k.png").read_bytes(), what="4k").shape == (2160, 3840, 3)
print(peak() - before)
"""


def test_bombs_cost_no_memory_and_an_ordinary_large_picture_is_read(tmp_path: Path) -> None:
    import io
    import zipfile

    def write(name: str, data: bytes) -> None:
        (tmp_path / name).write_bytes(data)

    write("small.png", saved(PHOTO))
    write("small.npz", pixelkit.npz(a=np.ones((3, 3))))
    write("bomb.png", pixelkit.png((30_000, 30_000, 1, 0), bytes(3751) * 30_000))
    head = pixelkit.npy_head("|u1", (16384, 16384))
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("arr_0.npy", "w") as member,
    ):
        member.write(head)
        for _ in range(1 << 8):
            member.write(bytes(1 << 20))
    write("bomb.npz", buffer.getvalue())
    write("liar.npy", pixelkit.npy_head("<f8", (30_000, 30_000)) + bytes(64))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", pixelkit.npy_head("<f4", (1 << 15, 1 << 15)) + bytes(1 << 16))
    write("liar.npz", buffer.getvalue())
    write("ok_4k.png", saved(np.full((2160, 3840, 3), 90, np.uint8)))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    assert float(child.stdout) < 200


# --- files --------------------------------------------------------------------------------


def test_bytes_of_a_file_are_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"12345")
    assert read_bytes(path) == read_bytes(path, limit=5) == b"12345"
    with pytest.raises(Undecodable, match=r"^a\.bin: is larger than the limit of 4 bytes"):
        read_bytes(path, limit=4)
    with pytest.raises(Undecodable, match=r"^b\.bin: cannot be read: No such file"):
        read_bytes(tmp_path / "b.bin")
    with pytest.raises(Undecodable, match="no file of bytes"):
        read_bytes(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(Undecodable, match=r"pipe\.png: is no file of bytes"):
        read_bytes(tmp_path / "pipe.png")


def test_lossy_files_are_no_depth_and_no_labels() -> None:
    data: Any = saved(PHOTO[..., 0], "JPEG")
    with pytest.raises(Undecodable, match="is a JPEG file, which need not keep its numbers"):
        decode_labels(data, what="x")
    with pytest.raises(Undecodable, match="PNG, TIFF or an array file is wanted"):
        decode_depth(data, what="x", scale=1.0)
