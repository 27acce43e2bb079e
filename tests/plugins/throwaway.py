"""Texts of throwaway plugins: cards, hooks, and classes that keep to the contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

TASK = """\
task: {name}
version: 1
family: toys
title: A toy
dataset: {{reader: toys, licence: CC0-1.0, source: here, citation: none}}
protocols:
  plain:
    answers: [{{form: text, prompt: {{mid: How many?}}, decoder: toy}}]
    metrics: [{{name: toy}}]
    primary: toy
    failure_value: toy
default_protocol: plain
"""
MODEL = """\
model: {name}
title: A toy
adapter: toy
answers: [text]
licence: CC0-1.0
"""
SUITE = """\
suite: {name}
title: A toy
tasks: [toys/a]
"""
CARDS = {"task": TASK, "model": MODEL, "suite": SUITE}


class Install(Protocol):
    """Writes a distribution; returns the folder it lies in."""

    def __call__(
        self,
        name: str,
        files: Mapping[str, str],
        *,
        entries: Mapping[str, str] | None = None,
        version: str = "1.0",
        direct_url: Any = None,
        installer: str | None = None,
        site: str = "site",
    ) -> Path: ...


def hooks(**kinds: Mapping[str, str]) -> str:
    """The text of a package that implements `vgen_<kind>` for each keyword."""
    text = "from vgen_eval.hookspecs import hookimpl\n"
    for kind, names in kinds.items():
        text += f"\n@hookimpl\ndef vgen_{kind}():\n    return {dict(names)!r}\n"
    return text


def component_class(name: str, *methods: str, body: str = "") -> str:
    """The text of a class that keeps to the contract of components."""
    text = f"class {name}:\n    version = 1\n    Options = NoOptions\n{body}"
    for method in methods:
        text += f"    def {method}(self, *arguments): ...\n"
    return text


NO_OPTIONS = "from vgen_eval.types import NoOptions\n"
