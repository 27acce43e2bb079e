"""YAML is composed with lines and limits, and nothing in it is ever constructed or run."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.cards import load_card, read_head
from vgen_eval.cards.problems import Problems
from vgen_eval.cards.walk import plain_of
from vgen_eval.cards.yaml_nodes import MAX_BYTES, MAX_DEPTH, CardLoader, compose
from vgen_eval.errors import CardError


class PythonLoader(yaml.SafeLoader):
    """The parser where libyaml is absent."""


MARKER = "MADE_BY_A_CARD"


@pytest.mark.parametrize("reader", [load_card, read_head])
@pytest.mark.parametrize(
    ("text", "line", "tag"),
    [
        (f"name: evil\nmetric: !!python/object/apply:os.makedirs [{MARKER}]\n", 2,
         "!!python/object/apply:os.makedirs"),
        ("name: evil2\nfn: !!python/name:os.system\n", 2, "!!python/name:os.system"),
        (f"task: a/b\nfamily: x\noptions:\n  - 1\n  - !!python/object/new:os.mkdir [{MARKER}]\n", 5,
         "!!python/object/new:os.mkdir"),
        ("task: a/b\nwhen: !!timestamp 2001-01-01\n", 2, "!!timestamp"),
        ("task: a/b\nraw: !!binary aGk=\n", 2, "!!binary"),
        ("task: a/b\nset: !!set {a}\n", 2, "!!set"),
        ("task: a/b\nenv: !ENV x\n", 2, "!ENV"),
        ("task: ! a/b\n", 1, "!"),
    ],
)  # fmt: skip
def test_a_foreign_tag_is_refused_by_name_and_line_and_runs_nothing(
    reader, text, line, tag, write, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CardError) as caught:
        reader(write(text))
    found = [p for p in caught.value.problems if f"tag {tag} " in p.message]
    assert [p.line for p in found] == [line]
    assert [p.name for p in tmp_path.iterdir()] == ["card.yaml"]


def test_a_tag_on_a_key_is_refused(problems_of):
    assert "1 : tag !!python/name:os.system is not allowed: a card holds plain data only" in (
        problems_of("!!python/name:os.system a: 1\n")
    )


def test_the_loader_itself_constructs_nothing():
    with pytest.raises(TypeError, match="never constructed"):
        CardLoader("a: 1").get_data()
    with pytest.raises(TypeError, match="never constructed"):
        CardLoader("a: 1").get_single_data()


def laughs(levels: int) -> str:
    lines = ["task: a/b", "family: x", "l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


BOMBS = {
    "aliases": laughs(9),
    "itself": "task: &a [*a]\n",
    "deep flow": "task: a/b\nx: " + "[" * 500_000,
    "deep flow mapping": "task: a/b\nx: " + "{a: " * 200_000,
    "deep block": "".join(" " * n + "a:\n" for n in range(1200)),
    "deep dashes": "x:\n  " + "- " * 400_000 + "1\n",
    "long list": "task: a/b\nx:\n" + "- a\n" * 200_000,
    "unknown keys": "task: a/b\n" + "".join(f"key{n}: 1\n" for n in range(45_000)),
    "one key again": "a: 1\n" * 100_000,
    "long number": "task: " + "9" * 900_000 + "\n",
    "long key": "task: a/b\n" + "k" * 900 + ": 1\n" + "d" * 900_000 + "\n",
    "bad characters": "task: a/b\nx: " + "\x01" * 900_000 + "\n",
    "brackets in keys": "? " * 300_000,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_quickly(name, write):
    path = write(BOMBS[name])
    began = time.perf_counter()
    with pytest.raises(CardError) as caught:
        load_card(path)
    assert time.perf_counter() - began < 5
    assert len(caught.value.problems) <= 102
    assert all(len(str(p)) < 1000 for p in caught.value.problems)


@pytest.mark.parametrize("name", ["aliases", "itself", "deep flow", "deep dashes"])
def test_a_head_is_not_read_from_a_bomb(name, write):
    with pytest.raises(CardError):
        read_head(write(BOMBS[name]))


def test_anchors_and_aliases_are_refused_each_at_its_place(problems_of):
    found = problems_of("task: &name a/b\nfamily: *name\n")
    assert [line for line in found if "anchors" in line] == [
        "1 task: anchors and aliases are not allowed in a card (&name): write it out",
        "2 family: anchors and aliases are not allowed in a card (*name): write it out",
    ]


def test_depth_is_allowed_up_to_the_limit():
    def nested(levels: int) -> str:
        return "a: " + "[" * levels + "]" * levels + "\n"

    problems = Problems("card")
    compose(nested(MAX_DEPTH), problems)
    with pytest.raises(CardError, match="nested deeper than 64 levels"):
        compose(nested(MAX_DEPTH + 1), problems)


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", None, "the file is empty"),
        (b"# only a comment\n", None, "the file is empty"),
        (b"---\n", 1, "a card is a mapping"),
        (b"- a\n- b\n", 1, "a card is a mapping"),
        (b"just text\n", 1, "a card is a mapping"),
        (b"\xef\xbb\xbftask: a/b\n", 1, "byte order mark"),
        ("task: a/b\n".encode("utf-16"), 1, "byte order mark"),
        (b"task: a/b\ntitle: caf\xe9\n", 2, "not UTF-8: byte 0xe9"),
        (b"task: a/b\n---\ntask: c/d\n", 2, "a second document begins"),
        (b"task: a/b\ntitle: [1, 2\n", 3, "not YAML"),
        (b"task: a/b\n\ttitle: x\n", 2, "not YAML"),
        (b"task: a\x00b\n", None, "not YAML: control characters are not allowed (U+0000)"),
        (b"task: a/b\n" + b"#" * MAX_BYTES, None, "larger than 1048576 bytes"),
    ],
)
def test_a_file_that_is_no_card_says_why(data, line, message, write):
    with pytest.raises(CardError) as caught:
        load_card(write(data))
    [problem] = caught.value.problems
    assert message in problem.message
    assert problem.line == line


def test_a_file_that_cannot_be_opened_is_a_card_error(tmp_path):
    with pytest.raises(CardError, match="cannot be read: No such file"):
        load_card(tmp_path / "absent.yaml")
    with pytest.raises(CardError, match="cannot be read: Is a directory"):
        read_head(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", ["3 a: key stands twice (first on line 1)"]),
        ("a: {b: 1, 'b': 2}\n", ["1 a.b: key stands twice (first on line 1)"]),
        (
            "a:\n  <<: {b: 1}\n",
            ["2 a: merge keys (<<) are not allowed in a card: write the keys out"],
        ),
        ("1: x\n", ["1 : the key 1 is not text; quote it: '1'"]),
        ("a: {true: x}\n", ["1 a: the key true is not text; quote it: 'true'"]),
        ("a: {? [b] : x}\n", ["1 a: a key must be text, not a list or a mapping"]),
        ("a: [1, .nan]\n", ["1 a[1]: .nan is no finite number; quote it if text is meant"]),
        ("a: !!int x\n", ["1 a: 'x' is no !!int"]),
        ("a: !!map [x]\n", ["1 a: !!map stands before a list"]),
        ("a: !!seq x\n", ["1 a: 'x' is no !!seq"]),
    ],
)
@pytest.mark.parametrize("loader", [CardLoader, PythonLoader])
def test_what_the_rules_refuse_is_told_with_line_and_path(text, expected, loader):
    problems = Problems("card")
    compose(text, problems, loader=loader)
    assert [f"{p.line} {p.path}: {p.message}" for p in problems.in_order()] == expected


def test_words_of_yaml_1_1_are_ordinary_keys():
    root, _ = compose("yes: 1\non: 2\nno: 3\n", Problems("card"))
    assert plain_of(root) == {"yes": 1, "on": 2, "no": 3}


def test_lines_are_those_of_the_keys():
    _, lines = compose("a:\n  b:\n    - 1\n    - c: |\n        text\nd: x\n", Problems("card"))
    assert lines == {"a": 1, "a.b": 2, "a.b[0]": 3, "a.b[1]": 4, "a.b[1].c": 4, "d": 6}


def test_keys_with_other_characters_are_quoted_in_paths():
    _, lines = compose("hashes: {rooms/a.mat: x}\n", Problems("card"))
    assert lines == {"hashes": 1, 'hashes["rooms/a.mat"]': 1}


# JSON escapes what lies above as two surrogates, which YAML does not know
TEXT = st.text(st.characters(max_codepoint=0xD7FF), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXT
    | st.floats(allow_nan=False, allow_infinity=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@pytest.mark.parametrize("loader", [CardLoader, PythonLoader])
@given(value=JSON)
def test_any_json_is_read_as_itself(loader, value):
    problems = Problems("card")
    root, _ = compose(json.dumps({"a": value}), problems, loader=loader)
    assert not problems.found
    assert plain_of(root) == {"a": value}


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_card_or_a_card_error(data, tmp_path_factory):
    path: Path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    with pytest.raises(CardError):
        load_card(path)
