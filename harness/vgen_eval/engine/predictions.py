"""Finds the predictions in a folder or in JSONL lines: each once, by sample and attempt."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.answers import INLINE
from vgen_eval.engine.prediction_files import FileRules
from vgen_eval.engine.prediction_names import name_samples
from vgen_eval.errors import MissingData, UsageError
from vgen_eval.paths import confined
from vgen_eval.types import AnswerForm

__all__ = ["Entry", "Predictions", "read_predictions"]

log = logging.getLogger(__name__)

WANTED = "--predictions is a folder of <sample id>.png, or a JSONL file with id and output"

MAX_ATTEMPTS = 1000
_TYPES: Mapping[str, tuple[type, ...]] = {
    "text": (str, int, float),
    "choice": (dict,),
    "points": (list,),
}


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
    shards = _find_shards(path)
    if shards:
        lines = [line for shard in shards for line in _read_jsonl(shard)]
        form, pairs = _take_lines(lines, rules, path)
    else:
        files = _list_files(path)
        form = rules.choose(files, path)
        suffixes = rules.suffixes(form)
        taken = [file for file in files if file.suffix.lower() in suffixes]
        pairs = _take_files(path, name_samples(path, taken, known=known))
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
    taken = [entry.file for entry in matched.values() if entry.file]
    rules.ask_what_pictures_are(form, taken, path)
    rules.check_extras(form, taken)
    return Predictions(form, rules, matched, tuple(unknown))


def _find_shards(path: Path) -> list[Path]:
    """The JSONL files that the path means; none for a folder of other files."""
    try:
        if path.is_file():
            return [path]
        if path.is_dir():
            # a pipe of that name would be waited for
            return [shard for shard in sorted(path.glob("*.jsonl")) if shard.is_file()]
        if path.exists():
            raise UsageError(f"--predictions: {path} is a pipe, a device or a socket, no file")
    except (OSError, ValueError) as exc:  # a name that no file can have, or not ours to look at
        raise MissingData(
            f"no predictions: {getattr(exc, 'strerror', None) or exc}",
            cure=WANTED,
        ) from exc
    raise MissingData(f"no predictions: {path} does not exist", cure=WANTED)


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

    number = 0

    def counted(lines: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal number  # blank lines count: the number is an editor's
        for line in lines:
            number += 1
            yield line

    try:
        with path.open("rb") as file:
            reader = jsonlines.Reader(counted(file), loads=jsonio.loads)
            for line in reader.iter(type=dict, skip_empty=True):
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
    except OSError as exc:
        raise UsageError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    except (jsonlines.Error, ValueError) as exc:
        raise UsageError(f"{path}: {exc}") from exc


def _take_lines(
    lines: Sequence[_Line], rules: FileRules, path: Path
) -> tuple[AnswerForm, Iterator[_Found]]:
    """The form of these lines, and what each holds: a value, or a file that it names."""
    form = _inline_form(lines, rules)
    if form is not None:
        entries = ((line, _value_entry(form, line.output)) for line in lines)
        return form, ((line.where, line.sample, line.attempt, entry) for line, entry in entries)
    files = [_named_file(line, rules.forms[0]) for line in lines]
    named = [file for file in files if file is not None]
    form = rules.choose(named, path) if named and len(rules.forms) > 1 else rules.forms[0]
    return form, (
        (line.where, line.sample, line.attempt, _file_entry(file) if file else _no_file(line))
        for line, file in zip(lines, files, strict=True)
    )


def _inline_form(lines: Sequence[_Line], rules: FileRules) -> AnswerForm | None:
    """The form that the lines hold themselves, the best that all fit; None where they name files.

    A text that is the name of a file beside it is that file, where the protocol takes such.
    """
    inline = [form for form in rules.forms if form in INLINE]
    outputs = [line.output for line in lines if line.output is not None]
    files = {s for form in rules.forms if form not in INLINE for s in rules.suffixes(form)}
    if not inline or (outputs and all(_names_file(line, files) for line in lines)):
        return None
    fitting = (form for form in inline if all(isinstance(o, _TYPES[form]) for o in outputs))
    return next(fitting, inline[0])


def _names_file(line: _Line, suffixes: Collection[str]) -> bool:
    """Is its output the name of a file beside it, or nothing?"""
    if not isinstance(line.output, str):
        return line.output is None
    if Path(line.output).suffix.lower() not in suffixes:
        return False
    try:
        return (line.shard.parent / line.output).is_file()
    except (OSError, ValueError):  # a text that no file can be called
        return False


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
    try:
        file = confined(line.shard.parent, line.output)
        there = file.is_file()
    except (ValueError, OSError) as exc:
        raise UsageError(f"{line.where}: {getattr(exc, 'strerror', None) or exc}") from exc
    if not there:
        raise UsageError(f"{line.where}: no file '{line.output}': answers of form {form} are files")
    return file


def _list_files(folder: Path) -> list[Path]:
    try:
        return [file for file in sorted(folder.rglob("*")) if file.is_file()]
    except OSError as exc:  # a folder that may be listed and not entered
        raise UsageError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc


def _take_files(folder: Path, named: Iterable[tuple[Path, tuple[str, int]]]) -> Iterator[_Found]:
    """What each file holds, for its sample and attempt."""
    for file, (sample, attempt) in named:
        try:
            confined(folder, file.relative_to(folder).as_posix())
        except ValueError as exc:
            raise UsageError(f"{file}: {exc}") from exc
        yield str(file), sample, attempt, _file_entry(file)


def _file_entry(file: Path) -> Entry:
    try:
        with file.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as exc:  # its sample's fault, told when its turn comes
        digest = jsonio.digest(f"{file.name}: {type(exc).__name__}")
    return Entry(digest, file=file)
