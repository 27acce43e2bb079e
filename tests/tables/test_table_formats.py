"""The four formats: what each holds, escaped, with floats that read back."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from tablekit import changed, find, scored
from vgen_eval.cli.table_text import table_lines
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.build import make_table
from vgen_eval.results.tables.latex import render_latex
from vgen_eval.results.tables.long_form import COLUMNS, render_csv
from vgen_eval.results.tables.markdown import render_markdown
from vgen_eval.results.tables.record import Table

HOSTILE = r"a_b|c*d$e%f\g{h}#i~j^k<l>&[m]"
PIPE = re.compile(r"(?<!\\)\|")


def of_several(counting: Run) -> Table:
    """Best, tied, without a value, incomplete, ceiling."""
    return make_table(
        [
            scored(counting, 2.0, low=1.5, high=2.5, model="a"),
            scored(counting, 2.4, low=1.9, high=3.0, model=HOSTILE),
            scored(counting, None, reason="100 % of 5_000 failed", model="c"),
            scored(counting, 12.0, low=11.0, high=13.25, model="d", complete=False),
            scored(counting, 0.0, model="e", model_info={"role": "ceiling"}),
        ]
    )


def test_csv_floats_read_back_and_nothing_is_lost(results: Path) -> None:
    table = make_table(find(results), cols=["task", "metric"])
    lines = list(csv.DictReader(io.StringIO(render_csv(table))))
    cells = [cell for _, _, cell in table.filled()]
    assert len(lines) == len(cells) > 30
    for line, cell in zip(lines, cells, strict=True):
        assert tuple(line) == COLUMNS
        for name in ("value", "low", "high"):
            number = getattr(cell, name)
            assert line[name] == ("" if number is None else repr(number))
            assert number is None or float(line[name]) == number
        assert int(line["n"]) == cell.n
        assert line["run"] == cell.run
        assert not {"nan", "inf", "-inf"} & set(line.values())


def test_csv_texts_are_no_formulas_and_negative_numbers_stay(counting: Run) -> None:
    table = make_table(
        [
            scored(counting, -1.5, low=-2.0, high=-1.0, model="=1+1"),
            scored(counting, None, reason="-\x1b[31m\nb\u202e", model="@b"),
        ]
    )
    first, second = csv.DictReader(io.StringIO(render_csv(table)))
    assert (first["model"], first["row"]) == ("'=1+1", "'=1+1")
    assert (first["value"], first["low"], first["high"]) == ("-1.5", "-2.0", "-1.0")
    assert second["model"] == "'@b"
    assert second["reason"] == r"'-\u001b[31m\u000ab\u202e"


def test_csv_says_best_complete_and_why_not(counting: Run) -> None:
    lines = {
        line["model"]: line
        for line in csv.DictReader(io.StringIO(render_csv(of_several(counting))))
    }
    assert [lines[name]["best"] for name in ("a", HOSTILE, "c", "d", "e")] == [
        "1",
        "1",
        "0",
        "0",
        "0",
    ]
    assert lines["d"]["complete"] == "0"
    assert lines["c"]["value"] == ""
    assert lines["c"]["reason"] == "100 % of 5_000 failed"


def test_markdown_has_a_cell_a_column_whatever_names_hold(counting: Run) -> None:
    text = render_markdown(of_several(counting))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(PIPE.split(row)) for row in rows} == {4}  # two cells, and both ends
    assert "| a | **2.00** \\[1.50, 2.50\\] |" in rows
    assert r"a\_b\|c\*d$e%f\\g{h}\#i\~j^k&lt;l>&amp;\[m\]" in text
    assert "| *e (ceiling)* | 0.00 |" in rows
    assert "| c | -<sup>a</sup> |" in rows
    assert "| d | 12.00<sup>‡</sup> \\[11.00, 13.25\\] |" in rows
    assert r"- <sup>a</sup> no value: 100 % of 5\_000 failed" in text


def test_latex_is_whole_and_escaped(counting: Run) -> None:
    table = of_several(counting)
    text = render_latex(table)
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 1
    for rule in ("toprule", "bottomrule"):
        assert text.count(rf"\{rule}") == 1
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 3 + 5  # label, measure and n; five models
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {1}
    assert r"\begin{tabular}{lr}" in text
    assert body.count(r"\textbf{") == 2
    assert r"\textbf{2.00} {\scriptsize {[}1.50, 2.50{]}}" in body
    assert r"12.00\textsuperscript{$\ddagger$}" in body
    assert r"a\_b\textbar{}c*d\$e\%f\textbackslash{}g\{h\}\#i\textasciitilde{}j" in body
    assert r"\textasciicircum{}k\textless{}l\textgreater{}\&{[}m{]}" in body
    assert r"no value: 100 \% of 5\_000 failed" in text
    depth = 0
    for char in re.sub(r"\\[{}]", "", text):
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
    assert text.isascii()


def test_a_ceiling_stands_below_a_rule(counting: Run) -> None:
    text = render_latex(of_several(counting))
    last = text[text.rindex(r"\midrule") :]
    assert last.splitlines()[1].startswith("e (ceiling) & 0.00")


def test_negative_numbers_are_set_as_mathematics(counting: Run) -> None:
    text = render_latex(make_table([scored(counting, -1.5, low=-2.0, high=-1.0, model="a-b")]))
    assert r"a-b & $-$1.500 {\scriptsize {[}$-$2.000, $-$1.000{]}}" in text


def test_the_terminal_has_a_star_and_aligned_numbers(counting: Run) -> None:
    lines = table_lines(of_several(counting), columns=200)
    first = "a" + " " * (len(HOSTILE) - 1)
    assert f"{first}    2.00*   [1.50, 2.50]" in lines
    assert any(line.startswith("c ") and line.endswith("    -(a)") for line in lines)
    assert "(a) no value: 100 % of 5_000 failed" in lines
    assert any(line.startswith("d ") and "12.00‡" in line for line in lines)
    star, bracket = lines[3].index("*"), lines[3].index("[1.50")
    assert lines[4].index("*", len(HOSTILE)) == star
    assert lines[6].index("[11.00") == bracket


def test_a_narrow_terminal_has_blocks_that_each_name_the_rows(results: Path) -> None:
    table = make_table([run for run in find(results) if run.card.model != "seven"])
    lines = table_lines(table, columns=60)
    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("classical") for line in lines) == 2
    assert sum("samples/" in line for line in lines if line.startswith("model")) == 2


def test_intervals_can_be_left_out(counting: Run) -> None:
    table = of_several(counting)
    for text in (
        render_latex(table, intervals=False),
        render_markdown(table, intervals=False),
        "\n".join(table_lines(table, columns=200, intervals=False)),
    ):
        assert "2.00" in text
        assert "1.50" not in text
        assert "brackets" not in text
    assert "In brackets 95 % intervals" in render_markdown(table)
    assert r"In brackets 95 \% intervals" in render_latex(table)


def test_a_table_without_any_interval_speaks_of_no_brackets(counting: Run) -> None:
    table = make_table([scored(counting, 1.0)])
    assert "brackets" not in render_markdown(table)
    assert "No value has a 95 % interval" in render_markdown(table)
    assert "interval" not in render_markdown(table, intervals=False)


def test_a_metric_has_as_many_decimals_in_every_column(counting: Run) -> None:
    table = make_table([counting], cols=["tag:density"])
    (line,) = (x for x in table_lines(table, columns=200) if x.startswith("classical"))
    shown = re.findall(r"\d+\.\d+", line)
    assert len(shown) == 5 + 2  # with the interval of all
    assert {len(number.partition(".")[2]) for number in shown} == {2}


def test_a_metric_is_said_once_in_its_head_and_its_task_once_above(results: Path) -> None:
    table = make_table(find(results, model="classical"), cols=["metric"])
    lines = table_lines(table, columns=80)
    assert max(map(len, lines)) <= 80
    heads = [line for line in lines if line.startswith("model ")]
    assert all(len(re.findall(r"\bmae\b", line)) <= 1 for line in heads)
    above = [lines[lines.index(head) - 1] for head in heads[:1]]
    assert above == ["samples/counting"]
    assert "<br>mae, objects ↓<br>" in render_markdown(table)
    latex = render_latex(table)
    assert r"\multicolumn{4}{c}{samples/counting}" in latex
    assert r"\cmidrule(lr){2-5}" in latex
    assert latex.count("samples/counting") == 1


def test_metrics_as_rows_stand_below_their_task(results: Path) -> None:
    table = make_table(find(results, model="classical"), rows=["metric"], cols=["model"])
    lines = table_lines(table, columns=80)
    assert max(map(len, lines)) <= 80
    at = lines.index("samples/counting")
    assert lines[0].split() == ["task", "/", "metric", "classical"]
    assert lines[at + 1].startswith("  mae, objects ↓, n 13 ")


def test_a_table_without_one_measure_says_it_in_its_cells(results: Path, counting: Run) -> None:
    runs = [changed(run, model="one") for run in find(results, model="classical")]
    table = make_table(runs, rows=["family"], cols=["prompt"])
    shown = "\n".join(table_lines(table, columns=200))
    assert "counting, mae, objects ↓" in shown
    assert "semantic, miou ↑" in shown


def test_the_record_is_json(results: Path) -> None:
    from vgen_eval import jsonio

    record = make_table(find(results)).record()
    assert jsonio.loads(jsonio.pretty(record).encode()) == jsonio.loads(jsonio.dumps(record))
    assert len(record["cells"]) == len(record["rows"])
