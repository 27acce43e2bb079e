"""YAML text as a tree of nodes with lines: composed from the parser's events, nothing constructed.

Cards are read by the YAML 1.2 core rules and a little less: no anchors, aliases, merge keys or
foreign tags, so that a file is never larger than it looks and never names code to run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NoReturn

import msgspec
import yaml

from vgen_eval.cards.problems import Problems, join, join_index, show
from vgen_eval.cards.scalars import CORE_TAGS, PREFIX, resolve_plain, resolve_tagged

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "CardLoader", "Node", "compose", "read_text"]

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_NODES = 50_000

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class CardLoader(_Base):  # type: ignore[misc]
    """The C parser (the Python one where it is absent) as a source of events, and no more."""

    def construct_object(self, node: Any, deep: bool = False) -> NoReturn:
        """Refuse: cards are composed here and never constructed."""
        raise TypeError(f"cards are never constructed: {node.tag}, deep={deep}")

    construct_document = construct_object


class Node(msgspec.Struct):
    """One value of a card. `value`: a scalar, list[Node] or dict[str, Node]; None when bad."""

    kind: Literal["scalar", "list", "mapping", "bad"]
    value: Any
    line: int | None = None
    """Line of the key or the list entry that holds it, from 1."""
    text: str = ""
    """A scalar as it was written."""


def read_text(path: Path) -> str:
    """The text of a card file; CardError when it cannot be read, is too large or not UTF-8."""
    problems = Problems(str(path))
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as exc:
        raise problems.fatal(f"cannot be read: {exc.strerror or exc}") from exc
    if len(data) > MAX_BYTES:
        raise problems.fatal(f"larger than {MAX_BYTES} bytes; no card is")
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise problems.fatal("starts with a byte order mark; save it as UTF-8 without one", line=1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise problems.fatal(
            f"not UTF-8: byte 0x{data[exc.start]:02x}; save it as UTF-8", line=line
        ) from exc


def refuse_syntax(problems: Problems, exc: yaml.YAMLError) -> NoReturn:
    """Raise the parser's own complaint as a CardError with its line."""
    mark = getattr(exc, "problem_mark", None) or getattr(exc, "context_mark", None)
    what = getattr(exc, "problem", None) or getattr(exc, "reason", None) or "cannot be read"
    character = getattr(exc, "character", None)
    if isinstance(character, int):
        what = f"{what} (U+{character:04X})"
    raise problems.fatal(f"not YAML: {what}", line=mark.line + 1 if mark else None) from exc


def property_fault(event: Any) -> str | None:
    """What is wrong with an event's tag or anchor; None when nothing is."""
    if type(event) is yaml.AliasEvent or event.anchor is not None:
        sign = "*" if type(event) is yaml.AliasEvent else "&"
        return f"anchors and aliases are not allowed in a card ({sign}{event.anchor}): write it out"
    if event.tag is not None and event.tag not in CORE_TAGS:
        short = event.tag.replace(PREFIX, "!!")[:120]
        return f"tag {short} is not allowed: a card holds plain data only"
    return None


def compose(
    text: str, problems: Problems, *, loader: type[Any] = CardLoader
) -> tuple[Node, dict[str, int]]:
    """The one document's node tree, and path -> line of every value in it.

    Faults that leave a readable rest go to `problems` and a `bad` node; others raise CardError.
    """
    composer = _Composer(loader(text), problems)
    try:
        return composer.compose_document(), composer.lines
    except yaml.YAMLError as exc:
        refuse_syntax(problems, exc)


class _Composer:
    """Turns the events of one document into nodes."""

    def __init__(self, source: Any, problems: Problems) -> None:
        self.next_event = source.get_event
        self.problems = problems
        self.lines: dict[str, int] = {}
        self.count = 0

    def compose_document(self) -> Node:
        """The root; CardError for an empty file or a second document."""
        self.next_event()  # start of the stream
        if type(self.next_event()) is yaml.StreamEndEvent:
            raise self.problems.fatal("the file is empty")
        root = self.compose_node(self.next_event(), path="", line=None, depth=0)
        self.next_event()  # end of the document
        event = self.next_event()
        if type(event) is not yaml.StreamEndEvent:
            raise self.problems.fatal(
                "a second document begins; a file holds one card", line=event.start_mark.line + 1
            )
        return root

    def compose_node(self, event: Any, *, path: str, line: int | None, depth: int) -> Node:
        """The node that starts with `event`, its children included."""
        line = event.start_mark.line + 1 if line is None else line
        if path:
            self.lines[path] = line
        self.count += 1
        if self.count > MAX_NODES:
            raise self.problems.fatal(f"more than {MAX_NODES} values", line=line)
        if depth > MAX_DEPTH:
            raise self.problems.fatal(f"nested deeper than {MAX_DEPTH} levels", line=line)
        fault = property_fault(event)
        if fault:
            self.problems.add(fault, line=event.start_mark.line + 1, path=path)
        if type(event) is yaml.MappingStartEvent:
            node = self.compose_mapping(path, line, depth)
        elif type(event) is yaml.SequenceStartEvent:
            node = self.compose_list(path, line, depth)
        elif type(event) is yaml.AliasEvent:
            return Node("bad", None, line)
        else:
            return self.compose_scalar(event, path, line) if not fault else Node("bad", None, line)
        if event.tag is not None and not fault:
            fault = self.check_collection_tag(event, node, path, line)
        return Node("bad", None, line) if fault else node

    def check_collection_tag(self, event: Any, node: Node, path: str, line: int) -> str | None:
        """The fault, noted, of a core tag on the wrong kind of node."""
        if event.tag == PREFIX + ("map" if node.kind == "mapping" else "seq"):
            return None
        fault = f"{event.tag.replace(PREFIX, '!!')} stands before {show(node.value)}"
        self.problems.add(fault, line=line, path=path)
        return fault

    def compose_scalar(self, event: Any, path: str, line: int) -> Node:
        """A scalar with its value by the core schema."""
        try:
            value = _scalar_value(event)
        except ValueError as exc:
            self.problems.add(str(exc), line=line, path=path)
            return Node("bad", None, line)
        return Node("scalar", value, line, event.value)

    def compose_list(self, path: str, line: int, depth: int) -> Node:
        """A list up to its end."""
        items: list[Node] = []
        while type(event := self.next_event()) is not yaml.SequenceEndEvent:
            items.append(
                self.compose_node(
                    event, path=join_index(path, len(items)), line=None, depth=depth + 1
                )
            )
        return Node("list", items, line)

    def compose_mapping(self, path: str, line: int, depth: int) -> Node:
        """A mapping up to its end; a key that stands twice keeps its first value."""
        entries: dict[str, Node] = {}
        while type(event := self.next_event()) is not yaml.MappingEndEvent:
            at = event.start_mark.line + 1
            key = self.compose_key(event, path, at, depth)
            if key is None:
                self.compose_node(self.next_event(), path=f"{path}[?]", line=at, depth=depth + 1)
                continue
            below = join(path, key)
            first = entries.get(key)
            if first is not None:
                self.problems.add(
                    f"key stands twice (first on line {first.line})", line=at, path=below
                )
                below += " (again)"
            node = self.compose_node(self.next_event(), path=below, line=at, depth=depth + 1)
            entries.setdefault(key, node)
        return Node("mapping", entries, line)

    def compose_key(self, event: Any, path: str, line: int, depth: int) -> str | None:
        """The key as text; None, with the fault noted, for any other."""
        if type(event) is not yaml.ScalarEvent:
            self.compose_node(event, path=f"{path}[?]", line=line, depth=depth + 1)
            self.problems.add("a key must be text, not a list or a mapping", line=line, path=path)
            return None
        fault = property_fault(event)
        if fault is None and event.value == "<<" and event.implicit[0]:
            fault = "merge keys (<<) are not allowed in a card: write the keys out"
        if fault is None:
            try:
                value = _scalar_value(event)
            except ValueError:
                value = None
            if isinstance(value, str):
                return value
            fault = f"the key {event.value[:60] or 'null'} is not text; quote it: '{event.value}'"
        self.problems.add(fault, line=line, path=path)
        return None


def _scalar_value(event: Any) -> Any:
    """A scalar event's value; ValueError with the fault."""
    value: Any = event.value
    if event.tag is not None:
        value = resolve_tagged(event.tag, value)
    elif event.implicit[0]:
        value = resolve_plain(value)
    if type(value) is str and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as exc:
            raise ValueError("holds half of a surrogate pair, which is no character") from exc
    return value
