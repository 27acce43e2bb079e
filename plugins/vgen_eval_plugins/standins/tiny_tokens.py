"""Byte-level BPE tokenizers of a few hundred tokens, made in code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["WORDS", "make_tokenizer"]

WORDS = (
    " yes", " no", " good", " poor", " dark", " the", " of", " is", " A", " B",
    "yes", "no", "good", "poor", "dark",
)  # fmt: skip
"""Each is one token, with its space first: of two merges the earlier one wins."""


def make_tokenizer(
    control: Sequence[str], *, pad: str, eos: str, bos: str | None = None,
    plain: Sequence[str] = (), **more: Any,
) -> Any:  # fmt: skip
    """A PreTrainedTokenizerFast over bytes and `WORDS`.

    control: special tokens; plain: added tokens that are no special ones, as `<think>` is for
    Qwen3. Ids: 256 bytes, merges, control, plain, in that order.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary, merges = _merge(WORDS)
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control])
    core.add_tokens([AddedToken(text, special=False, normalized=False) for text in plain])
    return PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=pad, eos_token=eos, bos_token=bos, **more
    )


def _merge(words: Sequence[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Vocabulary and merges under which each word becomes one token, from left to right."""
    from tokenizers import pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: at for at, letter in enumerate(alphabet)}
    merges: list[tuple[str, str]] = []
    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    for word in words:
        spelled = split.pre_tokenize_str(word)[0][0]
        left = spelled[0]
        for letter in spelled[1:]:
            if left + letter not in vocabulary:
                merges.append((left, letter))
                vocabulary[left + letter] = len(vocabulary)
            left += letter
    return vocabulary, merges
