"""Referring segmentation: which pixels belong to the thing that a phrase names."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.segmentation"

DECODERS = {
    "binary_mask": f"{_HERE}.binary_mask:BinaryMask",
    "mask": f"{_HERE}.native_mask:NativeMask",
    "empty_mask": f"{_HERE}.native_mask:EmptyMask",
}
ENCODERS = {
    "binary_mask": f"{_HERE}.encoders:BinaryMaskEncoder",
    "mask": f"{_HERE}.encoders:MaskEncoder",
}
METRICS = {"mask_iou": f"{_HERE}.metrics:MaskIoU"}
VIEWS = {"mask": f"{_HERE}.view:MaskView"}
