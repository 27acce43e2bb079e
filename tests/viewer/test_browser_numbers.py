"""A map with one far number: what the page says, the server says, and both paint alike."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
import vgen_eval
import yaml
from browser_kit import Server, colours_of, raw, row_of, serve
from vgen_eval.types import Request
from vgen_eval.viewer.drawing.maps import ABOVE, BELOW

SIDE = 64
FAR = 1e5
TASK = "own/far"
RNG = np.random.default_rng(3)
DEPTH = RNG.uniform(1.5, 5.5, (SIDE, SIDE)).astype(np.float32)
DEPTH[0, 0] = FAR
USUAL = {"target": 0.0, "prediction": 0.2, "error": 0.2, "error-2": 0.2}
"""About what most numbers are; of the truth every digit is there."""


def gray(request: Request) -> Any:
    """The picture without its colours: some map of depth."""
    picture = request.images[0].array
    return np.repeat(picture.mean(axis=2).astype(np.uint8)[:, :, None], 3, axis=2)


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The viewer of a run on one picture whose depth is 1.5 to 5.5 m, and 100 km at one pixel."""
    folder = tmp_path_factory.mktemp("far")
    coarse = RNG.integers(0, 255, (5, 5, 3), np.uint8)
    picture = PIL.Image.fromarray(coarse).resize((SIDE, SIDE), PIL.Image.Resampling.BICUBIC)
    picture.save(folder / "scene.png")
    np.save(folder / "scene.npy", DEPTH)
    line = {"id": "scene", "image": "scene.png", "depth": "scene.npy"}
    (folder / "manifest.jsonl").write_text(json.dumps(line))
    cards = Path(__file__).parents[2] / "task_cards"
    card = yaml.safe_load((cards / "samples/depth.yaml").read_text())
    card |= {"task": TASK, "title": "One far pixel"}
    card["dataset"] = {
        "reader": "manifest", "options": {"target": "depth"}, "n": 1, "licence": "CC0-1.0",
        "source": "rule", "citation": "none",
    }  # fmt: skip
    (folder / "task.yaml").write_text(json.dumps(card))
    vgen_eval.evaluate(
        tasks=str(folder / "task.yaml"), model=gray, model_name="gray", forms=["image"],
        bounds=False, output=str(folder / "results"),
    )  # fmt: skip
    with serve(folder / "results") as server:
        yield server


def open_sample(page: Any, server: Server, rest: str = "") -> str:
    """Opens the sample; its address without what follows it."""
    run = row_of(server, TASK, "gray")
    (row,) = server.site.index.all_samples(run)
    here = f"/r/{run.slug}/s/{row.slug}"
    page.goto(server.url + here + rest)
    page.wait_for_selector("[data-stage].ready")
    return here


def test_every_pane_reads_as_the_server_does(page: Any, far: Server) -> None:
    here = open_sample(page, far)
    compared = 0
    for row, column in [(0, 0), (0, 1), *RNG.integers(0, SIDE, (12, 2)).tolist()]:
        x, y = (column + 0.5) / SIDE, (row + 0.5) / SIDE
        said = page.evaluate("([x, y]) => VgenView.valueAt(x, y)", [x, y])
        told = json.loads(raw(far, f"{here}/1/values?x={x!r}&y={y!r}")[2])
        for name in ("target", "prediction", "error", "error-2"):
            seen, wanted = said[name].split()[0], told[name].split()[0]
            if seen == "–":
                assert wanted == "-"
                continue
            # a step is 1e-4 of what is usual at the most, and a place up to ten steps
            room = 6e-4 * USUAL[name]
            assert float(seen) == pytest.approx(float(wanted), rel=2e-5, abs=room), name
            compared += 1
        assert float(said["target"].split()[0]) == pytest.approx(DEPTH[row, column], rel=1e-5)
    assert compared > 40


def test_both_paint_the_same(page: Any, far: Server) -> None:
    here = open_sample(page, far)
    for name in ("target", "error", "error-2"):
        mine = colours_of(page, name).astype(int)
        theirs = PIL.Image.open(io.BytesIO(raw(far, f"{here}/1/{name}.png")[2])).convert("RGB")
        there = mine[:, :, 3] == 255
        assert there.mean() > 0.9
        alike = (mine[:, :, :3] == np.asarray(theirs, int)).all(axis=2)[there].mean()
        # of steps a few lie on the other side of the middle between two colours
        assert alike == 1 if name == "target" else alike > 0.99


@pytest.mark.parametrize("name", ["target", "prediction"])
def test_numbers_at_an_end_are_within_it_in_both(page: Any, far: Server, name: str) -> None:
    here = open_sample(page, far)
    run = row_of(far, TASK, "gray")
    look = far.site.looker.look(far.site.results / run.path, "scene", 0)
    (shown,) = look.of_role(name)
    values = np.asarray(shown.pane.body.values, np.float64)
    ordered = np.sort(values[np.isfinite(values)])
    low, high = ordered[ordered.size // 4], ordered[3 * ordered.size // 4]
    if not low < high:
        pytest.skip("the prediction is one number")
    rest = f"?lo={low!r}&hi={high!r}".replace("np.float64(", "").replace(")", "")
    open_sample(page, far, rest)
    page.wait_for_function("() => VgenView.current.panes.some(pane => pane.field)")
    mine = colours_of(page, name).astype(int)
    theirs = np.asarray(
        PIL.Image.open(io.BytesIO(raw(far, f"{here}/1/{name}.png{rest}")[2])).convert("RGB"), int
    )
    for colour in (BELOW, ABOVE):
        ours = (mine[:, :, :3] == colour).all(axis=2)
        assert ours.any()
        assert (ours == (theirs == colour).all(axis=2)).all()
    at_end = (values == low) | (values == high)
    assert at_end.any()
    for colour in (BELOW, ABOVE):
        assert not (theirs[at_end] == colour).all(axis=1).any()


def test_a_number_has_the_digits_that_its_steps_carry(page: Any, far: Server) -> None:
    open_sample(page, far)
    # 1.5 to 5.5 in steps of 6.1e-5: four places after the point
    found = page.evaluate(
        """async () => {
          const stage = VgenView.current;
          const pane = stage.panes.find(one => one.key === 'target');
          await stage.numbers.load(pane);
          const field = pane.numbers;
          const said = (step, value) => {
            const head = { ...field.head, bits: 16, low: value, high: value + step * 65534 };
            const made = Object.create(field);
            Object.assign(made, { head, step, filled: null, planes: [new Uint16Array(64 * 64)] });
            made.planes[0].fill(1);
            return made.text(.5, .5);
          };
          return [said(6.1e-5, 2.34567891), said(0.02, 2.34567891), said(15, 1234.5),
                  said(1e-9, 2.34567891)];
        }"""
    )
    assert found == ["2.3457 m", "2.3 m", "1200 m", "2.3457 m"]
