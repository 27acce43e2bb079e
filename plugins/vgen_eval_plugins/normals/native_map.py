"""Normals given as arrays, and the normals that stand for a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import Example, NoOptions, Prediction, Scene

from vgen_eval_plugins.normals.calibration import Conventions, calibrate_frame
from vgen_eval_plugins.normals.frames import HOUSE, Frame, parse_frame, to_house
from vgen_eval_plugins.normals.vectors import (
    FACING,
    FACING_AWAY,
    Normals,
    away_fraction,
    normalise,
    restore_normals,
)
from vgen_eval_plugins.pictures import size_flags

__all__ = ["FacingNormals", "NormalMap", "describe_axes"]

_WORDS = {"toward": "toward the camera", "away": "away from the camera"}


class NormalMap:
    """Array -> normals of length 1; where a vector has no length or is not finite, open."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "normals"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """What the components mean."""

        frame: Annotated[
            str,
            msgspec.Meta(
                description="Where x, y and z point: three of right/left, up/down, toward/away, "
                "or opengl (right up toward), opencv (right down away), dsine (left up toward)."
            ),
        ] = "opengl"
        conventions: Annotated[
            Conventions,
            msgspec.Meta(
                description="Frames to choose from in a calibration: 48, or 24 rotations."
            ),
        ] = "all"

        def __post_init__(self) -> None:
            parse_frame(self.frame)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.frame = parse_frame(options.frame)

    def fields(self, scene: Scene) -> Mapping[str, str]:  # noqa: ARG002
        """{normal_axes}: "x right, y up, z toward the camera"."""
        return {"normal_axes": describe_axes(self.frame)}

    def calibrate(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """The frame that fits the examples best, and how well."""
        options = self.options
        as_painted = NormalMap(msgspec.structs.replace(options, frame=HOUSE))
        return calibrate_frame(
            as_painted.decode, examples, frame=options.frame, conventions=options.conventions
        )

    def calibrated(self, record: Mapping[str, Any]) -> NormalMap:
        """The decoder of that frame."""
        return NormalMap(msgspec.structs.replace(self.options, frame=record["frame"]))

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """float32 (H, W, 3) at `scene.size` from floats (H, W, 3) or (3, H, W) of any length.

        Undecodable for other shapes, for unsigned numbers (a painted map is no native one) and
        for a map that is open everywhere.
        """
        raw = _read(answer)
        flags = size_flags(raw, scene)
        vectors = normalise(raw)
        if np.isnan(vectors[..., 0]).all():
            raise Undecodable("no vector of the normal map has a direction")
        normals = to_house(restore_normals(vectors, scene), str(self.frame))
        opened = np.isnan(normals[..., 0])
        if opened.all() or np.ptp(normals[~opened], axis=0).max() < 1e-3:
            flags.append("constant")
        if away_fraction(normals) > 0.5:
            flags.append(FACING_AWAY)
        return Prediction(
            value=normals,
            flags=tuple(flags),
            summary={"open_fraction": round(float(opened.mean()), 6), "frame": str(self.frame)},
        )


def describe_axes(frame: Frame) -> str:
    """ "x right, y up, z toward the camera"."""
    pairs = zip("xyz", frame.words, strict=True)
    return ", ".join(f"{name} {_WORDS.get(word, word)}" for name, word in pairs)


def _read(answer: Any) -> NDArray[Any]:
    if not isinstance(answer, np.ndarray):
        raise Undecodable(f"an array of normals was wanted, {type(answer).__name__} came")
    if answer.ndim != 3 or answer.size == 0 or 3 not in (answer.shape[0], answer.shape[2]):
        raise Undecodable(f"normals of (H, W, 3) were wanted, the shape is {answer.shape}")
    if answer.dtype.kind not in "if":
        raise Undecodable(
            f"normals of floats were wanted, the type is {answer.dtype}; "
            "a painted normal map is an answer of the form image"
        )
    return answer if answer.shape[2] == 3 else np.moveaxis(answer, 0, 2)


class FacingNormals:
    """The failure value: every surface faces the camera, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "normals"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """float32 (H, W, 3) at `scene.size`, (0, 0, 1) everywhere."""
        normals: Normals = np.empty((*scene.size, 3), np.float32)
        normals[:] = FACING
        return Prediction(value=normals, summary={"open_fraction": 0.0})
