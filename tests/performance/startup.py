"""Start-up: `--help` and a list of more than 60 tasks against `import click` alone."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_plugin import console_script, install
from figures import Measure, interleave, ratio, report, seconds

CARDS = 64
HEAVY = ("numpy", "cv2", "torch", "PIL", "skimage", "rich")

CARD = """\
task: {name}
version: 1
family: referring
title: Finds what a phrase refers to, collection {number}

dataset:
  reader: photos
  root: collection{number}
  options: {{folder: images, n: 1500}}
  revision: "2014-07-01"
  n: 1500
  layout_checked: notes
  licence: CC-BY-4.0 (annotations); the photographs under the terms of their owners
  redistribution: >-
    Only the annotations may be passed on. The photographs are read from the folder into which
    they were downloaded.
  source: https://example.org/collection{number}
  citation: >-
    Nobody et al., A collection of photographs and of phrases about them, Journal of Collections
    2:e{number}, 2014.

default_protocol: standard
protocols:
  standard:
    title: The target white on black, cut at Otsu's threshold
    source: After the collection's paper, section 4.2
    input: {{long_side: 1024}}
    answers:
      - form: image
        prompt:
          short: "Segment this: {{query}}."
          mid: >-
            Turn this picture into a mask: paint everything that this refers to solid white and
            all the rest solid black: {{query}}.
        decoder: binary_mask
        encoder: binary_mask
      - form: mask
        prompt: {{mid: "Segment this: {{query}}."}}
    metrics: [{{name: mask_iou}}]
    primary: giou
    failure_value: empty_mask
    seed: fixed
"""


def run(command: Sequence[str], env: Mapping[str, str], *, folder: Path | None = None) -> Measure:
    """Wall seconds of a command, run in `folder`, whose output is thrown away."""
    quiet = subprocess.DEVNULL
    return seconds(
        lambda: subprocess.run(command, env=env, cwd=folder, check=True, stdout=quiet, stderr=quiet)
    )


def loaded_by(words: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Which of the heavy libraries a command leaves in sys.modules."""
    source = (
        "import json, sys\n"
        "from vgen_eval.cli import main\n"
        f"main({list(words)!r})\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], env=env, check=True, capture_output=True, text=True
    )
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


def main() -> None:
    program = console_script()
    with tempfile.TemporaryDirectory() as folder:
        cards = {
            f"task{number}": CARD.format(name=f"toys/task{number}", number=number)
            for number in range(CARDS)
        }
        env = install(Path(folder), cards)
        listed = subprocess.run(
            [program, "list", "tasks"], env=env, check=True, capture_output=True, text=True
        ).stdout
        if listed.count("toys/task") != CARDS:
            raise SystemExit(f"{CARDS} cards were written, the list shows others:\n{listed}")
        click, shown, tasks = interleave(
            run([sys.executable, "-c", "import click"], env),
            run([program, "--help"], env),
            run([program, "list", "tasks"], env),
        )
        report("--help / import click", ratio(shown, click), most=1.6)
        report(f"list tasks ({CARDS} cards more) / import click", ratio(tasks, click), most=4)
        for words in (["--help"], ["list", "tasks"]):
            heavy = loaded_by(words, env)
            name = f"heavy libraries loaded by {' '.join(words)}"
            report(name, len(heavy), "", most=0)
            if heavy:
                print(f"  {', '.join(heavy)}")


if __name__ == "__main__":
    main()
