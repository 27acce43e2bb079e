"""All of it: a model, a data set, a codec, a failure value, a metric."""

from __future__ import annotations

import hashlib

import numpy as np
from vgen_eval.adapters import BaseAdapter
from vgen_eval.errors import NoValidTarget, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.scoring import SumMetric
from vgen_eval.types import Item, NoOptions, Output, Prediction, Sample, Value
from vgen_eval.viewing import ClassMap, Pane


class Rules(BaseAdapter):
    forms = ("image",)
    max_batch = 4
    concurrency = 2

    def load(self):
        self.level = 128

    def generate(self, requests):
        for request in requests:
            yield Output(id=request.id, answer=self.paint(request))

    def paint(self, request):
        if not request.images:
            return None
        draw = np.random.default_rng(request.seed).integers(0, 64)
        bright = request.images[0].array.mean(axis=2, keepdims=True) > self.level
        return np.repeat((bright * 150 + draw).astype(np.uint8), 3, axis=2)


class Discs:
    version = 1
    Options = NoOptions

    def __init__(self, options, *, root, folder):
        self.names = ["a", "b", "c", "d", "e", "f"]

    def index(self):
        return [Item(name, group=name) for name in self.names]

    def load(self, item):
        rows, columns = np.mgrid[:48, :64]
        radius = 8 + 2 * ord(item.id[0]) % 10
        target = (rows - 24) ** 2 + (columns - 30) ** 2 < radius**2
        picture = np.full((48, 64, 3), 40, np.uint8)
        picture[target] = 220
        return Sample(id=item.id, group=item.group, images=(Image(picture),), target=target,
                      fields={"query": "the disc"})  # fmt: skip

    def fingerprint(self):
        return hashlib.sha256(b"discs 1").hexdigest()


class Bright:
    version = 1
    Options = NoOptions

    def __init__(self, options):
        pass

    def decode(self, answer, scene):
        if not isinstance(answer, np.ndarray) or answer.dtype != np.uint8 or answer.size == 0:
            raise Undecodable("a picture was wanted")
        if answer.ndim != 3 or answer.shape[2] != 3:
            raise Undecodable("three channels were wanted")
        mask = answer.max(axis=2) > 127
        return Prediction(value=scene.geometry.restore(mask, "labels"))


class Nothing:
    version = 1
    Options = NoOptions

    def __init__(self, options):
        pass

    def decode(self, answer, scene):
        return Prediction(value=np.zeros(scene.size, bool))


class White:
    version = 1
    Options = NoOptions

    def __init__(self, options):
        pass

    def encode(self, target, scene):
        mask = scene.geometry.project(target, "labels", fill=False)
        return np.repeat((mask * 255).astype(np.uint8)[..., None], 3, axis=2)


class Overlap(SumMetric):
    measures = "disc"
    values = (
        Value(name="iou", of="iou", aggregation="mean", higher_is_better=True, low=0.0, high=1.0),
        Value(name="all", of="iou", aggregation="pooled", higher_is_better=True, low=0.0, high=1.0),
    )

    def update(self, pred, target, valid):
        if valid is not None:
            if not valid.any():
                raise NoValidTarget("nothing is known")
            pred, target = pred & valid, target & valid
        return {"n": 1, "both": int((pred & target).sum()), "any": int((pred | target).sum())}

    def compute(self, statistics):
        if not statistics["n"]:
            return {"iou": None}
        union = statistics["any"]
        return {"iou": statistics["both"] / union if union else 1.0}


class Shown:
    version = 1
    measures = "disc"

    def panes(self, seen):
        shown = [Pane(role="target", title="disc", body=self.drawn(seen.sample.target))]
        if seen.prediction is not None:
            found = self.drawn(seen.prediction.value)
            shown.append(Pane(role="prediction", title="found", body=found))
        return shown

    def drawn(self, mask):
        return ClassMap(ids=mask.astype(int) - 1, classes=("disc",), clear=True)
