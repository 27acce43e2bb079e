"""`vgen-eval view`: its address, its token, ports in use, a missing extra, and a quiet end."""

from __future__ import annotations

import http.client
import io
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import IO

import pytest
from clikit import Command

pytest.importorskip("starlette", reason="the viewer needs vgen-eval[view]")

Started = Callable[..., AbstractContextManager["Viewer"]]


class Viewer:
    """A process of the verb, and the address that it printed."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.port = int(re.findall(r":(\d+)/", address)[0])

    def get(self, path: str, **headers: str) -> tuple[int, Message, str]:
        """Status, headers, body."""
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with closing(wire):
            wire.request("GET", path, headers=headers)
            answer = wire.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def end(self) -> tuple[int, str]:
        """By Ctrl-C: its exit code, and what it said on stderr."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=20)
        return self.process.returncode, said


@pytest.fixture
def view(tmp_path: Path, environment: dict[str, str]) -> Started:
    @contextmanager
    def start(*words: str, **extra: str) -> Iterator[Viewer]:
        process = subprocess.Popen(
            [sys.executable, "-m", "vgen_eval.cli", "view", "--no-open", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            env=environment | extra,
        )  # fmt: skip
        try:
            out: IO[str] | None = process.stdout
            assert out is not None
            line = out.readline().strip()
            assert line.startswith("http://"), process.communicate(timeout=20)
            yield Viewer(process, line)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()

    return start


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        yield held.getsockname()[1]


def test_it_says_where_and_what_and_ends_quietly(
    view: Started, vgen: Command, tmp_path: Path
) -> None:
    made = vgen("--tasks", "samples/counting", "--model", "oracle", "--limit", "2", "--no-bounds")
    assert made.returncode == 0, made.stderr
    with view("--port", "0") as viewer:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", viewer.address)
        status, headers, body = viewer.get("/")
        assert status == 200
        assert headers["server"] is None
        assert "samples/counting@standard" in body
        code, said = viewer.end()
    assert code == 0
    assert said.splitlines() == ["1 run, 2 samples in results", "Ctrl-C ends it."]


def test_before_any_run_the_page_says_how_and_nothing_is_made(
    view: Started, tmp_path: Path
) -> None:
    with view("--port", "0", XDG_CACHE_HOME=str(tmp_path / "cache")) as viewer:
        assert "No runs here yet" in viewer.get("/")[2]
        code, said = viewer.end()
    assert code == 0
    assert "0 runs, 0 samples in results" in said
    assert not (tmp_path / "results").exists()


def test_a_folder_that_was_named_and_is_not_there_is_an_error(
    vgen: Command, tmp_path: Path
) -> None:
    (tmp_path / "results").mkdir()
    found = vgen("view", "--no-open", "resluts")
    assert found.returncode == 2
    assert found.stderr.splitlines() == [
        "error: resluts: no such folder. Nearest: results",
        "name the folder that runs were written to, as --output of vgen-eval run",
    ]
    assert not (tmp_path / "resluts").exists()


def test_a_run_or_its_runs_are_shown_by_the_results_around_them(
    view: Started, vgen: Command, tmp_path: Path
) -> None:
    made = vgen("--tasks", "samples/counting", "--model", "oracle", "--limit", "2", "--no-bounds")
    assert made.returncode == 0, made.stderr
    (run,) = (path.parent.relative_to(tmp_path) for path in tmp_path.rglob("run.json"))
    with view(str(run), "--port", "0") as viewer:
        page = "/" + viewer.address.split("/", 3)[3]
        assert page.startswith("/r/")
        status, _, body = viewer.get(page)
        assert (status, "samples/counting" in body) == (200, True)
        _, said = viewer.end()
    assert said.splitlines()[0] == f"1 run, 2 samples in results, opened at {run}"
    with view("results/runs", "--port", "0") as viewer:
        assert viewer.address.endswith(f":{viewer.port}/")
        _, said = viewer.end()
    assert said.splitlines()[0] == "1 run, 2 samples in results, which results/runs is part of"
    assert [path.parent.name for path in tmp_path.rglob(".view")] == ["results"]


def test_a_run_alone_is_shown_and_not_written_to(
    view: Started, vgen: Command, tmp_path: Path
) -> None:
    made = vgen("--tasks", "samples/counting", "--model", "oracle", "--limit", "2", "--no-bounds")
    assert made.returncode == 0, made.stderr
    (run,) = (path.parent for path in tmp_path.rglob("run.json"))
    alone = run.rename(tmp_path / "alone")
    with view("alone", "--port", "0", XDG_CACHE_HOME=str(tmp_path / "cache")) as viewer:
        assert viewer.get("/" + viewer.address.split("/", 3)[3])[0] == 200
        viewer.end()
    assert not (alone / ".view").exists()


def test_without_a_port_the_next_free_one_is_taken(view: Started) -> None:
    with view() as first, view() as second:
        assert second.port > first.port >= 8765
        assert second.get("/")[0] == 200


def test_another_host_needs_a_token(view: Started) -> None:
    with view("--host", "0.0.0.0", "--port", "0") as viewer:
        token = re.findall(r"\?token=([\w-]{22,})$", viewer.address)[0]
        assert viewer.get("/")[0] == 401
        status, headers, _ = viewer.get(f"/?token={token}")
        assert status == 303
        cookie = headers["set-cookie"].partition(";")[0]
        assert viewer.get("/", cookie=cookie)[0] == 200


def test_the_token_of_the_environment_is_taken(view: Started) -> None:
    with view("--port", "0", VGEN_EVAL_VIEW_TOKEN="chosen") as viewer:
        assert viewer.address.endswith("/?token=chosen")
        assert viewer.get("/")[0] == 401


def test_a_port_in_use_that_was_asked_for_is_an_error(vgen: Command, taken: int) -> None:
    found = vgen("view", "--no-open", "--port", str(taken))
    assert found.returncode == 3
    assert found.stdout == ""
    assert found.stderr.splitlines() == [
        f"error: port {taken} on 127.0.0.1 is in use",
        "leave --port out for the next free one from 8765, or --port 0",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "no.such.host.invalid"), "no such host"),
        (("--host", "192.0.2.1", "--port", "0"), "cannot listen there"),
        (("--port", "70000"), "70000"),
        (("file.txt",), "no folder"),
        (("--data-root", "nowhere"), "--data-root nowhere: no such folder"),
    ],
)
def test_what_cannot_be_is_said(
    vgen: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file.txt").write_text("x")
    found = vgen("view", "--no-open", *words)
    assert found.returncode == 2
    assert said in found.stderr
    assert len(found.stderr.splitlines()) == 2


def test_a_missing_extra_says_what_to_install(
    vgen: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    # what a process finds where the library is not installed
    (hidden / "sitecustomize.py").write_text(
        "import sys\nfrom importlib.machinery import PathFinder\nfind = PathFinder.find_spec\n"
        "def hide(name, path=None, target=None):\n"
        "    return None if name == 'starlette' else find(name, path, target)\n"
        "PathFinder.find_spec = staticmethod(hide)\n"
    )
    paths = os.pathsep.join([str(hidden), environment["PYTHONPATH"]])
    found = vgen("view", "--no-open", PYTHONPATH=paths)
    assert found.returncode == 3
    assert found.stderr.splitlines() == [
        "error: this needs the extra 'view'", "pip install 'vgen-eval[view]'",
    ]  # fmt: skip


def test_a_long_start_says_on_one_line_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    from vgen_eval.cli import terminal, view

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    progress = view._Progress()
    progress(0, 200)
    assert screen.getvalue() == ""
    monkeypatch.setattr(view, "MOMENT_S", 0.0)
    progress(120, 200)
    terminal.redraw("")
    assert re.sub(r"\r\x1b\[K", "|", screen.getvalue()) == "|indexing 200 runs, 120 done|"
