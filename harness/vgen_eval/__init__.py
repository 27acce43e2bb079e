"""vgen-eval: measures how well generative and multimodal models see.

    from vgen_eval import evaluate
    cards = evaluate(tasks="all", model="classical")

Names are loaded when they are first used: importing the package loads no numpy and no plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval._version import __version__

if TYPE_CHECKING:
    from vgen_eval.adapters import BaseAdapter
    from vgen_eval.engine.evaluate import Results, evaluate
    from vgen_eval.errors import (
        BadSample,
        MissingData,
        MissingExtra,
        MissingKey,
        NotRunnable,
        NoValidTarget,
        RateLimited,
        Refused,
        Transient,
        Undecodable,
        VgenEvalError,
    )
    from vgen_eval.hookspecs import hookimpl
    from vgen_eval.imaging import Image
    from vgen_eval.results.card import ResultCard
    from vgen_eval.scoring import SumMetric
    from vgen_eval.types import (
        Item,
        NoOptions,
        Output,
        Prediction,
        Request,
        Sample,
        Scene,
        Usage,
        Value,
    )

_HOMES = {
    "adapters": ("BaseAdapter",),
    "engine.evaluate": ("Results", "evaluate"),
    "errors": (
        "BadSample", "MissingData", "MissingExtra", "MissingKey", "NoValidTarget", "NotRunnable",
        "RateLimited", "Refused", "Transient", "Undecodable", "VgenEvalError",
    ),
    "hookspecs": ("hookimpl",),
    "imaging": ("Image",),
    "results.card": ("ResultCard",),
    "scoring": ("SumMetric",),
    "types": (
        "Item", "NoOptions", "Output", "Prediction", "Request", "Sample", "Scene", "Usage", "Value",
    ),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "BadSample",
    "BaseAdapter",
    "Image",
    "Item",
    "MissingData",
    "MissingExtra",
    "MissingKey",
    "NoOptions",
    "NoValidTarget",
    "NotRunnable",
    "Output",
    "Prediction",
    "RateLimited",
    "Refused",
    "Request",
    "ResultCard",
    "Results",
    "Sample",
    "Scene",
    "SumMetric",
    "Transient",
    "Undecodable",
    "Usage",
    "Value",
    "VgenEvalError",
    "__version__",
    "evaluate",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'vgen_eval' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"vgen_eval.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
