"""What `check judge` says on a terminal, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vgen_eval import jsonio
from vgen_eval.cli import terminal
from vgen_eval.cli.compare_table import shorten, wrap
from vgen_eval.cli.numbers import interval, number
from vgen_eval.results.judging.record import AS_MADE
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.results.judging.record import Row, SettingFacts, Trust

__all__ = ["table"]

LONGEST_LABEL = 30
MOST_PLACES = 4
"""Rows or measures at most that are named with a reason that they share."""

LABELS = (
    ((("agreement", "agreement"), ("auc", "AUC")), True),
    (
        (
            ("kappa", "kappa"), ("kappa_quadratic", "quadratic"), ("alpha_nominal", "alpha nom."),
            ("alpha_ordinal", "ordinal"), ("alpha_interval", "interval"),
        ),
        False,
    ),
)  # fmt: skip
"""Tables of labels: the measures, as the document and as the head call them; with intervals?"""

PAIRS = (
    ((("auc", "AUC"), ("accuracy", "accuracy, ties half")), True),
    (
        (
            ("accuracy_ties_dropped", "ties dropped"), ("accuracy_ties_wrong", "ties wrong"),
            ("ties", "share tied"),
        ),
        False,
    ),
)  # fmt: skip


def table(found: Trust) -> list[str]:
    """The lines that say how far the judge goes with people."""
    lines = [f"{found.task}   {found.value} beside what people said", *_settings(found.settings)]
    lines += ["", *wrap(_human(found))]
    whole = [row for row in found.rows if row.subset == "all"]
    lines += ["", *_rows(whole, found)]
    for tag in dict.fromkeys(row.subset.partition("=")[0] for row in found.rows):
        parts = [row for row in found.rows if row.subset.startswith(f"{tag}=")]
        parts.sort(key=lambda row: row.subset)
        if parts:
            lines += ["", *_slices(parts, found, tag)]
    notes = [*_reasons(found), *found.notes]
    if notes:
        lines += ["", *(line for note in dict.fromkeys(notes) for line in wrap(note))]
    return lines


def _settings(settings: Sequence[SettingFacts]) -> Iterator[str]:
    """Who judged which answers; options that all share are told once."""
    options = [one.options for one in settings]
    shared = {k: v for k, v in options[0].items() if all(v == each.get(k) for each in options)}
    for one in settings:
        how = f"judge {one.judge}, asked of {one.model}" if one.judge else "no judge: metrics alone"
        own = {key: value for key, value in one.options.items() if key not in shared}
        label = f"{one.label}: " if len(settings) > 1 else ""
        models = ", ".join(dict.fromkeys(one.runs.values()))
        yield from wrap(f"{label}{how}; answers of {models}{_options(own)}", 2)
    if shared:
        yield from wrap(f"options{' of all' if len(settings) > 1 else ''}{_options(shared)}", 2)


def _options(options: Mapping[str, Any]) -> str:
    told = (f"{key}={jsonio.dumps(value).decode()}" for key, value in options.items())
    return f": {', '.join(told)}" if options else ""


def _human(found: Trust) -> str:
    facts = found.human
    name = shorten(facts["file"])
    if found.kind == "labels":
        said = f"{name}: {plural(facts['labels'], 'label')}"
        if len(found.categories) > 1:
            read = ", ".join(f"{one:g}" for one in found.categories)
            return f"{said}; the judge's numbers are read as the nearest of {read}"
        return said
    left_out = [
        (facts["repeated"], "said before", "said before"),
        (facts["contradictions"], "contradiction", None),
        (facts["in_cycles"], *[f"in {plural(facts['cycles'], 'cycle')}"] * 2),
        (facts["ties"], "tie", None),
    ]
    told = ", ".join(plural(count, one, many) for count, one, many in left_out if count)
    dropped = f" (left out: {told})" if told else ""
    rankings = f" of {plural(facts['rankings'], 'ranking')}" if facts["rankings"] else ""
    return (
        f"{name}: {plural(facts['pairs'], 'strict preference')}{rankings}{dropped}; "
        f"differences below {found.tie_band:g} are ties"
    )


def _rows(rows: Sequence[Row], found: Trust) -> Iterator[str]:
    """The tables over all answers; rows of which nothing was measured stand in the first alone."""
    for at, (measures, with_interval) in enumerate(LABELS if found.kind == "labels" else PAIRS):
        shown = [row for row in rows if row.measures or not at]
        if at and shown:
            yield ""
        lines = [_head("", measures, found, with_interval=with_interval)]
        lines += [
            _line(_name(row, found), row, measures, with_interval=with_interval) for row in shown
        ]
        if shown:
            yield from _aligned(lines, with_interval=with_interval)


def _slices(rows: Sequence[Row], found: Trust, tag: str) -> Iterator[str]:
    """The first table by a tag's values; the document has the other measures."""
    (measures, with_interval), *_ = LABELS if found.kind == "labels" else PAIRS
    several = len({_name(row, found) for row in rows}) > 1
    lines = [_head(f"by {tag}", measures, found, with_interval=with_interval)]
    last = None
    for row in rows:
        subset = terminal.clip(row.subset.partition("=")[2], LONGEST_LABEL)
        if several and subset != last:
            lines.append([subset])
            last = subset
        name = f"  {_name(row, found)}" if several else subset
        lines.append(_line(name, row, measures, with_interval=with_interval))
    yield from _aligned(lines, with_interval=with_interval)


Measures = Sequence[tuple[str, str]]


def _head(first: str, measures: Measures, found: Trust, *, with_interval: bool) -> list[str]:
    unit = "labels" if found.kind == "labels" else "pairs"
    return [first, unit, *(f"{t}, 95 %" if with_interval else t for _, t in measures)]


def _line(name: str, row: Row, measures: Measures, *, with_interval: bool) -> list[str]:
    cells = (_cell(row, measure, with_interval=with_interval) for measure, _ in measures)
    return [terminal.clip(name, LONGEST_LABEL), f"{row.n:,}", *cells]


def _aligned(lines: Sequence[Sequence[str]], *, with_interval: bool) -> list[str]:
    return terminal.fitted(lines, right="lr" + ("" if with_interval else "r" * len(lines[0])))


def _name(row: Row, found: Trust) -> str:
    """Setting and variant, the shorter where one of them says nothing."""
    if row.variant == AS_MADE:
        return row.variant if len(found.settings) == 1 else row.setting
    homes = {other.setting for other in found.rows if other.variant == row.variant}
    return row.variant if len(homes) == 1 else f"{row.setting}: {row.variant}"


def _cell(row: Row, name: str, *, with_interval: bool) -> str:
    measured = row.measure(name)
    if measured is None:
        return "-"
    span = interval(measured.interval) if with_interval and measured.interval else ""
    return f"{number(measured.value)} {span}".rstrip()


def _reasons(found: Trust) -> Iterator[str]:
    """Why cells are empty: each reason once, with all that it holds for."""
    told: dict[tuple[str, str], dict[str, None]] = {}
    for row in found.rows:
        place = _name(row, found) + ("" if row.subset == "all" else f" {row.subset}")
        if row.reason:
            told.setdefault(("", row.reason), {})[place] = None
        if row.missing and row.measures:
            reason = f"no number of the judge for {row.missing:,} that people spoke of"
            told.setdefault(("", reason), {})[place] = None
    for row in found.rows:
        is_all = row.subset == "all"
        for one in row.measures:
            if one.reason and is_all:
                told.setdefault(("no ", one.reason), {})[one.name] = None
            if one.value is not None and one.interval is not None and one.interval.reason:
                what = one.name if is_all else "some parts"
                told.setdefault(("no interval of ", one.interval.reason), {})[what] = None
    for (what, reason), places in told.items():
        more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
        yield f"{what}{', '.join(list(places)[:MOST_PLACES])}{more}: {reason}"
