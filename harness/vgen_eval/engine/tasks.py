"""Tasks as a run needs them: protocol, data, decoder, encoder, metrics."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.answers import clean
from vgen_eval.cards.records import AnswerCard, MetricCard, ProtocolCard
from vgen_eval.distributions import home_of
from vgen_eval.engine.naming import TaskRef
from vgen_eval.errors import (
    BrokenPlugin,
    CardError,
    MissingData,
    NotRunnable,
    Problem,
    StorageError,
    UsageError,
    nearest,
)
from vgen_eval.judging import Judge
from vgen_eval.types import Dataset, Decoder, Encoder, Item, Metric, NoOptions, Value
from vgen_eval.wording import describe, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Component

__all__ = ["Codec", "NamedMetric", "Task", "open_recorded", "open_root", "open_task"]

SKIP = "skip"
Thing = TypeVar("Thing")


class NamedMetric(msgspec.Struct, frozen=True):
    """A metric of a protocol, under the name that tells it from the others there."""

    key: str
    """Its label, or its name."""
    prefix: str
    metric: Metric
    info: Mapping[str, Any]
    """Qualified name, version and options."""

    @property
    def values(self) -> tuple[Value, ...]:
        """What it reports, names and keys with the label before them."""
        return tuple(
            msgspec.structs.replace(v, name=self.prefix + v.name, of=self.prefix + v.of)
            for v in self.metric.values
        )


class Codec(msgspec.Struct, frozen=True, kw_only=True):
    """How one answer form is read and written under a protocol."""

    answer: AnswerCard
    decoder: Decoder
    encoder: Encoder | None
    info: Mapping[str, Any]
    """Qualified names, versions and options, for identities and the result card."""
    judge: Judge | None = None
    """Who makes a measurement of what the decoder gives; None: that is one already."""
    calibration: Mapping[str, Any] | None = None
    """What the decoder was calibrated to, and on which samples; None: it was not."""


class Task:
    """A task under one protocol, its data set opened and its components built."""

    def __init__(
        self, ref: TaskRef, protocol: ProtocolCard, dataset: Dataset, items: Sequence[Item],
        catalog: Catalog, reader: Component,
    ) -> None:  # fmt: skip
        self.ref = ref
        self.protocol = protocol
        self.dataset = dataset
        self.items = tuple(items)
        self.reader = {"name": reader.qualified, "version": reader.obj.version}
        self._catalog = catalog
        self._home = home_of(ref.distribution)
        self._codecs: dict[str, Codec] = {}
        self.metrics = tuple(self._metric(card) for card in protocol.metrics)
        self.primary = self._value("primary", protocol.primary)
        self.selector = (
            None if protocol.select_by is None else self._value("select_by", protocol.select_by)
        )
        self.failure, self.failure_info = self._failure()
        self.fingerprint = _foreign(f"dataset '{reader.qualified}'", dataset.fingerprint)

    @property
    def promised(self) -> int:
        """Samples of the protocol's part of the data, be they all here or not."""
        data, own = self.protocol.data, self.ref.card.dataset.n
        told = data.n if data.options else own
        return len(self.items) if told is None else max(told, len(self.items))

    def _build(self, kind: str, name: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
        component = self._catalog.component(kind, name, home=self._home)
        read = cards.convert(
            component.obj.Options, options, file=self.ref.name, path=f"{kind} {name}: options"
        )
        built = _foreign(f"{kind} '{component.qualified}'", lambda: component.obj(read))
        return built, component.identify(read)

    def _metric(self, card: MetricCard) -> NamedMetric:
        metric, info = self._build("metric", card.name, card.options)
        prefix = f"{card.label}." if card.label else ""
        return NamedMetric(card.label or card.name, prefix, metric, info)

    def _value(self, key: str, name: str) -> Value:
        values: dict[str, Value] = {}
        keys: set[str] = set()
        for metric in self.metrics:
            own = {value.of for value in metric.values}
            for value in metric.values:
                if value.name in values or value.of in keys:
                    self.fault(f"two metrics report '{value.name}': give one of them a label")
                values[value.name] = value
            keys |= own
        if name not in values:
            self.fault(f"{key} '{name}' is no value of its metrics.{nearest(name, values)}")
        return values[name]

    def fault(self, message: str) -> NoReturn:
        """CardError about the protocol."""
        path = f"protocols.{self.ref.protocol}"
        raise CardError([Problem(message, file=self.ref.name, path=path)])

    def _failure(self) -> tuple[Decoder | None, Any]:
        if self.protocol.failure_value == SKIP:
            return None, SKIP
        decoder, info = self._build(
            "decoder", self.protocol.failure_value, self.protocol.failure_options
        )
        self._check_kind(info["name"], decoder)
        return decoder, info

    def _check_kind(self, name: str, component: Any) -> None:
        """What a decoder gives must be what the metrics take, where both say what it is."""
        for named in self.metrics:
            given = getattr(component, "measures", None)
            taken = getattr(named.metric, "measures", None)
            if given and taken and given != taken:
                self.fault(f"'{name}' is about a {given}, metric '{named.key}' about a {taken}")

    def codec(self, answer: AnswerCard) -> Codec:
        """Decoder and encoder of an answer form, built once.

        An encoder that the card does not name is the form's in the card's own distribution:
        another's would not know its targets. A form without one has no ceiling.
        """
        if answer.form not in self._codecs:
            decoder, read = self._build("decoder", answer.decoder or answer.form, answer.options)
            judge, judging = self._judge(answer)
            if judge is None:
                self._check_kind(read["name"], decoder)
            name = answer.encoder or f"{self._home}:{answer.form}"
            try:
                options = self._encoder_options(name, answer, decoder)
                encoder, written = self._build("encoder", name, options)
            except UsageError:
                if answer.encoder is not None:
                    raise
                encoder, written = None, None
            if written is not None and judge is None:
                self._check_kind(written["name"], encoder)
            self._codecs[answer.form] = Codec(
                answer=answer,
                decoder=decoder,
                encoder=encoder,
                judge=judge,
                info={"decoder": read, "encoder": written, "judge": judging},
            )
        return self._codecs[answer.form]

    def _judge(self, answer: AnswerCard) -> tuple[Judge | None, Mapping[str, Any] | None]:
        """The way in which an answer form is judged, and what is known of it."""
        card = answer.judge
        if card is None:
            return None, None
        judge, info = self._build("judge", card.name, card.options)
        self._check_kind(info["name"], judge)
        digest = _foreign(f"judge '{info['name']}'", lambda: _digest_of_prompts(judge))
        return judge, {**info, "prompts": digest}

    def _encoder_options(self, name: str, answer: AnswerCard, decoder: Any) -> Mapping[str, Any]:
        encoder = self._catalog.component("encoder", name, home=self._home).obj
        if answer.encoder_options or encoder.Options is not type(decoder).Options:
            return answer.encoder_options
        return answer.options

    def check_files(self, items: Sequence[Item]) -> None:
        """MissingData, with the first of them, when files of these samples are not there."""
        look = getattr(self.dataset, "look", None)
        if look is None:
            return
        problems = _foreign(f"dataset '{self.reader['name']}'", lambda: look(items))
        if problems:
            more = "" if len(problems) == 1 else f" and {len(problems) - 1:,} more"
            wanted = plural(len(items), "sample")
            raise MissingData(
                f"{self.ref.name}: {problems[0]}{more}: the files of {wanted} are wanted",
                cure=f"vgen-eval data verify {self.ref.name} names them all; {_ways_on(self.ref)}",
            )

    def identity(self, codec: Codec) -> dict[str, Any]:
        """All of the task that can change a request, an answer or a score."""
        card = cards.identity(self.ref.card)
        protocol = cards.identity(self.protocol)
        return {
            "task": f"{self.ref.distribution}:{self.ref.name}",
            "version": self.ref.card.version,
            "dataset": card["dataset"],
            "data": self.fingerprint,
            "protocol": {k: v for k, v in protocol.items() if k not in ("answers", "extends")},
            "answer": {k: v for k, v in cards.identity(codec.answer).items() if k != "prompt"},
        }

    def score_digest(self, codec: Codec) -> str:
        """Digest of all that turns a kept answer into a score, component versions included."""
        return jsonio.digest(
            {
                "data": self.fingerprint,
                "reader": self.reader,
                "decoder": codec.info["decoder"],
                "failure": self.failure_info,
                "metrics": [[metric.key, metric.info] for metric in self.metrics],
                "primary": self.protocol.primary,
                **({} if codec.judge is None else {"judge": codec.info["judge"]}),
                **self._reading(codec.answer),
            }
        )[:16]

    def _reading(self, answer: AnswerCard) -> dict[str, Any]:
        """What else of the protocol changes how an answer is read, where it is not the default."""
        protocol, shown = cards.identity(self.protocol), cards.identity(answer)
        parts = {key: protocol[key] for key in ("data", "calibration") if key in protocol}
        return parts | {k: shown[k] for k in ("fit", "background", "reencode") if k in shown}


def _digest_of_prompts(judge: Judge) -> str:
    prompts = judge.prompts()
    if not isinstance(prompts, Mapping) or not all(isinstance(p, str) for p in prompts.values()):
        raise TypeError(f"prompts() gives name -> text, {type(prompts).__name__} seen")
    return jsonio.digest(dict(prompts))


def open_task(
    ref: TaskRef,
    catalog: Catalog,
    *,
    overrides: Mapping[str, Any],
    data_root: str | None,
    partial: bool = False,
) -> Task:
    """The task with its data set open; NotRunnable when the data or a plugin is missing.

    `partial`: samples are named one by one, so that the others need not be there.
    """
    protocol, reader = _open_protocol(ref, catalog, overrides)
    given, data = {**ref.card.dataset.options, **protocol.data.options}, protocol.data
    options = cards.convert(reader.obj.Options, given, file=ref.name, path="dataset.options")
    root = open_root(ref.card.dataset.root, data_root, task=ref.name)
    what = f"dataset '{reader.qualified}'"
    dataset: Dataset = _foreign(what, lambda: reader.obj(options, root=root, folder=ref.folder))
    items = _read_index(ref, dataset, what=what)
    _check_ids(ref, items)
    expected = data.n if data.options else ref.card.dataset.n
    if expected is not None and len(items) != expected and not partial:
        raise MissingData(
            f"{ref.name}: {plural(expected, 'sample')} expected, {len(items):,} found",
            cure="complete the data, or use the release that the card names "
            f"(vgen-eval data verify {ref.name}); {_ways_on(ref)}",
        )
    task = Task(ref, protocol, dataset, items, catalog, reader)
    _check_kind_of_data(task, overrides)
    return task


def open_recorded(
    ref: TaskRef,
    catalog: Catalog,
    *,
    overrides: Mapping[str, Any],
    items: Sequence[Item],
    fingerprint: str,
    dataset: Dataset | None = None,
) -> Task:
    """The task of samples that a run wrote down, its data set not opened: nothing can be loaded.

    `dataset`: where its samples come from all the same.
    """
    protocol, reader = _open_protocol(ref, catalog, overrides)
    given = dataset or _Recorded(items, fingerprint)
    return Task(ref, protocol, given, items, catalog, reader)


class _Recorded:
    """Samples as a run wrote them down."""

    version: ClassVar[int] = 0
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, items: Sequence[Item], fingerprint: str) -> None:
        self._items = items
        self._fingerprint = fingerprint

    def index(self) -> Sequence[Item]:
        return self._items

    def load(self, item: Item) -> NoReturn:
        raise MissingData(f"sample '{item.id}': the data was not opened")

    def fingerprint(self) -> str:
        return self._fingerprint


def _open_protocol(
    ref: TaskRef, catalog: Catalog, overrides: Mapping[str, Any]
) -> tuple[ProtocolCard, Component]:
    """The protocol with what is overridden in it, and the reader of the data."""
    protocol = cards.protocol(ref.card, ref.protocol)
    home = home_of(ref.distribution)
    if overrides:
        own, protocol = protocol, cards.override(protocol, overrides)
        cards.check_setting(ref.card, own, protocol, catalog, label=ref.label, home=home)
    return protocol, catalog.component("dataset", ref.card.dataset.reader, home=home)


def _ways_on(ref: TaskRef) -> str:
    """How to run on the part of the data that is here."""
    return f"or run on what is here: --samples ID,.. (vgen-eval data list {ref.name} --ids)"


def _read_index(ref: TaskRef, dataset: Dataset, *, what: str) -> Sequence[Item]:
    """The samples; MissingData, naming file and line, where data below the data root is damaged.

    What comes with a card is the card's: there the faults stay those of a CardError.
    """
    try:
        return _foreign(what, dataset.index)
    except CardError as exc:
        if ref.card.dataset.root is None:
            raise
        more = f" (and {len(exc.problems) - 1:,} more)" if len(exc.problems) > 1 else ""
        cure = f"mend it; vgen-eval data verify {ref.name} names every fault"
        if hasattr(dataset, "prepare"):
            cure = f"vgen-eval data prepare {ref.name} makes it anew"
        raise MissingData(f"{exc.problems[0]}{more}", cure=cure) from exc
    except MissingData as exc:  # a reader does not know the name of its task
        exc.cure = exc.cure and exc.cure.replace(" TASK", f" {ref.name}")
        raise


def _check_kind_of_data(task: Task, overrides: Mapping[str, Any]) -> None:
    """The truth must be what the metrics take, where both say what it is."""
    held = getattr(task.dataset, "measures", None)
    for named in task.metrics:
        taken = getattr(named.metric, "measures", None)
        if not held or not taken or held == taken:
            continue
        told = f"the truth of the data is then {held}, metric '{named.key}' measures {taken}"
        for key, value in overrides.items():
            if key.partition(".")[0] == "data":
                raise UsageError(
                    f"{task.ref.label}: protocol.{key}={value}: {told}",
                    cure="leave it out, or run a task of that kind (vgen-eval list tasks)",
                )
        task.fault(told.replace("is then", "is"))


def _foreign(what: str, action: Callable[[], Thing]) -> Thing:
    """The action's result; what a plugin's code raises in it, SystemExit too, names the plugin."""
    try:
        return action()
    except (CardError, NotRunnable, StorageError, UsageError, KeyboardInterrupt):
        raise
    except BaseException as exc:
        raise BrokenPlugin(f"{what}: {describe(exc)}", cure="vgen-eval list plugins") from exc


def open_root(below: str | None, data_root: str | None, *, task: str = "TASK") -> Path | None:
    """The folder of a task's data, None for data that a package ships; MissingData without it."""
    if below is None:
        return None
    base = data_root or os.environ.get("VGEN_DATA")
    listing = f"vgen-eval data list {task} says where it comes from and how it lies"
    if not base:
        raise MissingData(
            f"data not found: {below}",
            cure=f"name the data folder: --data-root DIR or $VGEN_DATA; {listing}",
        )
    named = PurePosixPath(below)
    if named.is_absolute() or ".." in named.parts or "\\" in below:
        raise MissingData(f"data not found: '{below}' leads out of the data folder")
    root = (Path(base).expanduser() / below).resolve()  # it may be a link that the user made there
    if not root.is_dir():
        raise MissingData(
            f"data not found: {root} is no folder",
            cure=f"{listing}; --data-root DIR or $VGEN_DATA names another data folder",
        )
    return root


def _check_ids(ref: TaskRef, items: Sequence[Item]) -> None:
    seen: set[str] = set()
    for item in items:
        if not isinstance(item.id, str):
            raise NotRunnable(
                f"{ref.name}: sample id {item.id!r} is no text",
                cure="the reader must give ids as text, each once",
            )
        if not item.id.isascii() and clean(item.id) != item.id:
            raise NotRunnable(
                f"{ref.name}: sample id {item.id!a} cannot be written as UTF-8",
                cure="rename the file it comes from",
            )
        if item.id in seen:
            raise NotRunnable(f"{ref.name}: two samples have the id '{item.id}'")
        seen.add(item.id)
