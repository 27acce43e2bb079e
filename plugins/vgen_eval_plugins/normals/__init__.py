"""Surface normals: which way every visible surface faces."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.normals"

DECODERS = {
    "rgb_normals": f"{_HERE}.rgb_normals:RgbNormals",
    "normal_map": f"{_HERE}.native_map:NormalMap",
    "facing_normals": f"{_HERE}.native_map:FacingNormals",
}
ENCODERS = {
    "rgb_normals": f"{_HERE}.encoders:RgbNormalsEncoder",
    "normal_map": f"{_HERE}.encoders:NormalMapEncoder",
}
METRICS = {"angular_error": f"{_HERE}.metrics:AngularError"}
VIEWS = {"normals": f"{_HERE}.view:NormalsView"}
