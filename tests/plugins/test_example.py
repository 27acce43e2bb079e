"""The example plugin that people copy: complete, valid, and exact where it can be."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from throwaway import Install
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards import check_card, convert, load_card
from vgen_eval.cards.records import ModelCard, TaskCard
from vgen_eval.errors import Undecodable
from vgen_eval.hookspecs import HOOKS
from vgen_eval.imaging import Image
from vgen_eval.plugins import Catalog
from vgen_eval.types import Request, Scene

FOLDER = Path(__file__).resolve().parents[1] / "plugin_example"
HOME = "plugin-example"


@pytest.fixture
def catalog(install: Install, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """The catalog of the built-ins and the example, as its pyproject.toml declares it."""
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    monkeypatch.syspath_prepend(str(FOLDER))
    for module in [name for name in sys.modules if name.split(".")[0] == "plugin_example"]:
        monkeypatch.delitem(sys.modules, module)
    install(project["name"], {}, entries=project["entry-points"]["vgen_eval"])
    monkeypatch.setenv("VGEN_EVAL_PLUGINS", project["name"])
    return Catalog.discover()


def task(catalog: Catalog) -> TaskCard:
    record = load_card(catalog.find("task", "plugin_example:mytask")[1].path).record
    assert isinstance(record, TaskCard)
    return record


def model(catalog: Catalog) -> ModelCard:
    record = load_card(catalog.find("model", "plugin_example:mymodel")[1].path).record
    assert isinstance(record, ModelCard)
    return record


def build(catalog: Catalog, kind: str, name: str, options: object, **more: object) -> object:
    cls = catalog.component(kind, name, home=HOME).obj
    return cls(convert(cls.Options, options, file="card"), **more)  # type: ignore[arg-type]


def test_cards_are_valid_and_found_by_either_spelling_of_the_name(catalog: Catalog) -> None:
    assert catalog.problems == ()
    for spelling in ("plugin_example:mymodel", "plugin-example:mymodel", "mymodel"):
        plugin, head = catalog.find("model", spelling)
        assert (plugin.name, head.name) == (HOME, "mymodel")
    assert task(catalog).family == "brightness"
    assert model(catalog).answers == ("image",)


def test_check_finds_no_fault_in_its_cards(catalog: Catalog) -> None:
    for kind, name in (("task", "mytask"), ("model", "mymodel")):
        problems = check_card(catalog.find(kind, name)[1].path, catalog)
        assert [str(problem) for problem in problems] == []


def test_every_name_it_offers_resolves(catalog: Catalog) -> None:
    plugin = catalog.plugin(HOME)
    offered = {kind: sorted(catalog._loader.names(plugin, kind)) for kind in HOOKS}
    assert {kind: names for kind, names in offered.items() if names} == {
        "adapter": ["colour_rules"],
        "dataset": ["ramps"],
        "decoder": ["mean_luma", "middle_grey"],
        "encoder": ["flat_grey"],
        "metric": ["luma_error"],
        "view": ["brightness"],
    }
    for kind, names in offered.items():
        for name in names:
            assert catalog.component(kind, name, home=HOME).dist == HOME


def test_survey_finds_no_fault(catalog: Catalog) -> None:
    (report,) = [report for report in catalog.survey() if report.name == HOME]
    assert (report.ok, report.reason, report.output) == (True, "", "")
    assert report.cards == {"task": 1, "model": 1, "suite": 0}


def test_its_model_solves_its_task_within_rounding(catalog: Catalog) -> None:
    card = task(catalog)
    protocol = card.protocols[card.default_protocol]
    answer = protocol.answers[0]
    reader = build(catalog, "dataset", card.dataset.reader, card.dataset.options, root=None,
                   folder=FOLDER)  # fmt: skip
    adapter = build(catalog, "adapter", model(catalog).adapter, model(catalog).options)
    decoder = build(catalog, "decoder", answer.decoder, answer.options)
    encoder = build(catalog, "encoder", answer.encoder, answer.encoder_options)
    metric = build(catalog, "metric", protocol.metrics[0].name, protocol.metrics[0].options)
    failure = build(catalog, "decoder", protocol.failure_value, protocol.failure_options)
    assert isinstance(adapter, BaseAdapter)
    items = reader.index()  # type: ignore[attr-defined]
    assert len(items) == card.dataset.n
    samples = [reader.load(item) for item in items]  # type: ignore[attr-defined]
    requests = [
        Request(id=s.id, sample=s.id, attempt=0, family=card.family, form="image",
                prompt=answer.prompt["mid"], images=s.images)
        for s in samples
    ]  # fmt: skip
    answers = {output.id: output.answer for output in adapter.generate(requests)}
    totals: dict[str, float] = {}
    for who in ("model", "ceiling", "failure"):
        statistics = []
        for sample in samples:
            scene = Scene(image=sample.images[0], size=(64, 64))
            if who == "model":
                prediction = decoder.decode(answers[sample.id], scene)  # type: ignore[attr-defined]
            elif who == "ceiling":
                ideal = encoder.encode(sample.target, scene)  # type: ignore[attr-defined]
                prediction = decoder.decode(ideal, scene)  # type: ignore[attr-defined]
            else:
                prediction = failure.decode(None, scene)  # type: ignore[attr-defined]
            assert prediction.flags == ()
            statistics.append(metric.update(prediction.value, sample.target, None))  # type: ignore[attr-defined]
        merged = statistics[0]
        for more in statistics[1:]:
            merged = metric.merge(merged, more)  # type: ignore[attr-defined]
        totals[who] = metric.compute(merged)["luma_mae"]  # type: ignore[attr-defined]
    assert totals["model"] <= 0.5
    assert totals["ceiling"] <= 0.5
    # means of the ramps are 27.5 above 0, 33, 66, 100, 133, 166; the middle is 127.5
    assert totals["failure"] == pytest.approx((100 + 67 + 34 + 0 + 33 + 66) / 6, abs=0.5)


def test_its_metric_on_worked_values(catalog: Catalog) -> None:
    metric = build(catalog, "metric", "luma_error", {"tolerance": 2})
    near = metric.update(100.0, 101.0, None)  # type: ignore[attr-defined]
    far = metric.update(90.0, 100.0, None)  # type: ignore[attr-defined]
    merged = metric.merge(near, far)  # type: ignore[attr-defined]
    assert metric.compute(merged) == {"luma_mae": 5.5, "within": 0.5}  # type: ignore[attr-defined]
    empty = {"n": 0, "abs": 0.0, "within": 0}
    assert metric.compute(empty) == {"luma_mae": None, "within": None}  # type: ignore[attr-defined]


def test_its_decoder_flags_what_varies_and_refuses_what_is_no_picture(catalog: Catalog) -> None:
    decoder = build(catalog, "decoder", "mean_luma", {})
    halves = np.zeros((8, 8, 3), np.uint8)
    halves[:4] = 200
    scene = Scene(image=Image(halves), size=(8, 8))
    prediction = decoder.decode(halves, scene)  # type: ignore[attr-defined]
    assert prediction.value == pytest.approx(100.0)
    assert prediction.flags == ("not_flat",)
    with pytest.raises(Undecodable):
        decoder.decode("grey", scene)  # type: ignore[attr-defined]


def test_its_model_paints_what_stands_out_from_the_border(catalog: Catalog) -> None:
    adapter = build(catalog, "adapter", "colour_rules", {"contrast": 100})
    assert isinstance(adapter, BaseAdapter)
    picture = np.full((10, 12, 3), 30, np.uint8)
    picture[3:6, 4:8] = (30, 200, 30)
    request = Request(id="r", sample="s", attempt=0, family="referring", form="image",
                      prompt="Paint it white.", images=(Image(picture),))  # fmt: skip
    (output,) = adapter.generate([request])
    expected = np.zeros((10, 12, 3), np.uint8)
    expected[3:6, 4:8] = 255
    assert np.array_equal(output.answer, expected)
