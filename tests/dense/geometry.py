"""Look-alikes of the releases of depth and normals, written after the notes on their layouts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from views import view

COUNT = 2


def save_picture(path: Path, array: NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Pillow.fromarray(array).save(path)


def save_array(path: Path, array: NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    path.write_bytes(file.getvalue())


def write_nyuv2(root: Path) -> None:
    """The flat layout, the 16-bit re-export's raw depth beside it, and the other normals."""
    for at in range(COUNT):
        seen, name = view(at, 480, 640), f"{at:04d}"
        depth = np.nan_to_num(seen.depth, nan=9.5).astype(np.float32)
        save_picture(root / f"nyuv2/images/{name}.png", seen.rgb)
        save_array(root / f"nyuv2/depth/{name}.npy", depth)
        left = np.nan_to_num(seen.normals * (-1, 1, 1)).astype(np.float32)
        save_array(root / f"nyuv2/normals/{name}.npy", left.transpose(2, 0, 1))
        save_array(root / f"nyuv2/normals_mask/{name}.npy", np.isfinite(seen.depth))
        folder = root / "nyuv2/dsine_eval/nyuv2/test"
        save_picture(folder / f"{at:06d}_img.png", seen.rgb)
        colours = np.rint((left + 1) * 127.5).astype(np.uint8)
        colours[~np.isfinite(seen.depth)] = 0
        save_picture(folder / f"{at:06d}_normal.png", colours)


def write_nyuv2_raw(root: Path) -> None:
    """The 16-bit re-export: depth with holes, and filled."""
    for at in range(COUNT):
        seen = view(at, 480, 640)
        stored = np.nan_to_num(seen.depth * 1000).astype(np.uint16)
        folder = root / f"nyuv2/test/kitchen_{at:04d}"
        save_picture(folder / f"rgb_{at:04d}.png", seen.rgb)
        save_picture(
            folder / f"filled_{at:04d}.png", np.where(stored > 0, stored, 9500).astype("u2")
        )
        stored[100:140] = 0
        save_picture(folder / f"depth_{at:04d}.png", stored)


def write_diode(root: Path) -> None:
    for domain, scene in (("indoors", 19), ("outdoor", 22)):
        for at in range(COUNT):
            seen = view(at + (domain == "outdoor"), 768, 1024)
            folder = root / f"diode/{domain}/scene_{scene:05d}/scan_{at:05d}"
            stem = folder / f"{scene:05d}_{at:05d}_{domain}_000_000"
            known = np.isfinite(seen.depth)
            depth = np.where(known, seen.depth, 197.0).astype(np.float32)
            save_picture(stem.with_suffix(".png"), seen.rgb)
            save_array(stem.with_name(f"{stem.name}_depth.npy"), depth[..., None])
            save_array(stem.with_name(f"{stem.name}_depth_mask.npy"), known.astype(np.float32))
            normals = np.nan_to_num(seen.normals).astype(np.float32)
            save_array(stem.with_name(f"{stem.name}_normal.npy"), normals)


def write_scannet(root: Path) -> None:
    lines = []
    for at in range(COUNT):
        seen = view(at, 480, 640)
        scene = f"scene{at + 11:04d}_00"
        colour, depth = f"{scene}/color/000100.jpg", f"{scene}/depth/000100.png"
        save_picture(root / "scannet" / colour, cv2.resize(seen.rgb, (1296, 968)))
        stored = np.nan_to_num(seen.depth * 1000).astype(np.uint16)
        save_picture(root / "scannet" / depth, stored)
        lines.append(f"{colour} {depth}\n")
    (root / "scannet/scannet_val_sampled_list_800_1.txt").write_text("".join(lines))


def write_kitti(root: Path) -> None:
    """Sparse depth, and one frame that has none."""
    drive, lines = "2011_09_26_drive_0002_sync", []
    for at in range(COUNT):
        seen = view(at, 375, 1242)
        picture = f"2011_09_26/{drive}/image_02/data/{at:010d}.png"
        depth = f"{drive}/proj_depth/groundtruth/image_02/{at:010d}.png"
        stored = np.nan_to_num(seen.depth * 256).astype(np.uint16)
        stored[np.random.default_rng(at).random(stored.shape) < 0.8] = 0
        save_picture(root / "kitti" / picture, seen.rgb)
        save_picture(root / "kitti" / depth, stored)
        lines.append(f"{picture} {depth} 721.5377\n")
    lines.append(f"{picture.replace('0.png', '9.png')} None 721.5377\n")
    (root / "kitti/eigen_test_files_with_gt.txt").write_text("".join(lines))
