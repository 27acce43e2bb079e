"""Label and mask files: what is stored in every mode, by one rule for files and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import PIL.Image
import pixelkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pixelkit import npy, npz, png16, saved
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import decode_labels, decode_mask, to_bool
from vgen_eval.types import NoOptions, Scene

RNG = np.random.default_rng(2)
LABELS = RNG.integers(0, 21, (10, 50), dtype=np.uint8)
FIVE = np.repeat(np.arange(5, dtype=np.uint8), 100).reshape(20, 25)
TARGET = np.zeros((32, 32), bool)
TARGET[8:24, 8:24] = True
LEVELS = TARGET.astype(np.uint8) * 255


def labels(data: bytes, **options: Any) -> Any:
    found = decode_labels(data, what="l", **options)
    assert found.dtype == np.int32
    return found


def mask(data: bytes, **options: Any) -> Any:
    found = decode_mask(data, what="m", **options)
    assert found.dtype == bool
    return found


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("photometric", [0, 1])
def test_a_tiff_holds_its_labels_as_stored_and_its_mask_as_seen(
    dtype: Any, photometric: int
) -> None:
    stored = pixelkit.tiff_grey(LABELS.astype(dtype), photometric=photometric)
    assert np.array_equal(labels(stored), LABELS)
    top = np.iinfo(dtype).max
    white = TARGET if photometric else ~TARGET
    painted = pixelkit.tiff_grey(white.astype(dtype) * top, photometric=photometric)
    assert np.array_equal(mask(painted), TARGET)


def palette(indices: Any, colours: Any) -> PIL.Image.Image:
    picture = PIL.Image.fromarray(indices)
    picture.putpalette(np.asarray(colours, np.uint8).tobytes())
    return picture


def grey_alpha(grey: Any, alpha: Any) -> PIL.Image.Image:
    return PIL.Image.merge("LA", [PIL.Image.fromarray(grey), PIL.Image.fromarray(alpha)])


# --- labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["PNG", "GIF", "BMP", "TIFF"])
def test_a_palettes_indices_are_the_labels_whatever_its_colours(form: str) -> None:
    colours = [(0, 0, 0), (0, 0, 1), (128, 0, 0), (0, 128, 0), (0, 0, 0)]
    found = labels(saved(palette(FIVE, colours), form))
    assert np.array_equal(found, FIVE)
    assert np.unique(found, return_counts=True)[1].tolist() == [100] * 5


@pytest.mark.parametrize(
    "data",
    [
        saved(LABELS), saved(LABELS, "TIFF"), saved(LABELS, "BMP"), saved(LABELS, "TIFF", "I"),
        saved(grey_alpha(LABELS, LABELS)), saved(np.stack([LABELS] * 3, axis=-1)),
        saved(np.dstack([LABELS] * 3 + [LABELS])), png16(LABELS.astype(np.uint16)),
        png16(np.stack([LABELS.astype(np.uint16)] * 3, axis=-1)),
        npy(LABELS), npy(LABELS.astype(">i8")), npy(LABELS.astype(np.float32)), npz(a=LABELS),
        npy(LABELS[None]), npy(LABELS[..., None]), saved(LABELS.astype(np.float32), "TIFF"),
    ],
)  # fmt: skip
def test_labels_of_every_mode_and_type_read_alike(data: bytes) -> None:
    assert np.array_equal(labels(data), LABELS)


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_grey_of_few_bits_is_what_is_stored_not_its_brightness(bits: int) -> None:
    small = RNG.integers(0, 1 << bits, (7, 13), dtype=np.uint8)
    assert np.array_equal(labels(pixelkit.png_few_bits(small, bits)), small)


def test_large_labels_are_kept() -> None:
    large = np.array([[0, 300, 65535]], np.uint16)
    assert labels(png16(large)).tolist() == large.tolist()
    far = np.array([[-1, 70_000, 2**31 - 1]])
    assert labels(npy(far)).tolist() == far.tolist()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (saved(RNG.integers(0, 256, (4, 5, 3), dtype=np.uint8)), "is a colour picture, no indices"),
        (npy(LABELS + 0.5), "not whole"),
        (npy(np.array([[np.nan, 1]])), "not whole"),
        (npy(np.array([[np.inf, 1]])), "not whole"),
        (npy(np.array([[2**31]])), "numbers that no label has"),
        (npy(np.array([[2**63]], np.uint64)), "numbers that no label has"),
        (npy(np.zeros((2, 3, 4), int)), r"labels are \(H, W\)"),
        (npy(np.zeros((0, 3), int)), r"labels are \(H, W\)"),
        (npz(a=LABELS, b=LABELS), "it holds a, b"),
    ],
)
def test_what_holds_no_labels_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^l: .*{words}"):
        labels(data)


# --- masks --------------------------------------------------------------------------------

BLACK_WHITE = [(0, 0, 0), (255, 255, 255)]
RGB_MASK = np.stack([LEVELS] * 3, axis=-1)
OPAQUE = np.full_like(LEVELS, 255)


@pytest.mark.parametrize(
    "data",
    [
        saved(LEVELS), saved(PIL.Image.fromarray(LEVELS).convert("1")), saved(RGB_MASK),
        saved(grey_alpha(LEVELS, OPAQUE)), saved(grey_alpha(LEVELS, OPAQUE * 0)),
        saved(np.dstack([RGB_MASK, OPAQUE])), saved(np.dstack([RGB_MASK, OPAQUE * 0])),
        saved(np.dstack([RGB_MASK | 255, LEVELS])),
        png16(TARGET.astype(np.uint16) * 65535), png16(TARGET.astype(np.uint16)),
        png16(TARGET[..., None].astype(np.uint16) * np.array([0, 0, 65535], np.uint16)),
        saved(TARGET.astype(np.uint8)), saved(TARGET.astype(np.uint8) * 38),
        saved(palette(TARGET.astype(np.uint8), BLACK_WHITE)),
        saved(palette((~TARGET).astype(np.uint8), BLACK_WHITE[::-1])),
        saved(palette(TARGET.astype(np.uint8), [(0, 0, 0), (0, 0, 1)])),
        saved(palette(TARGET.astype(np.uint8), [(0, 0, 0), (128, 0, 0)]), transparency=0),
        saved(LEVELS, "JPEG", quality=90), saved(LEVELS, "BMP"), saved(LEVELS, "TIFF"),
        saved(RGB_MASK * np.array([1, 0, 0], np.uint8)), saved(TARGET.astype(np.float32), "TIFF"),
        pixelkit.png_few_bits(TARGET * np.uint8(15), 4),
        npy(TARGET), npy(LEVELS), npy(TARGET * 3), npy(TARGET * 0.75), npz(m=TARGET),
        npy(TARGET[None]), npy(TARGET[..., None]), npy(TARGET.astype(">i2") * 200),
    ],
)  # fmt: skip
def test_masks_of_every_mode_and_type_read_alike(data: bytes) -> None:
    assert np.array_equal(mask(data), TARGET)


@pytest.mark.parametrize(
    ("write", "top"),
    [(saved, 255), (png16, 65535), (lambda a: pixelkit.png_few_bits(a, 4), 15)],
)
def test_more_than_two_levels_are_cut_above_half_of_the_range(write: Any, top: int) -> None:
    kind = np.uint16 if top > 255 else np.uint8
    levels = np.array([[0, 1, top // 2, top // 2 + 1, top]], kind)
    assert mask(write(levels)).tolist() == [[False, False, False, True, True]]


@pytest.mark.parametrize("level", [0, 1, 255])
def test_a_flat_mask_is_all_or_nothing(level: int) -> None:
    found = mask(saved(np.full((3, 4), level, np.uint8)))
    assert found.all() == found.any() == (level > 0)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([[0.0, np.nan]]), "not finite"),
        (np.array([[-1, 0]]), "negative values, down to -1"),
        (np.array([[0, 1, 2]]), "more than two values, up to 2"),
        (np.array([[0.0, 0.5, 3.0]]), "more than two values"),
        (np.zeros((2, 3, 3)), r"a mask is \(H, W\)"),
        (np.zeros((0, 3)), r"a mask is \(H, W\)"),
    ],
)
def test_what_is_no_mask_is_refused(array: Any, words: str) -> None:
    with pytest.raises(Undecodable, match=f"^m: .*{words}"):
        mask(npy(array))


@settings(deadline=None)
@given(st.sampled_from(["?", "u1", "i4", "f4", "f8"]), st.integers(0, 999), st.integers(1, 4))
def test_files_and_arrays_are_read_by_one_rule(descr: str, seed: int, levels: int) -> None:
    from vgen_eval_plugins.segmentation.native_mask import NativeMask

    image = np.zeros((6, 7, 3), np.uint8)
    from vgen_eval.imaging import Image

    scene = Scene(image=Image(image), size=(6, 7))
    rng = np.random.default_rng(seed)
    array = (rng.integers(0, levels, (6, 7)) * rng.choice([0.2, 1, 60])).astype(descr)
    try:
        expected = NativeMask(NoOptions()).decode(array, scene).value
    except Undecodable:
        with pytest.raises(Undecodable):
            mask(npy(array))
    else:
        assert np.array_equal(mask(npy(array)), expected)
        assert np.array_equal(to_bool(array, what="x"), expected)
