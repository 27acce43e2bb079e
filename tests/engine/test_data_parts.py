"""Parts and variants of data that protocols name, and samples whose files need not all be there."""

from __future__ import annotations

from pathlib import Path

import kit
import numpy as np
import pytest
from vgen_eval.errors import CardError, MissingData
from vgen_eval.imaging import recompress


def test_a_protocol_sets_options_of_the_reader(toys: Path) -> None:
    path = kit.task(toys, n=6, protocol={"data": {"options": {"n": 3}, "n": 3}})
    assert kit.run(toys, tasks=path, model=kit.model(toys)).counts.expected == 3


def test_the_count_of_a_part_is_checked(toys: Path) -> None:
    path = kit.task(toys, n=6, protocol={"data": {"options": {"n": 3}, "n": 4}})
    with pytest.raises(MissingData, match="4 samples expected, 3 found"):
        kit.run(toys, tasks=path, model=kit.model(toys))


def test_named_samples_run_where_the_others_are_not_there(toys: Path) -> None:
    part = {"data": {"options": {"n": 3}, "n": 4}}
    path = kit.task(toys, protocol=part, gone=["s000"])
    card = kit.run(toys, tasks=path, model=kit.model(toys), samples=["s001"])
    assert card.counts.answered == 1


def test_files_that_are_not_there_are_named_before_a_model_is_asked(toys: Path) -> None:
    path = kit.task(toys, n=6, gone=["s002", "s004"])
    with pytest.raises(MissingData, match=r"s002.png: s002: no such file and 1 more: .* 6 samples"):
        kit.run(toys, tasks=path, model=kit.model(toys))
    assert kit.asked() == []


def test_an_option_that_the_reader_has_not_is_told_with_its_place(toys: Path) -> None:
    path = kit.task(toys, protocol={"data": {"options": {"m": 3}}})
    with pytest.raises(CardError, match="m"):
        kit.run(toys, tasks=path, model=kit.model(toys))


@pytest.mark.parametrize("form", ["array", "file"])
def test_a_picture_is_compressed_before_it_is_read(toys: Path, form: str) -> None:
    grid = {"form": "image", "decoder": "toybench:grid", "reencode": "jpeg:20"}
    path = kit.task(
        toys, n=1, protocol={"answers": [grid], "metrics": [{"name": "toybench:nothing"}],
                             "primary": "zero"},
    )  # fmt: skip
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
    if form == "file":
        from vgen_eval.imaging import encode_png

        answer: object = encode_png(noise)
    else:
        answer = noise
    card = kit.run(toys, tasks=path, model=lambda _: answer, forms=["image"])
    (line,) = kit.scores(toys, card)
    plane = np.ascontiguousarray(recompress(noise, "jpeg:20")[:, :, 0])
    import hashlib

    told = hashlib.sha256(f"{plane.dtype.str} {plane.shape}\n".encode() + plane.tobytes())
    assert line["sha256"] == told.hexdigest()
    assert not np.array_equal(plane, noise[:, :, 0])


def test_best_of_p_picks_by_the_value_that_the_card_names(toys: Path) -> None:
    # the second attempt is off by one, the first by none
    metrics = {
        "metrics": [{"name": "toybench:error"}, {"name": "toybench:error", "label": "again"}],
        "primary": "mae", "select_by": "again.mae",
    }  # fmt: skip
    card = kit.run(
        toys, tasks=kit.task(toys, protocol=metrics), model=kit.model(toys, off_by_attempt=1),
        attempts=2,
    )  # fmt: skip
    assert card.score("mae", selection="best_of_2").value == 0
    path = kit.task(toys, name="bad", protocol={"select_by": "mea"})
    with pytest.raises(CardError, match="select_by 'mea' is no value"):
        kit.run(toys, tasks=path, model=kit.model(toys))
