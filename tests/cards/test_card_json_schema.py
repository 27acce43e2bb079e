"""The JSON Schemas that editors use say what the reader of cards says."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from card_texts import MODEL, SUITE, TASK
from jsonschema import Draft202012Validator
from vgen_eval.cards import json_schema
from vgen_eval.cards.load import RECORDS
from vgen_eval.cards.problems import Problems
from vgen_eval.cards.schema import FILES, main, write_schemas
from vgen_eval.cards.walk import node_of, plain_of, walk_record
from vgen_eval.cards.yaml_nodes import compose
from vgen_eval.errors import UsageError

DOCS = Path(__file__).parents[2] / "docs"
TEXTS = {"task": TASK, "model": MODEL, "suite": SUITE}


def data_of(kind: str) -> Any:
    return plain_of(compose(TEXTS[kind], Problems("card"))[0])


@pytest.mark.parametrize("kind", FILES)
def test_the_schemas_in_docs_are_up_to_date(kind, tmp_path):
    write_schemas(tmp_path)
    name = FILES[kind]
    assert (DOCS / name).read_text() == (tmp_path / name).read_text(), (
        "run: python -m vgen_eval.cards.schema docs"
    )


@pytest.mark.parametrize("kind", FILES)
def test_a_schema_is_valid_named_and_closed(kind):
    schema = json_schema(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:vgen-eval:schema:{kind}-card"
    assert schema["title"] == f"vgen-eval {kind} card"
    assert schema["description"].endswith(".")
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values())


def test_every_key_of_a_card_is_described():
    for kind in FILES:
        for name, part in json_schema(kind)["$defs"].items():
            for key, value in part["properties"].items():
                assert value.get("description"), f"{name}.{key}"


SOUND = [
    ("task", ["dataset", "n"], 3), ("task", ["dataset", "root"], None),
    ("task", ["protocols", "paper", "sampling"], {"limit": 5, "unit": "image"}),
    ("model", ["limits"], {"timeout_s": 1, "backoff_s": 0.5}), ("model", ["price"], None),
    ("model", ["answers"], ["mask"]), ("suite", ["aggregate"], "mean"),
]  # fmt: skip
FAULTY = [
    ("task", ["task"], "A b"), ("task", ["task"], 3), ("task", ["version"], 0),
    ("task", ["version"], True), ("task", ["version"], "1"), ("task", ["version"], 1.5),
    ("task", ["family"], ""), ("task", ["titel"], "x"), ("task", ["title"], None),
    ("task", ["dataset"], []), ("task", ["dataset", "n"], 0), ("task", ["dataset", "hash"], {}),
    ("task", ["dataset", "hashes"], {"a": 1}), ("task", ["dataset", "sizes"], {"a": "1"}),
    ("task", ["dataset", "layout_checked"], "offical"), ("task", ["dataset", "options"], None),
    ("task", ["protocols"], ["paper"]), ("task", ["protocols", "paper"], None),
    ("task", ["protocols", "paper", "answers"], "image"),
    ("task", ["protocols", "paper", "answers"], [{}]),
    ("task", ["protocols", "paper", "answers"], [{"form": "imag"}]),
    ("task", ["protocols", "paper", "metrics"], [{"name": "a b"}]),
    ("task", ["protocols", "paper", "attempts"], 1001),
    ("task", ["protocols", "paper", "sampling"], {"seed": -1}),
    ("task", ["protocols", "paper", "input"], {"long_side": 7}),
    ("model", ["answers"], []), ("model", ["role"], "editor"), ("model", ["verified"], "no"),
    ("model", ["limits"], {"timeout_s": 0}), ("model", ["price"], {"per_image_usd": -1}),
    ("model", ["exposure"], [{"task": "x", "status": "maybe", "source": "y"}]),
    ("model", ["checkpoint"], "x"), ("suite", ["tasks"], []), ("suite", ["tasks"], [1]),
    ("suite", ["aggregate"], None),
]  # fmt: skip
REQUIRED = [
    (kind, field)
    for kind, record in RECORDS.items()
    for field in ("task", "version", "family", "dataset", "protocols", "default_protocol", "model",
                  "adapter", "answers", "licence", "suite", "tasks")
    if field in record.__struct_fields__
]  # fmt: skip


def verdicts(kind: str, data: Any) -> tuple[bool, bool]:
    """Does the schema accept it, and does the reader of cards?"""
    problems = Problems("card")
    walk_record(RECORDS[kind], node_of(data, problems), problems)
    return Draft202012Validator(json_schema(kind)).is_valid(data), not problems.found


def changed(kind: str, path: list[str], value: Any) -> Any:
    data = copy.deepcopy(data_of(kind))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


@pytest.mark.parametrize("kind", FILES)
def test_a_sound_card_passes_both(kind):
    assert verdicts(kind, data_of(kind)) == (True, True)


@pytest.mark.parametrize(("kind", "path", "value"), SOUND)
def test_a_sound_change_passes_both(kind, path, value):
    assert verdicts(kind, changed(kind, path, value)) == (True, True)


@pytest.mark.parametrize(("kind", "path", "value"), FAULTY)
def test_a_fault_is_refused_by_both(kind, path, value):
    assert verdicts(kind, changed(kind, path, value)) == (False, False)


@pytest.mark.parametrize(("kind", "field"), REQUIRED)
def test_a_missing_key_is_refused_by_both(kind, field):
    data = data_of(kind)
    del data[field]
    assert verdicts(kind, data) == (False, False)


@pytest.mark.parametrize(("kind", "path", "value"), SOUND + FAULTY)
def test_the_walk_and_msgspec_agree(kind, path, value):
    data = changed(kind, path, value)
    try:
        msgspec.convert(data, RECORDS[kind])
    except msgspec.ValidationError:
        accepted = False
    else:
        accepted = True
    assert verdicts(kind, data)[1] == accepted


def test_the_module_writes_its_folder(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "vgen_eval.cards.schema", str(tmp_path / "new")],
        capture_output=True, text=True, check=False, timeout=60,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted(FILES.values())


def test_wrong_usage_is_told(capsys):
    assert main([]) == 2
    assert "usage: python -m vgen_eval.cards.schema DIR" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"no kind of card 'tsk'\. Nearest: task"):
        json_schema("tsk")
