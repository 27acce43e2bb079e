"""Writes what the docs derive from the code: JSON Schemas, and the lists between markers.

python docs/generate.py            writes
python docs/generate.py --check    says what is out of date, exit status 1 if anything is
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from vgen_eval import jsonio
from vgen_eval.cards import load_card
from vgen_eval.cards.records import TaskCard
from vgen_eval.cards.schema import FILES, json_schema
from vgen_eval.cli import VERBS
from vgen_eval.hookspecs import HOOKS
from vgen_eval.plugins import Catalog
from vgen_eval.results.bench import json_schema as bench_schema
from vgen_eval.results.card import json_schema as card_schema

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


def lists() -> Mapping[str, str]:
    """Marker -> generated lines: built-in tasks, their data, models, verbs and hooks."""
    import os

    os.environ["VGEN_EVAL_PLUGINS"] = ""
    catalog = Catalog.discover()
    verbs = {verb: text for verb, (_, text) in VERBS.items()}
    return {
        "tasks": _rows(
            ("task", "family", "what it measures"),
            [(f"`{h.name}`", str(h.family), h.title) for _, h in catalog.heads("task")],
        ),
        "models": _rows(
            ("model", "what it is"), [(f"`{h.name}`", h.title) for _, h in catalog.heads("model")]
        ),
        "verbs": _rows(("verb", "what it does"), [(f"`{v}`", t) for v, t in verbs.items()]),
        "data": _data_rows(catalog),
        "hooks": _rows(("component", "hook"), [(k, f"`{h}`") for k, h in HOOKS.items()]),
    }


def _data_rows(catalog: Catalog) -> str:
    """A line for each task whose data no package ships."""
    rows: list[tuple[str, ...]] = []
    for _, head in catalog.heads("task"):
        card = load_card(head.path).record
        assert isinstance(card, TaskCard)
        data = card.dataset
        if data.root is None:
            continue
        got = f"`prepare` ({data.hub.repo})" if data.hub else f"by hand: {_cell(data.source)}"
        rows.append(
            (f"`{card.task}`", f"`{data.root}`", f"{data.n:,}" if data.n else "-",
             f"{data.size_gb:g}" if data.size_gb else "-", _cell(data.licence),
             _cell(data.terms or "-"), got, data.layout_checked)
        )  # fmt: skip
    head_row = ("task", "folder", "samples", "GB", "licence", "terms", "to get it",
                "layout checked")  # fmt: skip
    return _rows(head_row, rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _rows(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def wanted() -> dict[Path, str]:
    """Every generated file, as it should be."""
    files = {ROOT / "docs" / name: jsonio.pretty(json_schema(kind)) for kind, name in FILES.items()}
    files[ROOT / "docs" / "result_card.schema.json"] = jsonio.pretty(card_schema())
    files[ROOT / "docs" / "bench.schema.json"] = jsonio.pretty(bench_schema())
    made = lists()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, body in made.items():
            block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
            text = block.sub(lambda m, body=body: m[1] + body + "\n" + m[2], text)
        files[page] = text
    return files


def broken_links() -> list[str]:
    """Links of the pages that lead to no file."""
    return [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target, _ in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]


def main(arguments: list[str]) -> int:
    """Writes, or with --check compares; 1 when something is out of date or a link is broken."""
    files = wanted()
    stale = [p for p, text in files.items() if not p.exists() or p.read_text("utf-8") != text]
    if arguments != ["--check"]:
        for path in stale:
            path.write_text(files[path], encoding="utf-8")
        stale = []
    faults = [f"{path.relative_to(ROOT)} is out of date: python docs/generate.py" for path in stale]
    faults += [f"broken link in {link}" for link in broken_links()]
    sys.stdout.write("\n".join(faults or ["docs are up to date"]) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
