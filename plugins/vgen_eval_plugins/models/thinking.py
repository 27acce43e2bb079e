"""Thinking traces, kept apart from the answer they lead to."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Thought", "is_open", "split_thinking"]


class Thought(NamedTuple):
    """A model's output in two."""

    answer: str | None
    """What follows the trace; None when the trace did not end."""
    thinking: str | None
    """The trace; None when there is none."""


def is_open(text: str, tags: tuple[str, str]) -> bool:
    """Does the text, a prompt, end within a trace that its template has begun?"""
    opening, closing = tags
    return text.rfind(opening) > text.rfind(closing)


def split_thinking(text: str, tags: tuple[str, str], *, opened: bool) -> Thought:
    """The output's traces, joined, and what stands outside them.

    opened: the prompt ends within a trace already, so that the output holds only its end. A
    closing tag without an opening one ends a trace in any case.
    """
    opening, closing = tags
    before, found, _ = text.partition(closing)
    opened = opened or (bool(found) and opening not in before)
    outside: list[str] = []
    traces: list[str] = []
    left = text
    while left or opened:
        if not opened:
            plain, found, left = left.partition(opening)
            outside.append(plain)
            opened = bool(found)
            continue
        trace, found, left = left.partition(closing)
        traces.append(trace.strip())
        opened = False
        if not found:
            return Thought(None, _join(traces))
    return Thought("".join(outside).strip(), _join(traces))


def _join(traces: list[str]) -> str | None:
    kept = [trace for trace in traces if trace]
    return "\n\n".join(kept) or None
