"""Models that break their contract: the right status for each, and the others run on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from badkit import COUNTING, TRACEBACK, Shell, lines_of, runs_in, snapshot

SAMPLES = ("coins", "chelsea-eyes", "camera-buttons")
PICK = ("--samples", ",".join(SAMPLES))
N = len(SAMPLES)

ANSWERED = {"wrong_size": "wrong_aspect", "constant": "constant", "twice": "", "megabyte": "",
            "ansi": "", "close_raises": "", "close_exits": "", "good": ""}  # fmt: skip
"""Model -> the flag that qualifies each of its answers."""
FAILING = {
    "words": ("no_answer", "text instead of an image"),
    "nothing": ("no_answer", "the model gave nothing"),
    "garbage": ("undecodable", "not a picture"),
    "cut_file": ("undecodable", "cannot be decoded"),
    "html": ("undecodable", "it begins with '<html><body>'"),
    "foreign_object": ("undecodable", "dict instead of an image"),
    "ansi_refuses": ("refused", "red"),
}
"""Model -> status of each attempt, and words of the reason."""
BREAKING = {
    "raises": ("ValueError", "ValueError: out of ideas"),
    "exits": ("SystemExit", "SystemExit: enough"),
    "cancels": ("CancelledError", "CancelledError"),
    "foreign_id": ("NoOutput", "the adapter gave no output for this request"),
    "silent": ("NoOutput", "the adapter gave no output for this request"),
    "no_output_object": ("TypeError", "the adapter gave str, not an Output"),
    "no_iterator": ("TypeError", "not iterable"),
    "ansi_raises": ("ValueError", "red"),
}
"""Model -> kind of each error, and words of the reason."""
UNLOADABLE = {"load_raises": "OSError: no weights here", "load_exits": "SystemExit: 0"}


def words(*names: str) -> tuple[str, ...]:
    return (*COUNTING, *PICK, "--model", ",".join(f"plug-bad:{name}" for name in names), "--json")


def cards_of(document: Any) -> dict[str, Any]:
    return {card["model"]: card for card in document["results"]}


def lines(home: Shell, card: Any) -> list[dict[str, Any]]:
    return lines_of(home.folder / "results" / card["run"] / "predictions.jsonl")


@pytest.fixture(scope="module")
def answered(home: Shell) -> Any:
    """All models that answer or fail by themselves, in one command."""
    done = home(*words(*ANSWERED, *FAILING))
    assert done.code == 0, done
    assert TRACEBACK not in done.err
    return done


@pytest.fixture(scope="module")
def broken(home: Shell) -> Any:
    """All models whose calls break, one that cannot be loaded in their midst, and a good one."""
    done = home(*words(*BREAKING, *UNLOADABLE, "good"))
    assert done.code == 1, done
    return done


def test_what_models_print_is_not_on_stdout_and_a_failing_close_is_told(answered: Any) -> None:
    assert len(cards_of(answered.document)) == len(ANSWERED) + len(FAILING)
    assert answered.err.count("A line that nobody asked for.") == 35000 * N
    told = [line for line in answered.err.splitlines() if "close failed" in line]
    assert len(told) == 2
    assert "model 'close_raises': close failed: RuntimeError: will not close (log: " in told[0]
    assert "model 'close_exits': close failed" in told[1]


@pytest.mark.parametrize("name", ANSWERED)
def test_an_answer_is_scored_whatever_else_its_model_does(answered: Any, name: str) -> None:
    card = cards_of(answered.document)[name]
    assert card["counts"]["statuses"] == {"ok": N}
    flag = ANSWERED[name]
    assert card["counts"]["flags"].get(flag, 0) == (N if flag else 0)
    assert card["complete"]
    assert card["scores"][0]["n"] == N


@pytest.mark.parametrize("name", FAILING)
def test_a_failure_of_the_model_is_scored_as_the_failure_value(
    home: Shell, answered: Any, name: str
) -> None:
    status, said = FAILING[name]
    card = cards_of(answered.document)[name]
    counts = card["counts"]
    assert counts["statuses"] == {status: N}
    assert (counts["model_failure"], counts["infrastructure"], counts["data_fault"]) == (N, 0, 0)
    assert card["complete"]
    score = card["scores"][0]
    assert (score["n"], score["answered_only"]) == (N, None)
    (scores,) = (home.folder / "results" / card["run"] / "scores").glob("*.jsonl")
    assert all(said in line["reason"] for line in lines_of(scores))


def test_of_one_answer_given_twice_the_first_counts(home: Shell, answered: Any) -> None:
    found = lines(home, cards_of(answered.document)["twice"])
    assert [line["answer"]["value"] for line in found] == ["3"] * N


@pytest.mark.parametrize("name", BREAKING)
def test_a_call_that_breaks_is_no_ones_score_and_leaves_the_run_incomplete(
    home: Shell, broken: Any, name: str
) -> None:
    kind, said = BREAKING[name]
    card = cards_of(broken.document)[name]
    counts = card["counts"]
    assert counts["statuses"] == {"error": N}
    assert (counts["model_failure"], counts["infrastructure"], counts["not_run"]) == (0, N, 0)
    assert not card["complete"]
    assert card["scores"][0]["value"] is None
    for line in lines(home, card):
        assert line["kind"] == kind
        assert said in line["volatile"]["reason"]


def test_models_that_break_or_cannot_be_loaded_keep_no_other_from_running(broken: Any) -> None:
    assert cards_of(broken.document)["good"]["counts"]["statuses"] == {"ok": N}
    skips = {skip["model"]: skip for skip in broken.document["skipped"]}
    assert skips.keys() == UNLOADABLE.keys()
    for name, said in UNLOADABLE.items():
        assert skips[name]["exact"]
        assert f"model '{name}' cannot be loaded: {said}" in skips[name]["reason"]
        assert f"cannot run with {name}: model '{name}' cannot be loaded: {said}" in broken.err
    assert "failed in calling or scoring: no score yet" in broken.err
    assert "--retry-failed runs them again" in broken.err
    assert TRACEBACK not in broken.err


@pytest.mark.parametrize(
    ("name", "code"),
    [*((n, 0) for n in ("words", "nothing", "twice")), ("raises", 1), ("silent", 1)],
)
def test_the_same_command_asks_nothing_again_and_ends_as_it_did(
    home: Shell, answered: Any, broken: Any, name: str, code: int
) -> None:
    before = {run: snapshot(run) for run in runs_in(home.folder / "results")}
    done = home(*words(name))
    assert done.code == code
    statuses = cards_of(done.document)[name]["counts"]["statuses"]
    assert sum(statuses.values()) == N
    for run, files in before.items():
        now = snapshot(run)
        assert now.keys() == files.keys()
        changed = {name for name in now if now[name] != files[name]}
        assert changed <= {"result_card.json", "result_card.md"}  # they hold the wall time


@pytest.mark.parametrize("name", UNLOADABLE)
def test_a_model_that_cannot_be_loaded_is_3_with_its_traceback_in_the_log(
    home: Shell, name: str
) -> None:
    log = home(*words(name)).refuses(3, f"model '{name}' cannot be loaded: {UNLOADABLE[name]}")
    assert log is not None
    assert TRACEBACK in log.read_text()
    assert UNLOADABLE[name].partition(":")[0] in log.read_text()


def test_failures_over_the_share_are_1_and_infrastructure_is_1_without_one(home: Shell) -> None:
    done = home(*words("nothing"), "--fail-over", "0.5")
    assert done.code == 1
    assert f"{N} of {N} failed, more than --fail-over 0.5" in done.err
    assert len(done.err.splitlines()) == 1
    assert done.document["exit_code"] == 1
    assert home(*words("good"), "--fail-over", "0").code == 0


def test_result_cards_on_disk_say_what_the_command_said(
    home: Shell, answered: Any, broken: Any
) -> None:
    for card in (*answered.document["results"], *broken.document["results"]):
        kept = json.loads((home.folder / "results" / card["run"] / "result_card.json").read_text())
        assert kept["counts"] == card["counts"]
        assert sum(kept["counts"]["statuses"].values()) == kept["counts"]["expected"] == N
