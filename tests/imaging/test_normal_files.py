"""Normal files: components as they are stored, NaN where there is no normal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pixelkit
import pytest
from numpy.typing import NDArray
from pixelkit import npy, npz, pfm, png16, saved
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import decode_normals

RNG = np.random.default_rng(3)


def unit(height: int, width: int) -> NDArray[np.float32]:
    vectors = RNG.normal(size=(height, width, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=2, keepdims=True), np.float32)


NORMALS = unit(6, 9)


def decode(data: bytes, **options: Any) -> NDArray[np.float32]:
    found = decode_normals(data, what="n", **options)
    assert (found.dtype, found.shape[2]) == (np.float32, 3)
    return found


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF"])
def test_eight_bits_are_spread_over_minus_one_to_one(form: str) -> None:
    pixels = RNG.integers(1, 256, (6, 9, 3), dtype=np.uint8)
    pixels[0, 0], pixels[0, 1] = (255, 0, 1), (0, 255, 128)
    expected = pixels / 255 * 2 - 1
    assert decode(saved(pixels, form)) == pytest.approx(expected, abs=1e-6)
    assert decode(npy(pixels)) == pytest.approx(expected, abs=1e-6)


def test_sixteen_bits_are_read_at_their_full_depth() -> None:
    pixels = np.rint((NORMALS + 1) / 2 * 65535).astype(np.uint16)
    for data in (png16(pixels), npy(pixels)):
        found = decode(data)
        assert found == pytest.approx(pixels / 65535 * 2 - 1, abs=1e-6)
        assert np.abs(found - NORMALS).max() <= 1 / 65535 + 1e-6


@pytest.mark.parametrize(("top", "write"), [(255, saved), (65535, png16), (255, npy), (65535, npy)])
def test_black_and_the_two_middles_are_no_normals(top: int, write: Any) -> None:
    pixels = np.full((2, 2, 3), top, np.uint8 if top == 255 else np.uint16)
    half = top // 2
    pixels[0, 0], pixels[0, 1], pixels[1, 0] = 0, half, (half, half + 1, half + 1)
    found = decode(write(pixels))
    assert np.isnan(found).tolist() == [[[True] * 3] * 2, [[True] * 3, [False] * 3]]


def test_transparent_pixels_are_no_normals() -> None:
    pixels = RNG.integers(1, 256, (2, 2, 4), dtype=np.uint8)
    pixels[..., 3] = [[255, 0], [0, 255]]
    found = np.isnan(decode(saved(pixels))).all(axis=2)
    assert found.tolist() == [[False, True], [True, False]]


def test_equal_channels_are_components_too() -> None:
    flat = np.full((2, 3, 3), 200, np.uint8)
    assert decode(saved(flat)) == pytest.approx(np.full((2, 3, 3), 200 / 255 * 2 - 1), abs=1e-6)


@pytest.mark.parametrize("descr", ["<f2", "<f4", ">f8"])
def test_floats_are_components_in_either_layout(descr: str) -> None:
    array = (NORMALS * 3).astype(descr)
    for data in (npy(array), npy(np.moveaxis(array, 2, 0)), npz(n=array), npy(array[None])):
        assert np.array_equal(decode(data), array.astype(np.float32))
    assert np.array_equal(decode(npz(a=array, b=array * 0), key="a"), array.astype(np.float32))


def test_vectors_without_length_or_not_finite_are_nan_as_a_whole() -> None:
    array = NORMALS.copy()
    array[0, 0], array[0, 1, 2], array[0, 2, 0] = 0, np.nan, np.inf
    found = np.isnan(decode(npy(array)))
    assert found[0, :3].all()
    assert found.sum() == 9


def test_float_maps_and_exr_hold_components() -> None:
    assert np.array_equal(decode(pfm(NORMALS, ">")), NORMALS)
    pytest.importorskip("OpenEXR")
    for names in ("XYZ", "RGB", ("normal.X", "normal.Y", "normal.Z"), ("N.r", "N.g", "N.b")):
        planes = {name: np.ascontiguousarray(NORMALS[..., at]) for at, name in enumerate(names)}
        assert np.array_equal(
            decode(pixelkit.exr({**planes, "depth.Z": planes[names[0]]})), NORMALS
        )
    with pytest.raises(Undecodable, match="of one layer, it has far, near"):
        decode(pixelkit.exr({"near": NORMALS[..., 0], "far": NORMALS[..., 1]}))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (saved(np.zeros((4, 4), np.uint8)), "is a grey picture, no normals"),
        (npy(np.zeros((4, 4))), r"normals are \(H, W, 3\)"),
        (npy(np.zeros((4, 4, 2))), r"normals are \(H, W, 3\)"),
        (npy(np.zeros((0, 4, 3))), r"normals are \(H, W, 3\)"),
        (npy(np.zeros((4, 4, 3), np.int64)), "holds int64"),
        (npy(np.zeros((4, 4, 3), bool)), "holds bool"),
        (pfm(np.zeros((4, 4), np.float32)), r"normals are \(H, W, 3\)"),
    ],
)
def test_what_holds_no_normals_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^n: .*{words}"):
        decode(data)


def test_arrays_of_three_rows_are_taken_as_height_first() -> None:
    array = unit(3, 5)
    assert np.array_equal(decode(npy(array)), array)
    cube = unit(3, 3)
    assert np.array_equal(decode(npy(cube)), cube)
