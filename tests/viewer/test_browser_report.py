"""The report opened from disk: one file, without a server, does what the viewer does."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_kit import axe_faults, colours_of, sheds_sideways, shoot
from results_kit import FAMILIES, MANY_TASK, MARK, World, run_of
from vgen_eval.cli import main

MOST_MB = 25


def write_report(path: Path, *runs: Path, **more: object) -> str:
    """The command; gives what it said."""
    words = [part for name, value in more.items() for part in (f"--{name}", str(value))]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(["report", *map(str, runs), "-o", str(path), *words])
    assert code == 0, said.getvalue()
    return said.getvalue()


@pytest.fixture(scope="module")
def depth_report(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on two samples of depth."""
    path = tmp_path_factory.mktemp("report") / "depth.html"
    runs = [run_of(results, FAMILIES["depth"], model) for model in ("oracle", "classical")]
    write_report(path, *runs, n=2)
    return path


@pytest.fixture(scope="module")
def labels_report(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "labels.html"
    write_report(path, run_of(results, FAMILIES["labels"], "classical"), select="worst:miou", n=1)
    return path


def test_a_report_opens_from_disk_and_asks_nobody(page: Any, depth_report: Path) -> None:
    assert depth_report.stat().st_size < MOST_MB * 1_000_000
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(depth_report.as_uri())
    page.wait_for_selector("[data-stage].ready")
    page.wait_for_load_state("networkidle")
    others = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert others == [depth_report.as_uri()]
    text = page.locator("body").inner_text()
    for words in ("oracle", "classical", "delta1"):
        assert words in text
    broken = page.eval_on_selector_all(
        "img", "all => all.filter(a => a.complete && a.src && !a.naturalWidth).length"
    )
    assert broken == 0
    source = depth_report.read_text(encoding="utf-8")
    assert re.search(r"Content-Security-Policy", source, re.IGNORECASE)
    assert "unsafe-inline" not in source.partition("</head>")[0]
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", source)
    shoot(page, "report")


def test_values_zoom_wipe_and_keys_work_from_disk(page: Any, depth_report: Path) -> None:
    page.goto(depth_report.as_uri())
    page.wait_for_selector("[data-stage].ready")
    read = page.evaluate(
        """async () => {
          const stage = VgenView.stages[0];
          VgenView.current = stage;
          const found = {};
          for (const pane of stage.panes.filter(pane => pane.figure.dataset.field)) {
            found[pane.key] = [];
            for (let at = 0; at < 50; at++) {
              const x = (at * 0.618034) % 1, y = (at * 0.414214) % 1;
              found[pane.key].push(await VgenView.numberAt(pane.key, x, y, stage));
            }
          }
          return found;
        }"""
    )
    assert "target" in read
    target = [value for value in read["target"] if value is not None]
    assert len(target) > 25
    assert all(0.1 < value < 100 for value in target)
    predictions = [key for key in read if key.startswith("prediction")]
    assert predictions
    # the oracle painted the truth in 256 greys
    best = min(
        np.median(
            [abs(p - t) / t for p, t in zip(read[key], read["target"], strict=True)
             if p is not None and t is not None]
        )
        for key in predictions
    )  # fmt: skip
    assert best < 0.05
    view = page.locator("[data-stage] figure[data-role=target] .view").first
    view.scroll_into_view_if_needed()
    view.hover()
    page.mouse.wheel(0, -500)
    page.wait_for_timeout(100)
    assert page.evaluate("() => VgenView.stages[0].zoom") > 1.5
    value = page.locator("[data-stage]").first.locator("[data-value=target]")
    page.wait_for_function(
        "() => document.querySelector('[data-stage] [data-value=target]').textContent.length > 0"
    )
    assert re.search(r"[\d.]+ m$|–", value.inner_text())
    page.keyboard.press("w")
    slider = page.locator("[data-wipe]").first
    assert slider.is_visible()
    slider.press("End")
    page.keyboard.press("w")
    chooser = page.locator("[data-choose=map]").first
    if chooser.count():
        before = colours_of(page, "target")
        chooser.select_option("turbo")
        page.wait_for_timeout(300)
        assert (colours_of(page, "target") != before).any(axis=2).mean() > 0.5


def test_classes_are_switched_from_disk(page: Any, labels_report: Path) -> None:
    page.goto(labels_report.as_uri())
    page.wait_for_selector("[data-stage].ready")
    box = page.locator("[data-class] input").first
    box.uncheck()
    page.wait_for_timeout(300)
    alpha = colours_of(page, "target")[:, :, 3]
    assert (alpha == 0).any()
    assert (alpha == 255).any()
    assert "worst" in page.locator("body").inner_text()  # the rule stands in the caption


def test_a_hostile_models_report_is_inert(page: Any, results: Path, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    runs = [run_of(results, MANY_TASK, model) for model in ("near", "hostile")]
    write_report(path, *runs, n=12, select="random:1")
    page.goto(path.as_uri())
    page.wait_for_load_state()
    assert page.evaluate(f"() => window.{MARK} === undefined")
    assert page.locator("iframe, [onerror], [onload]").count() == 0
    assert path.stat().st_size < MOST_MB * 1_000_000
    text = page.locator("body").inner_text()
    assert "near" in text
    assert re.search(r"seed\W*1", text)


def test_every_family_can_be_reported(page: Any, world: World, tmp_path: Path) -> None:
    path = tmp_path / "all.html"
    runs = [run_of(world.results, task, "oracle") for task in FAMILIES.values()]
    write_report(path, *runs, n=1)
    page.goto(path.as_uri())
    page.wait_for_load_state()
    text = page.locator("body").inner_text()
    for task in FAMILIES.values():
        assert task in text
    kinds = page.eval_on_selector_all("figure[data-pane]", "all => all.map(a => a.dataset.kind)")
    assert set(kinds) >= {"picture", "scalar", "directions", "classes", "marks"}
    assert page.locator("[data-film] [data-frame]").count() >= 8
    assert page.locator("meter, .bars").count() >= 1
    assert path.stat().st_size < MOST_MB * 1_000_000
    shoot(page, "report-all")


def test_too_large_a_report_says_what_it_left_out(results: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.html"
    run = run_of(results, FAMILIES["depth"], "flaky")
    said = write_report(path, run, n=10, **{"max-mb": 1})
    assert path.stat().st_size <= 1_000_000
    page = path.read_text(encoding="utf-8")
    assert re.search(r"left out|without", said + page)


def test_a_report_is_read_by_all(open_page: Callable[..., Any], depth_report: Path) -> None:
    page = open_page(bypass_csp=True)
    page.goto(depth_report.as_uri())
    page.wait_for_selector("[data-stage].ready")
    assert axe_faults(page) == []
    phone = open_page(viewport={"width": 360, "height": 740})
    phone.goto(depth_report.as_uri())
    assert sheds_sideways(phone) <= 0
    shoot(phone, "report-phone", whole=False)
    plain = open_page(java_script_enabled=False)
    plain.goto(depth_report.as_uri())
    assert "delta1" in plain.locator("body").inner_text()
    assert plain.locator("figure img").first.is_visible()


def test_a_report_shifts_panes_and_draws_outlines(page: Any, labels_report: Path) -> None:
    page.goto(labels_report.as_uri())
    page.wait_for_selector("[data-stage].ready")
    key = page.locator("[data-role=prediction]").first.get_attribute("data-key")
    whole = colours_of(page, key)[..., 3] > 0
    page.locator("[data-outline]").first.check()
    page.wait_for_timeout(300)
    assert 0 < (colours_of(page, key)[..., 3] > 0).sum() < 0.5 * whole.sum()
    page.keyboard.press("p")
    page.keyboard.press("u")
    page.keyboard.press("Shift+ArrowRight")
    told = page.locator("[data-role=prediction] [data-shifted]").first.inner_text()
    assert told.startswith("shifted ")
    # it has no address of its own to keep them in
    assert page.url == labels_report.as_uri()


def test_the_same_report_is_the_same_file(results: Path, tmp_path: Path) -> None:
    run = run_of(results, FAMILIES["mask"], "classical")
    for name in ("one.html", "two.html"):
        write_report(tmp_path / name, run, n=1)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_its_selection_is_written_with_rule_seed_and_ids(depth_report: Path) -> None:
    source = depth_report.read_text(encoding="utf-8")
    kind = r'<script type="(?:application/json|text/plain)"[^>]*>'
    found = re.findall(rf"{kind}\s*({{.*?}})\s*</script>", source, re.DOTALL)
    flat = json.dumps([json.loads(text) for text in found])
    assert '"seed"' in flat
    assert '"ids"' in flat
