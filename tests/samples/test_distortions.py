"""Known distortions: what they do to pixels, worked out by hand, and that they repeat."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from vgen_eval_plugins.samples.distortions import Distortion, distort

PICTURE = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)


def made(kind: str, amount: float, **more: Any) -> Distortion:
    return msgspec.convert({"kind": kind, "amount": amount, **more}, Distortion)


def test_none_leaves_the_picture_as_it_is() -> None:
    assert distort(PICTURE, []) is PICTURE


def test_blur_is_a_gaussian_that_keeps_flat_pictures() -> None:
    from scipy.ndimage import gaussian_filter

    found = distort(PICTURE, [made("blur", 1.5)])
    expected = gaussian_filter(PICTURE.astype(float), (1.5, 1.5, 0), mode="mirror")
    assert np.abs(found - expected).max() <= 0.6  # the rounding, and where the window ends
    flat = np.full((20, 20, 3), 77, np.uint8)
    assert (distort(flat, [made("blur", 3)]) == 77).all()


def test_noise_has_the_deviation_that_it_names_and_follows_from_its_seed() -> None:
    grey = np.full((200, 200, 3), 128, np.uint8)
    found = distort(grey, [made("noise", 10)])
    assert (found - 128.0).std() == pytest.approx(10, rel=0.02)
    assert np.array_equal(found, distort(grey, [made("noise", 10)]))
    assert not np.array_equal(found, distort(grey, [made("noise", 10, seed=1)]))
    expected = np.rint(128 + np.random.default_rng(0).normal(0, 10, grey.shape))
    assert np.array_equal(found, expected.astype(np.uint8))


def test_darkening_multiplies_and_contrast_draws_to_the_mean() -> None:
    assert np.array_equal(distort(PICTURE, [made("dark", 0.5)]), np.rint(PICTURE * 0.5))
    found = distort(PICTURE, [made("contrast", 0.25)]).astype(float)
    mean = PICTURE.reshape(-1, 3).mean(axis=0)
    assert np.abs(found - (mean + (PICTURE - mean) / 4)).max() <= 0.5
    assert (distort(PICTURE, [made("contrast", 0)]) == np.rint(mean)).all()


def test_blocks_are_the_means_of_their_squares_also_at_the_border() -> None:
    found = distort(PICTURE, [made("blocks", 8)])
    assert (found[8:16, 16:24] == np.rint(PICTURE[8:16, 16:24].mean(axis=(0, 1)))).all()
    assert (found[32:, 48:] == np.rint(PICTURE[32:, 48:].mean(axis=(0, 1)))).all()


def test_jpeg_is_worse_at_a_lower_quality() -> None:
    errors = [
        float(((distort(PICTURE, [made("jpeg", quality)]) - PICTURE.astype(float)) ** 2).mean())
        for quality in (90, 50, 10)
    ]
    assert 0 < errors[0] < errors[1] < errors[2]


def test_distortions_follow_one_another() -> None:
    both = distort(PICTURE, [made("dark", 0.5), made("blocks", 8)])
    assert np.array_equal(both, distort(distort(PICTURE, [made("dark", 0.5)]), [made("blocks", 8)]))


@pytest.mark.parametrize(
    ("kind", "amount", "told"),
    [
        ("blur", 0, "0.1 to 50"), ("jpeg", 101, "1 to 100"), ("jpeg", 50.5, "whole number"),
        ("blocks", 1, "2 to 64"), ("dark", 1.5, "0 to 1"), ("noise", -1, "0.1 to 255"),
        ("smear", 1, "Invalid enum value 'smear'"),
    ],
)  # fmt: skip
def test_amounts_out_of_range_are_refused(kind: str, amount: float, told: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=told):
        made(kind, amount)
