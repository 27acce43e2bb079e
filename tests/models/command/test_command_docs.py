"""docs/command.md is what the adapter does: its transcript, its card, its lists."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from vgen_eval.cards import load_card
from vgen_eval.cards.records import ModelCard
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import FORMS, Request
from vgen_eval_plugins.models.command import process, protocol
from vgen_eval_plugins.models.command.adapter import REFERENCE, CommandOptions
from vgen_eval_plugins.models.command.environment import EnvOptions
from vgen_eval_plugins.models.command.launch import KEPT
from vgen_eval_plugins.models.command.lines import LINE_LIMIT

PAGE = (Path(__file__).parents[3] / "docs" / "command.md").read_text(encoding="utf-8")


def block(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```\w*\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def card(tmp_path: Path) -> ModelCard:
    (tmp_path / "card.yaml").write_text(block("card"), encoding="utf-8")
    record = load_card(tmp_path / "card.yaml").record
    assert isinstance(record, ModelCard)
    return record


def test_the_transcript_is_what_both_sides_write(card: ModelCard) -> None:
    lines = block("transcript").splitlines()
    ours = [line[2:] for line in lines if line.startswith("> ")]
    theirs = [line[2:] for line in lines if line.startswith("< ")]
    assert len(ours) + len(theirs) == len(lines)
    done = subprocess.run(
        [sys.executable, REFERENCE], input="\n".join(ours) + "\n",
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == theirs
    config = card.options["config"]
    made = [
        protocol.hello(card, config=config, device="cuda:0", process=0),
        *(protocol.generate([request_of(json.loads(line), card)]) for line in ours[1:-1]),
        protocol.CLOSE,
    ]
    assert [without_pictures(line) for line in made] == [without_pictures(line) for line in ours]


def request_of(message: dict[str, Any], card: ModelCard) -> Request:
    """The request that a generate of the transcript was made of."""
    [asked] = message["requests"]
    pictures = [decode_image(base64.b64decode(data), what="it") for data in asked["images"]]
    fields = {key: asked[key] for key in ("id", "family", "form", "prompt", "fields", "seed")}
    return Request(
        **fields,
        sample="",
        attempt=0,
        images=tuple(Image(np.asarray(picture)) for picture in pictures),
        choices=tuple(asked["choices"]),
        settings=card.generation,
    )


def without_pictures(line: bytes | str) -> Any:
    """The message; a PNG's bytes differ between versions of its writer."""
    message = json.loads(line)
    for request in message.get("requests", ()):
        request["images"] = len(request["images"])
    return message


def test_the_card_and_every_option_are_there(card: ModelCard) -> None:
    options = msgspec.convert(card.options, CommandOptions)
    assert options.env is not None
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    for record in (CommandOptions, EnvOptions, protocol.Ready):
        assert set(record.__struct_fields__) <= set(rows)
    assert set(FORMS) <= set(rows)
    asked = json.loads(block("transcript").splitlines()[2][2:])["requests"][0]
    assert set(asked) <= set(rows)


def test_numbers_and_names_of_the_page_are_the_codes() -> None:
    text = " ".join(PAGE.split())
    for name in KEPT:
        assert f"`{name}`" in text
    defaults = CommandOptions(program=("python",))
    assert f"weights loaded ({defaults.start_timeout_s:g})" in text
    assert f"ended or hung ({defaults.restarts})" in text
    assert f"A line may have {LINE_LIMIT >> 20} MiB" in text
    assert (process.CLOSE_S, process.TERM_S) == (5.0, 3.0)
    assert "five seconds to end, its process group three more after SIGTERM" in text
    for kind in protocol.KINDS:
        assert f"`{kind}`" in text


def test_the_reference_program_is_short_and_needs_python_alone() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE))
    assert imported <= sys.stdlib_module_names
