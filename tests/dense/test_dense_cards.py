"""Every card of a dense benchmark, under every protocol, on a look-alike of its release."""

from __future__ import annotations

from pathlib import Path

import pytest
import vgen_eval
from releases import ids_there, protocols, root_of, write_all

CEILINGS = {
    "depth": {"delta1": 0.99, "absrel": 0.04},
    "normals": {"mean": 1.5, "pooled_mean": 1.5},
    "referring": {"giou": 0.97, "ciou": 0.97},
    "semantic": {"image_miou": 0.99, "miou": 0.99, "f1": 0.99},
    "counting": {"mae": 0.0, "accuracy": 1.0},
}
"""What seeing perfectly comes to through the codecs, at least (or at most)."""


REFS = {ref.label: ref for ref in protocols()}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("releases")
    write_all(root)
    return root


@pytest.mark.parametrize("label", REFS)
def test_a_card_runs_with_oracle_classical_and_blind(label, data, tmp_path):
    ref, root = REFS[label], root_of(REFS[label], data)
    ids = ids_there(ref, root)
    assert ids
    results = vgen_eval.evaluate(
        tasks=label, models=["oracle", "classical", "blind"], samples=ids, attempts=1,
        data_root=str(root), output=str(tmp_path), bounds=False,
    )  # fmt: skip
    assert len(results) == 3, results.skipped
    for card in results:
        assert card.counts.infrastructure == card.counts.data_fault == 0, card.counts
    ceiling = results[0].score()
    wanted = CEILINGS[ref.card.family][ceiling.metric]
    found = ceiling.value
    assert found is not None
    assert found >= wanted if ceiling.higher_is_better else found <= wanted
    assert results[0].counts.answered == len(ids)
    if not label.startswith("counting"):
        floor = results[2].score().value
        assert floor is not None
        assert floor < found if ceiling.higher_is_better else floor > found
