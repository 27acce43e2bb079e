"""The survey imports each plugin in a child and tells what became of it."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from throwaway import NO_OPTIONS, TASK, Install, component_class, hooks
from vgen_eval.plugins import Catalog
from vgen_eval.survey import PluginReport


def survey(monkeypatch: pytest.MonkeyPatch, *names: str, timeout_s: float = 30.0) -> dict[
    str, PluginReport
]:  # fmt: skip
    """Reports of these plugins alone, by name."""
    monkeypatch.setenv("VGEN_EVAL_PLUGINS", ",".join(names))
    catalog = Catalog.discover()
    catalog.plugins = catalog.plugins[1:]  # the built-in one has tests of its own
    return {report.name: report for report in catalog.survey(timeout_s=timeout_s)}


def test_broken_plugins_are_reported_with_reason_and_prints_captured(
    broken_three: Install, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    del broken_three
    reports = survey(monkeypatch, "plug-raises", "plug-exits", "plug-prints")
    assert [report.name for report in reports.values() if not report.ok] == [
        "plug-exits",
        "plug-raises",
    ]
    raises, exits = reports["plug-raises"], reports["plug-exits"]
    assert raises.reason == "ModuleNotFoundError: No module named 'a_module_that_is_not_there'"
    assert raises.traceback.startswith("Traceback")
    assert raises.traceback.rstrip().endswith(raises.reason)
    assert "plug_raises/__init__.py" in raises.traceback
    assert exits.reason == "SystemExit: 3"
    prints = reports["plug-prints"]
    assert (prints.ok, prints.reason, prints.output) == (True, "", "{not json\n")
    assert prints.hooks == {"metric": ("quiet",)}
    for report in reports.values():
        assert report.cards == {"task": 1, "model": 0, "suite": 0}
        assert report.version == "1.0"
        assert report.origin["kind"] == "source"
    assert capfd.readouterr() == ("", "")
    assert not {"plug_raises", "plug_exits", "plug_prints"} & set(sys.modules)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import os\nos._exit(7)\n", "ended the process with exit status 7"),
        ("import os\nos._exit(0)\n", "ended the process without an error"),
        (
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
            "killed by SIGKILL",
        ),
        ("def broken(:\n", "SyntaxError: "),
        (
            "import sys\nsys.stdout = None\nraise ValueError('two\\nlines')\n",
            "ValueError: two lines",
        ),
        (
            "import atexit, os\natexit.register(os._exit, 5)\n",
            "ended the process with exit status 5",
        ),
    ],
)
def test_plugin_that_takes_the_process_down_is_reported(
    install: Install, monkeypatch: pytest.MonkeyPatch, source: str, reason: str
) -> None:
    install("one-plug", {"one_plug/__init__.py": source})
    report = survey(monkeypatch, "one-plug")["one-plug"]
    assert not report.ok
    assert report.reason.startswith(reason)


def test_plugin_that_hangs_is_ended_with_what_it_started(
    install: Install, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note = tmp_path / "grandchild"
    install(
        "one-plug",
        {
            "one_plug/__init__.py": "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            f"open({str(note)!r}, 'w').write(str(child.pid))\n"
            "print('waiting', flush=True)\ntime.sleep(60)\n"
        },
    )
    start = time.monotonic()
    report = survey(monkeypatch, "one-plug", timeout_s=2.0)["one-plug"]
    assert time.monotonic() - start < 20
    assert (report.ok, report.reason) == (False, "not done after 2 s")
    assert report.output == "waiting\n"
    assert _ends(int(note.read_text()))


def _ends(pid: int) -> bool:
    """Does the process end, or is it dead and waits for its parent only?"""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return False


def test_components_are_resolved_one_by_one(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        "one-plug",
        {
            "one_plug/__init__.py": hooks(
                metrics={
                    "good": "one_plug.parts:Good",
                    "gone": "one_plug.gone:Gone",
                    "bare": "one_plug.parts:Bare",
                },
                adapters={"heavy": "one_plug.heavy:Heavy"},
            ),
            "one_plug/parts.py": NO_OPTIONS
            + component_class("Good", "update", "merge", "compute")
            + "class Bare:\n    version = 1\n",
            "one_plug/heavy.py": "from vgen_eval.errors import MissingExtra\n"
            "raise MissingExtra('diffusers')\n",
        },
    )
    report = survey(monkeypatch, "one-plug")["one-plug"]
    found = {component.name: component for component in report.components}
    assert found["good"].ok
    assert found["heavy"].ok  # an extra that is not installed is no fault of the plugin
    assert found["heavy"].note == "needs the extra 'diffusers': pip install 'vgen-eval[diffusers]'"
    assert not found["gone"].ok
    assert found["gone"].note == "ModuleNotFoundError: No module named 'one_plug.gone'"
    assert "Traceback" in found["gone"].traceback
    assert "lacks the attribute 'Options'" in found["bare"].note
    assert not report.ok
    assert report.reason == f"metric 'gone': {found['gone'].note} (and 1 more)"
    assert report.hooks == {"metric": ("good", "gone", "bare"), "adapter": ("heavy",)}


def test_plugin_that_lacks_an_extra_only_is_ok(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        "one-plug",
        {
            "one_plug/__init__.py": hooks(adapters={"heavy": "one_plug.heavy:Heavy"}),
            "one_plug/heavy.py": "from vgen_eval.errors import MissingExtra\n"
            "raise MissingExtra('onnx')\n",
        },
    )
    report = survey(monkeypatch, "one-plug")["one-plug"]
    assert (report.ok, report.reason) == (True, "")


def test_child_runs_in_a_folder_of_its_own(
    install: Install, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "json.py").write_text("raise RuntimeError('a file of the working folder')\n")
    monkeypatch.chdir(work)
    install("one-plug", {"one_plug/__init__.py": "import os, json\nprint(os.getcwd())\n"})
    report = survey(monkeypatch, "one-plug")["one-plug"]
    assert report.ok, report.reason
    assert Path(report.output.strip()) != work


def test_plugin_whose_package_is_lost_is_reported_too(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("lost-plug", {}, entries={"lost": "lost_plug"})
    install("one-plug", {"one_plug/cards/a.yaml": TASK.format(name="toys/a")})
    reports = survey(monkeypatch, "one-plug", "lost-plug")
    assert reports["one-plug"].ok
    assert reports["one-plug"].cards["task"] == 1
    assert not reports["lost-plug"].ok
    assert reports["lost-plug"].reason == "its package 'lost_plug' cannot be found"
