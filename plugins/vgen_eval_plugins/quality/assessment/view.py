"""What a rating is shown as: the rating, the truth on its scale, and the words behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from vgen_eval.viewing import Bar, Bars, Pane, Seen, Words

from vgen_eval_plugins.quality.assessment.words import WordOptions
from vgen_eval_plugins.quality.targets import Opinion
from vgen_eval_plugins.telling import Fact, number, outcome, summary_of

__all__ = ["QualityView"]

MOST_WORDS = 40
"""Bars of an answer: services list twenty words at most."""
SCALE_END = 100.0
"""Of ratings in words that name no scale."""


class QualityView:
    """Rating and truth as bars, each on its own scale; the words' probabilities; what was read.

    Correlations compare orders, so the two scales need not agree.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """The truth stands last but for the words."""
        panes: list[Pane] = []
        summary = summary_of(seen)
        if "quality" in summary:
            panes.append(_rating(seen, summary))
        opinion = seen.sample.target
        if isinstance(opinion, Opinion):
            panes.append(_opinion(opinion))
        if seen.form == "choice" and isinstance(seen.answer, Mapping) and seen.answer:
            panes.append(_words(seen, summary))
        facts = _facts(seen, summary)
        if facts:
            panes.append(Pane(role="detail", title="What was read", body=Words(facts=tuple(facts))))
        return panes


def _rating(seen: Seen, summary: Mapping[str, Any]) -> Pane:
    quality = summary["quality"]
    end = float(summary.get("out_of", SCALE_END)) if "rule" in summary else 1.0
    low, high = 0.0, end
    if quality is not None:
        low, high = min(low, quality), max(high, quality)
    label = "in place of an answer" if seen.substitute else "answer"
    return Pane(
        role="prediction",
        title="Quality as answered",
        body=Bars(bars=(Bar(label=label, value=quality),), low=low, high=high),
        note="Compared by order and by correlation: its scale need not be that of the data.",
    )


def _opinion(opinion: Opinion) -> Pane:
    """What the data says: people's mean opinion, or how strongly a picture was distorted."""
    low, high = min(opinion.low, opinion.score), max(opinion.high, opinion.score)
    return Pane(
        role="target",
        title="Score in the data",
        body=Bars(bars=(Bar(label="truth", value=opinion.score),), low=low, high=high),
        note=f"On the scale {number(opinion.low)} to {number(opinion.high)}; higher is better.",
    )


def _words(seen: Seen, summary: Mapping[str, Any]) -> Pane:
    """The answer's words: probabilities where the protocol says so, else the numbers as given."""
    options = _options_of(seen)
    is_probability = "mass" in summary or (options is not None and options.values == "logprob")
    sides = {} if options is None else _sides(options)
    names = sorted(seen.answer, key=lambda word: list(sides).index(word) if word in sides else 99)
    bars = tuple(
        Bar(
            label=f"{word} ({sides[word]})" if word in sides else str(word),
            value=_height(seen.answer[word], is_probability=is_probability),
        )
        for word in names[:MOST_WORDS]
    )
    known = [bar.value for bar in bars if bar.value is not None]
    left = len(names) - len(bars)
    notes = [
        "No bar: the word is not among those listed.",
        *([f"{left} more words are left out."] if left > 0 else []),
    ]
    if is_probability:
        return Pane(
            role="detail", title="Probability of each word", body=Bars(bars=bars),
            note=" ".join(["The exponential of each log-probability as stored.", *notes]),
        )  # fmt: skip
    low, high = min([0.0, *known]), max([0.0, *known])
    return Pane(
        role="detail",
        title="Number of each word",
        body=Bars(bars=bars, low=low, high=high if high > low else low + 1.0),
        note=" ".join(["As stored: logits, of which only differences count.", *notes]),
    )


def _options_of(seen: Seen) -> WordOptions | None:
    options = getattr(seen.decoder, "options", None)
    return options if isinstance(options, WordOptions) else None


def _sides(options: WordOptions) -> dict[str, str]:
    return dict.fromkeys(options.positive, "for good") | dict.fromkeys(options.negative, "for poor")


def _height(value: Any, *, is_probability: bool) -> float | None:
    """Of a bar; None for a word that is not listed, or whose number is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return math.exp(min(value, 0.0)) if is_probability else float(value)


def _facts(seen: Seen, summary: Mapping[str, Any]) -> list[Fact]:
    facts = outcome(seen, counted_as=_failure(summary))
    if seen.substitute or not summary:
        return facts
    facts.append(("quality", number(summary.get("quality"))))
    if seen.form == "choice":
        facts += _word_facts(seen, summary)
    elif seen.form == "image":
        facts += _painted_facts(summary)
    else:
        facts += [
            (name, number(summary[name])) for name in ("extracted", "rule") if name in summary
        ]
        if "out_of" in summary:
            facts.append(("out of", number(summary["out_of"])))
    return facts


def _failure(summary: Mapping[str, Any]) -> str:
    if summary.get("quality") is None:
        return "no quality: correlations over all pictures are undefined"
    return f"the quality {number(summary['quality'])}"


def _word_facts(seen: Seen, summary: Mapping[str, Any]) -> list[Fact]:
    """How the words became one number, as far as it is written down."""
    options = _options_of(seen)
    facts: list[Fact] = []
    if options is not None:
        facts.append(("for good", ", ".join(options.positive)))
        facts.append(("for poor", ", ".join(options.negative)))
        facts.append(("several words of a side", _COMBINED[options.combine]))
    if "difference" in summary:
        facts.append(("difference of the sides", number(summary["difference"])))
    if options is not None:
        facts.append(("quality is", _SCORED[options.score].format(number(options.temperature))))
    if "mass" in summary:
        good, poor = summary["mass"]
        facts += [("mass for good", number(good)), ("mass for poor", number(poor))]
    if summary.get("missing"):
        facts.append(("not listed, taken as the least listed", ", ".join(summary["missing"])))
    if "unlisted_mass" in summary:
        facts.append(("mass not listed", number(summary["unlisted_mass"])))
    if "p_interval" in summary:
        low, high = summary["p_interval"]
        facts.append(("share for good lies in", f"{number(low)} to {number(high)}"))
    return facts


_COMBINED: Mapping[str, str] = {
    "mean_logit": "the mean of their logits",
    "sum_exp": "the logarithm of the sum of what they weigh",
}
_SCORED: Mapping[str, str] = {
    "softmax": "the softmax of the two sides, at temperature {}",
    "diff": "the difference of the two sides",
    "argmax": "1 where the side for good is larger, else 0",
}


def _painted_facts(summary: Mapping[str, Any]) -> list[Fact]:
    """What was measured in a painted answer."""
    if "length" in summary:
        return [
            ("read off", "the dark bar's length over the picture's width"),
            ("length", f"{number(summary['length'])} px"),
            ("width", f"{number(summary['width'])} px"),
        ]
    if "deviation" in summary:
        return [
            ("read off", "the mean level of the picture, black 0 and white 1"),
            ("deviation of the level", number(summary["deviation"])),
        ]
    return [(name, number(value)) for name, value in summary.items() if name != "quality"]
