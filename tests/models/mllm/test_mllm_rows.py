"""Forward passes that words share, and rows that can stand in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from vgen_eval_plugins.models.mllm.chats import collate, extend, group_alike
from vgen_eval_plugins.models.mllm.choices import make_rows


def prompt(length: int = 3, **more: Any) -> dict[str, Any]:
    """Inputs of so many tokens."""
    import torch

    ids = torch.arange(1, length + 1)[None]
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), **more}


@pytest.mark.parametrize(
    ("words", "forced"),
    [
        ([(7,), (8,)], [()]),
        ([(7, 1), (8,)], [(7,)]),
        ([(7, 1), (7, 2), (7, 3)], [(7,)]),
        ([(7, 1), (7, 1, 4), (8, 1)], [(7, 1), (8,)]),
        ([(7, 1, 2, 3), (7, 1, 5), (7, 9), (6,)], [(7, 1, 2)]),
    ],
)
def test_words_that_begin_alike_share_a_pass(
    words: Sequence[tuple[int, ...]], forced: Sequence[tuple[int, ...]]
) -> None:
    rows = make_rows(prompt(), words)
    assert [row.forced for row in rows] == list(forced)
    assert sorted(word for row in rows for word in row.wanted) == sorted(words)
    for row in rows:
        assert row.inputs["input_ids"].tolist() == [[1, 2, 3, *row.forced]]
        assert row.inputs["attention_mask"].tolist() == [[1] * (3 + len(row.forced))]
        assert row.start == 3


def test_tokens_of_the_models_own_turn_are_text_and_seen_like_the_last() -> None:
    import torch

    given = prompt(
        mm_token_type_ids=torch.tensor([[1, 1, 0]]),
        cross_attention_mask=torch.arange(6).reshape(1, 3, 1, 2),
        pixel_values=torch.zeros(1, 3, 4, 4),  # its first sizes are those of the tokens, by chance
    )
    made = extend(given, [8, 9])
    assert made["mm_token_type_ids"].tolist() == [[1, 1, 0, 0, 0]]
    assert made["cross_attention_mask"][0, :, 0].tolist() == [
        [0, 1],
        [2, 3],
        [4, 5],
        [4, 5],
        [4, 5],
    ]
    assert made["pixel_values"].shape == (1, 3, 4, 4)


def test_rows_are_padded_on_the_side_that_is_asked_for() -> None:
    rows = [prompt(2), prompt(4)]
    left = collate(rows, pad=9, side="left")
    assert left["input_ids"].tolist() == [[9, 9, 1, 2], [1, 2, 3, 4]]
    assert left["attention_mask"].tolist() == [[0, 0, 1, 1], [1, 1, 1, 1]]
    right = collate(rows, pad=9, side="right")
    assert right["input_ids"].tolist() == [[1, 2, 9, 9], [1, 2, 3, 4]]
    assert right["attention_mask"].tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]


def test_rows_with_pictures_of_other_shapes_stand_apart() -> None:
    import torch

    wide = prompt(pixel_values=torch.zeros(2, 5))
    rows = [prompt(), wide, prompt(5), wide, prompt(pixel_values=torch.zeros(1, 6))]
    assert list(group_alike(rows)) == [[0, 2], [1, 3], [4]]
    assert collate([rows[1], rows[3]], pad=0, side="left")["pixel_values"].shape == (4, 5)
