"""Description: words for what a picture looks like (Q-Bench A2)."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.quality.description"

DECODERS = {
    "words": "vgen_eval_plugins.quality.words:Words",
    "no_description": f"{_HERE}.parts:NoDescription",
}
ENCODERS = {"golden_text": f"{_HERE}.parts:GoldenTextEncoder"}
METRICS = {"description": f"{_HERE}.metric:Description"}
JUDGES = {"description_grader": f"{_HERE}.grader:DescriptionGrader"}
VIEWS = {"description": f"{_HERE}.view:DescriptionView"}
