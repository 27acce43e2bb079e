"""Every Eval Ever: records and lines keep to the format, and say what the card says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from eee_schema import check_tree
from exportkit import FAULTY, Copied, edit, export_runs, lines, runs_of
from jsonschema import ValidationError
from vgen_eval.results.card import read_card
from vgen_eval.types import Value
from vgen_eval_plugins.exporters.correctness import rule_of

Found = list[tuple[dict[str, Any], list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def tree(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Every run exported and held against the format."""
    target = tmp_path_factory.mktemp("eee")
    done = export_runs("every-eval-ever", runs_of(results), target)
    assert (len(done.runs), len(done.files), done.left_out) == (10, 20, ())
    return check_tree(target)


def of(tree: Found, model: str, task: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (found,) = [
        (record, rows)
        for record, rows in tree
        if record["model_info"]["name"] == model
        and record["evaluation_results"][0]["evaluation_name"] == f"samples/{task}@standard"
    ]
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"schema_version": "0.3.0"', '"schema_version": "0.3.0", "extra": 1'),
        ('"complete": "true"', '"complete": true'),
        ('_relationship": "other"', '_relationship": "friend"'),
        ('"max_score": "Infinity",', ""),
        ('"total_rows": 13', '"total_rows": 12'),
        ('"checksum": "', '"checksum": "0'),
        ('"score": 12.', '"score": -12.'),
        ('"id": "vgen-eval/', '"id": "other/'),
    ],
)
def test_the_check_finds_what_breaks_the_format(
    results: Path, tmp_path: Path, old: str, new: str
) -> None:
    export_runs("every-eval-ever", runs_of(results, "classical", "counting"), tmp_path)
    (record,) = tmp_path.rglob("*.json")
    text = record.read_text()
    assert old in text
    record.write_text(text.replace(old, new))
    with pytest.raises((AssertionError, ValidationError)):
        check_tree(tmp_path)


def test_there_is_one_record_for_each_run(tree: Found, results: Path) -> None:
    runs = {record["source_metadata"]["additional_details"]["run"] for record, _ in tree}
    assert runs == {read_card(path).run for path in runs_of(results)}


@pytest.mark.parametrize("task", ["depth", "referring", "counting"])
def test_numbers_of_the_card_come_out_to_the_last_digit(
    tree: Found, results: Path, task: str
) -> None:
    record, _ = of(tree, "classical", task)
    (path,) = runs_of(results, "classical", task)
    card = read_card(path)
    told = {
        result["evaluation_result_id"].partition(":")[2]: result["score_details"]
        for result in record["evaluation_results"]
    }
    scores = {f"{s.metric}:{s.selection}:{s.subset}": s for s in card.scores}
    assert told.keys() == {key for key, score in scores.items() if score.value is not None}
    for key, detail in told.items():
        score = scores[key]
        assert detail["score"] == score.value
        assert detail["uncertainty"]["num_samples"] == score.n
        interval = detail["uncertainty"].get("confidence_interval")
        assert (interval is None) == (score.ci95.low is None)
        if interval is not None:
            assert (interval["lower"], interval["upper"]) == (score.ci95.low, score.ci95.high)
            assert interval["confidence_level"] == 0.95
        error = detail["uncertainty"].get("standard_error")
        assert (error and error["value"]) == score.ci95.standard_error


def test_directions_units_and_bounds_are_those_of_the_metrics(tree: Found) -> None:
    record, _ = of(tree, "classical", "counting")
    metrics = {r["metric_config"]["metric_id"]: r["metric_config"] for r in
               record["evaluation_results"]}  # fmt: skip
    mae, accuracy = metrics["mae"], metrics["accuracy"]
    assert (mae["lower_is_better"], mae["metric_unit"]) == (True, "objects")
    assert (mae["min_score"], mae["max_score"]) == (0.0, "Infinity")
    assert (accuracy["lower_is_better"], "metric_unit" in accuracy) == (False, False)
    assert (accuracy["min_score"], accuracy["max_score"]) == (0.0, 1.0)


def test_oracle_picks_are_told_from_means(tree: Found) -> None:
    record, _ = of(tree, "counter", "counting")
    names = {r["metric_config"]["metric_id"]: r["metric_config"]["metric_name"]
             for r in record["evaluation_results"]}  # fmt: skip
    assert names["mae"] == "mae"
    assert names["mae.best_of_2"] == "mae, oracle best of 2 attempts by the truth"


def test_pictures_are_their_digest_and_their_place(tree: Found, results: Path) -> None:
    _, rows = of(tree, "classical", "counting")
    (run,) = runs_of(results, "classical", "counting")
    kept = {line["sample"]: line["answer"] for line in lines(run / "predictions.jsonl")}
    assert len(rows) == 13
    for row in rows:
        (raw,) = row["output"]["raw"]
        digest, path = raw.split(" ")
        assert digest == f"sha256:{kept[row['sample_id']]['sha256']}"
        assert (results / path).is_file()
        assert row["input"]["raw"].startswith("sha256:")


def test_texts_failures_and_attempts_without_a_score(tree: Found) -> None:
    record, rows = of(tree, "counter", "counting")
    assert len(rows) == 24  # 13 samples, twice, less one that could not be asked for
    assert record["detailed_evaluation_results"]["additional_details"] == {
        "attempts_without_a_score": "2"
    }
    assert record["source_metadata"]["additional_details"]["complete"] == "false"
    by_sample = {row["sample_id"]: row for row in rows}
    assert FAULTY[2] not in by_sample
    refused, unread = by_sample[FAULTY[0]], by_sample[FAULTY[1]]
    assert (refused["output"]["raw"], refused["error"]) == ([], "refused: not that picture")
    assert refused["answer_attribution"][0]["extraction_method"].startswith("failure value ")
    assert unread["output"]["raw"] == ["none of your business"]
    assert unread["error"] == "undecodable: the text states no number"
    plain = by_sample["coins-bottom-row"]
    assert plain["output"]["raw"] == ["I see 3."]
    assert "error" not in plain
    assert plain["metadata"]["tag.density"] == "medium"


def test_every_line_states_the_rule_of_its_correctness(tree: Found) -> None:
    for task, rule in (
        ("counting", "answered, and mae <= 0.0 objects (its best value)"),
        ("depth", "answered, and delta1 >= 0.5 (midway between its bounds)"),
        ("referring", "answered, and iou >= 0.5 (midway between its bounds)"),
    ):
        _, rows = of(tree, "oracle", task)
        assert {row["metadata"]["is_correct_rule"] for row in rows} == {rule}
        assert all(row["evaluation"]["is_correct"] for row in rows)
    _, rows = of(tree, "counter", "counting")
    for row in rows:
        right = row["evaluation"]["score"] == 0 and "error" not in row
        assert row["evaluation"]["is_correct"] == right


def test_developers_come_from_the_card_or_the_option(
    results: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs = runs_of(results, "counter")
    export_runs("every-eval-ever", runs, tmp_path / "a")
    assert "who made counter is not known: --set developer=NAME" in caplog.text
    export_runs("every-eval-ever", runs, tmp_path / "b", developer="A/B Lab")
    ((record, _),) = check_tree(tmp_path / "b")
    assert record["model_info"]["developer"] == "A/B Lab"
    assert record["model_info"]["id"] == "A_B Lab/counter"


def test_a_substitute_is_never_correct(results: Path, tmp_path: Path) -> None:
    export_runs("every-eval-ever", runs_of(results, "counter"), tmp_path, threshold=1000.0)
    ((_, rows),) = check_tree(tmp_path)
    correct = {row["sample_id"]: row["evaluation"]["is_correct"] for row in rows}
    assert not correct[FAULTY[0]]
    assert not correct[FAULTY[1]]
    assert correct["coins-bottom-row"]
    assert "<= 1000.0 objects (as the export was told)" in rows[0]["metadata"]["is_correct_rule"]


@pytest.mark.parametrize(
    ("higher", "low", "high", "threshold", "right", "wrong"),
    [
        (True, 0.0, 1.0, None, 0.5, 0.4999),
        (False, 0.0, 1.0, None, 0.5, 0.5001),
        (False, 0.0, None, None, 0.0, 1e-9),
        (True, None, 7.0, None, 7.0, 6.9),
        (True, 0.0, 1.0, 0.25, 0.25, 0.2),
        (False, 0.0, None, 11.25, 11.25, 11.3),
    ],
)
def test_rules_follow_the_bounds_or_the_threshold(
    higher: bool, low: float | None, high: float | None, threshold: float | None,
    right: float, wrong: float,
) -> None:  # fmt: skip
    value = Value(name="v", of="v", aggregation="mean", higher_is_better=higher, low=low, high=high)
    rule = rule_of(value, threshold)
    assert rule.holds(right)
    assert not rule.holds(wrong)


def test_nothing_is_correct_where_no_best_value_is_known() -> None:
    value = Value(name="v", of="v", aggregation="mean", higher_is_better=True, low=0.0)
    rule = rule_of(value)
    assert not rule.holds(math.inf)
    assert rule.text == "none: v has no best value to measure by"


def test_the_same_run_gives_the_same_files(results: Path, tmp_path: Path) -> None:
    runs = runs_of(results, "blind")
    first = export_runs("every-eval-ever", runs, tmp_path / "a")
    assert export_runs("every-eval-ever", runs, tmp_path / "b").files == first.files
    assert export_runs("every-eval-ever", runs, tmp_path / "a").files == first.files
    other = export_runs("every-eval-ever", runs, tmp_path / "c", organization="Other Lab")
    assert not {file.path for file in other.files} & {file.path for file in first.files}
    record, _ = check_tree(tmp_path / "c")[0]
    assert record["source_metadata"]["source_organization_name"] == "Other Lab"


def test_answers_that_are_gone_keep_their_digest(copied: Copied, tmp_path: Path) -> None:
    run = copied("classical", "depth")
    for file in (run / "outputs").iterdir():
        file.unlink()
    export_runs("every-eval-ever", [run], tmp_path / "out")
    ((_, rows),) = check_tree(tmp_path / "out")
    for row in rows:
        (raw,) = row["output"]["raw"]
        assert raw.startswith("sha256:")
        assert " " not in raw
        assert '"file":null' in row["metadata"]["media"]


def test_a_null_primary_leaves_the_run_out_and_another_null_only_itself(
    copied: Copied, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def null(metric: str) -> Any:
        def change(card: Any) -> None:
            for score in card["scores"]:
                if score["metric"] == metric and score["subset"] == "all":
                    score |= {"value": None, "reason": "undefined here"}

        return change

    primary = edit(copied("classical", "depth", "one"), null("delta1"))
    done = export_runs("every-eval-ever", [primary], tmp_path / "a")
    assert (done.runs, done.files) == ((), ())
    assert done.left_out == (f"{primary}: its delta1 is null: undefined here",)
    other = edit(copied("classical", "depth", "two"), null("absrel"))
    export_runs("every-eval-ever", [other], tmp_path / "b")
    ((record, _),) = check_tree(tmp_path / "b")
    ids = {result["evaluation_result_id"].partition(":")[2] for result in
           record["evaluation_results"]}  # fmt: skip
    assert "absrel:mean:all" not in ids
    assert "delta1:mean:all" in ids
    assert "left out, being null: absrel (all, mean)" in caplog.text


def test_neither_keys_nor_places_of_this_machine_get_out(
    copied: Copied, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, home = "sk-0123456789abcdef", "/home/somebody/weights"
    monkeypatch.setenv("COUNTER_API_KEY", key)
    run = copied("counter", "counting")

    def name_key(record: Any) -> None:
        record["cards"]["model"]["needs"]["key_env"] = "COUNTER_API_KEY"

    def spoil(card: Any) -> None:
        card["model_info"] |= {
            "checkpoint": {"repo": None, "revision": None, "path": f"{home}/counter"},
            "options": {"lora": f"file://{home}/lora.bin", "base_url": f"https://{key}@api.test/v1"},
            "generation": {"temperature": 0.5, "max_tokens": 8, "cache": f"~/.cache/{key}/x"},
        }  # fmt: skip

    edit(run, name_key, file="run.json")
    edit(run, spoil)
    export_runs("every-eval-ever", [run], tmp_path / "out")
    ((record, _),) = check_tree(tmp_path / "out")
    text = "".join(p.read_text() for p in (tmp_path / "out").rglob("*.json*"))
    for word in (key, "/home", "somebody", "file:", "/srv", str(tmp_path), str(Path.cwd())):
        assert word not in text, word
    details = record["model_info"]["additional_details"]
    assert '".../counter"' in details["checkpoint"]
    assert "@api.test/v1" in details["options"]
    asked = record["evaluation_results"][0]["generation_config"]["generation_args"]
    assert (asked["temperature"], asked["max_tokens"]) == (0.5, 8)


def test_an_unfilled_template_is_told_to_be_one_and_the_cards_word_is_kept(tree: Found) -> None:
    record, rows = of(tree, "classical", "counting")
    told = record["model_info"]["additional_details"]
    assert (told["model_availability"], told["availability"]) == ("unknown", "code")
    assert all("{query}" in row["input"]["raw"] for row in rows)
    assert {row["metadata"]["input_raw"] for row in rows} == {
        "the prompt's template: the run does not keep what stood for query"
    }
    _, rows = of(tree, "classical", "depth")
    assert not any("input_raw" in row["metadata"] for row in rows)
    assert not any("{" in row["input"]["raw"] for row in rows)
