"""What a call that raised came to: a status, a kind for counting, and a reason in words."""

from __future__ import annotations

from vgen_eval.answers import clean
from vgen_eval.errors import NoPrediction, Refused
from vgen_eval.types import Status
from vgen_eval.wording import is_opencv, message

__all__ = ["describe"]


def describe(fault: BaseException | None) -> tuple[Status, str, str]:
    """Status, kind and reason, on one line without keys; None: no output came, and no fault."""
    if fault is None:
        return "error", "NoOutput", "the adapter gave no output for this request"
    kind = type(fault).__name__
    reason = _words(fault) or kind
    if isinstance(fault, Refused):
        return "refused", kind, reason
    if isinstance(fault, NoPrediction):
        return "missing", kind, reason
    if isinstance(fault, TimeoutError):
        return "timeout", kind, reason
    if reason == kind:
        return "error", kind, kind
    return "error", kind, reason if is_opencv(fault) else f"{kind}: {reason}"


def _words(fault: BaseException) -> str:
    """The message on one line; anyone's exception, so it may even fail to be written."""
    try:
        return clean(message(fault))[:500]  # cut last: half a key is none to `clean`
    except Exception as exc:
        return f"(its message raised {type(exc).__name__})"
