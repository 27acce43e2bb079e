"""Readers, decoders, metrics and a model of numbers: each does one thing that can be counted."""

from __future__ import annotations

import hashlib
import math
import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from vgen_eval import (
    BadSample,
    BaseAdapter,
    Image,
    Item,
    NoOptions,
    NoValidTarget,
    Output,
    Prediction,
    Refused,
    Request,
    Sample,
    Scene,
    SumMetric,
    Undecodable,
    Value,
)
from vgen_eval.errors import Problem
from vgen_eval.types import Example


def picture_of(number: int) -> Image:
    """8x8 pixels that spell the number in base 256."""
    pixel = (number >> 16 & 255, number >> 8 & 255, number & 255)
    return Image(np.full((8, 8, 3), pixel, np.uint8))


def number_in(image: Image) -> int:
    """The number that the picture spells."""
    high, middle, low = (int(v) for v in image.array[0, 0])
    return high << 16 | middle << 8 | low


class Numbers:
    """Sample k shows the number k; its truth is k."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        n: int = 6
        per_group: int = 1
        ids: tuple[str, ...] = ()
        bad: tuple[str, ...] = ()
        no_target: tuple[str, ...] = ()
        lose: tuple[str, ...] = ()
        gone: tuple[str, ...] = ()

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        self.options = options
        self.ids = options.ids or tuple(f"s{at:03d}" for at in range(options.n))

    def index(self) -> Sequence[Item]:
        return [
            Item(id=name, group=f"g{at // self.options.per_group}", tags=self._tags(at))
            for at, name in enumerate(self.ids)
        ]

    def look(self, items: Sequence[Item]) -> Sequence[Problem]:
        gone = [item.id for item in items if item.id in self.options.gone]
        return [Problem("no such file", file=f"{name}.png", path=name) for name in gone]

    def _tags(self, at: int) -> Mapping[str, str]:
        return {"parity": "odd" if at % 2 else "even", "all_alike": "yes"}

    def load(self, item: Item) -> Sample:
        if item.id in self.options.bad:
            raise BadSample(f"{item.id}: no picture in it")
        if item.id in self.options.lose:
            return "no sample at all"  # type: ignore[return-value]
        at = self.ids.index(item.id)
        return Sample(
            id=item.id,
            group=item.group,
            images=(picture_of(at),),
            target=None if item.id in self.options.no_target else at,
            fields={"query": f"number {at}"},
            tags=item.tags,
        )

    def fingerprint(self) -> str:
        return hashlib.sha256(repr(self.options).encode()).hexdigest()


class Number:
    """Text, or a picture of it -> number."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        try:
            number = float(number_in(Image(answer)) if hasattr(answer, "ndim") else answer)
        except ValueError:
            raise Undecodable(f"no number: {answer[:20]!r}") from None
        flags = ("round",) if number % 10 == 0 else ()
        return Prediction(value=number, flags=flags, summary={"number": number})


class OddOnly(Number):
    """Reads odd numbers and 0: the others are no answer to it."""

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        found = super().decode(answer, scene)
        if found.value % 2 == 0 and found.value > 0:
            raise Undecodable("even")
        return found


class Fixed:
    """The failure value: one number."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        number: float = 0.0

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        return Prediction(value=self.options.number)


class Anything:
    """Any answer -> how it arrived: type and shape."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        shape = list(getattr(answer, "shape", (len(answer),)))
        return Prediction(value=0.0, summary={"type": type(answer).__name__, "shape": shape})


class NumberEncoder:
    """number -> text."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any) -> None:
        self.options = options

    def encode(self, target: Any, scene: Scene) -> str:
        if target is None:
            raise NoValidTarget("no truth")
        return str(target)


class Shifted(Number):
    """Text that says the number plus a shift, of which the prompt may speak as {shift}."""

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        shift: int = 0

    def fields(self, scene: Scene) -> Mapping[str, str]:
        return {"shift": f"{self.options.shift} more than {scene.fields['query']}"}

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        found = super().decode(answer, scene)
        return Prediction(value=found.value - self.options.shift)


class Tuned(Shifted):
    """Text that is off by what the truth of some samples shows; they are all looked at."""

    def calibrate(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        gaps = [int(self.decode(e.answer, e.scene).value) - e.target for e in examples]
        return {"shift": round(statistics.mean(gaps)) if gaps else 0, "of": len(examples)}

    def calibrated(self, record: Mapping[str, Any]) -> Tuned:
        return Tuned(Shifted.Options(record["shift"]))


class ShiftedEncoder(NumberEncoder):
    """number -> text that says the number plus the decoder's shift."""

    Options: ClassVar[type[msgspec.Struct]] = Shifted.Options

    def encode(self, target: Any, scene: Scene) -> str:
        return str(target + self.options.shift)


class Grid:
    """A picture -> its red plane, on the original's grid."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: Any) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        plane = scene.geometry.restore(answer[:, :, 0], "labels")
        return Prediction(value=plane, summary={"shape": list(plane.shape), "fit": scene.fit})


class Nothing(SumMetric):
    """Scores every prediction 0."""

    values: ClassVar[tuple[Value, ...]] = (
        Value(name="zero", of="zero", aggregation="mean", higher_is_better=False),
    )

    def update(self, pred: Any, target: Any, valid: Any) -> dict[str, Any]:
        return {"n": 1}

    def compute(self, statistics: Mapping[str, Any]) -> Mapping[str, float | None]:
        return {"zero": 0.0}


class Error(SumMetric):
    """mae, a mean of samples; rmse, of the pooled squares."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    delay_s: ClassVar[float] = 0.0
    values: ClassVar[tuple[Value, ...]] = (
        Value(name="mae", of="mae", aggregation="mean", higher_is_better=False, unit="units"),
        Value(name="rmse", of="rmse", aggregation="pooled", higher_is_better=False),
    )

    def update(self, pred: Any, target: Any, valid: Any) -> dict[str, Any]:
        if self.delay_s:
            time.sleep(self.delay_s)
        if target is None:
            raise NoValidTarget("no truth")
        return {"n": 1, "abs": abs(pred - target), "sq": (pred - target) ** 2}

    def compute(self, statistics: Mapping[str, Any]) -> Mapping[str, float | None]:
        n = statistics["n"]
        if not n:
            return {"mae": None, "rmse": None}
        return {"mae": statistics["abs"] / n, "rmse": math.sqrt(statistics["sq"] / n)}


class FlaggingError(Error):
    """The same errors, and a flag on what is far off."""

    def flags(self, statistics: Mapping[str, Any]) -> Sequence[str]:
        return ("far",) if statistics["abs"] > 2 else ()


class Middle:
    """The median error: statistics that do not add up."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(name="median", of="median", aggregation="pooled", higher_is_better=False),
    )

    def __init__(self, options: Any) -> None:
        self.options = options

    def update(self, pred: Any, target: Any, valid: Any) -> dict[str, Any]:
        if target is None:
            raise NoValidTarget("no truth")
        return {"errors": [abs(pred - target)]}

    def merge(self, a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
        return {"errors": sorted([*a["errors"], *b["errors"]])}

    def compute(self, statistics_: Mapping[str, Any]) -> Mapping[str, float | None]:
        return {"median": statistics.median(statistics_["errors"])}


class Teller(BaseAdapter):
    """Says the number that it sees, a little off; every request it is asked is noted."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        off: int = 0
        off_by_attempt: int = 0
        delay_s: float = 0.0
        batch: int = 1
        at_once: int = 1
        nothing: tuple[str, ...] = ()
        refuse: tuple[str, ...] = ()
        fail: tuple[str, ...] = ()
        mumble: tuple[str, ...] = ()

    forms = ("text",)
    pause_s: ClassVar[float] = 0.0
    failing: ClassVar[bool] = True
    asked: ClassVar[list[tuple[str, int]]] = []
    lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, options: Any, *, card: Any = None, device: str | None = None) -> None:
        super().__init__(options, card=card, device=device)
        self.max_batch = options.batch
        self.concurrency = options.at_once

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        for request in requests:
            with self.lock:
                self.asked.append((request.sample, request.attempt))
            if self.options.delay_s or self.pause_s:
                time.sleep(self.options.delay_s or self.pause_s)
            if request.sample in self.options.refuse:
                raise Refused("not this one")
            if request.sample in self.options.fail and self.failing:
                raise RuntimeError("broken on purpose")
            yield Output(id=request.id, answer=self._answer(request))

    def _answer(self, request: Request) -> Any:
        if request.sample in self.options.nothing:
            return None
        if request.sample in self.options.mumble:
            return "hm"
        number = number_in(request.images[0])
        said = number + self.options.off + self.options.off_by_attempt * request.attempt
        return picture_of(said) if request.form == "image" else str(said)
