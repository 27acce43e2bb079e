"""Models that cannot go on, or never could: what is written, who is asked again, who goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kit
import pytest
import vgen_eval
from billing import PRICE, Billing, serving
from vgen_eval.errors import AccessDenied, MissingKey

KEY = "sk-planted-denied-0123456789"


def service(folder: Path, url: str) -> str:
    """The card of a model that asks the toy service, one call after the other."""
    limits = {"backoff_s": 0.0, "concurrency": 1}
    fields = {"adapter": "toybench:service", "price": PRICE, "limits": limits}
    return kit.model(folder, name="served", card=fields, base_url=url)


def test_tries_of_a_denied_first_call_are_counted_on_the_card_and_ever_after(toys: Path) -> None:
    billing = Billing()
    billing.deny_after = 0
    arguments = {"tasks": kit.task(toys, n=6)}
    with serving(billing) as url:
        arguments["model"] = service(toys, url)
        for _ in range(2):
            with pytest.raises(AccessDenied):
                kit.run(toys, **arguments)
            (path,) = (toys / "out").rglob("result_card.json")
            card = kit.strict(path.read_text())
            assert (card["complete"], card["counts"]["not_run"]) == (False, 6)
            assert card["volatile"]["tries"] == len(billing.arrivals)
        billing.deny_after = None
        finished = kit.run(toys, **arguments)
    assert finished.complete
    assert finished.volatile["tries"] == len(billing.arrivals)


def test_a_denied_model_is_not_asked_again_for_its_other_runs(toys: Path) -> None:
    denied = Billing()
    denied.deny_after = 0
    tasks = [kit.task(toys, name=f"t{number}", n=5) for number in range(4)]
    for number, path in enumerate(map(Path, tasks)):
        path.write_text(json.dumps({**json.loads(path.read_text()), "task": f"toys/t{number}"}))
    with serving(denied) as url:
        results = vgen_eval.evaluate(
            tasks=tasks, model=service(toys, url), bounds=False, output=str(toys / "out")
        )
    assert len(denied.arrivals) == 1
    assert len(results.skipped) == 4
    assert len({skip.reason for skip in results.skipped}) == 1
    # of those that nothing was asked of no folder is left
    assert len(list((toys / "out").rglob("run.json"))) == 1


def test_a_run_that_could_not_begin_leaves_no_folder(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    def load(_self: Any) -> None:
        raise vgen_eval.MissingExtra("data")

    monkeypatch.setattr(toybench.parts.Teller, "load", load, raising=False)
    with pytest.raises(vgen_eval.MissingExtra):
        kit.run(toys, tasks=kit.task(toys, n=3), model=kit.model(toys))
    assert not list((toys / "out").rglob("run.json"))
    assert not list((toys / "out" / "runs").rglob("*"))


def test_a_model_that_cannot_run_is_skipped_and_the_others_run(toys: Path) -> None:
    lacking = kit.model(toys, name="lacking", card={"runnable": False, "reason": "no weights"})
    results = vgen_eval.evaluate(
        tasks=kit.task(toys, n=3), models=[lacking, kit.model(toys)], bounds=False,
        output=str(toys / "out"),
    )  # fmt: skip
    assert [card.complete for card in results] == [True]
    (skip,) = results.skipped
    assert skip.model == lacking
    assert "no weights" in skip.reason
    assert results.exit_code() == 3
    with pytest.raises(vgen_eval.NotRunnable, match="no weights"):
        kit.run(toys, tasks=kit.task(toys, n=3), model=lacking)


def test_a_key_that_is_not_set_hurts_its_own_model_and_none_that_is_complete(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed = kit.model(toys, name="keyed", card={"needs": {"key_env": "TOY_KEY"}})
    arguments: dict[str, Any] = {"tasks": kit.task(toys, n=3), "output": str(toys / "out")}
    with pytest.raises(MissingKey):
        kit.run(toys, tasks=arguments["tasks"], model=keyed)
    results = vgen_eval.evaluate(models=[keyed, kit.model(toys)], bounds=False, **arguments)
    assert [card.model for card in results] != ["keyed"]
    assert [skip.model for skip in results.skipped] == ["keyed"]
    assert results.exit_code() == 3
    with monkeypatch.context() as patch:
        patch.setenv("TOY_KEY", KEY)
        first = kit.run(toys, tasks=arguments["tasks"], model=keyed)
    again = kit.run(toys, tasks=arguments["tasks"], model=keyed)  # nothing is left to be asked
    assert again.content_digest == first.content_digest
