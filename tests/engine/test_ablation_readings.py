"""What a reading is made of: what the run asked stays; what is refused, what is not scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kit
import pytest
import vgen_eval
from vgen_eval import ResultCard
from vgen_eval.engine.ablation import Stopped, read_variants
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.ablation import describe_ablation, is_incomplete

TEXT = {"form": "text", "prompt": {"mid": "{shift}?"}, "decoder": "toybench:shifted"}
PLAIN = {"form": "text", "prompt": {"mid": "?"}, "decoder": "toybench:number"}


def read(path: Path, key: str, values: list[Any], **more: Any) -> list[Any]:
    (row,) = read_variants([path], Catalog.discover(), key=key, values=values, **more)
    return row


def described(paths: list[Path], key: str, values: list[Any], metric: str | None = None) -> Any:
    readings = read_variants(paths, Catalog.discover(), key=key, values=values, metric=metric)
    record = describe_ablation(readings, key, values, metric)
    return kit.strict(json.dumps(record))


def write_task(toys: Path, protocols: dict[str, Any], **options: Any) -> str:
    """A task card of the toy data set with several protocols."""
    path = Path(kit.task(toys, **options))
    card = json.loads(path.read_text())
    card["protocols"] = {name: {**kit.PROTOCOL, **changes} for name, changes in protocols.items()}
    path.write_text(json.dumps({**card, "default_protocol": next(iter(protocols))}))
    return str(path)


def folder_of(toys: Path, card: ResultCard) -> Path:
    return kit.run_folder(toys, card)


def files(folder: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_another_protocol_reads_the_answers_to_the_run_s_own_prompt(tmp_path: Path) -> None:
    (own,) = vgen_eval.evaluate(
        tasks="samples/depth@metric", model="classical", output=str(tmp_path), bounds=False
    )
    kept = {
        line["sample"]: (tmp_path / own.run / "outputs" / line["answer"]["file"]).read_bytes()
        for line in kit.lines(tmp_path / own.run / "predictions.jsonl")
    }

    def parrot(request: Any) -> bytes:
        return kept[request.sample]

    (wanted,) = vgen_eval.evaluate(
        tasks="samples/depth@standard", model=parrot, forms=["image"], output=str(tmp_path),
        bounds=False,
    )  # fmt: skip
    record = described([tmp_path / own.run], "protocol", ["metric", "standard"])
    first, second = record["runs"][0]["values"]
    assert (first["value"], second["value"]) == (own.score().value, wanted.score().value)
    assert record["runs"][0]["own"] == 0
    assert second["counts"]["answered"] == 10


def test_what_another_protocol_would_show_is_not_what_the_model_saw(toys: Path) -> None:
    shown = {"size": [32, 48], "fit": "letterbox", "pad": [9, 9, 9]}
    task = write_task(
        toys,
        {
            "small": {"answers": [kit.IMAGE], "input": shown, "seed": "per_sample"},
            "whole": {"answers": [kit.IMAGE], "attempts": 3},
        },
        n=4,
    )
    model = kit.model(toys, card={"answers": ["image"]}, off=1)
    card = kit.run(toys, tasks=task, model=model)
    small, whole = read(folder_of(toys, card), "protocol", ["small", "whole"])
    assert whole.job.task.protocol.input == small.job.task.protocol.input
    assert list(whole.job.task.protocol.input.size) == [32, 48]
    assert (whole.job.attempts, whole.summary.table.state.size) == (1, 4)


def test_another_protocol_has_to_take_the_run_s_answer_form(toys: Path) -> None:
    task = write_task(toys, {"text": {"answers": [PLAIN]}, "image": {"answers": [kit.IMAGE]}}, n=2)
    card = kit.run(toys, tasks=task, model=kit.model(toys))
    with pytest.raises(UsageError, match="protocol=image: it takes no text") as caught:
        read(folder_of(toys, card), "protocol", ["text", "image"])
    assert caught.value.cure == "text do"


def test_what_a_run_overrode_of_its_protocol_is_no_part_of_another(toys: Path) -> None:
    task = write_task(toys, {"one": {"answers": [TEXT]}, "other": {"answers": [TEXT]}}, n=12)
    card = kit.run(
        toys, tasks=task, model=kit.model(toys, off=3),
        set={"protocol.answers.0.options.shift": 3},
    )  # fmt: skip
    record = described([folder_of(toys, card)], "protocol", ["one", "other"])
    assert [cell["value"] for cell in record["runs"][0]["values"]] == [0.0, 3.0]
    assert record["runs"][0]["own"] == 0


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("protocol.input.long_side", "what a model is shown or asked"),
        ("seed", "what a model is shown or asked"),
        ("prompt", "what a model is shown or asked"),
        ("answers[0].prompt.mid", "what a model is shown or asked"),
        ("answers[1].options.shift", r"read by answers\.0"),
        ("encoder", "no number hangs on it"),
        ("title", "no number hangs on it"),
        ("nosuch", "nothing in .* is called 'nosuch'"),
        ("protocol.metrics.0.options.nosuch", "unknown key"),
        ("protocol.metrics.7.options.fit", "the list has 1 entry"),
        ("protocol.nosuch", "unknown key"),
    ],
)
def test_keys_that_no_kept_answer_can_speak_of_are_refused(
    toys: Path, key: str, words: str
) -> None:
    task = kit.task(toys, n=2, protocol={"answers": [TEXT, kit.IMAGE]})
    card = kit.run(toys, tasks=task, model=kit.model(toys))
    with pytest.raises(UsageError, match=words):
        read(folder_of(toys, card), key, [1, 2])


def test_an_option_of_a_metric_that_reports_another_value_says_so(tmp_path: Path) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="samples/depth", model="blind", output=str(tmp_path), limit=2, bounds=False
    )
    folder, fits = tmp_path / card.run, ["depth_lsq", "log_lsq"]
    spaces = described([folder], "fit", fits, "depth_space.absrel")["runs"][0]
    assert [cell["metric"] for cell in spaces["values"]] == ["depth_space.absrel"] * 2
    assert spaces["own"] == 0  # of the second metric
    with pytest.raises(UsageError, match=r"reports no 'absrell'.* Nearest: absrel"):
        described([folder], "fit", fits, "absrell")


def test_a_component_in_the_place_of_another_takes_the_options_that_it_knows(toys: Path) -> None:
    task = kit.task(toys, n=6, protocol={"answers": [{**TEXT, "options": {"shift": 2}}]})
    card = kit.run(toys, tasks=task, model=kit.model(toys, off=2))
    values = ["toybench:shifted", "toybench:number"]
    shifted, number = described([folder_of(toys, card)], "decoder", values)["runs"][0]["values"]
    assert (shifted["value"], number["value"]) == (0.0, 2.0)
    assert (shifted["dropped_options"], number["dropped_options"]) == ([], ["shift"])


def test_failures_under_a_value_are_counted_and_scored_as_the_failure_value(toys: Path) -> None:
    task = kit.task(toys, n=9, protocol={"answers": [PLAIN]})
    card = kit.run(toys, tasks=task, model=kit.model(toys, refuse=["s001"]))
    values = ["toybench:number", "toybench:odd_only"]
    record = described([folder_of(toys, card)], "decoder", values)
    number, odd = record["runs"][0]["values"]
    assert number["value"] == 1 / 9
    assert (number["counts"]["answered"], number["counts"]["model_failure"]) == (8, 1)
    assert odd["value"] == (1 + 2 + 4 + 6 + 8) / 9  # 0 in the place of what it does not read
    assert (odd["counts"]["answered"], odd["counts"]["model_failure"]) == (4, 5)
    assert odd["complete"]


def test_a_value_that_cannot_be_scored_is_incomplete_and_says_why(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    def decode(self: Any, answer: Any, scene: Any) -> Any:
        raise RuntimeError("broken on purpose")

    task = kit.task(toys, n=3, protocol={"answers": [PLAIN]})
    cards = [
        kit.run(toys, tasks=task, model=kit.model(toys, name=f"off{off}", off=off))
        for off in (1, 2)
    ]
    monkeypatch.setattr(toybench.parts.OddOnly, "decode", decode)
    paths = [folder_of(toys, card) for card in cards]
    values = ["toybench:number", "toybench:odd_only", "toybench:anything"]
    record = described(paths, "decoder", values)
    broken = record["runs"][0]["values"][1]
    assert (broken["value"], broken["reason"]) == (None, "no sample was scored")
    assert broken["faults"] == [
        {"reason": "scoring raised RuntimeError: broken on purpose", "attempts": 3}
    ]
    assert (broken["difference"], broken["interval"]["clusters"]) == (None, 0)
    assert is_incomplete(record)
    (ranking,) = record["ranking"]
    assert ranking["places"] == [[1, 2], None, [1.5, 1.5]]  # all tied under the last
    assert (ranking["moves"][0]["tau"], ranking["moves"][1], ranking["moves"][2]["tau"]) == (
        1.0, None, None,
    )  # fmt: skip
    assert ranking["left_out"] == []


def test_a_run_that_is_not_whole_takes_no_place(toys: Path) -> None:
    task = kit.task(toys, n=3, protocol={"answers": [TEXT]})
    whole, torn, third = (
        kit.run(toys, tasks=task, model=kit.model(toys, name=name, off=1, fail=fail))
        for name, fail in (("whole", []), ("torn", ["s001"]), ("third", []))
    )
    paths = [folder_of(toys, card) for card in (whole, torn, third)]
    (ranking,) = described(paths, "shift", [0, 1])["ranking"]
    assert ranking["labels"] == ["whole", "third"]
    assert [entry["label"] for entry in ranking["left_out"]] == ["torn"]
    assert ranking["places"] == [[1.5, 1.5], [1.5, 1.5]]


def test_runs_over_other_samples_are_ranked_apart(toys: Path) -> None:
    task = kit.task(toys, n=6, protocol={"answers": [TEXT]})
    cards = [
        kit.run(toys, tasks=task, model=kit.model(toys, name=name), limit=limit)
        for name, limit in (("a", None), ("b", 3), ("c", None))
    ]
    record = described([folder_of(toys, card) for card in cards], "shift", [0, 1])
    (ranking,) = record["ranking"]
    assert ranking["labels"] == ["a", "c"]


def test_runs_of_one_model_are_told_apart(toys: Path) -> None:
    task = kit.task(
        toys, n=2, protocol={"answers": [{**TEXT, "prompt": {"mid": "?", "long": "!"}}]}
    )
    cards = [
        kit.run(toys, tasks=task, model=kit.model(toys), prompt=variant)
        for variant in ("mid", "long")
    ]
    record = described([folder_of(toys, card) for card in cards], "shift", [0, 1])
    assert [run["label"] for run in record["runs"]] == ["teller mid", "teller long"]


@pytest.mark.parametrize("metric", ["mae", "rmse", "second.median"])
def test_with_several_attempts_the_own_reading_has_the_card_s_numbers(
    toys: Path, metric: str
) -> None:
    metrics = [{"name": "toybench:error"}, {"name": "toybench:middle", "label": "second"}]
    task = kit.task(toys, n=24, protocol={"answers": [TEXT], "metrics": metrics})
    model = kit.model(toys, off=1, off_by_attempt=2, refuse=["s003"])
    card = kit.run(toys, tasks=task, model=model, attempts=3)
    own, other = described([folder_of(toys, card)], "shift", [0, 1], metric)["runs"][0]["values"]
    assert own["value"] == card.score(metric).value
    assert own["samples"] == other["n"] == 24
    assert other["value"] != own["value"]
    assert other["interval"]["low"] <= other["difference"] <= other["interval"]["high"]


def test_a_decoder_is_calibrated_anew_under_each_value(toys: Path) -> None:
    rule = {"answers": [{**TEXT, "decoder": "toybench:tuned"}], "calibration": {"samples": 2}}
    task = kit.task(toys, n=12, protocol=rule)
    card = kit.run(toys, tasks=task, model=kit.model(toys, off=5))
    folder = folder_of(toys, card)
    before = files(folder)
    tuned, plain = described([folder], "calibration", [{"samples": 3}, None])["runs"][0]["values"]
    assert (tuned["value"], plain["value"]) == (0.0, 5.0)
    assert files(folder) == before


def test_a_reader_that_raises_spoils_its_sample_alone(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    task = kit.task(toys, n=4, protocol={"answers": [TEXT]})
    card = kit.run(toys, tasks=task, model=kit.model(toys))
    load = toybench.parts.Numbers.load

    def torn(self: Any, item: Any) -> Any:
        if item.id == "s002":
            raise KeyError("a column")
        return load(self, item)

    monkeypatch.setattr(toybench.parts.Numbers, "load", torn)
    cell = described([folder_of(toys, card)], "shift", [0, 1])["runs"][0]["values"][0]
    assert (cell["samples"], cell["counts"]["data_fault"]) == (3, 1)
    assert cell["faults"] == [{"reason": "KeyError: 'a column'", "attempts": 1}]


def test_answers_that_stand_in_the_line_need_no_file(toys: Path) -> None:
    task = kit.task(toys, n=3, protocol={"answers": [TEXT]})
    card = kit.run(toys, tasks=task, model=kit.model(toys, off=1), keep="none")
    cells = described([folder_of(toys, card)], "shift", [0, 1])["runs"][0]["values"]
    assert [cell["value"] for cell in cells] == [1.0, 0.0]


def test_a_picture_that_was_altered_is_called_damaged(toys: Path) -> None:
    task = kit.task(toys, n=3, protocol={"answers": [kit.IMAGE]})
    card = kit.run(toys, tasks=task, model=kit.model(toys, card={"answers": ["image"]}))
    folder = folder_of(toys, card)
    kept = next((folder / "outputs").iterdir())
    kept.write_bytes(b"something else")
    with pytest.raises(NotRunnable, match=rf"{kept.name} is damaged .*cannot be read another way"):
        read(folder, "background", [[0, 0, 0], [255, 255, 255]])


def test_a_stop_ends_it_and_leaves_the_run_as_it_was(toys: Path) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=8, protocol={"answers": [TEXT]}),
                   model=kit.model(toys))  # fmt: skip
    folder = folder_of(toys, card)
    before, looks = files(folder), iter([False, False])
    with pytest.raises(Stopped):
        read(folder, "shift", [0, 1], workers=1, stopped=lambda: next(looks, True))
    assert files(folder) == before


CHILD = """
import sys
from pathlib import Path
import toybench.parts
from vgen_eval.engine.ablation import read_variants
from vgen_eval.plugins import Catalog
toybench.parts.Error.delay_s = 5
say = lambda text: print(text, file=sys.stderr, flush=True)
read_variants([Path(sys.argv[1])], Catalog.discover(), key="shift", values=[0, 1], told=say)
"""


def test_a_kill_midway_leaves_the_run_as_it_was(toys: Path) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=8, protocol={"answers": [TEXT]}),
                   model=kit.model(toys))  # fmt: skip
    folder = folder_of(toys, card)
    before = files(folder)
    process = kit.child(CHILD, folder, site=toys / "site")
    assert process.stderr is not None
    try:
        assert process.stderr.readline() == b"teller toys/numbers@plain: 0\n"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert files(folder) == before
