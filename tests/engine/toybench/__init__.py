"""A small third-party plugin for the tests of engine, store and results: numbers in pictures."""

from __future__ import annotations

from collections.abc import Mapping

from vgen_eval.hookspecs import hookimpl

_PARTS = "toybench.parts"


@hookimpl
def vgen_adapters() -> Mapping[str, str]:
    return {"teller": f"{_PARTS}:Teller", "service": "toybench.service:Service"}


@hookimpl
def vgen_datasets() -> Mapping[str, str]:
    return {"numbers": f"{_PARTS}:Numbers"}


@hookimpl
def vgen_decoders() -> Mapping[str, str]:
    return {
        "number": f"{_PARTS}:Number",
        "odd_only": f"{_PARTS}:OddOnly",
        "fixed": f"{_PARTS}:Fixed",
        "anything": f"{_PARTS}:Anything",
        "shifted": f"{_PARTS}:Shifted",
        "tuned": f"{_PARTS}:Tuned",
        "grid": f"{_PARTS}:Grid",
    }


@hookimpl
def vgen_encoders() -> Mapping[str, str]:
    return {"number": f"{_PARTS}:NumberEncoder", "shifted": f"{_PARTS}:ShiftedEncoder"}


@hookimpl
def vgen_metrics() -> Mapping[str, str]:
    return {
        "error": f"{_PARTS}:Error",
        "middle": f"{_PARTS}:Middle",
        "flagging": f"{_PARTS}:FlaggingError",
        "nothing": f"{_PARTS}:Nothing",
    }


@hookimpl
def vgen_judges() -> Mapping[str, str]:
    return {"votes": "toybench.jury:Votes"}
