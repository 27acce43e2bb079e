"""From a model card on the Gemini API to a result card, through the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from gemkit import KEY, KEY_ENV
from vgen_eval_plugins.standins.gemini import IMAGE_MODEL, GeminiService
from vgen_eval_plugins.standins.server import drop, halfway, html, status

CARD = f"""
model: vendor/painter
adapter: gemini
answers: [image, text]
options: {{model: {IMAGE_MODEL}, base_url: "%s", concurrency: 4}}
generation: {{seed: 1, temperature: 0.5, thinking_config: {{include_thoughts: true}}}}
limits: {{timeout_s: 20, backoff_s: 0.01, concurrency: 2}}
needs: {{extra: api, key_env: {KEY_ENV}}}
price: {{per_million_input_usd: 1.0, per_million_output_usd: 10.0}}
licence: none
"""


def test_a_card_becomes_a_result_card_and_the_key_stands_nowhere(tmp_path: Path) -> None:
    with GeminiService(key=KEY, refuses={"smells": "PROHIBITED_CONTENT"}) as service:
        (tmp_path / "painter.yaml").write_text(CARD % service.url)
        echo = {"error": {"code": 400, "message": f"{KEY} is not liked", "status": "NO"}}
        service.order(
            status(429, headers={"Retry-After": "0"}), status(500), drop(), halfway(), html(),
            status(400, body=echo),
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "vgen_eval.cli", "--tasks", "samples/referring", "--answer",
             "image", "--model", "painter.yaml", "--no-bounds", "--json",
             "--allow-host", service.host],
            capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
            env=os.environ | {KEY_ENV: KEY},
        )  # fmt: skip
        sent = list(service.seen)
    assert done.returncode in (0, 1), done.stderr
    [card] = [json.loads(path.read_text()) for path in tmp_path.rglob("result_card.json")]
    statuses = card["counts"]["statuses"]
    # the page and the bad request are no faults that pass: two samples end as errors
    assert statuses["error"] == 2, done.stderr
    assert statuses["ok"] == 15 - statuses.get("refused", 0)
    assert sum(statuses.values()) == 17
    score = next(entry for entry in card["scores"] if entry["metric"] == card["primary"])
    assert 0.0 < score["value"] < 1.0
    assert len(sent) == 17 + 4
    assert {seen.headers["x-goog-api-key"] for seen in sent} == {KEY}
    assert {seen.body["generationConfig"]["seed"] for seen in sent} == {1}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert all(KEY.encode() not in path.read_bytes() for path in written)
    assert KEY not in done.stdout + done.stderr
    logs = b"".join(path.read_bytes() for path in written if path.suffix in (".log", ".jsonl"))
    assert b"iVBORw0KGgo" not in logs + (done.stdout + done.stderr).encode()
