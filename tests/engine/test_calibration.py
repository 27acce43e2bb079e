"""Decoders that are calibrated on a run's first samples: when, on what, with what effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kit
import pytest
import vgen_eval
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import BrokenPlugin, CardError
from vgen_eval.plugins import Catalog

TUNED = {
    "form": "text", "prompt": {"mid": "{query}?"}, "decoder": "toybench:tuned",
    "encoder": "toybench:number",
}  # fmt: skip


def task(folder: Path, *, name: str = "numbers", samples: int = 3, exclude: bool = False,
         **options: Any) -> str:  # fmt: skip
    rule = {"samples": samples, "exclude": exclude}
    protocol = {"answers": [TUNED], "calibration": rule}
    return kit.task(folder, name=name, protocol=protocol, **options)


def mae(card: vgen_eval.ResultCard) -> float | None:
    return card.score().value


def test_every_sample_is_read_by_what_the_first_ones_show(toys: Path) -> None:
    card = kit.run(toys, tasks=task(toys, n=8), model=kit.model(toys, off=4))
    assert mae(card) == 0
    assert card.score().n == 8
    assert card.protocol_info["calibration"] == {
        "samples": ["s000", "s001", "s002"],
        "decoder": {"shift": 4, "of": 3},
    }
    assert sorted(kit.asked()) == [(f"s{at:03d}", 0) for at in range(8)]


def test_without_the_rule_the_decoder_is_taken_as_it_is(toys: Path) -> None:
    path = kit.task(toys, n=8, protocol={"answers": [TUNED]})
    card = kit.run(toys, tasks=path, model=kit.model(toys, off=4))
    assert mae(card) == 4
    assert card.protocol_info["calibration"] is None


def test_workers_and_calls_at_once_do_not_change_it(toys: Path) -> None:
    path = task(toys, n=30)
    cards = [
        kit.run(toys, tasks=path, model=kit.model(toys, off=2, at_once=calls, delay_s=0.001),
                workers=workers, output=str(toys / f"out{calls}"))
        for calls, workers in ((1, 1), (8, 4))
    ]  # fmt: skip
    assert [mae(card) for card in cards] == [0, 0]
    assert [c.protocol_info["calibration"]["samples"] for c in cards] == [
        ["s000", "s001", "s002"]
    ] * 2


def test_the_bounds_are_calibrated_for_themselves(toys: Path) -> None:
    card = kit.run(toys, tasks=task(toys, n=4), model=kit.model(toys, off=4), bounds=True)
    assert card.ceiling is not None
    assert card.ceiling.value == 0


def test_all_attempts_share_one_calibration_by_the_first(toys: Path) -> None:
    card = kit.run(
        toys, tasks=task(toys, n=4), model=kit.model(toys, off=1, off_by_attempt=2), attempts=3
    )
    assert card.protocol_info["calibration"]["decoder"]["shift"] == 1
    assert mae(card) == pytest.approx(2)  # 0, 2 and 4 off


def test_a_resume_asks_nothing_and_gives_the_same_card(toys: Path) -> None:
    path, teller = task(toys, n=8), kit.model(toys, off=4)
    first = kit.settled(toys, kit.run(toys, tasks=path, model=teller))
    kit.asked()
    assert kit.settled(toys, kit.run(toys, tasks=path, model=teller)) == first
    assert kit.asked() == []


@pytest.mark.parametrize("keep", ["none", "failed"])
def test_answers_that_were_not_kept_are_not_asked_for_again(toys: Path, keep: str) -> None:
    image = {key: value for key, value in TUNED.items() if key != "encoder"} | {"form": "image"}
    path = kit.task(toys, n=6, protocol={"answers": [image], "calibration": {"samples": 2}})
    teller = kit.model(toys, card={"answers": ["image"]})
    first = kit.run(toys, tasks=path, model=teller, keep=keep)
    kit.asked()
    again = kit.run(toys, tasks=path, model=teller, keep=keep)
    assert kit.asked() == []
    assert again.content_digest == first.content_digest


def test_an_answer_that_came_late_makes_all_scores_anew(toys: Path) -> None:
    path = task(toys, n=6, samples=2)
    teller = kit.model(toys, off=4, fail=["s000", "s001"])
    first = kit.run(toys, tasks=path, model=teller)
    assert first.protocol_info["calibration"]["decoder"] == {"shift": 0, "of": 0}
    assert mae(first) == 4
    import toybench.parts

    toybench.parts.Teller.failing = False
    second = kit.run(toys, tasks=path, model=teller, retry_failed=["error"])
    assert second.protocol_info["calibration"]["decoder"] == {"shift": 4, "of": 2}
    assert (mae(second), second.score().n) == (0, 6)


def test_rescoring_calibrates_from_the_kept_answers(toys: Path) -> None:
    card = kit.run(toys, tasks=task(toys, n=6), model=kit.model(toys, off=4))
    folder = kit.run_folder(toys, card)
    (kept,) = (folder / "scores").glob("*.calibration.json")
    kept.write_text("not JSON")
    again = rescore(folder, Catalog.discover())
    assert again is not None
    assert again.content_digest == card.content_digest
    assert json.loads(kept.read_text())["decoder"] == {"shift": 4, "of": 3}


def test_samples_it_was_calibrated_on_may_be_left_out(toys: Path) -> None:
    card = kit.run(toys, tasks=task(toys, n=6, exclude=True), model=kit.model(toys, off=4))
    assert card.score().n == 3
    assert card.counts.statuses == {"no_valid_target": 3, "ok": 3}
    assert card.counts.data_fault == 3
    assert card.complete


def test_a_calibration_that_raises_names_the_decoder(toys: Path) -> None:
    path = task(toys, n=6, no_target=["s001"])
    with pytest.raises(BrokenPlugin, match="toybench:tuned' cannot calibrate"):
        kit.run(toys, tasks=path, model=kit.model(toys, off=4))


def test_bad_samples_are_no_evidence(toys: Path) -> None:
    card = kit.run(toys, tasks=task(toys, n=6, bad=["s001"]), model=kit.model(toys, off=4))
    assert card.protocol_info["calibration"]["decoder"] == {"shift": 4, "of": 2}
    assert card.counts.statuses == {"bad_sample": 1, "ok": 5}


def test_a_card_whose_decoders_cannot_be_calibrated_is_faulty(toys: Path) -> None:
    from vgen_eval.cards.check import check_card

    path = kit.task(toys, protocol={"calibration": {"samples": 2}})
    messages = [str(problem) for problem in check_card(Path(path), Catalog.discover())]
    assert any("no decoder of the protocol can be calibrated" in m for m in messages), messages


def test_a_rule_of_no_samples_is_refused(toys: Path) -> None:
    with pytest.raises(CardError, match="samples"):
        kit.run(toys, tasks=task(toys, samples=0), model=kit.model(toys))
