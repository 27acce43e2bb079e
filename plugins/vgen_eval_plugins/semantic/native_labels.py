"""Label maps given as arrays, and the map that stands for a failure."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.pictures import size_flags
from vgen_eval_plugins.semantic.labels import OPEN, LabelClass, LabelMap, to_labels

__all__ = ["LabelOptions", "NativeLabels", "VoidLabels", "numbers_of"]

LIMIT = 1 << 16
"""Numbers beyond this are no labels."""


class LabelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the model numbers its classes."""

    classes: Annotated[
        tuple[str, ...] | dict[str, int],
        msgspec.Meta(
            description="Names in the order of the model's numbers, or name -> number; empty: "
            "the data set's own order."
        ),
    ] = ()
    offset: Annotated[
        int, msgspec.Meta(description="Added to a number before it is looked up: -1 from one on.")
    ] = 0
    ignore: Annotated[
        tuple[int, ...], msgspec.Meta(description="Numbers that leave a pixel open, beside -1.")
    ] = ()

    def __post_init__(self) -> None:
        listed = self.classes
        if len(set(listed if isinstance(listed, tuple) else listed.values())) < len(listed):
            raise ValueError("classes: one name or number stands there twice")


class NativeLabels:
    """Array -> label map; nearest pixel when its size is not the original's."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = LabelOptions

    def __init__(self, options: LabelOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """LabelMap at `scene.size`; -1 stays open.

        Undecodable, with the values, for numbers that the options do not know, for negative ones
        where the options name no classes, for fractions and for what is no (H, W) array.
        """
        raw = _whole(answer)
        flags = size_flags(raw, scene)
        raw = scene.geometry.restore(raw, "labels")
        return _predict(self._read(raw), tuple(flags))

    def _read(self, raw: NDArray[np.int32]) -> LabelMap:
        ignore = {OPEN, *self.options.ignore}
        numbers = numbers_of(self.options)
        # without classes, any label from 0 on: the truth's own order is not known here
        known = numbers or {str(label): label for label in range(int(raw.max(initial=0)) + 1)}
        classes = [LabelClass(name, number) for name, number in known.items()]
        try:
            found = to_labels(raw, classes, offset=self.options.offset, ignore=ignore)
        except ValueError as exc:
            raise Undecodable(f"label map: {exc}") from None
        return LabelMap(found.labels, tuple(numbers))


def numbers_of(options: LabelOptions) -> dict[str, int]:
    """Class -> its number, `offset` added already; empty for the data set's own order."""
    if isinstance(options.classes, dict):
        return options.classes
    return {name: number for number, name in enumerate(options.classes)}


def _whole(answer: Any) -> NDArray[np.int32]:
    if not isinstance(answer, np.ndarray):
        raise Undecodable(f"a label array was wanted, {type(answer).__name__} came")
    if answer.ndim != 2 or answer.size == 0:
        raise Undecodable(f"labels of (H, W) were wanted, the shape is {answer.shape}")
    if answer.dtype.kind not in "biuf":
        raise Undecodable(f"labels are whole numbers, the type is {answer.dtype}")
    if answer.dtype.kind == "f":
        if not np.isfinite(answer).all():
            raise Undecodable("the labels hold values that are not finite")
        odd = answer != np.rint(answer)
        if odd.any():
            raise Undecodable(
                f"labels are whole numbers, {answer[odd][0]} is none: was the map interpolated?"
            )
    low, high = int(answer.min()), int(answer.max())
    if low < -LIMIT or high > LIMIT:
        raise Undecodable(f"{low if low < -LIMIT else high} is no label")
    return answer.astype(np.int32, copy=False)


def _predict(value: LabelMap, flags: tuple[str, ...] = ()) -> Prediction:
    still_open = float(np.count_nonzero(value.labels == OPEN) / max(value.labels.size, 1))
    return Prediction(value=value, flags=flags, summary={"open_fraction": round(still_open, 6)})


class VoidLabels:
    """The failure value: every pixel open, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """LabelMap at `scene.size`, -1 everywhere, of no classes."""
        return _predict(LabelMap(np.full(scene.size, OPEN, np.int32)))
