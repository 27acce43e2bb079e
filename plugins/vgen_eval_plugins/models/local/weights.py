"""Options of weights that local adapters share: low-rank ones over them, fewer bits for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, Literal

import msgspec
from vgen_eval.errors import NotRunnable

__all__ = [
    "Lora",
    "Quantization",
    "quantization_arguments",
    "require_libraries",
    "wanted_libraries",
]

Quantization = Literal["none", "bitsandbytes_4bit", "bitsandbytes_8bit"]


class Lora(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Low-rank weights that go over the model's own."""

    model: Annotated[str, msgspec.Meta(description="Hub repository, or ./folder.")]
    revision: Annotated[str | None, msgspec.Meta(description="Commit, tag or branch of it.")] = None


def wanted_libraries(quantization: Quantization, loras: Sequence[Lora]) -> list[str]:
    """What such options need and is not installed, each with its cure."""
    needs = {
        "bitsandbytes": f"quantization={quantization}" if quantization != "none" else "",
        "peft": "loras" if loras else "",
    }
    return [
        f"{library} for {wish}: pip install {library}"
        for library, wish in needs.items()
        if wish and find_spec(library) is None
    ]


def require_libraries(quantization: Quantization, loras: Sequence[Lora]) -> None:
    """NotRunnable, with the cure, for the first library that such options lack."""
    for wanted in wanted_libraries(quantization, loras):
        what, _, cure = wanted.partition(": ")
        library, _, wish = what.partition(" for ")
        raise NotRunnable(f"{wish} needs {library}, which is not installed", cure=cure)


def quantization_arguments(name: Quantization, dtype: Any) -> Mapping[str, Any]:
    """Arguments of the libraries' BitsAndBytesConfig; sums are made in `dtype`."""
    if name == "bitsandbytes_8bit":
        return {"load_in_8bit": True}
    return {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_compute_dtype": dtype,
    }
