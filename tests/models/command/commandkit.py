"""Small programs that speak the protocol, well or badly, and adapters that drive them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from vgen_eval.cards.records import Limits, ModelCard, Needs
from vgen_eval.imaging import Image
from vgen_eval.types import AnswerForm, Output, Request
from vgen_eval_plugins.models.command.adapter import Command, CommandOptions

__all__ = ["Start", "alive", "ask", "make_card", "make_request", "make_requests", "wait_until"]

Start = Callable[..., Command]
"""Body of a program, options -> its adapter, loaded."""

PRELUDE = """
import json, os, signal, subprocess, sys, time

def send(**message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else {"type": "close"}

def ready(**more):
    hello = hear()
    send(type="ready", protocol=1, **more)
    return hello

def calls():
    while (message := hear())["type"] != "close":
        yield message["requests"]

def requests():
    for call in calls():
        yield from call

def reply(request, **more):
    send(type="answer", id=request["id"], **more)

def raw(text):
    sys.stdout.flush()
    os.write(1, text if isinstance(text, bytes) else text.encode())
"""


def write_program(path: Path, body: str) -> Path:
    """A program of the prelude and the body."""
    path.write_text(f"{PRELUDE}\n{body}\n", encoding="utf-8")
    return path


def make_card(
    *, timeout_s: float | None = 10.0, key_env: str | None = None, forms: Sequence[AnswerForm] = ()
) -> ModelCard:
    return ModelCard(
        model="toy",
        adapter="command",
        answers=tuple(forms) or ("text",),
        licence="CC0-1.0",
        limits=Limits(timeout_s=timeout_s),
        needs=Needs(key_env=key_env),
    )


def make_adapter(folder: Path, /, *, card: ModelCard | None = None, **options: Any) -> Command:
    given = {"program": ["python", "program.py"], "folder": str(folder)} | options
    return Command(msgspec.convert(given, CommandOptions), card=card or make_card())


def make_request(name: str = "a", *, form: AnswerForm = "text", size: int = 8) -> Request:
    pixels = np.random.default_rng(0).integers(0, 256, (size, size, 3), np.uint8)
    return Request(
        id=name,
        sample=name,
        attempt=0,
        family="counting",
        form=form,
        prompt=f"about {name}",
        images=(Image(pixels),),
        choices=("yes", "no") if form == "choice" else (),
        fields={"query": "coins"},
        settings={"steps": 4},
        seed=7,
    )


def make_requests(names: str) -> list[Request]:
    return [make_request(name) for name in names]


def ask(adapter: Command, names: str = "a") -> dict[str, Any]:
    """Id -> answer of one call."""
    return {out.id: out.answer for out in adapter.generate(make_requests(names))}


def outputs(adapter: Command, *requests: Request) -> list[Output]:
    return list(adapter.generate(list(requests)))


def alive(pid: int) -> bool:
    """Does the process run? One that ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def wait_until(true: Callable[[], bool], *, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
