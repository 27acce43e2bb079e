"""Lets torchvision be imported beside a torch that its compiled part was not built for."""

from __future__ import annotations

__all__ = ["mend_torchvision"]

SIGNATURES = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_kept: list[object] = []
"""What torch registers lives as long as its library object."""


def mend_torchvision() -> None:
    """Declares the operators that torchvision's Python code looks for, where they are missing.

    PyPI's torchvision is built for PyPI's torch; beside a CPU build of torch its compiled part
    does not load and `import torchvision` fails. Image processors never call those operators, so
    a declaration is enough. To be called before the first import of torchvision; for stand-ins
    and tests, never for a model that is measured.
    """
    import torch

    if _kept or hasattr(torch.ops.torchvision, "nms"):
        return
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        pass
    else:
        return
    library = torch.library.Library("torchvision", "DEF")
    for signature in SIGNATURES:
        library.define(signature)
    _kept.append(library)
