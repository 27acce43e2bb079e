"""Pictures of the steps on the way: latents kept while a pipeline runs, decoded when it is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import UsageError

from vgen_eval_plugins.models.editor.kinds import Kind

__all__ = ["StepCapture", "check_capture"]


def check_capture(kind: Kind) -> None:
    """UsageError when the pipeline does not call back after its steps."""
    if not kind.told_of_steps:
        raise UsageError(
            f"capture_steps: {kind.name} does not tell of its steps", cure="-M capture_steps=0"
        )


class StepCapture:
    """Keeps the latents of `wanted` evenly spaced steps, the last step left out.

    Give `callback` to the pipeline as `callback_on_step_end`.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._chosen: frozenset[int] | None = None
        self._kept: list[Any] = []

    def callback(
        self,
        pipe: Any,
        step: int,
        _: Any,
        given: dict[str, Any],
    ) -> Mapping[str, Any]:
        """What diffusers calls after each step; changes nothing."""
        if self._chosen is None:
            total = int(pipe.num_timesteps)
            parts = self._wanted + 1
            self._chosen = frozenset(
                round(total * part / parts) - 1 for part in range(1, parts)
            ) & frozenset(range(total - 1))
        if step in self._chosen:
            self._kept.append(given["latents"].detach().clone())
        return given

    def decode(self, pipe: Any, *, height: int, width: int) -> list[list[Any]]:
        """For each kept step the Pillow pictures of the batch; the size is the answer's."""
        import torch

        pictures = []
        with torch.no_grad():
            for latents in self._kept:
                plain = unpack(pipe, latents, height=height, width=width)
                decoded = pipe.vae.decode(plain.to(pipe.vae.dtype), return_dict=False)[0]
                if decoded.ndim == 5:  # (B, C, frames, H, W): a picture is a film of one frame
                    decoded = decoded[:, :, 0]
                pictures.append(pipe.image_processor.postprocess(decoded, output_type="pil"))
        self._kept.clear()
        return pictures


def unpack(pipe: Any, latents: Any, *, height: int, width: int) -> Any:
    """Latents as the VAE decodes them: (B, C, h, w), or (B, C, 1, h, w) for a VAE of films.

    Packed ones, (B, h * w, C), are laid out by the pipeline's own method; scale and shift are the
    VAE's, as each pipeline does it before its last line.
    """
    import torch

    vae = pipe.vae
    if hasattr(vae, "bn"):  # FLUX.2: tokens row by row, normalised by running statistics
        cells = pipe.vae_scale_factor * 2
        grid = latents.unflatten(1, (height // cells, width // cells)).permute(0, 3, 1, 2)
        mean = vae.bn.running_mean.view(1, -1, 1, 1).to(grid)
        deviation = torch.sqrt(vae.bn.running_var.view(1, -1, 1, 1) + vae.config.batch_norm_eps)
        return pipe._unpatchify_latents(grid * deviation.to(grid) + mean)
    if latents.ndim == 3:
        latents = pipe._unpack_latents(latents, height, width, pipe.vae_scale_factor)
    config = vae.config
    latents = latents / (config.get("scaling_factor") or 1.0)
    if config.get("latents_mean") is not None:
        shape = (1, -1, *(1,) * (latents.ndim - 2))
        mean = torch.tensor(config["latents_mean"]).view(shape).to(latents)
        return latents * torch.tensor(config["latents_std"]).view(shape).to(latents) + mean
    return latents + (config.get("shift_factor") or 0.0)
