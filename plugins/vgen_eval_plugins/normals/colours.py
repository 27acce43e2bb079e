"""The colours that a normal map has under a frame, in words that prompts can use."""

from __future__ import annotations

from vgen_eval_plugins.normals.frames import Frame

__all__ = ["describe_channels", "describe_colours"]

# (channel, sign) -> what a surface that faces exactly along it is painted
_COLOURS = {
    (0, 1): "pinkish red (255, 128, 128)",
    (0, -1): "teal (0, 128, 128)",
    (1, 1): "light green (128, 255, 128)",
    (1, -1): "purple (128, 0, 128)",
    (2, 1): "light blue (128, 128, 255)",
    (2, -1): "olive (128, 128, 0)",
}

_FACING = (
    ("facing the camera", 2, 1),
    ("facing right", 0, 1),
    ("facing left", 0, -1),
    ("facing up", 1, 1),
    ("facing down", 1, -1),
)
"""What can be seen, as house axis and direction: a surface that faces away cannot."""

_CHANNELS = ("R", "G", "B")
_ENDS = {
    "right": ("left", "right"),
    "left": ("right", "left"),
    "up": ("down", "up"),
    "down": ("up", "down"),
    "toward": ("away from the camera", "toward the camera"),
    "away": ("toward the camera", "away from the camera"),
}


def describe_colours(frame: Frame) -> str:
    """ "facing the camera light blue (128, 128, 255), facing right ..." """
    parts = []
    for words, axis, direction in _FACING:
        channel, sign = frame.component(axis)
        parts.append(f"{words} {_COLOURS[channel, sign * direction]}")
    return ", ".join(parts)


def describe_channels(frame: Frame) -> str:
    """ "R runs from 0 (facing left) to 255 (facing right), G ..." """
    parts = []
    for name, word in zip(_CHANNELS, frame.words, strict=True):
        low, high = _ENDS[word]
        parts.append(f"{name} runs from 0 (facing {low}) to 255 (facing {high})")
    return ", ".join(parts)
