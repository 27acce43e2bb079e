"""NIQE and BRISQUE: their parts against independent code, their order, and pictures without one."""

from __future__ import annotations

import warnings
from pathlib import Path

import msgspec
import numpy as np
import pytest
import skimage.data
from classickit import write_files
from numpy.typing import NDArray
from scipy.ndimage import correlate
from scipy.special import gamma
from vgen_eval.errors import MissingData
from vgen_eval.imaging import recompress
from vgen_eval_plugins.quality.classic.brisque import (
    Regression,
    brisque,
    brisque_features,
    read_regression,
)
from vgen_eval_plugins.quality.classic.fit_our_pristine import PHOTOGRAPHS, fit
from vgen_eval_plugins.quality.classic.luma import luma
from vgen_eval_plugins.quality.classic.naturalness import fit_asymmetric, normalise
from vgen_eval_plugins.quality.classic.niqe import (
    PristineModel,
    fit_pristine,
    niqe,
    our_pristine_model,
    patch_features,
)

Plane = NDArray[np.float64]
RGB = NDArray[np.uint8]


def crop(name: str, side: int = 288) -> RGB:
    return np.ascontiguousarray(getattr(skimage.data, name)()[:side, :side])


def windowed(plane: Plane) -> Plane:
    """Under a 7 x 7 Gaussian window of sigma 7/6 that is written out."""
    steps = np.arange(-3, 4)
    line = np.exp(-(steps**2) / (2 * (7 / 6) ** 2))
    window = np.outer(line, line) / line.sum() ** 2
    return np.asarray(correlate(plane, window, mode="nearest"))


def own_mscn(levels: Plane) -> tuple[Plane, Plane]:
    mean = windowed(levels)
    deviation = np.sqrt(np.abs(windowed(levels**2) - mean**2))
    return (levels - mean) / (deviation + 1), deviation


def own_fit(values: Plane) -> tuple[float, float, float]:
    """Shape, left and right deviation, by trying every shape."""
    left = np.sqrt(np.mean(values[values < 0] ** 2))
    right = np.sqrt(np.mean(values[values > 0] ** 2))
    skew = left / right
    ratio = np.mean(np.abs(values)) ** 2 / np.mean(values**2)
    ratio *= (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2
    shapes = np.arange(0.2, 10.0005, 0.001)
    tried = gamma(2 / shapes) ** 2 / (gamma(1 / shapes) * gamma(3 / shapes))
    return float(shapes[np.argmin((tried - ratio) ** 2)]), float(left), float(right)


def test_coefficients_are_those_of_a_window_written_out() -> None:
    levels = luma(crop("camera", 120))
    found, expected = normalise(levels), own_mscn(levels)
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one - other).max() < 1e-4


@pytest.mark.parametrize(("shape", "left", "right"), [(1.0, 1.0, 1.0), (2.0, 3.0, 3.0)])
def test_a_fit_finds_the_shape_and_width_that_values_were_drawn_from(
    shape: float, left: float, right: float
) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.laplace(0, 1 / np.sqrt(2), 40000) if shape == 1 else rng.normal(0, 3, 40000)
    found = [float(each[0]) for each in fit_asymmetric(drawn[None])]
    assert found[0] == pytest.approx(shape, rel=0.05)
    assert found[1:3] == pytest.approx([left, right], rel=0.03)
    scale = np.sqrt(gamma(1 / found[0]) / gamma(3 / found[0]))
    assert found[3:] == pytest.approx([found[1] * scale, found[2] * scale], rel=1e-9)


def test_a_fit_tells_the_two_sides_apart() -> None:
    drawn = np.random.default_rng(0).normal(0, 1, 40000)
    values = np.where(drawn < 0, drawn, 3 * drawn)
    found = [float(each[0]) for each in fit_asymmetric(values[None])]
    assert found[:3] == pytest.approx(own_fit(values), abs=1e-3)
    assert found[2] == pytest.approx(3 * found[1], rel=0.05)


def test_features_of_a_patch_are_those_of_separate_code() -> None:
    levels = luma(crop("coffee", 96))
    features, sharpness = patch_features(levels)
    mscn, deviation = own_mscn(levels)
    shape, left, right = own_fit(mscn)
    scale = np.sqrt(gamma(1 / shape) / gamma(3 / shape))
    expected = [shape, (left + right) / 2 * scale]
    for rows, columns in ((0, 1), (1, 0), (1, 1), (1, -1)):
        product = mscn * np.roll(mscn, (rows, columns), (0, 1))
        shape, left, right = own_fit(product)
        scale = np.sqrt(gamma(1 / shape) / gamma(3 / shape))
        mean = (right - left) * scale * gamma(2 / shape) / gamma(1 / shape)
        expected += [shape, mean, left * scale, right * scale]
    assert features.shape == (1, 36)
    assert features[0, :18] == pytest.approx(expected, rel=1e-3, abs=1e-4)
    assert sharpness[0] == pytest.approx(deviation.mean(), rel=1e-6)


def test_brisque_features_of_the_first_scale_are_those_of_separate_code() -> None:
    picture = crop("coffee", 100)
    mscn, _ = own_mscn(luma(picture))
    shape, left, right = own_fit(mscn)
    expected = [shape, (left**2 + right**2) / 2]
    for rows, columns in ((1, 0), (0, 1), (1, 1), (1, -1)):
        shape, left, right = own_fit(mscn * np.roll(mscn, (rows, columns), (0, 1)))
        scale = np.sqrt(gamma(1 / shape) / gamma(3 / shape))
        mean = (right - left) * scale * gamma(2 / shape) / gamma(1 / shape)
        expected += [shape, mean, left**2, right**2]
    found = brisque_features(picture)
    assert found is not None
    assert found.shape == (36,)
    assert found[:18] == pytest.approx(expected, rel=1e-3, abs=1e-4)


def worse(picture: RGB, kind: str) -> list[RGB]:
    from scipy.ndimage import gaussian_filter

    if kind == "blur":
        planes = [gaussian_filter(picture.astype(float), (s, s, 0)) for s in (0.8, 1.5, 3)]
    elif kind == "noise":
        noise = np.random.default_rng(0).normal(0, 1, picture.shape)
        planes = [picture + amount * noise for amount in (5, 15, 40)]
    else:
        return [recompress(picture, f"jpeg:{quality}") for quality in (50, 20, 5)]
    return [np.clip(np.rint(plane), 0, 255).astype(np.uint8) for plane in planes]


@pytest.mark.parametrize("kind", ["blur", "noise", "jpeg"])
@pytest.mark.parametrize("name", ["chelsea", "coffee"])
def test_niqe_rises_with_a_distortion_of_photographs_it_was_not_fitted_on(
    name: str, kind: str
) -> None:
    picture = crop(name, 400)
    found = [niqe(each).value for each in (picture, *worse(picture, kind))]
    assert all(value is not None and value > 0 for value in found)
    assert found == sorted(found)  # type: ignore[type-var]


def test_the_model_that_ships_is_the_one_that_the_script_makes() -> None:
    made, shipped = fit(), our_pristine_model()
    assert made.photographs == shipped.photographs == PHOTOGRAPHS
    assert made.patches == shipped.patches > 36
    assert made.mean == pytest.approx(shipped.mean, rel=1e-4, abs=1e-6)
    found, kept = (np.array(each.covariance) for each in (made, shipped))
    assert np.abs(found - kept).max() < 1e-4 * np.abs(kept).max()


def test_the_model_says_that_its_numbers_are_not_those_of_papers() -> None:
    about = our_pristine_model().about
    assert "Fitted by the vgen-eval project" in about
    assert "cannot be compared with published NIQE values" in about


def test_niqe_of_a_models_own_mean_is_a_distance_of_zero() -> None:
    picture = crop("coffee", 288)
    features, _ = patch_features(luma(picture))
    model = PristineModel(
        about="own", photographs=(), patches=len(features), mean=tuple(features.mean(axis=0)),
        covariance=tuple(map(tuple, np.eye(36))),
    )  # fmt: skip
    assert niqe(picture, model).value == pytest.approx(0, abs=1e-9)
    shift = np.zeros(36)
    shift[3] = 2
    moved = msgspec.structs.replace(model, mean=tuple(np.array(model.mean) - shift))
    spread = (np.cov(features, rowvar=False) + np.eye(36)) / 2
    expected = np.sqrt(shift @ np.linalg.inv(spread) @ shift)
    assert niqe(picture, moved).value == pytest.approx(expected, rel=1e-6)


def test_grey_saved_as_grey_as_rgb_and_as_opaque_rgba_measures_alike() -> None:
    grey = crop("camera", 256)
    rgb = np.repeat(grey[:, :, None], 3, axis=2)
    rgba = np.concatenate([rgb, np.full_like(rgb[:, :, :1], 255)], axis=2)
    values = [niqe(each).value for each in (grey, grey[:, :, None], rgb, rgba)]
    assert values == pytest.approx([values[0]] * 4, rel=1e-5)
    first, *others = (brisque_features(each) for each in (grey, rgb, rgba))
    for other in others:
        assert other == pytest.approx(first, rel=1e-5)


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        (np.full((256, 256, 3), 230, np.uint8), "flat"),
        (np.full((64, 64, 3), 230, np.uint8), "two patches of 96 pixels, 64x64 holds 0"),
        (np.random.default_rng(0).integers(0, 256, (8, 8), np.uint8), "8x8 holds 0"),
        (np.random.default_rng(0).integers(0, 256, (100, 120), np.uint8), "120x100 holds 1"),
    ],
)
def test_tiny_and_flat_pictures_have_no_niqe_and_a_reason(picture: RGB, told: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = niqe(picture)
    assert found.value is None
    assert told in found.reason


def test_a_flat_part_of_a_picture_is_left_out_of_niqe() -> None:
    picture = crop("coffee", 288)
    half = picture.copy()
    half[:96] = 90
    assert niqe(half).value is not None


def test_pictures_that_are_seen_through_or_of_other_types_are_refused() -> None:
    glass = np.full((20, 20, 4), 128, np.uint8)
    with pytest.raises(ValueError, match="seen through"):
        luma(glass)
    with pytest.raises(ValueError, match="float64"):
        luma(glass[:, :, :3] / 255)
    with pytest.raises(ValueError, match=r"\(20, 20, 2\)"):
        luma(glass[:, :, :2])
    with pytest.raises(ValueError, match="no pixels"):
        luma(glass[:0])


def test_a_pristine_model_wants_more_patches_than_features() -> None:
    with pytest.raises(ValueError, match="more than 36"):
        fit_pristine([("one", crop("camera", 96)), ("tiny", crop("camera", 20))], about="x")
    with pytest.raises(ValueError, match="36 x 36"):
        PristineModel(about="x", photographs=(), patches=1, mean=(0.0,), covariance=((0.0,),))


def test_a_regression_of_opencv_predicts_as_reckoned_by_hand(tmp_path: Path) -> None:
    regression = read_regression(*write_files(tmp_path))
    middle = np.ones(36)  # halfway between -2 and 4: scaled to 0
    expected = 3 - 1.5 * np.exp(-0.5 * 36 * 0.1**2) + 40
    assert regression.predict(middle) == pytest.approx(expected, rel=1e-6)
    found = brisque(crop("coffee", 100), regression).value
    assert found is not None
    assert 0 <= found <= 100


def test_a_score_stays_within_its_scale() -> None:
    low, high = np.zeros(36), np.ones(36)
    vectors, weights = np.zeros((1, 36)), np.zeros(1)
    kept = Regression(vectors=vectors, weights=weights, gamma=1.0, rho=5.0, low=low, high=high)
    picture = crop("coffee", 100)
    assert brisque(picture, msgspec.structs.replace(kept, rho=-400.0)).value == 100
    assert brisque(picture, kept).value == 0


@pytest.mark.parametrize(("side", "told"), [(8, "16 pixels a side"), (64, "flat")])
def test_tiny_and_flat_pictures_have_no_brisque_and_a_reason(
    tmp_path: Path, side: int, told: str
) -> None:
    regression = read_regression(*write_files(tmp_path))
    found = brisque(np.full((side, side, 3), 230, np.uint8), regression)
    assert found.value is None
    assert told in found.reason


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kernel": "LINEAR"}, "EPS_SVR of kernel RBF was wanted"),
        ({"alpha": "1."}, "each with a weight"),
        ({"first": "1., 2."}, "36 features"),
        ({"data": ", ".join(["1."] * 72)}, "low and high"),
        ({"alpha": ".nan, 1."}, "not finite"),
    ],
)
def test_a_regression_of_another_kind_is_refused(
    tmp_path: Path, changes: dict[str, str], told: str
) -> None:
    with pytest.raises(MissingData, match=told):
        read_regression(*write_files(tmp_path, **changes))


def test_files_that_hold_no_regression_are_named(tmp_path: Path) -> None:
    model, ranges = write_files(tmp_path)
    with pytest.raises(MissingData, match=r"none\.yml"):
        read_regression(tmp_path / "none.yml", ranges)
    for words in ("", "no yaml: [", "{}", "\x00\x01", "%YAML:1.0\n---\nother: 3\n"):
        (tmp_path / "odd.yml").write_text(words)
        with pytest.raises(MissingData, match=r"odd\.yml"):
            read_regression(tmp_path / "odd.yml", ranges)
        with pytest.raises(MissingData, match=r"odd\.yml"):
            read_regression(model, tmp_path / "odd.yml")
