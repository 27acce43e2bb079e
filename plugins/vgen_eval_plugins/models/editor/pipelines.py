"""What adapters of diffusers pipelines share: which checkpoint it is, what it lacks, letting go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard

from vgen_eval_plugins.models.editor.loading import lora_facts
from vgen_eval_plugins.models.editor.options import PipelineOptions
from vgen_eval_plugins.models.editor.resolve import EXTRA
from vgen_eval_plugins.models.local.batches import Batches
from vgen_eval_plugins.models.local.devices import release
from vgen_eval_plugins.models.local.hub import find_source, identity_facts
from vgen_eval_plugins.models.local.weights import wanted_libraries

__all__ = ["DiffusersPipeline"]


class DiffusersPipeline(BaseAdapter):
    """A pipeline of diffusers on this machine; subclasses load and call it."""

    extra: ClassVar[str | None] = EXTRA
    libraries: ClassVar[tuple[str, ...]]
    """Those whose versions are part of the identity."""

    _pipe: Any = None
    _kind: Any = None
    _batches: Batches | None = None

    @classmethod
    def identify(cls, options: PipelineOptions, card: ModelCard) -> Mapping[str, Any]:
        """The commit or the folder's contents, those of LoRAs, and the libraries' versions."""
        source = find_source(options.model, options.revision, card=card, extra=EXTRA)
        facts = dict(identity_facts(source, libraries=cls.libraries))
        if options.loras:
            facts["loras"] = [lora_facts(lora) for lora in options.loras]
        return facts

    @classmethod
    def lacks(cls, options: PipelineOptions, card: ModelCard) -> Sequence[str]:  # noqa: ARG003
        """Libraries that its quantization and LoRAs need and that are not installed."""
        return wanted_libraries(options.quantization, options.loras)

    def close(self) -> None:
        """Lets go of the pipeline and of the device's memory."""
        device = None if self._batches is None else self._batches.device
        self._pipe = self._kind = self._batches = None
        if device is not None:
            release(device)
