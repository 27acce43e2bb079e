"""A run of ten samples with a model that does nothing: other harnesses against this one."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench_plugin import NAME, console_script, install, text_task
from figures import interleave, ratio, report
from startup import run

LM_TASK = """\
task: bench_ten
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}"}}}}
test_split: test
output_type: generate_until
doc_to_text: "Say {{{{query}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: 8}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""

INSPECT_TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def bench_ten():
    samples = [Sample(input=f"Say s{at}", target="yes", id=f"s{at}") for at in range(10)]
    return Task(dataset=samples, solver=generate(), scorer=match())
"""


def lm_eval(folder: Path) -> Sequence[str]:
    """Command that runs ten samples with its dummy model."""
    data = folder / "ten.jsonl"
    data.write_text("".join(
        json.dumps({"query": f"s{at}", "target": "yes"}) + "\n" for at in range(10)
    ))  # fmt: skip
    (folder / "bench_ten.yaml").write_text(LM_TASK.format(data=data))
    return [sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", "bench_ten",
            "--include_path", str(folder)]  # fmt: skip


def inspect_ai(folder: Path) -> Sequence[str]:
    """Command that runs ten samples with its mock model."""
    (folder / "bench_ten.py").write_text(INSPECT_TASK)
    return [sys.executable, "-m", "inspect_ai", "eval", "bench_ten.py",
            "--model", "mockllm/model", "--log-dir", str(folder / "logs"),
            "--display", "none"]  # fmt: skip


def main() -> None:
    harnesses: Mapping[str, tuple[Callable[[Path], Sequence[str]], float]] = {
        "lm_eval": (lm_eval, 15),
        "inspect_ai": (inspect_ai, 5),
    }
    for module, (write, least) in harnesses.items():
        name = f"run of 10 samples, {module} / ours"
        if importlib.util.find_spec(module) is None:
            report(name, "not installed", least=least)
            continue
        with tempfile.TemporaryDirectory() as where:
            folder = Path(where)
            env = install(folder / "site", {"ten": text_task("ten", 10)})
            command = [console_script(), "--tasks", f"{NAME}:ten", "--model", f"{NAME}:noop",
                       "--output", str(folder / "results"), "--fresh"]  # fmt: skip
            theirs, ours = interleave(run(write(folder), env, folder=folder), run(command, env))
            report(name, ratio(theirs, ours), least=least)


if __name__ == "__main__":
    main()
