"""Semantic segmentation: which class every pixel belongs to."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.semantic"

DECODERS = {
    "nearest_colour": f"{_HERE}.nearest_colour:NearestColour",
    "label_map": f"{_HERE}.native_labels:NativeLabels",
    "void_labels": f"{_HERE}.native_labels:VoidLabels",
}
ENCODERS = {
    "nearest_colour": f"{_HERE}.encoders:NearestColourEncoder",
    "label_map": f"{_HERE}.encoders:NativeLabelsEncoder",
}
METRICS = {
    "label_iou": f"{_HERE}.metrics:LabelIoU",
    "label_f1": f"{_HERE}.f1:LabelF1",
}
VIEWS = {"labels": f"{_HERE}.view:LabelsView"}
