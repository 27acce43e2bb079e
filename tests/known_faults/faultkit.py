"""A folder with a task card, a manifest and predictions in files; scored, and read again."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import PIL.Image
from vgen_eval import ResultCard
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog

__all__ = [
    "DEPTH", "LABELS", "MASK", "NORMALS", "Scored", "Target", "npy", "picture", "random_photo",
    "read_run", "run_command", "score", "write_card", "write_file", "write_model",
    "write_predictions", "write_task",
]  # fmt: skip

Files = Mapping[str, bytes]
"""File name -> content; the name without its suffix is the sample's id."""


class Target(msgspec.Struct, frozen=True):
    """What a kind of truth is scored with, and what its own form of answer is called."""

    field: str
    family: str
    form: str
    decoder: str
    metric: str
    primary: str
    failure: Mapping[str, Any]


DEPTH = Target(
    "depth", "depth", "depth_map", "depth_map", "affine_depth", "absrel",
    {"failure_value": "constant_depth", "failure_options": {"depth_m": 4}},
)  # fmt: skip
LABELS = Target(
    "labels", "semantic", "label_map", "label_map", "label_iou", "miou",
    {"failure_value": "void_labels"},
)  # fmt: skip
MASK = Target(
    "mask", "referring", "mask", "mask", "mask_iou", "giou", {"failure_value": "empty_mask"}
)
NORMALS = Target(
    "normals", "normals", "normal_map", "normal_map", "angular_error", "mean",
    {"failure_value": "facing_normals"},
)  # fmt: skip


class Scored(msgspec.Struct, frozen=True):
    """A run's result card as it lies on disk, its report, and its lines by sample."""

    card: ResultCard
    document: Mapping[str, Any]
    report: str
    lines: Mapping[str, Mapping[str, Any]]
    reasons: Mapping[str, str]

    def value(self, metric: str | None = None) -> float | None:
        """The value of a metric over all samples; of the primary when none is named."""
        wanted = metric or self.document["primary"]
        (value,) = [
            score["value"]
            for score in self.document["scores"]
            if (score["metric"], score["subset"], score["selection"]) == (wanted, "all", "mean")
        ]
        return None if value is None else float(value)

    def number(self, metric: str | None = None) -> float:
        """The same where there has to be one."""
        value = self.value(metric)
        assert value is not None, f"no {metric}"
        return value

    def status(self, sample: str = "a") -> str:
        return str(self.lines[sample]["status"])

    def flags(self, sample: str = "a") -> set[str]:
        return set(self.lines[sample].get("flags") or ())

    def statistics(self, sample: str = "a") -> Mapping[str, Any]:
        """What the metric counted on one sample."""
        (found,) = self.lines[sample]["statistics"].values()
        return dict(found)

    def summary(self, sample: str = "a") -> Mapping[str, Any]:
        """What the decoder says of one answer."""
        return dict(self.lines[sample]["prediction"])


def npy(array: Any, **options: Any) -> bytes:
    """The array as an .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), **options)
    return buffer.getvalue()


def picture(array: Any, *, mode: str | None = None, file: str = "PNG", **options: Any) -> bytes:
    """The array, or the Pillow picture, as a picture file; `mode` converts it first."""
    made = array if isinstance(array, PIL.Image.Image) else PIL.Image.fromarray(np.asarray(array))
    buffer = io.BytesIO()
    (made if mode is None else made.convert(mode)).save(buffer, file, **options)
    return buffer.getvalue()


def write_task(
    folder: Path,
    target: Target,
    truths: Files,
    *,
    size: tuple[int, int],
    reading: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    answer: Mapping[str, Any] | None = None,
    photo: bytes | None = None,
) -> str:
    """Writes task.yaml, manifest.jsonl, a photograph and truths; gives the card's path.

    `size`: (height, width) of the photograph; `photo`: its file, where any one will not do;
    `reading`: how the reader takes the truth's files; `options`: the metric's; `answer`: what
    differs from the target's own form of answer.
    """
    photo = photo or random_photo(*size)
    image = "photo.jpg" if photo.startswith(b"\xff\xd8") else "photo.png"
    write_file(folder / image, photo)
    lines = []
    for name, data in truths.items():
        write_file(folder / "truths" / name, data)
        line = {"id": Path(name).stem, "image": image, target.field: f"truths/{name}"}
        lines.append(line | ({"query": "the thing"} if target is MASK else {}))
    (folder / "manifest.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return write_card(folder, target, reading=reading, options=options, answer=answer)


def write_card(
    folder: Path,
    target: Target,
    *,
    reading: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    answer: Mapping[str, Any] | None = None,
) -> str:
    """Writes task.yaml alone, of what `write_task` says; gives its path."""
    how = {} if reading is None else {target.field: reading}
    card = {
        "task": f"known/{target.family}",
        "version": 1,
        "family": target.family,
        "dataset": {
            "reader": "manifest", "options": {"target": target.field, **how},
            "licence": "CC0-1.0", "source": "made by rule", "citation": "none",
        },
        "default_protocol": "plain",
        "protocols": {
            "plain": {
                "answers": [
                    {
                        "form": target.form, "prompt": {"mid": "Answer."},
                        "decoder": target.decoder, **(answer or {}),
                    }
                ],
                "metrics": [{"name": target.metric, "options": dict(options or {})}],
                "primary": target.primary,
                **target.failure,
            }
        },
    }  # fmt: skip
    path = folder / "task.yaml"
    path.write_text(json.dumps(card))  # JSON is YAML
    return str(path)


def write_model(folder: Path, name: str, **card: Any) -> str:
    """Writes a model card; gives its path."""
    path = folder / f"{name}.yaml"
    write_file(path, json.dumps({"model": name, "licence": "CC0-1.0", **card}).encode())
    return str(path)


def write_predictions(folder: Path, predictions: Files) -> Path:
    """A folder of predictions, each named by its sample."""
    for name, data in predictions.items():
        write_file(folder / "predictions" / name, data)
    return folder / "predictions"


def score(
    folder: Path,
    target: Target,
    truths: Files,
    predictions: Files,
    *,
    depth_scale: float | None = None,
    **task: Any,
) -> Scored:
    """Writes everything, scores the predictions as the command does, and reads the run's files."""
    form = (task.get("answer") or {}).get("form", target.form)
    (card,) = import_predictions(
        task=write_task(folder, target, truths, **task),
        predictions=write_predictions(folder, predictions),
        model_name="theirs",
        catalog=Catalog.discover(),
        output=str(folder / "results"),
        answer=form,
        depth_scale=depth_scale,
    )
    return read_run(folder / "results", card)


def run_command(folder: Path, task: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`vgen-eval score` of the folder's predictions in a process of its own, answering in JSON."""
    return subprocess.run(
        [
            sys.executable, "-W", "error", "-m", "vgen_eval.cli", "score", "--task", task,
            "--predictions", str(folder / "predictions"), "--model-name", "theirs",
            "--output", str(folder / "results"), "--json", *words,
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def read_run(output: Path, card: ResultCard) -> Scored:
    """What the run of a card wrote, read as strict JSON."""
    run = output / card.run
    (scores,) = (run / "scores").glob("*.jsonl")
    return Scored(
        card=card,
        document=_strict((run / "result_card.json").read_text()),
        report=(run / "result_card.md").read_text(),
        lines={line["sample"]: line for line in _lines(scores)},
        reasons={
            line["sample"]: line.get("reason", "") for line in _lines(run / "predictions.jsonl")
        },
    )


def random_photo(height: int, width: int) -> bytes:
    """A photograph that no answer equals."""
    return picture(np.random.default_rng(7).integers(0, 255, (height, width, 3), np.uint8))


def write_file(path: Path, data: bytes) -> None:
    """Writes a file, with the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _lines(path: Path) -> Sequence[dict[str, Any]]:
    return [_strict(line) for line in path.read_text().splitlines()]


def _strict(text: str) -> Any:
    """JSON without NaN and infinity."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(token: str) -> Any:
    raise AssertionError(f"{token} is no JSON")
