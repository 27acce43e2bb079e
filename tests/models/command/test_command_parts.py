"""What a program sees of words and pictures in order, of a begun answer, of JSON that is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from commandkit import Start, make_request, outputs
from vgen_eval.errors import CallError
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.parts import UNFORCED

KEEPER = """
ready()
for r in requests():
    with open("seen.json", "w") as file:
        json.dump(r, file)
    reply(r, text="done", **({"prefixed": True} if r["prompt"] == "go on" else {}))
"""
ONE, TWO = (Image(np.full((4, 4, 3), level, np.uint8)) for level in (10, 200))


def test_it_sees_words_as_they_are_and_pictures_by_their_place(
    start: Start, tmp_path: Path
) -> None:
    again = Image(TWO.array.copy())
    asked = msgspec.structs.replace(
        make_request(), images=(ONE, TWO), parts=("a", again, "b", ONE), wants_json=True
    )
    outputs(start(KEEPER), asked)
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["parts"] == ["a", 1, "b", 0]
    assert seen["wants_json"] is True
    assert "prefix" not in seen


def test_most_requests_say_nothing_of_them(start: Start, tmp_path: Path) -> None:
    [output] = outputs(start(KEEPER), make_request())
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert not {"parts", "prefix", "wants_json"} & set(seen)
    assert output.flags == ()


@pytest.mark.parametrize(("prompt", "flags"), [("go on", ()), ("begin", (UNFORCED,))])
def test_an_answer_is_flagged_unless_the_program_says_that_it_went_on(
    prompt: str, flags: tuple[str, ...], start: Start, tmp_path: Path
) -> None:
    asked = msgspec.structs.replace(make_request(), prompt=prompt, prefix="It is")
    [output] = outputs(start(KEEPER), asked)
    assert json.loads((tmp_path / "seen.json").read_text())["prefix"] == "It is"
    assert output.flags == flags


def test_a_part_that_is_no_image_of_the_request_is_an_error(start: Start) -> None:
    asked = msgspec.structs.replace(make_request(), images=(ONE,), parts=("a", TWO))
    with pytest.raises(CallError, match="none of the request's images"):
        outputs(start(KEEPER), asked)
