"""From the words of the command line and a config file to `Settings`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import CardError, UsageError

if TYPE_CHECKING:
    from vgen_eval.engine.settings import Settings

__all__ = ["build_settings", "read_pairs", "read_samples", "split_commas"]

_LISTS = ("tasks", "models", "prompt", "retry_failed", "allow_host")
_FOLDERS = ("output", "data_root")
_PAIRS = {"model_args": "--model-args", "set": "--set"}
_OPENING, _CLOSING = "[{", "]}"


def build_settings(given: Mapping[str, Any], config: str | None) -> Settings:
    """The settings that these options mean; what the command line says wins over the file.

    given: field of `Settings` -> the option's value as click read it, None or () when not given.
    UsageError with the option, or the file and line, of the first problem.
    """
    from vgen_eval.cards import convert
    from vgen_eval.engine.settings import Settings

    asked = _read_given(given)
    merged = _read_config(Path(config).expanduser()) if config else {}
    for key, value in asked.items():
        if key in _PAIRS:
            merged[key] = {**merged.get(key, {}), **value}
        else:
            merged[key] = value
    try:
        return convert(Settings, merged, file="options")
    except CardError as exc:
        problem = exc.problems[0]
        field = problem.path.partition("[")[0].partition(".")[0]
        raise UsageError(f"{_option_of(field)}: {problem.message}") from exc


def _option_of(field: str) -> str:
    if field == "models":
        return "--model"
    return _PAIRS.get(field, f"--{field.replace('_', '-')}")


def _read_given(given: Mapping[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    for key, value in given.items():
        if value is None or value == ():
            continue
        if key in _PAIRS:
            asked[key] = read_pairs(value, option=_PAIRS[key])
        elif key == "samples":
            asked[key] = list(read_samples(value))
            if not asked[key]:
                raise UsageError("--samples names no sample")
        elif key in _FOLDERS:
            if not value or value.startswith("--"):
                raise UsageError(f"{_option_of(key)}: '{value}' is no folder")
            asked[key] = str(Path(value).expanduser())
        elif key in _LISTS:
            words = [value] if isinstance(value, str) else value
            asked[key] = [part for word in words for part in split_commas(word) if part]
        else:
            asked[key] = value
    return asked


def _read_config(path: Path) -> dict[str, Any]:
    """The fields of `Settings` that a YAML file gives."""
    from vgen_eval.cards.problems import Problems
    from vgen_eval.cards.walk import walk_record
    from vgen_eval.cards.yaml_nodes import compose, read_text
    from vgen_eval.cli.faults import as_usage
    from vgen_eval.engine.settings import Settings

    problems = Problems(str(path))
    try:
        root, _ = compose(read_text(path), problems)
        found = walk_record(Settings, root, problems)
        problems.check()
    except CardError as exc:
        raise as_usage(exc) from exc
    return dict(found)


def read_samples(words: Iterable[str]) -> Iterator[str]:
    """Ids, from comma lists and from files with one a line."""
    for word in words:
        if not word.startswith("@"):
            yield from filter(None, split_commas(word))
            continue
        try:
            text = Path(word[1:]).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            why = (exc.strerror if isinstance(exc, OSError) else None) or exc
            raise UsageError(
                f"--samples {word}: cannot be read: {why}",
                cure="@FILE is a text file, one id a line",
            ) from exc
        yield from filter(None, map(str.strip, text.splitlines()))


def read_pairs(words: Sequence[str], *, option: str) -> dict[str, Any]:
    """The settings that KEY=VALUE words spell, values read as in a card.

    One word may hold several with commas between when each part has a `=`; a comma within
    brackets or quotes parts nothing.
    """
    from vgen_eval.cards import parse_setting

    found: dict[str, Any] = {}
    for word in words:
        parts = split_commas(word)
        for part in parts if all("=" in part for part in parts) else [word]:
            try:
                key, value = parse_setting(part)
            except UsageError as exc:
                raise UsageError(f"{option} {exc.what}", cure=exc.cure) from exc
            if key in found:
                raise UsageError(f"{option}: '{key}' is given twice")
            found[key] = value
    return found


def split_commas(text: str) -> list[str]:
    """The parts between commas that stand outside of brackets and quotes, stripped."""
    parts, start, depth, quote = [], 0, 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (at == start or text[at - 1] in "=[{, "):
            quote = char  # a quote within a word, as in it's, opens nothing
        elif char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth = max(depth - 1, 0)
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]
