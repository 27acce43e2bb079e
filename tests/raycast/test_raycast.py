"""Rendered depth, normals and objects agree with formulas worked out on other ways."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import subprocess
import sys
from importlib.resources import files
from typing import Any

import cv2
import numpy as np
import pytest
from vgen_eval.errors import CardError
from vgen_eval_plugins.raycast.render import Rendering, render
from vgen_eval_plugins.raycast.scenes import Scene, parse_scenes

CAMERA = {"width": 64, "height": 48, "focal_px": 60.0, "principal_px": [31.5, 20.25]}
BALL = {"shape": "sphere", "name": "ball", "label": "ball", "colour": [200, 100, 50],
        "centre": [0.3, -0.2, -4.0], "radius": 0.8}  # fmt: skip
FLOOR = {"shape": "plane", "name": "floor", "label": "floor", "colour": [90, 90, 90],
         "point": [0, -1, 0], "normal": [0, 2, 0]}  # fmt: skip
SHIPPED = files("vgen_eval.task_cards").joinpath("samples/scenes.json").read_bytes()


def document(*objects: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "name": "toy", "camera": CAMERA, "light": {"toward": [1, 2, 1]}, "objects": list(objects),
        **changes,
    }  # fmt: skip


def scene_of(*objects: dict[str, Any], **changes: Any) -> Scene:
    text = json.dumps([document(*objects, **changes)]).encode()
    return parse_scenes(text, file="scenes.json")["toy"]


def shown(*objects: dict[str, Any], **changes: Any) -> Rendering:
    return render(scene_of(*objects, **changes))


def pixel_rays(scene: Scene) -> np.ndarray[Any, Any]:
    """(H, W, 3) in the camera's axes, one metre deep."""
    camera = scene.camera
    rays = np.empty((camera.height, camera.width, 3))
    for v, u in itertools.product(range(camera.height), range(camera.width)):
        x = (u - camera.principal_px[0]) / camera.focal_px
        rays[v, u] = x, -(v - camera.principal_px[1]) / camera.focal_px, -1.0
    return rays


def points_seen(rendering: Rendering) -> np.ndarray[Any, Any]:
    return pixel_rays(rendering.scene) * rendering.depth[:, :, None]


def test_a_frontal_wall_is_as_deep_everywhere() -> None:
    wall = {**FLOOR, "point": [5, 7, -3.7], "normal": [0, 0, -4]}
    rendering = shown(wall)
    assert (rendering.depth == 3.7).all()
    assert (rendering.normals == [0, 0, 1]).all()
    rays = pixel_rays(rendering.scene)
    assert rendering.distance == pytest.approx(3.7 * np.linalg.norm(rays, axis=2), abs=1e-12)


def test_depth_of_a_floor_is_height_times_focal_over_rows_below_the_horizon() -> None:
    rendering = shown(FLOOR)
    rows = np.arange(48) - 20.25
    with np.errstate(divide="ignore"):
        expected = np.where(rows > 0, 60.0 / rows, np.nan)
    assert np.allclose(rendering.depth, expected[:, None], rtol=1e-13, atol=0, equal_nan=True)
    assert (np.isnan(rendering.depth) == (rendering.objects == -1)).all()
    assert (rendering.normals[21:] == [0, 1, 0]).all()
    assert np.isnan(rendering.normals[:21]).all()


def test_depth_of_a_ball_solves_its_quadratic() -> None:
    rendering = shown(BALL)
    centre = np.array(BALL["centre"])
    rays = pixel_rays(rendering.scene)
    hit = np.zeros((48, 64), bool)
    for v, u in itertools.product(range(48), range(64)):
        ray = rays[v, u]
        roots = np.roots([ray @ ray, -2 * ray @ centre, centre @ centre - 0.8**2])
        hit[v, u] = abs(roots[0].imag) == 0
        if hit[v, u]:
            # the schoolbook's roots lose digits where the ray grazes the ball
            room = 1e-12 if roots.max().real - roots.min().real > 0.05 else 1e-9
            assert rendering.depth[v, u] == pytest.approx(roots.real.min(), abs=room)
    assert hit.sum() > 300
    assert (hit == (rendering.objects == 0)).all()
    offset = points_seen(rendering)[hit] - centre
    assert np.linalg.norm(offset, axis=1) == pytest.approx(np.full(hit.sum(), 0.8), abs=1e-12)
    assert rendering.normals[hit] == pytest.approx(offset / 0.8, abs=1e-12)


def test_the_nearest_pixel_of_a_ball_ahead_is_its_distance_less_the_radius() -> None:
    camera = {**CAMERA, "principal_px": [32, 24]}
    rendering = shown({**BALL, "centre": [0, 0, -4]}, camera=camera)
    assert rendering.depth[24, 32] == 4 - 0.8
    assert rendering.normals[24, 32] == pytest.approx([0, 0, 1], abs=1e-15)


def test_a_looked_down_floor_tilts_with_the_camera() -> None:
    camera = {**CAMERA, "eye_m": 1.5, "down": 0.75}  # 3-4-5: cosine 0.8, sine 0.6
    rendering = shown({**FLOOR, "point": [0, 0, 0]}, camera=camera)
    expected = np.broadcast_to([0, 0.8, 0.6], (48, 64, 3))
    floor = rendering.objects == 0
    assert rendering.normals[floor] == pytest.approx(expected[floor], abs=1e-15)
    heights = points_seen(rendering)[floor] @ [0, 0.8, 0.6]
    assert heights == pytest.approx(np.full(floor.sum(), -1.5), abs=1e-12)


def test_a_tilted_camera_sees_a_ball_where_the_rotation_puts_it() -> None:
    camera = {**CAMERA, "eye_m": 2.0, "down": 0.75}
    rendering = shown({**BALL, "centre": [0.3, 0.5, -4.0]}, camera=camera)
    angle = math.atan(0.75)
    x, y, z = 0.3, 0.5 - 2.0, -4.0
    up, back = y * math.cos(angle) - z * math.sin(angle), y * math.sin(angle) + z * math.cos(angle)
    alike = shown({**BALL, "centre": [x, up, back]})
    both = (alike.objects == 0) & (rendering.objects == 0)
    assert both.sum() > 200
    assert ((alike.objects == 0) == (rendering.objects == 0)).all()
    assert rendering.depth[both] == pytest.approx(alike.depth[both], abs=1e-12)
    assert rendering.normals[both] == pytest.approx(alike.normals[both], abs=1e-12)


@pytest.mark.parametrize("turn", [0.0, 0.75, -0.5])
def test_a_box_is_six_faces(turn: float) -> None:
    size = np.array([1.2, 0.9, 1.0])
    centre = np.array([-0.4, -0.7, -4.0])
    box = {"shape": "box", "name": "box", "label": "box", "colour": [10, 20, 30],
           "centre": centre.tolist(), "size": size.tolist(), "turn": turn}  # fmt: skip
    rendering = shown(box)
    angle = math.atan(turn)
    axes = np.array([[math.cos(angle), 0, -math.sin(angle)], [0, 1, 0],
                     [math.sin(angle), 0, math.cos(angle)]])  # fmt: skip
    hit = rendering.objects == 0
    local = (points_seen(rendering)[hit] - centre) @ axes.T / (size / 2)
    assert np.abs(local).max(axis=1) == pytest.approx(np.ones(hit.sum()), abs=1e-12)
    normals = rendering.normals[hit] @ axes.T
    for axis in range(3):
        on = np.abs(normals[:, axis]) > 0.5
        assert normals[on, axis] == pytest.approx(local[on, axis], abs=1e-12)
    # the outline of a convex body is the hull of its corners, seen from the pinhole
    corners = centre + np.array(list(itertools.product((-1, 1), repeat=3))) * size / 2 @ axes
    assert_fills_the_hull(hit, [31.5, 20.25] + [60.0, -60.0] * corners[:, :2] / -corners[:, 2:])
    assert len({tuple(n) for n in np.round(normals, 6)}) == (2 if turn == 0 else 3)


def assert_fills_the_hull(mask: np.ndarray[Any, Any], points: np.ndarray[Any, Any]) -> None:
    hull = cv2.convexHull(points.astype(np.float32))
    for v, u in itertools.product(*map(range, mask.shape)):
        inside = cv2.pointPolygonTest(hull, (u, v), True)
        assert abs(inside) < 1e-3 or mask[v, u] == (inside > 0)


def test_a_cylinder_has_a_side_and_a_top() -> None:
    base = np.array([0.2, -1.4, -4.0])
    barrel = {"shape": "cylinder", "name": "barrel", "label": "barrel", "colour": [1, 2, 3],
              "base": base.tolist(), "radius": 0.7, "height": 1.1}  # fmt: skip
    rendering = shown(barrel)
    hit = rendering.objects == 0
    place = points_seen(rendering)[hit] - base
    normals = rendering.normals[hit]
    top = normals[:, 1] == 1
    across = np.linalg.norm(place[:, [0, 2]], axis=1)
    assert 15 < top.sum() < hit.sum() - 200
    assert place[top, 1] == pytest.approx(np.full(top.sum(), 1.1), abs=1e-12)
    assert (across[top] <= 0.7 + 1e-12).all()
    assert across[~top] == pytest.approx(np.full((~top).sum(), 0.7), abs=1e-12)
    assert normals[~top] == pytest.approx(place[~top] * [1, 0, 1] / 0.7, abs=1e-12)
    assert (place[:, 1] >= 0).all()


@pytest.mark.parametrize("name", parse_scenes(SHIPPED, file="scenes.json"))
def test_shipped_scenes_have_unit_normals_that_face_the_camera(name: str) -> None:
    rendering = render(parse_scenes(SHIPPED, file="scenes.json")[name])
    hit = rendering.objects >= 0
    normals = rendering.normals[hit]
    assert np.linalg.norm(normals, axis=1) == pytest.approx(np.ones(hit.sum()), abs=1e-12)
    assert ((normals * pixel_rays(rendering.scene)[hit]).sum(axis=1) < 0).all()
    assert rendering.depth[hit].min() > 0.5
    assert rendering.depth[hit].max() < 70
    assert np.isnan(rendering.depth[~hit]).all()
    assert hit.mean() > 0.7
    for place in range(len(rendering.scene.objects)):
        assert (rendering.objects == place).sum() >= 100  # nothing is there in name alone
    assert rendering.rgb.std() > 20


def test_objects_that_are_hidden_are_not_counted() -> None:
    behind = {**BALL, "name": "behind", "centre": [0.3, -0.2, -9], "radius": 0.5}
    beside = {**BALL, "name": "beside", "centre": [-1.2, -0.2, -4], "radius": 0.3}
    rendering = shown(BALL, behind, beside)
    assert rendering.mask(["behind"]).sum() == 0
    points = rendering.points("ball")
    assert len(points) == 2
    for (x, y), name in zip(points, ("ball", "beside"), strict=True):
        seen = rendering.mask([name])
        rows, columns = np.nonzero(seen)
        assert (x, y) == (pytest.approx(columns.mean()), pytest.approx(rows.mean()))
    assert rendering.points("cube").shape == (0, 2)


def test_the_point_of_a_partly_hidden_object_lies_on_it() -> None:
    post = {"shape": "box", "name": "post", "label": "post", "colour": [1, 1, 1],
            "centre": [0.3, -0.2, -3], "size": [0.2, 3, 0.1]}  # fmt: skip
    rendering = shown(BALL, post)
    rows, columns = np.nonzero(rendering.mask(["ball"]))
    centre = np.array([columns.mean(), rows.mean()])
    assert rendering.mask(["post"])[round(centre[1]), round(centre[0])]
    ((x, y),) = rendering.points("ball")
    assert rendering.mask(["ball"])[int(y), int(x)]
    far = np.hypot(columns - centre[0], rows - centre[1])
    assert math.hypot(x - centre[0], y - centre[1]) == pytest.approx(far.min())


def test_labels_are_places_among_the_classes() -> None:
    rendering = shown(BALL, FLOOR, sky={"colour": [0, 0, 0], "label": "sky"})
    labels = rendering.labels(("sky", "floor", "ball"))
    assert labels.dtype == np.int32
    assert (labels == np.array([2, 1, 0])[rendering.objects]).all()
    assert (rendering.labels(("ball",)) == np.where(rendering.objects == 0, 0, -1)).all()
    unnamed = shown(BALL, FLOOR)
    assert (unnamed.labels(("floor", "ball"))[unnamed.objects < 0] == -1).all()


def test_of_two_equally_near_the_first_is_seen() -> None:
    again = {**FLOOR, "name": "again", "label": "again"}
    assert not (shown(FLOOR, again).objects == 1).any()


def test_colours_follow_the_light() -> None:
    light = {"toward": [0, 1, 0], "diffuse": 0.6, "ambient": 0.0}
    wide = {**BALL, "centre": [0, 1, -4], "radius": 0.5}
    rendering = shown(FLOOR, wide, light=light)
    floor = rendering.rgb[rendering.objects == 0]
    lit, dark = round(90 * math.sqrt(0.6)), 0
    assert {tuple(pixel) for pixel in floor} == {(lit,) * 3, (dark,) * 3}
    place = points_seen(rendering)[rendering.objects == 0]
    inside = np.hypot(place[:, 0], place[:, 2] + 4) < 0.5  # straight below the ball
    assert 20 < inside.sum() < 400
    assert ((floor[:, 0] == dark) == inside).all()
    quiet = shown(FLOOR, {**wide, "shadow": False}, light=light)
    assert (quiet.rgb[quiet.objects == 0] == lit).all()


def test_a_checker_has_its_two_colours_and_its_width() -> None:
    checker = {"kind": "checker", "other": [250, 250, 250], "size_m": 1.0}
    wall = {**FLOOR, "point": [0, 0, -3], "normal": [0, 0, 1], "texture": checker}
    rendering = shown(wall, light={"toward": [0, 0, 1], "diffuse": 1.0, "ambient": 0.0})
    place = points_seen(rendering)
    even = (np.floor(place[:, :, 0]) + np.floor(place[:, :, 1])) % 2 == 0
    edge = np.abs(place[:, :, :2] - np.round(place[:, :, :2])).min(axis=2) < 3 / 60 / 2 + 1e-9
    expected = np.where(even, 90, 250)
    assert (rendering.rgb[:, :, 0] == expected)[~edge].all()
    assert (~edge).sum() > 2000
    assert ((rendering.rgb[edge] >= 90) & (rendering.rgb[edge] <= 250)).all()


def test_a_far_checker_is_its_mean_and_not_noise() -> None:
    checker = {"kind": "checker", "other": [250, 250, 250], "size_m": 0.01}
    light = {"toward": [0, 1, 0], "diffuse": 1.0, "ambient": 0.0}
    rendering = shown({**FLOOR, "texture": checker}, light=light)
    mean = math.sqrt((90**2 + 250**2) / 2)
    assert rendering.rgb[21:30, :, 0] == pytest.approx(np.full((9, 64), mean), abs=2)


DIGESTS = {
    "balls": "479abff2536d507ab3e7773b313f2fb1",
    "corridor": "812927014d371222ba90b9d144d8d799",
    "table": "ebbd7a969e30650492b35bb8818a6c27",
    "meadow": "acf78eee56e59d11656a278efc734cf3",
    "close_ball": "3421556c59cef9aaf03f25d268fdbea4",
    "pillars": "b0e23223ab9583a5cb0c8b2d4c86b604",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_renderings_are_the_same_bits_everywhere(name: str) -> None:
    rendering = render(parse_scenes(SHIPPED, file="scenes.json")[name])
    assert digest(rendering) == DIGESTS[name]


def digest(rendering: Rendering) -> str:
    parts = (rendering.rgb, rendering.depth, rendering.normals, rendering.objects)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:32]


def test_every_shipped_scene_is_pinned() -> None:
    assert set(DIGESTS) == set(parse_scenes(SHIPPED, file="scenes.json"))


def test_rendering_draws_on_no_table_of_its_own_process() -> None:
    code = (
        "import hashlib, sys\n"
        "from vgen_eval_plugins.raycast.render import render\n"
        "from vgen_eval_plugins.raycast.scenes import parse_scenes\n"
        "scene = parse_scenes(sys.stdin.buffer.read(), file='x')['close_ball']\n"
        "print(hashlib.sha256(render(scene).depth.tobytes()).hexdigest())\n"
        "assert 'cv2' not in sys.modules and 'scipy' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], input=SHIPPED, capture_output=True, check=True
    )
    here = render(parse_scenes(SHIPPED, file="x")["close_ball"]).depth
    assert done.stdout.decode().strip() == hashlib.sha256(here.tobytes()).hexdigest()


def test_every_faulty_scene_is_told_by_its_name() -> None:
    fine = document(BALL, name="fine")
    faulty = {
        "typo": document({**BALL, "raduis": 1}),
        "round": document({**BALL, "shape": "torus"}),
        "twins": document(BALL, BALL),
        "inside": document({**BALL, "centre": [0, 0, 0.1]}),
        "empty": document(),
        "huge": document(BALL, camera={**CAMERA, "width": 100_000}),
        "flat": document({**FLOOR, "normal": [0, 0, 0]}),
        "dark": document(BALL, light={"toward": [0, 0, 0]}),
        "far": document({**BALL, "centre": [0, 0, -1e300]}),
        "loud": document({**BALL, "colour": [0, 0, 256]}),
    }
    scenes = [fine, *({**entry, "name": name} for name, entry in faulty.items()), fine]
    with pytest.raises(CardError) as error:
        parse_scenes(json.dumps(scenes).encode(), file="x.json")
    told = [str(problem) for problem in error.value.problems]
    for text, name in zip(told, [*faulty, "fine"], strict=True):
        assert text.startswith(f"x.json: scene '{name}': "), text
    parts = ("raduis", "torus", "two objects are called 'ball'", "camera lies in the object 'ball'",
             "length >= 1", "<= 2048", "no length", "no length", "1000000", "255",
             "stands twice")  # fmt: skip
    for text, part in zip(told, parts, strict=True):
        assert part in text


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[", b"\xff", b"[]", b"[1]", b'[{"name": 7}]', b'["a"]']
)
def test_what_is_no_list_of_scenes_is_refused(text: bytes) -> None:
    with pytest.raises(CardError, match=r"x\.json"):
        parse_scenes(text, file="x.json")


@pytest.mark.parametrize("shape", ["box", "cylinder", "plane"])
def test_a_camera_in_or_on_a_body_is_refused(shape: str) -> None:
    bodies = {
        "box": {"centre": [0.5, 0, 0], "size": [1.5, 1, 1], "turn": 0.3},
        "cylinder": {"base": [0.2, -0.5, 0], "radius": 0.3, "height": 2},
        "plane": {"point": [1, 0, 0], "normal": [0, 1, 0]},
    }
    with pytest.raises(CardError, match="camera lies in the object 'body'"):
        scene_of({"shape": shape, "name": "body", "label": "x", "colour": [0, 0, 0],
                  **bodies[shape]})  # fmt: skip
