"""NYU Depth v2: the labelled .mat, the flat extraction, PNG re-export, and two sets of normals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io
from numpy.typing import NDArray

from lookalikes.files import write_npy, write_png
from lookalikes.scenes import View, room

__all__ = [
    "TEST_NUMBERS",
    "write_dsine",
    "write_flat",
    "write_mat",
    "write_nm",
    "write_png_export",
]

HEIGHT, WIDTH = 480, 640
TEST_NUMBERS = (1, 2, 9, 14, 15, 16, 17, 18)
"""The first of testNdxs: numbers, from 1, among all labelled pictures."""

SCENES = (
    "kitchen_0004", "kitchen_0004", "office_0005", "office_0007", "office_0008", "office_0008",
    "office_0008", "office_0008",
)  # fmt: skip
"""Scenes of these pictures, as the release names them; by name the order would be another."""

MEASURED = (slice(44, 471), slice(40, 599))
"""Rows and columns where the Kinect's measured area lies."""


def _holes(number: int) -> NDArray[np.bool_]:
    """(H, W) where the sensor has no reading: a frame and some patches."""
    rng = np.random.default_rng(number)
    holes = np.ones((HEIGHT, WIDTH), bool)
    holes[8:472, 8:632] = False
    for _ in range(6):
        top, left = int(rng.integers(40, 400)), int(rng.integers(40, 540))
        holes[top : top + 60, left : left + 80] = True
    return holes


def _sample(place: int) -> dict[str, Any]:
    view = room(place, width=WIDTH, height=HEIGHT)
    filled = view.depth.astype(np.float32)
    raw = np.where(_holes(place), np.float32(np.nan), filled)
    name = SCENES[place]
    return {
        "picture": view.rgb,
        "depth": filled,
        "raw": raw,
        "number": TEST_NUMBERS[place],
        "scene": name,
        "scene_type": name.rsplit("_", 1)[0],
    }


def write_mat(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """`nyu_depth_v2_labeled.mat` and `splits.mat`: depth is filled, `raw` the sensor's.

    A .mat of version 7.3 is HDF5 with every array transposed. Pictures that are not of the test
    split are blank, so that a reader which is one off is found out.
    """
    folder = root / "nyuv2"
    folder.mkdir(parents=True, exist_ok=True)
    found = [_sample(place) | {"id": f"{place:04d}"} for place in range(samples)]
    total = found[-1]["number"] + 1
    images = np.full((total, 3, WIDTH, HEIGHT), 17, np.uint8)
    depths = np.full((total, WIDTH, HEIGHT), 0.5, np.float32)
    raws = np.full((total, WIDTH, HEIGHT), 0.5, np.float32)
    scenes = [f"elsewhere_{number:04d}" for number in range(total)]
    for sample in found:
        at = sample["number"] - 1
        images[at] = sample["picture"].transpose(2, 1, 0)
        depths[at] = sample["depth"].T
        raws[at] = np.nan_to_num(sample["raw"]).T
        scenes[at] = sample["scene"]
    path = folder / "nyu_depth_v2_labeled.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["images"], file["depths"], file["rawDepths"] = images, depths, raws
        _write_cells(file, "scenes", scenes)
        _write_cells(file, "sceneTypes", [name.rsplit("_", 1)[0] for name in scenes])
    with path.open("r+b") as stream:  # MATLAB's own words stand before HDF5's
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    _write_splits(folder, [sample["number"] for sample in found], total)
    return found


def _write_cells(file: Any, name: str, texts: list[str]) -> None:
    """A MATLAB cell array of texts: (1, N) references to columns of UTF-16 units."""
    references = np.empty((1, len(texts)), h5py.ref_dtype)
    for place, text in enumerate(texts):
        data = np.array([[ord(letter)] for letter in text], np.uint16)
        references[0, place] = file.create_dataset(f"#refs#/{name}{place}", data=data).ref
    file.create_dataset(name, data=references, dtype=h5py.ref_dtype)


def _write_splits(folder: Path, test: list[int], total: int) -> None:
    train = [number for number in range(1, total + 1) if number not in test]
    columns = {"testNdxs": test, "trainNdxs": train}
    scipy.io.savemat(
        folder / "splits.mat",
        {key: np.array(numbers, np.uint16).reshape(-1, 1) for key, numbers in columns.items()},
    )


def _quantised(view: View, place: int) -> tuple[Any, Any, Any]:
    """Ladicky's normals as files have them (3, H, W), the mask, and what they say.

    The first component is along the left: the wall on the right of a picture, which faces left,
    is +1 and red. They stem from 8 bits, so that their length is near 1, and go on outside the
    mask.
    """
    files_frame = view.normals * (-1.0, 1.0, 1.0)
    levels = np.round((files_frame + 1.0) / 2.0 * 255.0)
    stored = (levels / 255.0 * 2.0 - 1.0).astype(np.float32)
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[MEASURED] = True
    mask &= ~_holes(place)
    truth = stored.astype(np.float64) * (-1.0, 1.0, 1.0)
    truth /= np.linalg.norm(truth, axis=2, keepdims=True)
    truth[~mask] = np.nan
    return stored.transpose(2, 0, 1), mask, truth.astype(np.float32)


def write_flat(
    root: Path, *, samples: int = 3, normals: bool = True, depth_folder: str = "depth"
) -> list[dict[str, Any]]:
    """`images/`, `depth/` (or `depths/`), `normals/` and `normals_mask/` by position."""
    folder = root / "nyuv2"
    found = []
    for place in range(samples):
        sample = _sample(place)
        stem = f"{place:04d}"
        write_png(folder / "images" / f"{stem}.png", sample["picture"])
        write_npy(folder / depth_folder / f"{stem}.npy", sample["depth"])
        one = {"id": stem, "picture": sample["picture"], "depth": sample["depth"]}
        if normals:
            stored, mask, truth = _quantised(room(place), place)
            write_npy(folder / "normals" / f"{stem}.npy", stored)
            write_npy(folder / "normals_mask" / f"{stem}.npy", mask)
            one["normals"] = truth
        found.append(one)
    return found


def write_nm(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """The .mat layout, and `normals_gt/nm_NNNNNN.mat` for every picture of the test split."""
    found = write_mat(root, samples=samples)
    folder = root / "nyuv2" / "normals_gt"
    folder.mkdir(parents=True, exist_ok=True)
    for place, sample in enumerate(found):
        stored, mask, truth = _quantised(room(place), place)
        scipy.io.savemat(
            folder / f"nm_{sample['number']:06d}.mat",
            {
                "nx": stored[0].astype(np.float64),
                "ny": stored[1].astype(np.float64),
                "nz": stored[2].astype(np.float64),
                "depthValid": mask.astype(np.uint8),
            },
        )
        sample["normals"] = truth
    return found


def write_png_export(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """`test/<scene>/rgb_NNNN.png, depth_NNNN.png, filled_NNNN.png`, millimetres, NNNN from 1."""
    folder = root / "nyuv2" / "test"
    found = []
    for place in range(samples):
        sample = _sample(place)
        home, number = folder / sample["scene"], f"{sample['number']:04d}"
        write_png(home / f"rgb_{number}.png", sample["picture"])
        one = {"id": f"{sample['scene']}/{number}", "picture": sample["picture"]}
        for key, name in (("raw", "depth"), ("depth", "filled")):
            levels = np.round(np.nan_to_num(sample[key]) * 1000.0).astype(np.uint16)
            write_png(home / f"{name}_{number}.png", levels)
            metres = levels.astype(np.float32) / 1000
            one[key] = np.where(levels > 0, metres, np.float32(np.nan))
        found.append(one | {"scene": sample["scene"]})
    return found


def write_dsine(root: Path, *, samples: int = 3, arrays: bool = False) -> list[dict[str, Any]]:
    """`dsine_eval/nyuv2/test/NNNNNN_img.png` with `_normal.png`, or `_normal.npy`; NNNNNN from 0.

    Components are left, up, towards the camera; (0, 0, 0), black in the PNG, is unknown.
    """
    folder = root / "nyuv2" / "dsine_eval" / "nyuv2" / "test"
    found = []
    for place in range(samples):
        view, unknown = room(place), _holes(place)
        stem = f"{TEST_NUMBERS[place] - 1:06d}"
        write_png(folder / f"{stem}_img.png", view.rgb)
        stored = view.normals * (-1.0, 1.0, 1.0)
        if arrays:
            stored[unknown] = 0.0
            write_npy(folder / f"{stem}_normal.npy", stored.astype(np.float32))
        else:
            levels = np.round((stored + 1.0) / 2.0 * 255.0).astype(np.uint8)
            levels[unknown] = 0
            write_png(folder / f"{stem}_normal.png", levels)
            stored = levels / 255.0 * 2.0 - 1.0
            stored[unknown] = 0.0
        focal = 0.9 * WIDTH
        intrinsics = [[focal, 0, (WIDTH - 1) / 2], [0, focal, (HEIGHT - 1) / 2], [0, 0, 1]]
        write_npy(folder / f"{stem}_intrins.npy", np.array(intrinsics, np.float32))
        truth = np.full(stored.shape, np.nan)
        known = ~unknown
        truth[known] = stored[known] * (-1.0, 1.0, 1.0)
        truth[known] /= np.linalg.norm(truth[known], axis=1, keepdims=True)
        found.append({"id": stem, "picture": view.rgb, "normals": truth.astype(np.float32)})
    return found
