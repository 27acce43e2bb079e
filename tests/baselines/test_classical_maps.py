"""The classical model's depth, normals and classes: what its cues say of plain pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Request, Scene
from vgen_eval_plugins.baselines.classical import Classical
from vgen_eval_plugins.baselines.regions import CLUSTERS, cluster_colours, colours_named
from vgen_eval_plugins.normals.rgb_normals import RgbNormals

RGB = NDArray[np.uint8]


def ask(picture: RGB, family: str, form: str, prompt: str = "") -> Any:
    request = Request(
        id="a/0", sample="a", attempt=0, family=family, form=form,  # type: ignore[arg-type]
        prompt=prompt, images=(Image(picture),),
    )  # fmt: skip
    (output,) = Classical(NoOptions()).generate([request])
    return output.answer


def plain(level: int = 128, height: int = 120, width: int = 160) -> RGB:
    return np.full((height, width, 3), level, np.uint8)


def striped() -> RGB:
    """Plain on the left, fine stripes on the right."""
    picture = plain()
    picture[:, 80::4] = 255
    return picture


def test_what_is_lower_in_the_picture_is_nearer() -> None:
    painted = ask(plain(), "depth", "image")
    assert painted.shape == (120, 160, 3)
    assert (painted[..., 0] == painted[..., 2]).all()
    assert (np.diff(painted[:, 50, 0].astype(int)) >= 0).all()
    assert painted[-1, 50, 0] > painted[0, 50, 0] + 150


def test_what_is_rich_in_detail_is_nearer() -> None:
    painted = ask(striped(), "depth", "image")[..., 0].astype(int)
    assert (painted[:, 130] > painted[:, 20] + 30).all()


def test_metres_fall_as_the_painted_map_grows_brighter() -> None:
    metres, painted = ask(striped(), "depth", "depth_map"), ask(striped(), "depth", "image")
    assert metres.dtype == np.float32
    assert 2 <= metres.min() < metres.max() <= 10
    near = (1 / metres - 1 / 10) / (1 / 2 - 1 / 10)
    assert near * 255 == pytest.approx(painted[..., 0].astype(float), abs=0.51)


def bump() -> RGB:
    """A bright spot in the upper half, where no floor is taken for granted."""
    rows, columns = np.mgrid[:160, :160]
    grey = 40 + 200 * np.exp(-((rows - 40) ** 2 + (columns - 80) ** 2) / 600)
    return np.repeat(grey.astype(np.uint8)[..., None], 3, axis=2)


def test_bright_is_high_so_that_a_spot_slopes_away_on_all_sides() -> None:
    normals = ask(bump(), "normals", "normal_map")
    assert normals.shape == (160, 160, 3)
    assert np.linalg.norm(normals, axis=2) == pytest.approx(1, abs=1e-5)
    assert normals[40, 60, 0] < -0.05  # its left side faces left
    assert normals[40, 100, 0] > 0.05
    assert normals[20, 80, 1] > 0.05  # its upper side faces up
    assert normals[60, 80, 1] < -0.05
    assert normals[40, 80] == pytest.approx([0, 0, 1], abs=0.02)


def test_the_bottom_of_a_picture_is_taken_for_a_floor() -> None:
    normals = ask(plain(), "normals", "normal_map")
    assert normals[10, 50] == pytest.approx([0, 0, 1], abs=1e-6)
    assert normals[-1, 50] == pytest.approx([0, 0.5**0.5, 0.5**0.5], abs=0.01)


def test_painted_normals_are_the_native_ones() -> None:
    scene = Scene(image=Image(bump()), size=(160, 160))
    painted = ask(bump(), "normals", "image")
    read = RgbNormals(RgbNormals.Options()).decode(painted, scene).value
    assert read == pytest.approx(ask(bump(), "normals", "normal_map"), abs=0.01)


def thirds() -> RGB:
    """Half blue, a third green, the rest red."""
    picture = plain(height=60, width=120)
    picture[:, :60], picture[:, 60:100], picture[:, 100:] = (0, 0, 200), (0, 180, 0), (200, 0, 0)
    return picture


def test_clusters_take_the_colours_of_the_prompt_in_order_the_largest_first() -> None:
    prompt = "sky: cyan (#00FFFF); road: #ff0000; sky again #00ffff; tree: #123456. Void #000000."
    painted = ask(thirds(), "semantic", "image", prompt)
    assert painted.dtype == np.uint8
    assert painted[30, [20, 80, 115]].tolist() == [[0, 255, 255], [255, 0, 0], [0x12, 0x34, 0x56]]
    labels = ask(thirds(), "semantic", "label_map", prompt)
    assert labels[30, [20, 80, 115]].tolist() == [0, 1, 2]


def test_without_colours_there_is_a_grey_picture_and_a_few_clusters() -> None:
    painted = ask(thirds(), "semantic", "image", "Segment the classes.")
    assert np.ptp(painted.astype(int), axis=2).max() == 0
    labels = ask(thirds(), "semantic", "label_map", "Segment the classes.")
    assert labels.dtype == np.int32
    assert 3 <= len(np.unique(labels)) <= CLUSTERS


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (300, 2)])
@pytest.mark.parametrize("count", [0, 1, 40])
def test_clusters_are_never_more_than_there_are_colours(size: tuple[int, int], count: int) -> None:
    assert not cluster_colours(plain(90, *size), count).any()
    noise = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    labels = cluster_colours(noise, count)
    assert labels.shape == size
    assert labels.max() < max(count, 1)


def test_colours_named_in_a_prompt() -> None:
    assert colours_named("a #FF0000, b (#0000ff); #ff0000 again, #000000, #12345, #1234567") == [
        (255, 0, 0), (0, 0, 255),
    ]  # fmt: skip
