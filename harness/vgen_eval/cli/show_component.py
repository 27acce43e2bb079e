"""What `show` says of a component: what it does, and its options with their defaults."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.cli import terminal

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Component

__all__ = ["describe_components"]


def describe_components(name: str, catalog: Catalog) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Record and lines of every decoder, encoder, metric, data set and adapter of that name."""
    from vgen_eval.distributions import HOME
    from vgen_eval.errors import VgenEvalError
    from vgen_eval.hookspecs import HOOKS

    for kind in HOOKS:
        try:
            component = catalog.component(kind, name, home=HOME)
        except VgenEvalError:
            continue
        yield _describe(kind, component)


def _describe(kind: str, component: Component) -> tuple[dict[str, Any], list[str]]:
    text = inspect.getdoc(component.obj) or ""
    options = list(_options(getattr(component.obj, "Options", None)))
    record: dict[str, Any] = {
        "kind": kind,
        "id": component.qualified,
        "version": getattr(component.obj, "version", None),
        "measures": getattr(component.obj, "measures", None),
        "text": text,
        "values": [msgspec.to_builtins(v) for v in getattr(component.obj, "values", ())],
        "options": options,
    }
    lines = [f"{kind} {component.name}   ({component.dist})", ""]
    lines += [f"  {line}".rstrip() for line in text.splitlines()]
    if record["values"]:
        lines += ["", "  reports"]
        reported = [[v["name"], _value(v)] for v in record["values"]]
        lines += terminal.fitted(reported, indent="    ")
    lines += ["", "  options" if options else "  no options"]
    rows = [
        [
            option["name"],
            "required" if option["required"] else jsonio.dumps(option["default"]).decode(),
            option["text"],
        ]
        for option in options
    ]
    return record, [*lines, *terminal.fitted(rows, indent="    ")]


def _value(value: dict[str, Any]) -> str:
    direction = "higher" if value["higher_is_better"] else "lower"
    unit = f"{value['unit']}, " if value["unit"] else ""
    return f"{value['aggregation']}, {unit}{direction} is better"


def _options(record: Any) -> Iterator[dict[str, Any]]:
    """Name, default and description of each field of an Options record."""
    if not (isinstance(record, type) and issubclass(record, msgspec.Struct)):
        return
    (schema,), components = msgspec.json.schema_components([record])
    named = components.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    described = named.get("properties", {})
    for field in msgspec.structs.fields(record):
        known = described.get(field.name, {})
        yield {
            "name": field.name,
            "required": field.required,
            "default": known.get("default"),
            "text": known.get("description", ""),
        }
