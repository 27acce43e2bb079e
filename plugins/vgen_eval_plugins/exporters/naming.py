"""Names and texts that leave this machine: portable, without keys and absolute paths."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vgen_eval import jsonio
from vgen_eval.secrets import redact

if TYPE_CHECKING:
    from vgen_eval.results.card import ResultCard

__all__ = ["component", "details", "finished", "run_uuid", "scrub", "subset_of", "text_of"]

LONGEST = 120
"""Bytes of a folder's name at most: file systems end at 255, and a suffix may follow."""

_NOT_PORTABLE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_PORTS = (f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10))
_DEVICES = {"CON", "PRN", "AUX", "NUL", *_PORTS}
"""What Windows takes for a device, whatever follows the first dot."""

_ABSOLUTE = re.compile(
    r"(?:file://|(?<![\w:/.~\\])~?(?=/))(?:/[^/\s'\"<>|:;,()\[\]{}]+){2,}/?"
    r"|(?<![A-Za-z])[A-Za-z]:\\[^\s'\"<>|,;]+"
)
"""/home/name/file, ~/folder/file, file:///..., C:\\...; a lone /word or a URL's path is none."""

_NAMESPACE = uuid.UUID("9a8b1f6e-6c1b-5d55-9c3f-0f6b7f5c6a11")


def component(text: str) -> str:
    """The text as the name of one file or folder, the same on every system: `a/b` is `a_b`."""
    name = _NOT_PORTABLE.sub("_", text.strip()).encode()[:LONGEST].decode("utf-8", "ignore")
    name = name.rstrip(". ").lstrip(".")
    if not name:
        return "_"
    return f"{name}_" if name.partition(".")[0].upper() in _DEVICES else name


def run_uuid(run: str, *, owner: str) -> str:
    """The same identifier for the same run of the same owner, in the form of a version 4 UUID.

    It is made from the names (uuid5); the bits that say so are those of version 4, since the
    format's readers take no other.
    """
    return str(uuid.UUID(bytes=uuid.uuid5(_NAMESPACE, f"{owner}\n{run}").bytes, version=4))


def scrub(value: Any) -> Any:
    """The JSON value without keys, and with `.../name` in place of absolute paths."""
    if isinstance(value, str):
        return _ABSOLUTE.sub(_shorten, redact(value))
    if isinstance(value, Mapping):
        return {scrub(key): scrub(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [scrub(entry) for entry in value]
    return value


def _shorten(path: re.Match[str]) -> str:
    name = path[0].rstrip("/").replace("\\", "/").rpartition("/")[2]
    return f".../{name}"


def text_of(value: Any) -> str:
    """A JSON value as text: texts as they are, the others as JSON."""
    return value if isinstance(value, str) else jsonio.canonical(value).decode()


def details(facts: Mapping[str, Any]) -> dict[str, str]:
    """The facts as texts, those that are not known left out."""
    return {key: text_of(scrub(value)) for key, value in facts.items() if value is not None}


def finished(card: ResultCard) -> datetime | None:
    """When the run ended; None where its card does not say."""
    try:
        return datetime.fromisoformat(str(card.volatile.get("finished")))
    except ValueError:
        return None


def subset_of(card: ResultCard) -> str | None:
    """ "50 of 654 samples" where the run is of a part of what its protocol asks for."""
    chosen = card.selection
    rule, sampling = chosen.get("rule"), card.protocol_info.get("sampling", {})
    if rule == "all" or not isinstance(rule, Mapping):
        return None
    own = {key: sampling.get(key) for key in ("limit", "unit", "seed")}
    if rule in (own, {"unit": own["unit"]}):
        return None
    return f"{chosen.get('samples'):,} of {chosen.get('of'):,} samples"
