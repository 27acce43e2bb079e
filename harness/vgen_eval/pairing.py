"""Pairs a protocol with a model: the first answer form that both know."""

from __future__ import annotations

from vgen_eval.cards.records import AnswerCard, ModelCard, ProtocolCard

__all__ = ["DEFAULT_VARIANT", "Unpaired", "pair", "pick_variant"]

DEFAULT_VARIANT = "mid"


class Unpaired(Exception):
    """A task and a model that do not fit; the message says why."""


def pair(protocol: ProtocolCard, model: ModelCard, *, form: str | None = None) -> AnswerCard:
    """The protocol's first answer whose form the model gives, or the one named `form`."""
    accepted = {answer.form: answer for answer in protocol.answers}
    if form is not None:
        for side, forms in (("protocol takes", tuple(accepted)), ("model gives", model.answers)):
            if form not in forms:
                raise Unpaired(f"{side} no {form} (only {', '.join(forms)})")
    for answer in protocol.answers:
        if answer.form in model.answers and form in (None, answer.form):
            return answer
    raise Unpaired(
        f"model gives {', '.join(model.answers)}; the protocol takes {', '.join(accepted)}"
    )


def pick_variant(answer: AnswerCard, variant: str | None) -> tuple[str | None, str]:
    """Name and text of the prompt variant: the one named, else `mid`, else the first.

    (None, "") for an answer form that needs no prompt.
    """
    if variant is not None:
        if variant in answer.prompt:
            return variant, answer.prompt[variant]
        have = ", ".join(answer.prompt) or "none"
        raise Unpaired(f"no prompt variant '{variant}' for {answer.form} (there is: {have})")
    if not answer.prompt:
        return None, ""
    name = DEFAULT_VARIANT if DEFAULT_VARIANT in answer.prompt else next(iter(answer.prompt))
    return name, answer.prompt[name]
