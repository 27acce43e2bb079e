"""What is sound of a card that breaks its schema, so that one check tells the rest as well."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
import msgspec.inspect as mi

from vgen_eval.cards.problems import join, join_index
from vgen_eval.cards.walk import plain_of, type_of
from vgen_eval.cards.yaml_nodes import Node
from vgen_eval.errors import Problem

__all__ = ["LOST", "prune", "told_already"]

LOST: Any = object()
"""Stands for a value that is faulty and has no default to take its place."""

_LISTS = (mi.ListType, mi.VarTupleType)


def prune(cls: type[msgspec.Struct], node: Node, bad: Collection[str]) -> Any:
    """The plain data of a node that should be a `cls`, its faulty parts left out, or LOST.

    bad: paths of the faults. An optional field goes alone; a required one takes its record along,
    and a record in a list takes the list, since the places of the others would no longer be right.
    """
    return _prune(node, type_of(cls), "", bad)


def _prune(node: Node, info: mi.Type, path: str, bad: Collection[str]) -> Any:
    info = info.type if isinstance(info, mi.Metadata) else info
    if path in bad or node.kind == "bad":
        return LOST
    if isinstance(info, mi.UnionType):
        return _prune(node, _alternative(node, info), path, bad)
    if isinstance(info, mi.StructType) and node.kind == "mapping":
        return _prune_record(node, info, path, bad)
    if isinstance(info, mi.DictType) and node.kind == "mapping":
        pruned = {
            key: _prune(item, info.value_type, join(path, key), bad)
            for key, item in node.value.items()
        }
        return {key: item for key, item in pruned.items() if item is not LOST}
    if isinstance(info, _LISTS) and node.kind == "list":
        entries = [
            _prune(item, info.item_type, join_index(path, index), bad)
            for index, item in enumerate(node.value)
        ]
        return LOST if any(entry is LOST for entry in entries) else entries
    return plain_of(node)


def _prune_record(node: Node, info: mi.StructType, path: str, bad: Collection[str]) -> Any:
    values = {}
    for field in info.fields:
        name = field.encode_name
        value = LOST
        if name in node.value:
            value = _prune(node.value[name], field.type, join(path, name), bad)
        if value is not LOST:
            values[name] = value
        elif field.required:
            return LOST
    return values


def _alternative(node: Node, info: mi.UnionType) -> mi.Type:
    """The alternative of the node's kind, as far as it has parts of its own."""
    wanted = {"mapping": (mi.StructType, mi.DictType), "list": _LISTS}.get(node.kind, ())
    for option in info.types:
        bare = option.type if isinstance(option, mi.Metadata) else option
        if wanted and isinstance(bare, wanted):
            return bare
    return mi.AnyType()


def told_already(problem: Problem, first: Collection[Problem]) -> bool:
    """Is a later fault only what follows from one of the first?

    A record in a list (an answer, a metric) with a fault of its own is not judged further; of other
    records only the keys beside the fault are.
    """
    for fault in first:
        parent = fault.path[: max(fault.path.rfind("."), fault.path.rfind("["), 0)]
        inside = problem.path == parent or problem.path.startswith((f"{parent}.", f"{parent}["))
        if parent.endswith("]") and inside:
            return True
        beside = problem.path[: max(problem.path.rfind("."), problem.path.rfind("["), 0)]
        if problem.path == fault.path or (beside == parent and inside and parent):
            return True
    return False
