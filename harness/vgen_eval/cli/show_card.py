"""Tasks, models, suites and plugins as `show` prints them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cards import protocol as resolve_protocol
from vgen_eval.cards.records import (
    InputCard,
    JudgeCard,
    ModelCard,
    Price,
    ProtocolCard,
    SuiteCard,
    TaskCard,
)
from vgen_eval.cli import terminal
from vgen_eval.cli.model_needs import missing, needs
from vgen_eval.errors import NotRunnable, VgenEvalError
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.cards import LoadedCard
    from vgen_eval.plugins import Catalog
    from vgen_eval.survey import PluginReport

__all__ = ["describe_card", "describe_plugin", "pairs"]

Described = tuple[dict[str, Any], list[str]]
NOT_VERIFIED = "no: no source pins its revision, or nobody has run this card yet"
FOLD = 100
"""Columns after which prompts and citations go on in the next line."""


def describe_card(
    loaded: LoadedCard, distribution: str, protocol: str | None, catalog: Catalog
) -> Described:
    """Record and lines of a card; of a task, only the protocol when one is named."""
    card = loaded.record
    record: dict[str, Any] = {
        "kind": loaded.kind,
        "id": f"{distribution}:{loaded.name}",
        "path": str(loaded.path),
        "card_digest": loaded.card_digest,
        "card": msgspec.to_builtins(card),
    }
    if isinstance(card, TaskCard):
        lines = _task(card, distribution, [protocol] if protocol else list(card.protocols))
    elif isinstance(card, ModelCard):
        record["missing"] = _missing(card, distribution, catalog, loaded.path.parent)
        lines = _model(card, distribution, record["missing"])
    else:
        assert isinstance(card, SuiteCard)
        lines = _suite(card, distribution)
    return record, [*lines, *pairs([("card", str(loaded.path))])]


def _title(kind: str, name: str, distribution: str, title: str) -> list[str]:
    return [f"{kind} {name}   ({distribution})", *([f"  {title}"] if title else []), ""]


def pairs(pairs: Sequence[tuple[str, Any]], indent: str = "  ") -> list[str]:
    """Aligned lines of the pairs that have a value, long values folded."""
    found = [(label, terminal.clean(value)) for label, value in pairs if value]
    room = min(terminal.width(), FOLD) - len(indent) - 3
    room = max(room - max((len(label) for label, _ in found), default=0), FOLD // 3)
    rows = [
        [label if at == 0 else "", part]
        for label, value in found
        for at, part in enumerate(textwrap.wrap(value, room, break_on_hyphens=False))
    ]
    return terminal.fitted(rows, indent=indent)


def _task(card: TaskCard, distribution: str, protocols: Sequence[str]) -> list[str]:
    data = card.dataset
    lines = _title("task", card.task, distribution, card.title)
    lines += pairs(
        [
            ("family", card.family),
            ("version", card.version),
            ("samples", f"{data.n:,}" if data.n else ""),
            ("data", f"{data.reader}{f', below {data.root}' if data.root else ', comes with it'}"),
            ("options", _options(data.options).strip("()")),
            ("revision", data.revision),
            ("size", f"{data.size_gb:g} GB" if data.size_gb else ""),
            ("source", data.source),
            ("to unpack", data.unpack),
            ("licence", data.licence),
            ("terms", data.terms),
            ("passing on", data.redistribution),
            ("layout checked", data.layout_checked),
            ("citation", data.citation),
        ]
    )
    for name in protocols:
        default = "   (default)" if name == card.default_protocol else ""
        lines += ["", f"  {card.task}@{name}{default}"]
        lines += _protocol(resolve_protocol(card, name))
        lines += _published(card.task, name)
    return [*lines, ""]


def _published(task: str, protocol: str) -> list[str]:
    """What papers print of the task under the protocol, and how far it compares."""
    from vgen_eval.results.published import load_published

    rows: list[tuple[str, Any]] = []
    for table in load_published():
        for row in table.rows:
            if (row.task, row.protocol) != (task, protocol):
                continue
            printed = [cell for cell in row.cells if cell.values]
            if not printed:
                continue
            for cell in printed:
                values = ", ".join(f"{name} {value:g}" for name, value in cell.values.items())
                under = f", under {_options(row.set).strip('()')}" if row.set else ""
                rows.append((f"{table.paper}:{table.table}", f"{cell.label}: {values}{under}"))
            how = row.comparability.replace("_", " ")
            rows.append(("", f"{how}{f': {row.reason}' if row.reason else ''}"))
    return ["    published", *pairs(rows, indent="      ")] if rows else []


def _protocol(card: ProtocolCard) -> list[str]:
    rows: list[tuple[str, Any]] = [("", card.title), ("source", card.source)]
    for answer in card.answers:
        decoder = answer.decoder or answer.form
        options = f" {_options(answer.options)}" if answer.options else ""
        encoder = answer.encoder or answer.form
        rows.append(("answer", f"{answer.form}: decoder {decoder}{options}, encoder {encoder}"))
        rows += [(f"  {variant}", text) for variant, text in answer.prompt.items()]
        rows.append(("  its turn begins", answer.prefix))
        rows.append(("  choices", ", ".join(answer.choices)))
        rows.append(("  judged", _judged(answer.judge)))
        rows.append(("  read after", answer.reencode))
    metrics = [
        f"{metric.label or metric.name}{f' {_options(metric.options)}' if metric.options else ''}"
        for metric in card.metrics
    ]
    sampling = card.sampling
    limited = (
        f"{plural(sampling.limit, sampling.unit)}, seed {sampling.seed}" if sampling.limit else ""
    )
    calibration = card.calibration
    learned = "" if calibration is None else f"on the first {plural(calibration.samples, 'sample')}"
    if calibration is not None and calibration.exclude:
        learned += ", which are not scored"
    rows += [
        ("data", _options(card.data.options).strip("()")),
        ("metrics", ", ".join(metrics)),
        ("primary", card.primary),
        ("a failure is", f"{card.failure_value} {_options(card.failure_options)}".strip()),
        ("input", _input(card.input)),
        ("calibrated", learned),
        ("best of p by", card.select_by),
        ("seed", card.seed.replace("_", " ")),
        ("subset", limited or ("one sample an image" if sampling.unit == "image" else "")),
        ("attempts", card.attempts if card.attempts > 1 else ""),
    ]
    return pairs(rows, indent="    ")


def _judged(judge: JudgeCard | None) -> str:
    if judge is None:
        return ""
    return f"by {judge.model}: {judge.name} {_options(judge.options)}".rstrip()


def _input(rule: InputCard) -> str:
    if rule.size is not None:
        return f"{rule.size[1]}x{rule.size[0]} px, {rule.fit}"
    if rule.long_side is None:
        return "as it is"
    return f"long side {rule.long_side} px{'' if rule.upsample else ' at most'}"


def _options(options: Any) -> str:
    text = ", ".join(f"{key}: {_flow(value)}" for key, value in options.items())
    return f"({text})" if text else ""


def _flow(value: Any) -> str:
    """A value about as its card has it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return value if value.strip() else repr(value)
    return json.dumps(value)


def _model(card: ModelCard, distribution: str, missing: Sequence[str]) -> list[str]:
    at = card.checkpoint
    checkpoint = "" if at is None else " ".join(filter(None, (at.repo, at.revision, at.path)))
    lines = _title("model", card.model, distribution, card.title)
    lines += pairs(
        [
            ("role", card.role),
            ("answers", ", ".join(card.answers)),
            ("adapter", card.adapter),
            ("checkpoint", checkpoint),
            ("options", _options({k: v for k, v in card.options.items() if k != "env"})),
            ("generation", _options(card.generation)),
            ("developer", card.developer),
            ("source", card.source),
            ("licence", card.licence),
            ("passing on", card.redistribution),
            ("availability", card.availability.replace("_", " ")),
            ("measured by", ", ".join(card.papers)),
            ("price", ", ".join(_costs(card.price))),
            ("price from", card.price.source if card.price else ""),
            ("needs", ", ".join(needs(card, long=True)) or "nothing more"),
            ("its server", card.needs.serve),
            ("environment", _environment(card)),
            ("verified", NOT_VERIFIED if card.verified is False else ""),
            *(("exposure", f"{e.task}: {e.status} ({e.source})") for e in card.exposure),
            *(("missing here", text) for text in missing),
            ("runs here", "no" if missing else "yes, as far as can be told without loading it"),
        ]
    )
    return [*lines, ""]


def _costs(price: Price | None) -> list[str]:
    if price is None:
        return []
    return [
        f"${value:g} {per}"
        for value, per in (
            (price.per_image_usd, "an image"),
            (price.per_video_second_usd, "a second of video"),
            (price.per_million_input_usd, "a million input tokens"),
            (price.per_million_cached_usd, "those from a cache"),
            (price.per_million_input_image_usd, "those of pictures"),
            (price.per_million_output_usd, "a million output tokens"),
            (price.per_million_image_usd, "a million output tokens of pictures"),
        )
        if value is not None
    ]


def _environment(card: ModelCard) -> str:
    """What is built before the first run, for a card that asks for an environment of its own."""
    env = card.options.get("env")
    if not isinstance(env, Mapping):
        return ""
    python = f"Python {env['python']}, " if env.get("python") else ""
    listed = [*env.get("requirements", ()), *filter(None, [env.get("requirements_file")])]
    return f"built on first use: {python}{', '.join(map(str, listed)) or 'no packages'}"


def _missing(card: ModelCard, distribution: str, catalog: Catalog, folder: Path) -> list[str]:
    """What keeps the model from running here, each with its cure."""
    home = "vgen-eval" if distribution == "local" else distribution
    try:
        adapter = catalog.component("adapter", card.adapter, home=home).obj
    except NotRunnable as exc:
        return [*missing(card), f"{exc.what}: {exc.cure}" if exc.cure else exc.what]
    except VgenEvalError as exc:
        return [*missing(card), f"its adapter: {exc.what}"]
    return missing(card, adapter, folder=folder)


def _suite(card: SuiteCard, distribution: str) -> list[str]:
    aggregate = "mean of the primaries" if card.aggregate == "mean" else "none: a table"
    lines = _title("suite", card.suite, distribution, card.title)
    lines += pairs([("run it with", f"--tasks suite:{card.suite}"), ("aggregate", aggregate)])
    return [*lines, "  tasks", *(f"    {task}" for task in card.tasks), ""]


def describe_plugin(report: PluginReport) -> Described:
    """Record and lines of a plugin's survey."""
    origin = report.origin
    state = "ok" if report.ok else f"broken: {report.reason}"
    where = " ".join(str(origin[key]) for key in ("kind", "url", "commit") if origin.get(key))
    lines = [f"plugin {report.name} {report.version}", ""]
    lines += pairs(
        [
            ("state", state),
            ("package", report.package),
            ("from", where + (" (changed since)" if origin.get("dirty") else "")),
            *((f"{kind} cards", count) for kind, count in report.cards.items()),
        ]
    )
    rows = [
        ["", part.kind, part.name, part.target, part.note if part.ok else f"broken: {part.note}"]
        for part in report.components
    ]
    lines += ["", *terminal.fitted(rows, indent="  ")] if rows else []
    for label, text in (("it printed", report.output), ("traceback", report.traceback)):
        if text.strip():
            lines += ["", f"  {label}", *(f"    {line}" for line in text.strip().splitlines())]
    return {"kind": "plugin", "id": report.name, **msgspec.to_builtins(report)}, lines
