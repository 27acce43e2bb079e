"""A shelf of real components and cards: as much of a catalog as a check asks for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.cards import read_head
from vgen_eval.errors import BrokenPlugin, UsageError
from vgen_eval.types import NoOptions, Value


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the components below, each of which uses some."""

    split: Literal["train", "val"] = "val"
    gain: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    fit: Literal["depth_lsq", "disparity_lsq"] = "depth_lsq"
    steps: Annotated[int, msgspec.Meta(ge=1)] = 4


class Part:
    version = 1
    Options = Options


class Plain:
    version = 1
    Options = NoOptions


class DepthError(Part):
    values = (
        Value(name="abs_rel", of="abs_rel", aggregation="mean", higher_is_better=False),
        Value(name="rmse", of="rmse", aggregation="mean", higher_is_better=False, unit="m"),
        Value(name="rmse_all", of="rmse", aggregation="pooled", higher_is_better=False, unit="m"),
    )


class Accuracy(Plain):
    values = (Value(name="acc", of="acc", aggregation="mean", higher_is_better=True),)


class Painter(Part):
    forms = ("image", "text")


class Unreadable:
    class Options(msgspec.Struct):
        field: NoSuchType  # noqa: F821


class Bench:
    """Finds components in the table below and cards in one folder."""

    parts: ClassVar[dict[tuple[str, str], Any]] = {
        ("dataset", "rooms"): Part,
        ("decoder", "luma"): Part,
        ("decoder", "image"): Plain,
        ("decoder", "depth_map"): Plain,
        ("decoder", "choice"): Plain,
        ("decoder", "flat"): Plain,
        ("decoder", "unreadable"): Unreadable,
        ("encoder", "image"): Part,
        ("metric", "depth_error"): DepthError,
        ("metric", "accuracy"): Accuracy,
        ("metric", "silent"): Plain,
        ("adapter", "painter"): Painter,
        ("adapter", "any"): Part,
    }

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: set[str] = set()

    def component(self, kind: str, name: str, *, home: str) -> Any:
        self.asked.add(home)
        if name == "torn":
            raise BrokenPlugin("plugin 'torn': ImportError: no_such_module", cure="mend it")
        if (kind, name) not in self.parts:
            raise UsageError(f"no {kind} '{name}'.")
        return SimpleNamespace(obj=self.parts[kind, name])

    def find(self, kind: str, name: str, *, home: str | None = None) -> tuple[Any, Any]:
        for path in sorted(self.folder.glob("*.yaml")):
            head = read_head(path)
            if (head.kind, head.name) == (kind, name):
                return SimpleNamespace(name="vgen-eval"), head
        raise UsageError(f"no {kind} '{name}'.")
