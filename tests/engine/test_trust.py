"""Whose word it takes to send a key or build an environment, and who a model is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kit
import pytest
from billing import Billing, serving
from vgen_eval.cards.records import ModelCard, Needs
from vgen_eval.engine.models import Model, resolve_model
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.trust import demands_of, refuse
from vgen_eval.errors import CardError, MissingExtra, MissingKey, NotRunnable, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.types import Output

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture
def billing(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Billing, str]]:
    monkeypatch.setenv("TOY_KEY", KEY)
    made = Billing()
    with serving(made) as url:
        yield made, url


def keyed(folder: Path, url: str) -> str:
    """A card file of somebody's that names a key and where it goes."""
    fields = {"adapter": "toybench:service", "needs": {"key_env": "TOY_KEY"}}
    return kit.model(folder, card=fields, base_url=url)


def host_of(url: str) -> str:
    return url.removeprefix("http://")


def test_a_card_file_sends_no_key_anywhere_by_itself(
    toys: Path, billing: tuple[Billing, str]
) -> None:
    served, url = billing
    with pytest.raises(NotRunnable, match=r"would send the key in TOY_KEY to 127") as caught:
        kit.run(toys, tasks=kit.task(toys), model=keyed(toys, url))
    assert (caught.value.cure or "").startswith(f"--allow-host {host_of(url)} ")
    assert not served.arrivals


@pytest.mark.parametrize("way", ["host", "host_port", "model_args", "set"])
def test_it_does_where_the_user_names_the_host(
    toys: Path, billing: tuple[Billing, str], way: str
) -> None:
    served, url = billing
    word: dict[str, Any] = {
        "host": {"allow_host": "127.0.0.1"},
        "host_port": {"allow_host": ["other.example", host_of(url).upper()]},
        "model_args": {"model_args": {"base_url": f"{url}/"}},
        "set": {"set": {"options.base_url": url}},
    }[way]
    card = kit.run(toys, tasks=kit.task(toys), model=keyed(toys, url), **word)
    assert card.complete
    assert set(served.keys) == {f"Bearer {KEY}"}
    for path in (toys / "out").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_another_host_that_the_user_names_is_no_word_for_this_one(
    toys: Path, billing: tuple[Billing, str]
) -> None:
    served, url = billing
    with pytest.raises(NotRunnable, match="would send the key"):
        kit.run(toys, tasks=kit.task(toys), model=keyed(toys, url), allow_host=["127.0.0.2"])
    assert not served.arrivals


def test_a_key_that_is_not_set_is_named_before_any_call(
    toys: Path, billing: tuple[Billing, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_KEY")
    with pytest.raises(MissingKey, match="TOY_KEY is not set"):
        kit.run(toys, tasks=kit.task(toys), model=keyed(toys, billing[1]))
    assert not billing[0].arrivals


def resolve(name: str, **options: Any) -> Model:
    return resolve_model(
        name, Catalog.discover(), options=options, overrides={}, notices=[]
    )  # fmt: skip


def test_an_adapter_named_itself_uses_its_providers_key_with_its_provider_alone(
    toys: Path,
) -> None:
    model = resolve("toybench:service", base_url="http://127.0.0.1:9")
    assert model.card.needs.key_env is None
    assert model.trusted
    with pytest.raises(CardError, match=r"options\.base_url"):
        resolve("toybench:service")  # no address of its own


def test_an_adapter_named_itself_says_what_it_needs(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    monkeypatch.setattr(toybench.parts.Teller, "extra", "toys")
    monkeypatch.setattr(toybench.parts.Teller, "key_env", "TELLER_KEY")
    needs = resolve("toybench:teller").card.needs
    assert (needs.extra, needs.key_env) == ("toys", "TELLER_KEY")


class Quiet:
    endpoint = None


def command_model(*, trusted: bool, key_env: str | None = None, **options: Any) -> Model:
    card = ModelCard(
        model="other", adapter="vgen-eval:command", answers=("text",), licence="x",
        options=options, needs=Needs(key_env=key_env),
    )  # fmt: skip
    return Model(
        name="other", distribution="plug", card=card, adapter="vgen-eval:command",
        adapter_version="1", build=lambda _device: Quiet(), card_digest="", trusted=trusted,
    )  # type: ignore[arg-type, return-value]  # fmt: skip


ENV = {"requirements": ["torch==2.1"], "requirements_file": "more.txt"}


@pytest.mark.parametrize(
    ("trusted", "settings", "allowed"),
    [
        (False, {}, False),
        (True, {}, True),
        (False, {"allow_env": True}, True),
        (False, {"model_args": {"env": ENV}}, True),
        (False, {"set": {"options.env.requirements": []}}, True),
        (False, {"set": {"options.env": ENV}}, True),
        (False, {"set": {"options.envelope": 1}}, False),
        (False, {"model_args": {"envelope": 1}}, False),
        (False, {"model_args": {"base_url": "http://a"}}, False),
    ],
)
def test_an_environment_is_built_for_a_card_that_is_not_ours_when_the_user_says_so(
    settings: dict[str, Any], *, trusted: bool, allowed: bool
) -> None:
    model = command_model(trusted=trusted, env=ENV)
    found = demands_of(model, Quiet(), Settings(**settings))  # type: ignore[arg-type]
    assert found.environment == ("torch==2.1", "more.txt")
    assert found.environment_allowed is allowed


TYPED: list[dict[str, Any]] = [
    {},
    {"model_args": {"env": None}},
    {"set": {"options.env": None}},
    {"set": {"options.env.requirements": []}},
    {"set": {"options.envelope": 1}},
]


@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize(
    ("wants", "words"),
    [
        ({"key_env": "TOY_KEY"}, "give the key in TOY_KEY to its program"),
        ({"pass_env": ["AUTH", "HOST"]}, "pass AUTH, HOST to its program"),
    ],
)
def test_a_program_gets_a_key_or_a_variable_only_when_the_user_says_so(
    typed: dict[str, Any], wants: dict[str, Any], words: str
) -> None:
    model, quiet = command_model(trusted=False, **wants), Quiet()
    found = demands_of(model, quiet, Settings(**typed))  # type: ignore[arg-type]
    assert (found.environment, found.environment_allowed) == ((), True)
    assert not found.program_allowed
    with pytest.raises(NotRunnable) as caught:
        refuse(model, quiet, Settings(**typed))  # type: ignore[arg-type]
    assert caught.value.what == f"model 'other' (plug) would {words}"
    assert (caught.value.cure or "").startswith("--allow-env ")
    refuse(model, quiet, Settings(allow_env=True, **typed))  # type: ignore[arg-type]
    refuse(command_model(trusted=True, **wants), quiet, Settings(**typed))  # type: ignore[arg-type]


def test_all_that_wants_the_same_word_is_said_at_once() -> None:
    model = command_model(trusted=False, key_env="TOY_KEY", pass_env=["A"], env=ENV)
    with pytest.raises(NotRunnable) as caught:
        refuse(model, Quiet(), Settings())  # type: ignore[arg-type]
    assert caught.value.what.endswith(
        "would give the key in TOY_KEY to its program and pass A to its program "
        "and install torch==2.1, more.txt"
    )
    with pytest.raises(NotRunnable, match=r"to its program$"):
        refuse(model, Quiet(), Settings(model_args={"env": ENV}))  # type: ignore[arg-type]


def test_a_variable_passed_to_a_program_is_asked_for_before_anything_is_written(
    toys: Path,
) -> None:
    fields = {
        "adapter": "vgen-eval:command",
        "options": {"program": ["true"], "pass_env": ["WORD"]},
    }
    with pytest.raises(NotRunnable, match="would pass WORD to its program"):
        kit.run(toys, tasks=kit.task(toys), model=kit.model(toys, card=fields))
    assert not list((toys / "out").rglob("run.json"))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"model_args": {"base_url": f"http://127.0.0.1:9/{KEY}/v1"}}, "options.base_url"),
        ({"set": {"options.base_url": f"http://127.0.0.1:9/{KEY}/v1"}}, "options.base_url"),
        ({"set": {"generation": {"extra": [{"k": KEY}]}}}, "generation.extra.k"),
        ({"set": {"generation": {KEY: 1}}}, "generation"),
        ({"set": {"needs.serve": f"serve {KEY[:5]}\u200b{KEY[5:]}"}}, "needs.serve"),
    ],
)
def test_a_key_among_the_options_is_refused_before_it_is_written_down(
    toys: Path, billing: tuple[Billing, str], typed: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        kit.run(
            toys, tasks=kit.task(toys), model=keyed(toys, billing[1]),
            allow_host=["127.0.0.1"], **typed,
        )  # fmt: skip
    assert f"'teller': {words} holds a key" in caught.value.what
    assert "needs.key_env" in (caught.value.cure or "")
    assert KEY not in caught.value.what
    assert not billing[0].arrivals
    for path in (toys / "out").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.usefixtures("billing")
def test_an_answer_that_a_key_was_cut_out_of_says_so(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toybench.parts import Teller

    answers = ["1", f"1 {KEY}"]

    def generate(_self: Any, requests: Any) -> Iterator[Output]:
        for request in requests:
            yield Output(id=request.id, answer=answers.pop(), flags=("round",))

    monkeypatch.setattr(Teller, "generate", generate)
    named = kit.model(toys, card={"needs": {"key_env": "TOY_KEY"}})
    card = kit.run(toys, tasks=kit.task(toys, n=2), model=named)
    lines = sorted(kit.predictions(toys, card), key=lambda line: len(line["flags"]))
    assert [line["answer"]["value"] for line in lines] == ["1", "1 [TOY_KEY]"]
    assert [line["flags"] for line in lines] == [["round"], ["round", "redacted"]]


@pytest.mark.parametrize("name", ["", "A B", "A=B", "1A", "A-B"])
def test_the_variable_of_a_key_has_the_name_of_one(toys: Path, name: str) -> None:
    fields = {"adapter": "toybench:service", "needs": {"key_env": name}}
    with pytest.raises(CardError, match=r"needs\.key_env"):
        kit.run(toys, tasks=kit.task(toys), model=kit.model(toys, card=fields, base_url="http://a"))


def test_a_card_without_an_environment_asks_for_none() -> None:
    found = demands_of(command_model(trusted=False), Quiet(), Settings())  # type: ignore[arg-type]
    assert found.environment == ()
    assert found.environment_allowed


# --- who a model is -----------------------------------------------------------------------


def test_what_an_adapter_finds_out_of_a_model_is_part_of_its_identity(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    facts: dict[str, Any] = {}
    asked: list[Any] = []

    def identify(options: Any, card: Any) -> dict[str, Any]:
        asked.append((options.off, card.model))
        return facts

    monkeypatch.setattr(toybench.parts.Teller, "identify", identify)
    arguments = {"tasks": kit.task(toys), "model": kit.model(toys, off=1)}
    plain = kit.run(toys, **arguments)
    assert asked == [(1, "teller")]
    facts["commit"] = "abc"
    first = kit.run(toys, **arguments)
    facts["commit"] = "def"
    second = kit.run(toys, **arguments)
    assert len({plain.run, first.run, second.run}) == 3
    assert first.model_info["facts"] == {"commit": "abc"}
    record = kit.strict((kit.run_folder(toys, first) / "run.json").read_text())
    assert record["model_identity"]["facts"] == {"commit": "abc"}
    # scored again, it is the model that it was
    from vgen_eval.engine.rescore import rescore

    again = rescore(kit.run_folder(toys, first), Catalog.discover())
    assert again is not None
    assert again.model_info == first.model_info


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (MissingExtra("toys"), MissingExtra, "the extra 'toys'"),
        (UsageError("no such size"), UsageError, "no such size"),
        (ValueError("odd"), NotRunnable, "'teller' cannot be identified: ValueError: odd"),
        (SystemExit(3), NotRunnable, "cannot be identified: SystemExit: 3"),
        (["no", "mapping"], NotRunnable, "a mapping is wanted, list given"),
        ({"a": object()}, NotRunnable, "which JSON does not hold"),
        ({"a": float("nan")}, NotRunnable, "is nan"),
    ],
)
def test_a_model_that_cannot_be_identified_ends_with_its_cause(
    toys: Path, monkeypatch: pytest.MonkeyPatch, given: Any, kind: type[Exception], words: str
) -> None:
    import toybench.parts

    def identify(_options: Any, _card: Any) -> Any:
        if isinstance(given, BaseException):
            raise given
        return given

    monkeypatch.setattr(toybench.parts.Teller, "identify", identify)
    with pytest.raises(kind, match=words):
        kit.run(toys, tasks=kit.task(toys), model=kit.model(toys))


def test_a_key_in_what_an_adapter_raises_is_cut_out(
    toys: Path, billing: tuple[Billing, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.service

    def load(self: Any) -> None:
        raise RuntimeError(f"cannot log in with {os.environ['TOY_KEY']}")

    monkeypatch.setattr(toybench.service.Service, "load", load)
    with pytest.raises(NotRunnable) as caught:
        kit.run(toys, tasks=kit.task(toys), model=keyed(toys, billing[1]), allow_host=["127.0.0.1"])
    assert caught.value.what.endswith("RuntimeError: cannot log in with [TOY_KEY]")
