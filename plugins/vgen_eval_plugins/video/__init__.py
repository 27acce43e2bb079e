"""Video: clips as answers; puzzles that are checked exactly; reasoning that a judge looks at."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.video"

DECODERS = {
    "clip": f"{_HERE}.clip_decoder:ClipDecoder",
    "no_clip": f"{_HERE}.clip_decoder:NoClip",
}
VIEWS = {"clip": f"{_HERE}.view:ClipView"}
