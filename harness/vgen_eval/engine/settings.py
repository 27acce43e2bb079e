"""What a user asks of a run: the options of `evaluate`, the CLI and `--config run.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from vgen_eval.types import AnswerForm

__all__ = ["Settings"]

Count = Annotated[int, msgspec.Meta(ge=1)]
Dollars = Annotated[float, msgspec.Meta(gt=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Failure = Literal[
    "error",
    "timeout",
    "judge_error",
    "bad_sample",
    "refused",
    "no_answer",
    "undecodable",
    "missing",
]


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request to run tasks with models."""

    tasks: Annotated[tuple[str, ...], _doc("Names, globs, card files, suite:NAME, or all.")] = ()
    models: Annotated[tuple[str, ...], _doc("Names of models or adapters, or card files.")] = ()
    model_args: Annotated[Mapping[str, Any], _doc("Options of the adapter (-M).")] = {}
    set: Annotated[
        Mapping[str, Any], _doc("Card overrides: generation.seed, protocol.x, judge.x.")
    ] = {}
    judge: Annotated[
        str | None, _doc("Model that judges, where answers are judged, over the card's.")
    ] = None
    answer: Annotated[
        AnswerForm | None, _doc("Answer form to use instead of the first that fits.")
    ] = None
    prompt: Annotated[tuple[str, ...], _doc("Prompt variants: short, mid, long.")] = ()
    samples: Annotated[tuple[str, ...], _doc("Ids of the samples to run.")] = ()
    limit: Annotated[Count | None, _doc("At most so many samples a task.")] = None
    attempts: Annotated[Count | None, _doc("Repeats of each sample.")] = None
    batch_size: Annotated[Count | None, _doc("Requests a call at most.")] = None
    device: Annotated[str | None, _doc("Device for local models: cpu, cuda, mps.")] = None
    workers: Annotated[Count | None, _doc("Threads that load and score.")] = None
    data_root: Annotated[str | None, _doc("Folder of the data sets (else $VGEN_DATA).")] = None
    output: Annotated[str, _doc("Results folder.")] = "results"
    keep: Annotated[
        Literal["all", "failed", "none"], _doc("Which raw answers stay on disk once scored.")
    ] = "all"
    fresh: Annotated[bool, _doc("Start another run, which asks everything anew.")] = False
    retry_failed: Annotated[
        tuple[Failure, ...], _doc("Kinds of failed attempts to run again.")
    ] = ()
    fail_over: Annotated[
        Share | None, _doc("Share of failed attempts above which the exit code is 1.")
    ] = None
    max_calls: Annotated[
        Count | None, _doc("Model calls at most, tries counted; then the run stops.")
    ] = None
    max_tokens: Annotated[
        Count | None, _doc("Tokens at most, read and written; then the run stops.")
    ] = None
    max_cost: Annotated[Dollars | None, _doc("US dollars at most; then the run stops.")] = None
    allow_host: Annotated[
        tuple[str, ...], _doc("Hosts that model cards of plugins and files may send a key to.")
    ] = ()
    allow_env: Annotated[
        bool, _doc("May model cards of plugins and files build an environment and run it?")
    ] = False
    bounds: Annotated[bool, _doc("Run ceiling and floor beside the models.")] = True
