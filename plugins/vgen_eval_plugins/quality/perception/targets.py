"""The truths of questions: options of which one is right, and texts that are all accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from vgen_eval_plugins.parsing.texts import same_text

__all__ = ["LETTERS", "AcceptedTexts", "Chosen", "OptionTarget", "letter_options"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class OptionTarget(msgspec.Struct, frozen=True):
    """The options of a question, A first, and the letter of the right one."""

    options: Mapping[str, str]
    """Letter -> text."""
    right: str

    def __post_init__(self) -> None:
        if self.right not in self.options:
            raise ValueError(f"'{self.right}' is none of the options {', '.join(self.options)}")

    def meaning(self, letter: str | None) -> str | None:
        """`yes` or `no` where the options are Yes and No and this letter is one; else None."""
        words = {
            key: word
            for key, text in self.options.items()
            for word in ("yes", "no")
            if same_text(text, word)
        }
        if set(words.values()) != {"yes", "no"} or len(self.options) != len(words):
            return None
        return words.get(letter or "")


class AcceptedTexts(msgspec.Struct, frozen=True):
    """Every text that is a right answer to a question without options, the best one first."""

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.texts or not all(text.strip() for text in self.texts):
            raise ValueError("a question has a right answer, and no right answer is empty")


class Chosen(msgspec.Struct, frozen=True):
    """What an answer chose."""

    letter: str | None
    """None: none of the options, or a judge did not say which."""
    right: bool | None = None
    """Is it right? None: where its letter is the right one."""
    failed: bool = False
    """Did it miss what was asked: nothing said, declined, an option that was not offered?"""


def letter_options(texts: Sequence[str]) -> dict[str, str]:
    """Letter -> text; ValueError for more than there are letters."""
    if len(texts) > len(LETTERS):
        raise ValueError(f"{len(texts)} options, and {len(LETTERS)} letters for them")
    return dict(zip(LETTERS, texts, strict=False))
