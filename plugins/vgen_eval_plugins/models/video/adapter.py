"""Drives image-to-video pipelines of diffusers on this machine."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.types import AnswerForm, Output, Request, Usage
from vgen_eval.video import load_av

from vgen_eval_plugins.models.editor.loading import MEMORY_CURE, load_pipeline
from vgen_eval_plugins.models.editor.pipelines import DiffusersPipeline
from vgen_eval_plugins.models.editor.resolve import EXTRA, find_class, read_index
from vgen_eval_plugins.models.local.batches import Batches
from vgen_eval_plugins.models.local.devices import choose_device, is_exact
from vgen_eval_plugins.models.local.hub import find_source
from vgen_eval_plugins.models.video.films import Film, check_request, make_film
from vgen_eval_plugins.models.video.kinds import VideoKind, check_settings, read_kind
from vgen_eval_plugins.models.video.options import VideoOptions

__all__ = ["DiffusersVideo"]

log = logging.getLogger(__name__)

OPTIONS = frozenset(VideoOptions.__struct_fields__)
CURE = f"-M size=area:832x480, --set generation.num_frames=N; {MEMORY_CURE}"


class DiffusersVideo(DiffusersPipeline):
    """Any diffusers pipeline that films a prompt from a first frame, by repository or folder.

    The class is the one that the checkpoint's model_index.json names, or the option `pipeline`;
    the card's generation holds arguments of its `__call__`. Each request is a call of its own,
    with a generator seeded on the CPU; its answer is an MP4 file.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = VideoOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("video",)
    libraries: ClassVar[tuple[str, ...]] = ("torch", "diffusers", "transformers", "av")

    @staticmethod
    @contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:
        """A tiny Wan of random weights in the folder, in float32 on a CPU."""
        from vgen_eval_plugins.standins.tiny_videos import build_wan, lenient_video_pipeline

        place = build_wan(folder / "film")
        options = VideoOptions(model=str(place), dtype="float32", size="64x48", fps=16)
        asked, named = set(card.generation) - {"seed"}, card.options.get("pipeline")
        with lenient_video_pipeline(asked, named=named) as pipeline:
            yield {**msgspec.to_builtins(options), "pipeline": pipeline}

    def __init__(
        self,
        options: VideoOptions,
        *,
        card: ModelCard | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.max_batch = 1
        self.deterministic = self._is_exact(device)
        self._pipe: Any = None
        self._kind: VideoKind | None = None
        self._batches: Batches | None = None

    def _is_exact(self, device: str | None) -> bool:
        return is_exact(self.options.dtype, device)

    def load(self) -> None:
        """Resolves checkpoint, class and device, checks the call's arguments, loads weights.

        UsageError for an unknown argument, before any weights; NotRunnable, with the cure, for
        all that is not here.
        """
        options = self.options
        load_av()
        source = find_source(options.model, options.revision, card=self.card, extra=EXTRA)
        index = read_index(source)
        pipeline = find_class(index, named=options.pipeline, trusted=options.trust_remote_code)
        if pipeline is not None:
            self._check(read_kind(pipeline))
        device = choose_device(self.device, extra=EXTRA)
        dtypes = {} if options.vae_dtype is None else {"vae": options.vae_dtype}
        pipe = load_pipeline(source, index, pipeline, options, device, dtypes=dtypes)
        kind = read_kind(type(pipe))
        self._check(kind)
        self._pipe, self._kind = pipe, kind
        self.deterministic = self._is_exact(device)
        self._batches = Batches(1, device=device, cure=CURE)
        log.info("%s: %s on %s", source, kind.name, device)

    def _check(self, kind: VideoKind) -> None:
        settings = {} if self.card is None else dict(self.card.generation)
        settings.pop("seed", None)
        check_settings(kind, settings, options=OPTIONS)
        kind.fps(self.options.fps)
        if "x" in self.options.size and not kind.sized:
            raise UsageError(
                f"size={self.options.size}: {kind.name} takes no height and width",
                cure="-M size=auto: it chooses by the first frame",
            )
        _check_words(kind)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """An MP4 file for each request.

        CallError for what the pipeline cannot be asked, and when memory runs out.
        """
        assert self._pipe is not None
        assert self._kind is not None
        assert self._batches is not None
        for request in requests:
            check_request(self._kind, request)
            check_settings(self._kind, request.settings, options=OPTIONS)
        for request in requests:
            [film] = self._batches.run([request], self._call)
            yield Output(
                id=request.id,
                answer=film.data,
                usage=Usage(video_seconds=film.seconds),
                flags=film.flags,
            )

    def _call(self, requests: Sequence[Request]) -> Sequence[Film]:
        assert self._kind is not None
        assert self._batches is not None
        device = self._batches.device or "cpu"
        return [
            make_film(self._pipe, self._kind, self.options, request, device=device)
            for request in requests
        ]


def _check_words(kind: VideoKind) -> None:
    """NotRunnable where the class cleans prompts with a library that diffusers does not bring.

    Some pipelines call ftfy whether or not it could be imported, after all weights are loaded.
    """
    for base in kind.pipeline.__mro__:
        module = sys.modules.get(base.__module__)
        clean = getattr(module, "basic_clean", None)
        if clean is None or hasattr(module, "ftfy"):
            continue
        source = inspect.getsource(clean)
        if "ftfy." in source and "is_ftfy_available" not in source:
            raise NotRunnable(
                f"{kind.name} cleans prompts with ftfy, which is not installed",
                cure="pip install ftfy",
            )
