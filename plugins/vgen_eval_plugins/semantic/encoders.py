"""The answers a model that sees every class perfectly would give."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import Scene

from vgen_eval_plugins.colours import as_rgb
from vgen_eval_plugins.semantic.labels import OPEN, LabelMap
from vgen_eval_plugins.semantic.native_labels import LabelOptions, NativeLabels, numbers_of
from vgen_eval_plugins.semantic.nearest_colour import (
    NearestColour,
    NearestColourOptions,
    dealt_palette,
)

__all__ = ["NativeLabelsEncoder", "NearestColourEncoder"]


def _at_seen_size(target: LabelMap, scene: Scene) -> NDArray[np.int32]:
    return scene.geometry.project(target.labels, "labels", fill=OPEN)


def _check_known(
    target: LabelMap, names: Sequence[str], known: Container[str], complaint: str
) -> None:
    """ValueError for the first class that the target's pixels hold and `known` does not."""
    if all(name in known for name in names):
        return
    for label in np.unique(target.labels):
        if label != OPEN and names[label] not in known:
            raise ValueError(f"the truth holds '{names[label]}': {complaint}")


class NearestColourEncoder:
    """Label map -> a picture, every class in its colour, ignored pixels in the void's."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = NearestColour.Options

    def __init__(self, options: NearestColourOptions) -> None:
        self.options = options

    def encode(self, target: LabelMap, scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw; a target of no classes has the palette's.

        ValueError when the target holds a class that the palette has no colour for. Where there is
        no void colour, ignored pixels are black.
        """
        palette = dealt_palette(self.options)
        void = (0, 0, 0) if self.options.void is None else as_rgb(self.options.void)
        names = target.classes or tuple(palette)
        _check_known(target, names, palette, "the palette has no colour for it")
        colours = [as_rgb(palette[name]) if name in palette else void for name in names]
        table = np.array([*colours, void], np.uint8)  # the last is that of -1
        return np.asarray(table.take(_at_seen_size(target, scene), axis=0, mode="wrap"))


class NativeLabelsEncoder:
    """Label map -> the model's own numbers, -1 where the truth is unknown."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = NativeLabels.Options

    def __init__(self, options: LabelOptions) -> None:
        self.options = options

    def encode(self, target: LabelMap, scene: Scene) -> NDArray[np.int32]:
        """int32 (H, W) at the size the model saw.

        ValueError when the target holds a class that the model has no number for, or one whose
        number leaves a pixel open.
        """
        own = numbers_of(self.options)
        names = target.classes or tuple(own)
        numbers = own or {name: label for label, name in enumerate(names)}
        if not names:  # neither side names a class: the numbers are what they are
            top = int(target.labels.max(initial=0))
            names = tuple(map(str, range(top + 1)))
            numbers = {name: label for label, name in enumerate(names)}
        _check_known(target, names, numbers, "the model has no number for it")
        taken = {OPEN, *self.options.ignore}
        written = {name: number - self.options.offset for name, number in numbers.items()}
        usable = {name for name, number in written.items() if number not in taken}
        _check_known(target, names, usable, "its number leaves a pixel open")
        table = np.array([written.get(name, OPEN) for name in names] + [OPEN], np.int32)
        return np.asarray(table.take(_at_seen_size(target, scene), mode="wrap"))
