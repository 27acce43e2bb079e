"""From a model card on the Messages API to a result card, through the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from antkit import KEY, KEY_ENV, error
from vgen_eval_plugins.standins.anthropic import MODEL, AnthropicService
from vgen_eval_plugins.standins.server import drop, halfway, html, status

CARD = f"""
model: vendor/counter
adapter: anthropic
answers: [text]
options: {{model: {MODEL}, base_url: "%s"}}
generation: {{max_tokens: 3000, thinking: {{type: enabled, budget_tokens: 2000}}}}
limits: {{timeout_s: 20, backoff_s: 0.01, concurrency: 2}}
needs: {{extra: api, key_env: {KEY_ENV}}}
price: {{per_million_input_usd: 1.0, per_million_output_usd: 10.0}}
licence: none
"""


def test_a_card_becomes_a_result_card_and_the_key_stands_nowhere(tmp_path: Path) -> None:
    with AnthropicService(key=KEY) as service:
        (tmp_path / "counter.yaml").write_text(CARD % service.url)
        service.order(
            status(429, headers={"Retry-After": "0"}), status(529), drop(), halfway(), html(),
            status(400, body=error("invalid_request_error", f"{KEY} is not liked")),
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "vgen_eval.cli", "--tasks", "samples/counting", "--answer",
             "text", "--model", "counter.yaml", "--no-bounds", "--json",
             "--allow-host", service.host],
            capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
            env=os.environ | {KEY_ENV: KEY},
        )  # fmt: skip
        sent = list(service.seen)
    assert done.returncode in (0, 1), done.stderr
    [card] = [json.loads(path.read_text()) for path in tmp_path.rglob("result_card.json")]
    # the page and the bad request are no faults that pass: two samples of 13 end as errors
    assert card["counts"]["statuses"] == {"ok": 11, "error": 2}, done.stderr
    score = next(entry for entry in card["scores"] if entry["metric"] == card["primary"])
    assert score["value"] > 0.0
    assert len(sent) == 13 + 4
    assert all(KEY in (seen.authorization, seen.authorization.split()[-1]) for seen in sent)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(KEY.encode() not in path.read_bytes() for path in written)
    assert KEY not in done.stdout + done.stderr
    logs = b"".join(path.read_bytes() for path in written if path.suffix in (".log", ".jsonl"))
    assert b"iVBORw0KGgo" not in logs + (done.stdout + done.stderr).encode()
