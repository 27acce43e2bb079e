"""A reproduced table in words, whatever it is written as; here as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from vgen_eval.results.tables.latex import escape as latex
from vgen_eval.results.tables.markdown import escape as markdown

__all__ = ["Listing", "Sheet", "blank_repeats", "render_latex", "render_markdown"]

NUMBERS = re.compile(r"[-+.,\d\[\] ]*\d[-+.,\d\[\] ]*")


class Listing(msgspec.Struct, frozen=True):
    """Facts below a table, under a line that says of what."""

    head: str
    facts: tuple[tuple[str, ...], ...] = ()
    """The name of each, then what is to be said of it."""


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """Rows under their heads, and what stands above and below them."""

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: str
    """ "r" at the place of each column that is set flush right."""
    groups: int = 2
    """Columns at the left whose text holds for the rows below too."""
    notes: tuple[str, ...] = ()
    """What numbers in brackets in the rows stand for."""
    listings: tuple[Listing, ...] = ()
    remarks: tuple[str, ...] = ()


def blank_repeats(sheet: Sheet) -> list[list[str]]:
    """The rows, without what stands in the row above already."""
    found = []
    before: Sequence[str] = ()
    for row in sheet.rows:
        shown = list(row)
        for at in range(sheet.groups):
            if row[: at + 1] != before[: at + 1]:
                break
            shown[at] = ""
        found.append(shown)
        before = row
    return found


def render_markdown(sheet: Sheet) -> str:
    """The table, its notes as a list, what runs depart in, source and counts."""
    lines = [f"**{markdown(sheet.name)}** {markdown(sheet.title)}", ""]
    if sheet.rows:
        lines.append(_markdown_row(sheet.head))
        lines.append(_markdown_row([_rule(sheet, at) for at in range(len(sheet.head))]))
        lines += [_markdown_row(list(map(markdown, row))) for row in sheet.rows]
        lines.append("")
    lines += [f"- {markdown(note)}" for note in sheet.notes]
    lines += [""] if sheet.notes else []
    for listing in sheet.listings:
        lines += [markdown(listing.head), ""]
        lines += [f"- {markdown(', '.join(fact))}" for fact in listing.facts]
        lines += [""] if listing.facts else []
    for remark in sheet.remarks:
        lines += [markdown(remark), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _rule(sheet: Sheet, at: int) -> str:
    return "---:" if sheet.right[at : at + 1] == "r" else "---"


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def render_latex(sheet: Sheet) -> str:
    """A table environment for booktabs; notes and what runs depart in stand below in small type."""
    spec = "".join("r" if sheet.right[at : at + 1] == "r" else "l" for at in range(len(sheet.head)))
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(f'{sheet.name}: {sheet.title}')}}}",
    ]
    if sheet.rows:
        lines += [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", _latex_row(sheet.head), r"\midrule"]
        lines += map(_latex_row, blank_repeats(sheet))
        lines += [r"\bottomrule", r"\end{tabular}"]
    for text in _below(sheet):
        lines += ["", rf"{{\footnotesize {latex(text)}\par}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def _below(sheet: Sheet) -> Iterator[str]:
    yield from sheet.notes
    for listing in sheet.listings:
        facts = "; ".join(", ".join(fact) for fact in listing.facts)
        yield f"{listing.head}: {facts}" if facts else listing.head
    yield from sheet.remarks


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(text: str) -> str:
    """Signs as mathematics sets them, where it is numbers alone."""
    if text == "-":
        return "--"
    if NUMBERS.fullmatch(text):
        return latex(text).replace("-", "$-$").replace("+", "$+$")
    return latex(text)
