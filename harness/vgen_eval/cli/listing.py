"""`vgen-eval list`: what is installed; tasks and models are listed without importing a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

CARDS = {"tasks": "task", "models": "model", "suites": "suite"}
COMPONENTS = {
    "decoders": "decoder",
    "encoders": "encoder",
    "metrics": "metric",
    "judges": "judge",
    "datasets": "dataset",
    "adapters": "adapter",
    "importers": "importer",
    "exporters": "exporter",
    "views": "view",
}
KINDS = (*CARDS, "plugins", *COMPONENTS)


@click.command("list")
@click.argument(
    "kind",
    default="tasks",
    metavar="[KIND]",
    shell_complete=lambda *a: [kind for kind in KINDS if kind.startswith(a[2])],
)
@click.option("--family", metavar="NAME", help="Only tasks of this family.")
@click.option("--paper", metavar="NAME", help="Only models in the roster of this paper.")
@click.option("--runs-here", is_flag=True, help="Only models that miss nothing on this machine.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    kind: str, family: str | None, paper: str | None, runs_here: bool, as_json: bool
) -> int:
    """List what is installed.

    \b
    KIND is one of
      tasks (when left out), models, suites, plugins,
      decoders, encoders, metrics, judges, datasets, adapters, importers, exporters,
      views
    """  # fmt: skip
    from vgen_eval.cli import terminal
    from vgen_eval.errors import UsageError, nearest
    from vgen_eval.plugins import Catalog

    if kind not in KINDS:
        raise UsageError(
            f"nothing to list as '{kind}'.{nearest(kind, KINDS)}", cure=f"one of {', '.join(KINDS)}"
        )
    if family is not None and kind != "tasks":
        raise UsageError(
            f"--family picks tasks, not {kind}", cure=f"vgen-eval list tasks --family {family}"
        )
    if (paper is not None or runs_here) and kind != "models":
        option, value = ("--runs-here", "") if paper is None else ("--paper", f" {paper}")
        raise UsageError(
            f"{option} picks models, not {kind}", cure=f"vgen-eval list models {option}{value}"
        )
    catalog = Catalog.discover()
    if kind == "models":
        records, rows = _models(catalog, paper, runs_here)
    else:
        records, rows = _collect(kind, catalog, family)
    terminal.note(*(f"warning: {problem}" for problem in catalog.problems))
    if as_json:
        terminal.say_json(records)
    elif len(rows) == 1:
        terminal.note(f"no {kind} are installed")
    else:
        terminal.say(*terminal.fitted(rows))
    return 0


def _models(
    catalog: Catalog, paper: str | None, runs_here: bool
) -> tuple[list[dict[str, Any]], list[list[str]]]:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.model_list import HEADS, fit_titles, list_models, model_row

    records = list_models(catalog, paper=paper, runs_here=runs_here)
    terminal.note(*(f"warning: {r['problem']}" for r in records if r["problem"]))
    rows = fit_titles([HEADS, *map(model_row, records)], terminal.width())
    for record in records:
        del record["typed"]
    return records, rows


def _collect(
    kind: str, catalog: Catalog, family: str | None
) -> tuple[list[dict[str, Any]], list[list[str]]]:
    if kind in CARDS:
        records = _cards(CARDS[kind], catalog, family)
        rows = [["name", "family" if kind == "tasks" else "", "title"]]
        rows += [[r["typed"], r.get("family") or "", r["title"]] for r in records]
    elif kind == "plugins":
        records = _plugins(catalog)
        rows = [["plugin", "version", "state", "cards", "components", "from"]]
        rows += [_plugin_row(record) for record in records]
    else:
        records = _components(COMPONENTS[kind], catalog)
        rows = [["name", "what it is"]]
        rows += [[r["typed"], _told(r)] for r in records]
    for record in records:
        record.pop("typed", None)
    return records, rows


def _cards(kind: str, catalog: Catalog, family: str | None) -> list[dict[str, Any]]:
    from vgen_eval.errors import UsageError, nearest

    heads = catalog.heads(kind)
    families = {head.family for _, head in heads if head.family}
    if family is not None and family not in families:
        raise UsageError(
            f"no task of the family '{family}'.{nearest(family, families)}",
            cure=f"families here: {', '.join(sorted(families)) or 'none'}",
        )
    records = []
    for plugin, head in heads:
        if family not in (None, head.family):
            continue
        qualified = f"{plugin.name}:{head.name}"
        record = {"id": qualified, "name": head.name, "distribution": plugin.name}
        if kind == "task":
            record["family"] = head.family or ""
        record |= {"title": head.title, "path": str(head.path)}
        records.append(record | {"typed": head.name if plugin.builtin else qualified})
    return records


def _components(kind: str, catalog: Catalog) -> list[dict[str, Any]]:
    from vgen_eval.cli import terminal
    from vgen_eval.plugins import BUILTIN

    records = []
    for report in catalog.survey():
        if not report.ok:
            terminal.note(f"warning: plugin '{report.name}': {report.reason}")
        for part in report.components:
            if part.kind == kind:
                qualified = f"{report.name}:{part.name}"
                records.append(
                    {
                        "id": qualified,
                        "name": part.name,
                        "distribution": report.name,
                        "target": part.target,
                        "text": part.text,
                        "ok": part.ok,
                        "note": part.note,
                        "typed": part.name if report.name == BUILTIN else qualified,
                    }
                )
    return records


def _told(record: dict[str, Any]) -> str:
    """What the component says it is, and what is wrong with it or wanting."""
    return "   ".join(filter(None, [record["text"] or record["target"], record["note"]]))


def _plugins(catalog: Catalog) -> list[dict[str, Any]]:
    import msgspec

    return [{"id": r.name, **msgspec.to_builtins(r)} for r in catalog.survey()]


def _plugin_row(record: dict[str, Any]) -> list[str]:
    from vgen_eval.cli.terminal import plural

    cards = ", ".join(plural(count, kind) for kind, count in record["cards"].items() if count)
    parts = ", ".join(plural(len(names), kind) for kind, names in record["hooks"].items())
    state = "ok" if record["ok"] else f"broken: {record['reason']}"
    origin = record["origin"]
    return [
        record["name"], record["version"], state, cards or "-", parts or "-",
        " ".join(filter(None, [origin.get("kind", "unknown"), origin.get("url"),
                               (origin.get("commit") or "")[:12],
                               "(changed)" if origin.get("dirty") else ""])),
    ]  # fmt: skip
