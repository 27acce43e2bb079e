"""Perception: questions with options about low-level vision (Q-Bench A1), and with free answers."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.quality.perception"

DECODERS = {
    "option_text": f"{_HERE}.decoders:OptionText",
    "closed_set": f"{_HERE}.decoders:ClosedSet",
    "wrong_choice": f"{_HERE}.decoders:WrongChoice",
    "answer_text": f"{_HERE}.free_answers:AnswerText",
    "wrong_answer": f"{_HERE}.free_answers:WrongAnswer",
}
ENCODERS = {
    "option_text": f"{_HERE}.encoders:OptionTextEncoder",
    "option_words": f"{_HERE}.encoders:OptionWordsEncoder",
    "closed_set": f"{_HERE}.encoders:ClosedSetEncoder",
    "answer_text": f"{_HERE}.free_answers:AnswerTextEncoder",
}
METRICS = {
    "option_accuracy": f"{_HERE}.metric:OptionAccuracy",
    "exact_match": f"{_HERE}.exact_match:ExactMatch",
}
JUDGES = {"option_grader": f"{_HERE}.grader:OptionGrader"}
VIEWS = {"option": f"{_HERE}.view:OptionView", "answer": f"{_HERE}.view:AnswerView"}
