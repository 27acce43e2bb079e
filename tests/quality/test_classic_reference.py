"""PSNR and SSIM against independent code, and at their edges."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import skimage.data
from numpy.typing import NDArray
from skimage.metrics import structural_similarity
from vgen_eval_plugins.quality.classic.luma import luma
from vgen_eval_plugins.quality.classic.reference import psnr, ssim

RGB = NDArray[np.uint8]


def random_picture(seed: int, *shape: int) -> RGB:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def blurred(picture: RGB) -> RGB:
    from scipy.ndimage import gaussian_filter

    sigma = (2, 2, 0)[: picture.ndim]
    return np.asarray(np.rint(gaussian_filter(picture.astype(float), sigma)), np.uint8)


def noisy(picture: RGB) -> RGB:
    noise = np.random.default_rng(1).normal(0, 20, picture.shape)
    return np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)


def test_psnr_is_reckoned_of_exact_differences_and_does_not_wrap_round() -> None:
    a, b = random_picture(0, 20, 30, 3), random_picture(1, 20, 30, 3)
    errors = [(int(x) - int(y)) ** 2 for x, y in zip(a.ravel(), b.ravel(), strict=True)]
    exact = 10 * math.log10(255**2 / Fraction(sum(errors), len(errors)))
    found = psnr(a, b).value
    assert found == pytest.approx(exact, abs=1e-9)
    wrapped = 10 * math.log10(255**2 / float(np.mean((a - b).astype(np.uint8) ** 2)))
    assert found is not None
    assert abs(found - wrapped) > 1


def test_psnr_of_one_level_everywhere_is_that_of_the_peak() -> None:
    dark, light = np.full((4, 5), 100, np.uint8), np.full((4, 5), 101, np.uint8)
    assert psnr(dark, light).value == pytest.approx(20 * math.log10(255))
    black, white = np.zeros((4, 5), np.uint8), np.full((4, 5), 255, np.uint8)
    assert psnr(black, white).value == 0


def test_identical_pictures_have_no_psnr_that_a_mean_could_drown_in() -> None:
    a, b = random_picture(0, 20, 30, 3), random_picture(1, 20, 30, 3)
    same, other = psnr(a, a), psnr(a, b)
    assert same.value is None
    assert "identical" in same.reason
    finite = [each.value for each in (other, same) if each.value is not None]
    assert np.mean(finite) == other.value
    assert "Infinity" not in json.dumps([same.value, other.value], allow_nan=False)


@pytest.mark.parametrize("name", ["chelsea", "camera"])
@pytest.mark.parametrize("change", [blurred, noisy])
def test_ssim_agrees_with_scikit_image(name: str, change: object) -> None:
    target = getattr(skimage.data, name)()[:160, :200]
    pred = change(target)  # type: ignore[operator]
    expected = structural_similarity(  # type: ignore[no-untyped-call]
        luma(pred), luma(target), gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
        data_range=255, K1=0.01, K2=0.03,
    )  # fmt: skip
    assert ssim(pred, target).value == pytest.approx(expected, abs=1e-9)


def test_ssim_of_a_picture_with_itself_is_one_also_where_it_is_flat() -> None:
    assert ssim(*[random_picture(3, 30, 40, 3)] * 2).value == pytest.approx(1, abs=1e-12)
    assert ssim(*[np.full((11, 11), 7, np.uint8)] * 2).value == pytest.approx(1, abs=1e-12)


def test_ssim_of_flat_pictures_is_its_term_for_light_alone() -> None:
    c1 = (0.01 * 255) ** 2
    expected = (2 * 50 * 100 + c1) / (50**2 + 100**2 + c1)
    pictures = (np.full((20, 20), level, np.uint8) for level in (50, 100))
    assert ssim(*pictures).value == pytest.approx(expected, abs=1e-9)


def test_pictures_smaller_than_the_window_have_no_ssim() -> None:
    found = ssim(*[random_picture(0, 8, 8)] * 2)
    assert found.value is None
    assert "8x8 is smaller" in found.reason


@pytest.mark.parametrize("measure", [psnr, ssim])
def test_pictures_that_cannot_be_compared_are_named(measure: object) -> None:
    a = random_picture(0, 20, 20)
    with pytest.raises(ValueError, match=r"one shape.*\(20, 20\) and \(20, 21\)"):
        measure(a, random_picture(0, 20, 21))  # type: ignore[operator]
    with pytest.raises(ValueError, match="target: uint8 levels were wanted, float64 came"):
        measure(a, a / 255)  # type: ignore[operator]
    with pytest.raises(ValueError, match="pred: the picture has no pixels"):
        measure(a[:0], a[:0])  # type: ignore[operator]
