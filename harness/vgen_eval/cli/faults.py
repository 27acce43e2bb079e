"""What an error becomes: at most two lines on stderr, cause and cure, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from traceback import walk_tb
from typing import Any, cast

import click

from vgen_eval.cli import PROGRAM, cli, logs, terminal
from vgen_eval.errors import (
    CardError,
    MissingExtra,
    NotRunnable,
    UsageError,
    VgenEvalError,
    nearest,
)
from vgen_eval.secrets import redact

__all__ = ["as_usage", "report"]

INTERNAL, INTERRUPTED, PIPE_CLOSED = 4, 130, 141
LONGEST = 2000
"""Columns of an error at most: the rest of a name that is a page long helps nobody."""


def report(exc: BaseException, words: Sequence[str] = ()) -> int:
    """Says what went wrong and returns the exit code; `words`: what was typed."""
    if isinstance(exc, terminal.OutputClosed) or _is_from_click_echo(exc):
        terminal.drop_stdout()
        return PIPE_CLOSED
    if isinstance(exc, (KeyboardInterrupt, click.Abort)):
        terminal.note("error: interrupted")
        return INTERRUPTED
    if isinstance(exc, VgenEvalError):
        _tell(exc.what, _cure(exc))
        return exc.exit_code
    if isinstance(exc, click.ClickException):
        what, cure = _of_click(exc, words)
        _tell(what, cure)
        return 2
    path = logs.write_traceback(exc)
    _tell(f"internal error: {type(exc).__name__}: {exc}", _log_line(path, "the traceback is in"))
    return INTERNAL


def _is_from_click_echo(exc: BaseException) -> bool:
    """Did click's help, or the last flush, find stdout closed? A plugin's own pipe is no such."""
    trace = exc.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    ours = trace is not None and trace.tb_frame.f_globals.get("__name__") in (
        "click.utils", "vgen_eval.cli",
    )  # fmt: skip
    return isinstance(exc, BrokenPipeError) and ours


def _tell(what: str, cure: str | None) -> None:
    line = terminal.clip(terminal.clean(redact(f"error: {what}")), LONGEST)
    terminal.note(line, *([redact(cure)] if cure else []))


def _cure(exc: VgenEvalError) -> str | None:
    cure = exc.cure
    if isinstance(exc, CardError) and not Path(exc.problems[0].file).is_file():
        cure = None  # `check` reads card files; these problems stand elsewhere
    if not _has_traceback(exc):
        return cure
    log = _log_line(logs.write_traceback(exc), "log:")
    return f"{cure} ({log})" if cure else log


def _log_line(path: Path | None, words: str) -> str:
    return f"{words} {path}" if path else "no log could be written: no folder has room for it"


def _has_traceback(exc: VgenEvalError) -> bool:
    """Is the cause somebody's code that failed, so that its traceback is worth reading?"""
    if isinstance(exc, MissingExtra) and isinstance(exc.__cause__, ModuleNotFoundError):
        return False
    cause = exc.__cause__
    if not isinstance(exc, NotRunnable) or cause is None or isinstance(cause, VgenEvalError):
        return False
    # a file that is not there says so itself, unless it was somebody else's code that wanted it
    return not isinstance(cause, OSError) or _is_foreign(cause)


def _is_foreign(exc: BaseException) -> bool:
    """Did code that is neither ours nor Python's take part in it?"""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(exc.__traceback__)]
    ours = {"vgen_eval", "vgen_eval_plugins", "__main__", *sys.stdlib_module_names}
    return any(module.partition(".")[0] not in ours for module in modules)


def as_usage(exc: CardError) -> UsageError:
    """The problems of something that is no card file, such as options, as a usage error."""
    first, count = exc.problems[0], len(exc.problems)
    return UsageError(f"{first}{f' (and {count - 1} more)' if count > 1 else ''}")


def _of_click(exc: click.ClickException, words: Sequence[str]) -> tuple[str, str | None]:
    """Cause and cure in our form of what click says."""
    ctx = getattr(exc, "ctx", None)
    path = ctx.command_path if ctx is not None else _verb_of(words)
    cure = f"{path} --help shows its options"
    if isinstance(exc, click.NoSuchOption):
        return f"no option '{exc.option_name}'.{_near_options(exc.option_name, ctx)}", cure
    if isinstance(exc, click.MissingParameter) and exc.param is not None:
        return f"{exc.param.make_metavar(ctx).rstrip('.')} is missing", cure  # type: ignore[arg-type]
    if isinstance(exc, click.BadParameter) and exc.param is not None:
        return f"{_name_of(exc.param)}: {exc.message.rstrip('.')}", cure
    message = exc.format_message().rstrip(".")
    return message[:1].lower() + message[1:], cure


def _verb_of(words: Sequence[str]) -> str:
    """The command that was typed: of an option without its value click does not say whose it is."""
    if words and words[0].startswith("-"):
        words = ("run", *words)
    path, command = [PROGRAM], cast("click.Command | None", cli)
    for word in words:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word)
        if command is not None:
            path.append(word)
    return " ".join(path)


def _letters(option: str) -> int:
    """Of an option's name: -n is told before --n, and --sample before -s."""
    return len(option.lstrip("-"))


def _name_of(param: Any) -> str:
    return str(max(param.opts, key=_letters)) if param.param_type_name == "option" else param.name


def _near_options(name: str, ctx: click.Context | None) -> str:
    known = [o for p in ctx.command.params for o in (*p.opts, *p.secondary_opts)] if ctx else []
    # by the bare word: dashes would make every long option look alike
    words = {option.lstrip("-"): option for option in known if option.startswith("--")}
    near = nearest(name.lstrip("-"), words)
    for word in sorted(words, key=len, reverse=True):
        near = near.replace(f" {word}", f" {words[word]}")
    return near
