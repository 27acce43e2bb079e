"""What keeps to the contract passes it: the toy, the example that people copy, the built-ins."""

from __future__ import annotations

import pytest
from contractkit import Make
from vgen_eval.cards import load_card
from vgen_eval.cards.terms import unfilled_terms
from vgen_eval.plugins import Catalog
from vgen_eval.testing import assert_conforms, check_plugin
from vgen_eval.testing.rules import KINDS, rules_of


def test_the_toy_passes_every_check(toy: Make) -> None:
    record = assert_conforms(toy())
    assert (record.plugin, record.version, record.failed) == ("toy-plug", "1.0", 0)
    skipped = {check.id for check in record.checks if check.outcome == "skipped"}
    assert skipped == {"model:rules::no_secret"}
    for kind in KINDS:  # each check was made, in its order
        made = [check.check for check in record.checks if check.subject.partition(":")[0] == kind]
        assert made == list(rules_of(kind))


def test_the_example_passes(example: str) -> None:
    record = assert_conforms(example)
    skipped = {check.id: check.detail for check in record.checks if check.outcome == "skipped"}
    assert skipped == {
        "model:mymodel::concurrency": "concurrency is 1",
        "model:mymodel::no_secret": "its card needs no key",
        "metric:luma_error::edge_cases": "its truths have no pixels",
    }


def test_no_card_of_ours_holds_a_placeholder(example: str) -> None:
    catalog = Catalog.discover()
    folders = [f for name in ("vgen-eval", example) for f in catalog.plugin(name).card_dirs]
    cards = [path for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    assert len(cards) > 5
    assert [str(problem) for path in cards for problem in unfilled_terms(path)] == []


@pytest.mark.slow
def test_the_built_ins_pass_and_every_adapter_of_theirs_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vgen_eval_plugins import vgen_adapters

    monkeypatch.setenv("VGEN_EVAL_PLUGINS", "")
    record = check_plugin("vgen-eval", timeout_s=300.0)
    faults = [f"{c.id}: {c.detail}" for c in record.failures]
    assert faults == []
    assert {c.subject.partition(":")[0] for c in record.checks} >= set(KINDS)
    answered = {c.subject.partition(":")[2] for c in record.checks
                if (c.check, c.outcome) == ("answers", "passed")}  # fmt: skip
    tried = {
        load_card(head.path).record.adapter.rpartition(":")[2]
        for _, head in Catalog.discover().heads("model")
        if head.name in answered
    }
    assert tried == set(vgen_adapters())
