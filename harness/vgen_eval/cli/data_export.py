"""`vgen-eval data export`: a task's pictures and prompts in a folder, for a program elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from vgen_eval.cli.completing import complete_tasks

__all__ = ["export_data"]


@click.command("export")
@click.argument("task", metavar="TASK", shell_complete=complete_tasks)
@click.option("-o", "--to", metavar="DIR", help="Folder to write into; made if need be.")
@click.option("--answer", metavar="FORM", help="Answer form whose prompts are wanted.")
@click.option("--prompt", metavar="VARIANT", help="short, mid, long.")
@click.option("--samples", multiple=True, metavar="ID,..", help="Only these; @FILE reads ids.")
@click.option("--limit", type=int, metavar="N", help="At most N samples.")
@click.option("--data-root", metavar="DIR", help="Folder of the data sets (else $VGEN_DATA).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def export_data(
    task: str, to: str | None, as_json: bool, samples: Sequence[str], **given: Any
) -> int:
    """Write what TASK shows and asks, for a model that runs elsewhere; no truth is written.

    \b
      questions.jsonl    a line a sample: id, images, prompt, and choices where there are any
      images/ID.png      its picture as a model is shown it

    `vgen-eval score --task TASK --predictions PATH --model-name NAME` reads the answers. The
    data stays under its own licence and terms: vgen-eval data list TASK.
    """  # fmt: skip
    import msgspec

    from vgen_eval.cli import terminal
    from vgen_eval.cli.options import build_settings
    from vgen_eval.data.handout import QUESTIONS, hand_out
    from vgen_eval.errors import UsageError
    from vgen_eval.plugins import Catalog

    if not to or to.startswith("--"):
        raise UsageError(
            "no folder to write into is named", cure=f"vgen-eval data export {task} -o DIR"
        )
    terminal.guard_stdout()
    settings = build_settings({**given, "tasks": task, "samples": samples, "bounds": False}, None)
    done = hand_out(settings, Catalog.discover(), target=Path(to).expanduser())
    terminal.note(*(f"left out: {fault}" for fault in done.faults[:10]))
    code = 1 if done.faults else 0
    if as_json:
        terminal.say_json({**msgspec.to_builtins(done), "exit_code": code})
        return code
    asks = f"answer {done.form}" + (f", prompt {done.prompt}" if done.prompt else "")
    terminal.say(
        f"{done.task}   {asks}   {terminal.plural(done.samples, 'sample')}, "
        f"{terminal.plural(done.pictures, 'picture')}",
        terminal.clean(f"{Path(done.target, QUESTIONS)}"),
    )
    return code
