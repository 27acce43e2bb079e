"""A pipeline with its weights, placed on a device as the options say."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vgen_eval.errors import MissingExtra, NotRunnable, UsageError

from vgen_eval_plugins.models.editor.options import EditorLora, PipelineOptions
from vgen_eval_plugins.models.editor.resolve import EXTRA, components, import_diffusers
from vgen_eval_plugins.models.local.batches import is_out_of_memory
from vgen_eval_plugins.models.local.chatter import chatter_logged, no_bars
from vgen_eval_plugins.models.local.devices import Dtype, choose_dtype
from vgen_eval_plugins.models.local.folders import digest_file, digest_folder, refuse_pickles
from vgen_eval_plugins.models.local.hub import (
    Source,
    hub_faults,
    is_local,
    refuse_changed,
    resolve,
)
from vgen_eval_plugins.models.local.weights import quantization_arguments, require_libraries

__all__ = ["MEMORY_CURE", "load_pipeline", "lora_facts"]

log = logging.getLogger(__name__)

MEMORY_CURE = (
    "-M offload=model or sequential, -M quantization=bitsandbytes_4bit, -M vae_tiling=true, "
    "smaller pictures (-M size=WIDTHxHEIGHT), or a device with more memory"
)
NO_DTYPES: Mapping[str, Dtype] = {}
DENOISERS = ("transformer", "transformer_2", "unet", "prior")
ENCODERS = ("text_encoder", "text_encoder_2", "text_encoder_3", "vision_language_encoder")


def load_pipeline(
    source: Source,
    index: Mapping[str, Any],
    kind: Any | None,
    options: PipelineOptions,
    device: str,
    *,
    dtypes: Mapping[str, Dtype] = NO_DTYPES,
) -> Any:
    """The pipeline, ready to be called. `kind`: its class, None for code of the checkpoint.

    `dtypes`: component -> number type, of those that have another than options.dtype.

    NotRunnable, with the cure, for weights that are not to be had, are pickled, do not fit the
    class or the device.
    """
    diffusers = import_diffusers()
    require_libraries(options.quantization, options.loras)
    if options.offload != "none" and device == "cpu":
        raise UsageError(
            f"offload={options.offload} needs a device beside the CPU", cure="-M offload=none"
        )
    with chatter_logged(), _load_faults(source, index, device):
        folder = _fetch(diffusers, source, options)
        refuse_pickles(folder, parts=components(index))
        with no_bars("diffusers", "transformers"):
            pipe = _read(diffusers, folder, index, kind, options, device, dtypes)
        for at, lora in enumerate(options.loras):
            _add_lora(pipe, lora, name=f"lora_{at}")
        if options.loras:
            names = [f"lora_{at}" for at in range(len(options.loras))]
            pipe.set_adapters(names, [lora.scale for lora in options.loras])
        _place(pipe, options, device)
    refuse_changed(source)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def _fetch(diffusers: Any, source: Source, options: PipelineOptions) -> Path:
    if source.folder is not None:
        return source.folder
    assert source.commit is not None
    log.info("%s: fetching what is not in the cache", source)
    with hub_faults(source.place, source.commit):
        return Path(
            diffusers.DiffusionPipeline.download(
                source.place,
                revision=source.commit,
                variant=options.variant,
                use_safetensors=True,
                trust_remote_code=options.trust_remote_code,
            )
        )


def _read(
    diffusers: Any, folder: Path, index: Mapping[str, Any], kind: Any | None,
    options: PipelineOptions, device: str, dtypes: Mapping[str, Dtype],
) -> Any:  # fmt: skip
    dtype = choose_dtype(options.dtype, device, extra=EXTRA)
    apart = {part: choose_dtype(name, device, extra=EXTRA) for part, name in dtypes.items()}
    # the argument was renamed; the old name warns where the new one is known
    renamed = hasattr(diffusers.utils, "_resolve_dtype")
    chosen = {"default": dtype, **apart} if apart else dtype
    named = {"dtype" if renamed else "torch_dtype": chosen}
    if options.variant is not None:
        named["variant"] = options.variant
    if options.quantization != "none":
        named["quantization_config"] = _quantization(options, index, dtype)
    if options.trust_remote_code:
        named["trust_remote_code"] = True
    return (kind or diffusers.DiffusionPipeline).from_pretrained(
        str(folder), use_safetensors=True, **named
    )


def _quantization(options: PipelineOptions, index: Mapping[str, Any], dtype: Any) -> Any:
    from diffusers.quantizers import PipelineQuantizationConfig

    here = components(index)
    chosen = options.quantize or tuple(part for part in (*DENOISERS, *ENCODERS) if part in here)
    unknown = [part for part in chosen if part not in here]
    if unknown:
        raise UsageError(f"quantize: no component '{unknown[0]}'. There are {', '.join(here)}")
    wanted = quantization_arguments(options.quantization, dtype)
    return PipelineQuantizationConfig(
        quant_backend=options.quantization,
        quant_kwargs=dict(wanted),
        components_to_quantize=list(chosen),
    )


def _place(pipe: Any, options: PipelineOptions, device: str) -> None:
    for wish, method in ((options.vae_tiling, "tiling"), (options.vae_slicing, "slicing")):
        if wish:
            enable = getattr(getattr(pipe, "vae", None), f"enable_{method}", None)
            if enable is None:
                raise UsageError(f"vae_{method}: {type(pipe).__name__} has no VAE that does it")
            enable()
    if options.offload == "model":
        pipe.enable_model_cpu_offload(device=device)
    elif options.offload == "sequential":
        pipe.enable_sequential_cpu_offload(device=device)
    elif options.quantization == "none":
        pipe.to(device)
    else:  # quantized components are on the device already, and 8-bit ones refuse to be moved
        for part in pipe.components.values():
            if hasattr(part, "to") and not getattr(part, "is_quantized", False):
                part.to(device)
    if options.compile:
        for name in DENOISERS:
            part = getattr(pipe, name, None)
            if part is not None:
                part.compile()


def _add_lora(pipe: Any, lora: EditorLora, *, name: str) -> None:
    if not hasattr(pipe, "load_lora_weights"):
        raise UsageError(f"{type(pipe).__name__} takes no LoRA", cure="leave `loras` out")
    place, commit = _lora_place(lora)
    more = {} if commit is None else {"revision": commit}
    weight = lora.weight
    if commit is None and Path(place).is_file():
        place, weight = str(Path(place).parent), Path(place).name
    try:
        pipe.load_lora_weights(
            place, weight_name=weight, adapter_name=name, use_safetensors=True, **more
        )
    except (OSError, ValueError, RuntimeError, KeyError) as exc:
        raise NotRunnable(f"LoRA {lora.model} cannot be loaded: {_short(exc)}") from exc
    except ImportError as exc:
        raise MissingExtra(EXTRA) from exc


def _lora_place(lora: EditorLora) -> tuple[str, str | None]:
    """Folder or file, or repository and commit."""
    path = Path(lora.model).expanduser().absolute()
    if is_local(lora.model) and path.is_file():
        if path.suffix != ".safetensors":
            raise NotRunnable(
                f"LoRA {path} is no safetensors file",
                cure="save it as safetensors: pickles run code when they are read",
            )
        return str(path), None
    source = resolve(lora.model, lora.revision, extra=EXTRA)
    return source.place, source.commit


def lora_facts(lora: EditorLora) -> dict[str, Any]:
    """What tells these low-rank weights from others: the commit, or a digest of the files."""
    place, commit = _lora_place(lora)
    if commit is not None:
        return {"commit": commit}
    path = Path(place)
    return {"contents": digest_file(path) if path.is_file() else digest_folder(path)}


@contextmanager
def _load_faults(source: Source, index: Mapping[str, Any], device: str) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as exc:
        if is_out_of_memory(exc):
            raise NotRunnable(f"{source} does not fit on {device}", cure=MEMORY_CURE) from exc
        place = source.folder
        gone = [part for part in components(index) if place and not (place / part).is_dir()]
        lacks = f" (no folder {', '.join(gone)})" if gone else ""
        raise NotRunnable(f"{source} cannot be loaded{lacks}: {_short(exc)}") from exc


def _short(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {' '.join(str(exc).split())[:300]}"
