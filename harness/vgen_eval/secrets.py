"""Keys: read from the environment alone, and cut out of everything that is kept or shown."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

from vgen_eval.errors import MissingKey, UsageError

__all__ = ["read_secret", "redact"]

SHORTEST = 8
"""A value of fewer characters is a word (`none`, `EMPTY`), not a key."""

_known: dict[str, str] = {}
"""A form of a value -> what stands in its place."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Unicode lets a terminal leave out, though they are letters or marks."""
_ESCAPED_LETTERS = ("[&<>'\"+`]", "[&<>'=]", "[&<>]")
"""What writers of JSON give as its number, so that it may stand in HTML: .NET, Gson, Go."""


def read_secret(variable: str) -> str:
    """The key that an environment variable holds; MissingKey when it is not set.

    UsageError for a value that no header can carry, such as two lines. `redact` knows the key
    from then on, unless it is shorter than 8 characters.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise MissingKey(variable)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise UsageError(
            f"{variable} is no key: it holds a blank, a line break or a letter that is not ASCII",
            cure=f"export {variable}=... with the key alone",
        )
    if len(value) >= SHORTEST and value not in _known:
        for form in _forms_of(value):
            _known.setdefault(form, f"[{variable}]")
        _known[value] = f"[{variable}]"
    return value


def redact(text: str) -> str:
    """The text with each key read so far replaced by the name of its variable.

    A key is found as it is, within JSON, HTML and addresses (escaped), in base64, and where
    characters that nobody sees, or line breaks, stand between its letters. Values of fewer than 8
    characters are words, such as `none`, and are not cut.
    """
    # a copy: other threads may read one
    known = list(_known.items())
    # the longest first: one key may begin as another does
    for form, name in sorted((e for e in known if e[0] in text), key=lambda e: -len(e[0])):
        text = text.replace(form, name)
    if text.isascii() and text.isprintable():
        return text
    hidden = {char for char in set(text) if _is_hidden(char)}
    return _redact_around(text, hidden, known) if hidden else text


def _forms_of(value: str) -> Iterator[str]:
    """The value as it stands in other texts."""
    yield value
    yield repr(value)[1:-1]
    once = json.dumps(value)[1:-1]
    for escaped in (once, json.dumps(once)[1:-1]):  # JSON that holds JSON
        yield escaped
        yield escaped.replace("/", r"\/")
    yield html.escape(value)
    doubled = value.replace("\\", r"\\")
    for letters in _ESCAPED_LETTERS:
        lower = re.sub(letters, lambda at: rf"\u{ord(at[0]):04x}", doubled)
        yield lower
        yield re.sub(r"\\u00..", lambda at: rf"\u{at[0][2:].upper()}", lower)
    for safe in ("", "/"):
        quoted = quote(value, safe=safe)
        yield quoted
        yield re.sub("%..", lambda found: found[0].lower(), quoted)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(value.encode()).decode().rstrip("=")
        for before in range(3):  # within a longer text, such as `user:key`
            within = encode(b"\0" * before + value.encode()).decode().rstrip("=")
            partial = (before + len(value)) % 3 != 0  # its last letter holds bits of what follows
            yield within[(0, 2, 3)[before] : len(within) - partial]


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") or bool(_INVISIBLE.match(char))


def _redact_around(text: str, hidden: set[str], known: list[tuple[str, str]]) -> str:
    """The text without the keys that show once the hidden characters are passed over."""
    bare = text.translate(dict.fromkeys(map(ord, hidden)))
    found = {form: name for form, name in known if form in bare}
    if not found:
        return text
    places = [at for at, char in enumerate(text) if char not in hidden]
    pattern = "|".join(re.escape(form) for form in sorted(found, key=len, reverse=True))
    parts, end = [], 0
    for match in re.finditer(pattern, bare):
        parts += [text[end : places[match.start()]], found[match[0]]]
        end = places[match.end() - 1] + 1
    return "".join(parts) + text[end:]
