"""Imports each plugin in a child process and reports what it offers, or why it cannot."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.discovery import Plugin
from vgen_eval.errors import BrokenPlugin, MissingExtra, VgenEvalError
from vgen_eval.loading import Loader
from vgen_eval.wording import describe

__all__ = ["ComponentReport", "PluginReport", "survey_plugins"]

_CHILDREN = 4
_OUTPUT_KEPT = 4000
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from vgen_eval.survey import report_to_parent; report_to_parent(*sys.argv[2:])"
)


class ComponentReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one name that a hook gives."""

    kind: str
    name: str
    target: str
    ok: bool
    note: str = ""
    """The fault, or `needs extra X`: which is no fault."""
    text: str = ""
    """The first line of its docstring."""
    traceback: str = ""


class PluginReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin came to when it was imported and all that it names was resolved."""

    name: str
    version: str
    package: str
    origin: Mapping[str, Any]
    ok: bool
    reason: str = ""
    """Why it is not ok: for an exception, its class and message."""
    output: str = ""
    """The end of what it wrote to stdout and stderr meanwhile."""
    traceback: str = ""
    hooks: Mapping[str, tuple[str, ...]] = {}
    """Kind of component -> names."""
    cards: Mapping[str, int] = {}
    """Kind of card -> how many."""
    components: tuple[ComponentReport, ...] = ()


class _Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What the child hands back."""

    reason: str = ""
    traceback: str = ""
    hooks: Mapping[str, tuple[str, ...]] = {}
    components: tuple[ComponentReport, ...] = ()


def survey_plugins(
    plugins: Sequence[Plugin], cards: Mapping[str, Mapping[str, int]], *, timeout_s: float
) -> list[PluginReport]:
    """One report a plugin, in their order; a plugin that hangs is ended after `timeout_s`."""
    from concurrent.futures import ThreadPoolExecutor

    def survey_one(plugin: Plugin) -> PluginReport:
        finding, output = _ask_child(plugin, timeout_s)
        return PluginReport(
            name=plugin.name,
            version=plugin.version,
            package=plugin.package,
            origin=plugin.provenance(),
            ok=not finding.reason,
            reason=finding.reason,
            output=output,
            traceback=finding.traceback,
            hooks=finding.hooks,
            cards=cards[plugin.name],
            components=finding.components,
        )

    with ThreadPoolExecutor(_CHILDREN) as pool:
        return list(pool.map(survey_one, plugins))


def _ask_child(plugin: Plugin, timeout_s: float) -> tuple[_Finding, str]:
    """The child's finding and what the plugin printed."""
    with tempfile.TemporaryDirectory(prefix="vgen-survey-") as folder:
        # files, not pipes: what a plugin leaves running could hold a pipe open for ever, and
        # what it prints must not mix with the finding
        finding, printed = Path(folder, "finding.json"), Path(folder, "output.txt")
        places = json.dumps([str(Path(place or ".").resolve()) for place in sys.path])
        command = [sys.executable, "-c", _BOOT, places, plugin.name, plugin.package, str(finding)]
        with printed.open("wb") as sink:
            child = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            ending = _wait(child, timeout_s)
        output = printed.read_bytes()[-_OUTPUT_KEPT:].decode("utf-8", "replace")
        if not finding.is_file():
            return _Finding(reason=ending or "ended the process without an error"), output
        found = msgspec.json.decode(finding.read_bytes(), type=_Finding)
        return msgspec.structs.replace(found, reason=found.reason or ending), output


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> str:
    """How the child ended, when that is a fault; "" otherwise."""
    try:
        status = child.wait(timeout_s)
    except subprocess.TimeoutExpired:
        _kill(child)
        return f"not done after {timeout_s:g} s"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"ended the process with exit status {status}" if status else ""


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the child and what it started."""
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()


# --- in the child


def report_to_parent(name: str, package: str, path: str) -> None:
    """Import one plugin, resolve all it names, and write the finding to `path`."""
    plugin = Plugin(name=name, version="", package=package, origin={})
    finding = _inspect(plugin)
    draft = Path(path + ".part")
    draft.write_bytes(msgspec.json.encode(finding))
    draft.replace(path)


def _inspect(plugin: Plugin) -> _Finding:
    from vgen_eval.hookspecs import HOOKS

    loader = Loader()
    hooks: dict[str, tuple[str, ...]] = {}
    components: list[ComponentReport] = []
    faults: dict[str, str] = {}  # reason -> traceback; a package that fails does so for every kind
    for kind in HOOKS:
        try:
            names = loader.names(plugin, kind)
        except VgenEvalError as exc:
            faults.setdefault(_reason(exc), _trace(exc))
            continue
        if names:
            hooks[kind] = tuple(names)
        components += [_try(loader, plugin, kind, name, target) for name, target in names.items()]
    for report in components:
        if not report.ok:
            faults[f"{report.kind} '{report.name}': {report.note}"] = report.traceback
    reason, trace = next(iter(faults.items()), ("", ""))
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return _Finding(
        reason=reason + more, traceback=trace, hooks=hooks, components=tuple(components)
    )


def _try(loader: Loader, plugin: Plugin, kind: str, name: str, target: str) -> ComponentReport:
    report = ComponentReport(kind=kind, name=name, target=target, ok=True)
    try:
        component = loader.resolve(plugin, kind, name)
    except MissingExtra as exc:
        return msgspec.structs.replace(report, note=_reason(exc))
    except BrokenPlugin as exc:
        return msgspec.structs.replace(report, ok=False, note=_reason(exc), traceback=_trace(exc))
    return msgspec.structs.replace(report, text=_first_line(component))


def _first_line(component: Any) -> str:
    """What it says of itself; a plugin's docstring may be anything."""
    text = getattr(component, "__doc__", None)
    lines = text.strip().splitlines() if isinstance(text, str) else []
    return lines[0].strip() if lines else ""


def _reason(exc: VgenEvalError) -> str:
    if isinstance(exc, MissingExtra):
        return f"{exc.what.removeprefix('this ')}: {exc.cure}"
    # the exception itself says it; who raised it stands beside it in every list
    return describe(exc.__cause__) if exc.__cause__ else exc.what


def _trace(exc: VgenEvalError) -> str:
    return "".join(traceback.format_exception(exc.__cause__)) if exc.__cause__ else ""
