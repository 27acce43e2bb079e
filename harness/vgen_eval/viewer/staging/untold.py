"""What an attempt's lines say that none of its panes shows: each fact stands once on a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vgen_eval.viewing import Bars, Film, Words

if TYPE_CHECKING:
    from vgen_eval.viewer.looking import Look

__all__ = ["explain_value", "leading_values", "untold_replies", "untold_summary"]

SHORT = 3
"""Letters of a text up to which it may stand within a word by chance."""
FEW = 3
"""What is left of a group of facts up to which each stands by itself."""
LEADING = 6
"""Values that stand open."""
SHARE = re.compile(r"(?:^|[._])p([0-9])$")
TITLES = {
    "dropped": "rounds whose reply could not be read",
    "votes": "votes, round by round",
    "mass": "probability of the words of either side",
}
"""Names of a summary whose word alone says too little."""


def untold_summary(look: Look) -> dict[str, Any]:
    """Name, as it is to be read -> value, of the decoder's summary."""
    summary = look.facts.get("summary")
    if not isinstance(summary, Mapping):
        return {}
    names, texts = _told(look)
    if not names and not texts:  # a view failed, or there is none
        return dict(summary)
    return _untold(summary, names, texts)


def _untold(summary: Mapping[str, Any], names: set[str], texts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in summary.items():
        rest = _untold(value, names, texts) if isinstance(value, Mapping) else value
        if _is_named(name, names) or _is_told(value, texts) or not _says(rest):
            continue
        title = TITLES.get(name, name.replace("_", " "))
        if isinstance(rest, Mapping) and rest is not value and len(rest) <= FEW:
            found |= {f"{title}, {key}": one for key, one in rest.items()}
        else:
            found[title] = rest
    return found


def untold_replies(look: Look) -> list[Mapping[str, Any]]:
    """Replies of a judge, where no view tells what they came to."""
    for shown in look.panes:
        body = shown.pane.body
        if shown.pane.role not in ("input", "answer", "target") and isinstance(body, Words | Film):
            return []
    return list(look.judgements)


def leading_values(
    values: Mapping[str, Any], primary: str
) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The primary and what is of its metric, then the rest, which a page may fold away."""
    label = primary.rpartition(".")[0]

    def place(entry: tuple[str, Any]) -> int:
        name = entry[0]
        if name == primary:
            return 0
        return 1 if name.rpartition(".")[0] == label and not explain_value(name) else 2

    ordered = sorted(values.items(), key=place)
    cut = len(ordered) if len(ordered) <= LEADING + 2 else LEADING
    return ordered[:cut], ordered[cut:]


def explain_value(name: str) -> str:
    """What a value's short name means; "" where it says so itself."""
    found = SHARE.search(name)
    return f"share of rounds with {found[1]}" if found else ""


def _told(look: Look) -> tuple[set[str], list[str]]:
    """Names that views give facts, and what they say; inputs and the raw answer aside."""
    names: set[str] = set()
    texts: list[str] = []
    for shown in look.panes:
        body = shown.pane.body
        if shown.pane.role in ("input", "answer"):
            continue
        if isinstance(body, Words):
            names |= {_plain(name) for name, _ in body.facts}
            texts += [body.text, *(value for _, value in body.facts)]
        elif isinstance(body, Bars):
            names |= {_plain(bar.label) for bar in body.bars}
            names |= {_plain(shown.pane.title)}
        else:
            continue
        texts.append(shown.pane.note)
    return names, [text.strip() for text in texts if text and text.strip()]


def _plain(name: object) -> str:
    return str(name).replace("_", " ").strip().lower()


def _is_named(name: str, names: set[str]) -> bool:
    """Has a fact this name, or one that says more: "mass" and "mass for good"?"""
    plain = _plain(name)
    return any(told == plain or told.startswith(f"{plain} ") for told in names)


def _is_told(value: Any, texts: list[str]) -> bool:
    if not isinstance(value, str):
        return False
    wanted = value.strip()
    if len(wanted) <= SHORT:
        whole = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
        return any(whole.search(text) for text in texts)
    return any(wanted in text for text in texts)


def _says(value: Any) -> bool:
    """Is it anything? Zeros of all kinds of a count are not."""
    if isinstance(value, Mapping):
        return any(_says(one) for one in value.values())
    return bool(value) or isinstance(value, (bool, float))
