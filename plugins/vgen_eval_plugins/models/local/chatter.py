"""What the libraries say while a model loads and answers: on our log, without their bars."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["chatter_logged", "no_bars"]

NAMES = ("diffusers", "transformers")


@contextmanager
def chatter_logged() -> Iterator[None]:
    """What diffusers and transformers log goes to the log of the program that runs them.

    They print it past all settings of Python's logging: a warning a sample, a thousand times.
    """
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger.handlers, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [], True
    try:
        yield
    finally:
        for logger, (handlers, propagate) in zip(loggers, before, strict=True):
            logger.handlers, logger.propagate = handlers, propagate


@contextmanager
def no_bars(*libraries: str) -> Iterator[None]:
    """None of the progress bars of diffusers and transformers; for what takes no downloads."""
    import importlib

    found = [importlib.import_module(f"{name}.utils").logging for name in libraries]
    shown = [kind for kind in found if kind.is_progress_bar_enabled()]
    for kind in shown:
        kind.disable_progress_bar()
    try:
        yield
    finally:
        for kind in shown:
            kind.enable_progress_bar()
