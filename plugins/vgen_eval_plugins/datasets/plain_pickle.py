"""Pickles of plain data alone: containers, numbers and text; whatever could run code is refused."""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import Any, NoReturn

__all__ = ["load_plain"]

_PLAIN = frozenset((
    "PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "DUP", "NONE", "NEWTRUE", "NEWFALSE",
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE",
    "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "EMPTY_LIST", "LIST", "APPEND",
    "APPENDS", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS", "EMPTY_TUPLE", "TUPLE", "TUPLE1",
    "TUPLE2", "TUPLE3", "EMPTY_SET", "FROZENSET", "ADDITEMS", "PUT", "BINPUT", "LONG_BINPUT",
    "MEMOIZE", "GET", "BINGET", "LONG_BINGET",
))  # fmt: skip
"""Opcodes that can build nothing but plain data."""

_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})


_TUPLES = frozenset({"TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "FROZENSET"})
"""What may be a key or a member, and lie in another: to hash a deep one takes for ever."""

MOST_TUPLES = 24
"""Of a pickle; the releases that are read here have none."""


class _PlainUnpickler(pickle.Unpickler):
    """The second door: no opcode that gets here looks a class up, and none would find one."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise ValueError(f"it names {module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise ValueError(f"it names an object outside of it, {pid!r}")


def load_plain(data: bytes) -> Any:
    """The dicts, lists, tuples, sets, numbers and texts of a pickle; nothing in it is ever called.

    Bytes of Python 2 are read as text: UTF-8, or Latin-1 where they are not. ValueError for a
    pickle that names a class or a function, with its name, for one that builds anything else, and
    for one that is cut off or no pickle at all.
    """
    _check_opcodes(data)
    try:
        try:
            return _PlainUnpickler(io.BytesIO(data), encoding="utf-8").load()
        except UnicodeDecodeError:
            return _PlainUnpickler(io.BytesIO(data), encoding="latin-1").load()
    except (pickle.UnpicklingError, EOFError, TypeError, LookupError) as exc:
        raise ValueError(f"it is no whole pickle: {exc}") from exc
    except (AttributeError, OverflowError, MemoryError) as exc:
        raise ValueError(f"it is no pickle of plain data: {type(exc).__name__}") from exc


def _check_opcodes(data: bytes) -> None:
    """ValueError for the first opcode that could do more than build plain data."""
    names = ("?", "?")  # the last two texts, which STACK_GLOBAL takes for module and name
    puts = tuples = 0
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name not in _PLAIN:
                raise _Refused(opcode.name, argument, names)
            tuples += opcode.name in _TUPLES
            if tuples > MOST_TUPLES:
                raise ValueError(f"it holds more than {MOST_TUPLES} tuples, which may nest")
            if isinstance(argument, str):
                names = (names[1], argument)
            elif opcode.name in _PUTS:
                puts += 1
                # a place far beyond the entries would be room reserved for nothing
                place = int(argument or 0)
                if not 0 <= place <= 2 * puts + 1024:
                    raise ValueError(f"it keeps entry {puts} at place {place}")
    except _Refused as exc:
        raise ValueError(str(exc)) from None
    except (ValueError, IndexError, UnicodeDecodeError) as exc:
        raise ValueError(f"it is no whole pickle: {exc}") from exc


class _Refused(ValueError):
    """An opcode that has no place in plain data."""

    def __init__(self, opcode: str, argument: Any, names: tuple[str, str]) -> None:
        if opcode in ("GLOBAL", "INST"):
            named = ".".join(str(argument).split(" ", 1))
        elif opcode == "STACK_GLOBAL":
            named = ".".join(names)
        else:
            super().__init__(f"it holds {opcode}, which plain data has no use for")
            return
        super().__init__(f"it names {named}: a pickle that names a class can run code")
