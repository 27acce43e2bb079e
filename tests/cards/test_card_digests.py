"""Two digests: everything in a card, and only what can change an answer or a score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import pytest
from card_texts import MODEL, TASK
from vgen_eval.cards import card_digest, identity, identity_digest, load_card

PROVENANCE = [
    ("licence: CC0", "licence: MIT"),
    ("citation: b", "citation: c"),
    ("source: a", "source: z"),
    ("title: How far", "title: Measures how far"),
    ("  paper:\n", "  paper:\n    title: Ours\n    source: a paper\n"),
    ("root: rooms,", "root: rooms, sizes: {a: 1}, layout_checked: sample, terms: none,"),
]
SUBSTANCE = [
    ("version: 1", "version: 2"),
    ("mid: 'Paint {what}'", "mid: 'Paint {what}.'"),
    ("gain: 2", "gain: 3"),
    ("root: rooms,", "root: rooms, n: 3,"),
    ("seed: per_sample", "seed: per_sample\n    attempts: 2"),
    ("failure_value: flat", "failure_value: skip"),
    ("    seed: fixed\n", ""),
    ("default_protocol: paper", "default_protocol: short"),
]


def digests(write, text: str) -> tuple[str, str]:
    loaded = load_card(write(text))
    return loaded.card_digest, loaded.identity_digest


@pytest.mark.parametrize(("old", "new"), PROVENANCE)
def test_provenance_changes_the_card_digest_alone(old, new, write):
    assert old in TASK
    before, after = digests(write, TASK), digests(write, TASK.replace(old, new))
    assert before[0] != after[0]
    assert before[1] == after[1]


@pytest.mark.parametrize(("old", "new"), SUBSTANCE)
def test_substance_changes_both_digests(old, new, write):
    assert old in TASK
    before, after = digests(write, TASK), digests(write, TASK.replace(old, new))
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    "more",
    [
        "limits: {tries: 9}\n", "price: {per_image_usd: 0.04}\n", "needs: {vram_gb: 60}\n",
        "developer: acme\n", "verified: false\n",
        "exposure: [{task: depth, status: none, source: x}]\n",
    ],
)  # fmt: skip
def test_what_a_run_costs_and_needs_is_not_identity(more, write):
    before, after = digests(write, MODEL), digests(write, MODEL + more)
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_spelling_order_and_written_defaults_change_neither_digest(write):
    lines = MODEL.splitlines()
    respelt = "# a comment\n" + "\n".join(reversed(lines)) + "\nrole: model\ncheckpoint: null\n"
    respelt = respelt.replace("[image, text]", "\n  - 'image'\n  - text")
    assert digests(write, MODEL) == digests(write, respelt)


def test_an_identity_is_short_plain_and_without_defaults(write):
    assert identity(load_card(write(MODEL)).record) == {
        "model": "acme/editor",
        "adapter": "painter",
        "answers": ["image", "text"],
        "options": {"steps": 4},
        "generation": {"seed": 3, "dtype": "bfloat16"},
    }


def test_the_digest_is_sha256_of_sorted_json(write):
    record = load_card(write(MODEL)).record
    text = json.dumps(identity(record), sort_keys=True, separators=(",", ":"))
    assert identity_digest(record) == hashlib.sha256(text.encode()).hexdigest()


class Old(msgspec.Struct, frozen=True):
    name: str
    options: Mapping[str, Any] = {}


class New(msgspec.Struct, frozen=True):
    name: str
    late: int | None = None
    part: Old = Old("x")
    options: Mapping[str, Any] = {}
    note: Annotated[str, msgspec.Meta(extra={"provenance": True})] = ""


@pytest.mark.parametrize("digest", [card_digest, identity_digest])
@pytest.mark.parametrize("options", [{}, {"a": None, "b": [], "c": {}}])
def test_a_new_optional_field_leaves_old_digests_alone(digest, options):
    old, new = Old("n", options), New("n", options=options)
    assert digest(old) == digest(new)
    assert digest(new) != digest(msgspec.structs.replace(new, late=0))
    assert digest(new) != digest(msgspec.structs.replace(new, part=Old("y")))


class Holder(msgspec.Struct, frozen=True):
    part: New = New("n")
    maybe: New | None = None
    parts: tuple[New, ...] = ()
    by_name: Mapping[str, New] = {}


def test_provenance_inside_parts_is_left_out_of_the_identity_at_every_depth():
    noted = New("n", note="where it comes from")
    plain, with_notes = (
        Holder(part=part, maybe=part, parts=(part,), by_name={"k": part})
        for part in (New("n"), noted)
    )
    assert identity(plain) == identity(with_notes)
    assert identity(with_notes) == {
        "maybe": {"name": "n"}, "parts": [{"name": "n"}], "by_name": {"k": {"name": "n"}},
    }  # fmt: skip
    assert card_digest(plain) != card_digest(with_notes)


def test_a_free_mapping_is_kept_whole():
    assert identity(Old("n", {"z": None, "a": False, "l": (1, 2)})) == {
        "name": "n", "options": {"z": None, "a": False, "l": [1, 2]},
    }  # fmt: skip
