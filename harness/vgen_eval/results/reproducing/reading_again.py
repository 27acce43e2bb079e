"""Kept answers of a run read under what a row sets: no model is asked, nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cards.records import ProtocolCard
from vgen_eval.engine.ablation import Reading, read_variants
from vgen_eval.errors import BrokenPlugin
from vgen_eval.results.build import describe_protocol
from vgen_eval.results.card import ResultCard
from vgen_eval.results.reproducing.finding import Found
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["as_one_setting", "read_again"]

PREFIX = "protocol."
_READ = ("metrics", "failure_value", "failure_options", "calibration")
_READ_OF_ANSWER = ("decoder", "options", "reencode", "background", "fit")
"""What of a protocol changes how a kept answer is read, and not what is asked."""


def as_one_setting(settings: Mapping[str, Any], protocol: ProtocolCard) -> tuple[str, Any] | None:
    """The settings as one key and value, where they all say how answers are read.

    Several options of one component become its options as a whole. None for anything else.
    """
    keys = [key.removeprefix(PREFIX).split(".") for key in settings]
    if not keys or not all(map(_is_reading, keys)):
        return None
    if len(keys) == 1:
        ((key, value),) = settings.items()
        return key, value
    homes = {tuple(key[:3]) for key in keys}
    if len(homes) > 1 or any(len(key) != 4 or key[2] != "options" for key in keys):
        return None
    kind, place, _ = next(iter(homes))
    parts = protocol.answers if kind == "answers" else protocol.metrics
    own = parts[int(place)].options
    values = {key[3]: value for key, value in zip(keys, settings.values(), strict=True)}
    return f"{PREFIX}{kind}.{place}.options", {**own, **values}


def _is_reading(key: list[str]) -> bool:
    if key[0] == "answers":
        return len(key) > 2 and key[1].isdigit() and key[2] in _READ_OF_ANSWER
    return key[0] in _READ


def read_again(
    found: Found,
    setting: tuple[str, Any],
    catalog: Catalog,
    *,
    data_root: str | None = None,
    workers: int | None = None,
    stopped: Callable[[], bool] | None = None,
) -> ResultCard:
    """The run's card as it would be under the setting; its scores are those of kept answers.

    UsageError where the run's answers are not read by what is set, NotRunnable where its data or
    its answers are not here, `engine.ablation.Stopped` when it was asked to stop.
    """
    key, value = setting
    ((reading,),) = read_variants(
        [found.path], catalog, key=key, values=[value], data_root=data_root, workers=workers,
        stopped=stopped,
    )  # fmt: skip
    try:
        scores = tuple(reading.summary.scores())
    # `merge` and `compute` are anyone's code
    except (Exception, SystemExit) as exc:
        label = reading.job.task.ref.label
        raise BrokenPlugin(f"{label}: its metrics cannot be summarised: {describe(exc)}") from exc
    return msgspec.structs.replace(
        found.card, scores=scores, protocol_info=_info(found.card, reading)
    )


def _info(card: ResultCard, reading: Reading) -> dict[str, Any]:
    """What the run was asked, and how it was read now."""
    now = describe_protocol(reading.job)
    read = ("decoder", "metrics", "failure_value", "calibration", "score_digest")
    answer = {key: now["answer"][key] for key in ("fit", "background", "reencode")}
    return {**card.protocol_info, **{key: now[key] for key in read}, "answer": answer}
