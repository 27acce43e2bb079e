"""What is wrong with a task card beyond its schema: protocols, prompts, components, options."""

from __future__ import annotations

import re

from msgspec.structs import replace

from vgen_eval.cards.checking import Checker, message_of, values_of
from vgen_eval.cards.problems import did_you_mean, join, join_index
from vgen_eval.cards.protocols import missing_parts
from vgen_eval.cards.records import AnswerCard, JudgeCard, ProtocolCard, TaskCard
from vgen_eval.errors import UsageError, VgenEvalError
from vgen_eval.prompting import placeholders
from vgen_eval.types import NoOptions, Value

__all__ = ["check_protocol", "check_task", "primary_values"]

SKIP = "skip"
_PROTOCOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_task(checker: Checker, card: TaskCard) -> None:
    """Note every fault of a task card."""
    data = card.dataset
    checker.refuse_blank(
        ("dataset.licence", data.licence),
        ("dataset.source", data.source),
        ("dataset.citation", data.citation),
    )
    checker.component("dataset", data.reader, "dataset.reader", data.options, "dataset.options")
    if not card.protocols:
        checker.add("protocols", "must not be empty")
    elif card.default_protocol not in card.protocols:
        hint = did_you_mean(card.default_protocol, card.protocols)
        checker.add("default_protocol", f"no protocol {card.default_protocol!r}{hint}")
    for name, body in card.protocols.items():
        path = join("protocols", name)
        if not _PROTOCOL_NAME.fullmatch(name):
            checker.add(
                path, "a protocol's name holds letters, digits, dots, - and _ only, 100 at most"
            )
        check_protocol(checker, card, body, path)


def check_protocol(checker: Checker, card: TaskCard, body: ProtocolCard, path: str) -> None:
    """Note every fault of one protocol of a task."""
    _check_data_part(checker, card, body, path)
    _check_protocol(checker, body, path)


def _check_data_part(checker: Checker, card: TaskCard, body: ProtocolCard, path: str) -> None:
    """Note options of the reader that it does not take beside those of the data set."""
    reader = checker.look_up("dataset", card.dataset.reader)
    if body.data.options and not isinstance(reader, Exception):
        at = join(join(path, "data"), "options")
        options = {**card.dataset.options, **body.data.options}
        checker.check_options(getattr(reader, "Options", NoOptions), options, at)


def _check_protocol(checker: Checker, body: ProtocolCard, path: str) -> None:
    """Note the faults of one protocol; what it has from the one it extends is told there."""
    for key in missing_parts(body):
        checker.add(join(path, key), "is needed to run this protocol")
    own = {key for key in body.__struct_fields__ if join(path, key) in checker.parsed.lines}
    if "input" in own and body.input.size is not None and body.input.long_side is not None:
        checker.add(join(path, "input"), "size and long_side: one of them says how large")
    if "answers" in own:
        _check_answers(checker, body.answers, join(path, "answers"))
    if "calibration" in own and body.calibration is not None and not _calibrates(checker, body):
        checker.add(join(path, "calibration"), "no decoder of the protocol can be calibrated")
    if "metrics" in own:
        for index, metric in enumerate(body.metrics):
            at = join_index(join(path, "metrics"), index)
            checker.component(
                "metric", metric.name, join(at, "name"), metric.options, join(at, "options")
            )
    if own & {"metrics", "primary", "select_by"}:
        _check_values(checker, body, path)
    if own & {"failure_value", "failure_options"} and body.failure_value:
        _check_failure_value(checker, body, path)
    _check_kinds(checker, body, path)


def _calibrates(checker: Checker, body: ProtocolCard) -> bool:
    found = [checker.look_up("decoder", a.decoder or a.form) for a in body.answers]
    return not body.answers or any(hasattr(decoder, "calibrate") for decoder in found)


def _check_kinds(checker: Checker, body: ProtocolCard, path: str) -> None:
    """Note a metric about another kind of thing than what the decoders give."""
    parts = [
        ("decoder", answer.decoder or answer.form)
        if answer.judge is None
        else ("judge", answer.judge.name)
        for answer in body.answers
    ]
    parts += [("decoder", body.failure_value)] if body.failure_value not in ("", SKIP) else []
    given = {name: getattr(checker.look_up(kind, name), "measures", None) for kind, name in parts}
    for index, metric in enumerate(body.metrics):
        taken = getattr(checker.look_up("metric", metric.name), "measures", None)
        for name, kind in given.items():
            if taken and kind and kind != taken:
                checker.add(
                    join_index(join(path, "metrics"), index),
                    f"{metric.name!r} is about a {taken}, {name!r} about a {kind}",
                )


def _check_answers(checker: Checker, answers: tuple[AnswerCard, ...], path: str) -> None:
    """Note answer forms that stand twice, and the faults of each."""
    seen: set[str] = set()
    for index, answer in enumerate(answers):
        at = join_index(path, index)
        if answer.form in seen:
            checker.add(join(at, "form"), f"the form {answer.form!r} stands twice")
        seen.add(answer.form)
        for variant, text in answer.prompt.items():
            try:
                placeholders(text)
            except ValueError as exc:
                checker.add(join(join(at, "prompt"), variant), str(exc))
        if len(set(answer.choices)) < len(answer.choices):
            checker.add(join(at, "choices"), "a word stands twice")
        _check_codec(checker, answer, at)
        if answer.judge is not None:
            _check_judge(checker, answer.judge, join(at, "judge"))


def _check_judge(checker: Checker, judge: JudgeCard, path: str) -> None:
    """Note a way of judging, or a model for it, that does not exist."""
    at = join(path, "name")
    checker.component("judge", judge.name, at, judge.options, join(path, "options"))
    try:
        checker.catalog.find("model", judge.model, home=checker.home)
    except VgenEvalError as exc:
        checker.add(join(path, "model"), message_of(exc))


def _check_codec(checker: Checker, answer: AnswerCard, path: str) -> None:
    """Note a decoder or encoder that does not exist or does not take its options."""
    decoder = checker.component(
        "decoder",
        answer.decoder or answer.form,
        join(path, "decoder" if answer.decoder else "form"),
        answer.options,
        join(path, "options"),
    )
    unnamed = answer.encoder is None
    implied = f"{checker.home}:{answer.form}"
    if unnamed and isinstance(checker.look_up("encoder", implied), UsageError):
        # a form without an encoder has no ceiling, which is no fault of the card
        if answer.encoder_options:
            checker.add(
                join(path, "encoder_options"), f"there is no encoder {answer.form!r} to take them"
            )
        return
    encoder = checker.look_up("encoder", answer.encoder or implied)
    options, at = answer.encoder_options, "encoder_options"
    if not options and getattr(encoder, "Options", None) is getattr(decoder, "Options", NoOptions):
        options, at = answer.options, "options"  # told of the decoder already, if they are at fault
        if checker.has_problem(join(path, at)):
            return
    checker.component(
        "encoder",
        answer.encoder or implied,
        join(path, "form" if unnamed else "encoder"),
        options,
        join(path, at),
    )


def primary_values(checker: Checker, body: ProtocolCard) -> list[Value]:
    """The values that the primary may mean: one, unless the protocol is at fault."""
    return [value for _, value in _all_values(checker, body) if value.name == body.primary]


def _all_values(checker: Checker, body: ProtocolCard) -> list[tuple[int, Value]]:
    """What the metrics report, labels before the names, each with its metric's place."""
    values = []
    for index, metric in enumerate(body.metrics):
        prefix = f"{metric.label}." if metric.label else ""
        for value in values_of(checker.look_up("metric", metric.name)):
            labelled = replace(value, name=prefix + value.name, of=prefix + value.of)
            values.append((index, labelled))
    return values


def _check_values(checker: Checker, body: ProtocolCard, path: str) -> None:
    """Note a value that two metrics report, and a primary that none does."""
    if any(isinstance(checker.look_up("metric", m.name), Exception) for m in body.metrics):
        return  # what the missing metric reports is not known
    values = _all_values(checker, body)
    owners: dict[str, int] = {}
    told: set[int] = set()
    for index, value in values:
        taken = [key for key in (value.name, value.of) if owners.setdefault(key, index) != index]
        if taken and index not in told:
            told.add(index)
            at = join_index(join(path, "metrics"), index)
            checker.add(at, f"two metrics report {taken[0]!r}: give one of them a label")
    known = [value.name for _, value in values]
    for key, name in (("primary", body.primary), ("select_by", body.select_by)):
        if name and name not in known:
            checker.add(
                join(path, key),
                f"{name!r} is no value of the metrics; they report: {', '.join(known) or 'none'}",
            )


def _check_failure_value(checker: Checker, body: ProtocolCard, path: str) -> None:
    """Note a failure value that is neither `skip` nor a decoder that takes its options."""
    if body.failure_value == SKIP:
        if body.failure_options:
            checker.add(join(path, "failure_options"), "skip takes no options")
        return
    checker.component(
        "decoder",
        body.failure_value,
        join(path, "failure_value"),
        body.failure_options,
        join(path, "failure_options"),
    )
