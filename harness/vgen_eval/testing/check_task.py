"""Checks of a task: its index, its samples, its prompts, and what truth and blindness score."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from vgen_eval import cards, jsonio
from vgen_eval.cards.check_data import spread
from vgen_eval.cards.records import AnswerCard
from vgen_eval.engine.request import prompt_fields
from vgen_eval.errors import BadSample
from vgen_eval.imaging import Image
from vgen_eval.prompting import fill
from vgen_eval.testing.outcome import Failed, Skipped, clip
from vgen_eval.testing.task_bench import CODEC_SAMPLES, MOST_SAMPLES, TaskBench, scene_of
from vgen_eval.testing.values import best_of, same, shortfall, worse
from vgen_eval.types import Item
from vgen_eval.wording import plural

__all__ = ["Bench", "print_index"]

Bench = TaskBench
CEILING_OFF = 0.01
"""Part of the range that the encoded truth may lack."""
CEILING_OFF_FLOOR = 0.05
"""The same where the value has no range: part of the floor's distance from the best."""
_INDEX_S = 60.0
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from vgen_eval.testing.check_task import print_index; print_index(*sys.argv[2:])"
)


def check_opens(bench: Bench) -> str:
    """Is there an index?"""
    if not bench.items:
        raise Failed("the index is empty")
    for item in bench.items:
        if not isinstance(item, Item):
            raise Failed(f"index() gave {type(item).__name__}, no Item")
    return plural(len(bench.items), "sample")


def check_unique_ids(bench: Bench) -> None:
    """Is every id text, and there once?"""
    for item in bench.items:
        if not isinstance(item.id, str) or not item.id:
            raise Failed(f"sample id {item.id!r} is no text")
    name, count = Counter(item.id for item in bench.items).most_common(1)[0]
    if count > 1:
        raise Failed(f"{count} samples have the id '{name}'")


def check_count_matches(bench: Bench) -> None:
    """Does the card know how many there are?"""
    wanted = bench.card.dataset.n
    if wanted is None:
        raise Skipped("the card gives no dataset.n")
    if len(bench.items) != wanted:
        promised = plural(wanted, "sample")
        raise Failed(f"the card says {promised}, the index holds {len(bench.items)}")


def check_index_stable(bench: Bench) -> None:
    """Is the index the same each time?"""
    first = _index_digest(bench.items, bench.reader)
    if _index_digest(list(bench.reader.index()), bench.reader) != first:
        raise Failed("index() or fingerprint() differs when it is called again")
    places = json.dumps(sys.path)
    command = [sys.executable, "-c", _BOOT, places, bench.plugin.name, bench.card_name]
    for seed in ("77", "78"):  # of hashes: a short index may come in one order by chance
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_INDEX_S,
            stdin=subprocess.DEVNULL, env=os.environ | {"PYTHONHASHSEED": seed},
        )  # fmt: skip
        if done.returncode:
            raise Failed(f"another process could not read it: {clip(done.stderr.strip()[-200:])}")
        if done.stdout.split()[-1:] != [first]:
            raise Failed("index() or fingerprint() differs in another process")


def _index_digest(items: list[Item], reader: Any) -> str:
    rows = [[item.id, item.group, dict(item.tags)] for item in items]
    return jsonio.digest([rows, reader.fingerprint()])


def print_index(plugin: str, task: str) -> None:
    """Prints the digest of a task's index; the other process of `index_stable`."""
    from vgen_eval.testing.children import Spec
    from vgen_eval.testing.subjects import Subject

    subject = Subject(kind="task", label=task, name=task.partition(":")[2])
    spec = Spec(plugin=plugin, subject=subject, wanted=(), done={}, events="", printed="")
    bench = Bench(spec, None)  # type: ignore[arg-type]
    sys.stdout.write(f"\n{_index_digest(bench.items, bench.reader)}\n")


def check_loads(bench: Bench) -> str:
    """Do samples load?"""
    for item, sample in zip(spread(bench.items, MOST_SAMPLES), bench.samples, strict=True):
        if (sample.id, sample.group) != (item.id, item.group):
            raise Failed(
                f"load() of '{item.id}', group '{item.group}', gave the sample '{sample.id}', "
                f"group '{sample.group}'"
            )
    return f"{len(bench.samples)} of {len(bench.items)}"


def check_sample_pictures(bench: Bench) -> None:
    """Are its pictures pictures?"""
    for sample in bench.samples:
        for image in sample.images:
            if not isinstance(image, Image):
                raise Failed(f"sample '{sample.id}': {type(image).__name__}, no Image")
            if image.array.size == 0:
                raise Failed(f"sample '{sample.id}': a picture without pixels")


def check_load_pure(bench: Bench) -> None:
    """Is a sample the same when it is loaded again?"""
    items = {item.id: item for item in bench.items}
    for sample in spread(bench.samples, CODEC_SAMPLES):
        again = bench.reader.load(items[sample.id])
        for name in sample.__struct_fields__:
            if not same(getattr(sample, name), getattr(again, name)):
                raise Failed(f"sample '{sample.id}': its {name} differs when it is loaded again")


def _answers(bench: Bench) -> Iterator[tuple[str, AnswerCard]]:
    for name in bench.card.protocols:
        for answer in cards.protocol(bench.card, name).answers:
            yield name, answer


def check_fields_filled(bench: Bench) -> None:
    """Can every prompt be filled?"""
    for name, answer in _answers(bench):
        task = bench.task(name)
        codec = bench.codec(name, answer.form)
        for sample in bench.samples:
            scene = scene_of(sample, task.protocol.input, codec)
            fields = prompt_fields(codec.decoder, scene)
            for variant, text in answer.prompt.items():
                try:
                    fill(text, fields)
                except (BadSample, ValueError) as exc:
                    where = f"{name}, {answer.form}, {variant}, sample '{sample.id}'"
                    raise Failed(f"{where}: {exc}") from exc


def _with_ceiling(bench: Bench) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = [
        (name, answer.form)
        for name, answer in _answers(bench)
        if answer.judge is None and bench.codec(name, answer.form).encoder is not None
    ]
    if not found:
        raise Skipped("no answer form has an encoder, or a judge measures what is read of it")
    return found


def check_oracle_ceiling(bench: Bench) -> str:
    """Does the truth score as the truth should?"""
    told = []
    for name, form in _with_ceiling(bench):
        where, primary = f"{name}, {form}", bench.task(name).primary
        bench.rehearse(name, form)
        card = bench.run(name, form, "ceiling")
        if card.score().value is None:  # a correlation, or another value that few samples lack
            card = bench.run(name, form, "ceiling", whole=True)
        faults = {
            k: v for k, v in card.counts.statuses.items() if k not in ("ok", "no_valid_target")
        }
        if faults:
            raise Failed(f"{where}: of {card.counts.expected} encoded truths came {faults}")
        got, reason = card.score().value, card.score().reason
        if got is None:
            raise Failed(f"{where}: {primary.name} has no value: {reason}")
        told.append(f"{where} {got:.4g}")
        if best_of(primary) is None:
            continue
        bounded = primary.low is not None and primary.high is not None
        floor = None if bounded else bench.run(name, form, "floor").score().value
        off = shortfall(primary, got, floor=floor)
        most = CEILING_OFF if bounded else CEILING_OFF_FLOOR
        if off is not None and off > most:
            raise Failed(
                f"{where}: the encoded truth has {primary.name} {got:.4g}, "
                f"{best_of(primary):.4g} is the best"
            )
    return "; ".join(told)


def check_blind_floor(bench: Bench) -> str:
    """Does an answer that looks at nothing score worse?"""
    told = []
    for name, form in _with_ceiling(bench):
        primary = bench.task(name).primary
        ceiling = bench.run(name, form, "ceiling").score().value
        floor = bench.run(name, form, "floor").score().value
        told.append(f"{name}, {form} {'none' if floor is None else format(floor, '.4g')}")
        if floor is not None and not worse(primary, floor, ceiling):
            raise Failed(
                f"{name}, {form}: the floor has {primary.name} {floor:.4g}, the ceiling "
                f"{ceiling:.4g}"
            )
    return "; ".join(told)
