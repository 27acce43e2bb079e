"""Scoring kept pictures, two workers, against the plain way in one: read, decode, score.

A family is a `Bench`: its card, its pictures, its truths, and the plain way for one picture.
PICTURES=50 makes a short try.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import PIL.Image
from bench_plugin import NAME, install, write_photos
from figures import interleave, ratio, repeated, report, seconds
from maps import (
    SIDE,
    drawn_labels,
    jitter,
    plain_confusion,
    plain_depth,
    plain_nearest,
    plain_normals,
    smooth_map,
)
from numpy.typing import NDArray
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import Example, Scene

PICTURES = int(os.environ.get("PICTURES", "500"))
TRUTHS = 10
"""Truths on disk, each that of every tenth picture: 4 to 12 MB each."""

CLASSES = 20

PLAIN_PICTURES = min(PICTURES, 25)
"""Pictures that the plain way is timed on: what it takes for one does not hang on how many."""

CARD = """\
task: {family}
version: 1
family: {family}
title: Kept pictures
dataset:
  reader: manifest
  root: bench
  options: {{manifest: {family}.jsonl, target: {target}{reading}}}
  licence: none
  source: here
  citation: none
protocols:
  plain:
    answers:
      - form: image
        prompt: {{mid: "Paint it."}}
        decoder: {decoder}
        options: {options}
        encoder: {encoder}
    metrics: [{{name: {metric}}}]
    primary: {primary}
    failure_value: {failure}
    {more}
default_protocol: plain
"""


class Bench(NamedTuple):
    """One family."""

    name: str
    target: str
    """Field of the manifest's lines."""
    card: str
    pairs: Callable[[np.random.Generator], Iterator[tuple[NDArray[np.uint8], NDArray[Any]]]]
    """Pictures as a model paints them, and their truths: TRUTHS of them."""
    plain: Callable[[NDArray[np.uint8], NDArray[Any]], Any]
    least: float | None
    """The goal."""


def depth_pairs(
    rng: np.random.Generator,
) -> Iterator[tuple[NDArray[np.uint8], NDArray[Any]]]:
    for _ in range(TRUTHS):
        depth = smooth_map(rng, 1, 9, 1).clip(0.5, 10)
        grey = 255 * (1 / depth - 0.1) / (2 - 0.1)
        yield np.repeat(jitter(rng, grey, 4)[..., None], 3, axis=2), depth


def normal_pairs(
    rng: np.random.Generator,
) -> Iterator[tuple[NDArray[np.uint8], NDArray[Any]]]:
    for _ in range(TRUTHS):
        target = smooth_map(rng, -1, 1, 3) + np.array([0, 0, 1.5], np.float32)
        target /= np.linalg.norm(target, axis=2, keepdims=True)
        turned = target * np.array([-1, 1, 1], np.float32)  # red to the left
        yield jitter(rng, (turned + 1) * 127.5, 10), target


def class_colours() -> NDArray[np.int64]:
    return np.random.default_rng(1).integers(0, 256, (CLASSES, 3))


def semantic_pairs(
    rng: np.random.Generator,
) -> Iterator[tuple[NDArray[np.uint8], NDArray[Any]]]:
    for _ in range(TRUTHS):
        labels = drawn_labels(rng, CLASSES)
        regions = class_colours()[labels].astype(np.uint8)
        yield jitter(rng, cv2.GaussianBlur(regions, (0, 0), 2), 4), labels


def plain_semantic(picture: NDArray[np.uint8], target: NDArray[Any]) -> float:
    pred = plain_nearest(picture, class_colours())
    joint = plain_confusion(pred, target, CLASSES)
    hits = np.diag(joint)
    return float(np.mean(hits / (joint.sum(axis=0) + joint.sum(axis=1) - hits)))


def palette_options() -> str:
    colours = (f'c{at}: "#{r:02x}{g:02x}{b:02x}"' for at, (r, g, b) in enumerate(class_colours()))
    return "{void: null, palette: {" + ", ".join(colours) + "}}"


DEPTH = Bench(
    name="depth",
    target="depth",
    card=CARD.format(
        family="depth", target="depth", reading="", decoder="luminance", options="{}",
        encoder="luminance_disparity", metric="affine_depth", primary="delta1",
        failure="constant_depth", more="seed: fixed",
    ),
    pairs=depth_pairs,
    plain=plain_depth,
    least=6,
)  # fmt: skip
NORMALS = Bench(
    name="normals",
    target="normals",
    card=CARD.format(
        family="normals", target="normals", reading="", decoder="rgb_normals", options="{}",
        encoder="rgb_normals", metric="angular_error", primary="mean",
        failure="facing_normals", more="calibration: {samples: 5}",
    ),
    pairs=normal_pairs,
    plain=plain_normals,
    least=None,
)  # fmt: skip


SEMANTIC = Bench(
    name="semantic",
    target="labels",
    card=CARD.format(
        family="semantic", target="labels",
        reading=f", labels: {{classes: [{', '.join(f'c{at}' for at in range(CLASSES))}]}}",
        decoder="nearest_colour", options=palette_options(),
        encoder="nearest_colour", metric="label_iou",
        primary="miou", failure="void_labels", more="seed: fixed",
    ),
    pairs=semantic_pairs,
    plain=plain_semantic,
    least=30,
)  # fmt: skip


def truth_file(family: str, at: int) -> str:
    """Of picture number `at`."""
    return f"{family}-{at % TRUTHS}.npy"


def read_plainly(path: Path) -> NDArray[np.uint8]:
    with PIL.Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def write_family(bench: Bench, folder: Path) -> Path:
    """The family's truths and manifest below the data root; the folder of its pictures."""
    data, answers = folder / "bench", folder / f"{bench.name}-answers"
    answers.mkdir()
    rng = np.random.default_rng(0)
    lines = []
    for place, (painted, target) in enumerate(bench.pairs(rng)):
        truth = truth_file(bench.name, place)
        np.save(data / truth, target)
        for at in range(place, PICTURES, TRUTHS):
            moved = painted.copy()
            moved[at % SIDE, 0] ^= 1  # no two are the same file
            (answers / f"p{at:03}.png").write_bytes(Image(moved).png())
            lines.append({"id": f"p{at:03}", "image": f"photos/p{at:03}.jpg"})
            lines[-1][bench.target] = truth
    lines.sort(key=lambda line: line["id"])
    (data / f"{bench.name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return answers


def compare_scoring(bench: Bench, folder: Path, catalog: Any) -> None:
    from vgen_eval.engine.importing import import_predictions
    from vgen_eval.engine.rescore import rescore

    answers = folder / f"{bench.name}-answers"
    (card,) = import_predictions(
        task=f"{NAME}:{bench.name}", predictions=answers, model_name="painter", catalog=catalog,
        output=str(folder / "results"), data_root=str(folder), workers=2,
    )  # fmt: skip
    if card.counts.answered != PICTURES:
        raise SystemExit(f"{card.counts.answered} of {PICTURES} were scored")
    run, files = folder / "results" / card.run, sorted(answers.iterdir())

    def ours() -> float:
        start = time.perf_counter()
        rescore(run, catalog, data_root=str(folder), workers=2)
        return (time.perf_counter() - start) / PICTURES

    def plain() -> float:
        start = time.perf_counter()
        for at, path in enumerate(files[:PLAIN_PICTURES]):
            target = np.load(folder / "bench" / truth_file(bench.name, at))
            bench.plain(read_plainly(path), target)
        return (time.perf_counter() - start) / PLAIN_PICTURES

    def decoded() -> float:
        return seconds(
            lambda: [decode_image(path.read_bytes(), what=path.name) for path in files]
        )() / len(files)

    theirs, mine, alone = interleave(plain, ours, decoded, rounds=3, warm=False)
    name = f"score {PICTURES} of {bench.name}, 2 workers"
    report(f"{name}, plain / ours", ratio(theirs, mine), least=bench.least)
    report(f"{name}, ours / decoding", ratio(mine, alone), most=2)
    report(f"{name}, ours, a picture", 1e3 * float(np.median(mine)), " ms")


def plain_calibration(files: list[Path], targets: list[NDArray[Any]]) -> str:
    """Every frame on every picture, in double precision."""
    from vgen_eval_plugins.normals.frames import CONVENTIONS, to_house

    means = np.zeros(len(CONVENTIONS))
    for path, target in zip(files, targets, strict=True):
        found = 2 * (read_plainly(path) / 255) - 1
        found /= np.maximum(np.linalg.norm(found, axis=2, keepdims=True), 1e-8)
        truth = target.astype(np.float64)
        known = np.linalg.norm(truth, axis=2) > 0.5
        for at, name in enumerate(CONVENTIONS):
            cosine = np.clip((to_house(found, name) * truth).sum(axis=2), -1, 1)
            means[at] += np.degrees(np.arccos(cosine[known])).mean()
    return CONVENTIONS[int(np.argmin(means))]


def compare_calibration(folder: Path, count: int = 5) -> None:
    """The calibration of a run from its kept pictures."""
    from vgen_eval_plugins.normals.rgb_normals import RgbNormals

    files = sorted((folder / "normals-answers").iterdir())[:count]
    targets = [np.load(folder / "bench" / truth_file("normals", at)) for at in range(count)]
    photo = cv2.cvtColor(cv2.imread(str(folder / "bench/photos/p000.jpg")), cv2.COLOR_BGR2RGB)
    scene = Scene(image=Image(photo), size=(SIDE, SIDE))

    def read(path: Path) -> NDArray[np.uint8]:
        return decode_image(path.read_bytes(), what=path.name)

    def ours() -> str:
        with ThreadPoolExecutor(2) as pool:  # as a run reads them
            pictures = list(pool.map(read, files))
        examples = [
            Example(answer=picture, scene=scene, target=target)
            for picture, target in zip(pictures, targets, strict=True)
        ]
        return str(RgbNormals(RgbNormals.Options()).calibrate(examples)["frame"])

    def plain() -> str:
        return plain_calibration(files, targets)

    if ours() != plain():
        raise SystemExit("the two frames differ")
    theirs, mine = interleave(repeated(plain, 1), repeated(ours, 2), rounds=3, warm=False)
    name = f"calibrate on {count} kept pictures"
    report(f"{name}, plain / ours", ratio(theirs, mine), least=40)
    report(f"{name}, ours", 1e3 * float(np.median(mine)), " ms")


def main() -> None:
    from vgen_eval.plugins import Catalog

    benches = (DEPTH, NORMALS, SEMANTIC)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_photos(folder / "bench" / "photos", PICTURES)
        for bench in benches:
            write_family(bench, folder)
        install(folder / "site", {bench.name: bench.card for bench in benches})
        catalog = Catalog.discover()
        compare_calibration(folder)
        for bench in benches:
            compare_scoring(bench, folder, catalog)


if __name__ == "__main__":
    main()
