"""`vgen-eval completion`: the script that lets a shell complete verbs, options and names."""

from __future__ import annotations

import os
from pathlib import Path

import click

__all__ = ["command"]

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", required=False, metavar="[bash|zsh|fish]")
@click.option("--install", is_flag=True, help="Write it where the shell looks for it.")
def command(shell: str | None, install: bool) -> int:
    """Print the completion script of a shell; that of $SHELL when none is named."""
    from click.shell_completion import get_completion_class

    from vgen_eval.cli import COMPLETE, PROGRAM, cli, terminal
    from vgen_eval.errors import StorageError, UsageError, nearest

    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise UsageError(
            f"no completion for the shell '{shell}'.{nearest(shell, SHELLS)}",
            cure=f"one of {', '.join(SHELLS)}",
        )
    kind = get_completion_class(shell)
    assert kind is not None
    # of click's BashComplete only the template is taken: its `source` starts a bash to ask
    # its version
    completer = kind(cli, {}, PROGRAM, COMPLETE)
    script = completer.source_template % completer.source_vars()
    if not install:
        terminal.say(script.strip("\n"))
        return 0
    path, hint = _place(shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as exc:
        raise StorageError(f"cannot write {path}: {exc.strerror or exc}") from exc
    terminal.say(f"written: {path}", hint)
    return 0


def _place(shell: str) -> tuple[Path, str]:
    """Where the shell looks for completions of its user, and what is left to do."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    again = "It works in the next shell that is started."
    if shell == "bash":
        return data / "bash-completion/completions/vgen-eval", again
    if shell == "fish":
        return config / "fish/completions/vgen-eval.fish", again
    return home / ".zfunc/_vgen-eval", (
        "Put these into ~/.zshrc before the line that runs compinit, if they are not there:\n"
        "  fpath+=~/.zfunc; autoload -Uz compinit && compinit"
    )
