"""Drives image-to-image and editing pipelines of diffusers on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import Refused, UsageError
from vgen_eval.types import AnswerForm, Output, Request

from vgen_eval_plugins.models.editor.calls import Made, call, check_request, group
from vgen_eval_plugins.models.editor.kinds import Kind, check_settings, read_kind
from vgen_eval_plugins.models.editor.loading import MEMORY_CURE, load_pipeline
from vgen_eval_plugins.models.editor.options import EditorOptions, read_size
from vgen_eval_plugins.models.editor.pipelines import DiffusersPipeline
from vgen_eval_plugins.models.editor.resolve import EXTRA, find_class, read_index
from vgen_eval_plugins.models.editor.steps import check_capture
from vgen_eval_plugins.models.local.batches import Batches
from vgen_eval_plugins.models.local.devices import choose_device, is_exact
from vgen_eval_plugins.models.local.hub import find_source

__all__ = ["DiffusersEditor"]

log = logging.getLogger(__name__)

OPTIONS = frozenset(EditorOptions.__struct_fields__)


class DiffusersEditor(DiffusersPipeline):
    """Any diffusers pipeline that takes a prompt and a picture, by repository or folder.

    The class is the one that the checkpoint's model_index.json names; the card's generation holds
    arguments of its `__call__`. Each request has a generator of its own, seeded on the CPU.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = EditorOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image",)
    libraries: ClassVar[tuple[str, ...]] = ("torch", "diffusers", "transformers")

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A tiny InstructPix2Pix of random weights in the folder, in float32 on a CPU."""
        from vgen_eval_plugins.standins.tiny_editors import build_instruct_pix2pix, lenient_pipeline

        place = build_instruct_pix2pix(folder / "editor")
        plain = msgspec.to_builtins(EditorOptions(model=str(place), dtype="float32"))
        asked, named = set(card.generation) - {"seed"}, card.options.get("pipeline")
        with lenient_pipeline(asked, named=named) as pipeline:
            yield {**plain, "pipeline": pipeline}

    def __init__(
        self,
        options: EditorOptions,
        *,
        card: ModelCard | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.max_batch = options.batch
        self.deterministic = self._is_exact(device)
        self._pipe: Any = None
        self._kind: Kind | None = None
        self._batches: Batches | None = None

    def _is_exact(self, device: str | None) -> bool:
        # a larger batch is another shape of the same sums, which even a CPU may order otherwise
        return is_exact(self.options.dtype, device) and self.options.batch == 1

    def load(self) -> None:
        """Resolves checkpoint, class and device, checks the call's arguments, loads weights.

        UsageError for an unknown argument, before any weights; NotRunnable, with the cure, for
        all that is not here.
        """
        options = self.options
        source = find_source(options.model, options.revision, card=self.card, extra=EXTRA)
        index = read_index(source)
        pipeline = find_class(index, named=options.pipeline, trusted=options.trust_remote_code)
        if pipeline is not None:
            self._check(read_kind(pipeline))
        device = choose_device(self.device, extra=EXTRA)
        pipe = load_pipeline(source, index, pipeline, options, device)
        kind = read_kind(type(pipe))
        self._check(kind)
        self._pipe, self._kind = pipe, kind
        self.max_batch = options.batch if kind.edits else 1
        self.deterministic = self._is_exact(device)
        self._batches = Batches(self.max_batch, device=device, cure=MEMORY_CURE)
        log.info("%s: %s on %s", source, kind.name, device)

    def _check(self, kind: Kind) -> None:
        settings = {} if self.card is None else dict(self.card.generation)
        settings.pop("seed", None)
        check_settings(kind, settings, options=OPTIONS)
        if self.options.capture_steps:
            check_capture(kind)
        if read_size(self.options.size) and not kind.sized:
            raise UsageError(
                f"size={self.options.size}: {kind.name} takes no height and width",
                cure="-M size=input: its picture is as large as the input",
            )

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """A picture for each request, uint8 (H, W, 3).

        Refused for pictures that the safety checker took, after all others; CallError for what
        the pipeline cannot be asked, and when memory runs out at one request.
        """
        assert self._pipe is not None
        assert self._kind is not None
        assert self._batches is not None
        for request in requests:
            check_request(self._kind, request)
            check_settings(self._kind, request.settings, options=OPTIONS)
        taken = 0
        for alike in group(requests):
            try:
                for made in self._batches.run(alike, self._call):
                    if made.picture is None:
                        taken += 1
                        continue
                    yield Output(id=made.id, answer=made.picture, pictures=made.steps)
            finally:
                self.max_batch = self._batches.most
        if taken:
            raise Refused("safety checker")

    def _call(self, requests: Sequence[Request]) -> Sequence[Made]:
        assert self._kind is not None
        assert self._batches is not None
        device = self._batches.device or "cpu"
        return call(self._pipe, self._kind, self.options, requests, device=device)
