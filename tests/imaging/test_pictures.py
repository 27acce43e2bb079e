"""Picture files to RGB: every mode and format gives exactly the pixels that were written."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageCms
import pixelkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pixelkit import saved
from vgen_eval.errors import BadSample, Undecodable
from vgen_eval.imaging import decode_image, read_image

RNG = np.random.default_rng(5)
PHOTO = RNG.integers(0, 256, (6, 9, 3), dtype=np.uint8)
GREY = PHOTO[:, :, 0].copy()
ALPHA = RNG.choice(np.array([0, 255], np.uint8), (6, 9))


def decode(data: bytes, **options: Any) -> np.ndarray[Any, Any]:
    array = decode_image(data, what="x", **options)
    assert (array.dtype, array.shape[2]) == (np.uint8, 3)
    return array


def three(plane: Any) -> np.ndarray[Any, Any]:
    return np.stack([plane] * 3, axis=-1)


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF", "PPM"])
def test_colour_and_grey_files_give_their_pixels(form: str) -> None:
    assert np.array_equal(decode(saved(PHOTO, form)), PHOTO)
    assert np.array_equal(decode(saved(GREY, form)), three(GREY))


def test_lossless_webp_gives_its_pixels() -> None:
    assert np.array_equal(decode(saved(PHOTO, "WEBP", lossless=True)), PHOTO)


@pytest.mark.parametrize("form", ["PNG", "BMP", "TIFF"])
def test_one_bit_is_black_and_white(form: str) -> None:
    picture = PIL.Image.fromarray(ALPHA).convert("1")
    assert np.array_equal(decode(saved(picture, form)), three(ALPHA))


@pytest.mark.parametrize("background", [(255, 255, 255), (0, 10, 200)])
@pytest.mark.parametrize("form", ["PNG", "WEBP", "TIFF"])
def test_transparent_pixels_lie_on_the_background(
    form: str, background: tuple[int, int, int]
) -> None:
    options = {"lossless": True, "exact": True} if form == "WEBP" else {}
    data = saved(np.dstack([PHOTO, ALPHA]), form, **options)
    expected = np.where((ALPHA > 0)[..., None], PHOTO, np.array(background, np.uint8))
    assert np.array_equal(decode(data, background=background), expected)


def test_half_transparent_pixels_are_mixed_with_the_background() -> None:
    rgba = np.full((2, 2, 4), (200, 100, 0, 128), np.uint8)
    expected = np.array([200, 100, 0]) * 128 / 255 + np.array([0, 0, 250]) * 127 / 255
    found = decode(saved(rgba), background=(0, 0, 250))
    assert np.abs(found - expected).max() <= 1


def test_grey_with_alpha_lies_on_the_background() -> None:
    data = saved(PIL.Image.merge("LA", [PIL.Image.fromarray(GREY), PIL.Image.fromarray(ALPHA)]))
    expected = np.where(ALPHA[..., None] > 0, three(GREY), np.array((1, 2, 3), np.uint8))
    assert np.array_equal(decode(data, background=(1, 2, 3)), expected)


@pytest.mark.parametrize("form", ["PNG", "GIF", "BMP", "TIFF"])
def test_palettes_give_their_colours(form: str) -> None:
    indices = RNG.integers(0, 5, (6, 9), dtype=np.uint8)
    colours = RNG.integers(0, 256, (5, 3), dtype=np.uint8)
    picture = PIL.Image.fromarray(indices)
    picture.putpalette(colours.tobytes())
    assert np.array_equal(decode(saved(picture, form)), colours[indices])


@pytest.mark.parametrize("transparency", [2, bytes([255, 255, 0, 255, 255])])
def test_a_transparent_colour_of_a_palette_lies_on_the_background(transparency: Any) -> None:
    indices = RNG.integers(0, 5, (6, 9), dtype=np.uint8)
    colours = RNG.integers(0, 256, (5, 3), dtype=np.uint8)
    picture = PIL.Image.fromarray(indices)
    picture.putpalette(colours.tobytes())
    seen = colours.copy()
    seen[2] = (9, 8, 7)
    data = saved(picture, transparency=transparency)
    assert np.array_equal(decode(data, background=(9, 8, 7)), seen[indices])


def test_a_transparent_colour_of_an_rgb_png_lies_on_the_background() -> None:
    picture = PHOTO.copy()
    picture[0] = (1, 2, 3)
    found = decode(saved(picture, transparency=(1, 2, 3)), background=(7, 7, 7))
    assert (found[0] == 7).all()
    assert np.array_equal(found[1:], picture[1:])


@pytest.mark.parametrize("bits", [8, 16])
def test_a_tiff_whose_zero_is_white_is_seen_as_it_is_meant(bits: int) -> None:
    grey = GREY.astype(f"u{bits // 8}") * (257 if bits == 16 else 1)
    assert np.array_equal(decode(pixelkit.tiff_grey(grey, photometric=1)), three(GREY))
    assert np.array_equal(decode(pixelkit.tiff_grey(grey, photometric=0)), three(255 - GREY))


@pytest.mark.parametrize("channels", [1, 3])
def test_the_transparent_colour_of_a_png_of_16_bits_is_compared_whole(channels: int) -> None:
    deep = np.full((2, 3, channels), 20_000, np.uint16)
    deep[0, 1] += np.uint16(1)  # the same in 8 bits, and not the colour
    colour = b"".join(int(v).to_bytes(2, "big") for v in deep[0, 0])
    data = pixelkit.png16(deep, pixelkit.chunk(b"tRNS", colour))
    expected = np.full((2, 3, 3), (9, 8, 7), np.uint8)
    expected[0, 1] = 78  # 20001 / 257
    assert np.array_equal(decode(data, background=(9, 8, 7)), expected)


def test_cmyk_jpeg_of_adobe_is_not_inverted() -> None:
    colours = [[(200, 40, 40), (40, 200, 40)], [(40, 40, 200), (220, 220, 220)]]
    rgb = np.kron(np.array(colours, np.uint8).transpose(2, 0, 1), np.ones((32, 32), np.uint8))
    picture = PIL.Image.fromarray(np.ascontiguousarray(rgb.transpose(1, 2, 0)))
    data = saved(picture, "JPEG", "CMYK", quality=95)
    assert b"Adobe" in data
    found = decode(data)[16::32, 16::32].astype(int)
    assert np.abs(found - np.array(colours)).max() <= 12


def test_cmyk_tiff_is_ink() -> None:
    ink = np.zeros((2, 2, 4), np.uint8)
    ink[0, 0], ink[1, 1] = (255, 0, 0, 0), (0, 0, 0, 255)
    found = decode(saved(PIL.Image.fromarray(ink, "CMYK"), "TIFF"))
    assert found[0, 0].tolist() == [0, 255, 255]
    assert found[1, 1].tolist() == [0, 0, 0]
    assert found[0, 1].tolist() == [255, 255, 255]


def test_ycbcr_and_lab_are_read_as_colours() -> None:
    flat = np.full((8, 8, 3), (180, 90, 40), np.uint8)
    assert np.abs(decode(saved(flat, "TIFF", "YCbCr")).astype(int) - flat).max() <= 2
    to_lab = PIL.ImageCms.buildTransform(
        PIL.ImageCms.createProfile("sRGB"), PIL.ImageCms.createProfile("LAB"), "RGB", "LAB"
    )
    lab = PIL.ImageCms.applyTransform(PIL.Image.fromarray(flat), to_lab)
    assert lab is not None
    assert np.abs(decode(saved(lab, "TIFF")).astype(int) - flat).max() <= 3


# --- more than eight bits -----------------------------------------------------------------

DEEP = RNG.integers(0, 65536, (6, 9, 4), dtype=np.uint16)
DEEP[..., 3] = np.where(ALPHA, 65535, 0)


def nearest(deep: Any) -> Any:
    return np.rint(deep / 257.0).astype(np.uint8)


def test_sixteen_bits_are_rounded_to_the_nearest_of_eight() -> None:
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    for data in (pixelkit.png16(every), pixelkit.png16(three(every)), saved(every, "TIFF")):
        assert np.array_equal(decode(data), three(nearest(every)))


def test_sixteen_bit_colour_is_read_with_its_alpha() -> None:
    opaque = nearest(DEEP[..., :3])
    assert np.array_equal(decode(pixelkit.png16(DEEP[..., :3])), opaque)
    expected = np.where(ALPHA[..., None] > 0, opaque, 255)
    assert np.array_equal(decode(pixelkit.png16(DEEP)), expected)
    expected = np.where(ALPHA[..., None] > 0, three(nearest(DEEP[..., 0])), 255)
    assert np.array_equal(decode(pixelkit.png16(DEEP[..., [0, 3]])), expected)


def test_small_numbers_of_sixteen_bits_are_nearly_black() -> None:
    assert decode(pixelkit.png16(np.full((2, 2), 200, np.uint16))).max() == 1


@pytest.mark.parametrize(
    ("numbers", "levels"),
    [
        (np.array([[0, 128, 255]], np.int32), [0, 128, 255]),
        (np.array([[0, 257, 65535]], np.int32), [0, 1, 255]),
        (np.array([[0, 128, 255]], np.float32), [0, 128, 255]),
        (np.array([[0, 0.5, 1]], np.float32), [0, 128, 255]),
        (np.array([[0, 1, 1]], np.float32), [0, 1, 1]),
    ],
)
def test_wide_numbers_are_grey_levels_of_the_range_they_span(
    numbers: Any, levels: list[int]
) -> None:
    assert decode(saved(numbers, "TIFF"))[0, :, 0].tolist() == levels


@pytest.mark.parametrize("number", [np.nan, np.inf, -1.0, 1e6])
def test_numbers_that_are_no_grey_levels_are_refused(number: float) -> None:
    with pytest.raises(Undecodable, match=r"x: .*(no grey levels|not all finite)"):
        decode(saved(np.array([[0, number]], np.float32), "TIFF"))


# --- orientation --------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["PNG", "TIFF", "WEBP"])
def test_pictures_are_turned_upright(form: str, orientation: int) -> None:
    from PIL import ImageOps

    options: dict[str, Any] = {"lossless": True} if form == "WEBP" else {}
    data = saved(PHOTO, form, exif=pixelkit.exif(orientation), **options)
    with PIL.Image.open(io.BytesIO(saved(PHOTO, exif=pixelkit.exif(orientation)))) as picture:
        expected = np.asarray(ImageOps.exif_transpose(picture))
    assert np.array_equal(decode(data), expected)


@pytest.mark.parametrize("orientation", [3, 6])
def test_deep_pictures_are_turned_upright(orientation: int) -> None:
    head = b"MM\x00*" + (8).to_bytes(4, "big") + (1).to_bytes(2, "big")
    entry = (274).to_bytes(2, "big") + (3).to_bytes(2, "big") + (1).to_bytes(4, "big")
    block = head + entry + orientation.to_bytes(2, "big") + b"\0\0" + b"\0" * 4
    data = pixelkit.png16(DEEP[..., :3], pixelkit.chunk(b"eXIf", block))
    turned = np.rot90(nearest(DEEP[..., :3]), {3: 2, 6: -1}[orientation])
    assert np.array_equal(decode(data), turned)


@pytest.mark.parametrize("block", [b"", b"Exif", b"MM\x00*\xff\xff\xff\xff", b"\0" * 40])
def test_broken_exif_leaves_the_picture_as_it_is(block: bytes) -> None:
    rows = b"".join(b"\0" + row.tobytes() for row in PHOTO)
    data = pixelkit.png((9, 6, 8, 2), rows, pixelkit.chunk(b"eXIf", block))
    assert np.array_equal(decode(data), PHOTO)


# --- several pictures in a file -----------------------------------------------------------


@pytest.mark.parametrize("form", ["GIF", "PNG", "TIFF", "WEBP"])
def test_of_several_pictures_the_first_is_read(form: str) -> None:
    first, second = (np.full((8, 8, 3), c, np.uint8) for c in ((255, 0, 0), (0, 0, 255)))
    options: dict[str, Any] = {"lossless": True} if form == "WEBP" else {}
    data = saved(first, form, save_all=True, append_images=[PIL.Image.fromarray(second)], **options)
    assert np.array_equal(decode(data), first)


def test_a_jpeg_that_holds_two_pictures_is_read() -> None:
    smooth = np.full((16, 16, 3), (120, 60, 30), np.uint8)
    data = saved(smooth, "MPO", save_all=True, append_images=[PIL.Image.fromarray(smooth)])
    assert np.abs(decode(data).astype(int) - smooth).max() <= 3


# --- any picture --------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 3, 4]), st.integers(0, 99))
def test_what_is_written_as_png_is_read_again(h: int, w: int, channels: int, seed: int) -> None:
    from vgen_eval.imaging import encode_png

    array = np.random.default_rng(seed).integers(0, 256, (h, w, channels), dtype=np.uint8)
    if channels == 4:
        array[..., 3] = 255
    found = decode(encode_png(array[..., 0] if channels == 1 else array))
    assert np.array_equal(found, np.broadcast_to(array[..., :3], (h, w, 3)))


def test_a_picture_of_a_data_set_names_its_path_when_it_is_faulty(tmp_path: Any) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(PHOTO))
    assert np.array_equal(read_image(path).array, PHOTO)
    for broken in (b"", b"no picture"):
        path.write_bytes(broken)
        with pytest.raises(BadSample, match=r"a\.png: "):
            read_image(path)
    with pytest.raises(BadSample, match=r"missing\.png"):
        read_image(tmp_path / "missing.png")
    with pytest.raises(BadSample, match="no file of bytes"):
        read_image(tmp_path)
