"""A reader of a folder of pictures below the data root: the text of the plugin `plug-data`."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["PACKAGE", "READER", "files", "task_card"]

PACKAGE = """
from vgen_eval.hookspecs import hookimpl


@hookimpl
def vgen_datasets():
    return {name: f"plug_data.reader:{name.title()}" for name in
            ("pictures", "unready", "unlisted", "unmarked", "quitter")}


@hookimpl
def vgen_metrics():
    return {"right": "plug_data.metric:Right", "unbuilt": "plug_data.metric:Unbuilt",
            "unmeasured": "plug_data.metric:Unmeasured", "leaver": "plug_data.metric:Leaver",
            "unmerged": "plug_data.metric:Unmerged"}


@hookimpl
def vgen_decoders():
    return {"word": "plug_data.metric:Word", "raising": "plug_data.metric:Raising",
            "pixels": "plug_data.metric:Pixels"}
"""
READER = '''
import sys
from pathlib import Path
from vgen_eval.errors import MissingData
from vgen_eval.imaging import read_image
from vgen_eval.types import Item, NoOptions, Sample


class Pictures:
    """Every picture of a folder; the truth is always 3."""

    version = 1
    Options = NoOptions

    def __init__(self, options, *, root, folder):
        self.root = root

    def index(self):
        files = sorted(self.root.glob("*.*"))
        if not files:
            raise MissingData(f"no pictures in {self.root}", cure="put some there")
        return [Item(id=file.stem, group=file.stem) for file in files]

    def load(self, item):
        (file,) = (f for f in self.root.glob("*.*") if f.stem == item.id)
        return Sample(id=item.id, group=item.id, images=(read_image(file),), target=3)

    def fingerprint(self):
        return "the same"


class Unready(Pictures):
    def __init__(self, options, *, root, folder):
        raise ValueError("cannot be built")


class Unlisted(Pictures):
    def index(self):
        raise KeyError("no such column")


class Unmarked(Pictures):
    def fingerprint(self):
        raise RuntimeError("no fingerprint")


class Quitter(Pictures):
    def index(self):
        sys.exit("the data are not mine")
'''
METRIC = '''
import sys
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Value


class Right:
    version = 1
    Options = NoOptions
    values = (Value(name="right", of="right", aggregation="mean", higher_is_better=True),)

    def __init__(self, options):
        pass

    def update(self, pred, target, valid):
        return {"right": float(pred == target), "n": 1}

    def merge(self, a, b):
        return {key: a[key] + b[key] for key in a}

    def compute(self, statistics):
        return {"right": statistics["right"] / statistics["n"]}


class Unbuilt(Right):
    def __init__(self, options):
        raise ValueError("no metric today")


class Leaver(Right):
    def update(self, pred, target, valid):
        sys.exit("no numbers from me")


class Unmeasured(Right):
    def update(self, pred, target, valid):
        raise ZeroDivisionError("nothing to divide by")


class Unmerged(Right):
    values = (Value(name="right", of="right", aggregation="pooled", higher_is_better=True),)
    calls = 0

    def compute(self, statistics):
        self.calls += 1
        if self.calls > 1:  # the sample's own is the first
            raise OverflowError("too much to sum up")
        return super().compute(statistics)


class Word:
    """Text that is a number; 0 for none."""

    version = 1
    Options = NoOptions

    def __init__(self, options):
        pass

    def decode(self, answer, scene):
        if answer is None:
            return Prediction(value=0)
        try:
            return Prediction(value=int(answer))
        except ValueError:
            raise Undecodable(f"no number: {answer[:200]}") from None


class Pixels(Word):
    """The number of pictures seen: one."""

    def decode(self, answer, scene):
        return Prediction(value=0 if answer is None else 3)


class Raising(Word):
    def decode(self, answer, scene):
        if answer is None:
            return Prediction(value=0)
        raise LookupError("lost the table")
'''


def files() -> dict[str, str]:
    """The files of the distribution."""
    return {
        "plug_data/__init__.py": PACKAGE,
        "plug_data/reader.py": READER,
        "plug_data/metric.py": METRIC,
        "plug_data/cards/pictures.yaml": task_card("toys/pictures"),
    }


def task_card(name: str, *, reader: str = "pictures", root: str | None = "pictures",
              metric: str = "right", decoder: str = "word") -> str:  # fmt: skip
    """A task card of that reader. JSON is YAML."""
    dataset: dict[str, Any] = {
        "reader": f"plug-data:{reader}", "licence": "CC0-1.0", "source": "here", "citation": "none",
    }  # fmt: skip
    if root is not None:
        dataset["root"] = root
    answers = [
        {"form": "text", "prompt": {"mid": "How many?"}, "decoder": f"plug-data:{decoder}"},
        {"form": "image", "prompt": {"mid": "Paint them."}, "decoder": "plug-data:pixels"},
    ]
    protocol = {
        "answers": answers, "metrics": [{"name": f"plug-data:{metric}"}], "primary": "right",
        "failure_value": "plug-data:word",
    }  # fmt: skip
    return json.dumps(
        {
            "task": name, "version": 1, "family": "toys", "title": "Pictures of three things",
            "dataset": dataset, "default_protocol": "plain", "protocols": {"plain": protocol},
        }
    )  # fmt: skip
