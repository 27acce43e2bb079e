"""Of runs that agree in all that a result hangs on the newest, and what the others came to."""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval.results.tables.entries import Entry
from vgen_eval.wording import plural

__all__ = ["keep_newest"]


def keep_newest(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """Of entries that agree in every fact the newest; and which runs gave way, a line each.

    Runs that agree and yet have other answers are told by name, each with its value.
    """
    fields = sorted({field for entry in entries for field in entry.facts})
    alike: dict[bytes, list[Entry]] = {}
    for entry in entries:
        alike.setdefault(entry.key(fields), []).append(entry)
    kept: list[Entry] = []
    of_runs: dict[tuple[int, ...], list[list[Entry]]] = {}
    for group in alike.values():
        newest = max(group, key=lambda entry: str(entry.run.card.volatile.get("finished", "")))
        kept.append(newest)
        if len(group) > 1:
            others = [entry for entry in group if entry is not newest]
            key = tuple(id(entry.run) for entry in (newest, *others))
            of_runs.setdefault(key, []).append([newest, *others])
    return kept, list(dict.fromkeys(map(_told, of_runs.values())))


def _told(groups: Sequence[Sequence[Entry]]) -> str:
    """What these runs agree in; of runs that differ in their answers the values, newest first."""
    runs = [entry.run for entry in groups[0]]
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [str(run.path) for run in runs]
    versions = _differing_versions(groups[0])
    in_what = f" but for versions ({versions})" if versions else " in everything"
    is_same = len({run.card.content_digest for run in runs}) == 1
    if not is_same:
        in_what = f"{in_what} and their answers" if versions else " in everything but their answers"
    told = f"{runs[0].card.model}, {runs[0].task}: {plural(len(runs), 'run')} alike{in_what}"
    if is_same:
        return f"{told}; the newest is shown, {names[0]}, not {', '.join(names[1:])}"
    differ = [group for group in groups if len({entry.score.value for entry in group}) > 1]
    first = (differ or groups)[0]
    values = [f"{_value(entry)} in {name}" for entry, name in zip(first, names, strict=True)]
    more = f"; {plural(len(differ) - 1, 'more value')} differ" if len(differ) > 1 else ""
    return f"{told}; the newest is shown, {values[0]}, not {', '.join(values[1:])}{more}"


def _value(entry: Entry) -> str:
    """ "mae 8.84615", with the subset where it is not all samples; enough digits to tell two."""
    score = entry.score
    subset = "" if score.subset == "all" else f" of {score.subset}"
    return f"{score.metric}{subset} {'-' if score.value is None else f'{score.value:.6g}'}"


def _differing_versions(group: Sequence[Entry]) -> str:
    cards = [entry.run.card for entry in group]
    names = sorted({name for card in cards for name in card.versions})
    seen = {name: {str(card.versions.get(name, "none")) for card in cards} for name in names}
    return ", ".join(
        f"{name} {' and '.join(sorted(found))}" for name, found in seen.items() if len(found) > 1
    )
