"""The real viewer on a port of this machine, real Chromium, and what is asked of every page."""

from __future__ import annotations

import base64
import importlib.util
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from results_kit import FAMILIES, MANY_TASK
from vgen_eval.viewer.records import key_of

__all__ = [
    "MISSING",
    "Faults",
    "Server",
    "addresses",
    "axe_faults",
    "colours_of",
    "find_chromium",
    "launch",
    "page_of",
    "raw",
    "row_of",
    "serve",
    "sheds_sideways",
    "shoot",
]

PATIENCE_MS = 10_000
MISSING = r"the server responded with a status of 404 .*/r/0000000000"
"""What Chromium says of the page that is asked for and not there."""


class Server:
    """The viewer of a results folder, while its thread runs."""

    def __init__(self, site: Any, url: str) -> None:
        self.site = site
        self.url = url

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)


@contextmanager
def serve(results: Path, *, data_root: Path | None = None) -> Iterator[Server]:
    """The app under uvicorn in a thread of this process, on a free port of the loopback."""
    pytest.importorskip("starlette", reason="the viewer needs vgen-eval[view]")
    uvicorn = pytest.importorskip("uvicorn", reason="the viewer needs vgen-eval[view]")
    from vgen_eval.viewer.app import make_app
    from vgen_eval.viewer.site import Site

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        site = Site.open(results, data_root=data_root, port=port)
        config = uvicorn.Config(
            make_app(site), lifespan="off", ws="none", log_config=None, access_log=False,
            timeout_graceful_shutdown=2,
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            deadline = time.monotonic() + 10
            while not server.started and thread.is_alive() and time.monotonic() < deadline:
                time.sleep(0.01)
            assert server.started, "the server did not start"
            yield Server(site, f"http://127.0.0.1:{port}")
        finally:
            server.should_exit = True
            thread.join(10)


def raw(
    server: Server, target: str, *, method: str = "GET", **headers: str
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of a request sent byte by byte: no client mends its target."""
    given = {"Host": "{}:{}".format(*server.address), "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    with socket.create_connection(server.address, timeout=20) as wire:
        wire.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        answer = b"".join(iter(lambda: wire.recv(1 << 16), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}, body


def row_of(server: Server, task: str, model: str) -> Any:
    """The row of a model's run on a task in the index."""
    found = [
        run
        for run in server.site.index.runs()
        if run.task.partition("@")[0].rpartition(":")[2] == task
        and run.model.rpartition(":")[2] == model
    ]
    assert found, f"no run of {model} on {task}: {server.site.index.runs()}"
    return found[0]


def page_of(server: Server, task: str, model: str, sample: str = "", rest: str = "") -> str:
    """The address of a run's gallery, or of one of its samples."""
    run = row_of(server, task, model)
    if not sample:
        return f"{server.url}/r/{run.slug}/s{rest}"
    return f"{server.url}/r/{run.slug}/s/{key_of(sample)}{rest}"


def addresses(server: Server) -> dict[str, str]:
    """One page of each kind, and a sample of every family."""
    depth, classical, oracle = (
        FAMILIES["depth"],
        row_of(server, FAMILIES["depth"], "classical"),
        row_of(server, FAMILIES["depth"], "oracle"),
    )
    sample = server.site.index.record(oracle)["samples"][0]
    samples = {}
    for family, task in {**FAMILIES, "film": "video/vgi"}.items():
        model = "painter" if family == "film" else "oracle"
        first = server.site.index.record(row_of(server, task, model))["samples"][0]
        samples[f"sample-{family}"] = page_of(server, task, model, first)
    return {
        "runs": server.url + "/",
        "table": server.url + "/table",
        "leaderboard": f"{server.url}/t/{oracle.task_slug}",
        "run": f"{server.url}/r/{classical.slug}",
        "gallery": page_of(server, MANY_TASK, "hostile"),
        "gallery-depth": page_of(server, depth, "classical"),
        "models": page_of(server, depth, "oracle", sample).replace(
            f"/r/{oracle.slug}", f"/t/{oracle.task_slug}"
        ),
        "compare": f"{server.url}/c?runs={classical.key},{oracle.key}",
        "missing": server.url + "/r/0000000000",
        **samples,
    }


# --- Chromium -----------------------------------------------------------------------------


def find_chromium() -> str | None:
    """The browser that $VGEN_EVAL_CHROMIUM names, else the system's; None: playwright's own."""
    named = os.environ.get("VGEN_EVAL_CHROMIUM")
    if named:
        return named
    if Path("/usr/bin/chromium").exists():
        return "/usr/bin/chromium"
    return shutil.which("chromium")


@contextmanager
def launch() -> Iterator[Any]:
    """Chromium without a window; skips, with the reason, where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        except sync_api.Error as exc:
            pytest.skip(f"no Chromium here: {str(exc).splitlines()[0]}")
        try:
            yield browser
        finally:
            browser.close()


class Faults:
    """What pages complain of: errors on the console, exceptions, dialogs."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.expected: list[str] = []
        """Patterns of what a test provokes."""

    def watch(self, page: Any) -> None:
        """Notes all that goes wrong on a page from now on."""
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.seen.append(f"exception: {error}"))
        page.on("dialog", self._dismiss)

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.seen.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _dismiss(self, dialog: Any) -> None:
        self.seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def left(self) -> list[str]:
        """Those that nobody expected."""
        return [
            text for text in self.seen if not any(re.search(known, text) for known in self.expected)
        ]


def shoot(page: Any, name: str, *, whole: bool = True) -> None:
    """A picture of the page in the folder $VGEN_EVAL_SHOTS; nothing where that is not set."""
    folder = os.environ.get("VGEN_EVAL_SHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        if whole:  # what lies below the window is not loaded yet
            page.evaluate(
                """async () => {
                  const all = [...document.querySelectorAll('img[src]')];
                  all.forEach(one => (one.loading = 'eager'));
                  const late = new Promise(go => setTimeout(go, 5000));
                  const come = all.map(one => one.decode().catch(() => 0));
                  await Promise.race([late, Promise.all(come)]);
                }"""
            )
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)


def sheds_sideways(page: Any) -> int:
    """Pixels by which the page is wider than its window: 0 or below is none."""
    width: int = page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width


def colours_of(page: Any, key: str) -> NDArray[np.uint8]:
    """What a pane is painted with, (H, W, 4)."""
    size, text = page.evaluate(
        """async key => {
          const numbers = Uint8Array.from(await VgenView.coloursOf(key));
          const reader = new FileReader();
          const read = new Promise(go => (reader.onload = () => go(reader.result)));
          reader.readAsDataURL(new Blob([numbers]));
          const head = VgenView.current.panes.find(one => one.key === key).numbers.head;
          return [[head.height, head.width], (await read).split(',')[1]];
        }""",
        key,
    )
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(*size, 4)


def axe_faults(page: Any) -> list[str]:
    """Serious and critical violations that axe-core finds on the page, one line each.

    The page's context must be made with `bypass_csp=True`.
    """
    source = _axe()
    page.evaluate(source)
    found: Any = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['impact']} {fault['id']}: {fault['help']}: {node['html'][:200]} "
        f"({'; '.join(check['message'] for check in node['any'][:1])})"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:5]
    ]


def _axe() -> str:
    spec = importlib.util.find_spec("axe_playwright_python")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("axe-playwright-python, which brings axe-core, is not installed")
    return (Path(spec.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
