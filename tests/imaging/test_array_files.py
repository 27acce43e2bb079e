"""Array files: numbers come back exactly; objects, lies and riddles are refused by name."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pixelkit import npy, npy_head, npz
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import load_array, squeeze

TABLE = np.random.default_rng(0).normal(size=(5, 7))


@settings(deadline=None)
@given(
    st.sampled_from(["?", "u1", "<i2", ">i4", "<u8", "<f2", ">f4", "f8"]),
    st.lists(st.integers(0, 5), max_size=4),
    st.booleans(),
)
def test_every_type_shape_and_order_comes_back(descr: str, shape: list[int], flip: bool) -> None:
    array = (np.random.default_rng(1).random(shape) * 100).astype(descr)
    array = np.asfortranarray(array) if flip else array
    for data in (npy(array), npz(only=array)):
        found = load_array(data, what="x")
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.dtype.isnative
        assert np.array_equal(found, array)
        assert found.flags.c_contiguous
        assert found.flags.writeable


def test_numbers_that_are_not_finite_come_back() -> None:
    array = np.array([[np.nan, np.inf], [-np.inf, 0.0]])
    assert np.array_equal(load_array(npy(array), what="x"), array, equal_nan=True)


def test_what_follows_the_array_is_left_aside() -> None:
    assert np.array_equal(load_array(npy(TABLE) + npy(TABLE * 2), what="x"), TABLE)


def test_an_array_of_several_is_chosen_by_its_key() -> None:
    data = npz(depth=TABLE, mask=TABLE > 0)
    assert np.array_equal(load_array(data, what="x", key="mask"), TABLE > 0)
    with pytest.raises(Undecodable, match="one array was wanted, it holds depth, mask: say which"):
        load_array(data, what="x")
    with pytest.raises(Undecodable, match="no array 'Depth', it holds depth, mask"):
        load_array(data, what="x", key="Depth")
    with pytest.raises(Undecodable, match="it holds none"):
        load_array(npz(), what="x")


class Payload:
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("key", [None, "a"])
def test_objects_are_refused_and_nothing_of_theirs_runs(tmp_path: Path, key: str | None) -> None:
    marker = tmp_path / "made"
    array = np.array([Payload(str(marker))], dtype=object)
    plain = npy(array, allow_pickle=True)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.npy", plain)
    for data in (plain, buffer.getvalue()):
        with pytest.raises(Undecodable, match=r"^gt.npy: .*pickle: not allowed"):
            load_array(data, what="gt.npy", key=key)
    assert not marker.exists()


HEAD = npy_head("<f8", (3, 3))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"\x80\x04\x95 pickle", "not an array file"),
        (b"\x93NUMPY", "not an array file"),
        (b"\x93NUMPY\x09\x00" + HEAD[8:], "not an array file"),
        (HEAD[:20], "not an array file"),
        (HEAD + bytes(71), "is cut off: 72 bytes declared, 71 there"),
        (npy_head("<f8", (9_000_000_000, 90_000)), "over the limit"),
        (npy_head("<f8", (1 << 60, 0)), "cannot be"),
        (npy_head("<f8", (-1, 4)) + bytes(64), "cannot be"),
        (npy_head("<f8", (True, 4)) + bytes(64), "cannot be"),
        (npy_head("<f8", (1,) * 100) + bytes(64), "cannot be"),
        (npy_head("<f8", (0, (1 << 40) - 1, (1 << 40) - 1)), "not an array file"),
        (npy_head("<f8", (0, 1 << 39, 1 << 39)) + bytes(64), "not an array file"),
        (npy_head("<f8", (2.0, 2)) + bytes(64), "not an array file"),
        (npy_head("<f8", "ab") + bytes(64), "not an array file"),
        (npy_head("u1", (16384, 16000)), "declares 262144000 pixels, over the limit"),
        (npy_head("u1", (16384, 16000, 3)), "declares 262144000 pixels, over the limit"),
        (npy_head("u1", (1, 3, 16384, 16000)), "declares 262144000 pixels, over the limit"),
        (npy_head("u1", (10**8 + 1,)), "declares 100000001 pixels, over the limit"),
        (npy_head("u1", (10000, 10000, 3)), "is cut off"),
        (npy_head("<c16", (2, 2)) + bytes(64), "holds complex128, no numbers"),
        (npy_head("<U3", (2,)) + bytes(64), "no numbers"),
        (npy_head("no type", (2,)) + bytes(64), "not an array file"),
        (HEAD.replace(b"False", b"import"), "not an array file"),
        (npy(np.zeros(2, [("a", "f4")])), "no numbers"),
        (npz(a=TABLE)[:-30], "not an array file"),
        (b"PK\x05\x06" + bytes(18), "it holds none"),
    ],
)
def test_files_that_are_not_what_they_say_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^odd: .*{words}"):
        load_array(data, what="odd")


def test_packed_pixels_are_counted_before_they_are_unpacked(monkeypatch: Any) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy_head("u1", (16384, 16000)) + bytes(16384 * 16000))
    taken: list[int] = []
    real = zipfile.ZipExtFile.read

    def read(self: Any, n: int = -1) -> bytes:
        found = real(self, n)
        taken.append(len(found))
        return found

    monkeypatch.setattr(zipfile.ZipExtFile, "read", read)
    with pytest.raises(Undecodable, match="declares 262144000 pixels, over the limit"):
        load_array(buffer.getvalue(), what="x")
    assert 0 < sum(taken) < 1 << 16


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_bytes_that_were_changed_are_noticed(way: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", way) as archive:
        archive.writestr("a.npy", npy(TABLE))
    assert np.array_equal(load_array(buffer.getvalue(), what="x"), TABLE)
    data = bytearray(buffer.getvalue())
    for at in range(60, 120):
        data[at] ^= 255
    with pytest.raises(Undecodable, match="not an array file"):
        load_array(bytes(data), what="x")


@pytest.mark.parametrize(
    ("shape", "squeezed"),
    [
        ((4, 5), (4, 5)), ((1, 4, 5), (4, 5)), ((4, 5, 1), (4, 5)), ((1, 1, 4, 5), (4, 5)),
        ((1, 4, 5, 1), (4, 5)), ((1, 4, 1), (4, 1)), ((1, 5), (1, 5)), ((3, 4, 5), (3, 4, 5)),
        ((1, 4, 5, 3), (4, 5, 3)), ((7,), (7,)),
    ],
)  # fmt: skip
def test_sides_of_one_are_dropped_around_a_map(
    shape: tuple[int, ...], squeezed: tuple[int, ...]
) -> None:
    assert squeeze(np.zeros(shape)).shape == squeezed
