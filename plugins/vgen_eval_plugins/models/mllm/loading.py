"""Loads processor and weights of a checkpoint; whatever is wrong with it is told before that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from vgen_eval.errors import MissingExtra, NotRunnable, UsageError, nearest

from vgen_eval_plugins.models.local.batches import is_out_of_memory
from vgen_eval_plugins.models.local.devices import choose_device, choose_dtype
from vgen_eval_plugins.models.local.folders import refuse_pickles
from vgen_eval_plugins.models.local.hub import Source, read_json, refuse_changed, resolve
from vgen_eval_plugins.models.local.weights import (
    Lora,
    quantization_arguments,
    require_libraries,
)
from vgen_eval_plugins.models.mllm.options import MLLMOptions

__all__ = ["EXTRA", "Loaded", "import_transformers", "load_model", "refuse_wrong_checkpoint"]

EXTRA = "transformers"
OLDEST = (5, 24)
"""Of transformers: the first in which a prompt's own control tokens can be kept plain text."""
AUTO_CLASS = "AutoModelForImageTextToText"


class Loaded(NamedTuple):
    """A model ready to be asked."""

    processor: Any
    model: Any
    device: str


def import_transformers() -> Any:
    """The library; MissingExtra without it, NotRunnable when it, or torchvision, does not fit."""
    try:
        import torch
        import transformers
    except ImportError as exc:
        raise MissingExtra(EXTRA) from exc
    version = tuple(int(part) for part in transformers.__version__.split(".")[:2])
    if version < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise NotRunnable(
            f"transformers {transformers.__version__} is older than {wanted}",
            cure=f"pip install 'transformers>={wanted}'",
        )
    try:
        import torchvision  # noqa: F401
    except ImportError:  # some image processors do without
        pass
    except RuntimeError as exc:
        raise NotRunnable(
            f"torchvision does not fit torch {torch.__version__}: {exc}",
            cure="install both from one index: pip install torch torchvision --index-url ...",
        ) from exc
    transformers.utils.logging.disable_progress_bar()
    return transformers


def refuse_wrong_checkpoint(source: Source, options: MLLMOptions) -> None:
    """NotRunnable when the checkpoint holds no image-text-to-text model that may be loaded."""
    config = read_json(source, "config.json", extra=EXTRA)
    if not isinstance(config, dict):
        raise NotRunnable(
            f"{source} holds no config.json",
            cure="name a folder that save_pretrained wrote, or a repository of transformers",
        )
    if source.folder is not None:
        refuse_pickles(source.folder)
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as KNOWN,
    )

    kind = str(config.get("model_type", ""))
    if kind in KNOWN:
        return
    if AUTO_CLASS in (config.get("auto_map") or {}):
        if options.trust_remote_code:
            return
        raise NotRunnable(
            f"{source} is driven by Python code of its own, which is not run unasked",
            cure="read it, then: -M trust_remote_code=true",
        )
    raise NotRunnable(
        f"{source}: '{kind}' is no image-text-to-text model that transformers knows."
        f"{nearest(kind, KNOWN)}",
        cure="a model with code of its own, or of another library: the adapter `command`",
    )


def load_model(source: Source, options: MLLMOptions, *, asked_device: str | None) -> Loaded:
    """Processor and weights on their device, LoRA put on; NotRunnable, with the cure, if not."""
    transformers = import_transformers()
    device = choose_device(asked_device, extra=EXTRA)
    refuse_wrong_checkpoint(source, options)
    require_libraries(options.quantization, options.loras)
    placing = _placing(options, asked_device, device)
    dtype = choose_dtype(options.dtype, device, extra=EXTRA)
    kind = getattr(transformers, AUTO_CLASS)
    with _faults(source, device):
        processor = transformers.AutoProcessor.from_pretrained(
            source.place, revision=source.commit, trust_remote_code=options.trust_remote_code
        )
        if options.chat_template is not None:
            processor.chat_template = options.chat_template
        _refuse_chatless(processor, source)
        _bound_pictures(processor, options, source)
        model = kind.from_pretrained(
            source.place,
            revision=source.commit,
            trust_remote_code=options.trust_remote_code,
            use_safetensors=True,
            dtype=dtype,
            quantization_config=_quantization(options, transformers, dtype),
            **({"attn_implementation": options.attn_implementation}
               if options.attn_implementation else {}),
            **placing,
        )  # fmt: skip
    if model.name_or_path != source.place:
        raise NotRunnable(
            f"{source} is low-rank weights over {model.name_or_path}",
            cure=f"-M model={model.name_or_path}, and this one under options.loras",
        )
    if options.loras:
        _put_on_loras(model, options.loras, device)
    refuse_changed(source)
    model.eval()
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return Loaded(processor, model, device)


def _placing(options: MLLMOptions, asked: str | None, device: str) -> Mapping[str, Any]:
    """Which device each layer goes to, in from_pretrained's words."""
    if options.device_map is not None:
        return {"device_map": options.device_map}
    if device == "cpu":
        return {}
    import torch

    several = device == "cuda" and torch.cuda.device_count() > 1
    return {"device_map": "auto" if several and asked in (None, "auto") else device}


def _quantization(options: MLLMOptions, transformers: Any, dtype: Any) -> Any:
    if options.quantization == "none":
        return None
    return transformers.BitsAndBytesConfig(**quantization_arguments(options.quantization, dtype))


def _refuse_chatless(processor: Any, source: Source) -> None:
    if getattr(processor, "tokenizer", None) is None or not getattr(
        processor, "chat_template", None
    ):
        raise NotRunnable(
            f"{source} has no chat template: it is no chat model",
            cure="name its instruction-tuned sister, or give the template: -M chat_template=...",
        )


def _bound_pictures(processor: Any, options: MLLMOptions, source: Source) -> None:
    """Puts min_pixels and max_pixels into the image processor; UsageError if it knows neither."""
    given = {
        key: value
        for key in ("min_pixels", "max_pixels")
        if (value := getattr(options, key)) is not None
    }
    if not given:
        return
    current = processor.image_processor
    known = getattr(getattr(current, "valid_kwargs", None), "__annotations__", {})
    for key in given:
        if key not in known:
            raise UsageError(
                f"options.{key}: the image processor of {source} ({type(current).__name__}) "
                "does not know it",
                cure="leave it out; a protocol's `input: {long_side: N}` bounds any picture",
            )
    processor.image_processor = type(current).from_dict(current.to_dict(), **given)


def _put_on_loras(model: Any, loras: Sequence[Lora], device: str) -> None:
    names = []
    for number, lora in enumerate(loras):
        source = resolve(lora.model, lora.revision, extra=EXTRA)
        if read_json(source, "adapter_config.json", extra=EXTRA) is None:
            raise NotRunnable(
                f"{source} holds no adapter_config.json",
                cure="name what peft's save_pretrained wrote",
            )
        if source.folder is not None:
            refuse_pickles(source.folder)
        names.append(f"lora{number}")
        with _faults(source, device):
            model.load_adapter(
                source.place,
                names[-1],
                use_safetensors=True,
                adapter_kwargs={"revision": source.commit},
            )
    _activate(model, names)


def _activate(model: Any, names: list[str]) -> None:
    """All of them at once: each, as it is loaded, is the only active one.

    As transformers' `set_adapter` does, which asks for a newer peft than what it does needs.
    """
    from peft.tuners.tuners_utils import BaseTunerLayer

    for module in model.modules():
        if isinstance(module, BaseTunerLayer):
            module.set_adapter(names, inference_mode=True)


@contextmanager
def _faults(source: Source, device: str) -> Iterator[None]:
    """What transformers raises while it loads, in our words."""
    from safetensors import SafetensorError

    try:
        yield
    except ImportError as exc:
        raise NotRunnable(f"{source} needs a library that is not here: {_line(exc)}") from exc
    except OSError as exc:
        raise _missing(source, exc) from exc
    except (ValueError, KeyError, AttributeError, TypeError, SafetensorError) as exc:
        raise NotRunnable(f"{source} cannot be loaded: {_line(exc)}") from exc
    except RuntimeError as exc:
        if not is_out_of_memory(exc):
            raise NotRunnable(f"{source} cannot be loaded: {_line(exc)}") from exc
        raise NotRunnable(
            f"{source} does not fit into the memory of {device}",
            cure="-M dtype=bfloat16, -M quantization=bitsandbytes_4bit, -M device_map=auto, "
            "or a larger device",
        ) from exc


def _missing(source: Source, exc: OSError) -> NotRunnable:
    """A file that the checkpoint lacks, or that is not on this machine."""
    if "safetensors" in str(exc):
        return NotRunnable(
            f"{source} has no safetensors weights",
            cure="name a revision that has them; pickled weights run code when they are read",
        )
    cure = f"hf download {source.place} --revision {source.commit}" if source.commit else None
    return NotRunnable(f"{source} cannot be loaded: {_line(exc)}", cure=cure)


def _line(exc: BaseException) -> str:
    """The first sentence or so of a message that may be a page."""
    return " ".join(str(exc).split())[:300]
