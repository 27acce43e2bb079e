"""Building every part that a plugin's protocols name, with the options of the card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.cards.records import ProtocolCard
from vgen_eval.errors import NotRunnable, VgenEvalError
from vgen_eval.testing.outcome import tell

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Fault", "build_parts"]

SKIP = "skip"


class Fault(msgspec.Struct, frozen=True):
    """A part that cannot be built."""

    what: str
    cause: BaseException | None = None


def build_parts(body: ProtocolCard, catalog: Catalog, *, home: str) -> Iterator[Fault]:
    """The faults of decoders, encoders, judges, failure value and metrics of a protocol.

    What is not there, cannot be imported or gets wrong options is told by other checks.
    """
    for answer in body.answers:
        name = answer.decoder or answer.form
        decoder = yield from _build(catalog, home, "decoder", name, answer.options)
        encoder = answer.encoder or f"{home}:{answer.form}"
        options = answer.encoder_options
        if not options and _options_of(catalog, home, encoder) is getattr(decoder, "Options", None):
            options = answer.options
        yield from _build(catalog, home, "encoder", encoder, options)
        if answer.judge is not None:
            judge = yield from _build(
                catalog, home, "judge", answer.judge.name, answer.judge.options
            )
            yield from _fault_of_prompts(answer.judge.name, judge)
    if body.failure_value not in ("", SKIP):
        yield from _build(catalog, home, "decoder", body.failure_value, body.failure_options)
    for card in body.metrics:
        yield from _build(catalog, home, "metric", card.name, card.options)


def _fault_of_prompts(name: str, judge: Any) -> Iterator[Fault]:
    """Why a judge cannot say its prompts, whose digest stands in result cards."""
    try:
        prompts = None if judge is None else judge.prompts()
    except Exception as exc:
        yield Fault(f"judge '{name}': prompts() raised {tell(exc)}", exc)
        return
    if prompts is not None and not all(isinstance(text, str) for text in dict(prompts).values()):
        yield Fault(f"judge '{name}': prompts() gives name -> text")


def _options_of(catalog: Catalog, home: str, encoder: str) -> Any:
    try:
        return catalog.component("encoder", encoder, home=home).obj.Options
    except VgenEvalError:
        return None


def _build(catalog: Catalog, home: str, kind: str, name: str, options: Mapping[str, Any]) -> Any:
    """The part, or None; a generator of the faults that building it raises."""
    try:
        component = catalog.component(kind, name, home=home)
        read = cards.convert(component.obj.Options, options, file=name)
    except VgenEvalError:
        return None
    try:
        return component.obj(read)
    except KeyboardInterrupt:
        raise
    except NotRunnable:  # an extra that is not here is no fault
        return None
    except BaseException as exc:
        yield Fault(f"{kind} '{component.name}' cannot be built: {tell(exc)}", exc)
    return None
