"""`vgen-eval doctor`: what is installed, missing or broken on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["command"]

LIBRARIES = (
    "click", "pluggy", "PyYAML", "msgspec", "numpy", "opencv-python-headless", "scikit-image",
    "Pillow", "jsonlines", "orjson", "rich", "torch", "diffusers", "transformers",
)  # fmt: skip
LITTLE_SPACE = 1_000_000_000


@click.command("doctor")
@click.option("--output", default="results", metavar="DIR", help="Results folder (results).")
@click.option("--data-root", metavar="DIR", help="Folder of the data sets (else $VGEN_DATA).")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(output: str, data_root: str | None, as_json: bool) -> int:
    """Say what is installed, missing or broken here. It changes nothing."""
    from vgen_eval.cli import terminal
    from vgen_eval.plugins import Catalog

    terminal.guard_stdout()
    found = _examine(Catalog.discover(), Path(output), data_root)
    if as_json:
        terminal.say_json(found)
    else:
        terminal.say(*_lines(found))
    return 0


def _examine(catalog: Catalog, output: Path, data_root: str | None) -> dict[str, Any]:
    import os
    import platform

    import msgspec

    from vgen_eval._version import __version__
    from vgen_eval.cli.extras import list_extras, missing_of

    root = data_root or os.environ.get("VGEN_DATA")
    return {
        "vgen-eval": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "libraries": _versions(),
        "extras": {
            extra: {"missing": missing_of(extra), "install": f"pip install 'vgen-eval[{extra}]'"}
            for extra in list_extras()
        },
        "plugins": [msgspec.to_builtins(report) for report in catalog.survey()],
        "cards": {kind: len(catalog.heads(kind)) for kind in ("task", "model", "suite")},
        "problems": list(catalog.problems),
        "data_root": {
            "path": root,
            "is_folder": bool(root) and Path(root or "").expanduser().is_dir(),
        },
        "output": _examine_output(output),
    }


def _versions() -> dict[str, str | None]:
    from importlib import metadata

    found: dict[str, str | None] = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def _examine_output(output: Path) -> dict[str, Any]:
    """Free space, whether it can be written, and whether locks work there."""
    import os
    import shutil
    import tempfile

    place = output.expanduser().absolute()
    while not place.is_dir() and place != place.parent:
        place = place.parent
    found: dict[str, Any] = {"path": str(output), "examined": str(place)}
    found["free_bytes"] = shutil.disk_usage(place).free
    found["writable"] = os.access(place, os.W_OK)
    found["locks"] = None
    if found["writable"]:
        try:
            with tempfile.TemporaryFile(dir=place) as file:
                found["locks"] = _can_lock(file.fileno())
        except OSError:
            found["writable"] = False
    return found


def _can_lock(fd: int) -> bool:
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _lines(found: dict[str, Any]) -> list[str]:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import size

    there = {name: version for name, version in found["libraries"].items() if version}
    rows = [
        ["vgen-eval", found["vgen-eval"], ""],
        ["python", found["python"], found["platform"]],
        *([name, version, ""] for name, version in there.items()),
    ]
    lines = [*terminal.fitted(rows), ""]
    rows = []
    for extra, state in found["extras"].items():
        lacking = state["missing"]
        rows.append(
            [f"extra {extra}", "missing" if lacking else "ok",
             f"{', '.join(lacking)}: {state['install']}" if lacking else ""]
        )  # fmt: skip
    for plugin in found["plugins"]:
        state = "ok" if plugin["ok"] else "broken"
        parts = sum(map(len, plugin["hooks"].values()))
        rows.append(
            [f"plugin {plugin['name']} {plugin['version']}", state,
             plugin["reason"] or terminal.plural(parts, "component")]
        )  # fmt: skip
        rows += [
            ["", "", f"{part['kind']} {part['name']} {part['note']}"]
            for part in plugin["components"]
            if part["note"] and part["ok"]
        ]
    cards = ", ".join(terminal.plural(count, f"{kind} card") for kind, count in
                      found["cards"].items())  # fmt: skip
    rows.append(["cards", "ok" if not found["problems"] else "faulty", cards])
    rows += [["", "", problem] for problem in found["problems"]]
    data = found["data_root"]
    if data["path"] is None:
        rows.append(
            ["data root", "not set", "--data-root or $VGEN_DATA; vgen-eval data list says for what"]
        )
    else:
        rows.append(["data root", "ok" if data["is_folder"] else "missing", data["path"]])
    output = found["output"]
    little = output["free_bytes"] < LITTLE_SPACE
    state = "read-only" if not output["writable"] else "little room" if little else "ok"
    rows.append(["output", state, f"{output['path']}, {size(output['free_bytes'])} free"])
    if output["locks"] is not None:
        text = (
            "one writer a run is ensured" if output["locks"] else "two processes may write one run"
        )
        rows.append(["locks", "ok" if output["locks"] else "missing", text])
    return lines + terminal.fitted(rows)
