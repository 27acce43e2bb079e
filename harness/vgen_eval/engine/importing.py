"""Predictions that another program made, as a model: read, checked, run through the one path."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.adapters import BaseAdapter
from vgen_eval.answers import unpack
from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.evaluate import Reporter, Results, run_plan
from vgen_eval.engine.models import Model
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.pipeline import Stop
from vgen_eval.engine.plan import make_plan
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.tasks import open_task
from vgen_eval.errors import MissingData, NoPrediction, Undecodable, UsageError
from vgen_eval.types import AnswerForm, NoOptions, Output, Request

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Predictions", "import_predictions", "read_predictions"]

log = logging.getLogger(__name__)

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")
IMPORTED = "predictions"
"""What stands for their distribution: a name of theirs is never an installed model's."""
_SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "image": PICTURES,
    "text": (".txt",),
    "video": (".mp4", ".webm"),
}
_ARRAYS = (".npy",)
MAX_ATTEMPTS = 1000
_INLINE: tuple[AnswerForm, ...] = ("text", "points", "choice")


class _Entry(msgspec.Struct, frozen=True):
    """One prediction: a value, or a file to read when its turn comes."""

    digest: str
    value: Any = None
    file: Path | None = None


class Predictions(msgspec.Struct, frozen=True):
    """What was found: predictions by sample and attempt, and ids that no sample has."""

    form: AnswerForm
    entries: Mapping[tuple[str, int], _Entry]
    unknown: tuple[str, ...]

    @property
    def attempts(self) -> int:
        """Attempts of the sample that has most."""
        return 1 + max((attempt for _, attempt in self.entries), default=0)

    @property
    def digest(self) -> str:
        """Equal for equal predictions, wherever they lie."""
        return jsonio.digest(
            [[key[0], key[1], self.entries[key].digest] for key in sorted(self.entries)]
        )


class PredictionsAdapter(BaseAdapter):
    """Answers from what was read; NoPrediction for what is not there."""

    def __init__(self, predictions: Predictions) -> None:
        super().__init__(NoOptions())
        self._predictions = predictions

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """The stored answer of each request."""
        for request in requests:
            entry = self._predictions.entries.get((request.sample, request.attempt))
            if entry is None:
                raise NoPrediction("no prediction for this sample")
            source = None if entry.file is None else entry.file.name
            yield Output(id=request.id, answer=self._read(entry), source=source)

    def _read(self, entry: _Entry) -> Any:
        if entry.file is None:
            return entry.value
        data = entry.file.read_bytes()
        if entry.file.suffix in _ARRAYS:
            # a file that does not load is an answer of the wrong kind, no fault of the machine
            try:
                return unpack(self._predictions.form, data=data)
            except Undecodable as exc:
                log.warning("%s: %s", entry.file, exc.what)
                return data
        return data.decode("utf-8", "replace") if entry.file.suffix == ".txt" else data


def import_predictions(
    *,
    task: str,
    predictions: Path,
    model_name: str,
    catalog: Catalog,
    output: str = "results",
    answer: str | None = None,
    data_root: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    workers: int | None = None,
    reporter: Reporter | None = None,
    stop: Stop | None = None,
) -> Results:
    """Scores predictions from files as a run of a model of that name.

    Raises UsageError for what cannot be read, an id that stands twice with different answers
    among them, and MissingData when no prediction is of the task.
    """
    overrides = dict(overrides or {})
    refs = list(expand_tasks([task], catalog, notices=[]))
    if len(refs) > 1:
        raise UsageError(f"predictions are of one task, '{task}' means {len(refs)}")
    (ref,) = refs
    protocol_overrides = {
        k.removeprefix("protocol."): v for k, v in overrides.items() if k.startswith("protocol.")
    }
    opened = open_task(ref, catalog, overrides=protocol_overrides, data_root=data_root)
    forms = [entry.form for entry in opened.protocol.answers]
    known = {item.id for item in opened.items}
    found = read_predictions(predictions, forms=forms, known=known, answer=answer)
    if not found.entries:
        raise MissingData(
            f"no_predictions_matched: nothing in {predictions} is of {ref.label}"
            + (f" (found '{found.unknown[0]}', ...)" if found.unknown else ""),
            cure="files are named <sample id>.png; JSONL lines hold id and output",
        )
    settings = Settings(
        tasks=(task,),
        answer=found.form,
        attempts=found.attempts,
        output=output,
        data_root=data_root,
        set=overrides,
        workers=workers,
    )
    plan = make_plan(settings, catalog, [_model(model_name, found)])
    return run_plan(
        plan, settings, catalog, reporter=reporter, stop=stop, unknown_ids=found.unknown
    )


def _model(name: str, found: Predictions) -> Model:
    card = cards.convert(
        ModelCard,
        {
            "model": name,
            "title": "Predictions made by another program",
            "adapter": "predictions",
            "answers": [found.form],
            "options": {"sha256": found.digest},
            "licence": "unknown",
        },
        file="--model-name",
    )
    return Model(
        name=card.model,
        distribution=IMPORTED,
        card=card,
        adapter="predictions",
        adapter_version="1",
        build=lambda _device: PredictionsAdapter(found),
        card_digest=cards.card_digest(card),
        reusable=False,
    )


def read_predictions(
    path: Path,
    *,
    forms: Sequence[AnswerForm],
    known: set[str],
    answer: str | None = None,
) -> Predictions:
    """The predictions in a JSONL file, a folder of JSONL shards, or a folder of files.

    `forms`: the answer forms of the protocol, best first; `known`: the task's sample ids. An
    exact duplicate counts once; two different answers to one attempt are an error.
    """
    if answer is not None and answer not in forms:
        raise UsageError(f"the protocol takes no {answer} (only {', '.join(forms)})")
    if path.is_file():
        shards = [path]
    elif path.is_dir():
        shards = sorted(path.glob("*.jsonl"))
    else:
        raise MissingData(f"no predictions: {path} does not exist")
    chosen: list[AnswerForm] = [form for form in forms if answer in (None, form)]
    pairs: Iterator[_Found]
    if shards:
        form = next((form for form in chosen if form in _INLINE), chosen[0])
        pairs = (pair for shard in shards for pair in _read_jsonl(shard, form))
    else:
        form = next((form for form in chosen if form not in _INLINE), chosen[0])
        pairs = _read_folder(path, form, known)
    entries: dict[tuple[str, int], _Entry] = {}
    twice: list[str] = []
    unknown: dict[str, None] = {}
    for where, sample, attempt, entry in pairs:
        if attempt >= MAX_ATTEMPTS and sample in known:
            raise UsageError(f"{where}: attempt {attempt} of '{sample}': {MAX_ATTEMPTS} at most")
        kept = entries.setdefault((sample, attempt), entry)
        if kept is not entry and kept.digest == entry.digest:
            twice.append(sample)
        if kept.digest != entry.digest:
            raise UsageError(
                f"{where}: sample '{sample}' has two different predictions",
                cure="keep one of them, or number the attempts",
            )
        if sample not in known:
            unknown[sample] = None
    if twice:
        log.warning("%s: %d exact duplicates count once ('%s', ...)", path, len(twice), twice[0])
    return Predictions(
        form,
        {key: entry for key, entry in entries.items() if key[0] in known},
        tuple(unknown),
    )


_Found = tuple[str, str, int, _Entry]


def _read_jsonl(path: Path, form: AnswerForm) -> Iterator[_Found]:
    """Lines {"id": ..., "output": ..., "attempt": 0}; ids compare as text."""
    import jsonlines

    try:
        with path.open("rb") as file:
            reader = jsonlines.Reader(file, loads=jsonio.loads)
            for number, line in enumerate(reader.iter(type=dict, skip_empty=True), 1):
                where = f"{path}:{number}"
                sample, attempt = line.get("id"), line.get("attempt", 0)
                text = isinstance(sample, (str, int)) and not isinstance(sample, bool)
                if not text or "output" not in line:
                    raise UsageError(f"{where}: a line holds 'id' and 'output', {list(line)} seen")
                if isinstance(attempt, bool) or not isinstance(attempt, int) or attempt < 0:
                    raise UsageError(f"{where}: attempt {attempt!r} is no number from 0")
                yield where, str(sample), attempt, _jsonl_entry(path, form, line["output"], where)
    except jsonlines.InvalidLineError as exc:
        raise UsageError(
            f"{path}:{exc.lineno}: a line is an object that holds 'id' and 'output'"
            + (f": {exc.__cause__}" if exc.__cause__ else "")
        ) from exc
    except (jsonlines.Error, ValueError, OSError) as exc:
        raise UsageError(f"{path}: {exc}") from exc


def _jsonl_entry(path: Path, form: AnswerForm, output: Any, where: str) -> _Entry:
    if form in _INLINE:
        if form == "text" and isinstance(output, (int, float)) and not isinstance(output, bool):
            output = repr(output)
        return _Entry(jsonio.digest(output), value=output)
    if not isinstance(output, str):
        return _Entry(jsonio.digest(output), value=None)
    folder = path.parent.resolve()
    file = (folder / output).resolve()
    if not file.is_relative_to(folder):
        raise UsageError(f"{where}: '{output}' leads out of {folder}")
    if not file.is_file():
        raise UsageError(f"{where}: no file '{output}': answers of form {form} are files")
    return _file_entry(file)


def _read_folder(folder: Path, form: AnswerForm, known: set[str]) -> Iterator[_Found]:
    """Files <id>.png or <id>.<attempt>.png; an id with slashes is a path of folders."""
    root = folder.resolve()
    suffixes = _SUFFIXES.get(form, _ARRAYS)
    for file in sorted(root.rglob("*")):
        if file.suffix.lower() not in suffixes or not file.is_file():
            continue
        if not file.resolve().is_relative_to(root):
            raise UsageError(f"{file}: leads out of {root}")
        name = file.relative_to(root).with_suffix("").as_posix()
        sample, attempt = name, 0
        stem, dot, number = name.rpartition(".")
        if name not in known and stem in known and dot and number.isdecimal():
            sample, attempt = stem, int(number)
        yield str(file), sample, attempt, _file_entry(file)


def _file_entry(file: Path) -> _Entry:
    return _Entry(hashlib.sha256(file.read_bytes()).hexdigest(), file=file)
