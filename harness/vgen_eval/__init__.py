"""vgen-eval: measures how well generative and multimodal models see."""

from vgen_eval._version import __version__

__all__ = ["__version__"]
