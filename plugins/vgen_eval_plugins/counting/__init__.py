"""Counting: how many things of a kind a picture shows."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.counting"

DECODERS = {
    "red_dots": f"{_HERE}.red_dots:RedDots",
    "components": f"{_HERE}.components:Components",
    "count_text": f"{_HERE}.decoders:CountText",
    "points": f"{_HERE}.decoders:Points",
    "zero_count": f"{_HERE}.decoders:ZeroCount",
}
ENCODERS = {
    "red_dots": f"{_HERE}.encoders:RedDotsEncoder",
    "components": f"{_HERE}.encoders:ComponentsEncoder",
    "count_text": f"{_HERE}.encoders:CountTextEncoder",
    "points": f"{_HERE}.encoders:PointsEncoder",
}
METRICS = {"count_error": f"{_HERE}.metrics:CountError"}
VIEWS = {"count": f"{_HERE}.view:CountView"}
