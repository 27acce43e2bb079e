"""Classic measures of quality: with a reference (PSNR, SSIM) and without (NIQE, BRISQUE)."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.quality.classic"

ADAPTERS = {"classic_quality": f"{_HERE}.adapter:ClassicQuality"}
