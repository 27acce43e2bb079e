"""Drafts of tasks whose truth is a map of numbers: depth, normals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from vgen_eval.drafts import Draft, DraftRequest
from vgen_eval.errors import Undecodable, UsageError
from vgen_eval.imaging import decode_depth, decode_normals

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.draft import Paired, find_pairs, look_at
from vgen_eval_plugins.normals.frames import ALIASES, HOUSE, parse_frame, to_house
from vgen_eval_plugins.normals.native_map import describe_axes
from vgen_eval_plugins.normals.vectors import away_fraction, normalise

__all__ = ["draft_depth", "draft_normals"]

NO_READING = 65535
FAR_M = 1000.0
MOST_AWAY = 0.5
"""Part of the normals that may point away from the camera: nothing visible does."""


# --- depth


def draft_depth(request: DraftRequest, folder: Folder) -> Draft:
    """Depth files of any kind beside their pictures."""
    paired = find_pairs(request, folder, "depth")
    hints = request.hints
    depth: dict[str, Any] = {
        key: hints[hint]
        for key, hint in (
            ("scale", "depth_scale"),
            ("key", "depth_key"),
            ("max_depth", "max_depth"),
        )
        if hints.get(hint) is not None
    }
    largest_m, whole = _look_at_depth(folder, paired, depth)
    guessed, doubts = list(paired.guessed), list(paired.doubts)
    if hints.get("ignore"):
        depth["invalid"] = list(hints["ignore"])
    elif whole:
        depth["invalid"] = [NO_READING]
        guessed.append(f"no reading: 0 and {NO_READING} in the depth files (--ignore VALUE)")
    if largest_m > FAR_M:
        doubts.append(
            f"the largest depth seen is {largest_m:,.0f} m: is that so? --depth-scale says what "
            "a 1 in the files is in metres, 1/1000 for millimetres"
        )
    elif largest_m > 0:
        guessed.append(f"depth in metres, up to {largest_m:.3g} m in the files looked at")
    options: dict[str, Any] = {"target": "depth"}
    if depth:
        options["depth"] = depth
    return Draft(
        options=options,
        lines=paired.lines("depth"),
        replacements={"max_depth": depth["max_depth"]} if "max_depth" in depth else {},
        guessed=tuple(guessed),
        doubts=tuple(doubts),
        left_out=paired.left_out,
    )


def _look_at_depth(folder: Folder, paired: Paired, depth: Mapping[str, Any]) -> tuple[float, bool]:
    """Metres of the largest depth in a few files, and whether they hold whole numbers.

    UsageError when these need a scale and none was said.
    """
    scale, key = depth.get("scale"), depth.get("key")
    largest, whole = 0.0, False
    for name, data in look_at(folder, paired.of.values()):
        try:
            raw = decode_depth(data, what=name, key=key)
        except Undecodable:  # whole numbers, whose step only the user knows; or a broken file
            try:
                raw = decode_depth(data, what=name, scale=1.0, key=key)
            except Undecodable:
                continue  # told when all files are read
            whole = True
            if scale is None:
                raise _ask_for_scale(name, raw) from None
        known = raw[np.isfinite(raw) & (raw > 0) & (raw != (NO_READING if whole else np.inf))]
        largest = max(largest, float(known.max(initial=0)) * (scale or 1.0))
    return largest, whole


def _ask_for_scale(name: str, raw: Any) -> UsageError:
    top = float(raw[(raw > 0) & (raw != NO_READING)].max(initial=0))
    if top <= 255:
        return UsageError(
            f"{name} holds whole numbers up to {top:,.0f}: 8-bit depth, 255 steps at most. "
            "What is one step in metres?",
            cure="--depth-scale 10/255 where 255 is 10 m; files of 16 bits or floats keep what "
            "was measured",
        )
    return UsageError(
        f"{name} holds whole numbers up to {top:,.0f}: what is one step in metres?",
        cure=f"--depth-scale 1/1000 for millimetres (up to {top / 1000:.3g} m), "
        f"--depth-scale 1/256 as KITTI (up to {top / 256:.3g} m)",
    )


# --- normals


def draft_normals(request: DraftRequest, folder: Folder) -> Draft:
    """Files of normals beside their pictures; answers are expected in their frame."""
    paired = find_pairs(request, folder, "normals")
    said = request.hints.get("frame")
    frame = "opengl" if said is None else said
    try:
        parsed = parse_frame(frame)
    except ValueError as exc:
        raise UsageError(f"--frame: {exc}") from exc
    away = _away_by_frame(folder, paired, frame)
    fault = f"in the frame {frame} {away[frame]:.0%} of the normals point away from the camera, "
    fault += "which no visible surface does"
    if said is None and away[frame] > MOST_AWAY:
        better = [name for name, part in away.items() if part <= MOST_AWAY]
        raise UsageError(
            f"{request.folder}: {fault}",
            cure=" or ".join(f"--frame {name} ({ALIASES[name]})" for name in better)
            + ("" if not better else " turns them to the camera; ")
            + f"--frame {frame} takes them as they are",
        )
    axes = f"frame: {frame}, {describe_axes(parsed)}"
    guessed = [f"{axes} (--frame opencv, ...)"] if said is None else []
    notes = [] if said is None else [axes]
    house = str(parsed) == HOUSE
    if not house:
        notes.append(
            f"answers are expected in the frame {frame} too, as the prompts say "
            "(protocols of another frame than opengl keep theirs)"
        )
    return Draft(
        options={"target": "normals", "normals": {"frame": frame}},
        lines=paired.lines("normals"),
        exchanges={} if house else {"frame": dict.fromkeys(("opengl", HOUSE), frame)},
        exchanged_title=f"Normals as colours or arrays, {describe_axes(parsed)}",
        guessed=(*paired.guessed, *guessed),
        notes=tuple(notes),
        doubts=(*paired.doubts, *([fault] if away[frame] > MOST_AWAY else [])),
        left_out=paired.left_out,
    )


def _away_by_frame(folder: Folder, paired: Paired, frame: str) -> Mapping[str, float]:
    """Frame -> which part of the normals of a few files points away from the camera in it."""
    seen = []
    for name, data in look_at(folder, paired.of.values()):
        try:
            seen.append(normalise(decode_normals(data, what=name)).reshape(-1, 1, 3))
        except Undecodable:
            continue  # told when all files are read
    vectors = np.concatenate(seen) if seen else np.empty((0, 1, 3), np.float32)
    return {name: away_fraction(to_house(vectors, name)) for name in (frame, *ALIASES)}
