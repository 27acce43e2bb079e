"""A small third-party plugin for the tests of judges: words in, a panel's mark out."""

from __future__ import annotations

from collections.abc import Mapping

from vgen_eval.hookspecs import hookimpl

_PARTS = "juryroom.parts"


@hookimpl
def vgen_datasets() -> Mapping[str, str]:
    return {"scenes": f"{_PARTS}:Scenes"}


@hookimpl
def vgen_decoders() -> Mapping[str, str]:
    return {"words": f"{_PARTS}:Words", "nought": f"{_PARTS}:Nought"}


@hookimpl
def vgen_metrics() -> Mapping[str, str]:
    return {"mark": f"{_PARTS}:Mark"}


@hookimpl
def vgen_judges() -> Mapping[str, str]:
    return {"panel": f"{_PARTS}:Panel"}
