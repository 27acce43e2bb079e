"""The one way to read and write pictures, depth, normals, masks and labels."""

from __future__ import annotations

from vgen_eval.imaging.arrays import load_array, squeeze
from vgen_eval.imaging.decode import WHITE, Colour, decode_image, read_image
from vgen_eval.imaging.depth import decode_depth
from vgen_eval.imaging.exr import load_exr_library
from vgen_eval.imaging.geometry import Box, Fit, Geometry, prepare_image
from vgen_eval.imaging.image import Image, encode_png
from vgen_eval.imaging.labels import decode_labels
from vgen_eval.imaging.limits import (
    MAX_BYTES,
    MAX_PIXELS,
    MAX_UNPACKED,
    check_bytes,
    check_pixels,
    read_bytes,
)
from vgen_eval.imaging.masks import decode_mask, to_bool
from vgen_eval.imaging.normals import decode_normals
from vgen_eval.imaging.recompress import recompress
from vgen_eval.imaging.resize import Kind, resize

__all__ = [
    "MAX_BYTES",
    "MAX_PIXELS",
    "MAX_UNPACKED",
    "WHITE",
    "Box",
    "Colour",
    "Fit",
    "Geometry",
    "Image",
    "Kind",
    "check_bytes",
    "check_pixels",
    "decode_depth",
    "decode_image",
    "decode_labels",
    "decode_mask",
    "decode_normals",
    "encode_png",
    "load_array",
    "load_exr_library",
    "prepare_image",
    "read_bytes",
    "read_image",
    "recompress",
    "resize",
    "squeeze",
    "to_bool",
]
