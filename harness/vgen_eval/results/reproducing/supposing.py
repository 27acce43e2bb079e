"""The run that would be made if its data were here: how many samples, of which model."""

from __future__ import annotations

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.models import Model
from vgen_eval.engine.plan import Job
from vgen_eval.engine.settings import Settings
from vgen_eval.results.reproducing.departures import Reference

__all__ = ["Supposed", "suppose"]


class Supposed(msgspec.Struct, frozen=True, kw_only=True):
    """A run that lacks nothing but its data."""

    job: Job
    """It, on no samples."""
    samples: int | None
    """How many there would be, by the cards; None where they do not tell."""
    key: str
    """Tells it from the others of a table."""

    @property
    def calls(self) -> int | None:
        """Attempts in all."""
        return None if self.samples is None else self.samples * self.job.attempts


def suppose(reference: Reference, model: Model | None, settings: Settings) -> Supposed:
    """The run that follows the paper, of at most as many samples as are asked for.

    `model`: it as it can be run here; None where it cannot.
    """
    job = reference.job
    if model is not None:
        job = msgspec.structs.replace(job, model=model)
    sampling = job.task.protocol.sampling
    whole = reference.promised
    if whole is None or (sampling.unit == "image" and reference.row.n_paper is not None):
        whole = reference.row.n_paper  # nobody else says how many pictures there are
    counts = [n for n in (settings.limit, sampling.limit, whole) if n is not None]
    identity = (job.model.identity_digest(), job.task.ref.label, job.variant, dict(settings.set))
    return Supposed(job=job, samples=min(counts, default=None), key=jsonio.digest(identity))
