"""Of real answers to the sample tasks, the panes come to the very numbers of the score lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vgen_eval import evaluate
from vgen_eval.plugins import Catalog
from vgen_eval.store.run import RunStore
from vgen_eval.viewer.looking import Look, Looker
from vgen_eval.viewing import ClassMap, Marks, Pane, ScalarMap

FAMILIES = ("depth", "normals", "referring", "semantic", "counting")


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Look]]:
    """Family -> what is shown of two answers of each of two models."""
    place = tmp_path_factory.mktemp("views")
    catalog = Catalog.discover()
    looker = Looker(catalog)
    found: dict[str, list[Look]] = {}
    for family in FAMILIES:
        for model in ("classical", "oracle"):
            (card,) = evaluate(
                tasks=f"samples/{family}", model=model, limit=2, bounds=False, workers=1,
                output=str(place), catalog=catalog,
            )  # fmt: skip
            path = Path(place, card.run)
            names = RunStore(path).record["samples"]
            found.setdefault(family, []).extend(looker.look(path, name, 0) for name in names)
    return found


def parts(look: Look) -> dict[str, Any]:
    assert look.notices == ()
    assert look.score is not None
    panes: dict[str, Pane] = {shown.name: shown.pane for shown in look.panes}
    return {name: pane.body for name, pane in panes.items()}


def share(body: ClassMap, hits: int, of: tuple[int, ...]) -> float:
    counts = [int((body.ids == at).sum()) for at in range(len(body.classes))]
    return counts[hits] / sum(counts[at] for at in of)


def test_depth_maps_come_to_absrel_and_rmse(looks: dict[str, list[Look]]) -> None:
    for look in looks["depth"]:
        body, values = parts(look), look.score["values"]  # type: ignore[index]
        assert isinstance(body["error"], ScalarMap)
        signed, relative = body["error"].values, body["error-2"].values
        assert np.nanmean(relative, dtype=np.float64) == pytest.approx(values["absrel"], rel=1e-5)
        rmse = np.sqrt(np.nanmean(signed.astype(np.float64) ** 2))
        assert rmse == pytest.approx(values["rmse"], rel=1e-5)


def test_angles_come_to_mean_and_median(looks: dict[str, list[Look]]) -> None:
    for look in looks["normals"]:
        angles, values = parts(look)["error"].values, look.score["values"]  # type: ignore[index]
        assert np.nanmean(angles, dtype=np.float64) == pytest.approx(values["mean"], rel=1e-5)
        assert np.nanmedian(angles) == pytest.approx(values["median"], rel=1e-5)


def test_masks_and_labels_come_to_iou_and_accuracy(looks: dict[str, list[Look]]) -> None:
    for look in looks["referring"]:
        iou = share(parts(look)["error"], 0, (0, 1, 2))
        assert iou == pytest.approx(look.score["values"]["iou"])  # type: ignore[index]
    for look in looks["semantic"]:
        right = share(parts(look)["error"], 0, (0, 1, 2, 3))
        assert right == pytest.approx(look.score["values"]["pixel_accuracy"])  # type: ignore[index]


def test_marks_come_to_the_count(looks: dict[str, list[Look]]) -> None:
    for look in looks["counting"]:
        body = parts(look)
        assert isinstance(body["prediction"], Marks)
        off = len(body["prediction"].marks) - len(body["target"].marks)
        assert abs(off) == look.score["values"]["mae"]  # type: ignore[index]
        kinds = [mark.meaning for mark in body["error"].marks]
        assert kinds.count("matched") + kinds.count("extra") == len(body["prediction"].marks)
        assert kinds.count("matched") + kinds.count("missed") == len(body["target"].marks)
