"""A plugin of vgen-eval: the names it offers, and where the objects behind them are.

The hooks return strings, so that a run imports only the modules it uses.
"""

from __future__ import annotations

from collections.abc import Mapping

from vgen_eval.hookspecs import hookimpl


@hookimpl
def vgen_adapters() -> Mapping[str, str]:
    """What drives `mymodel`."""
    return {"colour_rules": "plugin_example.model:ColourRules"}


@hookimpl
def vgen_datasets() -> Mapping[str, str]:
    """What reads the data of `mytask`."""
    return {"ramps": "plugin_example.data:Ramps"}


@hookimpl
def vgen_decoders() -> Mapping[str, str]:
    """What reads a brightness off an answer, and the one that stands for a failure."""
    return {
        "mean_luma": "plugin_example.grey:MeanLuma",
        "middle_grey": "plugin_example.grey:MiddleGrey",
    }


@hookimpl
def vgen_encoders() -> Mapping[str, str]:
    """What paints the answer that a perfect model would give."""
    return {"flat_grey": "plugin_example.grey:FlatGrey"}


@hookimpl
def vgen_metrics() -> Mapping[str, str]:
    """What compares two brightnesses."""
    return {"luma_error": "plugin_example.metric:LumaError"}


@hookimpl
def vgen_views() -> Mapping[str, str]:
    """What the viewer shows of a sample, by what its metric measures."""
    return {"brightness": "plugin_example.view:BrightnessView"}
