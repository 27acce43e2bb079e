"""Every card that reads a public release, under every protocol, on a look-alike of the release."""

from __future__ import annotations

from pathlib import Path

import pytest
import vgen_eval

from lookalikes.releases import ids_there, protocols

CEILINGS = {
    "depth": {"delta1": 0.999, "absrel": 0.005},
    "normals": {"mean": 0.5, "pooled_mean": 0.5},
    "referring": {"giou": 1.0, "ciou": 1.0},
    "semantic": {"image_miou": 1.0, "miou": 1.0, "f1": 1.0},
    "counting": {"mae": 0.0, "accuracy": 1.0},
}
"""What seeing perfectly comes to through the codecs, at least (or at most)."""

SIZES = {
    "counting/countbench": 491,
    "counting/fsc147": 1190,
    "counting/pixmo-count": None,
    "counting/pixmo-points": None,
    "depth/diode-indoor": 325,
    "depth/diode-outdoor": 446,
    "depth/kitti": 652,
    "depth/nyuv2": 654,
    "depth/scannet": 800,
    "normals/diode-indoor": 325,
    "normals/diode-outdoor": 446,
    "normals/nyuv2": 654,
    "normals/nyuv2-dsine": 654,
    "referring/dram": None,
    "referring/manga109": None,
    "referring/reasonseg": 779,
    "referring/reasonseg-val": 200,
    "referring/refcoco": 10_834,
    "referring/refcoco-plus": None,
    "referring/refcocog": None,
    "semantic/celebamask-hq": 150,
    "semantic/cityscapes": 500,
    "semantic/cityscapes-7": 500,
    "semantic/coco-panoptic": 150,
}
"""Samples of each release, or of its draw; None where no count is sure."""

CALIBRATED = {"normals/nyuv2@editors", "normals/nyuv2-dsine@editors"}
"""Run on all five samples of a calibration. DIODE's have 2.5 times the pixels: two must do."""

REFS = {ref.label: ref for ref in protocols()}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


def test_every_card_is_run_and_says_how_many_samples_its_release_has() -> None:
    assert {ref.name: ref.card.dataset.n for ref in REFS.values()} == SIZES


@pytest.mark.parametrize("label", REFS)
def test_a_card_runs_with_oracle_classical_and_blind(
    label: str, data: Path, tmp_path: Path
) -> None:
    ref = REFS[label]
    count = 5 if label in CALIBRATED else 2
    ids = ids_there(ref, data, count=count)
    assert len(ids) == count
    results = vgen_eval.evaluate(
        tasks=label, models=["oracle", "classical", "blind"], samples=ids, attempts=1,
        data_root=str(data), output=str(tmp_path), bounds=False,
    )  # fmt: skip
    assert len(results) == 3, results.skipped
    for card in results:
        assert card.counts.infrastructure == 0, card.counts
        assert card.counts.data_fault == 0, card.counts
    ceiling = results[0].score()
    wanted = CEILINGS[ref.card.family][ceiling.metric]
    found = ceiling.value
    assert found is not None
    assert found >= wanted if ceiling.higher_is_better else found <= wanted
    assert results[0].counts.answered == len(ids)
    floor = results[2].score().value
    assert floor is not None
    assert floor < found if ceiling.higher_is_better else floor > found
