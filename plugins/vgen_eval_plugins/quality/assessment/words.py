"""Probabilities of words -> quality: how much rather `good` follows than `poor` (Q-Bench A3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.quality.assessment.likelihoods import (
    UNLIKELY,
    Masses,
    find_fault,
    log_sum,
    subtract_means,
    weigh_sides,
)

__all__ = ["ABSENT", "INCOMPLETE", "NOT_GIVEN", "WordOptions", "WordProbability", "words_read"]

ABSENT = "answer_token_absent"
"""Reason: the words asked for hold next to nothing of the probability."""
INCOMPLETE = "incomplete_candidates"
"""Flag: a word is not listed; it stands at the least value that is, an upper bound."""
NOT_GIVEN = "words_not_given"
"""Reason: the answer says nothing of a word, not even that it is not among the likeliest."""

LARGEST = 1e100
"""Beyond it no number is a logit, and sums would overflow."""
SHOWN = 80
"""Characters of an answer's words."""

Words = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class WordOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which words, and how they become one number."""

    temperature: Annotated[
        float, msgspec.Meta(description="Logits are divided by it before the softmax.", gt=0)
    ] = 100.0
    positive: Annotated[Words, msgspec.Meta(description="Words for good quality.")] = ("good",)
    negative: Annotated[Words, msgspec.Meta(description="Words for poor quality.")] = ("poor",)
    combine: Annotated[
        Literal["mean_logit", "sum_exp"],
        msgspec.Meta(description="Several words of a side: mean of logits, or of what they weigh."),
    ] = "mean_logit"
    score: Annotated[
        Literal["softmax", "diff", "argmax"],
        msgspec.Meta(
            description="Softmax over the two sides; their plain difference; 1 where the positive "
            "side is larger, else 0."
        ),
    ] = "softmax"
    values: Annotated[
        Literal["logit", "logprob"],
        msgspec.Meta(
            description="What the answers hold. logit: numbers that say the same when all are "
            "shifted, as log-probabilities do too; logprob: log-probabilities, whose masses count."
        ),
    ] = "logit"
    least_mass: Annotated[
        float,
        msgspec.Meta(
            description="Of the probability, that the words must hold (values: logprob); 0: none.",
            ge=0,
            lt=1,
        ),
    ] = 0.0

    def __post_init__(self) -> None:
        if self.least_mass and self.values != "logprob":
            raise ValueError("least_mass is of a probability: set values: logprob, or leave it 0")
        both = set(self.positive) & set(self.negative)
        if both:
            raise ValueError(f"'{min(both)}' stands for good and for poor quality")


def words_read(decoder: tuple[str, Mapping[str, Any]] | None) -> tuple[str, ...]:
    """The words that a protocol's decoder, its name and options, reads; () of any other decoder."""
    if decoder is None or decoder[0].rpartition(":")[2] != "word_probability":
        return ()
    try:
        options = msgspec.convert(dict(decoder[1]), WordOptions)
    except msgspec.ValidationError:  # told of the card, where its decoder is built
        return ()
    return (*options.positive, *options.negative)


class WordProbability:
    """choice -> quality: softmax over the logits of two sides of words, divided by a temperature.

    Q-Bench (arXiv 2309.14181, section 3.3) takes `good` and `poor`; its code divides logits by 100
    first, which makes the softmax almost linear in their difference. Neither has a least mass.
    What the numbers are is never guessed from them: low logits look like log-probabilities.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = WordOptions

    def __init__(self, options: WordOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """The quality, 0..1 unless `score` is diff.

        `answer`: word -> log-probability or logit, None for a word that is not among those listed;
        further words are what else was listed. Undecodable, `words_not_given`, where a word asked
        for is no key of it; `answer_token_absent`, where no word of either side is listed, or both
        hold less than `least_mass` of the probability.
        """
        given = _read(answer)
        words = (*self.options.positive, *self.options.negative)
        _check_given(given, words)
        listed = {word: value for word, value in given.items() if value is not None}
        masses = self._weigh(given, listed)
        missing = [word for word in words if given[word] is None]
        if len(missing) == len(words) or (masses and masses.candidates < self.options.least_mass):
            told = "" if masses is None else f" {masses.candidates:.3g} of the probability"
            raise Undecodable(f"{ABSENT}: {', '.join(words)} hold{told or ' none of the values'}")
        gap = self._gap(given, floor=min(listed.values()))
        quality = self._quality(gap)
        return Prediction(
            value=quality,
            flags=(INCOMPLETE,) if missing else (),
            summary={
                "quality": quality,
                "difference": gap,
                **({"missing": missing} if missing else {}),
                **({} if masses is None else _tell(masses, missing)),
            },
        )

    def _weigh(
        self, given: Mapping[str, float | None], listed: Mapping[str, float]
    ) -> Masses | None:
        """The masses of both sides; None of logits. Undecodable for what cannot be probable."""
        if self.options.values == "logit":
            return None
        fault = find_fault(listed)
        if fault is not None:
            raise Undecodable(
                f"no log-probabilities of words: {fault}; where the answers are logits, set "
                "values: logit and least_mass: 0"
            )
        return weigh_sides(given, self.options.positive, self.options.negative)

    def _gap(self, given: Mapping[str, float | None], *, floor: float) -> float:
        """The positive side's logit less the negative's."""
        good, poor = (
            [floor if (value := given[word]) is None else value for word in words]
            for words in (self.options.positive, self.options.negative)
        )
        if self.options.combine == "sum_exp":
            return log_sum(good) - log_sum(poor)
        return subtract_means(good, poor)

    def _quality(self, gap: float) -> float:
        if self.options.score == "diff":
            return gap
        if self.options.score == "argmax":
            return float(gap > 0)
        # of a stable softmax: no exponential of a large number
        scaled = gap / self.options.temperature
        if scaled >= 0:
            return 1.0 / (1.0 + math.exp(-scaled))
        return math.exp(scaled) / (1.0 + math.exp(scaled))


def _read(answer: Any) -> dict[str, float | None]:
    """Word -> value, None where it is not listed; Undecodable for what is no such mapping."""
    if not isinstance(answer, Mapping) or not answer:
        raise Undecodable(f"log-probabilities of words were wanted, {type(answer).__name__} came")
    given: dict[str, float | None] = {}
    for word, value in answer.items():
        if value is None or value == -math.inf:
            given[str(word)] = None
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Undecodable(f"the log-probability of '{word}' is {type(value).__name__}")
        elif not abs(value) <= LARGEST:
            shown = value if isinstance(value, float) else "no number of that size"
            raise Undecodable(f"the log-probability of '{word}' is {shown}")
        else:
            given[str(word)] = float(value)
    return _leave_out_unlikely(given)


def _leave_out_unlikely(given: dict[str, float | None]) -> dict[str, float | None]:
    """The same, with what stands at a word for "very unlikely" as not listed.

    Where every value lies so low they are logits on a scale of their own, and are kept.
    """
    if not any(value is not None and value >= UNLIKELY for value in given.values()):
        return given
    return {
        word: None if value is None or value < UNLIKELY else value for word, value in given.items()
    }


def _check_given(given: Mapping[str, float | None], words: Sequence[str]) -> None:
    """Undecodable naming the words of which the answer says nothing: no floor is known for them."""
    lacking = [word for word in words if word not in given]
    if lacking:
        raise Undecodable(
            f"{NOT_GIVEN}: {', '.join(lacking)}; the answer holds {', '.join(given)[:SHOWN]} (null "
            "is for a word that is not among the likeliest)"
        )


def _tell(masses: Masses, missing: Sequence[str]) -> dict[str, Any]:
    """What is written down of the masses: the unlisted one where a word may lie in it."""
    told: dict[str, Any] = {"mass": [masses.positive, masses.negative]}
    if missing:
        told |= {"unlisted_mass": masses.unlisted, "p_interval": [masses.low, masses.high]}
    return told
