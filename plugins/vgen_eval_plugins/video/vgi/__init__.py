"""Video reasoning by a judge, after VGI-Bench."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.video.vgi"

DECODERS = {
    "picture": f"{_HERE}.decoders:Picture",
    "vgi_failure": f"{_HERE}.decoders:VgiFailure",
}
METRICS = {
    "vgi": f"{_HERE}.metrics:Vgi",
    "vgi_success": f"{_HERE}.metrics:VgiSuccess",
    "vgi_success_of_all": f"{_HERE}.metrics:VgiSuccessOfAll",
}
JUDGES = {
    "vgi_video": f"{_HERE}.video_judge:VgiVideo",
    "vgi_image": f"{_HERE}.image_judge:VgiImage",
}
VIEWS = {"VGI verdict": f"{_HERE}.view:VgiView"}
