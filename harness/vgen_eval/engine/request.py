"""From a sample to a request: pictures prepared, prompt filled, seed set, digest taken."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.plan import Job
from vgen_eval.errors import BadSample, VgenEvalError
from vgen_eval.imaging import Box, Image, prepare_image
from vgen_eval.prompting import fill
from vgen_eval.types import Decoder, Request, Sample, Scene
from vgen_eval.wording import describe

__all__ = ["Prepared", "make_request", "prepare", "prompt_fields", "request_digest", "seed_of"]


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A sample ready for its attempts: what all of them share."""

    sample: Sample
    images: tuple[Image, ...]
    scene: Scene
    prompt: str
    shown: tuple[tuple[Image, Box], ...]
    """Each of the sample's pictures as the model sees it, and the part which shows the original."""
    ideal: Any = None
    encode: Callable[[Any], Any] | None = None

    def geometry(self) -> Mapping[str, Any] | None:
        """Of each picture: size as it is and as the model sees it, bars, digest of what it sees.

        Of a sample without pictures None. A method, as a digest costs a look at every pixel.
        """
        if not self.shown:
            return None
        facts: dict[str, Any] = {
            "original": [[image.height, image.width] for image in self.sample.images],
            "seen": [[image.height, image.width] for image, _ in self.shown],
            "sha256": [image.sha256 for image, _ in self.shown],
        }
        if any(box != (0, 0, image.height, image.width) for image, box in self.shown):
            facts["boxes"] = [list(box) for _, box in self.shown]
        return facts


def prepare(job: Job, sample: Sample) -> Prepared:
    """The sample as the protocol shows it; BadSample when a prompt field or truth is wanting."""
    rule = job.task.protocol.input
    shown = tuple(
        prepare_image(
            image,
            long_side=rule.long_side,
            upsample=rule.upsample,
            size=rule.size,
            fit=rule.fit,
            pad=rule.pad,
        )
        for image in sample.images
    )
    images = tuple(image for image, _ in shown)
    first = sample.images[0] if images else _blank()
    scene = Scene(
        image=images[0] if images else first,
        size=(first.height, first.width),
        fields=sample.fields,
        choices=sample.choices or job.codec.answer.choices,
        box=shown[0][1] if shown else None,
        fit=job.codec.answer.fit,
    )
    if job.codec.answer.form == "choice" and not scene.choices:
        raise BadSample(f"{sample.id}: no words to choose from, in the sample or in the protocol")
    shows = job.task.codec(job.codec.answer).decoder  # a calibration changes no request
    images += _own_pictures(shows, scene)
    prompt = fill(job.prompt, prompt_fields(shows, scene)) if job.prompt else ""
    ideal = None
    if job.model.card.role == "ceiling":
        assert job.codec.encoder is not None
        try:
            ideal = job.codec.encoder.encode(sample.target, scene)
        except VgenEvalError:
            raise
        except Exception as exc:  # an encoder is anyone's code
            raise BadSample(f"{sample.id}: the truth cannot be encoded: {describe(exc)}") from exc
    encoder = job.codec.encoder if job.model.card.role == "floor" else None
    return Prepared(
        sample=sample,
        images=images,
        scene=scene,
        prompt=prompt,
        shown=shown,
        ideal=ideal,
        encode=None if encoder is None else lambda target: encoder.encode(target, scene),
    )


def _own_pictures(decoder: Decoder, scene: Scene) -> tuple[Image, ...]:
    """What the model is shown beside the sample: a palette that follows from the options."""
    own = getattr(decoder, "pictures", None)
    return () if own is None else tuple(own(scene))


def prompt_fields(decoder: Decoder, scene: Scene) -> Mapping[str, str]:
    """What a prompt may name: the sample's fields, and those that the decoder's options make."""
    own = getattr(decoder, "fields", None)
    return scene.fields if own is None else {**scene.fields, **own(scene)}


@functools.cache
def _blank() -> Image:
    import numpy as np

    return Image(np.zeros((0, 0, 3), dtype=np.uint8))


def seed_of(job: Job, sample: str, attempt: int) -> int:
    """The attempt's seed, as the protocol says: one for all samples, or derived for each."""
    base = int(job.model.card.generation.get("seed", 0))
    if job.task.protocol.seed == "fixed":
        return base + attempt
    digest = hashlib.sha256(f"{base}\n{sample}\n{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def make_request(job: Job, prepared: Prepared, attempt: int) -> Request:
    """The request of one attempt."""
    sample = prepared.sample
    settings = {k: v for k, v in job.model.card.generation.items() if k != "seed"}
    return Request(
        id=f"{sample.id}#{attempt}",
        sample=sample.id,
        attempt=attempt,
        family=job.task.ref.card.family,
        form=job.codec.answer.form,
        prompt=prepared.prompt,
        images=prepared.images,
        prefix=job.codec.answer.prefix,
        choices=prepared.scene.choices,
        choice_scoring=job.codec.answer.choice_scoring or "",
        fields=sample.fields,
        settings=settings,
        seed=seed_of(job, sample.id, attempt),
        ideal=prepared.ideal,
        encode=prepared.encode,
    )


def request_digest(model: str, request: Request) -> str:
    """sha256 over all that can change the answer; equal requests of one model share it.

    `model` is the model's identity digest. Pictures count by their pixels, never by their path.
    The sample counts: two samples that look alike are two draws of a model that samples. All that
    comes after the answer (decoder, metrics) does not count.
    """
    turned = {"prefix": request.prefix} if request.prefix else {}
    if request.choice_scoring:
        turned["choice_scoring"] = request.choice_scoring
    return jsonio.digest(
        {
            **turned,
            "model": model,
            "sample": request.sample,
            "family": request.family,
            "form": request.form,
            "prompt": request.prompt,
            "images": [image.sha256 for image in request.images],
            "choices": list(request.choices),
            "fields": dict(request.fields),
            "settings": dict(request.settings),
            "seed": request.seed,
            "attempt": request.attempt,
        }
    )
