"""A table as LaTeX, for the package booktabs."""

from __future__ import annotations

import unicodedata

from vgen_eval.results.tables import spelling
from vgen_eval.results.tables.record import Cell, Head, Table

__all__ = ["escape", "render_latex"]

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "[": "{[}", "]": "{]}",  # a row that starts with one would be taken for an option of \\
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "†": r"$\dagger$", "‡": r"$\ddagger$",
    "§": r"\S{}",
}  # fmt: skip
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def render_latex(table: Table, *, intervals: bool = True) -> str:
    r"""A table environment: \caption and \label are the paper's to fill in.

    Every column is set right; the best is bold; ceilings and floors stand below a rule.
    """
    places = spelling.all_decimals(table)
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(' '.join(spelling.caption(table, intervals=intervals)))}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.cols)}}}",
        r"\toprule",
        *_heads(table),
        r"\midrule",
    ]
    for number, section in enumerate(spelling.sections(table)):
        if number:
            lines.append(r"\midrule")
        for at in section:
            row = table.rows[at]
            cells = [
                "" if cell is None else _cell(table, row, col, cell, places[at][place], intervals)
                for place, (col, cell) in enumerate(zip(table.cols, table.cells[at], strict=True))
            ]
            lines.append(
                _line([escape(", ".join(spelling.head_lines(row, table.rows_by))), *cells])
            )
    lines += [r"\bottomrule", r"\end{tabular}"]
    for note in table.notes:
        mark = rf"\textsuperscript{{{escape(note.mark)}}} " if note.mark else ""
        lines += ["", rf"{{\footnotesize {mark}{escape(note.text)}\par}}"]
    return "\n".join([*lines, r"\end{table}", ""])


def escape(text: str) -> str:
    """Any text, as LaTeX sets it on one line."""
    line = " ".join(text.split())
    return "".join(
        _ESCAPES.get(char, char) for char in line if unicodedata.category(char) not in _HIDDEN
    )


def _heads(table: Table) -> list[str]:
    """The heads' lines, one below the other, set flush to the top; tasks above their columns."""
    groups = spelling.groups(table.cols, table.cols_by)
    grouped = groups[0][0] is not None
    columns = [spelling.head_lines(head, table.cols_by, grouped=grouped) for head in table.cols]
    deepest = max(map(len, columns), default=0)
    names = escape(" / ".join(table.rows_by))
    lines = []
    if grouped:
        above = [rf"\multicolumn{{{len(g)}}}{{c}}{{{escape(title or '')}}}" for title, g in groups]
        rules = [rf"\cmidrule(lr){{{g[0] + 2}-{g[-1] + 2}}}" for _, g in groups]
        lines = [_line(["", *above]), " ".join(rules)]
    for at in range(deepest):
        cells = [escape(column[at]) if at < len(column) else "" for column in columns]
        lines.append(_line([names if at == 0 else "", *cells]))
    return lines


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(
    table: Table, row: Head, col: Head, cell: Cell, places: int | None, intervals: bool
) -> str:
    shown = "--" if cell.value is None else _number(spelling.number(cell.value, places))
    text = rf"\textbf{{{shown}}}" if cell.best else shown
    found = spelling.marks(cell)
    if found:
        text += rf"\textsuperscript{{{escape(','.join(found))}}}"
    between = spelling.interval(cell, places) if intervals else ""
    if between:
        text += rf" {{\scriptsize {_number(escape(between))}}}"
    return escape(spelling.own_measure(table, row, col, cell)) + text


def _number(text: str) -> str:
    """With signs as mathematics sets them."""
    return text.replace("-", "$-$")
