"""What tells two results apart, and what is a result itself."""

from __future__ import annotations

from pathlib import Path

import vgen_eval
from vgen_eval.results.identity import differences
from vgen_eval.results.reading import read_run


def test_what_a_decoder_was_calibrated_to_is_a_result_and_not_what_it_hangs_on(
    tmp_path: Path,
) -> None:
    cards = vgen_eval.evaluate(
        tasks="samples/normals", models=["classical", "copy"], bounds=False, output=str(tmp_path),
        set={"protocol.calibration": {"samples": 2}},
    )  # fmt: skip
    first, second = (read_run(tmp_path / card.run) for card in cards)
    learned = [card.protocol_info["calibration"]["decoder"] for card in cards]
    assert learned[0] != learned[1]
    assert differences(first.facts, second.facts, leave=("model",)) == ()
    assert len(first.facts["calibration.samples"]) == 2


def test_a_calibration_and_none_are_told_apart(tmp_path: Path) -> None:
    runs = []
    for change in ({}, {"protocol.calibration": {"samples": 2}}):
        (card,) = vgen_eval.evaluate(
            tasks="samples/normals", models=["classical"], bounds=False, output=str(tmp_path),
            set=change,
        )  # fmt: skip
        runs.append(read_run(tmp_path / card.run))
    (found,) = differences(runs[0].facts, runs[1].facts)
    assert (found.field, found.first, len(found.second)) == ("calibration.samples", None, 2)
