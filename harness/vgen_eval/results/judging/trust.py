"""Whether a judge goes with people: every way of judging, over all answers and parts of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import UsageError
from vgen_eval.results.judging.beside import Beside, empty_row
from vgen_eval.results.judging.human import Human, read_human
from vgen_eval.results.judging.preferences import Settled, settle
from vgen_eval.results.judging.record import AS_MADE, Row, Trust
from vgen_eval.results.judging.replaying import NoReplay, Replayer
from vgen_eval.results.judging.settings import PRESET, Setting, arrange, presets_of
from vgen_eval.results.reading import Run
from vgen_eval.types import Value

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["check_judge"]

ROUNDS = (1, 3, 5)
"""Votes that a judge is replayed with where no others are asked for, if it had more."""
VOTES = ("rounds", "votes", "repeats")
"""What judges call the option of how often they ask."""


def check_judge(
    runs: Sequence[Run],
    human_file: Path,
    catalog: Catalog,
    *,
    value: str | None = None,
    band: float = 0.05,
    by: Sequence[str] = (),
    rounds: Sequence[int] | None = None,
    data_root: str | None = None,
    on_replay: Callable[[str], None] = lambda _: None,
) -> Trust:
    """The measures of the runs' judges beside what the file says.

    `band`: smaller differences are ties. `by`: tags, all: every tag. `rounds`: so many the judge
    is replayed with (1, 3 and 5, where it had more), and under its presets. UsageError where
    file and runs have nothing in common, or the band is no size. `on_replay` is told of each
    replay that begins.
    """
    if not (math.isfinite(band) and band >= 0):
        raise UsageError(
            f"--tie-band: {band:g} is no size of a difference",
            cure="a number from 0 on: --tie-band 0.05 for example",
        )
    human = read_human(human_file)
    settled = settle(human.preferences)
    settings, measured = arrange(runs, catalog, value=value)
    check = Beside(human, settled, measured, band, by)
    made = [
        list(check.rows(setting, AS_MADE, {id(one): one.numbers for one in setting.runs}))
        for setting in settings
    ]
    check.refuse_strangers(human_file)
    replays = _Replays(check, measured, Replayer(catalog, data_root=data_root), on_replay)
    rows: list[Row] = []
    for setting, rows_made in zip(settings, made, strict=True):
        rows += rows_made
        for name, changes in _rounds(setting, rounds):
            rows += replays.of([setting], name, changes)
    for alike in _families(settings):
        for preset in _presets_left(alike, catalog):
            rows += replays.of(alike, preset, {PRESET: preset})
    return Trust(
        task=runs[0].card.task,
        value=measured.name,
        higher_is_better=measured.higher_is_better,
        kind=human.kind,
        human=_human_facts(human_file, human, settled),
        tie_band=band if human.kind == "preferences" else None,
        categories=check.categories,
        settings=tuple(setting.facts for setting in settings),
        rows=tuple(rows),
        notes=tuple(check.notes()),
    )


class _Replays:
    """Judges replayed, each told of before."""

    def __init__(
        self, check: Beside, value: Value, replayer: Replayer, on_replay: Callable[[str], None]
    ) -> None:
        self._check = check
        self._value = value
        self._replayer = replayer
        self._on_replay = on_replay

    def of(self, settings: Sequence[Setting], name: str, changes: Mapping[str, Any]) -> list[Row]:
        """The rows of the first setting that can be replayed so; why not, where none can."""
        reasons: list[Row] = []
        for setting in settings:
            self._on_replay(f"{setting.facts.label}: {name}")
            try:
                numbers = {
                    id(one): self._replayer.numbers(one, changes, self._value, self._check.samples)
                    for one in setting.runs
                }
            except NoReplay as exc:
                reasons.append(empty_row(setting, name, str(exc)))
                continue
            return list(self._check.rows(setting, name, numbers))
        return reasons[:1]


def _rounds(
    setting: Setting, rounds: Sequence[int] | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Other numbers of votes with which a setting's judge is replayed, by their names."""
    facts = setting.facts
    if facts.judge is None:
        return
    votes = next((name for name in VOTES if name in facts.options), None)
    if rounds is not None:
        wanted: Sequence[int] = rounds
    else:
        wanted = [count for count in ROUNDS if votes and count < facts.options[votes]]
    for count in wanted:
        name = votes or VOTES[0]
        if facts.options.get(name) != count:
            yield f"{name}={count}", {name: count}


def _families(settings: Sequence[Setting]) -> list[list[Setting]]:
    """Settings that differ in the preset alone: each preset is wanted of a family once."""
    found: dict[bytes, list[Setting]] = {}
    for setting in settings:
        facts = setting.facts
        options = {key: value for key, value in facts.options.items() if key != PRESET}
        key = (facts.protocol, facts.judge, facts.version, setting.asked, options)
        found.setdefault(jsonio.canonical(key), []).append(setting)
    return list(found.values())


def _presets_left(alike: Sequence[Setting], catalog: Catalog) -> list[str]:
    """The judge's presets for which there are no runs."""
    made = {one.facts.preset for one in alike}
    return [name for name in presets_of(alike[0].runs[0].job, catalog) if name not in made]


def _human_facts(path: Path, human: Human, settled: Settled) -> dict[str, Any]:
    facts: dict[str, Any] = {"file": str(path), "sha256": human.sha256}
    if human.kind == "labels":
        return {**facts, "labels": len(human.labels)}
    counts = msgspec.structs.asdict(settled)
    pairs = counts.pop("pairs")
    return {
        **facts, "rankings": human.rankings, "ties": human.ties, **counts, "pairs": len(pairs),
    }  # fmt: skip
