"""openai_compatible from a model card to a result card, over the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from openaikit import KEY, KEY_ENV, make_card, make_request
from vgen_eval.cards import convert
from vgen_eval.cli import main
from vgen_eval.types import FORMS
from vgen_eval_plugins.models.openai.adapter import OpenAICompatible, OpenAIOptions
from vgen_eval_plugins.standins.server import drop, halfway, html, status

CARD = """
model: loopback/tiny
title: A loopback service
adapter: openai_compatible
answers: [{form}]
options: {{model: tiny-vision, base_url: "{url}/v1"}}
generation: {{{generation}}}
limits: {{backoff_s: 0.01}}
needs: {{extra: api, key_env: {key_env}}}
price: {{per_million_input_usd: 1000, per_million_output_usd: 2000}}
licence: CC0-1.0
"""


@pytest.fixture
def run(tmp_path, locked_service, monkeypatch, capfd):
    """Runs a task with a card of the service; gives what came of it and the results' folder."""

    def run(
        task: str, form: str, *words: str, generation: str = "", key: str = KEY,
        own_process: bool = False,
    ):  # fmt: skip
        card = tmp_path / "tiny.yaml"
        facts = {"form": form, "url": locked_service.url, "generation": generation}
        card.write_text(CARD.format(**facts, key_env=KEY_ENV))
        results = tmp_path / "results"
        argv = [
            "run", "--tasks", task, "--model", str(card), "--no-bounds",
            "--allow-host", locked_service.host, "--output", str(results), *words,
        ]  # fmt: skip
        monkeypatch.setenv(KEY_ENV, key)
        if own_process:
            command = [sys.executable, "-W", "error", "-m", "vgen_eval.cli", *argv]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        else:
            code = main(argv)
            out, err = capfd.readouterr()
            done = subprocess.CompletedProcess(argv, code, out, err)
        return done, results

    return run


def _result(results: Path) -> dict:
    (card,) = results.rglob("result_card.json")
    return json.loads(card.read_text())


def _lines(results: Path) -> list[dict]:
    (file,) = results.rglob("predictions.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


def _everything(results: Path, done: subprocess.CompletedProcess[str]) -> bytes:
    files = [path.read_bytes() for path in results.rglob("*") if path.is_file()]
    return b"".join(files) + (done.stdout + done.stderr).encode()


def test_text_runs_from_card_to_result_card(run, locked_service):
    done, results = run(
        "samples/counting", "text", "--limit", "4", "--log-level", "debug",
        generation="temperature: 0.0, seed: 3", own_process=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert _result(results)["counts"]["answered"] == 4
    assert len(locked_service.seen) == 4
    assert {seen.body["seed"] for seen in locked_service.seen} == {3}
    assert {seen.authorization for seen in locked_service.seen} == {f"Bearer {KEY}"}
    (line, *_) = _lines(results)
    assert line["answer"]["value"].isdecimal()
    assert line["volatile"]["reported_model"] == "tiny-vision-2025-10-09"
    assert line["volatile"]["request_id"].startswith("req_")
    everything = _everything(results, done)
    assert KEY.encode() not in everything
    assert b"base64" not in everything


def test_pictures_run_from_card_to_result_card_through_faults(run, locked_service):
    locked_service.order(
        status(429, headers={"Retry-After": "0"}), status(500, message=KEY), drop(), halfway()
    )
    done, results = run("samples/referring", "image", "--limit", "4", "--log-level", "debug")
    assert done.returncode == 0, done.stderr
    assert _result(results)["counts"]["answered"] == 4
    assert len(locked_service.seen) == 8
    assert KEY.encode() not in _everything(results, done)


def test_what_fails_is_data_and_the_key_is_in_none_of_it(run, locked_service):
    locked_service.order(
        status(400, code="moderation_blocked", message=f"{KEY} was blocked"),
        status(400, message=f"a bad request with {KEY}"),
        html(),
        status(200, body={"created": 1, "data": []}),
    )
    done, results = run("samples/referring", "image", "--limit", "5")
    statuses = sorted(line["status"] for line in _lines(results))
    assert statuses == ["error", "error", "no_answer", "ok", "refused"]
    assert KEY.encode() not in _everything(results, done)
    # whichever variable of this process held the same value first stands in its place
    assert b"_KEY] was blocked" in _everything(results, done)


def test_a_service_that_takes_no_call_ends_the_run_with_3(run):
    done, results = run("samples/counting", "text", key="sk-another-0123456789")
    assert done.returncode == 3
    assert "status 401" in done.stderr
    assert KEY_ENV in done.stderr
    assert b"sk-another" not in _everything(results, done)


def test_a_key_that_is_not_set_ends_the_run_with_3_before_any_call(run, locked_service):
    done, _ = run("samples/counting", "text", key="")
    assert done.returncode == 3
    assert f"export {KEY_ENV}=" in done.stderr
    assert locked_service.seen == []


def test_an_unknown_call_argument_ends_the_run_with_2_before_any_call(run, locked_service):
    done, _ = run("samples/counting", "text", generation="temprature: 0.0")
    assert done.returncode == 2
    assert "temperature" in done.stderr
    assert locked_service.seen == []


def test_the_stub_answers_every_form_of_a_card(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY_ENV, "")
    card = make_card(key_env=KEY_ENV, generation={"seed": 1})
    with OpenAICompatible.stub(card, tmp_path) as options:
        read = convert(OpenAIOptions, options, file="stub")
        adapter = OpenAICompatible(read, card=card)
        adapter.load()
        for form in card.answers:
            assert form in FORMS
            (output,) = adapter.generate([make_request(form, choices=("yes", "no"))])
            assert output.answer
        adapter.close()
