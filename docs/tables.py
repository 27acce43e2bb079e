"""Writes the tables of docs/tables.md and docs/figures/, of small real runs.

python docs/tables.py     a minute; oracle, classical, blind, and two tiny networks
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent

EDITOR = """
model: tiny/editor
adapter: diffusers_editor
checkpoint: {{path: {path}}}
answers: [image]
generation: {{num_inference_steps: 1, text_encoder_out_layers: [1, 2], seed: 4}}
licence: none
"""

MLLM = """
model: tiny/mllm
adapter: transformers_mllm
checkpoint: {{path: {path}}}
answers: [text]
generation: {{max_new_tokens: 4, seed: 3}}
licence: none
"""

FENCES = {"terminal": "text", "latex": "latex", "csv": "csv"}

FIGURES = {
    "efficiency": ("samples/normals",),
    "tags": ("samples/depth",),
    "errors": ("samples/counting", "classical", "tiny/editor"),
    "attempts": ("samples/referring", "attempts"),
    "confusion": ("samples/semantic", "classical"),
}


def main() -> None:
    """Runs the tasks, then the two verbs over the runs."""
    import vgen_eval
    from vgen_eval_plugins.standins import tiny_editors
    from vgen_eval_plugins.standins.tiny_mllms import build_qwen3_vl

    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place), one_thread():
        Path("editor.yaml").write_text(
            EDITOR.format(path=tiny_editors.build_flux2_klein(Path("klein").resolve()))
        )
        Path("mllm.yaml").write_text(MLLM.format(path=build_qwen3_vl(Path("qwen").resolve())))
        vgen_eval.evaluate(
            tasks="samples/*", models=["oracle", "classical", "blind", "./editor.yaml"],
            device="cpu", set={"protocol.input.long_side": 128},
        )  # fmt: skip
        vgen_eval.evaluate(
            tasks="samples/counting", models=["oracle", "blind", "./mllm.yaml"], answer="text",
            device="cpu", set={"protocol.input.long_side": 128},
        )  # fmt: skip
        vgen_eval.evaluate(
            tasks="samples/referring", model="./editor.yaml", attempts=4, bounds=False,
            device="cpu", output="several", set={"protocol.input.long_side": 128},
        )  # fmt: skip
        write_page()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Small sums gain nothing from threads; nothing is asked of a hub."""
    os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
    from vgen_eval_plugins.standins.vision_ops import mend_torchvision

    mend_torchvision()
    import torch

    torch.set_num_threads(1)
    yield


def write_page() -> None:
    """The marked blocks of the page, and its pictures, from the results folder that is here."""
    page = DOCS / "tables.md"
    text = page.read_text(encoding="utf-8")
    for form in ("terminal", "markdown", "latex", "csv"):
        made = told("table", "--format", form)
        fenced = made if form == "markdown" else f"```{FENCES[form]}\n{made}```\n"
        block = re.compile(rf"(<!-- {form} -->\n).*?(<!-- /{form} -->)", re.DOTALL)
        text = block.sub(lambda found, inside=fenced: found[1] + inside + found[2], text)
    page.write_text(text, encoding="utf-8")
    (DOCS / "figures").mkdir(exist_ok=True)
    for kind, (task, *words) in FIGURES.items():
        runs = [place(word) for word in words]
        told("plot", kind, *runs, "--task", task, "-o", str(DOCS / "figures" / f"{kind}.png"))


def place(word: str) -> str:
    """The runs of a model, or those of several attempts."""
    return "several" if word == "attempts" else str(Path("results", "runs", word))


def told(*words: str) -> str:
    """What the command says on stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "vgen_eval.cli", *words], capture_output=True, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
