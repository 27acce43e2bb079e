"""What is on disk is in the wheel: an unlisted package works in editable mode and is lost there."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def read_setup() -> configparser.ConfigParser:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    return setup


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def folders() -> dict[str, Path]:
    pairs = (line.split("=") for line in lines(read_setup()["options"]["package_dir"]))
    return {name.strip(): ROOT / folder.strip() for name, folder in pairs}


def packages_on_disk() -> set[str]:
    found = set()
    for name, folder in folders().items():
        for init in folder.rglob("__init__.py"):
            parts = init.parent.relative_to(folder).parts
            found.add(".".join((name, *parts)))
    return found


def data_on_disk() -> set[str]:
    """Cards, annotations, scenes and published tables, by their path in a wheel."""
    found = set()
    for name in ("vgen_eval.task_cards", "vgen_eval.model_cards", "vgen_eval.published"):
        folder = folders()[name]
        for path in folder.rglob("*"):
            if path.suffix in (".yaml", ".jsonl", ".json"):
                found.add(f"{name.replace('.', '/')}/{path.relative_to(folder).as_posix()}")
    return found


def test_every_package_is_listed_and_every_listed_one_exists() -> None:
    assert set(lines(read_setup()["options"]["packages"])) == packages_on_disk()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(target), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (path,) = target.glob("*.whl")
    return path


def test_the_wheel_holds_every_module_card_and_annotation(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    modules = {
        "/".join((*name.split("."), path.name))
        for name in packages_on_disk()
        for path in _folder(name).glob("*.py")
    }
    missing = sorted((modules | data_on_disk()) - inside)
    assert not missing
    assert len(data_on_disk()) >= 9
    assert {"vgen_eval/py.typed", "vgen_eval_plugins/py.typed"} <= inside


def _folder(package: str) -> Path:
    known = folders()
    base = max((name for name in known if f"{package}.".startswith(f"{name}.")), key=len)
    return known[base].joinpath(*package[len(base) :].strip(".").split(".")).resolve()


@pytest.mark.slow
def test_a_third_party_plugin_runs_against_the_wheel_from_another_folder(
    wheel: Path, tmp_path: Path
) -> None:
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    plugin = tmp_path / "plugin_example"
    _copy_clean(ROOT / "tests" / "plugin_example", plugin)
    subprocess.run(
        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check",
         "-c", str(ROOT / "constraints-dev.txt"), str(wheel), str(plugin)],
        check=True,
    )  # fmt: skip
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [str(environment / "bin" / "vgen-eval")]
    run = [*command, "--tasks", "all", "--model", "plugin_example:mymodel", "--json"]
    done = subprocess.run(run, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    import json

    document = json.loads(done.stdout)
    tasks = {card["task"] for card in document["results"]}
    assert {"samples/counting", "samples/referring", "mytask"} <= tasks
    assert all(card["model"] == "mymodel" for card in document["results"])
    cards = list((elsewhere / "results" / "runs").rglob("result_card.json"))
    assert len(cards) >= len(document["results"])


def _copy_clean(source: Path, target: Path) -> None:
    import shutil

    leave = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    shutil.copytree(source, target, ignore=leave)
