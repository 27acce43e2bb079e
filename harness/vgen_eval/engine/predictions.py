"""Finds the predictions in a folder or in JSONL lines: each once, by sample and attempt."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.answers import INLINE
from vgen_eval.engine.prediction_files import FileRules
from vgen_eval.errors import MissingData, UsageError
from vgen_eval.types import AnswerForm

__all__ = ["Entry", "Predictions", "read_predictions"]

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 1000


class Entry(msgspec.Struct, frozen=True):
    """One prediction: a value, or a file to read when its turn comes."""

    digest: str
    value: Any = None
    file: Path | None = None


class Predictions(msgspec.Struct, frozen=True):
    """What was found: predictions by sample and attempt, and ids that no sample has."""

    form: AnswerForm
    rules: FileRules
    entries: Mapping[tuple[str, int], Entry]
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


def read_predictions(path: Path, *, rules: FileRules, known: set[str]) -> Predictions:
    """The predictions in a JSONL file, a folder of JSONL shards, or a folder of files.

    `known`: the task's sample ids. An exact duplicate counts once; two different answers to one
    attempt are an error.
    """
    if path.is_file():
        shards = [path]
    elif path.is_dir():
        shards = sorted(path.glob("*.jsonl"))
    else:
        raise MissingData(f"no predictions: {path} does not exist")
    if shards:
        lines = [line for shard in shards for line in _read_jsonl(shard)]
        form, pairs = _take_lines(lines, rules, path)
    else:
        files = _list_files(path)
        form = rules.choose(files, path)
        pairs = _take_files(path, files, rules.suffixes(form), known)
    entries: dict[tuple[str, int], Entry] = {}
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
    matched = {key: entry for key, entry in entries.items() if key[0] in known}
    rules.check_extras(form, [entry.file for entry in matched.values() if entry.file])
    return Predictions(form, rules, matched, tuple(unknown))


class _Line(msgspec.Struct, frozen=True):
    """A line of a JSONL file."""

    where: str
    shard: Path
    sample: str
    attempt: int
    output: Any


_Found = tuple[str, str, int, Entry]


def _read_jsonl(path: Path) -> Iterator[_Line]:
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
                yield _Line(where, path, str(sample), attempt, line["output"])
    except jsonlines.InvalidLineError as exc:
        raise UsageError(
            f"{path}:{exc.lineno}: a line is an object that holds 'id' and 'output'"
            + (f": {exc.__cause__}" if exc.__cause__ else "")
        ) from exc
    except (jsonlines.Error, ValueError, OSError) as exc:
        raise UsageError(f"{path}: {exc}") from exc


def _take_lines(
    lines: Sequence[_Line], rules: FileRules, path: Path
) -> tuple[AnswerForm, Iterator[_Found]]:
    """The form of these lines, and what each holds: a value, or a file that it names."""
    inline = [form for form in rules.forms if form in INLINE]
    if inline:
        form = inline[0]
        entries = ((line, _value_entry(form, line.output)) for line in lines)
        return form, ((line.where, line.sample, line.attempt, entry) for line, entry in entries)
    files = [_named_file(line, rules.forms[0]) for line in lines]
    named = [file for file in files if file is not None]
    form = rules.choose(named, path) if named and len(rules.forms) > 1 else rules.forms[0]
    return form, (
        (line.where, line.sample, line.attempt, _file_entry(file) if file else _no_file(line))
        for line, file in zip(lines, files, strict=True)
    )


def _value_entry(form: AnswerForm, output: Any) -> Entry:
    if form == "text" and isinstance(output, (int, float)) and not isinstance(output, bool):
        output = repr(output)
    return Entry(jsonio.digest(output), value=output)


def _no_file(line: _Line) -> Entry:
    return Entry(jsonio.digest(line.output), value=line.output)


def _named_file(line: _Line, form: AnswerForm) -> Path | None:
    """The file that a line names, below the folder of its own file; None when it names none."""
    if not isinstance(line.output, str):
        return None
    folder = line.shard.parent.resolve()
    file = (folder / line.output).resolve()
    if not file.is_relative_to(folder):
        raise UsageError(f"{line.where}: '{line.output}' leads out of {folder}")
    if not file.is_file():
        raise UsageError(f"{line.where}: no file '{line.output}': answers of form {form} are files")
    return file


def _list_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*")) if file.is_file()]


def _take_files(
    folder: Path, files: Sequence[Path], suffixes: Sequence[str], known: set[str]
) -> Iterator[_Found]:
    """Files <id>.png or <id>.<attempt>.png; an id with slashes is a path of folders."""
    root = folder.resolve()
    for file in files:
        if file.suffix.lower() not in suffixes:
            continue
        if not file.resolve().is_relative_to(root):
            raise UsageError(f"{file}: leads out of {root}")
        name = file.relative_to(folder).with_suffix("").as_posix()
        sample, attempt = name, 0
        stem, dot, number = name.rpartition(".")
        if name not in known and stem in known and dot and number.isdecimal():
            sample, attempt = stem, int(number)
        yield str(file), sample, attempt, _file_entry(file)


def _file_entry(file: Path) -> Entry:
    try:
        with file.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as exc:  # its sample's fault, told when its turn comes
        digest = jsonio.digest(f"{file.name}: {type(exc).__name__}")
    return Entry(digest, file=file)
