"""Assessment: one number for how good a picture looks (Q-Bench A3)."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.quality.assessment"

DECODERS = {
    "word_probability": f"{_HERE}.words:WordProbability",
    "rating": f"{_HERE}.rating:Rating",
    "grey_level": f"{_HERE}.painted:GreyLevel",
    "bar_length": f"{_HERE}.painted:BarLength",
    "no_quality": f"{_HERE}.failures:NoQuality",
    "constant_quality": f"{_HERE}.failures:ConstantQuality",
}
ENCODERS = {
    "word_probability": f"{_HERE}.encoders:WordProbabilityEncoder",
    "rating": f"{_HERE}.rating:RatingEncoder",
    "grey_level": f"{_HERE}.encoders:GreyLevelEncoder",
    "bar_length": f"{_HERE}.encoders:BarLengthEncoder",
}
METRICS = {"correlation": f"{_HERE}.correlation:Correlation"}
IMPORTERS = {
    "qbench-raw": f"{_HERE}.raw:QBenchRaw",
}
VIEWS = {"quality": f"{_HERE}.view:QualityView"}
