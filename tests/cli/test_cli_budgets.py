"""Budgets, prices, hours, keys and what is missing, as a person at a terminal sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from clikit import Command

COUNTING = ("--tasks", "samples/counting", "--no-bounds")
KEY = "sk-planted-cli-0123456789abcdef"


def card(folder: Path, *more: str, name: str = "mine") -> str:
    """A card file of the slow model with further lines."""
    path = folder / f"{name}.yaml"
    lines = [f"model: {name}", "adapter: plug-noise:slow", "answers: [text]", "licence: x", *more]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_budget_stops_the_run_with_a_word_and_the_same_command_goes_on(vgen: Command) -> None:
    words = (*COUNTING, "--model", "plug-noise:slow", "--limit", "4")
    done = vgen(*words, "--max-calls", "3")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "stopped: budget of 3 calls reached, 3 made; "
        "the same command goes on, and may use as much again",
        "kept 3 of 4.",
    ]
    assert "incomplete after" in done.stdout
    done = vgen(*words, "--max-calls", "3", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["stop_reason"] is None


def test_a_budget_reads_as_json(vgen: Command) -> None:
    done = vgen(
        *COUNTING, "--model", "plug-noise:slow", "--limit", "2", "--max-calls", "1", "--json"
    )
    assert done.returncode == 1
    outcome = json.loads(done.stdout)
    assert outcome["stopped"]
    assert outcome["stop_reason"].startswith("stopped: budget of 1 call reached, 1 made")


@pytest.mark.parametrize("option", ["--max-calls", "--max-tokens", "--max-cost"])
def test_a_budget_of_nothing_is_refused(vgen: Command, option: str) -> None:
    done = vgen(*COUNTING, "--model", "plug-noise:slow", option, "0")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {option}: ")


def test_hours_are_those_that_the_card_allows_until_a_run_has_measured_them(
    vgen: Command, tmp_path: Path
) -> None:
    model = card(tmp_path, "limits: {per_minute: 600}")
    words = (*COUNTING, "--model", model)
    assert (
        "total 13 calls, about 1.3 s at 600 a minute (no measured rate yet)"
        in vgen(*words, "--dry-run").stdout
    )
    assert vgen(*words, "--limit", "4").returncode == 0
    plan = json.loads(vgen(*words, "--dry-run", "--json").stdout)
    [job] = plan["jobs"]
    assert job["rate_from"] == "measured"
    # a quarter of a second a call, one at a time
    assert 60 < job["calls_per_minute"] < 240
    assert job["estimated_hours"] == pytest.approx(
        13 / job["calls_per_minute"] / 60, rel=0.02, abs=1e-4
    )
    assert "a minute (as measured)" in vgen(*words, "--dry-run").stdout


def test_hours_are_those_that_bench_measured_until_a_run_has(vgen: Command) -> None:
    words = ("--model", "plug-noise:slow")
    assert vgen("bench", *words, "--task", "samples/counting", "--samples", "1").returncode == 0
    done = vgen(*COUNTING, *words, "--dry-run")
    assert "a minute (as measured by bench, one call at a time)" in done.stdout
    # what the card allows is kept below that
    slower = (*COUNTING, *words, "--set", "limits.per_minute=6", "--dry-run", "--json")
    [job] = json.loads(vgen(*slower).stdout)["jobs"]
    assert (job["rate_from"], job["calls_per_minute"]) == ("limit", 6)


def test_without_limit_or_run_no_time_is_made_up(vgen: Command) -> None:
    done = vgen(*COUNTING, "--model", "plug-noise:slow", "--dry-run")
    assert "total 13 calls, no measured rate yet" in done.stdout


def test_a_dry_run_says_what_the_key_is_for_and_what_is_missing(
    vgen: Command, tmp_path: Path
) -> None:
    model = card(tmp_path, "needs: {key_env: PLANTED_KEY, extra: nonesuch}")
    words = (*COUNTING, "--model", model, "--dry-run")
    lines = vgen(*words).stdout.splitlines()
    assert "  missing: PLANTED_KEY is not set: export PLANTED_KEY=..." in lines
    assert "  missing: the extra 'nonesuch': pip install 'vgen-eval[nonesuch]'" in lines
    assert any("price of 1 pair unknown" in line for line in lines)
    plan = json.loads(vgen(*words, "--json", PLANTED_KEY=KEY).stdout)
    assert plan["missing"] == ["vgen-eval[nonesuch]"]
    [wanted] = plan["models"]
    assert wanted["key_env"] == "PLANTED_KEY"


def far(folder: Path) -> str:
    path = folder / "far.yaml"
    path.write_text(
        "model: away\nadapter: plug-noise:far\nanswers: [text]\nlicence: x\n"
        "needs: {key_env: PLANTED_KEY}\nlimits: {concurrency: 1}\n"
    )
    return str(path)


def test_a_dry_run_says_who_would_get_the_key(vgen: Command, tmp_path: Path) -> None:
    words = (*COUNTING, "--model", far(tmp_path), "--dry-run")
    lines = vgen(*words, PLANTED_KEY=KEY).stdout.splitlines()
    assert "  away: sends the key in PLANTED_KEY to far.example:8443" in lines
    assert any(line.endswith("--allow-host far.example:8443") for line in lines)
    words = (*words, "--allow-host", "other.example,far.example:8443")
    plan = json.loads(vgen(*words, "--json", PLANTED_KEY=KEY).stdout)
    assert plan["missing"] == []
    assert plan["models"][0]["host_allowed"]


def test_a_service_that_denies_a_call_ends_the_run_with_its_cure(
    vgen: Command, tmp_path: Path
) -> None:
    words = (*COUNTING, "--model", far(tmp_path))
    refused = vgen(*words, PLANTED_KEY=KEY)
    assert refused.returncode == 3
    assert refused.stderr.splitlines() == [
        "error: model 'away' (local) would send the key in PLANTED_KEY to far.example:8443",
        "--allow-host far.example:8443   if that is where it belongs",
    ]
    done = vgen(*words, "--allow-host", "far.example", PLANTED_KEY=KEY)
    assert done.returncode == 3
    kept, error, cure = done.stderr.splitlines()
    assert kept.endswith("of 13. Run the same command to go on.")
    assert error == "error: far.example: status 403"
    assert cure == "another account"
    (card,) = (tmp_path / "results").rglob("result_card.json")
    counts = json.loads(card.read_text())["counts"]
    assert counts["answered"] == int(kept.split()[1]) > 0
    assert counts["not_run"] == 13 - counts["answered"]


def test_a_money_budget_without_a_price_is_a_mistake_that_is_said_first(
    vgen: Command, tmp_path: Path
) -> None:
    model = card(tmp_path, "needs: {key_env: PLANTED_KEY}")
    done = vgen(*COUNTING, "--model", model, "--max-cost", "1", PLANTED_KEY=KEY)
    assert done.returncode == 2
    error, cure = done.stderr.splitlines()
    assert error == "error: --max-cost: the card of 'mine' names no price"
    assert "--set price.per_million_output_usd=" in cure


@pytest.mark.parametrize("level", ["debug", "error"])
def test_a_planted_key_is_in_no_file_log_or_traceback(
    vgen: Command, tmp_path: Path, level: str
) -> None:
    path = tmp_path / "leaky.yaml"
    path.write_text(
        "model: leaky\nadapter: plug-noise:leaky\nanswers: [text]\nlicence: x\n"
        "needs: {key_env: PLANTED_KEY}\n"
    )
    done = vgen(
        *COUNTING, "--model", str(path), "--log-level", level, PLANTED_KEY=KEY
    )  # fmt: skip
    assert done.returncode == 1
    assert KEY not in done.stdout + done.stderr
    files = [found for found in tmp_path.rglob("*") if found.is_file()]
    assert all(KEY.encode() not in found.read_bytes() for found in files)
    (log,) = (tmp_path / "results" / "logs").iterdir()
    text = log.read_text()
    assert "RuntimeError: refused [PLANTED_KEY]" in text
    assert "Traceback" in text
    (lines,) = (tmp_path / "results").rglob("predictions.jsonl")
    assert "[PLANTED_KEY]" in lines.read_text()


def test_a_dry_run_of_what_is_complete_costs_nothing_and_needs_no_price(
    vgen: Command, tmp_path: Path
) -> None:
    model = card(tmp_path, "needs: {key_env: PLANTED_KEY}")
    words = (*COUNTING, "--model", model, "--limit", "2")
    before = vgen(*words, "--dry-run", "--max-calls", "9")
    assert "price of 1 pair unknown" in before.stdout
    assert vgen(*words, "--allow-env", PLANTED_KEY=KEY).returncode == 0
    after = vgen(*words, "--dry-run")
    assert "unknown" not in after.stdout
    assert "total 0 calls, about $0.00, 2 answered already" in after.stdout
    assert json.loads(vgen(*words, "--dry-run", "--json").stdout)["estimated_usd"] == 0
    again = vgen(*words)  # nothing is asked, so no key is needed
    assert (again.returncode, again.stderr) == (0, "")
