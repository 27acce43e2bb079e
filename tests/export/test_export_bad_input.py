"""Runs, targets and exporters that are not as they should be: told, and never half exported."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from pathlib import Path

import pytest
from eee_schema import check_tree
from exportkit import Copied, edit, export_runs, runs_of
from vgen_eval.errors import BrokenPlugin, StorageError, UsageError
from vgen_eval.plugins import Catalog

PACKAGE = """
from vgen_eval.hookspecs import hookimpl

NAMES = (
    "escaping", "absolute", "linked", "twice", "raising", "halfway", "leaving", "wrong", "nothing",
    "dotted", "slashed", "folded", "newline", "escape", "numbered", "words", "plain", "numbers",
    "single", "stopping", "quitting", "leaping", "silent", "refusing", "partly",
)

@hookimpl
def vgen_exporters():
    return {name: f"plug_export.parts:{name.title()}" for name in NAMES}
"""
PARTS = """
from vgen_eval.errors import Refused
from vgen_eval.exporting import File, LeftOut
from vgen_eval.types import NoOptions


class Base:
    version = 1
    Options = NoOptions

    def __init__(self, options):
        self.options = options

    def export(self, runs):
        yield File(self.path, [b"text"])


class Escaping(Base):
    path = "../escaped.txt"


class Absolute(Base):
    path = "/tmp/escaped.txt"


class Linked(Base):
    path = "link/escaped.txt"


class Twice(Base):
    def export(self, runs):
        yield File("a.txt", [b"1"])
        yield File("a.txt", [b"2"])


class Raising(Base):
    def export(self, runs):
        raise ValueError("no such thing")


class Halfway(Base):
    def export(self, runs):
        def parts():
            yield b"half"
            raise SystemExit(3)

        yield File("whole.txt", [b"whole"])
        yield File("half.txt", parts())


class Leaving(Base):
    def export(self, runs):
        yield LeftOut(runs[0], "not of a kind", "another format")
        yield File("names.txt", [run.card.run.encode() for run in runs[1:]])


class Wrong(Base):
    def export(self, runs):
        yield "names.txt"


class Nothing:
    version = 1
    Options = NoOptions


class Several(Base):
    def export(self, runs):
        for path in self.paths:
            yield File(path, [b"1"])


class Dotted(Several):
    paths = ("a.txt", "./a.txt")


class Slashed(Several):
    paths = ("b/c", "b//c")


class Folded(Several):
    paths = ("a", "a/b")


class Newline(Base):
    path = "a\\nb.txt"


class Escape(Base):
    path = "a\\x1b[31m.txt"


class Numbered(Base):
    path = 5


class Parts(Base):
    def export(self, runs):
        yield File("a.txt", self.parts)


class Words(Parts):
    parts = "text"


class Plain(Parts):
    parts = b"text"


class Numbers(Parts):
    parts = [1, 2]


class Single(Base):
    def export(self, runs):
        return 5


class Stopping(Base):
    def export(self, runs):
        raise StopIteration


class Quitting(Base):
    def export(self, runs):
        yield File("a.txt", [b"1"])
        raise GeneratorExit


class Leaping(Base):
    def export(self, runs):
        raise BaseException("far")


class Silent(Base):
    def export(self, runs):
        return []


class Refusing(Base):
    def export(self, runs):
        raise Refused("not today")


class Partly(Base):
    def export(self, runs):
        yield LeftOut(runs[0], "not of a kind")
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin whose exporters break the contract; gives the target."""
    site = tmp_path / "site"
    files = {
        "plug_export/__init__.py": PACKAGE,
        "plug_export/parts.py": PARTS,
        "plug_export-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plug-export\n"
        "Version: 1.0\n",
        "plug_export-1.0.dist-info/entry_points.txt": "[vgen_eval]\nplug-export = plug_export\n",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    monkeypatch.delenv("VGEN_EVAL_PLUGINS", raising=False)
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("escaping", "leads out of"),
        ("absolute", "leads out of"),
        ("linked", "is a link that leads out of"),
        ("twice", "writes 'a.txt' twice"),
        ("raising", "ValueError: no such thing"),
        ("wrong", "a File or a LeftOut wanted"),
        ("nothing", "lacks the method 'export'"),
        ("dotted", r"writes './a\.txt' twice, as 'a\.txt' too"),
        ("slashed", "writes 'b//c' twice, as 'b/c' too"),
        ("folded", "one is a folder of the other"),
        ("newline", r"'a\\nb\.txt' is no name of a file"),
        ("escape", "is no name of a file"),
        ("numbered", "5 is no name of a file"),
        ("words", r"parts of 'a\.txt' are one str; an iterable of bytes wanted"),
        ("plain", r"parts of 'a\.txt' are one bytes"),
        ("numbers", r"parts of 'a\.txt' are of int; bytes wanted"),
        ("single", "TypeError: 'int' object is not iterable"),
        ("stopping", "StopIteration"),
        ("quitting", "GeneratorExit"),
        ("leaping", "BaseException: far"),
        ("silent", "gives no file of 3 runs"),
        ("refusing", "Refused: not today"),
        ("partly", "gives no file of 3 runs"),
    ],
)
def test_exporters_that_break_the_contract_are_named(
    results: Path, plugin: Path, name: str, reason: str
) -> None:
    plugin.mkdir()
    (plugin.parent / "elsewhere").mkdir()
    (plugin / "link").symlink_to(plugin.parent / "elsewhere")
    with pytest.raises(BrokenPlugin, match=reason) as caught:
        export_runs(f"plug-export:{name}", runs_of(results, "blind"), plugin)
    assert f"plug-export:{name}" in str(caught.value)
    assert (caught.value.exit_code, bool(caught.value.cure)) == (3, True)
    assert not list(plugin.rglob(".*"))
    assert not list(plugin.parent.rglob("escaped.txt"))
    assert not Path("/tmp/escaped.txt").exists()


def test_a_file_is_there_whole_or_not_at_all(results: Path, plugin: Path) -> None:
    with pytest.raises(BrokenPlugin, match="SystemExit: 3"):
        export_runs("plug-export:halfway", runs_of(results, "blind"), plugin)
    assert [path.name for path in plugin.iterdir()] == ["whole.txt"]


def test_what_an_exporter_leaves_out_is_told_with_its_cure(results: Path, plugin: Path) -> None:
    runs = runs_of(results, "blind")
    done = export_runs("leaving", runs, plugin)
    assert done.format == "plug-export:leaving"
    assert done.left_out == (f"{runs[0]}: not of a kind; another format",)
    assert len(done.runs) == 2
    assert (plugin / "names.txt").read_text() == "".join(done.runs)


def test_names_of_exporters_can_be_listed(plugin: Path) -> None:
    names = Catalog.discover().names("exporter")
    assert {"csv", "parquet", "every-eval-ever", "hf-eval-results"} <= set(names)
    assert "plug-export:leaving" in names


def test_unknown_formats_and_options_are_usage_errors(results: Path, tmp_path: Path) -> None:
    runs = runs_of(results, "blind")
    with pytest.raises(UsageError, match=r"no exporter 'cvs'\. Nearest: csv"):
        export_runs("cvs", runs, tmp_path)
    with pytest.raises(UsageError, match=r"has no option 'organisation'\. Nearest: organization"):
        export_runs("every-eval-ever", runs, tmp_path, organisation="Lab")
    with pytest.raises(UsageError, match="relationship"):
        export_runs("every-eval-ever", runs, tmp_path, relationship="friend")


def test_a_target_that_is_a_file_is_refused(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        export_runs("csv", runs_of(results, "blind"), target)
    assert target.read_text() == "mine"
    with pytest.raises(StorageError, match="cannot write"):
        export_runs("csv", runs_of(results, "blind"), target / "below")


def test_what_stands_at_a_files_place_is_spared_or_keeps_its_mode(
    results: Path, tmp_path: Path
) -> None:
    runs, place = runs_of(results, "blind"), tmp_path / "scores.csv"
    place.write_text("old")
    place.chmod(0o600)
    export_runs("csv", runs, tmp_path)
    assert place.read_text().startswith("run,")
    assert place.stat().st_mode & 0o777 == 0o600
    place.chmod(0o444)
    with pytest.raises(UsageError, match="is write-protected"):
        export_runs("csv", runs, tmp_path)
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(UsageError, match="is no file that could be written anew"):
        export_runs("csv", runs, tmp_path)
    assert place.is_fifo()


def test_what_a_killed_export_left_is_removed_by_the_next(results: Path, tmp_path: Path) -> None:
    (tmp_path / ".vgen-eval-0123abcd.tmp").write_text("half")
    (tmp_path / ".mine.tmp").write_text("mine")
    export_runs("csv", runs_of(results, "blind"), tmp_path)
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == [".mine.tmp", "columns.json", "scores.csv"]


def test_other_runs_go_out_when_some_cannot(results: Path, copied: Copied, tmp_path: Path) -> None:
    old = edit(copied("blind", "depth", "old"), lambda card: card.update(schema_version="2.0"))
    half = copied("blind", "depth", "half")
    (half / "result_card.json").unlink()
    torn = copied("blind", "depth", "torn")
    (torn / "result_card.json").write_text('{"schema_version": "1.')
    without = edit(copied("blind", "depth", "without"), lambda card: card.update(scores=[]))
    other = edit(
        copied("blind", "depth", "other"), lambda run: run.update(schema=99), file="run.json"
    )
    on = copied("blind", "depth", "on")
    (scores,) = (on / "scores").glob("*.jsonl")
    first = json.loads(scores.read_text().splitlines()[0])
    first["values"]["delta1"] = 0.123
    with scores.open("a") as file:
        file.write(json.dumps(first) + "\n")
    lost = copied("blind", "depth", "lost")
    shutil.rmtree(lost / "scores")
    (good,) = runs_of(results, "oracle", "depth")
    done = export_runs(
        "every-eval-ever", [old, half, torn, without, other, on, lost, good], tmp_path / "out"
    )
    assert len(done.runs) == 1
    assert len(check_tree(tmp_path / "out")) == 1
    told = "\n".join(done.left_out)
    for run, reason in (
        (old, "schema 2.0"),
        (half, "no result card yet"),
        (torn, "damaged"),
        (without, "has no score of its primary, 'delta1'"),
        (other, "schema 99"),
        (on, "its card is older than its lines"),
        (lost, "the scores that its card was made of are gone"),
    ):
        assert any(str(run) in line and reason in line for line in done.left_out), (reason, told)
    assert len(done.left_out) == 7


def test_a_run_that_is_named_twice_is_exported_once(
    results: Path, copied: Copied, tmp_path: Path
) -> None:
    (run,) = runs_of(results, "blind", "depth")
    same = copied("blind", "depth", "same")
    done = export_runs("csv", [run, run, same], tmp_path / "a")
    assert (len(done.runs), done.left_out) == (1, ())
    other = edit(copied("oracle", "depth"), lambda card: card.update(run=done.runs[0]))
    done = export_runs("csv", [run, other], tmp_path / "b")
    assert len(done.runs) == 1
    assert "has the same name and other answers" in done.left_out[0]
