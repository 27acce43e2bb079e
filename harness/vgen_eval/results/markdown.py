"""`result_card.md`: the card for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vgen_eval.results.card import Bound, ResultCard, Score
from vgen_eval.statistics import Interval
from vgen_eval.wording import part_of, plural

__all__ = ["format_value", "plain", "render"]


def plain(text: object) -> str:
    """Text from cards and models on one line, harmless in Markdown tables and HTML views."""
    line = " ".join(str(text).split())
    line = "".join(c for c in line if c.isprintable())
    return line.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("`", "'")


def format_value(value: float | None, unit: str = "") -> str:
    """A number as tables show it: four significant digits, at most four decimals."""
    if value is None:
        return "-"
    text = f"{value:.4g}" if abs(value) < 1e6 else f"{value:.3e}"
    return f"{text} {unit}".rstrip()


def render(card: ResultCard) -> str:
    """The card as Markdown."""
    parts = [
        f"# {plain(card.task)}@{plain(card.protocol)}: {plain(card.model)}\n",
        _headline(card),
        _scores(card),
        _breakdown(card),
        _attempts(card),
        _statuses(card),
        _section("Prompt", _prompt(card)),
        _section("Protocol", _pairs(card.protocol_info, leave=("prompt_text", "choices"))),
        _section("Model", _pairs(_without_gaps(card.model_info))),
        _section("Task and data", _pairs({**card.task_info, **card.dataset_info})),
        _section("Selection", _pairs(card.selection)),
        _section("Plugins", _plugins(card.plugins)),
        _section("Versions", _pairs(card.versions)),
        _section("Hardware", _pairs(card.hardware)),
        _section("What it took (may differ between equal runs)", _taken(card.volatile)),
        f"Run: `{plain(card.run)}`  \nContent digest: `{card.content_digest}`  \n"
        f"Schema: result card {card.schema_version}\n",
    ]
    return "\n".join(part for part in parts if part)


def _headline(card: ResultCard) -> str:
    score = card.score()
    arrow = "higher" if score.higher_is_better else "lower"
    lines = [
        f"**{score.metric} = {format_value(score.value, score.unit)}** "
        f"({arrow} is better{_interval(score.ci95)})",
        "",
        f"- answered only: {format_value(score.answered_only, score.unit)}",
        *_judged(card),
        *([] if _judge(card) else [f"- ceiling: {_bound(card.ceiling, score)}"]),
        *([] if _judge(card) else [f"- floor: {_bound(card.floor, score)}"]),
        f"- answer form: {card.answer}{_fit(card)}; prompt: {card.prompt or 'none'}",
        f"- {_state(card)}",
    ]
    if score.reason:
        lines.insert(2, f"- no value: {plain(score.reason)}")
    return "\n".join(lines) + "\n"


def _judge(card: ResultCard) -> Mapping[str, Any]:
    """Who judged, and how; empty where nobody did."""
    return card.protocol_info.get("judge") or {}


def _judged(card: ResultCard) -> list[str]:
    judge = _judge(card)
    if not judge:
        return []
    options = ", ".join(f"{key} {value}" for key, value in (judge.get("options") or {}).items())
    way = f"{judge.get('name')}{f' ({options})' if options else ''}"
    prompts = str(judge.get("prompts", ""))[:12]
    return [
        f"- judged by {plain(judge.get('model'))}: {plain(way)}, prompts {plain(prompts)}; "
        "ceiling and floor are not run beside judged answers"
    ]


def _fit(card: ResultCard) -> str:
    """What was done with answers of another shape, where some came."""
    fit = card.protocol_info.get("answer", {}).get("fit")
    flagged = card.counts.flags.get("wrong_aspect", 0)
    return f" ({flagged} of another shape: {fit})" if fit and flagged else ""


def _state(card: ResultCard) -> str:
    counts = card.counts
    samples = card.selection.get("samples", counts.expected)
    part = part_of(samples, card.selection.get("of", samples), "sample")
    if card.complete:
        faulty = f", {plural(counts.bad_samples, 'attempt')} without sound data"
        return f"complete: {part}{faulty if counts.bad_samples else ''}"
    return (
        f"**incomplete**, {part}: {counts.not_run} not run, {counts.infrastructure} failed by "
        "infrastructure; not to be ranked until they are run again (`--retry-failed`)"
    )


def _interval(interval: Interval) -> str:
    if interval.low is None:
        return f"; no interval: {interval.reason}" if interval.reason else ""
    return (
        f"; 95 % interval {format_value(interval.low)} to {format_value(interval.high)}, "
        f"{interval.method}, {plural(interval.clusters, 'group')}"
    )


def _bound(bound: Bound | None, score: Score) -> str:
    if bound is None:
        return "not run"
    return f"{format_value(bound.value, score.unit)} ({plain(bound.model)})"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(plain(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _score_row(score: Score) -> tuple[str, ...]:
    low, high = format_value(score.ci95.low), format_value(score.ci95.high)
    return (
        score.metric,
        score.aggregation,
        format_value(score.value, score.unit) if score.value is not None else f"- ({score.reason})",
        f"[{low}, {high}]" if score.ci95.low is not None else f"- ({score.ci95.reason})",
        format_value(score.answered_only),
        str(score.n),
    )


def _scores(card: ResultCard) -> str:
    chosen = [s for s in card.scores if s.subset == "all" and s.selection == "mean"]
    head = ("metric", "aggregation", "value", "95 % interval", "answered only", "n")
    return "## Scores\n\n" + _table(head, map(_score_row, chosen))


def _breakdown(card: ResultCard) -> str:
    chosen = [s for s in card.scores if s.subset != "all" and s.selection == "mean"]
    if not chosen:
        return ""
    metrics = list(dict.fromkeys(s.metric for s in chosen))
    by_subset: dict[str, dict[str, Score]] = {}
    for score in chosen:
        by_subset.setdefault(score.subset, {})[score.metric] = score
    rows = [
        (subset, *(format_value(found[m].value) for m in metrics), found[metrics[0]].n)
        for subset, found in by_subset.items()
    ]
    return "## By tag\n\n" + _table(("subset", *metrics, "n"), rows)


def _attempts(card: ResultCard) -> str:
    chosen = [s for s in card.scores if s.subset == "all" and s.selection != "mean"]
    if not chosen:
        return ""
    rows = [
        (s.selection.removeprefix("best_of_"), s.metric, format_value(s.value, s.unit))
        for s in chosen
    ]
    note = "The best attempt is picked by the truth: an upper bound, not a score to rank by.\n\n"
    return "## Oracle best-of-p\n\n" + note + _table(("p", "metric", "value"), rows)


def _statuses(card: ResultCard) -> str:
    counts = card.counts
    groups = (
        ("expected", counts.expected), ("answered", counts.answered),
        ("model failure", counts.model_failure), ("infrastructure", counts.infrastructure),
        ("data fault (excluded)", counts.data_fault), ("not run", counts.not_run),
    )  # fmt: skip
    text = "## Attempts\n\n" + _table(("group", "attempts"), groups)
    rows = [("status", k, v) for k, v in counts.statuses.items()]
    rows += [("flag", k, v) for k, v in counts.flags.items()]
    if rows:
        text += "\n" + _table(("", "name", "attempts"), rows)
    reasons = [(f["reason"], f["attempts"]) for f in card.volatile.get("failures") or ()]
    if reasons:
        text += "\n" + _table(("why without an answer", "attempts"), reasons)
    text += f"\nA model failure is scored as `{plain(counts.failure_value)}`.\n"
    for label, ids in (("Missing", counts.missing_ids), ("Not of the task", counts.unknown_ids)):
        if ids:
            text += f"\n{label}: {', '.join(plain(i) for i in ids[:20])}"
            text += f" and {len(ids) - 20} more\n" if len(ids) > 20 else "\n"
    return text


def _prompt(card: ResultCard) -> str:
    text = str(card.protocol_info.get("prompt_text") or "")
    return "".join(f"> {plain(line)}\n" for line in text.splitlines()) if text else "none\n"


def _plugins(plugins: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (p["name"], p["version"], ", ".join(f"{k} {v}" for k, v in p["origin"].items()))
        for p in plugins
    ]
    lines = [
        f"\nContract of {plain(p['name'])}: {_conformance(p['conformance'])}\n"
        for p in plugins
        if p.get("conformance")
    ]
    return _table(("distribution", "version", "origin"), rows) + "".join(lines)


def _conformance(record: Mapping[str, Any]) -> str:
    """What `check plugin` came to, in one line."""
    failed = record["failed_checks"]
    names = f" ({', '.join(plain(name) for name in failed)})" if failed else ""
    state = "" if record["current"] else "; its files have changed since"
    return (
        f"{plural(record['passed'], 'check')} passed, {record['failed']} failed{names}, "
        f"{record['skipped']} skipped, {plain(record['checked'])}{state}"
    )


_TOLD = (
    "calling", "calls", "calls_per_minute", "cost_usd", "endpoint", "failures",
    "images_per_minute",
    "latency_s", "model_s", "reported_dates", "reported_models", "reused", "tries", "unfinished",
    "unpriced", "usage",
)  # fmt: skip


def _taken(volatile: Mapping[str, Any]) -> str:
    """Calls, cost, throughput and latency, each for itself; then whatever else was noted."""
    took = {name: volatile.get(name) for name in _TOLD}
    lines = []
    if took["calls"] is not None:
        tries = plural(took["tries"] or 0, "try", "tries")
        lines.append(f"calls: {took['calls']:,} answered or failed, in {tries}")
    if took["reused"]:
        lines.append(f"answers taken from other runs: {took['reused']:,}")
    if took["usage"]:
        lines.append(f"usage: {', '.join(f'{k} {v:,}' for k, v in took['usage'].items())}")
    judge = volatile.get("judge")
    if isinstance(judge, Mapping):
        cost = judge.get("cost_usd")
        price = "" if cost is None else f", ${cost:,.6g} on top"
        lines.append(f"judge: {plural(judge.get('calls') or 0, 'call')}{price}")
    if took["cost_usd"] is not None:
        some = f"; {plural(took['unpriced'], 'answer')} of unknown cost" if took["unpriced"] else ""
        lines.append(f"cost: ${took['cost_usd']:,.6g}{some}")
    lines += _rates(took)
    for name, what in (("reported_models", "model"), ("reported_dates", "date")):
        said = [f"{entry[what]} ({entry['answers']:,})" for entry in took[name] or ()]
        if said:
            lines.append(f"{what} as the service reports it: {', '.join(said)}")
    told = "".join(f"- {plain(line)}\n" for line in lines)
    return told + _pairs(volatile, leave=(*_TOLD, "judge"))


def _rates(took: Mapping[str, Any]) -> list[str]:
    """Throughput, by the clock and of the model alone; latency of a service beside it."""
    lines = []
    if took["calls_per_minute"]:
        over = took["calling"]["seconds"]
        lines.append(f"throughput: {took['calls_per_minute']:,} calls a minute over {over:,} s")
    if took["images_per_minute"]:
        lines.append(
            f"model time: {took['model_s']:,} s in all, {took['images_per_minute']:,} a minute"
        )
    if took["latency_s"]:
        ranks = ", ".join(f"{name} {seconds:g} s" for name, seconds in took["latency_s"].items())
        seconds = took["calling"]["seconds"] if took["calling"] else 0.0
        beside = round(took["model_s"] / seconds) if seconds else 1
        lines.append(
            f"latency of {took['endpoint']}, "
            f"{'one call' if beside <= 1 else f'about {beside} calls'} at a time: {ranks}"
        )
    return lines


def _without_gaps(model: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model's facts, those that its card leaves open left out."""
    said = {key: value for key, value in model.items() if value not in (None, "", (), [], {})}
    price = said.get("price")
    if isinstance(price, Mapping):
        said["price"] = {key: value for key, value in price.items() if value is not None}
    return said


def _pairs(mapping: Mapping[str, Any], *, leave: Sequence[str] = ()) -> str:
    return "".join(
        f"- {plain(key)}: {_inline(value)}\n" for key, value in mapping.items() if key not in leave
    )


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        if "name" in value and "options" in value:
            options = _inline(value["options"]) if value["options"] else "no options"
            return f"{plain(value['name'])} version {plain(value.get('version'))} ({options})"
        return ", ".join(f"{plain(k)} {_inline(v)}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(_inline(v) for v in value) or "none"
    return "none" if value is None or value == "" else plain(value)


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body}"
