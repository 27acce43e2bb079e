"""Components of the benchmarks' plugin; it is copied into a package beside its cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.scoring import SumMetric
from vgen_eval.types import Item, NoOptions, Output, Prediction, Request, Sample, Statistics, Value


class Echo:
    """Text samples without pictures; the right answer is always the same word."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        n: int

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        self.n = options.n

    def index(self) -> Sequence[Item]:
        return [Item(f"s{at}", f"s{at}") for at in range(self.n)]

    def load(self, item: Item) -> Sample:
        return Sample(
            id=item.id, group=item.group, images=(), target="yes", fields={"query": item.id}
        )

    def fingerprint(self) -> str:
        return str(self.n)


class Photos:
    """Files <id>.jpg in a folder; the target is a disc whose place hangs on the id."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        folder: str
        n: int
        dots: bool = False

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        self.options = options

    def index(self) -> Sequence[Item]:
        return [Item(f"p{at:03}", f"p{at:03}") for at in range(self.options.n)]

    def load(self, item: Item) -> Sample:
        from vgen_eval.imaging import read_image

        image = read_image(Path(self.options.folder) / f"{item.id}.jpg")
        return Sample(
            id=item.id,
            group=item.group,
            images=(image,),
            target=self._target(int(item.id[1:]), image.height, image.width),
            fields={"query": "the disc"},
        )

    def _target(self, number: int, height: int, width: int) -> Any:
        if self.options.dots:
            from vgen_eval_plugins.counting.targets import CountTarget

            return CountTarget(20 + number % 20)
        import cv2
        import numpy as np

        mask = np.zeros((height, width), np.uint8)
        centre = (width // 4 + 3 * number % (width // 2), height // 4 + 7 * number % (height // 2))
        cv2.circle(mask, centre, min(height, width) // 5, 1, -1)
        return mask.view(bool)

    def fingerprint(self) -> str:
        return f"{self.options.n} {self.options.dots}"


class Noop(BaseAdapter):
    """Answers one word, at once."""

    forms = ("text",)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        for request in requests:
            yield Output(id=request.id, answer="yes")


class Perfect(BaseAdapter):
    """Answers with the encoder's picture of the truth."""

    forms = ("image",)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        for request in requests:
            yield Output(id=request.id, answer=request.ideal)


class Word:
    """The answer as it is."""

    version: ClassVar[int] = 1
    Options = NoOptions

    def __init__(self, options: NoOptions) -> None: ...

    def decode(self, answer: Any, scene: Any) -> Prediction:
        return Prediction(value=answer)


class Silence(Word):
    """The failure value."""

    def decode(self, answer: Any, scene: Any) -> Prediction:
        return Prediction(value="")


class Match(SumMetric):
    """Share of equal words."""

    version: ClassVar[int] = 1
    Options = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(name="accuracy", of="accuracy", aggregation="mean", higher_is_better=True),
    )

    def update(self, pred: Any, target: Any, valid: Any) -> Statistics:
        return {"n": 1, "hit": int(pred == target)}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        return {"accuracy": statistics["hit"] / statistics["n"] if statistics["n"] else None}
