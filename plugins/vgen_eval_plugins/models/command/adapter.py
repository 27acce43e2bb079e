"""A model in its own environment, container or machine: a program that speaks JSON lines."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import ModelCard
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.types import FORMS, AnswerForm, Output, Request

from vgen_eval_plugins.models.command import protocol
from vgen_eval_plugins.models.command.environment import EnvOptions, build_environment
from vgen_eval_plugins.models.command.launch import (
    digest_files,
    folder_of,
    make_launch,
    missing_scripts,
)
from vgen_eval_plugins.models.command.lines import Strays
from vgen_eval_plugins.models.command.requirements import Requirements, read_requirements
from vgen_eval_plugins.models.command.worker import Restarts, Worker

__all__ = ["REFERENCE", "Command", "CommandOptions"]

log = logging.getLogger(__name__)

REFERENCE = Path(__file__).with_name("reference.py")
"""A program to start from: copy it and put a model into it."""

VariableName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Word = Annotated[str, msgspec.Meta(min_length=1)]


def _how(text: str, **more: Any) -> msgspec.Meta:
    """Of an option that changes no answer."""
    return msgspec.Meta(description=text, extra={"provenance": True}, **more)


class CommandOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which program, where it lives, and how it is kept alive."""

    program: Annotated[
        tuple[Word, ...],
        msgspec.Meta(
            description="The program and its words. `python` first, or {python} anywhere: the "
            "environment's interpreter; {folder}: the folder.",
            min_length=1,
        ),
    ]
    folder: Annotated[
        str | None,
        _how(
            "Where relative paths start and the program runs; null: the card's own, or the "
            "current one; {programs}: that of the programs which ship with vgen-eval."
        ),
    ] = None
    files: Annotated[
        tuple[Word, ...],
        msgspec.Meta(
            description="Further files of the folder that decide the answers (src/*.py); those "
            "among the program's words count anyway."
        ),
    ] = ()
    config: Annotated[
        Mapping[str, Any], msgspec.Meta(description="Given to the program as it is, in hello.")
    ] = {}
    env: Annotated[
        EnvOptions | None,
        msgspec.Meta(description="An environment built for it on first use; null: none."),
    ] = None
    pass_env: Annotated[
        tuple[VariableName, ...],
        _how("Environment variables that it gets beside the ordinary ones; no keys."),
    ] = ()
    processes: Annotated[
        int, _how("Programs at once, each with a call of its own.", ge=1, le=64)
    ] = 1
    start_timeout_s: Annotated[
        float, _how("Seconds until it must be ready, weights loaded.", gt=0)
    ] = 600.0
    restarts: Annotated[
        int, _how("How often it is started again after it ended or hung.", ge=0, le=1000)
    ] = 10


class Command(BaseAdapter):
    """Drives a program over its stdin and stdout: docs/command.md.

    A program that crashes, hangs or breaks the protocol costs the call that it was at; it is
    started again for the next, as often as `restarts` says.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = CommandOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = FORMS
    timeout_s: ClassVar[float | None] = 600.0
    deterministic = False

    @staticmethod
    @contextlib.contextmanager
    def stub(card: ModelCard, folder: Path) -> Iterator[Mapping[str, Any]]:  # noqa: ARG004
        """The reference program, which answers every form, in place of the card's own."""
        yield {
            "program": ["{python}", str(REFERENCE)],
            "folder": str(folder),
            "files": [],
            "config": {},
            "env": None,
            "pass_env": [],
        }

    @classmethod
    def identify(cls, options: CommandOptions, card: ModelCard) -> Mapping[str, Any]:  # noqa: ARG003
        """The protocol's version, digests of the program's files, and the requirements."""
        folder = folder_of(options.folder)
        facts: dict[str, Any] = {
            "protocol": protocol.PROTOCOL,
            "program_files": dict(digest_files(options.program, options.files, folder)),
        }
        requirements = _requirements(options, folder)
        if requirements is not None:
            facts["requirements"] = list(requirements.given)
            facts["requirement_files"] = dict(requirements.files)
        return facts

    @classmethod
    def lacks(cls, options: CommandOptions, card: ModelCard) -> Sequence[str]:
        """The program, a file of it or the folder, where it is not here; an environment is made."""
        try:
            folder = folder_of(options.folder)
            cls.identify(options, card)  # for the files that it names
            if options.env is not None:
                return missing_scripts(options.program, folder)
            launch = make_launch(
                options.program,
                folder=folder,
                python=None,
                pass_env=options.pass_env,
                key_env=card.needs.key_env,
            )
        except (NotRunnable, UsageError) as exc:
            return [f"{exc.what}: {exc.cure}" if exc.cure else exc.what]
        if not os.access(launch.args[0], os.X_OK):
            return [f"there is no program {launch.args[0]}, or it may not be run"]
        return missing_scripts(options.program, folder)

    def __init__(
        self, options: CommandOptions, *, card: ModelCard | None = None, device: str | None = None
    ) -> None:
        super().__init__(options, card=card, device=device)
        self.concurrency = options.processes
        self._strays: Strays | None = None
        self._workers: list[Worker] = []
        self._free: queue.SimpleQueue[Worker] | None = None

    def load(self) -> None:
        """Builds the environment where there is none yet, starts the programs, waits for them.

        UsageError for options that cannot be meant, NotRunnable when a program cannot be started,
        says that it cannot, or is not ready in time.
        """
        options: CommandOptions = self.options
        folder = folder_of(options.folder)
        self.key()  # MissingKey before anything is built; cut out of what is kept from now on
        requirements = _requirements(options, folder)
        python = None
        if options.env is not None and requirements is not None:
            python = build_environment(options.env.python, requirements)
        launch = make_launch(
            options.program,
            folder=folder,
            python=python,
            pass_env=options.pass_env,
            key_env=None if self.card is None else self.card.needs.key_env,
        )
        self._strays = Strays(launch.name)
        restarts = Restarts(options.restarts)
        self._workers = [
            Worker(
                launch,
                protocol.hello(
                    self.card, config=options.config, device=self.device, process=number
                ),
                start_timeout_s=options.start_timeout_s,
                restarts=restarts,
                strays=self._strays,
            )
            for number in range(options.processes)
        ]
        self._start()

    def _start(self) -> None:
        """Starts all programs at once; ends them all when one fails."""
        with ThreadPoolExecutor(len(self._workers)) as threads:
            try:
                said = list(threads.map(Worker.start, self._workers))
            except BaseException:  # Ctrl-C too, and some may need minutes to get ready
                for worker in self._workers:
                    worker.kill()
                self._workers = []
                raise
        self.max_batch = min(ready.max_batch for ready in said)
        self.deterministic = all(ready.deterministic for ready in said)
        self._free = queue.SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        log.info("program is ready: %s", said[0])

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """The outputs of one call of a program that is free, in the order in which it answers."""
        if self._free is None:
            raise RuntimeError("load() comes before generate()")
        free = self._free
        worker = free.get()
        try:
            seconds = None if self.timeout is None else self.timeout * len(requests)
            yield from worker.ask(requests, seconds=seconds)
        finally:
            free.put(worker)

    def close(self) -> None:
        """Ends the programs and all their children; says what was passed over in the protocol."""
        workers, self._workers, self._free = self._workers, [], None
        if workers:
            with ThreadPoolExecutor(len(workers)) as threads:
                list(threads.map(Worker.close, workers))
        if self._strays is not None:
            self._strays.sum_up()


def _requirements(options: CommandOptions, folder: Path) -> Requirements | None:
    if options.env is None:
        return None
    return read_requirements(
        options.env.requirements, file=options.env.requirements_file, folder=folder
    )
