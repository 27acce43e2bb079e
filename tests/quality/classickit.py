"""A regression of BRISQUE that is small enough to reckon by hand, in OpenCV's two files."""

from __future__ import annotations

from pathlib import Path

MODEL = """%YAML:1.0
---
opencv_ml_svm:
   format: 3
   svmType: {svm}
   kernel:
      type: {kernel}
      gamma: 0.5
   C: 1024.
   var_count: 36
   sv_total: 2
   support_vectors:
      - [ {first} ]
      - [ {second} ]
   decision_functions:
      -
         sv_count: 2
         rho: -40.
         alpha: [ {alpha} ]
"""
RANGES = """%YAML:1.0
---
range: !!opencv-matrix
   rows: 2
   cols: 36
   dt: f
   data: [ {data} ]
"""


def write_files(folder: Path, **changes: str) -> tuple[Path, Path]:
    numbers = ", ".join(["0."] * 36)
    words = {
        "svm": "EPS_SVR", "kernel": "RBF", "first": numbers, "second": numbers.replace("0.", "0.1"),
        "alpha": "3., -1.5", "data": ", ".join(["-2."] * 36 + ["4."] * 36), **changes,
    }  # fmt: skip
    model, ranges = folder / "model.yml", folder / "range.yml"
    model.write_text(MODEL.format_map(words))
    ranges.write_text(RANGES.format_map(words))
    return model, ranges
