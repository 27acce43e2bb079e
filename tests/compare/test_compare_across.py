"""Models ranked over tasks: places, agreement and wins, and who takes no part."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest
import scipy.stats
import vgen_eval
from comparekit import MODELS, Compare, run_path
from vgen_eval.cli import main

TASKS = ("counting", "depth", "normals", "referring", "semantic")


def _primary(run: Path) -> tuple[float, bool]:
    card = json.loads((run / "result_card.json").read_text())
    [score] = [
        s for s in card["scores"]
        if (s["metric"], s["subset"], s["selection"]) == (card["primary"], "all", "mean")
    ]  # fmt: skip
    return score["value"], score["higher_is_better"]


def _places(output: Path, tasks: tuple[str, ...] = TASKS) -> list[list[float]]:
    """(tasks, models), 1 the best."""
    found = []
    for task in tasks:
        values = [_primary(run_path(output, model, task)) for model in MODELS]
        signed = [-value if higher else value for value, higher in values]
        found.append(scipy.stats.rankdata(signed).tolist())
    return found


def test_places_and_agreement_are_scipys(output: Path, compare: Compare) -> None:
    record = compare("--across", "tasks", "--with-bounds", "--output", output)
    places = _places(output)
    by_model = dict(zip(MODELS, zip(*places, strict=True), strict=True))
    assert {m["model"]: tuple(m["places"]) for m in record["models"]} == by_model
    means = [m["mean_rank"] for m in record["models"]]
    assert means == sorted(means)
    assert record["models"][0] == {"model": "oracle", "mean_rank": 1.0, "places": [1.0] * 5}
    friedman = scipy.stats.friedmanchisquare(*by_model.values())
    agreement = record["agreement"]
    assert agreement["chi_square"] == pytest.approx(friedman.statistic, rel=1e-9)
    assert agreement["p_chi_square"] == pytest.approx(friedman.pvalue, rel=1e-9)
    assert agreement["w"] == pytest.approx(friedman.statistic / (5 * 3), rel=1e-9)
    assert agreement["finding"] == "shared"
    names = [m["model"] for m in record["models"]]
    for row, column in itertools.permutations(range(4), 2):
        ahead = zip(by_model[names[row]], by_model[names[column]], strict=True)
        assert record["wins"][row][column] == sum(a < b for a, b in ahead)


def test_the_chance_of_an_agreement_counts_every_order(output: Path, compare: Compare) -> None:
    tasks = TASKS[:3]
    runs = [run_path(output, model, task) for model in MODELS for task in tasks]
    agreement = compare("--across", "tasks", "--with-bounds", *runs)["agreement"]
    places = _places(output, tasks)

    def spread(rows: list[list[float]]) -> float:
        return sum((sum(column) - 7.5) ** 2 for column in zip(*rows, strict=True))

    as_much = [
        spread([places[0], list(second), list(third)]) >= spread(places) - 1e-9
        for second in itertools.permutations(places[1])
        for third in itertools.permutations(places[2])
    ]
    assert agreement["exact"]
    assert agreement["p_value"] == pytest.approx(sum(as_much) / len(as_much), rel=1e-12)


def test_many_orders_are_drawn_and_the_draw_is_fixed(output: Path, compare: Compare) -> None:
    words = ("--across", "tasks", "--with-bounds", "--output", output)
    first, second = compare(*words)["agreement"], compare(*words)["agreement"]
    assert not first["exact"]  # 24^4 orders
    assert first == second
    assert 0.0005 < first["p_value"] < 0.005


def test_bounds_take_no_part_unless_asked(output: Path, compare: Compare) -> None:
    record = compare("--across", "tasks", "--output", output)
    assert [model["model"] for model in record["models"]] == ["classical", "copy"]
    reasons = {one["reason"] for one in record["left_out"]}
    assert reasons == {
        "a ceiling: --with-bounds ranks it", "a floor: --with-bounds ranks it"
    }  # fmt: skip


def test_too_few_tasks_have_no_agreement(output: Path, compare: Compare) -> None:
    runs = [run_path(output, model, task) for model in MODELS for task in TASKS[:2]]
    record = compare("--across", "tasks", "--with-bounds", *runs)
    assert len(record["tasks"]) == 2
    assert record["agreement"]["w"] is None
    assert record["agreement"]["reason"] == "2 tasks, fewer than 3"


def test_a_model_that_lacks_a_task_is_left_out_and_named(output: Path, compare: Compare) -> None:
    runs = [
        run_path(output, model, task)
        for model in MODELS for task in TASKS
        if (model, task) not in (("copy", "depth"), ("copy", "semantic"))
    ]  # fmt: skip
    record = compare("--across", "tasks", "--with-bounds", *runs)
    assert [m["model"] for m in record["models"]] == ["oracle", "classical", "blind"]
    assert len(record["tasks"]) == 5
    assert record["left_out"] == [
        {"what": "copy", "reason": "has no run of samples/depth, samples/semantic"}
    ]


def test_a_task_that_few_have_is_left_out_and_named(output: Path, compare: Compare) -> None:
    runs = [
        run_path(output, model, task)
        for model in MODELS for task in TASKS if model == "copy" or task != "depth"
    ]  # fmt: skip
    record = compare("--across", "tasks", "--with-bounds", *runs)
    assert [task["task"] for task in record["tasks"]] == [
        "samples/counting", "samples/normals", "samples/referring", "samples/semantic",
    ]  # fmt: skip
    assert record["left_out"] == [{"what": "samples/depth", "reason": "copy alone has it"}]


def test_runs_under_another_identity_are_set_apart(
    output: Path, tmp_path: Path, compare: Compare
) -> None:
    cards = vgen_eval.evaluate(
        tasks="samples/counting", models=["copy"], output=str(tmp_path), limit=4, bounds=False
    )
    record = compare("--across", "tasks", "--with-bounds", output, tmp_path)
    counting = record["tasks"][0]
    own = [run_path(output, m["model"], "counting") for m in record["models"]]
    assert counting["runs"] == [str(run) for run in own]
    apart = {one["what"]: one["reason"] for one in record["left_out"]}
    assert "samples.n" in apart[str(tmp_path / cards[0].run)]


def test_a_model_under_another_option_is_another_model(
    output: Path, tmp_path: Path, compare: Compare
) -> None:
    vgen_eval.evaluate(
        tasks="suite:samples", model="blind", output=str(tmp_path), bounds=False,
        model_args={"box": 0.25},
    )  # fmt: skip
    record = compare("--across", "tasks", "--with-bounds", output, tmp_path)
    names = {model["model"] for model in record["models"]}
    assert names == {"oracle", "classical", "copy", "blind box=0.5", "blind box=0.25"}


def test_a_run_made_again_is_ranked_once(output: Path, tmp_path: Path, compare: Compare) -> None:
    run = run_path(output, "copy", "depth")
    again = tmp_path / run.relative_to(output)
    shutil.copytree(run, again)
    card = json.loads((again / "result_card.json").read_text())
    card["volatile"]["finished"] = "2999-01-01T00:00:00Z"
    (again / "result_card.json").write_text(json.dumps(card))
    record = compare("--across", "tasks", output, tmp_path)
    assert str(again) in record["tasks"][1]["runs"]
    told = {"reason": f"the model ran again: {again} is ranked", "model": "copy"}
    assert {"what": str(run), **told} in record["left_out"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"complete": False}, "attempts without a score"),
        ({"primary": "nosuch"}, "its card has no value of its primary 'nosuch'"),
        ({"schema_version": "9.0"}, "schema 9.0"),
    ],
)
def test_runs_without_a_whole_number_take_no_part(
    output: Path, tmp_path: Path, compare: Compare, change: dict[str, object], reason: str
) -> None:
    for model in MODELS:
        for task in TASKS[:3]:
            run = run_path(output, model, task)
            shutil.copytree(run, tmp_path / run.relative_to(output))
    broken = run_path(tmp_path, "copy", "depth") / "result_card.json"
    broken.write_text(json.dumps(json.loads(broken.read_text()) | change))
    record = compare("--across", "tasks", "--with-bounds", tmp_path)
    assert "copy" not in [model["model"] for model in record["models"]]
    told = {one["what"]: one["reason"] for one in record["left_out"]}
    assert reason in next(why for what, why in told.items() if "copy" in what and "depth" in what)
    assert told["copy"] == "has no run of samples/depth"


def test_nothing_to_rank_is_an_error_of_use(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(run_path(output, model, "depth")) for model in ("oracle", "blind")]
    assert main(["compare", "--across", "tasks", *runs]) == 2
    said = capsys.readouterr().err
    assert "nothing to rank" in said
    assert "--with-bounds" in said.splitlines()[-1]
    assert main(["compare", "--across", "tasks", "--with-bounds", runs[0]]) == 2
    assert "runs list" in capsys.readouterr().err


def test_imported_predictions_are_one_model_over_tasks(
    output: Path, tmp_path: Path, compare: Compare
) -> None:
    from vgen_eval.engine.importing import import_predictions
    from vgen_eval.plugins import Catalog

    for task in TASKS[1:]:
        run = run_path(output, "copy", task)
        folder = tmp_path / task
        folder.mkdir()
        for text in (run / "predictions.jsonl").read_text().splitlines():
            line = json.loads(text)
            kept = run / "outputs" / line["answer"]["file"]
            (folder / f"{line['sample']}.png").write_bytes(kept.read_bytes())
        import_predictions(
            task=f"samples/{task}", predictions=folder, model_name="brought", answer="image",
            catalog=Catalog.discover(), output=str(tmp_path),
        )  # fmt: skip
    runs = [run_path(output, model, task) for model in ("classical", "copy") for task in TASKS[1:]]
    record = compare("--across", "tasks", *runs, tmp_path)
    by_name = {model["model"]: model["places"] for model in record["models"]}
    assert set(by_name) == {"classical", "copy", "brought"}
    assert by_name["brought"] == by_name["copy"]


def test_the_text_says_it_within_80_columns(
    output: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(output.parent)
    assert main(["compare", "--across", "tasks", "--with-bounds", "--output", output.name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 models over 5 tasks, ranked by each task's primary value"
    assert any(line.startswith("agreement of the tasks: Kendall's W 0.744") for line in lines)
    assert max(map(len, lines)) <= 80


def test_many_runs_with_one_reason_are_told_by_their_model(
    output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "--across", "tasks", "--output", str(output)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  5 runs of oracle: a ceiling: --with-bounds ranks it" in lines
    assert "  5 runs of blind: a floor: --with-bounds ranks it" in lines
