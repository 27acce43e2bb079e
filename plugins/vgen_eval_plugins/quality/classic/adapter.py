"""One classic measure of quality in a model's place: NIQE, BRISQUE, PSNR or SSIM."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import MissingData
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.quality.classic.answers import grade_words, is_grading
from vgen_eval_plugins.quality.classic.measured import Measured

if TYPE_CHECKING:
    from vgen_eval_plugins.quality.classic.brisque import Regression
    from vgen_eval_plugins.quality.classic.niqe import PristineModel

__all__ = ["PSNR_CAP_DB", "SCALES", "ClassicQuality", "ClassicQualityOptions", "goodness_of"]

MeasureName = Literal["niqe", "brisque", "psnr", "ssim"]

PSNR_CAP_DB = 100.0
"""What identical pictures count as, and the most that others do."""

SCALES: Mapping[MeasureName, tuple[float, float]] = {
    "niqe": (12.0, -4.0), "brisque": (50.0, -15.0), "psnr": (30.0, 5.0), "ssim": (0.8, 0.1),
}  # fmt: skip
"""Measure -> the value that is neither good nor poor, and the step that is worth a logit of 1.
Ours: they order nothing, and only make log-probabilities of numbers."""


class ClassicQualityOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which measure, and what it was learned from."""

    measure: Annotated[
        MeasureName,
        msgspec.Meta(
            description="niqe, brisque: of the picture alone; psnr, ssim: against a second."
        ),
    ] = "niqe"
    pristine: Annotated[
        str | None,
        msgspec.Meta(
            description="NIQE: JSON file of a pristine model; null: ours, of six photographs."
        ),
    ] = None
    model: Annotated[
        str | None,
        msgspec.Meta(description="BRISQUE: regression in OpenCV's YAML, brisque_model_live.yml."),
    ] = None
    ranges: Annotated[
        str | None,
        msgspec.Meta(description="BRISQUE: ranges of the features, brisque_range_live.yml."),
    ] = None


class ClassicQuality(BaseAdapter):
    """Answers how good a picture is with log-probabilities of words for it.

    A picture that the measure says nothing of (tiny, flat) gets no answer, with the reason.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = ClassicQualityOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("choice",)
    stub: ClassVar[Mapping[str, Any]] = {"measure": "niqe"}

    @classmethod
    def identify(cls, options: Any, card: ModelCard) -> Mapping[str, Any]:  # noqa: ARG003
        """Digests of the files that it reads."""
        found = {}
        for name in ("pristine", "model", "ranges"):
            path = getattr(options, name)
            if path is not None and Path(path).expanduser().is_file():
                data = Path(path).expanduser().read_bytes()
                found[f"{name}_sha256"] = hashlib.sha256(data).hexdigest()
        return found

    @classmethod
    def lacks(cls, options: Any, card: ModelCard) -> Sequence[str]:  # noqa: ARG003
        """BRISQUE's two files, where they are not named or not there."""
        if options.measure != "brisque":
            return ()
        found = []
        for name, file in (
            ("model", "brisque_model_live.yml"),
            ("ranges", "brisque_range_live.yml"),
        ):
            path = getattr(options, name)
            if path is None:
                found.append(f"no {name}: -M {name}=PATH of OpenCV's {file}, which is not shipped")
            elif not Path(path).expanduser().is_file():
                found.append(f"no file {path}: -M {name}=PATH of OpenCV's {file}")
        return found

    def load(self) -> None:
        """Reads what the measure was learned from."""
        self._measure = _MAKERS[self.options.measure](self.options)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """Word -> log-probability for each."""
        for request in requests:
            if not is_grading(request.choices):
                reason = "the choices are no words for good and for poor quality"
                yield Output(id=request.id, answer=None, reason=reason)
                continue
            goodness = goodness_of(self.options.measure, self._measure(request))
            if isinstance(goodness, str):
                yield Output(id=request.id, answer=None, reason=goodness)
            else:
                yield Output(id=request.id, answer=grade_words(goodness, request.choices))


def goodness_of(measure: MeasureName, measured: Measured) -> float | str:
    """A logit of good against poor, or the reason for there being none."""
    if measured.value is None:
        return measured.reason
    middle, step = SCALES[measure]
    return (measured.value - middle) / step


def _make_niqe(options: ClassicQualityOptions) -> Callable[[Request], Measured]:
    from vgen_eval_plugins.quality.classic.niqe import niqe, our_pristine_model

    model = our_pristine_model() if options.pristine is None else _read_pristine(options.pristine)

    def measure(request: Request) -> Measured:
        if not request.images:
            return Measured(None, "no picture came")
        return niqe(request.images[0].array, model)

    return measure


def _read_pristine(name: str) -> PristineModel:
    from vgen_eval_plugins.quality.classic.niqe import PristineModel

    path = Path(name).expanduser()
    try:
        return msgspec.json.decode(path.read_bytes(), type=PristineModel)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise MissingData(f"pristine model {path}: {exc}") from exc


def _make_brisque(options: ClassicQualityOptions) -> Callable[[Request], Measured]:
    from vgen_eval_plugins.quality.classic.brisque import brisque, read_regression

    if options.model is None or options.ranges is None:
        raise MissingData(
            "BRISQUE has no regression of its own here",
            cure="-M model=brisque_model_live.yml -M ranges=brisque_range_live.yml, as OpenCV "
            "gives them out",
        )
    regression: Regression = read_regression(
        Path(options.model).expanduser(), Path(options.ranges).expanduser()
    )

    def measure(request: Request) -> Measured:
        if not request.images:
            return Measured(None, "no picture came")
        return brisque(request.images[0].array, regression)

    return measure


def _make_referenced(options: ClassicQualityOptions) -> Callable[[Request], Measured]:
    from vgen_eval_plugins.quality.classic import reference

    def measure(request: Request) -> Measured:
        if len(request.images) < 2:
            return Measured(
                None,
                f"{options.measure} compares with a second picture, {len(request.images)} came",
            )
        pred, target = (image.array for image in request.images[:2])
        if pred.shape != target.shape:
            return Measured(None, f"the pictures have two sizes: {pred.shape} and {target.shape}")
        if options.measure == "ssim":
            return reference.ssim(pred, target)
        found = reference.psnr(pred, target)
        return Measured(PSNR_CAP_DB if found.value is None else min(found.value, PSNR_CAP_DB))

    return measure


_MAKERS: Mapping[MeasureName, Callable[[ClassicQualityOptions], Callable[[Request], Measured]]] = {
    "niqe": _make_niqe,
    "brisque": _make_brisque,
    "psnr": _make_referenced,
    "ssim": _make_referenced,
}
