"""What anyone's code may raise, and its reason on one line."""

from __future__ import annotations

from vgen_eval.answers import clean
from vgen_eval.errors import VgenEvalError
from vgen_eval.wording import describe

__all__ = ["ANYTHING", "say"]

LONGEST = 2000
"""Letters of a reason."""
ANYTHING = (Exception, SystemExit, KeyboardInterrupt, GeneratorExit)
"""What anyone's code may raise. Looks are made in threads of their own, where no Ctrl-C arrives."""


def say(exc: BaseException) -> str:
    """What is wrong and the cure, on one line, without keys."""
    try:
        if isinstance(exc, VgenEvalError):
            words = f"{exc.what}; {exc.cure}" if exc.cure else exc.what
            return clean(" ".join(words.split()))[:LONGEST]
        return clean(describe(exc))[:LONGEST]
    except Exception:  # what an exception says is anyone's code, too
        return type(exc).__name__
