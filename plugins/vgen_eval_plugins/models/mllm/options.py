"""How a multimodal model of transformers is driven: the adapter's options."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from vgen_eval_plugins.models.local.devices import Dtype
from vgen_eval_plugins.models.local.weights import Lora, Quantization

__all__ = ["MLLMOptions"]

Count = Annotated[int, msgspec.Meta(ge=1)]


def _doc(text: str, **more: Any) -> msgspec.Meta:
    return msgspec.Meta(description=text, **more)


class MLLMOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What of the model, and how it is loaded and asked."""

    model: Annotated[
        str | None,
        _doc("Hub repository (ORG/NAME) or folder (./, /, ~); null: the card's checkpoint."),
    ] = None
    revision: Annotated[
        str | None, _doc("Branch, tag or commit; a floating one is resolved to a commit.")
    ] = None
    dtype: Annotated[
        Dtype, _doc("Number type of the weights; auto: bfloat16 on cuda, float32 elsewhere.")
    ] = "auto"
    device_map: Annotated[
        Literal["auto", "balanced", "sequential"] | None,
        _doc("How layers are spread over devices; null: auto where several GPUs are here and "
             "--device names none, else one device."),
    ] = None  # fmt: skip
    attn_implementation: Annotated[
        str | None, _doc("sdpa, eager, flash_attention_2, ...; null: what transformers takes.")
    ] = None
    quantization: Annotated[
        Quantization,
        _doc("Weights in fewer bits, made while they load."),
    ] = "none"
    loras: Annotated[
        tuple[Lora, ...], _doc("Low-rank weights (peft) that go over the model's own.")
    ] = ()
    trust_remote_code: Annotated[
        bool, _doc("May Python code of the checkpoint run? Read it first.")
    ] = False
    batch: Annotated[
        int,
        _doc("Requests answered together; halved for good when memory runs out. Above 1 the last "
             "bits of a number may hang on its neighbours.", ge=1, extra={"provenance": True}),
    ] = 1  # fmt: skip
    system: Annotated[str | None, _doc("System prompt; null: what the template writes.")] = None
    chat_template: Annotated[
        str | None, _doc("Jinja text in the place of the checkpoint's own chat template.")
    ] = None
    enable_thinking: Annotated[
        bool | None, _doc("Passed to a chat template that takes it; null: its own default.")
    ] = None
    thinking_tags: Annotated[
        tuple[str, str], _doc("What opens and shuts a thinking trace in the model's output.")
    ] = ("<think>", "</think>")
    min_pixels: Annotated[
        Count | None, _doc("Smallest picture, in pixels, for processors that know it.")
    ] = None
    max_pixels: Annotated[
        Count | None, _doc("Largest picture, in pixels, for processors that know it.")
    ] = None
    choice_scoring: Annotated[
        Literal["next_token", "closed_set", "closed_set_full"],
        _doc("next_token: log-probability of the whole word (its tokens' summed); closed_set: "
             "mean over the answer's tokens (minus the log of its perplexity); closed_set_full: "
             "mean over the prompt's too. A protocol may ask for one of them."),
    ] = "next_token"  # fmt: skip
    choice_prefix: Annotated[
        str,
        _doc(
            "This model's own words before each choice: `The answer is`. They stand in the place "
            "of the protocol's prefix; empty: that one. The space before them is that of "
            "leading_space, unless they begin with their own."
        ),
    ] = ""
    leading_space: Annotated[
        Literal["auto", "yes", "no"],
        _doc(
            "A space before a choice, and before a prefix; auto: as the chat template writes an "
            "answer."
        ),
    ] = "auto"
