"""Settings from outside a card: read as a card's values, set at their typed place."""

from __future__ import annotations

import pytest
from card_texts import MODEL, TASK
from vgen_eval.cards import load_card, override, parse_setting, protocol
from vgen_eval.cards.records import ModelCard, ProtocolCard, TaskCard
from vgen_eval.errors import UsageError


@pytest.fixture
def model(write) -> ModelCard:
    record = load_card(write(MODEL)).record
    assert isinstance(record, ModelCard)
    return record


@pytest.fixture
def paper(write) -> ProtocolCard:
    record = load_card(write(TASK)).record
    assert isinstance(record, TaskCard)
    return protocol(record, "paper")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("a.b=1e-3", "a.b", 0.001), ("n=12", "n", 12), ("a=no", "a", "no"), ("a=true", "a", True),
        ("a=16:9", "a", "16:9"), ("a=x=y", "a", "x=y"), ("a=", "a", None), ("a=~", "a", None),
        ('a=""', "a", ""), ('a=" "', "a", " "), ("a='12'", "a", "12"),
        ("a=[1, no]", "a", [1, "no"]),
        ("a={b: 1.5}", "a", {"b": 1.5}), (" a = 1 ", "a", 1), ("a=http://x:80/#y", "a",
         "http://x:80/#y"), ("a=*.png", "a", "*.png"), ("a[0].b=1", "a[0].b", 1),
        ("a=!!python/name:os.system", "a", "!!python/name:os.system"),
        ("a=it's {x}", "a", "it's {x}"),
    ],
)  # fmt: skip
def test_a_setting_is_read_by_the_rules_of_cards(text, key, value):
    seen = parse_setting(text)
    assert seen == (key, value)
    assert type(seen[1]) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "'a' is no setting"), ("", "is no setting"), ("=1", "is no setting"),
        ("a..b=1", "'a..b' is no key"), (".a=1", "is no key"), ("a.=1", "is no key"),
        ("a[x]=1", "is no key"), ("[0]=1", "is no key"), ("a[0]b=1", "is no key"),
        ("a= ", "only blanks"), ("a=.nan", "no finite number"), ("a=[1", "not YAML"),
        ("a=[*x]", "anchors and aliases"), ("a={b: !!python/name:os.system }", "tag !!python/name"),
        ('a="x" y', "not YAML"), ("a={b: 1, b: 2}", "key stands twice"),
    ],
)  # fmt: skip
def test_a_malformed_setting_is_a_usage_error(text, message):
    with pytest.raises(UsageError) as caught:
        parse_setting(text)
    assert message in str(caught.value)


def test_free_mappings_take_any_key_and_make_the_levels_above(model):
    changed = override(
        model, {"generation.seed": 7, "options.a.b": 1, 'options["x.y"].z': [1], "options.steps": 9}
    )
    assert changed.generation == {"seed": 7, "dtype": "bfloat16"}
    assert changed.options == {"steps": 9, "a": {"b": 1}, "x.y": {"z": [1]}}
    assert model.options == {"steps": 4}


def test_typed_fields_are_set_by_their_type(model):
    changed = override(
        model,
        {
            "checkpoint.repo": "acme/x",
            "limits.timeout_s": 30,
            "answers": ["mask"],
            "answers[0]": "text",
        },
    )
    assert changed.checkpoint is not None
    assert changed.checkpoint.repo == "acme/x"
    assert (changed.limits.timeout_s, changed.answers) == (30.0, ("text",))


def test_list_entries_are_reached_by_both_spellings(paper):
    for key in ("answers[0].options.threshold", "answers.0.options.threshold"):
        changed = override(paper, {key: 0.5})
        assert changed.answers[0].options == {"gain": 2, "threshold": 0.5}
        assert changed.answers[1] == paper.answers[1]
    changed = override(paper, {"metrics.0.options.fit": "x", "sampling.limit": 10, "attempts": 3})
    assert (changed.metrics[0].options["fit"], changed.sampling.limit) == ("x", 10)


def test_nothing_set_gives_an_equal_record(model, paper):
    assert override(model, {}) == model
    assert override(paper, {}) == paper


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"generaton.seed": 1}, "generaton: unknown key (did you mean 'generation'?)"),
        ({"limits.tris": 1}, "limits.tris: unknown key (did you mean 'tries'?)"),
        ({"limits.tries": 0}, "limits.tries: 0 must be at least 1"),
        ({"limits.tries": "x", "role": "mdel"}, "role: 'mdel' is not one of"),
        (
            {"checkpoint.revision": 7},
            "checkpoint.revision: wanted text, got the number 7; quote it",
        ),
        ({"answers[2]": "text"}, "answers[2]: the list has 2 entries, counted from 0"),
        ({"answers.x": "text"}, "answers is a list: 'x' is no index"),
        ({"answers[0]": "txt"}, "answers[0]: 'txt' is not one of"),
        ({"options[0]": 1}, "options is a mapping and has no entry 0"),
        ({"options.steps.x": 1}, "options.steps is the number 4; nothing can be set below it"),
        ({"licence": None}, "licence: wanted text, got nothing (null)"),
        ({"licence.x": 1}, "licence is text 'Apache-2.0'; nothing can be set below it"),
        ({"source.x": 1}, "source is nothing (null); nothing can be set below it"),
        ({"generation.x": float("inf")}, "generation.x: inf is no finite number"),
        ({"generation.x": {1}}, "generation.x: wanted plain data, got a set"),
        ({"": 1}, "'' is no key"),
    ],
)
def test_a_setting_that_does_not_fit_is_a_usage_error(settings, message, model):
    with pytest.raises(UsageError) as caught:
        override(model, settings)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2
