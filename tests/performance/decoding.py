"""Masks and dots against scikit-image, and scoring 500 pictures against reading them."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import skimage.color
import skimage.filters
import skimage.measure
from bench_plugin import NAME, install, mask_task, write_photos
from figures import interleave, ratio, repeated, report, seconds
from numpy.typing import NDArray
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import Scene

SIDE = 1024
PICTURES = 500
RGB = NDArray[np.uint8]


def smooth_picture(rng: np.random.Generator) -> RGB:
    coarse = rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC), np.uint8)


def drawn_mask(target: NDArray[np.bool_], rng: np.random.Generator) -> RGB:
    """A mask as an image model paints it: soft edges, neither quite black nor quite white."""
    soft = cv2.GaussianBlur(target.astype(np.float32) * 235 + 10, (0, 0), 3)[..., None]
    return np.clip(soft + rng.integers(-4, 5, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)


# --- masks ----------------------------------------------------------------------------------


def iou_with_skimage(answer: RGB, target: NDArray[np.bool_]) -> float:
    grey = skimage.color.rgb2gray(answer)
    found = grey > skimage.filters.threshold_otsu(grey)
    return float((found & target).sum() / (found | target).sum())


def compare_masks(rng: np.random.Generator, scene: Scene) -> None:
    from vgen_eval_plugins.segmentation.binary_mask import BinaryMask
    from vgen_eval_plugins.segmentation.metrics import MaskIoU

    target = np.zeros((SIDE, SIDE), bool)
    target[200:700, 300:800] = True
    answer = drawn_mask(target, rng)
    decoder, metric = BinaryMask(BinaryMask.Options()), MaskIoU(MaskIoU.Options())

    def iou() -> float:
        found = decoder.decode(answer, scene).value
        return metric.compute(metric.update(found, target, None))["iou"] or 0.0

    if abs(iou() - iou_with_skimage(answer, target)) > 1e-3:
        raise SystemExit("the two IoUs differ: the comparison says nothing")
    theirs, ours = interleave(
        repeated(lambda: iou_with_skimage(answer, target), 3), repeated(iou, 30)
    )
    report("mask and IoU, scikit-image / ours", ratio(theirs, ours), least=6)
    report("mask and IoU, ours", 1e3 * float(np.median(ours)), " ms")


# --- dots -----------------------------------------------------------------------------------


def count_with_skimage(answer: RGB, picture: RGB) -> int:
    hue, saturation, value = np.moveaxis(skimage.color.rgb2hsv(answer), -1, 0)
    red = ((hue <= 10 / 180) | (hue >= 170 / 180)) & (saturation > 0.625) & (value > 0.31)
    changed = np.abs(answer.astype(int) - picture.astype(int)).max(axis=-1) >= 40
    count = 0
    for region in skimage.measure.regionprops(skimage.measure.label(red & changed)):
        if not 10 <= region.area < 1500:
            continue
        is_round = 4 * np.pi * region.area >= 0.5 * max(region.perimeter, 1) ** 2
        is_long = region.axis_minor_length**2 < 0.3 * region.axis_major_length**2
        count += bool(is_round and not is_long)
    return count


def compare_dots(rng: np.random.Generator, scene: Scene) -> None:
    from vgen_eval_plugins.counting.encoders import RedDotsEncoder, RedDotsEncoderOptions
    from vgen_eval_plugins.counting.red_dots import RedDots, RedDotsOptions
    from vgen_eval_plugins.counting.targets import CountTarget

    picture = scene.image.array
    answer = RedDotsEncoder(RedDotsEncoderOptions()).encode(CountTarget(60), scene)
    decoder = RedDots(RedDotsOptions())
    if not decoder.decode(answer, scene).value == count_with_skimage(answer, picture) == 60:
        raise SystemExit("the two counts differ: the comparison says nothing")
    theirs, ours = interleave(
        repeated(lambda: count_with_skimage(answer, picture), 1),
        repeated(lambda: decoder.decode(answer, scene), 20),
    )
    report("red dots, scikit-image / ours", ratio(theirs, ours), least=25)
    report("red dots, ours", 1e3 * float(np.median(ours)), " ms")


# --- scoring alone --------------------------------------------------------------------------


def compare_scoring(rng: np.random.Generator, folder: Path) -> None:
    from vgen_eval.engine.importing import import_predictions
    from vgen_eval.engine.rescore import rescore
    from vgen_eval.plugins import Catalog

    photos, answers = folder / "photos", folder / "answers"
    write_photos(photos, PICTURES)
    answers.mkdir()
    for at in range(PICTURES):
        target = np.zeros((SIDE, SIDE), bool)
        target[at : at + 400, 300:800] = True
        png = Image(drawn_mask(target, rng)).png()
        (answers / f"p{at:03}.png").write_bytes(png)
    install(folder / "site", {"mask": mask_task("mask", PICTURES, photos)})
    catalog = Catalog.discover()
    (card,) = import_predictions(
        task=f"{NAME}:mask", predictions=answers, model_name="painter", catalog=catalog,
        output=str(folder / "results"), workers=2,
    )  # fmt: skip
    if card.counts.answered != PICTURES:
        raise SystemExit(f"{card.counts.answered} of {PICTURES} were scored")
    run = folder / "results" / card.run
    files = sorted(answers.iterdir())

    def read(path: Path) -> Any:
        return decode_image(path.read_bytes(), what=path.name)

    def read_all() -> None:
        for path in files:
            read(path)

    def read_all_in_two() -> None:
        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(read, files):
                pass

    ours, one, two = interleave(
        seconds(lambda: rescore(run, catalog, workers=2)),
        seconds(read_all),
        seconds(read_all_in_two),
        warm=False,
    )
    name = f"score {PICTURES} pictures, 2 workers / decode"
    report(name, ratio(ours, one), most=2)
    report(f"{name} in 2 threads", ratio(ours, two))
    report("score a picture", 1e3 * float(np.median(ours)) / PICTURES, " ms")


def main() -> None:
    rng = np.random.default_rng(0)
    scene = Scene(image=Image(smooth_picture(rng)), size=(SIDE, SIDE))
    compare_masks(rng, scene)
    compare_dots(rng, scene)
    with tempfile.TemporaryDirectory() as folder:
        compare_scoring(rng, Path(folder))


if __name__ == "__main__":
    main()
