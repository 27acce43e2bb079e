"""Image-to-video pipelines of a few thousand random weights, built from their configurations.

Each builder writes a folder as `save_pretrained` does. What they film is noise; how they are
driven is real.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vgen_eval_plugins.models.video.kinds import OURS, is_plain
from vgen_eval_plugins.standins.tiny_editors import calls_of_pipelines, ready, save

__all__ = ["BUILDERS", "build_cogvideox", "build_ltx", "build_wan", "lenient_video_pipeline"]

DIM = 16
LAYERS = {"num_layers": 1, "num_heads": 2, "d_model": DIM, "d_kv": 8, "d_ff": 16}


def build_wan(folder: Path, *, seed: int = 0) -> Path:
    """A WanImageToVideoPipeline as of Wan 2.2 in the folder, which is returned.

    Two denoisers and no image encoder. Sides are multiples of 16, frames 4n + 1.
    """
    torch = ready(seed)
    import diffusers
    import transformers

    tokenizer = _t5_tokenizer()
    text = transformers.UMT5Config(**LAYERS, vocab_size=len(tokenizer))
    vae = diffusers.AutoencoderKLWan(
        base_dim=3, z_dim=4, dim_mult=[1, 1, 1, 1], num_res_blocks=1,
        temperal_downsample=[False, True, True], latents_mean=[0.0] * 4, latents_std=[1.0] * 4,
    )  # fmt: skip

    def denoiser() -> Any:
        return diffusers.WanTransformer3DModel(
            patch_size=(1, 2, 2), num_attention_heads=2, attention_head_dim=12, in_channels=12,
            out_channels=4, text_dim=DIM, freq_dim=32, ffn_dim=16, num_layers=1,
            cross_attn_norm=True, qk_norm="rms_norm_across_heads", rope_max_seq_len=32,
        )  # fmt: skip

    torch.nn.init.normal_(vae.decoder.conv_out.weight, std=0.3)
    pipe = diffusers.WanImageToVideoPipeline(
        tokenizer=tokenizer,
        text_encoder=transformers.UMT5EncoderModel(text),
        vae=vae,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(shift=3.0),
        transformer=denoiser(),
        transformer_2=denoiser(),
        boundary_ratio=0.9,
    )
    return save(pipe, folder)


def build_ltx(folder: Path, *, seed: int = 0) -> Path:
    """An LTXPipeline in the folder, which is returned; LTXImageToVideoPipeline reads it too.

    As in LTX-Video's own repository. Sides are multiples of 32, frames 8n + 1.
    """
    torch = ready(seed)
    import diffusers
    import transformers

    tokenizer = _t5_tokenizer()
    blocks = {"block_out_channels": (8, 8, 8, 8), "decoder_block_out_channels": (8, 8, 8, 8)}
    layers = {"layers_per_block": (1,) * 5, "decoder_layers_per_block": (1,) * 5}
    vae = diffusers.AutoencoderKLLTXVideo(latent_channels=8, **blocks, **layers)
    torch.nn.init.normal_(vae.decoder.conv_out.conv.weight, std=0.3)
    text = transformers.T5Config(**LAYERS, vocab_size=len(tokenizer))
    pipe = diffusers.LTXPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=transformers.T5EncoderModel(text),
        tokenizer=tokenizer,
        transformer=diffusers.LTXVideoTransformer3DModel(
            in_channels=8, out_channels=8, num_attention_heads=2, attention_head_dim=8,
            cross_attention_dim=16, num_layers=1, caption_channels=DIM,
        ),
    )  # fmt: skip
    return save(pipe, folder)


def build_cogvideox(folder: Path, *, seed: int = 0) -> Path:
    """A CogVideoXImageToVideoPipeline in the folder, which is returned.

    Films of 9 frames, 48 pixels wide and 32 high: its places are learned.
    """
    torch = ready(seed)
    import diffusers
    import transformers

    tokenizer = _t5_tokenizer()
    text = transformers.T5Config(**LAYERS, vocab_size=len(tokenizer))
    vae = diffusers.AutoencoderKLCogVideoX(
        down_block_types=("CogVideoXDownBlock3D",) * 4, up_block_types=("CogVideoXUpBlock3D",) * 4,
        block_out_channels=(8, 8, 8, 8), latent_channels=4, layers_per_block=1, norm_num_groups=2,
        temporal_compression_ratio=4,
    )  # fmt: skip
    torch.nn.init.normal_(vae.decoder.conv_out.conv.weight, std=0.3)
    pipe = diffusers.CogVideoXImageToVideoPipeline(
        tokenizer=tokenizer,
        text_encoder=transformers.T5EncoderModel(text),
        vae=vae,
        transformer=diffusers.CogVideoXTransformer3DModel(
            num_attention_heads=2, attention_head_dim=16, in_channels=8, out_channels=4,
            time_embed_dim=2, text_embed_dim=DIM, num_layers=1, sample_width=6, sample_height=4,
            sample_frames=9, patch_size=2, max_text_seq_length=226,
            use_rotary_positional_embeddings=True, use_learned_positional_embeddings=True,
        ),
        scheduler=diffusers.CogVideoXDDIMScheduler(),
    )  # fmt: skip
    return save(pipe, folder)


@contextmanager
def lenient_video_pipeline(arguments: Iterable[str], *, named: str | None = None) -> Iterator[str]:
    """Name of a tiny pipeline's class, of diffusers while this is open, that takes `arguments`.

    It films five frames as WanImageToVideoPipeline does, in two steps, whatever it is asked; what
    that one does not know is passed over. It takes what one image-to-video pipeline of diffusers
    takes: the class `named`, or else the one that knows most of the arguments.
    """
    import diffusers

    plain: Any = diffusers.WanImageToVideoPipeline
    known = inspect.signature(plain.__call__)
    asked = frozenset(arguments)
    films = _films(Path(diffusers.__file__).parent / "pipelines")
    best = max(sorted(films), key=lambda name: len(films[name] & asked))
    taken_there = films.get(named or best, frozenset())

    class LenientVideoPipeline(plain):  # type: ignore[misc]
        def __call__(self, **given: Any) -> Any:
            taken = {key: value for key, value in given.items() if key in known.parameters}
            short = {"num_inference_steps": 2, "num_frames": 5}
            return super().__call__(**taken | short)

    ours = [
        entry
        for name, entry in known.parameters.items()
        if name in OURS or name in taken_there or name in ("height", "width")
    ]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in sorted(taken_there & asked - set(known.parameters))
    ]
    signature = known.replace(parameters=[*ours, *more])
    LenientVideoPipeline.__call__.__signature__ = signature  # type: ignore[attr-defined]
    name = LenientVideoPipeline.__name__
    setattr(diffusers, name, LenientVideoPipeline)
    try:
        yield name
    finally:
        delattr(diffusers, name)


@functools.cache
def _films(folder: Path) -> Mapping[str, frozenset[str]]:
    return {name: taken for name, taken in calls_of_pipelines(folder).items() if is_plain(taken)}


BUILDERS: Mapping[str, Callable[[Path], Path]] = {
    "cogvideox": build_cogvideox,
    "ltx": build_ltx,
    "wan": build_wan,
}
"""Name -> what builds it in a folder."""


def _t5_tokenizer() -> Any:
    from transformers import T5Tokenizer

    letters = [chr(code) for code in range(33, 127)]
    control = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", -9.0), ("\u2581", -2.0)]
    vocabulary = [*control, *((letter, -3.0) for letter in letters)]
    return T5Tokenizer(vocab=vocabulary, extra_ids=0, model_max_length=128)
