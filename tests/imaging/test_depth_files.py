"""Depth files to metres: sixteen bits stay sixteen, a scale is said and never guessed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pixelkit import exr, npy, npz, pfm, png16, saved
from vgen_eval.errors import MissingExtra, Undecodable
from vgen_eval.imaging import decode_depth, decode_normals

MM = np.linspace(500, 9500, 300).round().astype(np.uint16).reshape(15, 20)
DEPTH = (MM / 1000).astype(np.float32)
ODD = DEPTH.copy()
ODD[0, :4] = np.nan, np.inf, -np.inf, -1


def decode(data: bytes, **options: Any) -> NDArray[np.float32]:
    array = decode_depth(data, what="d", **options)
    assert array.dtype == np.float32
    return array


# --- pictures -----------------------------------------------------------------------------


@pytest.mark.parametrize("write", [png16, lambda a: saved(a, "TIFF"), lambda a: saved(a, "PNG")])
def test_sixteen_bit_pictures_are_metres_by_their_scale(write: Any) -> None:
    found = decode(write(MM), scale=0.001)
    assert np.array_equal(found, (MM * 0.001).astype(np.float32))
    assert abs(found.min() - 0.5) <= 1e-9
    assert abs(found.max() - 9.5) <= 1e-9
    error = np.abs(decode(write((MM * 1.1).round().astype(np.uint16)), scale=0.001) - found) / found
    assert error.mean() == pytest.approx(0.1, abs=1e-4)


def test_the_same_depth_in_two_units_is_the_same_metres() -> None:
    metres = np.linspace(1, 40, 100).reshape(10, 10)
    a = decode(png16(np.rint(metres * 256).astype(np.uint16)), scale=1 / 256)
    b = decode(png16(np.rint(metres * 1000).astype(np.uint16)), scale=0.001)
    assert np.abs(a - metres).max() <= 1 / 512 + 1e-6
    assert np.abs(b - metres).max() <= 1 / 2000 + 1e-6


def test_every_number_of_sixteen_bits_is_kept() -> None:
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    assert np.array_equal(decode(png16(every), scale=1.0), every.astype(np.float32))


@pytest.mark.parametrize(
    "data",
    [
        png16(MM), saved(MM, "TIFF"), saved(MM.astype(np.uint8)), npy(MM), npz(a=MM.astype(int)),
        saved(MM.astype(np.int32), "TIFF"),
    ],
)  # fmt: skip
def test_whole_numbers_without_a_scale_are_refused_with_the_cure(data: bytes) -> None:
    with pytest.raises(Undecodable, match=r"^d: holds whole numbers .* give the scale, in metres"):
        decode(data)
    assert decode(data, scale=2.0).shape == MM.shape


def test_eight_bits_with_a_scale_are_depth() -> None:
    grey = np.arange(200, dtype=np.uint8).reshape(10, 20)
    assert np.array_equal(decode(saved(grey), scale=0.5), grey * np.float32(0.5))
    three = np.stack([grey] * 3, axis=-1)
    assert np.array_equal(decode(saved(three), scale=0.5), grey * np.float32(0.5))


def test_a_picture_of_floats_is_metres() -> None:
    assert np.array_equal(decode(saved(ODD, "TIFF")), ODD, equal_nan=True)
    assert np.array_equal(decode(saved(DEPTH, "TIFF"), scale=0.5), DEPTH / 2)


def test_colours_are_no_depth() -> None:
    colour = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    with pytest.raises(Undecodable, match="is a colour picture, no depth"):
        decode(saved(colour), scale=1.0)
    with pytest.raises(Undecodable, match="is a palette of colours"):
        decode(saved(colour, mode="P"), scale=1.0)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_is_positive(scale: float) -> None:
    with pytest.raises(ValueError, match="scale"):
        decode(npy(DEPTH), scale=scale)


# --- arrays -------------------------------------------------------------------------------


@pytest.mark.parametrize("descr", ["<f4", ">f4", "<f8", ">f8"])
def test_arrays_are_metres_and_keep_what_is_not_finite(descr: str) -> None:
    for data in (npy(ODD.astype(descr)), npz(depth=ODD.astype(descr))):
        assert np.array_equal(decode(data), ODD, equal_nan=True)
    many = npz(depth=ODD, other=DEPTH)
    assert np.array_equal(decode(many, key="depth"), ODD, equal_nan=True)


def test_half_floats_large_floats_and_scales_are_kept_quietly() -> None:
    assert np.array_equal(decode(npy(DEPTH.astype(np.float16))), DEPTH.astype(np.float16))
    assert np.isinf(decode(npy(np.full((2, 2), 1e300)))).all()
    assert np.isinf(decode(npy(np.full((2, 2), 1e300)), scale=10.0)).all()
    signalling = np.full((2, 2), 0x7FA00000, np.uint32).view(np.float32)
    assert np.isnan(decode(npy(signalling), scale=2.0)).all()


@pytest.mark.parametrize(("shape", "kept"), [((1, 4, 5), True), ((4, 5, 1), True), ((4,), False),
                                             ((4, 5, 3), False), ((0, 5), False)])  # fmt: skip
def test_depth_is_one_plane(shape: tuple[int, ...], kept: bool) -> None:
    data = npy(np.ones(shape))
    if kept:
        assert decode(data).shape == (4, 5)
    else:
        with pytest.raises(Undecodable, match=r"depth is \(H, W\)"):
            decode(data)


def test_true_and_false_are_no_depth() -> None:
    with pytest.raises(Undecodable, match="True and False"):
        decode(npy(DEPTH > 1), scale=1.0)


# --- float maps ---------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from("<>"), st.sampled_from([1.0, 1 / 255]))
def test_float_maps_are_read_from_the_bottom_up_in_either_byte_order(
    height: int, width: int, order: str, hint: float
) -> None:
    array = np.random.default_rng(0).normal(size=(height, width)).astype(np.float32)
    array[0, 0] = np.nan
    assert np.array_equal(decode(pfm(array, order, hint)), array, equal_nan=True)


def test_a_float_map_whose_first_byte_looks_like_white_space_is_read() -> None:
    array = np.frombuffer(b"\n \t\r" * 6, "<f4").reshape(2, 3)
    assert np.array_equal(decode(pfm(array)), array)
    assert np.array_equal(decode(b"Pf 3 2 -1\r\n" + array[::-1].tobytes()), array)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pfm(DEPTH)[:-1], "is cut off: 1200 bytes declared, 1199 there"),
        (b"Pf\n90000 90000\n-1.0\n", "declares 90000x90000 pixels, over the limit"),
        (b"Pf\n0 3\n-1.0\n", "there are none"),
        (b"Pf\n2 2\n0.0\n" + bytes(16), "does not say the byte order"),
        (b"Pf\n2 2\n..\n" + bytes(16), "does not say the byte order"),
        (b"Pf\ntwo by two\n", "header of the PFM file cannot be read"),
        (pfm(np.zeros((2, 2, 3), np.float32)), r"depth is \(H, W\)"),
    ],
)
def test_float_maps_that_are_not_what_they_say_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^d: .*{words}"):
        decode(data)


# --- EXR ----------------------------------------------------------------------------------


@pytest.fixture
def library() -> Any:
    return pytest.importorskip("OpenEXR")


def test_sky_in_a_channel_called_z_is_kept(library: Any) -> None:
    depth = np.full((16, 20), 5.3, np.float32)
    depth[0] = np.inf
    depth[5, :5] = 1e10
    found = decode(exr({"Z": depth}))
    assert np.array_equal(found, depth)
    valid = found[np.isfinite(found) & (found < 1000)]
    assert valid.size == 295
    assert valid.mean() == pytest.approx(5.3, abs=1e-5)


@pytest.mark.parametrize(
    ("names", "channel", "taken"),
    [
        (["depth.V"], None, "depth.V"), (["A", "R", "Z"], None, "Z"), (["R", "Y"], None, "Y"),
        (["B", "G", "R"], None, "R"), (["A", "R", "Z"], "A", "A"),
    ],
)  # fmt: skip
def test_the_channel_is_the_named_the_only_or_the_usual_one(
    library: Any, names: list[str], channel: str | None, taken: str
) -> None:
    planes = {name: DEPTH + at for at, name in enumerate(names)}
    assert np.array_equal(decode(exr(planes), channel=channel), planes[taken])


def test_channels_that_leave_it_open_are_listed(library: Any) -> None:
    data = exr({"far": DEPTH, "near": DEPTH})
    with pytest.raises(Undecodable, match="which channel\\? It has far, near"):
        decode(data)
    with pytest.raises(Undecodable, match=r"no channel 'Z' \(it has far, near\)"):
        decode(data, channel="Z")


def test_halves_and_whole_numbers_of_an_exr(library: Any) -> None:
    half = DEPTH.astype(np.float16)
    assert np.array_equal(decode(exr({"Z": half})), half.astype(np.float32))
    data = exr({"Z": MM.astype(np.uint32)})
    with pytest.raises(Undecodable, match="give the scale"):
        decode(data)
    assert np.array_equal(decode(data, scale=1.0), MM.astype(np.float32))


@pytest.mark.parametrize("how", ["ZIP", "PIZ", "RLE"])
def test_compressed_files_of_the_library_come_back(library: Any, how: str, tmp_path: Any) -> None:
    head = {"compression": getattr(library, f"{how}_COMPRESSION"), "type": library.scanlineimage}
    library.File(head, {"Z": ODD}).write(str(tmp_path / "a.exr"))
    found = decode((tmp_path / "a.exr").read_bytes())
    assert np.array_equal(found, ODD, equal_nan=True)


def test_pixels_outside_of_the_data_have_no_depth(library: Any) -> None:
    small = DEPTH[:2, :3].copy()
    found = decode(exr({"Z": small}, data=(1, 2, 3, 3), display=(0, 0, 4, 4)))
    expected = np.full((5, 5), np.nan, np.float32)
    expected[2:4, 1:4] = small
    assert np.array_equal(found, expected, equal_nan=True)
    found = decode(exr({"Z": small}, data=(-1, 0, 1, 1), display=(0, 0, 1, 1)))
    assert np.array_equal(found, small[:, 1:])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"v/1\x01", "header of the EXR file cannot be read"),
        (exr({"Z": DEPTH})[:120], "header of the EXR file cannot be read"),
        (exr({"Z": DEPTH}, data=(0, 0, 1 << 30, 1 << 30)), "over the limit"),
        (exr({"Z": DEPTH}, data=(5, 5, 0, 0)), "there are none"),
        (exr({"Z": DEPTH}, data=(0, 0, 9999, 9999)), "declares 400000000 bytes, over the limit"),
        (exr({"Z": DEPTH}, display=(0, 0, 99999, 99999)), "over the limit"),
        (exr({"Z": DEPTH}, flags=0x800), "is a deep EXR file"),
        (exr({"Z": DEPTH}, sampling=2), "does not have every pixel"),
    ],
)
def test_headers_are_read_before_anything_is_decoded(data: bytes, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^d: .*{words}"):
        decode(data)


def test_a_cut_exr_is_refused(library: Any) -> None:
    data = exr({"Z": DEPTH})
    for part in (0.5, 0.8, 0.99):
        with pytest.raises(Undecodable, match=r"^d: .*EXR"):
            decode(data[: int(len(data) * part)])


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    for reader in (decode_depth, decode_normals):
        with pytest.raises(MissingExtra, match="exr") as caught:
            reader(exr({"R": DEPTH, "G": DEPTH, "B": DEPTH}), what="d")
        assert caught.value.cure == "pip install 'vgen-eval[exr]'"


def test_invalid_pixels_are_left_to_who_knows_what_is_valid() -> None:
    data = np.full((8, 8), 2000, np.uint16)
    data[0], data[1] = 65535, 0
    found = decode(png16(data), scale=0.001)
    assert sorted(np.unique(found).tolist()) == pytest.approx([0.0, 2.0, 65.535])
