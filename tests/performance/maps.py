"""Depth, normals, nearest colours and confusion matrices against the plain way in numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from figures import interleave, ratio, repeated, report
from numpy.typing import NDArray
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene

SIDE = 1024
HOLES = 0.08
MIN_DEPTH, MAX_DEPTH = 1e-3, 80.0
LIMITS = (11.25, 22.5, 30.0)

RGB = NDArray[np.uint8]
Map = NDArray[np.float32]
Codes = NDArray[np.uint8]


def check_agreement(
    found: Mapping[str, Any], wanted: Mapping[str, float], *, what: str, within: float
) -> None:
    """Ends the script where one of the `wanted` values is found farther off than `within`."""
    for name, value in wanted.items():
        if not abs(found[name] - value) <= within * max(1.0, abs(value)):
            raise SystemExit(f"{what}: {name} is {found[name]}, {value} by the plain way")


def smooth_map(rng: np.random.Generator, low: float, high: float, channels: int) -> Map:
    """float32 (SIDE, SIDE, channels), or (SIDE, SIDE) for one."""
    coarse = rng.uniform(low, high, (9, 9, channels)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.float32)


def jitter(rng: np.random.Generator, picture: NDArray[Any], levels: int) -> RGB:
    """As an image model paints it: off by up to `levels`."""
    off = rng.integers(-levels, levels + 1, picture.shape)
    return np.asarray(np.clip(np.rint(picture + off), 0, 255), np.uint8)


# --- depth ----------------------------------------------------------------------------------


def plain_depth(answer: RGB, depth: Map) -> dict[str, float]:
    grey = (answer.astype(np.float64) / 255) @ np.array([0.2126, 0.7152, 0.0722])
    known = np.isfinite(depth) & (depth > MIN_DEPTH) & (depth < MAX_DEPTH)
    x, truth = grey[known], depth[known].astype(np.float64)
    columns = np.stack([x, np.ones_like(x)], axis=1)
    slope, shift = np.linalg.lstsq(columns, 1 / truth, rcond=None)[0]
    found = 1 / np.maximum(slope * x + shift, 1 / truth.max())
    found = np.clip(found, MIN_DEPTH, MAX_DEPTH)
    return {
        "absrel": float(np.mean(np.abs(found - truth) / truth)),
        "delta1": float(np.mean(np.maximum(found / truth, truth / found) < 1.25)),
        "rmse": float(np.sqrt(np.mean((found - truth) ** 2))),
    }


def compare_depth(rng: np.random.Generator, scene: Scene) -> None:
    from vgen_eval_plugins.depth.luminance import Luminance
    from vgen_eval_plugins.depth.metrics import AffineDepth

    whole = smooth_map(rng, 1, 9, 1).clip(0.5, 10)
    grey = 255 * (1 / whole - 0.1) / (2 - 0.1)
    answer = np.repeat(jitter(rng, grey, 4)[..., None], 3, axis=2)
    torn = np.where(rng.random(whole.shape) < HOLES, np.float32(np.nan), whole)
    decoder = Luminance(Luminance.Options())
    metric = AffineDepth(AffineDepth.Options(min_depth=MIN_DEPTH, max_depth=MAX_DEPTH))
    for name, depth in (("all valid", whole), (f"{HOLES:.0%} holes", torn)):

        def ours(depth: Map = depth) -> Mapping[str, Any]:
            return metric.update(decoder.decode(answer, scene).value, depth, None)

        def plain(depth: Map = depth) -> dict[str, float]:
            return plain_depth(answer, depth)

        check_agreement(ours(), plain(), what=f"depth, {name}", within=1e-6)
        theirs, mine = interleave(repeated(plain, 3), repeated(ours, 15))
        report(f"depth, {name}, numpy / ours", ratio(theirs, mine), least=6)
        report(f"depth, {name}, ours", 1e3 * float(np.median(mine)), " ms")


# --- normals --------------------------------------------------------------------------------


def plain_normals(answer: RGB, target: Map) -> dict[str, float]:
    found = 2 * (answer.astype(np.float64) / 255) - 1
    found /= np.maximum(np.linalg.norm(found, axis=2, keepdims=True), 1e-8)
    truth = target.astype(np.float64)
    known = np.linalg.norm(truth, axis=2) > 0.5
    cosine = np.clip((found * truth).sum(axis=2), -1, 1)[known]
    degrees = np.degrees(np.arccos(cosine))
    within = [float(np.mean(degrees < limit)) for limit in LIMITS]
    return {
        "mean": float(degrees.mean()),
        "median": float(np.median(degrees)),
        "rmse": float(np.sqrt((degrees**2).mean())),
        **dict(zip(("within_11_25", "within_22_5", "within_30"), within, strict=True)),
    }


def compare_normals(rng: np.random.Generator, scene: Scene) -> None:
    from vgen_eval_plugins.normals.metrics import AngularError
    from vgen_eval_plugins.normals.rgb_normals import RgbNormals

    target = smooth_map(rng, -1, 1, 3) + np.array([0, 0, 1.5], np.float32)
    target /= np.linalg.norm(target, axis=2, keepdims=True)
    answer = jitter(rng, (target + 1) * 127.5, 25)
    decoder, metric = RgbNormals(RgbNormals.Options()), AngularError(AngularError.Options())

    def ours() -> Mapping[str, Any]:
        return metric.compute(metric.update(decoder.decode(answer, scene).value, target, None))

    def plain() -> dict[str, float]:
        return plain_normals(answer, target)

    check_agreement(ours(), plain(), what="normals", within=1e-4)
    theirs, mine = interleave(repeated(plain, 2), repeated(ours, 10))
    report("normals, numpy / ours", ratio(theirs, mine), least=4)
    report("normals, ours", 1e3 * float(np.median(mine)), " ms")


def plain_calibration(pairs: list[tuple[Map, Map]]) -> str:
    """The mean angle of every frame over every picture."""
    from vgen_eval_plugins.normals.frames import CONVENTIONS, to_house

    means = []
    for name in CONVENTIONS:
        each = []
        for pred, target in pairs:
            cosine = np.clip((to_house(pred, name) * target).sum(axis=1), -1, 1)
            each.append(np.degrees(np.arccos(cosine)).mean())
        means.append(np.mean(each))
    return CONVENTIONS[int(np.argmin(means))]


def compare_calibration(rng: np.random.Generator, *, noise: float) -> None:
    from vgen_eval_plugins.normals.calibration import choose_frame
    from vgen_eval_plugins.normals.frames import CONVENTIONS, from_house

    pairs = []
    for _ in range(5):
        target = smooth_map(rng, -1, 1, 3)[:480, :640].reshape(-1, 3) + np.float32([0, 0, 1.5])
        target /= np.linalg.norm(target, axis=1, keepdims=True)
        seen = target + noise * rng.normal(size=target.shape).astype(np.float32)
        seen /= np.linalg.norm(seen, axis=1, keepdims=True)
        pairs.append((from_house(np.asarray(seen, np.float32), "left up toward"), target))

    def ours() -> str:
        return choose_frame(pairs, names=CONVENTIONS, declared="opengl").frame

    def plain() -> str:
        return plain_calibration(pairs)

    if ours() != plain():
        raise SystemExit("the two frames differ")
    theirs, mine = interleave(repeated(plain, 1), repeated(ours, 3), rounds=3)
    name = f"calibration, noise {noise:g},"
    report(f"{name} 48 passes / ours", ratio(theirs, mine), least=25)
    report(f"{name} ours", 1e3 * float(np.median(mine)), " ms")


# --- classes --------------------------------------------------------------------------------


def plain_nearest(picture: RGB, palette: NDArray[np.int64]) -> NDArray[np.int32]:
    """Class by class, in whole numbers that float32 holds; ties to the earlier class.

    As one writes it first: on three separate planes the same loop takes about a sixth.
    """
    values = picture.astype(np.float32)
    labels = np.zeros(picture.shape[:2], np.int32)
    least = np.full(labels.shape, np.inf, np.float32)
    for number, colour in enumerate(palette.astype(np.float32)):
        distance = ((values - colour) ** 2).sum(axis=2)
        closer = distance < least
        labels[closer] = number
        least[closer] = distance[closer]
    return labels


def drawn_labels(rng: np.random.Generator, classes: int) -> Codes:
    """uint8 (SIDE, SIDE): 256 square regions."""
    return rng.integers(0, classes, (16, 16), np.uint8).repeat(64, axis=0).repeat(64, axis=1)


def compare_colours(rng: np.random.Generator, classes: int, least: float) -> None:
    from vgen_eval_plugins.semantic.colour_table import ColourTable

    palette = rng.integers(0, 256, (classes, 3))
    entries = [(int(red), int(green), int(blue)) for red, green, blue in palette]
    regions = palette[drawn_labels(rng, classes)].astype(np.uint8)
    painted = jitter(rng, cv2.GaussianBlur(regions, (0, 0), 2), 12)
    noise = rng.integers(0, 256, painted.shape, np.uint8)

    def first() -> None:
        ColourTable(entries).look_up(painted)

    table = ColourTable(entries)
    for name, picture in (("painted", painted), ("noise", noise)):
        found = table.look_up(picture).astype(np.int32) - 1
        different = int(np.count_nonzero(found != plain_nearest(picture, palette)))
        if different:
            raise SystemExit(f"{different} pixels of {classes} colours differ, {name}")
    theirs, mine, random, once = interleave(
        repeated(lambda: plain_nearest(painted, palette), 1),
        repeated(lambda: table.look_up(painted), 20),
        repeated(lambda: table.look_up(noise), 10),
        repeated(first, 1),
        warm=False,
    )
    name = f"{classes} colours, 0 pixels differ,"
    report(f"{name} loop / ours", ratio(theirs, mine), least=least)
    report(f"{name} ours", 1e3 * float(np.median(mine)), " ms")
    report(f"{name} every colour", 1e3 * float(np.median(random)), " ms")
    report(f"{name} first picture", 1e3 * float(np.median(once)), " ms")


def plain_confusion(pred: NDArray[Any], target: NDArray[Any], classes: int) -> NDArray[np.int64]:
    joint = target.astype(np.int64).ravel() * classes + pred.ravel()
    return np.bincount(joint, minlength=classes**2).reshape(classes, classes)


def compare_confusion(rng: np.random.Generator, classes: int) -> None:
    from vgen_eval_plugins.semantic.labels import LabelMap
    from vgen_eval_plugins.semantic.metrics import LabelIoU, confusion

    target = drawn_labels(rng, classes)
    guess = rng.integers(0, classes, target.shape, np.uint8)
    pred = np.where(rng.random(target.shape) < 0.1, guess, target)
    names, metric = tuple(map(str, range(classes))), LabelIoU(NoOptions())
    found, truth = (LabelMap(labels.astype(np.int32), names) for labels in (pred, target))

    def ours() -> NDArray[np.int64]:
        return confusion(pred, target, rows=classes, columns=classes)

    def plain() -> NDArray[np.int64]:
        return plain_confusion(pred, target, classes)

    if not np.array_equal(ours(), plain()):
        raise SystemExit(f"the two confusion matrices of {classes} classes differ")
    theirs, mine, whole = interleave(
        repeated(plain, 20),
        repeated(ours, 20),
        repeated(lambda: metric.update(found, truth, None), 20),
    )
    report(f"confusion of {classes}, bincount / ours", ratio(theirs, mine), least=3)
    report(f"confusion of {classes}, ours", 1e3 * float(np.median(mine)), " ms")
    report(f"IoU of {classes} classes, whole metric", 1e3 * float(np.median(whole)), " ms")
    compare_with_torchmetrics(pred, target, classes)


def compare_with_torchmetrics(
    pred: NDArray[np.uint8], target: NDArray[np.uint8], classes: int
) -> None:
    from vgen_eval_plugins.standins.vision_ops import mend_torchvision

    try:
        mend_torchvision()
        import torch
        from torchmetrics.functional.classification import multiclass_confusion_matrix
    except (ImportError, RuntimeError):
        return  # not installed, or not for this build of torch
    from vgen_eval_plugins.semantic.metrics import confusion

    torch.set_num_threads(1)
    found, truth = (torch.from_numpy(labels.astype(np.int64)) for labels in (pred, target))
    theirs, mine = interleave(
        repeated(lambda: multiclass_confusion_matrix(found, truth, num_classes=classes), 2),
        repeated(lambda: confusion(pred, target, rows=classes, columns=classes), 20),
    )
    report(f"confusion of {classes}, torchmetrics / ours", ratio(theirs, mine), least=20)


def main() -> None:
    rng = np.random.default_rng(0)
    photo = smooth_map(rng, 0, 255, 3).clip(0, 255).astype(np.uint8)
    scene = Scene(image=Image(photo), size=(SIDE, SIDE))
    compare_depth(rng, scene)
    compare_normals(rng, scene)
    compare_calibration(rng, noise=0.2)
    compare_calibration(rng, noise=1.0)
    compare_colours(rng, 20, least=60)
    compare_colours(rng, 150, least=300)
    for classes in (19, 150):
        compare_confusion(rng, classes)


if __name__ == "__main__":
    main()
