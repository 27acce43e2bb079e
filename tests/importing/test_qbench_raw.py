"""Q-Bench's published raw outputs: the layouts they have, scored without a data set."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from vgen_eval.cards import convert, load_card
from vgen_eval.cards.records import TaskCard
from vgen_eval.cli import main
from vgen_eval.engine.importing import import_predictions
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import MissingData, NotRunnable, UsageError
from vgen_eval.importing import Imported, Scope
from vgen_eval.plugins import Catalog
from vgen_eval.results.card import ResultCard
from vgen_eval_plugins.quality.assessment.correlation import Correlation
from vgen_eval_plugins.quality.assessment.raw import QBenchRaw

CATALOG = Catalog.discover()
RECORDS = [
    {"img_path": "t1.bmp", "gt_score": 63.5, "logit_good": 19.5, "logit_poor": 16.75},
    {"img_path": "t2.bmp", "gt_score": "25.25 ", "logit_good": 17.25, "logit_poor": 17.0},
    {"img_path": "t3.bmp", "gt_score": "48", "logit_good": 17.5, "logit_poor": 16.75,
     "logit_high": 14.0, "logit_low": 13.0},
]  # fmt: skip


FEW = 9
"""Pictures that no interval is made of, which takes its time."""


def scope(**data: Any) -> Scope:
    return Scope(task="quality/livec@qbench", family="quality", forms=("choice",), data=data)


def read(path: Path, *, duplicates: Any = "keep", **data: Any) -> Imported:
    return QBenchRaw(QBenchRaw.Options(duplicates=duplicates)).read(path, scope(**data))


def run_together(records: Sequence[Any]) -> str:
    return "".join(json.dumps(record) for record in records)


@pytest.mark.parametrize(
    "layout",
    [
        run_together,
        lambda records: "  \n" + run_together(records),
        lambda records: "\ufeff" + run_together(records),
        json.dumps,
        lambda records: json.dumps(records, indent=1),
        lambda records: "\n".join(map(json.dumps, records)) + "\n",
        lambda records: json.dumps(records[:1]) + json.dumps(records[1:]),
    ],
)
def test_records_are_read_in_every_layout_that_the_files_have(
    tmp_path: Path, layout: Callable[[Any], str]
) -> None:
    path = tmp_path / "livec.json"
    path.write_text(layout(RECORDS), encoding="utf-8")
    found = read(path)
    assert found.samples is not None
    assert [sample.id for sample in found.samples] == ["t1.bmp", "t2.bmp", "t3.bmp"]
    assert [sample.target.score for sample in found.samples] == [63.5, 25.25, 48.0]
    assert [answer.value for answer in found.answers] == [
        {"good": 19.5, "poor": 16.75},
        {"good": 17.25, "poor": 17.0},
        {"good": 17.5, "poor": 16.75, "high": 14.0, "low": 13.0},
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (run_together(RECORDS)[:-9], r"livec.json:1:\d+: record 3: no whole record begins here"),
        (run_together(RECORDS) + "\n\n#", r"livec.json:3:1: record 4: no whole record"),
        ("", "no record in it"),
        ("[]", "no record in it"),
        ("[" + ",\n".join(map(json.dumps, RECORDS)), r":3:\d+: the array does not end: 3 records"),
        ("[" + ",".join(map(json.dumps, RECORDS)) + ",\n", ":2:1: the array does not end"),
        ("[\n", "the array does not end: 0 records"),
        (run_together(RECORDS) + "]", "record 4: no whole record begins here: ']'"),
        ("[[" + run_together(RECORDS) + "]]", "record 1: no whole record"),
        (
            '{"img_path": "a", "gt_score": 1, "logit_good": 1, "logit_good": 2}',
            "record 1: 'logit_good' stands in it twice",
        ),
        ('{"img_path": "a\\ud800b", "gt_score": 1, "logit_good": 1}', r"ud800b' is no text"),
        ('{"img_path": "a", "gt_score": 1, "logit_\\ud800": 1}', r"ud800' is no text"),
        (
            '{"img_path": "a", "gt_score": ' + "[" * 700 + "]" * 700 + ', "logit_good": 1}',
            "'gt_score' is no number: list",
        ),
        ("[3]", "record 1: no 'img_path'"),
        ('{"img_path": " "}', "'img_path' is empty"),
        ('{"img_path": "a", "gt_score": 1}', r"\(a\): no 'logit_...'"),
        ('{"img_path": "a", "logit_good": 1}', "'gt_score' is no number: None"),
        ('{"img_path": "a", "gt_score": "high", "logit_good": 1}', "'gt_score' is no number"),
        ('{"img_path": "a", "gt_score": 1, "logit_good": null}', "'logit_good' is no number"),
        (
            '{"img_path": "a", "gt_score": 1, "logit_good": NaN}',
            r":1:1: record 1 \(a\): NaN in logit_good of record 1",
        ),
        (
            json.dumps(RECORDS[0]) + '{"img_path": "a", "gt_score": -Infinity, "logit_good": 1}',
            "infinity in gt_score of record 2",
        ),
        ('{"img_path": "a", "gt_score": 1, "logit_good": "nan"}', "'logit_good' is no number"),
    ],
)
def test_what_is_no_record_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "livec.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        read(path)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "livec.json"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(UsageError, match="cannot be read"):
        read(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path)


def test_a_picture_that_stands_twice_counts_twice_or_once_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "agi.json"
    path.write_text(run_together([{**RECORDS[0], "img_path": "./t1.bmp"}, *RECORDS]))
    kept = read(path)
    assert kept.samples is not None
    assert [(one.id, one.group) for one in kept.samples][:2] == [
        ("t1.bmp", "t1.bmp"), ("t1.bmp#2", "t1.bmp"),
    ]  # fmt: skip
    assert len(kept.samples) == len(kept.answers) == 4
    dropped = read(path, duplicates="drop")
    assert dropped.samples is not None
    assert [one.id for one in dropped.samples] == ["t1.bmp", "t2.bmp", "t3.bmp"]
    assert dropped.remarks == (f"{path}: 1 repeated records are left out",)


def test_parts_are_told_by_their_place_and_what_is_past_them_is_left_out(tmp_path: Path) -> None:
    records = [{**RECORDS[0], "img_path": f"{at}.png", "gt_score": at} for at in range(5)]
    path = tmp_path / "cgi.json"
    path.write_text(run_together([records[0], *records]))
    found = read(path, parts={"game": 3, "movie": 2})
    assert found.samples is not None
    assert [(one.id, one.target.part, one.tags["part"]) for one in found.samples] == [
        ("0.png", "game", "game"), ("0.png#2", "game", "game"), ("1.png", "game", "game"),
        ("2.png", "movie", "movie"), ("3.png", "movie", "movie"),
    ]  # fmt: skip
    assert "1 past the last part" in found.remarks[0]


def made(seed: int, n: int = 60) -> list[dict[str, Any]]:
    """Opinions and logits of which one in ten is far off, as models have them."""
    rng = np.random.default_rng(seed)
    mos = rng.uniform(0, 100, n)
    gap = (mos - 50) / 9 + rng.normal(0, 2.5, n) + 12 * (rng.uniform(0, 1, n) > 0.9)
    return [
        {"img_path": f"{at}.png", "gt_score": float(score), "logit_good": 16.0 + float(g),
         "logit_poor": 16.0}
        for at, (score, g) in enumerate(zip(mos, gap, strict=True))
    ]  # fmt: skip


def score(
    path: Path, tmp_path: Path, *, task: str = "quality/livec@qbench", **overrides: Any
) -> ResultCard:
    (card,) = import_predictions(
        task=task, predictions=path, model_name="lab/one", catalog=CATALOG,
        output=str(tmp_path / "out"), format_name="qbench-raw",
        overrides={key.replace("__", "."): value for key, value in overrides.items()},
    )  # fmt: skip
    return card


def values(card: ResultCard) -> dict[str, float | None]:
    return {one.metric: one.value for one in card.scores if one.subset == "all"}


def test_a_file_is_scored_into_an_ordinary_run_without_the_data_set(tmp_path: Path) -> None:
    records, path = made(1), tmp_path / "livec.json"
    path.write_text(run_together(records))
    card = score(path, tmp_path)
    gap = np.array([one["logit_good"] - one["logit_poor"] for one in records])
    mos = np.array([one["gt_score"] for one in records])
    quality = 1 / (1 + np.exp(-gap / 100))
    found = values(card)
    assert found["srcc"] == pytest.approx(stats.spearmanr(gap, mos).statistic, abs=1e-12)
    assert found["plcc"] == pytest.approx(stats.pearsonr(quality, mos).statistic, abs=1e-12)
    assert found["krcc"] == pytest.approx(stats.kendalltau(gap, mos).statistic, abs=1e-12)
    assert (card.counts.expected, card.counts.answered, card.complete) == (60, 60, True)
    assert (card.model, card.model_info["role"]) == ("lab/one", "model")
    assert card.score().ci95.low is not None
    assert card.ceiling is not None
    assert card.ceiling.value == pytest.approx(1.0)


def test_other_temperatures_and_fits_give_other_figures_than_the_paper_s(tmp_path: Path) -> None:
    path = tmp_path / "livec.json"
    path.write_text(run_together(made(2)))
    paper = values(score(path, tmp_path))
    key = "protocol__answers[0].options.temperature"
    cold = values(score(path, tmp_path, **{key: 1}))
    assert cold["srcc"] == pytest.approx(paper["srcc"])
    assert paper["plcc"] is not None
    assert cold["plcc"] is not None
    assert abs(cold["plcc"] - paper["plcc"]) > 0.01
    for name in ("plcc_logistic4", "plcc_logistic5"):
        fitted = paper[name]
        assert fitted is not None
        assert abs(fitted - paper["plcc"]) > 0.01


@pytest.mark.parametrize("shift", [-25.0, -40.0])
def test_logits_that_are_all_low_score_as_the_same_logits_higher_up(
    tmp_path: Path, shift: float
) -> None:
    # in eighths, so that shifting rounds nothing
    records = [{**one, "logit_good": round(8 * one["logit_good"]) / 8} for one in made(8, 20)]
    high, low = tmp_path / "high.json", tmp_path / "low.json"
    high.write_text(run_together(records))
    moved = [
        {**one, **{word: one[word] + shift for word in ("logit_good", "logit_poor")}}
        for one in records
    ]
    low.write_text(run_together(moved))
    assert max(one["logit_good"] for one in moved) < 16
    first, second = score(high, tmp_path), score(low, tmp_path)
    assert second.counts.statuses["ok"] == 20
    assert values(second) == values(first)
    assert None not in values(second).values()


@pytest.mark.parametrize("at", [None, 5])
def test_a_record_without_a_word_that_is_read_is_refused(tmp_path: Path, at: int | None) -> None:
    records = made(10, FEW)
    for number, record in enumerate(records):
        if at in (None, number):
            record["logit_por"] = record.pop("logit_poor")
    path = tmp_path / "livec.json"
    path.write_text("\n".join(map(json.dumps, records)))
    first = at or 0
    told = rf":{first + 1}:1: record {first + 1} \({first}\.png\): no 'logit_poor' in it"
    with pytest.raises(UsageError, match=told) as caught:
        score(path, tmp_path)
    assert "reads logit_good, logit_poor" in str(caught.value.cure)
    assert not (tmp_path / "out").exists()


def test_words_are_those_of_the_protocol_as_it_is_set(tmp_path: Path) -> None:
    path = tmp_path / "livec.json"
    spelt = {"logit_good": "logit_high", "logit_poor": "logit_low"}
    records = [{spelt.get(key, key): one[key] for key in one} for one in made(11, FEW)]
    path.write_text(run_together(records))
    with pytest.raises(UsageError, match="no 'logit_good' and no 'logit_poor'"):
        score(path, tmp_path)
    words: dict[str, Any] = {
        "protocol__answers[0].options.positive": ["high"],
        "protocol__answers[0].options.negative": ["low"],
    }
    card = score(path, tmp_path, **words)
    assert card.counts.statuses["ok"] == FEW
    again = rescore(tmp_path / "out" / card.run, CATALOG)
    assert again is not None
    assert again.content_digest == card.content_digest


def test_a_file_of_another_set_than_the_one_that_is_here_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "livec.json"
    path.write_text(run_together(made(12, FEW)))
    with pytest.raises(MissingData, match="no_predictions_matched: none of the 9 samples"):
        score(path, tmp_path, task="samples/quality")
    assert not (tmp_path / "out").exists()
    assert score(path, tmp_path).counts.expected == FEW  # of a set whose data is not here


def test_a_part_of_a_set_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "livec.json"
    path.write_text(run_together(made(13, 50)))
    words = ["score", "--task", "quality/livec", "--format", "qbench-raw", "--predictions",
             str(path), "--output", str(tmp_path / "out")]  # fmt: skip
    assert main(words) == 0
    assert "50 of the 1,169 of this set: 50 expected, 50 found" in capsys.readouterr().out


def test_words_that_a_file_lacks_make_no_ensemble(tmp_path: Path) -> None:
    path = tmp_path / "livec.json"
    path.write_text(run_together(made(9, FEW)))
    with pytest.raises(UsageError, match="no 'logit_fine' and no 'logit_high' and no 'logit_bad'"):
        score(path, tmp_path, task="quality/livec@qbench_ensemble")
    six = [
        {**one, "logit_fine": 16.0, "logit_high": 16.0, "logit_bad": 15.0, "logit_low": 17.0}
        for one in made(9, FEW)
    ]
    path.write_text(run_together(six))
    whole = score(path, tmp_path, task="quality/livec@qbench_ensemble")
    assert whole.counts.statuses["ok"] == FEW
    assert whole.score().value is not None


def test_cgiqa_is_the_mean_of_games_and_movies_and_pooling_them_gives_another_figure(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(3)
    mos = np.concatenate([rng.uniform(50, 90, 3000), rng.uniform(10, 50, 3000)])
    gap = mos / 20 + rng.normal(0, 2, 6000) - np.repeat([4, 0], 3000)
    records = [
        {"img_path": f"{at}", "gt_score": f"{m} ", "logit_good": g, "logit_poor": 0.0}
        for at, (m, g) in enumerate(zip(mos.tolist(), gap.tolist(), strict=True))
    ]
    path = tmp_path / "cgi.json"
    path.write_text(run_together(records))
    _, head = CATALOG.find("task", "quality/cgiqa")
    card = load_card(head.path).record
    assert isinstance(card, TaskCard)
    held = read(path, **card.dataset.options)
    assert held.samples is not None
    (named,) = card.protocols["qbench"].metrics
    own = Correlation(convert(Correlation.Options, named.options, file="test"))
    rows = [
        own.update(answer.value["good"], sample.target, None)
        for answer, sample in zip(held.answers, held.samples, strict=True)
    ]
    merged = {name: [row[name][0] for row in rows] for name in own.columns}
    halves = [
        stats.spearmanr(gap[part], mos[part]).statistic
        for part in (slice(0, 3000), slice(3000, 6000))
    ]
    assert own.compute(merged)["srcc"] == pytest.approx(np.mean(halves), abs=1e-12)
    assert abs(float(stats.spearmanr(gap, mos).statistic) - np.mean(halves)) > 0.1


def test_a_run_is_scored_again_from_its_file_and_not_from_another(tmp_path: Path) -> None:
    path = tmp_path / "livec.json"
    path.write_text(run_together(made(4, FEW)))
    card = score(path, tmp_path)
    run = tmp_path / "out" / card.run
    again = rescore(run, CATALOG)
    assert again is not None
    assert again.content_digest == card.content_digest
    path.write_text(run_together(made(5, FEW)))
    with pytest.raises(NotRunnable, match="has changed since it was imported"):
        rescore(run, CATALOG)
    path.unlink()
    with pytest.raises(NotRunnable, match="is gone"):
        rescore(run, CATALOG)


def test_where_the_file_lies_is_no_part_of_the_run(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    for path in (first, second):
        path.write_text(run_together(made(6, FEW)))
    assert score(first, tmp_path).run == score(second, tmp_path).run


def test_duplicates_are_dropped_where_that_is_set(tmp_path: Path) -> None:
    path = tmp_path / "agi.json"
    path.write_text(run_together([*made(7, FEW), made(7, FEW)[0]]))
    assert score(path, tmp_path).counts.expected == FEW + 1
    assert score(path, tmp_path, format__duplicates="drop").counts.expected == FEW
    with pytest.raises(Exception, match="duplicates"):
        score(path, tmp_path, format__duplicates="both")


PUBLISHED = os.environ.get("VGEN_QBENCH_RAW")


@pytest.mark.skipif(
    not PUBLISHED, reason="$VGEN_QBENCH_RAW names no folder of Q-Bench's published raw outputs"
)
@pytest.mark.parametrize(("task", "name"), [("livec", "livec"), ("agiqa", "agi")])
def test_published_outputs_score_what_was_published(
    tmp_path: Path, task: str, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = Path(str(PUBLISHED))
    words = ["score", "--task", f"quality/{task}@qbench", "--format", "qbench-raw", "--predictions",
             str(folder / f"idefics_{name}.json"), "--output", str(tmp_path), "--json"]  # fmt: skip
    assert main(words) == 0
    (card,) = json.loads(capfd.readouterr().out)["results"]
    found = {one["metric"]: one["value"] for one in card["scores"] if one["subset"] == "all"}
    with (folder / "a3_published.csv").open(encoding="utf-8") as file:
        rows = {(row["model"], row["dataset"]): row for row in csv.DictReader(file)}
    expected = rows["idefics", name]
    assert round(found["srcc"], 3) == float(expected["srcc"])
    assert round(found["plcc"], 3) == float(expected["plcc"])
