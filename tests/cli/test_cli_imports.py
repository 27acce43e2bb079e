"""What the light verbs load: nothing heavy, and no plugin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import vgen_eval

HEAVY = ("numpy", "cv2", "skimage", "PIL", "scipy", "rich", "torch", "vgen_eval_plugins")
PROBE = """
import json, sys
from vgen_eval.cli import main
code = main(sys.argv[1:])
print("\\n" + json.dumps([code, sorted(sys.modules)]))
"""


def _modules(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words],
        capture_output=True,
        text=True,
        cwd=Path(vgen_eval.__file__).parents[1],
        check=True,
        timeout=60,
    )
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    return set(modules)


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_help_loads_click_and_this_module_alone(words: list[str]) -> None:
    modules = _modules(*words)
    ours = {name for name in modules if name.partition(".")[0] == "vgen_eval"}
    assert ours == {"vgen_eval", "vgen_eval._version", "vgen_eval.cli"}
    assert not modules & {*HEAVY, "msgspec", "yaml", "orjson", "importlib.metadata"}


@pytest.mark.parametrize(
    "words", [["list"], ["list", "models"], ["list", "suites"], ["list", "tasks", "--json"]]
)
def test_lists_of_cards_load_nothing_heavy_and_no_plugin(words: list[str]) -> None:
    assert not _modules(*words) & {*HEAVY}


@pytest.mark.parametrize("verb", ["run", "show", "check", "score", "doctor", "runs", "data"])
def test_the_help_of_a_verb_loads_nothing_heavy(verb: str) -> None:
    assert not _modules(verb, "--help") & {*HEAVY, "msgspec", "yaml"}
