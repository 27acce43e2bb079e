"""Every number of a result card, made again from the lines of its run by other means."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import kit
import msgspec
import pytest
import vgen_eval

N = 30
FAILURE = 7.0
OPTIONS = {
    "off": 1, "off_by_attempt": -2, "nothing": ["s003", "s010"], "refuse": ["s004", "s017"],
}  # fmt: skip


def defined(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def expected_score(
    rows: dict[tuple[str, int], dict[str, Any]], samples: list[str], metric: str, selection: str,
    *, answered: bool,
) -> float | None:  # fmt: skip
    """One number from score lines, sample by sample, in plain Python."""
    usable = {
        key: line for key, line in rows.items()
        if "values" in line and (line["status"] == "ok" or not answered)
    }  # fmt: skip
    attempts = range(2) if selection == "mean" else range(int(selection.removeprefix("best_of_")))
    per_sample = [[usable[s, a] for a in attempts if (s, a) in usable] for s in samples]
    if selection != "mean":
        kept = [min(lines, key=lambda x: x["values"]["mae"]) for lines in per_sample if lines]
        if metric == "mae":
            return statistics.fmean(x["values"]["mae"] for x in kept) if kept else None
        return rmse(kept)
    if metric == "mae":
        means = [
            statistics.fmean(x["values"]["mae"] for x in lines) for lines in per_sample if lines
        ]
        return statistics.fmean(means) if means else None
    columns = [[usable[s, a] for s in samples if (s, a) in usable] for a in attempts]
    found = defined([rmse(column) for column in columns])
    return statistics.fmean(found) if found else None


def rmse(lines: list[dict[str, Any]]) -> float | None:
    parts = [line["statistics"]["toybench:error"] for line in lines]
    return math.sqrt(sum(p["sq"] for p in parts) / sum(p["n"] for p in parts)) if parts else None


def test_every_number_on_a_card_follows_from_its_lines(toys: Path) -> None:
    task = kit.task(
        toys, n=N, per_group=2, bad=["s001"], no_target=["s006"],
        protocol={"failure_options": {"number": FAILURE}},
    )  # fmt: skip
    card_ = kit.run(toys, tasks=task, model=kit.model(toys, **OPTIONS), attempts=2, bounds=True)
    folder = kit.run_folder(toys, card_)
    card = kit.strict((folder / "result_card.json").read_text())
    predicted = {(p["sample"], p["attempt"]): p for p in kit.predictions(toys, card_)}
    rows = {(s["sample"], s["attempt"]): s for s in kit.scores(toys, card_)}
    ids = [f"s{n:03d}" for n in range(N)]
    assert set(rows) == set(predicted) == {(s, a) for s in ids for a in range(2)}

    # lines against the rule that made the answers
    for (sample, attempt), line in rows.items():
        truth = int(sample[1:])
        if line["status"] == "ok":
            assert line["values"]["mae"] == abs(1 - 2 * attempt)
            assert predicted[sample, attempt]["answer"]["value"] == str(truth + 1 - 2 * attempt)
        elif line["status"] in ("refused", "no_answer"):
            assert line["values"]["mae"] == abs(FAILURE - truth)
        else:
            assert "values" not in line

    # scores
    subsets = {"all": ids, "parity=even": ids[::2], "parity=odd": ids[1::2]}
    keys = {(s["metric"], s["selection"], s["subset"]) for s in card["scores"]}
    assert keys == {
        (m, sel, sub)
        for m in ("mae", "rmse") for sel in ("mean", "best_of_1", "best_of_2") for sub in subsets
    }  # fmt: skip
    for score in card["scores"]:
        samples = subsets[score["subset"]]
        for field, answered in (("value", False), ("answered_only", True)):
            wanted = expected_score(
                rows, samples, score["metric"], score["selection"], answered=answered
            )
            assert score[field] == pytest.approx(wanted, rel=1e-12), (score, field)
        scored = [s for s in samples if any("values" in rows[s, a] for a in range(2))]
        assert score["n"] == len(scored)
        assert score["reason"] is None
        interval = score["ci95"]
        groups = {int(s[1:]) // 2 for s in scored}
        assert interval["clusters"] == len(groups)
        if score["value"] is not None and interval["low"] is not None:
            assert interval["low"] <= score["value"] <= interval["high"]

    # counts
    statuses: dict[str, int] = {}
    flags = 0
    for line in rows.values():
        statuses[line["status"]] = statuses.get(line["status"], 0) + 1
        flags += line.get("flags", []).count("round")
    counts = card["counts"]
    assert counts["statuses"] == statuses == {
        "bad_sample": 2, "no_answer": 4, "no_valid_target": 2, "ok": 48, "refused": 4,
    }  # fmt: skip
    assert counts["flags"] == {"round": flags}
    assert counts["expected"] == 60
    assert counts["answered"] == 48
    assert counts["model_failure"] == 8
    assert counts["data_fault"] == 4
    assert counts["infrastructure"] == counts["not_run"] == 0
    assert card["complete"] is True

    # the rest
    assert card["selection"] == {"rule": "all", "samples": N, "of": N, "attempts": 2}
    asked = [p["volatile"] for p in predicted.values() if "volatile" in p]
    assert card["volatile"]["tries"] == sum(facts["tries"] for facts in asked) == 58
    assert card["volatile"]["reused"] == 0
    busy = sum(facts["seconds"] for facts in asked)
    assert card["volatile"]["model_s"] == pytest.approx(busy, abs=1e-3)
    floor = kit.strict((toys / "out" / card["floor"]["run"] / "result_card.json").read_text())
    assert card["floor"]["value"] == floor["scores"][0]["value"]
    assert card["ceiling"]["value"] == 0


def test_seeds_follow_the_rule_of_the_protocol(toys: Path) -> None:
    seen: dict[str, dict[tuple[str, int], int]] = {}
    for rule in ("fixed", "per_sample"):
        task = kit.task(toys, n=5, protocol={"seed": rule})
        card = kit.run(
            toys / rule, tasks=task, model=kit.model(toys), attempts=2,
            set={"generation.seed": 100},
        )  # fmt: skip
        lines = kit.predictions(toys / rule, card)
        seen[rule] = {(p["sample"], p["attempt"]): p["seed"] for p in lines}
        assert card.protocol_info["seed_rule"] == rule
        assert card.protocol_info["seed_base"] == 100
    assert seen["fixed"] == {(f"s{n:03d}", a): 100 + a for n in range(5) for a in range(2)}
    assert len(set(seen["per_sample"].values())) == 10
    assert all(0 <= seed < 2**31 for seed in seen["per_sample"].values())


def test_a_card_names_what_is_needed_to_believe_and_repeat_it(tmp_path: Path) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/referring", model="copy", output=str(tmp_path), limit=4
    )
    assert card.selection["rule"] == {"limit": 4, "unit": "example", "seed": 0}
    assert card.selection["of"] == 17
    assert card.protocol_info["decoder"]["name"] == "vgen-eval:binary_mask"
    assert card.protocol_info["decoder"]["options"]["method"] == "otsu"
    assert "{query}" in card.protocol_info["prompt_text"]
    assert card.model_info["licence"] == "Apache-2.0"
    assert len(card.dataset_info["fingerprint"]) == 64
    assert [plugin["name"] for plugin in card.plugins] == ["vgen-eval"]
    assert card.versions["python"].startswith("3.")
    record = kit.strict((tmp_path / card.run / "run.json").read_text())
    assert len(record["samples"]) == 4
    import jsonschema
    from vgen_eval.results.card import json_schema, read_card

    written = kit.strict((tmp_path / card.run / "result_card.json").read_text())
    jsonschema.Draft202012Validator(json_schema()).validate(written)
    assert json.loads(msgspec.json.encode(read_card(tmp_path / card.run))) == written


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (b"", "damaged"), (b"[]", "damaged"), (b'{"schema_version": "1.0"}', "damaged"),
        (b'{"schema_version": "2.0"}', "schema 2.0, 1.2 wanted"), (b'{"a": NaN}', "damaged"),
    ],
)  # fmt: skip
def test_a_card_that_cannot_be_read_is_named(tmp_path: Path, damage: bytes, words: str) -> None:
    from vgen_eval.errors import NotRunnable
    from vgen_eval.results.card import read_card

    (tmp_path / "result_card.json").write_bytes(damage)
    with pytest.raises(NotRunnable, match=words):
        read_card(tmp_path)
    with pytest.raises(NotRunnable, match="no result card yet"):
        read_card(tmp_path / "none")
