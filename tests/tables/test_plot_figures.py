"""The five figures: what they hold, read back from the files."""

from __future__ import annotations

import io
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from tablekit import changed, find, scored
from vgen_eval.cli import main
from vgen_eval.errors import MissingExtra, NotRunnable, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.confusion import Confusion, count_confusion
from vgen_eval.results.figures import style
from vgen_eval.results.figures.attempts import draw_attempts, read_attempts
from vgen_eval.results.figures.chosen import choose
from vgen_eval.results.figures.confusion import draw_confusion, read_confusion
from vgen_eval.results.figures.efficiency import draw_efficiency, read_efficiency
from vgen_eval.results.figures.errors import draw_errors, read_errors
from vgen_eval.results.figures.tags import draw_tags, read_tags
from vgen_eval.results.reading import Run

pytest.importorskip("matplotlib")

COUNTING, SEMANTIC = "samples/counting", "samples/semantic"
BY_PICTURE = ("oracle", "classical", "blind")


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.discover()


def runs_of(results: Path, task: str) -> list[Run]:
    return [run for run in find(results, task=task) if run.card.model in BY_PICTURE]


def texts(svg: bytes) -> str:
    """All text of an SVG."""
    root = ET.fromstring(svg)
    return "\n".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text"))


def check(draw: Any, record: Any, *labels: str) -> None:
    """PNG and SVG of the record: whole, one column wide, equal when drawn again, labelled."""
    png, svg = draw(record, "png"), draw(record, "svg")
    picture = Image.open(io.BytesIO(png))
    picture.load()
    assert picture.width == 1050  # 3.5 inches at 300 dpi
    assert picture.height > 400
    assert len(np.unique(np.asarray(picture.convert("L")))) > 20
    assert not picture.info.get("Software")
    assert draw(record, "png") == png
    assert draw(record, "svg") == svg
    assert b"<dc:date>" not in svg
    told = texts(svg)
    for label in (*labels, *record["caption"].split()):
        assert label in told


def test_efficiency_is_value_against_the_models_time(results: Path) -> None:
    chosen = choose(runs_of(results, COUNTING))
    record = read_efficiency(chosen)
    (point,) = record["points"]
    card = chosen.runs["classical"].card
    assert point["value"] == card.score().value
    assert point["speed"] == card.volatile["images_per_minute"]
    assert [bound["role"] for bound in record["bounds"]] == ["ceiling", "floor"]
    check(draw_efficiency, record, "classical", "images a minute (model time)", "oracle (ceiling)")
    turned = read_efficiency(chosen, seconds=True)
    assert turned["points"][0]["speed"] == pytest.approx(60 / point["speed"])
    check(draw_efficiency, turned, "seconds an image (model time)", "mae (objects)")


@pytest.mark.parametrize("rate", [None, 0.0, -1.0, "fast", True])
def test_a_run_without_a_speed_is_left_out(rate: Any, counting: Run) -> None:
    slow = changed(counting, model="elsewhere", volatile={"images_per_minute": rate})
    record = read_efficiency(choose([counting, slow]))
    assert [point["name"] for point in record["points"]] == ["classical"]
    assert "elsewhere: no speed is known of it" in record["notes"]
    with pytest.raises(NotRunnable, match="both a value and a speed"):
        read_efficiency(choose([slow]))


def test_answers_made_elsewhere_have_no_speed(
    theirs: Run, counting: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    rates = ("images_per_minute", "calls_per_minute", "model_s", "calling")
    assert [theirs.card.volatile[name] for name in rates] == [None] * 4
    assert theirs.card.volatile["calls"] == 13
    assert main(["show", str(theirs.path)]) == 0
    assert "a minute" not in capfd.readouterr().out
    older = changed(theirs, volatile={"images_per_minute": 300000.0})
    record = read_efficiency(choose([counting, older], anyway=True))
    assert [point["name"] for point in record["points"]] == ["classical"]
    told = "theirs: no speed is known of it (its answers were made elsewhere)"
    assert told in record["notes"]
    with pytest.raises(NotRunnable, match=r"a value and a speed: theirs: .*made elsewhere"):
        read_efficiency(choose([older]))


def test_ceiling_and_floor_are_labelled_and_look_apart(results: Path, catalog: Catalog) -> None:
    chosen = choose(runs_of(results, COUNTING))
    for draw, record in (
        (draw_tags, read_tags(chosen, ["density"])), (draw_errors, read_errors(chosen, catalog)),
    ):  # fmt: skip
        told = texts(draw(record, "svg"))
        assert "oracle (ceiling)" in told
        assert "blind (floor)" in told
    roles = ("model", "ceiling", "floor")
    for look in (style.colour, style.line, style.marker):
        assert len({str(look(0, role)) for role in roles}) == 3
    assert len({style.hatch(role) for role in roles}) == 3


def test_a_bar_of_nothing_says_whether_it_is_0(counting: Run) -> None:
    runs = [scored(counting, 0.0, model="zero"), scored(counting, None, model="none")]
    record = {**read_tags(choose([counting]), ["density"]), "subsets": ["all"]}
    record["bars"] = [
        {"name": run.card.model, "role": "model",
         "values": [{"value": run.card.score().value, "low": None, "high": None, "n": 13}]}
        for run in runs
    ]  # fmt: skip
    assert {"0", "no value"} <= set(texts(draw_tags(record, "svg")).split("\n"))


def test_tags_have_the_cards_numbers(results: Path) -> None:
    chosen = choose(runs_of(results, COUNTING))
    record = read_tags(chosen, ["density"])
    assert record["subsets"][0] == "all"
    assert len(record["subsets"]) == 5
    for bars in record["bars"]:
        card = chosen.runs[bars["name"]].card
        for subset, bar in zip(record["subsets"], bars["values"], strict=True):
            score = card.score(subset=subset)
            assert (bar["value"], bar["low"], bar["n"]) == (score.value, score.ci95.low, score.n)
    check(draw_tags, record, "density=dense (n 3)", "classical", "oracle", "all (n 13)")


def test_a_tag_of_many_values_is_shown_when_asked_for_alone(counting: Run) -> None:
    assert not any(s.startswith("photo=") for s in read_tags(choose([counting]))["subsets"])
    assert any(s.startswith("photo=") for s in read_tags(choose([counting]), ["photo"])["subsets"])
    with pytest.raises(UsageError, match="Nearest: density"):
        read_tags(choose([counting]), ["densitty"])
    with pytest.raises(UsageError, match="have no tags"):
        read_tags(choose([scored(counting, 1.0)]))


def test_errors_count_every_sample_once(results: Path, catalog: Catalog) -> None:
    record = read_errors(choose(runs_of(results, COUNTING)), catalog)
    assert {run["n"] for run in record["runs"]} == {13}
    for run in record["runs"]:
        assert sum(run["counts"]) == 13
    means = {run["name"]: run["mean"] for run in record["runs"]}
    for run in runs_of(results, COUNTING):
        assert means[run.card.model] == pytest.approx(run.card.score().value)
    check(
        draw_errors,
        record,
        "classical, n 13",
        "oracle (ceiling), n 13",
        "mae of one sample (objects)",
    )


def test_errors_of_equal_values_have_a_bin_around_them(results: Path, catalog: Catalog) -> None:
    (oracle,) = find(results, task=COUNTING, model="oracle")
    texted = [run for run in [oracle] if run.card.answer == "image"]
    record = read_errors(choose(texted), catalog)
    assert sum(record["runs"][0]["counts"]) == 13
    assert record["edges"][0] < 0 < record["edges"][-1]


def test_whole_values_are_binned_by_whole_numbers_and_ticked_so(
    results: Path, catalog: Catalog
) -> None:
    record = read_errors(choose(runs_of(results, COUNTING)), catalog)
    assert record["whole"]
    edges = np.array(record["edges"])
    assert {*(edges % 1)} == {0.5}
    assert len({*np.diff(edges)}) == 1
    small = {**record, "edges": [-0.5, 0.5, 1.5], "runs": [
        {"name": "a", "role": "model", "counts": [1, 1], "n": 2, "mean": 0.5, "median": 0.5},
    ]}  # fmt: skip
    ticks = [word for word in texts(draw_errors(small, "svg")).split("\n") if word[:1].isdigit()]
    assert ticks
    assert all(word.isdigit() for word in ticks)


def test_a_pooled_value_is_no_mean_of_its_samples_and_says_so(
    results: Path, catalog: Catalog
) -> None:
    record = read_errors(choose(find(results, task=SEMANTIC, model="classical")), catalog)
    assert any("pooled" in note for note in record["notes"])


def test_attempts_rise_to_the_best_of_all(variants: Path) -> None:
    runs = [run for run in find(variants) if run.card.selection["attempts"] == 3]
    record = read_attempts(choose(runs))
    (curve,) = record["curves"]
    assert [step["p"] for step in curve["steps"]] == [1, 2, 3]
    for step in curve["steps"]:
        score = runs[0].card.score(selection=f"best_of_{step['p']}")
        assert (step["value"], step["low"]) == (score.value, score.ci95.low)
    check(draw_attempts, record, "attempts p, of which the truth picks the best", "classical")


def test_a_caption_names_each_incomplete_run_that_is_drawn_once(variants: Path) -> None:
    runs = [run for run in find(variants) if run.card.selection["samples"] == 13]
    runs = [run for run in runs if run.card.prompt == "mid"]
    runs = [changed(run, complete=False) for run in runs]
    chosen = choose(runs, leave=("attempts",))
    (drawn,) = (name for name in chosen.runs if "attempts 3" in name)
    assert read_attempts(chosen)["caption"].endswith(f"; incomplete: {drawn}")
    whole = choose([changed(run, complete=True) for run in runs], leave=("attempts",))
    assert "incomplete" not in read_attempts(whole)["caption"]


def test_attempts_of_runs_with_one_are_refused(counting: Run) -> None:
    with pytest.raises(UsageError, match="no run here has several attempts"):
        read_attempts(choose([counting]))


@pytest.mark.parametrize("model", BY_PICTURE)
def test_confusion_gives_the_cards_miou(model: str, results: Path, catalog: Catalog) -> None:
    (run,) = find(results, task=SEMANTIC, model=model)
    found = count_confusion(run, catalog)
    ious = [iou for iou in found.class_iou() if iou is not None]
    assert sum(ious) / len(ious) == pytest.approx(run.card.score("miou").value, abs=1e-12)
    own = found.counts.diagonal().sum() / found.counts.sum()
    assert own == pytest.approx(run.card.score("pixel_accuracy").value, abs=1e-12)
    assert found.counts[:, -1].sum() / found.counts.sum() == pytest.approx(
        run.card.score("open").value, abs=1e-12
    )


def test_confusion_shows_the_largest_classes_and_the_others_together(
    results: Path, catalog: Catalog
) -> None:
    (run,) = find(results, task=SEMANTIC, model="classical")
    record = read_confusion(choose([run]), count_confusion(run, catalog), top=4)
    sizes = {name: sum(row) for name, row in zip(record["classes"], record["pixels"], strict=True)}
    shown = [record["classes"][at] for at in record["shown"]]
    assert sorted(shown) == sorted(sorted(sizes, key=lambda name: -sizes[name])[:4])
    iou = record["class_iou"][shown[0]]
    check(draw_confusion, record, f"{shown[0]} ({iou:.2f})", "(6 others)", "4 of 10 classes")


def test_confusion_tells_no_pixel_from_few(results: Path) -> None:
    (run,) = find(results, task=SEMANTIC, model="classical")
    found = Confusion()
    found.add(("cat", "dog", "owl"), np.array([[997, 0, 3, 0, 0], [0, 5, 5, 0, 0], [0] * 5]))
    record = read_confusion(choose([run]), found, top=12)
    told = texts(draw_confusion(record, "svg")).split("\n")
    assert sorted(word for word in told if word in ("100", "0", "<1", "50")) == [
        "0", "0", "100", "50", "50", "<1",
    ]  # fmt: skip
    assert not any(word.startswith("owl (") for word in told)  # no pixel of it: no row


def test_confusion_of_classes_that_differ_from_picture_to_picture_is_by_name() -> None:
    found = Confusion()
    found.add(("cat", "dog"), np.array([[5, 1, 0, 2], [0, 7, 3, 0]]))
    found.add(("dog", "owl"), np.array([[1, 2, 0, 0], [4, 8, 0, 1]]))
    assert found.names == ("cat", "dog", "owl")
    assert found.counts.tolist() == [[5, 1, 0, 0, 2], [0, 8, 2, 3, 0], [0, 4, 8, 0, 1]]
    assert found.class_iou() == [5 / 8, 8 / (13 + 13 - 8), 8 / (13 + 10 - 8)]


def test_confusion_needs_classes_and_kept_answers(
    counting: Run, results: Path, catalog: Catalog, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="tells classes apart"):
        count_confusion(counting, catalog)
    import vgen_eval

    vgen_eval.evaluate(
        tasks=SEMANTIC, model="classical", bounds=False, keep="none", output=str(tmp_path)
    )
    with pytest.raises(NotRunnable, match="not kept"):
        count_confusion(find(tmp_path)[0], catalog)


def test_runs_of_several_tasks_are_refused(results: Path) -> None:
    with pytest.raises(UsageError, match="runs of several tasks: samples/counting, ") as caught:
        choose(find(results, model="classical"))
    assert caught.value.cure is not None
    assert "--task samples/counting" in caught.value.cure
    assert len(choose(find(results, model="classical"), task=COUNTING).runs) == 1
    with pytest.raises(UsageError, match="Nearest: samples/counting@standard"):
        choose(find(results), task="samples/cuonting")


@pytest.mark.parametrize("word", ["counting", "samples/coun", "count", "counting@standard"])
def test_a_part_of_a_tasks_name_that_means_one_will_do(word: str, results: Path) -> None:
    assert [run.task for run in choose(find(results, model="classical"), task=word).runs.values()]


@pytest.mark.parametrize("word", ["samples", "", "counting@other", "@standard"])
def test_a_part_that_means_several_or_none_is_refused(word: str, results: Path) -> None:
    with pytest.raises(UsageError, match=r"may be samples/counting, samples/|no run here is of"):
        choose(find(results, model="classical"), task=word)


def test_protocols_and_metrics_are_refused_by_their_names(results: Path, counting: Run) -> None:
    other = changed(counting, protocol="other")
    with pytest.raises(UsageError, match=r"several protocols: samples/counting@other, ") as caught:
        choose([counting, other])
    assert "--task samples/counting@other" in str(caught.value.cure)
    with pytest.raises(UsageError, match=r"values of several metrics: .*mae \(objects\)"):
        choose(find(results, model="classical"), anyway=True)


def test_runs_that_differ_in_more_than_the_model_want_anyway(results: Path) -> None:
    runs = find(results, task=COUNTING)
    with pytest.raises(UsageError, match=r"differ in .*answer\.form"):
        choose(runs)
    chosen = choose(runs, anyway=True)
    assert set(chosen.runs) == {*BY_PICTURE, "seven"}
    assert any(note.startswith("the runs differ in") for note in chosen.notes)


def test_two_runs_of_one_model_are_named_by_what_differs(variants: Path) -> None:
    runs = [run for run in find(variants) if run.card.prompt == "mid"]
    runs = [run for run in runs if run.card.selection["samples"] == 13]
    runs = [run for run in runs if run.card.selection["attempts"] == 1]
    assert sorted(choose(runs).runs) == ["classical, seed_base 0", "classical, seed_base 1"]


def test_names_that_mean_something_to_the_library_are_text(counting: Run) -> None:
    runs = [changed(counting, model=name) for name in ("a_b", "a$b$", "é✓日本")]
    svg = draw_efficiency(read_efficiency(choose(runs)), "svg")
    draw_efficiency(read_efficiency(choose(runs)), "png")
    told = texts(svg)
    assert all(name in told for name in ("a_b", "a$b$", "é✓日本"))


def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, counting: Run
) -> None:
    record = read_efficiency(choose([counting]))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra) as caught:
        draw_efficiency(record, "png")
    assert caught.value.cure == "pip install 'vgen-eval[plot]'"


def test_a_style_of_ones_own_changes_nothing(results: Path, tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nfigure.dpi: 50\n")
    words = ["plot", "tags", "--task", COUNTING, str(results / "runs" / "classical"), "-o"]
    pictures = []
    for at, folder in enumerate((tmp_path, tmp_path.parent)):
        file = tmp_path / f"{at}.png"
        command = [sys.executable, "-m", "vgen_eval.cli", *words, str(file)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        pictures.append(file.read_bytes())
    assert pictures[0] == pictures[1]


def test_runs_without_a_value_are_refused_and_samples_that_are_not_told_are_counted(
    results: Path,
) -> None:
    (run, *_) = runs_of(results, COUNTING)
    scores = (msgspec.structs.replace(one, selection="best_of_2") for one in run.card.scores)
    bare = changed(run, scores=tuple(scores))
    with pytest.raises(UsageError, match="1 run without a value to draw"):
        choose([bare])
    untold = changed(run, selection={"samples": None, "of": None})
    assert choose([untold]).caption == choose([run]).caption
