"""What `--set` makes of a protocol is held to what `check` asks of a card, before a model loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kit
import pytest
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog

TUNED = {
    "form": "text", "prompt": {"mid": "{query}?"}, "decoder": "toybench:tuned",
    "encoder": "toybench:number",
}  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"calibration.samples": 2}, "calibration: no decoder of the protocol can be calibrated"),
        ({"input.long_side": 8, "input.size": [8, 8]}, "input: size and long_side: one of them"),
        ({"failure_value": "skip", "failure_options": {"a": 1}}, "skip takes no options"),
        ({"data.options.m": 3}, "data.options.m: unknown key"),
        ({"data.options.n": "many"}, "data.options.n: "),
        ({"answers.0.prompt.mid": "{query"}, "answers[0].prompt.mid: "),
        ({"answers.0.decoder": "toybench:nothing_such"}, "answers[0].decoder: no decoder"),
        ({"primary": "mea"}, "primary: 'mea' is no value of the metrics"),
    ],
)
def test_a_setting_that_check_would_refuse_is_refused_before_a_model_is_asked(
    toys: Path, settings: dict[str, Any], words: str
) -> None:
    asked = {f"protocol.{key}": value for key, value in settings.items()}
    with pytest.raises(UsageError) as caught:
        kit.run(toys, tasks=kit.task(toys, n=3), model=kit.model(toys), set=asked)
    assert caught.value.what.startswith("toys/numbers@plain: protocol.")
    assert words in caught.value.what
    assert "leave that setting out or mend it; vgen-eval show " in (caught.value.cure or "")
    assert kit.asked() == []
    assert not (toys / "out").exists()


def test_a_fault_that_the_card_has_itself_is_not_put_down_to_a_setting(toys: Path) -> None:
    path = kit.task(toys, n=3, protocol={"calibration": {"samples": 2}})  # nothing calibrates here
    card = kit.run(toys, tasks=path, model=kit.model(toys), set={"protocol.seed": "fixed"})
    assert card.score().n == 3


def test_a_calibration_that_a_decoder_can_use_is_taken(toys: Path) -> None:
    path = kit.task(toys, n=6, protocol={"answers": [TUNED]})
    setting = {"protocol.calibration.samples": 2}
    card = kit.run(toys, tasks=path, model=kit.model(toys, off=4), set=setting)
    assert card.score().value == 0


def test_an_option_of_the_data_that_makes_another_truth_is_named() -> None:
    from vgen_eval.engine.naming import expand_tasks
    from vgen_eval.engine.tasks import open_task

    catalog = Catalog.discover()
    (ref,) = expand_tasks(("samples/depth",), catalog, notices=[])
    options = {"annotations": "referring.jsonl", "kind": "referring"}
    with pytest.raises(UsageError) as caught:
        open_task(ref, catalog, overrides={"data.options": options}, data_root=None)
    assert "samples/depth@standard: protocol.data.options=" in caught.value.what
    assert "the truth of the data is then mask, metric " in caught.value.what


# --- nothing left to score


def excluding(folder: Path, *, n: int, samples: int = 3) -> str:
    rule = {"samples": samples, "exclude": True}
    return kit.task(folder, n=n, protocol={"answers": [TUNED], "calibration": rule})


@pytest.mark.parametrize(("n", "limit"), [(3, None), (2, None), (8, 3)])
def test_a_run_of_nothing_but_calibration_samples_is_refused_with_the_cure(
    toys: Path, n: int, limit: int | None
) -> None:
    with pytest.raises(UsageError, match="nothing is left to score") as caught:
        kit.run(toys, tasks=excluding(toys, n=n), model=kit.model(toys), limit=limit)
    assert "calibrated on the first 3 samples" in caught.value.what
    assert "calibrate on fewer: --set protocol.calibration.samples=N" in (caught.value.cure or "")
    assert kit.asked() == []


def test_one_sample_more_is_enough(toys: Path) -> None:
    card = kit.run(toys, tasks=excluding(toys, n=4), model=kit.model(toys, off=4))
    assert (card.score().n, card.score().value) == (1, 0)


def test_a_card_with_nothing_left_says_so(toys: Path) -> None:
    """A run made before the rule asked for it is scored again under the rule."""
    import json

    setting = {"protocol.calibration.samples": 3}
    path = kit.task(toys, n=3, protocol={"answers": [TUNED]})
    card = kit.run(toys, tasks=path, model=kit.model(toys), set=setting)
    record = kit.run_folder(toys, card) / "run.json"
    asked = json.loads(record.read_text())
    asked["settings"]["set"]["protocol.calibration.exclude"] = True
    record.write_text(json.dumps(asked))
    again = rescore(kit.run_folder(toys, card), Catalog.discover())
    assert again is not None
    assert again.score().value is None
    assert (again.score().reason or "").startswith("nothing is left to score: the decoder was")
    assert "calibrate on fewer, or run more samples" in (again.score().reason or "")
