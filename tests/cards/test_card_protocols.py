"""A protocol is complete, or extends one that is."""

from __future__ import annotations

import msgspec
import pytest
from card_texts import TASK
from vgen_eval.cards import identity_digest, load_card, protocol
from vgen_eval.cards.records import AnswerCard, MetricCard, ProtocolCard, TaskCard
from vgen_eval.errors import UsageError


def load_task(path) -> TaskCard:
    record = load_card(path).record
    assert isinstance(record, TaskCard)
    return record


def test_the_keys_of_a_child_replace_the_parents_whole(write):
    task = load_task(write(TASK))
    paper, short = protocol(task, "paper"), protocol(task, "short")
    assert short.metrics == (MetricCard(name="depth_error"),)
    assert paper.metrics == (MetricCard(name="depth_error", options={"fit": "depth_lsq"}),)
    assert short.answers == paper.answers
    assert (short.primary, short.failure_value, short.extends) == ("abs_rel", "flat", None)


def test_a_child_may_say_a_default_against_its_parent(write):
    task = load_task(write(TASK))
    assert protocol(task, "paper").seed == "per_sample"
    assert protocol(task, "short").seed == "fixed"


def test_extending_is_the_same_as_writing_it_out(write):
    written = load_task(write(TASK.replace("    extends: paper\n    seed: fixed\n", "").replace(
        "  short:\n",
        "  short:\n"
        "    answers:\n"
        "      - {form: image, prompt: {mid: 'Paint {what}'}, decoder: luma, options: {gain: 2}}\n"
        "      - {form: depth_map}\n"
        "    primary: abs_rel\n"
        "    failure_value: flat\n",
    )))  # fmt: skip
    assert identity_digest(written) == identity_digest(load_task(write(TASK)))


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ("papr", "no protocol 'papr' in this card (did you mean 'paper'?)"),
        ("other", "'other' itself extends 'paper'; only a complete protocol can be extended"),
        ("short", "'short' itself extends 'short'; only a complete protocol can be extended"),
    ],
)
def test_extends_reaches_one_level_and_an_existing_protocol(parent, message, problems_of):
    text = TASK.replace("    extends: paper\n", f"    extends: {parent}\n")
    text = text.replace("default_protocol", "  other: {extends: paper}\ndefault_protocol")
    assert problems_of(text) == [f"16 protocols.short.extends: {message}"]


COMPLETE = ProtocolCard(
    answers=(AnswerCard(form="mask"),),
    metrics=(MetricCard(name="iou"),),
    primary="iou",
    failure_value="empty",
    attempts=3,
)


def task_of(**protocols: ProtocolCard) -> TaskCard:
    data = {"reader": "x", "licence": "x", "source": "x", "citation": "x"}
    return msgspec.convert(
        {"task": "a/b", "version": 1, "family": "x", "dataset": data, "default_protocol": "p",
         "protocols": {}},
        TaskCard,
    ).__replace__(protocols=protocols)  # fmt: skip


def test_records_made_in_python_are_resolved_when_asked_for():
    child = ProtocolCard(extends="p", seed="per_sample")
    assert protocol(task_of(p=COMPLETE, q=child), "q") == msgspec.structs.replace(
        COMPLETE, seed="per_sample"
    )
    with pytest.raises(UsageError, match="'r' of a/b extends 'q', which itself extends 'p'"):
        protocol(task_of(p=COMPLETE, q=child, r=ProtocolCard(extends="q")), "r")


@pytest.mark.parametrize("key", ["answers", "metrics", "primary", "failure_value"])
def test_a_protocol_with_a_part_missing_is_not_given(key):
    lacking = msgspec.structs.replace(COMPLETE, **{key: type(getattr(COMPLETE, key))()})
    with pytest.raises(UsageError, match=f"'p' of a/b is not complete: {key} not given"):
        protocol(task_of(p=lacking), "p")


def test_an_unknown_protocol_names_the_nearest():
    with pytest.raises(UsageError, match=r"task a/b has no protocol 'papr'\. Nearest: paper"):
        protocol(task_of(paper=COMPLETE), "papr")
    with pytest.raises(UsageError, match="no protocol 'old'"):
        protocol(task_of(p=ProtocolCard(extends="old")), "p")
