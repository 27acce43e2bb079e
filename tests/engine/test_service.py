"""Runs against a service that bills, refuses, breaks, drops and hangs: no limit is crossed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kit
import pytest
import vgen_eval
from billing import PRICE, Billing, serving
from vgen_eval.errors import AccessDenied, UsageError

AT_ONCE = 16
PER_MINUTE = 60_000


def service(folder: Path, url: str, *, name: str = "served", **card: Any) -> str:
    limits = {"tries": 12, "backoff_s": 0.01, "concurrency": AT_ONCE}
    fields = {
        "adapter": "toybench:service",
        "price": PRICE,
        **card,
        "limits": {**limits, **card.get("limits", {})},
    }
    return kit.model(folder, name=name, card=fields, base_url=url)


def most_within(arrivals: list[float], seconds: float) -> int:
    """The most arrivals in any span of so many seconds."""
    times, first, most = sorted(arrivals), 0, 0
    for last, moment in enumerate(times):
        while moment - times[first] > seconds:
            first += 1
        most = max(most, last - first + 1)
    return most


def test_two_thousand_requests_are_answered_whatever_the_service_does(toys: Path) -> None:
    billing = Billing(faults=True)
    with serving(billing) as url:
        model = service(toys, url, limits={"per_minute": PER_MINUTE})
        card = kit.run(toys, tasks=kit.task(toys, n=2_000), model=model)
    assert card.complete
    assert card.counts.statuses == {"ok": 2_000}
    assert card.score().value == 0
    # every way to fail was there, and every one was met
    assert set(billing.said) == {
        "limited", "broken", "billed", "cut", "dropped", "hangs", "answer"
    }  # fmt: skip
    assert billing.most_at_once <= AT_ONCE
    # a second more than the span: what is begun in time may arrive late
    assert most_within(billing.arrivals, 2.0) <= 3.0 * PER_MINUTE / 60
    took = card.volatile
    assert took["cost_usd"] == float(billing.bill)
    assert took["unpriced"] == 0
    assert (took["calls"], took["tries"]) == (2_000, len(billing.arrivals))
    assert took["reported_models"] == [{"model": "toy-2", "answers": 2_000}]
    assert took["latency_s"].keys() == {"p50", "p90", "p99"}
    lines = kit.predictions(toys, card)
    failed = [name for p in lines for name in p["volatile"].get("failed_request_ids", ())]
    answered = billing.said["limited"] + billing.said["broken"] + billing.said["billed"]
    assert len(failed) == len(set(failed)) == answered


def test_a_money_budget_is_kept_and_the_run_goes_on_to_the_exact_bill(toys: Path) -> None:
    billing = Billing(faults=True)
    task = kit.task(toys, n=300)
    with serving(billing) as url:
        model = service(toys, url)
        arguments = {"tasks": task, "models": model, "bounds": False, "output": str(toys / "out")}
        first = vgen_eval.evaluate(**arguments, max_cost=0.05)
        spent = float(billing.bill)
        assert 0.04 < spent <= 0.05
        assert first.exit_code() == 1
        assert first.stopped
        reason = first.stop_reason or ""
        assert reason.startswith("stopped: budget of $0.05 reached, $0.04")
        assert reason.endswith("spent; the same command goes on, and may use as much again")
        (card,) = first
        assert not card.complete
        assert card.counts.infrastructure == 0
        assert card.counts.not_run > 0
        assert card.volatile["cost_usd"] == spent
        (card,) = vgen_eval.evaluate(**arguments, max_cost=5.0)
    assert card.complete
    assert card.counts.statuses == {"ok": 300}
    assert card.volatile["cost_usd"] == float(billing.bill)
    assert card.volatile["tries"] == len(billing.arrivals)


@pytest.mark.parametrize(("budget", "most"), [({"max_calls": 25}, 25), ({"max_calls": 1}, 1)])
def test_a_budget_of_calls_counts_tries_and_is_never_crossed(
    toys: Path, budget: dict[str, Any], most: int
) -> None:
    billing = Billing(faults=True)
    with serving(billing) as url:
        results = vgen_eval.evaluate(
            tasks=kit.task(toys, n=60), model=service(toys, url), output=str(toys / "out"), **budget
        )
    assert len(billing.arrivals) == most
    assert results.stop_reason == (
        f"stopped: budget of {most} call{'' if most == 1 else 's'} reached, {most} made; "
        "the same command goes on, and may use as much again"
    )
    (card,) = results
    assert card.ceiling is not None  # ceiling and floor are free
    assert card.volatile["tries"] == most


def test_a_budget_of_tokens_is_kept(toys: Path) -> None:
    billing = Billing()
    with serving(billing) as url:
        results = vgen_eval.evaluate(
            tasks=kit.task(toys, n=90), model=service(toys, url), bounds=False,
            output=str(toys / "out"), max_tokens=70_000,
        )  # fmt: skip
    (card,) = results
    used = card.volatile["usage"]
    assert 68_000 < used["input_tokens"] + used["output_tokens"] <= 70_000
    assert "budget of 70,000 tokens reached" in (results.stop_reason or "")


def test_one_purse_pays_for_all_jobs_of_a_command(toys: Path) -> None:
    billing = Billing()
    with serving(billing) as url:
        results = vgen_eval.evaluate(
            tasks=kit.task(toys, n=10), model=service(toys, url), prompt=["short", "mid"],
            output=str(toys / "out"), max_calls=15,
        )  # fmt: skip
    assert [card.counts.answered for card in results] == [10, 5]
    assert results.exit_code() == 1


def test_an_answer_of_unknown_cost_ends_a_run_with_a_money_budget(toys: Path) -> None:
    billing = Billing()
    with serving(billing) as url:
        model = service(toys, url, price=None)
        arguments = {"tasks": kit.task(toys, n=60), "models": model, "output": str(toys / "out")}
        results = vgen_eval.evaluate(**arguments, max_cost=1.0)
        assert len(billing.arrivals) == 1  # it went alone
        assert results.exit_code() == 1
        assert "costs is not known" in (results.stop_reason or "")
        assert "--set price.per_million_output_usd=" in (results.stop_reason or "")
        (card,) = vgen_eval.evaluate(
            **arguments, max_cost=1.0,
            set={"price.per_million_output_usd": 2.5, "price.per_million_input_usd": 0.3},
        )  # fmt: skip
    assert card.complete


def test_a_price_that_nobody_named_is_refused_before_any_call_where_a_key_is_used(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", "sk-planted-0123456789")
    billing = Billing()
    with serving(billing) as url:
        model = service(toys, url, price=None, needs={"key_env": "TOY_KEY"})
        with pytest.raises(UsageError, match="names no price") as caught:
            kit.run(toys, tasks=kit.task(toys), model=model, max_cost=1.0)
    assert "--set price.per_million_output_usd=" in (caught.value.cure or "")
    assert not billing.arrivals


def test_a_service_that_takes_no_more_calls_ends_the_run_and_what_is_finished_stays(
    toys: Path,
) -> None:
    billing = Billing()
    billing.deny_after = 20
    arguments = {"tasks": kit.task(toys, n=60)}
    with serving(billing) as url:
        arguments["model"] = service(toys, url)
        with pytest.raises(AccessDenied, match="status 401") as caught:
            kit.run(toys, **arguments)
        assert caught.value.cure == "another key"
        (path,) = (toys / "out").rglob("result_card.json")
        card = kit.strict(path.read_text())
        assert not card["complete"]
        assert card["counts"]["answered"] == billing.answers >= 20
        assert card["counts"]["infrastructure"] == 0
        billing.deny_after = None
        finished = kit.run(toys, **arguments)
    assert finished.complete
    assert billing.answers == 60
    assert finished.volatile["cost_usd"] == float(billing.bill)


def test_a_service_that_denies_the_first_call_is_not_stormed(toys: Path) -> None:
    billing = Billing()
    billing.deny_after = 0
    with serving(billing) as url, pytest.raises(AccessDenied):
        kit.run(toys, tasks=kit.task(toys, n=60), model=service(toys, url))
    assert len(billing.arrivals) <= 2  # slow start: no storm of refused calls
    for path in (toys / "out").rglob("result_card.json"):
        assert kit.strict(path.read_text())["counts"]["answered"] == 0


def test_of_several_models_the_others_go_on(toys: Path) -> None:
    denied = Billing()
    denied.deny_after = 3
    with serving(denied) as bad_url, serving(Billing()) as good_url:
        results = vgen_eval.evaluate(
            tasks=kit.task(toys, n=10), bounds=False, output=str(toys / "out"),
            models=[service(toys, bad_url, name="bad"), service(toys, good_url, name="good")],
        )  # fmt: skip
    assert [card.model for card in results] == ["good"]
    (skip,) = results.skipped
    assert (skip.model, skip.reason) == ("bad", "status 401 (another key)")
    assert results.exit_code() == 3
    (partial,) = (toys / "out" / "runs" / "bad").rglob("result_card.json")
    assert json.loads(partial.read_text())["counts"]["answered"] >= 3


def test_a_service_meets_few_calls_at_first_and_more_as_it_answers(toys: Path) -> None:
    billing = Billing(work_s=0.05)
    with serving(billing) as url:
        kit.run(toys, tasks=kit.task(toys, n=2), model=service(toys, url, name="two"))
        assert billing.most_at_once <= 2
        kit.run(toys, tasks=kit.task(toys, n=150), model=service(toys, url, name="many"))
    assert 8 <= billing.most_at_once <= AT_ONCE


def test_calls_are_spread_over_the_minute_from_the_first_on(toys: Path) -> None:
    billing = Billing(work_s=0.0)
    with serving(billing) as url:
        model = service(toys, url, limits={"per_minute": 1200})
        kit.run(toys, tasks=kit.task(toys, n=15), model=model)
    # 60.5 s hold 1200: 50.4 ms between two
    assert billing.arrivals[-1] - billing.arrivals[0] >= 14 * 0.050
