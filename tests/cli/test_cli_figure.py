"""`vgen-eval figure`: files, their record, and what is refused before anything is read."""

from __future__ import annotations

import json

import PIL.Image
import pytest
from vgen_eval import evaluate
from vgen_eval.cli import main
from vgen_eval.viewer.rules import WRITTEN

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    output = tmp_path_factory.mktemp("figured")
    evaluate(
        tasks="samples/depth", models=["classical", "oracle"], output=output, bounds=False,
        samples=["motorcycle-front", "scene-balls"],
    )  # fmt: skip
    return output


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_figure_is_written_and_its_caption_printed(results, tmp_path, suffix, capfd):
    file = tmp_path / f"figure{suffix}"
    words = ["--output", str(results), "--select", "worst:absrel", "-n", "1", "-o", str(file)]
    assert main(["figure", "classical", "oracle", *words]) == 0
    said = capfd.readouterr()
    assert f"written to {file}" in said.err
    assert "1 sample with the worst absrel of classical, of 2 samples" in said.out
    if suffix == ".png":
        with PIL.Image.open(file) as picture:
            assert picture.text["Title"] in said.out
    else:
        assert file.read_text().startswith("<?xml")


def test_the_record_alone_is_json(results, capfd):
    words = ["--output", str(results), "--select", "random:3", "-n", "1", "--json"]
    assert main(["figure", "oracle", *words]) == 0
    record = json.loads(capfd.readouterr().out)
    assert (record["select"], record["seed"], record["exit_code"]) == ("random:3", 3, 0)
    assert len(record["ids"]) == 1


def test_without_a_rule_several_runs_show_what_decides_and_one_its_worst(results, capfd):
    for models, rule in ((("classical", "oracle"), "decides"), (("oracle",), "worst:primary")):
        assert main(["figure", *models, "--output", str(results), "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["select"] == rule


def test_samples_are_named_by_id(results, capfd):
    words = ["--sample", "scene-balls", "--sample", "motorcycle-front", "--json"]
    assert main(["figure", "oracle", "--output", str(results), *words]) == 0
    assert json.loads(capfd.readouterr().out)["ids"] == ["scene-balls", "motorcycle-front"]


def test_more_than_a_page_is_told_and_the_caption_may_stay_out(results, tmp_path, capfd):
    file = tmp_path / "figure.png"
    words = ["--output", str(results), "--error", "-n", "2", "-o", str(file)]
    assert main(["figure", "classical", "oracle", *words]) == 0
    said = capfd.readouterr().err
    assert "inches high, 7 wide; -n 1 fits a page" in said
    with PIL.Image.open(file) as picture:
        height = picture.height
    assert main(["figure", "classical", "oracle", *words, "--no-caption"]) == 0
    assert "samples/depth@standard" in capfd.readouterr().out
    with PIL.Image.open(file) as picture:
        assert picture.height < height


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_letters_that_the_font_lacks_are_told_of_a_picture(tmp_path, suffix, capfd):
    evaluate(
        tasks="samples/answers", model=lambda request: "图片非常清晰", model_name="chinese",
        forms=["text"], output=tmp_path, bounds=False, limit=1,
    )  # fmt: skip
    file = tmp_path / f"figure.{suffix}"
    assert main(["figure", "chinese", "--output", str(tmp_path), "-o", str(file)]) == 0
    assert ("letters that the font lacks are boxes" in capfd.readouterr().err) == (suffix == "png")
    if suffix == "svg":
        assert "图片非常清晰" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["figure", "report"])
def test_help_lists_every_rule_and_what_a_run_is(verb, capfd):
    assert main([verb, "--help"]) == 0
    said = capfd.readouterr().out
    for word in (*WRITTEN, ":above-median", ":metric=METRIC", ":per-tag=TAG", "METRIC<=VALUE"):
        assert word in said
    assert "RUN is a model's name" in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a figure is a file"),
        (["-o", "f.pdf"], "no format '.pdf'"),
        (["--select", "wurst:absrel", "-o", "f.png"], "no rule 'wurst:absrel'. Nearest: worst"),
        (["--select", "worst:absrel", "--sample", "x", "-o", "f.png"], "one of them chooses"),
        (["--map", "virridis", "-o", "f.png"], "no colours 'virridis'. Nearest: viridis"),
        (["--range", "4~1", "-o", "f.png"], "'4~1' is no range"),
        (["--range", "near", "-o", "f.png"], "'near' is no range"),
        (["--attempt", "2", "-o", "f.png"], "--attempt 2: the runs have 1 at a sample"),
        (
            ["--sample", "scene-bals", "-o", "f.png"],
            "--sample: no sample 'scene-bals' that every run has tried. Nearest: scene-balls",
        ),
        (["--select", "worst:absrell", "-o", "f.png"], "no value 'absrell'. Nearest: absrel"),
    ],
)
def test_what_cannot_be_is_refused(results, tmp_path, monkeypatch, words, said, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["figure", "oracle", "--output", str(results), *words]) == 2
    assert said in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
