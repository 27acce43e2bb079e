"""A node tree held against a declared record type: all faults at once, then the plain data."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import msgspec.inspect as mi

from vgen_eval.cards.problems import Problems, clip, did_you_mean, join, join_index, show
from vgen_eval.cards.scalars import Scalar
from vgen_eval.cards.yaml_nodes import MAX_DEPTH, Node
from vgen_eval.errors import BrokenPlugin

__all__ = ["build", "convert", "describe", "node_of", "plain_of", "type_of", "walk_record"]

S = TypeVar("S", bound=msgspec.Struct)

_LISTS = (mi.ListType, mi.VarTupleType, mi.SetType, mi.FrozenSetType, mi.CollectionType)
_NAMES_SHOWN = 12


@functools.cache
def type_of(cls: type[msgspec.Struct]) -> mi.StructType:
    """The declared fields of a record type; BrokenPlugin when its annotations cannot be read."""
    try:
        info = mi.type_info(cls)
    except (TypeError, NameError, AttributeError) as exc:
        raise BrokenPlugin(f"{cls.__module__}.{cls.__qualname__} cannot be read: {exc}") from exc
    if not isinstance(info, mi.StructType):
        raise BrokenPlugin(f"{cls.__module__}.{cls.__qualname__} is no msgspec.Struct")
    return info


def convert(cls: type[S], mapping: Mapping[str, Any], *, file: str, path: str = "") -> S:
    """The record that a plain mapping spells; CardError with all problems.

    `file` and `path` say where the mapping stands, for the messages.
    """
    problems = Problems(file)
    data = walk_record(cls, node_of(mapping, problems, path=path), problems, path=path)
    problems.check()
    return build(cls, data, problems, path=path)


def walk_record(cls: type[S], node: Node, problems: Problems, *, path: str = "") -> Any:
    """The plain data of a node that should be a `cls`; faults go to `problems`."""
    return _Walker(problems).walk(node, type_of(cls), path)


def build(cls: type[S], data: Any, problems: Problems, *, path: str = "") -> S:
    """The record of data that was walked; CardError when the record itself refuses it."""
    try:
        return msgspec.convert(data, cls)
    except msgspec.ValidationError as exc:  # a __post_init__, or a type that is not walked
        what, _, where = str(exc).partition(" - at `$")
        below = where.rstrip("`")
        raise problems.fatal(what, path=path + below if path else below.lstrip(".")) from exc


def node_of(value: Any, problems: Problems, *, path: str = "", depth: int = 0) -> Node:
    """A node tree, without lines, of plain Python values; faults go to `problems`."""
    fault = None
    if depth > MAX_DEPTH:
        fault = f"nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, Mapping):
        entries = {}
        for key, item in value.items():
            if not isinstance(key, str):
                problems.add(f"the key {key!r} is not text", path=path)
                continue
            entries[key] = node_of(item, problems, path=join(path, key), depth=depth + 1)
        return Node("mapping", entries)
    elif isinstance(value, (list, tuple)):
        items = [
            node_of(item, problems, path=join_index(path, index), depth=depth + 1)
            for index, item in enumerate(value)
        ]
        return Node("list", items)
    elif isinstance(value, float) and not -float("inf") < value < float("inf"):
        fault = f"{value} is no finite number"
    elif type(value) is int and not -(2**63) <= value < 2**63:
        fault = "the number does not fit 64 bits"
    elif value is not None and not isinstance(value, (str, int, float)):
        fault = f"wanted plain data, got {show(value)}"
    if fault:
        problems.add(fault, path=path)
        return Node("bad", None)
    return Node("scalar", value, None, "" if value is None else str(value))


def plain_of(node: Node) -> Any:
    """The plain values below a node: dict, list and scalars."""
    if node.kind == "mapping":
        return {key: plain_of(item) for key, item in node.value.items()}
    if node.kind == "list":
        return [plain_of(item) for item in node.value]
    return node.value


def describe(info: mi.Type) -> str:
    """What a type wants, in words."""
    info = _bare(info)
    if isinstance(info, mi.UnionType):
        return " or ".join(describe(option) for option in info.types)
    if isinstance(info, mi.LiteralType):
        return "one of " + _names(info.values)
    if isinstance(info, (mi.StructType, mi.DictType)):
        return "a mapping"
    if isinstance(info, _LISTS):
        return "a list"
    words = {mi.StrType: "text", mi.IntType: "a whole number", mi.FloatType: "a number"}
    words |= {mi.BoolType: "true or false", mi.NoneType: "null"}
    return words.get(type(info), type(info).__name__.removesuffix("Type").lower())


def _names(values: Any) -> str:
    shown = [str(value) for value in values]
    return ", ".join(shown[:_NAMES_SHOWN]) + (", ..." if len(shown) > _NAMES_SHOWN else "")


def _bare(info: mi.Type) -> mi.Type:
    return info.type if isinstance(info, mi.Metadata) else info


class _Walker:
    """Walks a node beside a type; every method gives the plain value and notes the faults."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems

    def walk(self, node: Node, info: mi.Type, path: str) -> Any:
        """The plain value of a node that must fit `info`."""
        info = _bare(info)
        if node.kind == "bad":  # noted where it was read
            return None
        if isinstance(info, mi.UnionType):
            return self.walk_union(node, info, path)
        if isinstance(info, mi.StructType) and not info.array_like:
            return self.walk_struct(node, info, path)
        if isinstance(info, mi.DictType):
            return self.walk_mapping(node, info, path)
        if isinstance(info, _LISTS):
            return self.walk_list(node, info, path)
        if isinstance(info, mi.LiteralType):
            return self.walk_literal(node, info, path)
        if isinstance(info, (mi.StrType, mi.IntType, mi.FloatType, mi.BoolType, mi.NoneType)):
            return self.walk_scalar(node, info, path)
        return plain_of(node)  # Any, and types that msgspec itself checks at the end

    def fault(self, message: str, node: Node, path: str) -> None:
        """Note a fault of this node."""
        self.problems.add(message, line=node.line, path=path)

    def wrong_type(self, node: Node, info: mi.Type, path: str) -> None:
        """Note that a node is not what its place wants, with the cure where one is plain."""
        cure = ""
        if isinstance(info, mi.StrType) and node.kind == "scalar" and node.value is not None:
            cure = f"; quote it: '{node.text[:60]}'"
        elif isinstance(info, _LISTS) and node.kind == "scalar" and node.value is not None:
            cure = f"; write [{node.text[:60]}]"
        self.fault(f"wanted {describe(info)}, got {show(node.value)}{cure}", node, path)

    def walk_union(self, node: Node, info: mi.UnionType, path: str) -> Any:
        """By the one alternative of the node's kind."""
        options = [option for option in map(_bare, info.types) if _is_kind(node, option)]
        if not options:
            rest = [_bare(t) for t in info.types if not isinstance(_bare(t), mi.NoneType)]
            self.wrong_type(node, rest[0] if len(rest) == 1 else info, path)
            return None
        if len(options) > 1:  # int and float, or records told apart by a tag: msgspec decides
            return plain_of(node)
        return self.walk(node, options[0], path)

    def walk_struct(self, node: Node, info: mi.StructType, path: str) -> Any:
        """Known keys by their types; unknown and missing ones are noted."""
        if node.kind != "mapping":
            return self.wrong_type(node, info, path)
        fields = {field.encode_name: field for field in info.fields}
        values = {}
        for key, item in node.value.items():
            below = join(path, key)
            if key in fields:
                values[key] = self.walk(item, fields[key].type, below)
            elif key == info.tag_field:
                values[key] = plain_of(item)
            else:
                self.fault(f"unknown key{did_you_mean(key, fields)}", item, below)
        for name, field in fields.items():
            if field.required and name not in node.value:
                self.fault(f"required key is missing{_meaning(field.type)}", node, join(path, name))
        return values

    def walk_mapping(self, node: Node, info: mi.DictType, path: str) -> Any:
        """Any keys that fit the key type, values by theirs."""
        if node.kind != "mapping":
            return self.wrong_type(node, info, path)
        self.check_length(node, info, path)
        values = {}
        for key, item in node.value.items():
            below = join(path, key)
            self.walk(Node("scalar", key, item.line, key), info.key_type, below)
            values[key] = self.walk(item, info.value_type, below)
        return values

    def walk_list(self, node: Node, info: Any, path: str) -> Any:
        """Every entry by the entry type."""
        if node.kind != "list":
            return self.wrong_type(node, info, path)
        self.check_length(node, info, path)
        return [
            self.walk(item, info.item_type, join_index(path, index))
            for index, item in enumerate(node.value)
        ]

    def walk_literal(self, node: Node, info: mi.LiteralType, path: str) -> Scalar:
        """One of the values named."""
        for value in info.values:
            if type(value) is type(node.value) and value == node.value:
                return value
        seen = clip(node.value) if isinstance(node.value, str) else show(node.value)
        near = did_you_mean(node.value, info.values) if isinstance(node.value, str) else ""
        self.fault(f"{seen} is not one of {_names(info.values)}{near}", node, path)
        return None

    def walk_scalar(self, node: Node, info: Any, path: str) -> Scalar:
        """Text, a number, a truth value or null, within its bounds."""
        if not _is_kind(node, info):
            self.wrong_type(node, info, path)
            return None
        value: Scalar = node.value
        if isinstance(value, str):
            self.check_length(node, info, path)
            if info.pattern is not None and not _fits(info.pattern, value):
                self.fault(f"{clip(value)} does not fit {info.pattern}", node, path)
        elif isinstance(info, (mi.IntType, mi.FloatType)):
            self.check_bounds(node, info, path)
        return value

    def check_bounds(self, node: Node, info: Any, path: str) -> None:
        """Note a number out of its declared range."""
        value = node.value
        for bound, words, inside in (
            (info.ge, "at least", info.ge is None or value >= info.ge),
            (info.gt, "more than", info.gt is None or value > info.gt),
            (info.le, "at most", info.le is None or value <= info.le),
            (info.lt, "less than", info.lt is None or value < info.lt),
            (
                info.multiple_of,
                "a multiple of",
                not info.multiple_of or not value % info.multiple_of,
            ),
        ):
            if not inside:
                self.fault(f"{value!r} must be {words} {bound}", node, path)

    def check_length(self, node: Node, info: Any, path: str) -> None:
        """Note text, a list or a mapping of a length that is not allowed."""
        length = len(node.value)
        if info.min_length is not None and length < info.min_length:
            what = "must not be empty" if length == 0 else f"needs at least {info.min_length}"
            self.fault(what if length == 0 else f"{what}, has {length}", node, path)
        if info.max_length is not None and length > info.max_length:
            self.fault(f"may have at most {info.max_length}, has {length}", node, path)


def _meaning(info: mi.Type) -> str:
    """ ": Licence of the data." from a field's description."""
    extra = info.extra_json_schema if isinstance(info, mi.Metadata) else None
    text = (extra or {}).get("description")
    return f": {text}" if text else ""


def _fits(pattern: str, text: str) -> bool:
    # Python's $ also matches before a final newline, which no name may end with
    strict = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    return re.search(strict, text) is not None


def _is_kind(node: Node, info: mi.Type) -> bool:
    """Is the node of the sort that the type takes, its bounds aside?"""
    value = node.value
    if isinstance(info, (mi.StructType, mi.DictType)):
        return node.kind == "mapping"
    if isinstance(info, _LISTS):
        return node.kind == "list"
    if isinstance(info, mi.LiteralType):
        return any(type(value) is type(option) for option in info.values)
    if isinstance(info, mi.StrType):
        return isinstance(value, str)
    if isinstance(info, mi.BoolType):
        return isinstance(value, bool)
    if isinstance(info, mi.IntType):
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(info, mi.FloatType):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(info, mi.NoneType):
        return node.kind == "scalar" and value is None
    return True
