"""The cards of PixMo from the release to a score: prepared, run and scored as one does it."""

from __future__ import annotations

from pathlib import Path

import pytest
import vgen_eval
from countkit import PIXMO, Pictures, row, write_rows
from vgen_eval.errors import MissingData
from vgen_eval_plugins.datasets.pixmo_count import PixMoCount
from vgen_eval_plugins.datasets.pixmo_points import PixMoPoints


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("releases")
    with Pictures() as service:
        rows = [row(service, n, label, 3 + n) for n in range(4) for label in ("cups", "cats")]
        write_rows(root / "pixmo-points", rows)
        points = root / "pixmo-points"
        PixMoPoints(PixMoPoints.Options(trusted=service.url), root=points, folder=points).prepare(
            str
        )
        schema = PIXMO.remove(PIXMO.get_field_index("collection_method"))
        rows = [row(service, n, "dogs", 2 + n, points=None) for n in range(4)]
        service.gone = {"/2.png"}
        write_rows(root / "pixmo-count", rows, name="test-00000-of-00001", schema=schema)
        counts = root / "pixmo-count"
        PixMoCount(PixMoCount.Options(trusted=service.url), root=counts, folder=counts).prepare(str)
    return root


@pytest.mark.parametrize(
    ("task", "samples", "primary"),
    [
        ("counting/pixmo-points@probegen", 4, "mae"),  # one a picture
        ("counting/pixmo-points@standard", 8, "mae"),
        ("counting/pixmo-count@probegen", 3, "mae"),  # one link is dead
        ("counting/pixmo-count@standard", 3, "accuracy"),
    ],
)
def test_seeing_perfectly_counts_exactly_in_pictures_and_in_words(
    data: Path, tmp_path: Path, task: str, samples: int, primary: str
) -> None:
    (card,) = vgen_eval.evaluate(
        tasks=task, models=["oracle"], data_root=str(data), output=str(tmp_path), bounds=False
    )
    assert card.counts.answered == samples
    found = {score.metric: score.value for score in card.scores}
    assert found == {"mae": 0.0, "rmse": 0.0, "accuracy": 1.0, "within_one": 1.0}
    assert card.score().metric == primary


def test_a_blind_model_is_scored_without_a_fault_of_the_data(data: Path, tmp_path: Path) -> None:
    (card,) = vgen_eval.evaluate(
        tasks="counting/pixmo-count@standard", models=["blind"], data_root=str(data),
        output=str(tmp_path), bounds=False,
    )  # fmt: skip
    assert card.counts.data_fault == card.counts.infrastructure == 0


def test_a_release_that_was_not_prepared_is_not_runnable(tmp_path: Path) -> None:
    (tmp_path / "pixmo-points").mkdir()
    with pytest.raises(MissingData, match=r"index\.jsonl"):
        vgen_eval.evaluate(
            tasks="counting/pixmo-points", models=["oracle"], data_root=str(tmp_path),
            output=str(tmp_path / "out"), bounds=False,
        )  # fmt: skip
