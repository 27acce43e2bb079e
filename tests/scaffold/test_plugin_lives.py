"""A plugin as it is written: built, installed beside vgen-eval's wheel, checked, run and tested."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import msgspec
import pytest
from cleanroom import CleanRoom, build_wheel
from vgen_eval.scaffold import KINDS, Kind

pytestmark = pytest.mark.slow

TASKS = {
    "model": {"samples/counting", "samples/referring"},
    "task": {"shapes"},
    "metric": {"shapes"},
    "family": {"horizon"},
}
"""Kind -> tasks that its proposed run has among others."""


class Grown(msgspec.Struct, frozen=True):
    """A plugin that has been written and installed."""

    name: str
    kind: Kind
    folder: Path
    check: str
    """The commands that `plugin new` proposes next."""
    run: str


@pytest.fixture(scope="module", params=KINDS)
def grown(
    request: pytest.FixtureRequest, clean_room: CleanRoom, tmp_path_factory: pytest.TempPathFactory
) -> Grown:
    kind: Kind = request.param
    place = tmp_path_factory.mktemp("grown")
    name = f"acme-{kind}"
    done = clean_room.run("vgen-eval", "plugin", "new", name, "--kind", kind, cwd=place)
    assert done.returncode == 0, done.stderr
    check, run = (line.strip() for line in done.stdout.splitlines()[-2:])
    clean_room.install(build_wheel(place / name, place / "wheel"))
    return Grown(name, kind, place / name, check, run)


def test_it_keeps_the_contract(grown: Grown, clean_room: CleanRoom, tmp_path: Path) -> None:
    done = clean_room.run(*shlex.split(grown.check), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_run_that_is_proposed_is_complete(
    grown: Grown, clean_room: CleanRoom, tmp_path: Path
) -> None:
    # from the installed wheel: a card or a picture that is not in it would be missed here
    words = (*shlex.split(grown.run), "--limit", "4", "--json")
    done = clean_room.run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(done.stdout)["results"]
    assert TASKS[grown.kind] <= {result["task"] for result in results}
    model = "classical" if grown.kind in ("task", "metric") else f"{grown.name}/v1"
    for result in results:
        assert result["complete"]
        if result["task"] in TASKS[grown.kind]:  # of the others it may know nothing
            assert result["counts"]["answered"] == result["counts"]["expected"] > 0
        assert result["run"].startswith(f"runs/{model}/")


def test_its_name_is_taken_now(grown: Grown, clean_room: CleanRoom, tmp_path: Path) -> None:
    done = clean_room.run("vgen-eval", "plugin", "new", grown.name, cwd=tmp_path)
    assert done.returncode == 2
    assert f"plugin '{grown.name}' is installed already" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_its_own_tests_pass(grown: Grown, clean_room: CleanRoom) -> None:
    words = ("-q", "-p", "no:cacheprovider", "-W", "error")
    done = clean_room.run("pytest", *words, cwd=grown.folder)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_its_types_are_strict(grown: Grown, clean_room: CleanRoom) -> None:
    # one cache for all kinds: numpy is read once
    cache = str(clean_room.folder / "mypy")
    done = clean_room.run("mypy", "--cache-dir", cache, cwd=grown.folder)
    assert done.returncode == 0, done.stdout
    assert "Success" in done.stdout
