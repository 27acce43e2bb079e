"""Depth: how far away what every pixel shows is, up to scale and shift or in metres."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.depth"

DECODERS = {
    "luminance": f"{_HERE}.luminance:Luminance",
    "depth_colours": f"{_HERE}.colours:DepthColours",
    "depth_map": f"{_HERE}.native_map:NativeDepth",
    "constant_depth": f"{_HERE}.native_map:ConstantDepth",
}
ENCODERS = {
    "luminance_depth": f"{_HERE}.encoders:LuminanceDepthEncoder",
    "luminance_disparity": f"{_HERE}.encoders:LuminanceDisparityEncoder",
    "depth_colours": f"{_HERE}.encoders:DepthColoursEncoder",
    "depth_map": f"{_HERE}.encoders:DepthMapEncoder",
}
METRICS = {"affine_depth": f"{_HERE}.metrics:AffineDepth"}
VIEWS = {"depth": f"{_HERE}.view:DepthView"}
