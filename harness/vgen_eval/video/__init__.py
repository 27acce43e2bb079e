"""The one way to read and write video: frames with their exact times, sheets for people, H.264.

Needs the extra `video` (PyAV), which is imported when a clip is opened.
"""

from __future__ import annotations

from vgen_eval.video.clips import Clip, Frame, Limits
from vgen_eval.video.containers import name_container
from vgen_eval.video.library import load_av
from vgen_eval.video.strip import draw_sheet, spread_times, write_animation
from vgen_eval.video.writing import write_mp4

__all__ = [
    "Clip",
    "Frame",
    "Limits",
    "draw_sheet",
    "load_av",
    "name_container",
    "spread_times",
    "write_animation",
    "write_mp4",
]
