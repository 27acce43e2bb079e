"""Pickles: plain data comes out as it went in, and nothing that could run code gets anywhere."""

from __future__ import annotations

import collections
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
from vgen_eval_plugins.datasets.plain_pickle import load_plain

PLAIN: Any = [
    {"ref_id": 1, "big": 1 << 70, "real": 0.5, "none": None, "yes": True, "text": "a caf\u00e9"},
    [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
    [-1, 255, 70_000, -(1 << 40)],
    ["same", "same"] * 3,
    {},
]


class Payload:
    """Creates a file when it is unpickled by anyone who trusts it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data_comes_out_as_it_went_in(protocol: int) -> None:
    assert load_plain(pickle.dumps(PLAIN, protocol)) == PLAIN


@pytest.mark.parametrize("protocol", [4, 5])
def test_sets_and_bytes_are_plain(protocol: int) -> None:
    data = {"set": {1, 2}, "frozen": frozenset("ab"), "bytes": b"\x00\xff"}
    assert load_plain(pickle.dumps(data, protocol)) == data


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("deep", [False, True])
def test_a_payload_is_named_and_never_run(protocol: int, deep: bool, tmp_path: Path) -> None:
    trap = tmp_path / "made"
    data = pickle.dumps([{"refs": Payload(trap)}] if deep else Payload(trap), protocol)
    with pytest.raises(ValueError, match=rf"{os.mkdir.__module__}\.mkdir"):
        load_plain(data)
    assert not trap.exists()
    pickle.loads(data)  # the trap is a real one
    assert trap.is_dir()


@pytest.mark.parametrize(
    "value",
    [collections.OrderedDict(a=1), Path("x"), complex(1, 2), range(3), bytearray(b"x"), ValueError],
)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_harmless_classes_are_refused_all_the_same(value: Any, protocol: int) -> None:
    with pytest.raises(ValueError, match=r"names|BYTEARRAY8"):
        load_plain(pickle.dumps([value], protocol))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"\x80\x02U\x01aQ.", "BINPERSID"),
        (b"Paddress\n.", "PERSID"),
        (b"\x80\x02}}b.", "BUILD"),
        (b"(ios\nsystem\n.", "os.system"),
        (b"\x80\x05\x97.", "NEXT_BUFFER"),
        (b"", "no whole pickle"),
        (b"\x80\x02]q", "no whole pickle"),
        (b"\x89PNG\r\n", "PERSID"),
        (b"\x80\x02h\x07.", "no whole pickle"),
        (b"\x80\x02N", "no whole pickle"),
        (b"\x80\x02T\xff\xff\xff\x7fab", "no whole pickle"),
        (b"\x80\x02Nr" + struct.pack("<I", 0x7FFFFFF0) + b".", "place 2147483632"),
        (b"\x80\x02}]Ns.", "plain data|whole pickle"),
    ],
)
def test_what_is_no_plain_pickle_is_told_apart(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        load_plain(data)


def test_every_cut_of_a_pickle_is_refused() -> None:
    data = pickle.dumps(PLAIN, 2)
    for end in range(len(data)):
        with pytest.raises(ValueError, match="pickle"):
            load_plain(data[:end])


def test_text_of_python_2_is_utf_8_or_latin_1() -> None:
    assert load_plain(b"\x80\x02U\x05caf\xc3\xa9.") == "caf\u00e9"
    assert load_plain(b"\x80\x02U\x04caf\xe9.") == "caf\u00e9"
    assert load_plain(b"(lp0\nS'two'\np1\naI7\naL9L\na.") == ["two", 7, 9]


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04})" + b"\x85" * 200_000 + b"Ns.",  # a tuple in a tuple in a tuple, as a key
        b"\x80\x04}N" + b"2\x86" * 60 + b"Ns.",  # each twice the one before
    ],
    ids=["deep", "doubled"],
)
def test_a_key_that_takes_for_ever_to_hash_is_refused(data):
    with pytest.raises(ValueError, match="more than 24 tuples"):
        load_plain(data)
