"""What is reused, what is run, what is read again, and what each cell would take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reproducekit import CELL, DEPTH, ROW, Say, cells, import_counts, reports, run, table
from vgen_eval.engine.pipeline import Stop
from vgen_eval.engine.session import Silent
from vgen_eval.engine.settings import Settings
from vgen_eval.plugins import Catalog
from vgen_eval.results.reproducing.asking import ask
from vgen_eval.results.reproducing.finding import Library
from vgen_eval.results.reproducing.planning import look
from vgen_eval.results.reproducing.record import describe_table
from vgen_eval.results.reproducing.running import look_again, make_runs, settle_all
from vgen_eval.results.reproducing.targets import open_target
from vgen_eval.store.run import RunStore
from vgen_eval_plugins.standins.openai import OpenAIService

CLASSICAL = {"label": "Classical", "model": "classical"}
COUNTS = {**ROW, "reports": ["mae"], "tolerance": {}, "cells": [CLASSICAL]}
FIT = {"protocol.metrics.0.options.fit": "depth_lsq"}


def runs_in(folder: Path) -> list[Path]:
    return sorted(path.parent for path in (folder / "out").rglob("run.json"))


def test_a_run_that_is_missing_is_made_once(tmp_path: Path, say: Say) -> None:
    own = table(tmp_path, COUNTS)
    first = cells(say(own)[1])[0]
    (path,) = runs_in(tmp_path)
    before = (path / "predictions.jsonl").read_bytes()
    second = cells(say(own)[1])[0]
    assert first["ours"] == second["ours"]
    assert runs_in(tmp_path) == [path]
    assert (path / "predictions.jsonl").read_bytes() == before
    assert reports(say(own)[1]) == [[]]


def test_a_best_of_several_attempts_makes_a_run_of_so_many(tmp_path: Path, say: Say) -> None:
    own = table(tmp_path, {**COUNTS, "selection": "best_of_3"}, {**COUNTS, "data": "mean"})
    _, planned = say(own, "--dry-run")
    assert sorted(entry["calls"] for entry in planned["runs"]) == [13, 39]
    for _ in range(2):
        code, record = say(own)
        best, mean = cells(record)
        assert (code, reports(record), record["faults"]) == (0, [[], []], [])
        assert best["ours"] is not None
        assert best["ours"]["value"] <= mean["ours"]["value"]
        asked = [json.loads((path / "run.json").read_text()) for path in runs_in(tmp_path)]
        assert sorted(each["attempts"] for each in asked) == [1, 3]


def test_the_best_of_one_attempt_is_that_attempt(tmp_path: Path, say: Say) -> None:
    rows = [{**COUNTS, "data": s, "selection": s} for s in ("best_of_1", "mean")]
    _, record = say(table(tmp_path, *rows))
    one, mean = cells(record)
    assert one["ours"]["value"] == mean["ours"]["value"]
    assert len(runs_in(tmp_path)) == 1


def test_a_run_that_another_process_finished_meanwhile_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    catalog = Catalog.discover()
    own = open_target(table(tmp_path, COUNTS), catalog)
    library = Library(catalog, output=tmp_path / "out")
    settings = Settings(output=str(tmp_path / "out"), bounds=False)
    outlook = look(ask(own, catalog), library, catalog, settings, may_run=True)
    (need,) = outlook.needs.values()
    assert need.job is not None
    other = RunStore(need.job.path)
    other.lock()
    make_runs(outlook, library, catalog, reporter=Silent(), stop=Stop())
    look_again(outlook, library)
    assert need.found is None
    assert "being written by" in str(need.why_not)
    other.close()
    run(tmp_path, tasks="samples/counting", model="classical")
    look_again(outlook, library)
    settle_all(outlook, library, data_root=None)
    assert need.found is not None
    assert need.found.fits
    record = describe_table(own, outlook, output=tmp_path / "out", faults=library.faults)
    assert (cells(record)[0]["verdict"], record["faults"]) == ("no published value", [])


def test_no_run_leaves_it_out(tmp_path: Path, say: Say) -> None:
    code, record = say(table(tmp_path, COUNTS), "--no-run")
    (cell,) = cells(record)
    assert (code, cell["verdict"], cell["reason"]) == (0, "not run", "no run of classical is here")
    assert runs_in(tmp_path) == []


def test_a_limit_runs_a_part_and_says_so(tmp_path: Path, say: Say) -> None:
    _, record = say(table(tmp_path, COUNTS), "--limit", "3")
    assert cells(record)[0]["ours"]["n"] == 3
    assert reports(record) == [["samples"]]


def test_a_run_that_departs_is_made_anew_unless_it_is_named(tmp_path: Path, say: Say) -> None:
    departing = run(tmp_path, tasks="samples/depth", model="oracle", set=FIT)
    own = table(tmp_path, DEPTH)
    path = str(tmp_path / "out" / departing.run)
    code, record = say(own, "--use", path)
    assert (code, cells(record)[0]["sources"][0]["run"]) == (1, path)
    assert len(runs_in(tmp_path)) == 1
    code, record = say(own)
    assert (code, reports(record)) == (0, [[]])
    assert len(runs_in(tmp_path)) == 2


def test_of_two_runs_the_one_that_follows_is_taken(tmp_path: Path, say: Say) -> None:
    right = run(tmp_path, tasks="samples/depth", model="oracle")
    run(tmp_path, tasks="samples/depth", model="oracle", set=FIT)
    _, record = say(table(tmp_path, DEPTH), "--no-run")
    (source,) = cells(record)[0]["sources"]
    assert source["run"] == str(tmp_path / "out" / right.run)
    assert source["other_runs"] == 1
    assert reports(record) == [[]]


def test_runs_of_another_folder_are_taken_when_named(tmp_path: Path, say: Say) -> None:
    other = tmp_path / "other"
    other.mkdir()
    import_counts(other)
    own = table(tmp_path, ROW)
    assert cells(say(own)[1])[0]["verdict"] == "not run"
    assert cells(say(own, "--use", str(other / "out"))[1])[0]["verdict"] == "within"


def test_kept_answers_are_read_under_what_a_row_sets(tmp_path: Path, say: Say) -> None:
    setting = {"protocol.metrics.0.options.fit": "depth_lsq"}
    run(tmp_path, tasks="samples/depth", model="oracle")
    direct = run(tmp_path / "apart", tasks="samples/depth", model="oracle", set=setting)
    before = runs_in(tmp_path)
    _, record = say(table(tmp_path, {**DEPTH, "set": setting}), "--no-run")
    (cell,) = cells(record)
    assert cell["sources"][0]["source"] == "read again"
    assert cell["ours"]["value"] == pytest.approx(direct.score("delta1").value, abs=1e-12)
    assert cell["report"] == []
    assert runs_in(tmp_path) == before


def test_several_options_of_a_decoder_are_read_together(tmp_path: Path, say: Say) -> None:
    place = "protocol.answers.0.options"
    setting = {f"{place}.method": "components", f"{place}.s_min": 250}
    row = {**COUNTS, "set": setting, "cells": [{"label": "Oracle", "model": "oracle"}]}
    run(tmp_path, tasks="samples/counting", model="oracle")
    direct = run(tmp_path / "apart", tasks="samples/counting", model="oracle", set=setting)
    _, record = say(table(tmp_path, row), "--no-run")
    (cell,) = cells(record)
    assert cell["sources"][0]["source"] == "read again"
    assert cell["ours"]["value"] == pytest.approx(direct.score("mae").value)
    assert cell["report"] == []


def test_answers_that_are_read_in_two_ways_are_made_once(tmp_path: Path, say: Say) -> None:
    method = "protocol.answers.0.options.method"
    rows = [{**COUNTS, "data": name, "set": {method: name}} for name in ("components", "blob+diff")]
    _, record = say(table(tmp_path, *rows))
    assert len(runs_in(tmp_path)) == 1
    assert reports(record) == [[], []]


def test_what_is_set_beyond_the_reading_is_run_so(tmp_path: Path, say: Say) -> None:
    row = {**COUNTS, "set": {"protocol.input.long_side": 64}}
    _, record = say(table(tmp_path, row))
    (path,) = runs_in(tmp_path)
    assert json.loads((path / "run.json").read_text())["settings"]["set"] == row["set"]
    assert reports(record) == [[]]


def test_a_row_may_be_the_mean_of_several_tasks(tmp_path: Path, say: Say) -> None:
    tasks = ["samples/referring@standard", "samples/referring@fixed_threshold"]
    values = [run(tmp_path, tasks=t, model="oracle").score("giou").value for t in tasks]
    row: dict[str, Any] = {
        "data": "two", "mean_of": tasks, "reports": ["giou"], "tag": "S",
        "comparability": "comparable", "cells": [{"label": "Oracle", "model": "oracle"}],
    }  # fmt: skip
    _, record = say(table(tmp_path, row), "--no-run")
    (cell,) = cells(record)
    assert cell["ours"]["value"] == pytest.approx(sum(values) / 2)
    assert len(cell["sources"]) == 2
    assert cell["report"] == []


def test_a_dry_run_says_what_each_cell_takes_and_is_no_failure(tmp_path: Path, say: Say) -> None:
    import_counts(tmp_path, (9,) * 13)
    before = runs_in(tmp_path)
    paid = {"label": "GPT", "model": "openai/gpt-image-2"}
    code, record = say(table(tmp_path, {**ROW, "cells": [CELL, paid | {"values": {"mae": 1}}]},
                             {**COUNTS, "data": "ours"}), "--dry-run")  # fmt: skip
    assert (code, record["exit_code"], record["calls"]) == (0, 0, 26)
    assert [cell["does"] for cell in record["cells"]] == ["reuse", "run", "run"]
    assert any("OPENAI_API_KEY" in line for line in record["missing"])
    assert {run["calls"] for run in record["runs"]} == {13}
    assert runs_in(tmp_path) == before


def test_missing_data_and_keys_are_reasons_and_no_failure(tmp_path: Path, say: Say) -> None:
    code, record = say("editors:table-2", "--dry-run")
    assert code == 0
    reasons = {cell["label"]: cell["reason"] for cell in record["cells"]}
    assert "cannot be run: neither weights" in reasons.pop("Vision Banana")
    assert all("data not found" in reason for reason in reasons.values())
    row = {**COUNTS, "cells": [{"label": "GPT", "model": "openai/gpt-image-2"}, CLASSICAL]}
    code, record = say(table(tmp_path, row))
    assert [cell["verdict"] for cell in cells(record)] == ["not run", "no published value"]
    assert "OPENAI_API_KEY is not set" in cells(record)[0]["reason"]
    assert code == 0


def test_a_model_that_cannot_be_run_says_why(tmp_path: Path, say: Say) -> None:
    (cell,) = cells(say(table(tmp_path, ROW))[1])
    assert cell["verdict"] == "not run"
    assert "since 8 October 2026" in cell["reason"]


def test_a_speed_is_taken_from_the_efficiency_records(tmp_path: Path, say: Say) -> None:
    row = {
        "data": "speed", "task": "samples/counting", "protocol": "standard", "measure": "speed",
        "machine": "NVIDIA H800", "reports": ["images_per_minute"], "tag": "S",
        "comparability": "comparable", "cells": [CLASSICAL],
    }  # fmt: skip
    own = table(tmp_path, row)
    (cell,) = cells(say(own)[1])
    assert cell["reason"] == (
        "not measured: vgen-eval bench --model classical --task samples/counting@standard"
    )
    from vgen_eval.cli import main

    words = "bench --model classical --task samples/counting --samples 3 --output out"
    assert main(words.split()) == 0
    _, record = say(own)
    (cell,) = cells(record)
    assert cell["ours"]["value"] > 0
    assert cell["sources"][0]["source"] == "bench"
    assert reports(record) == [["hardware"]]


def test_the_only_run_that_cannot_be_made_is_a_reason_too(tmp_path: Path, say: Say) -> None:
    row = {**COUNTS, "cells": [{"label": "GPT", "model": "openai/gpt-image-2"}]}
    code, record = say(table(tmp_path, row))
    (cell,) = cells(record)
    assert (code, cell["verdict"]) == (0, "not run")
    assert cell["reason"].startswith("OPENAI_API_KEY is not set")


def test_a_run_stands_in_where_the_right_one_cannot_be_made(tmp_path: Path, say: Say) -> None:
    row = {**COUNTS, "cells": [{"label": "GPT", "model": "openai/gpt-image-2"}]}
    own = table(tmp_path, row)
    copy = tmp_path / "copy.yaml"
    copy.write_text(
        "model: openai/gpt-image-2\nadapter: classical\nanswers: [image]\nlicence: CC0-1.0\n"
    )
    run(tmp_path, tasks="samples/counting", model=str(copy), limit=4)
    (cell,) = cells(say(own)[1])
    assert cell["ours"]["n"] == 4
    assert {"samples", "model.options.model"} == {each["field"] for each in cell["report"]}


def test_a_budget_ends_it_with_what_is_there(tmp_path: Path, say: Say) -> None:
    with OpenAIService() as service:
        options = {"base_url": f"{service.url}/v1", "model": "tiny-vision"}
        card = {
            "model": "mine", "adapter": "openai_compatible", "answers": ["text"],
            "licence": "CC0-1.0", "options": options,
        }  # fmt: skip
        (tmp_path / "mine.yaml").write_text(json.dumps(card))
        cell = {"label": "Mine", "model": "./mine.yaml", "values": {"mae": 1}}
        own = table(tmp_path, {**COUNTS, "tolerance": {"mae": 0.5}, "cells": [cell]})
        code, record = say(own, "--max-calls", "4")
    assert code == 1
    assert cells(record)[0]["verdict"] == "approximate"
    assert cells(record)[0]["reason"] == "incomplete: 4 of 13 attempts"
    assert reports(record) == [[]]
    _, record = say(own, "--dry-run")
    assert record["calls"] == 9


def test_runs_that_were_named_for_nothing_are_told(
    tmp_path: Path, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    other = run(tmp_path, tasks="samples/depth", model="oracle")
    from vgen_eval.cli import main

    words = ["reproduce", table(tmp_path, COUNTS), "--output", "out", "--no-run"]
    assert main([*words, "--use", str(tmp_path / "out" / other.run)]) == 0
    told = capsys.readouterr().err
    assert "note: 1 of 1 run of --use give no number" in told
    assert "it is of samples/depth; the table looks for runs of samples/counting" in told


@pytest.mark.parametrize(
    ("made", "row", "words"),
    [
        ({"model": "blind"}, {}, "its model is called 'blind'; of samples/counting the table looks "
         "for classical"),
        ({"model": "classical"}, {"selection": "best_of_3"}, "it has no number for mae"),
    ],
)  # fmt: skip
def test_why_a_run_that_was_named_gives_no_number_is_told(
    tmp_path: Path, say: Say, capsys: pytest.CaptureFixture[str], made: dict[str, Any],
    row: dict[str, Any], words: str,
) -> None:  # fmt: skip
    from vgen_eval.cli import main

    other = run(tmp_path, tasks="samples/counting", **made)
    own = table(tmp_path, {**COUNTS, **row})
    use = str(tmp_path / "out" / other.run)
    assert main(["reproduce", own, "--output", "out", "--no-run", "--use", use]) == 0
    assert words in " ".join(capsys.readouterr().err.split())
