"""Prompts: {field} in a template filled from a sample, in one pass and by name only."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vgen_eval.errors import BadSample, nearest

__all__ = ["fill", "placeholders"]

# first that matches: a literal brace, a field, a brace that is neither
_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


def placeholders(template: str) -> set[str]:
    """The fields that a template names; ValueError, with the place, when it is malformed."""
    names = set()
    for match in _TOKEN.finditer(template):
        if match.group(1) is not None:
            names.add(match.group(1))
        elif match.group() in ("{", "}"):
            raise ValueError(_complaint(template, match.start()))
    return names


def fill(template: str, fields: Mapping[str, str]) -> str:
    """The template with {name} replaced by the sample's field, {{ and }} by one brace.

    Values are put in as they are: braces, percent signs, quotes and newlines in data are data.
    BadSample for a field that the sample does not have; ValueError for a malformed template.
    """

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            if match.group() in ("{", "}"):
                raise ValueError(_complaint(template, match.start()))
            return match.group()[0]
        if name not in fields:
            raise BadSample(
                f"the prompt names the field {name!r}, which the sample does not have."
                f"{nearest(name, fields)}",
                cure=f"the sample has: {', '.join(sorted(fields)) or 'no fields'}",
            )
        return str(fields[name])

    return _TOKEN.sub(replace, template)


def _complaint(template: str, at: int) -> str:
    near = template[max(at - 15, 0) : at + 15]
    return (
        f"lone {template[at]!r} at character {at + 1}, near {near!r}: write {{name}} for a field"
        " and {{ or }} for a brace"
    )
