"""`vgen-eval data` over a throwaway plugin's readers: lists, faults, conversions, bad words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vgen_eval.cli import main

Output = pytest.CaptureFixture[str]

READERS = '''
import msgspec
from vgen_eval.errors import BadSample, MissingData, Problem
from vgen_eval.types import Item, NoOptions, Sample


class Boxes:
    """Boxes of numbers.

    `list.txt` names them, a line each; `N.txt` holds the number of box N.
    """

    version = 1
    Options = NoOptions

    def __init__(self, options, *, root, folder):
        self.root = root

    def index(self):
        if not (self.root / "list.txt").is_file():
            raise MissingData(f"no list.txt in {self.root}", cure="lay it there")
        names = (self.root / "list.txt").read_text().split()
        return [Item(id=name, group=name) for name in names]

    def load(self, item):
        path = self.root / f"{item.id}.txt"
        if not path.is_file():
            raise BadSample(f"no file {path.name}")
        if not path.read_text().isdigit():
            raise BadSample(f"{path.name} holds no number")
        return Sample(id=item.id, group=item.group, images=(), target=int(path.read_text()))

    def fingerprint(self):
        return "boxes"


class Watched(Boxes):
    """The same, with a look at the files."""

    def look(self, items):
        paths = {item.id: self.root / f"{item.id}.txt" for item in items}
        return [Problem("is missing", file=str(path), path=name)
                for name, path in paths.items() if not path.is_file()]


class Angry(Boxes):
    """Raises what no reader should."""

    def look(self, items):
        raise ZeroDivisionError("divided")


class Chosen(Boxes):
    """Boxes of which one list is chosen."""

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        listed: str = "list.txt"

    def __init__(self, options, *, root, folder):
        super().__init__(options, root=root, folder=folder)
        self.listed = options.listed

    def index(self):
        if not (self.root / self.listed).is_file():
            raise MissingData(f"no {self.listed}")
        names = (self.root / self.listed).read_text().split()
        return [Item(id=name, group=name) for name in names]


class Baked(Boxes):
    """Has to be converted."""

    def prepare(self, say):
        print("printed by the reader")
        raw = self.root / "raw.txt"
        if not raw.is_file():
            raise MissingData(f"no raw.txt in {self.root}", cure="not told")
        say("converting raw.txt")
        (self.root / "list.txt").write_text(raw.read_text())
'''
PACKAGE = """
from vgen_eval.hookspecs import hookimpl

@hookimpl
def vgen_datasets():
    names = ("Boxes", "Watched", "Angry", "Baked", "Chosen")
    return {name.lower(): f"plug_boxes.readers:{name}" for name in names}
"""
TASKS = {"boxes": "store", "watched": "store", "angry": "other", "baked": "raw", "lost": "nowhere"}


def card(name: str, root: str) -> dict[str, Any]:
    protocol = {
        "answers": [{"form": "text", "prompt": {"mid": "?"}, "decoder": "count_text"}],
        "metrics": [{"name": "count_error"}],
        "primary": "mae",
        "failure_value": "zero_count",
    }
    return {
        "task": f"box/{name}", "version": 1, "family": "boxing", "title": f"Is {name}",
        "default_protocol": "plain",
        "dataset": {
            "reader": "boxes" if name == "lost" else name, "root": root, "n": 3, "size_gb": 0.5,
            "licence": "CC0-1.0", "terms": "Be kind.", "source": f"https://example.org/{root}",
            "citation": "none",
        },
        "protocols": {"plain": protocol},
    }  # fmt: skip


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder, with all that the plugin's tasks need."""
    site = tmp_path / "site"
    files = {
        "plug_boxes/__init__.py": PACKAGE,
        "plug_boxes/readers.py": READERS,
        **{f"plug_boxes/cards/{n}.yaml": json.dumps(card(n, r)) for n, r in TASKS.items()},
        "plug_boxes-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plug-boxes\n"
        "Version: 1.0\n",
        "plug_boxes-1.0.dist-info/entry_points.txt": "[vgen_eval]\nplug-boxes = plug_boxes\n",
    }
    for name, text in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("VGEN_EVAL_PLUGINS", "plug-boxes")
    root = tmp_path / "data"
    for folder in ("store", "other", "raw"):
        (root / folder).mkdir(parents=True)
        for name in "abc":
            (root / folder / f"{name}.txt").write_text("3")
        listed = "raw.txt" if folder == "raw" else "list.txt"
        (root / folder / listed).write_text("a\nb\nc\n")
    monkeypatch.setenv("VGEN_DATA", str(root))
    monkeypatch.chdir(tmp_path)
    yield root
    for name in [name for name in sys.modules if name.partition(".")[0] == "plug_boxes"]:
        del sys.modules[name]


def told(words: list[str], output: Output, code: int = 0) -> tuple[str, str]:
    assert main(["data", *words]) == code
    return output.readouterr()


def states(words: list[str], output: Output) -> dict[str, str]:
    out, _ = told(["list", *words, "--json"], output)
    return {r["task"].partition("@")[0].partition(":")[2]: r["state"] for r in json.loads(out)}


# --- list


def test_a_line_for_each_task_says_its_state_and_the_next_step(data: Path, capfd: Output) -> None:
    (data / "store/b.txt").unlink()
    out, err = told(["list", "plug-boxes:*"], capfd)
    head, _, columns, *lines = out.splitlines()
    assert head == f"data folder: {data}   ($VGEN_DATA)"
    assert columns.split("   ")[0].strip() == "data set"
    rows = {line[line.index("plug-boxes") :].split()[0]: line for line in lines}
    assert "partial, 1 file missing" in rows["plug-boxes:box/watched"]
    assert rows["plug-boxes:box/watched"].endswith("data verify plug-boxes:box/watched")
    assert "2/3   0.5 GB   CC0-1.0" in rows["plug-boxes:box/watched"]
    assert rows["plug-boxes:box/boxes"].rstrip().endswith("CC0-1.0")  # ready: nothing to do
    assert rows["plug-boxes:box/baked"].endswith("data prepare plug-boxes:box/baked")
    assert rows["plug-boxes:box/lost"].endswith("data list plug-boxes:box/lost")
    assert [line.split()[0] for line in lines] == [
        "other", "raw", "store", "plug-boxes:box/watched", "nowhere",
    ]  # fmt: skip
    assert err.startswith("1 of 5 tasks ready; ")


def test_a_reader_that_raises_hides_no_other(data: Path, capfd: Output) -> None:
    assert states(["plug-boxes:*"], capfd) == {
        "box/angry": "faulty",
        "box/baked": "not prepared",
        "box/boxes": "ready",
        "box/lost": "not found",
        "box/watched": "ready",
    }
    out, _ = told(["list", "plug-boxes:box/angry"], capfd)
    assert "ZeroDivisionError: divided" in out


def test_a_folder_of_data_means_its_tasks(data: Path, capfd: Output) -> None:
    assert states(["store"], capfd) == {"box/boxes": "ready", "box/watched": "ready"}
    assert states(["store/"], capfd) == states(["store"], capfd)
    (data / "store/a.txt").unlink()
    assert states(["store", "--missing"], capfd) == {"box/watched": "partial"}


def test_only_what_is_missing_may_be_listed(data: Path, capfd: Output) -> None:
    out, err = told(["list", "store", "--missing"], capfd)
    assert (out, err) == ("", "nothing is missing\n")


def test_one_task_is_told_whole_with_its_layout(data: Path, capfd: Output) -> None:
    out, _ = told(["list", "plug-boxes:box/lost"], capfd)
    facts = ("not found, -/3 samples", "https://example.org/nowhere", "Be kind.", "CC0-1.0")
    for text in (*facts, "get it from its source", "`N.txt` holds the"):
        assert text in out
    assert str(data / "nowhere") in "".join(out.split())  # a long path is folded
    assert "vgen-eval data list" not in out


def test_other_protocols_that_need_other_data_are_told_too(
    data: Path, capfd: Output, tmp_path: Path
) -> None:
    made = card("chosen", "store") | {"task": "my/two"}
    made["dataset"]["reader"] = "plug-boxes:chosen"
    plain = made["protocols"]["plain"]
    made["protocols"] |= {"same": plain}
    made["protocols"] |= {"few": plain | {"data": {"options": {"listed": "few.txt"}, "n": 1}}}
    (tmp_path / "two.yaml").write_text(json.dumps(made))
    out, _ = told(["list", "./two.yaml"], capfd)
    assert "for my/two@few   not found, -/1 sample" in out
    assert "my/two@same" not in out
    assert "few" not in told(["list", "./two.yaml@plain"], capfd)[0].partition("\n\n")[0]
    # that it is not here is no fault of what is asked for
    out, err = told(["verify", "./two.yaml"], capfd)
    assert out == "my/two: 3 samples read, sound\n"
    assert err.startswith("note: not here for my/two@few: no few.txt")
    out, err = told(["prepare", "./two.yaml"], capfd)
    assert out == "my/two: ready, 3/3 samples\n"
    assert "my/two@few" in err
    assert told(["verify", "./two.yaml@few"], capfd, 3)[0].startswith("my/two@few: no few.txt")
    (data / "store/few.txt").write_text("a\nb\n")
    out, _ = told(["verify", "./two.yaml"], capfd, 3)
    assert out.splitlines()[1:] == [
        "my/two: 1 sample expected, 2 found",
        "my/two@few: 2 samples read, 2 sound, 1 not as the card says",
    ]
    assert told(["verify", "./two.yaml", "--samples", "c"], capfd)[0].count("\n") == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["list", "stor"], "Nearest: store"),
        (["list", "--family", "boxin"], "Nearest: boxing"),
        (["lst"], "no verb 'data lst'. Nearest: list"),
        (["verify"], "NAME is missing"),
        (["verify", "store", "--limit", "0"], "--limit"),
        (["verify", "store", "--limit", "1", "--all"], "give one of them"),
        (["verify", "plug-boxes:box/boxes", "--samples", "aa"], "no sample 'aa'. Nearest: a"),
        (["prepare", "plug-boxes:box/boxes", "--revision", "0" * 40], "no data set of the Hub"),
    ],
)
def test_wrong_words_are_two_lines_and_2(
    data: Path, capfd: Output, words: list[str], text: str
) -> None:
    out, err = told(words, capfd, 2)
    assert out == ""
    assert len(err.splitlines()) <= 2
    assert text in err


# --- verify


def test_sound_data_is_0_and_read_by_readers_without_a_verify_of_their_own(
    data: Path, capfd: Output
) -> None:
    out, err = told(["verify", "store"], capfd)
    assert out.splitlines() == [
        "plug-boxes:box/boxes: 3 samples read, sound",
        "plug-boxes:box/watched: 3 samples read, sound",
    ]
    assert err == ""


def test_every_fault_is_named_with_its_file_and_counted(data: Path, capfd: Output) -> None:
    (data / "store/b.txt").unlink()
    (data / "store/c.txt").write_text("three")
    out, _ = told(["verify", "plug-boxes:box/watched"], capfd, 3)
    assert out.splitlines() == [
        f"{data / 'store/b.txt'}: b: is missing",
        "box/watched: c: c.txt holds no number",
        "plug-boxes:box/watched: 3 samples read, 1 sound, 1 file missing, 1 unreadable",
    ]
    out, _ = told(["verify", "store", "--json"], capfd, 3)
    boxes, watched = json.loads(out)
    assert (boxes["sound"], boxes["missing"], boxes["unreadable"]) == (1, 0, 2)
    assert (watched["sound"], watched["missing"], watched["unreadable"]) == (1, 1, 1)


def test_a_part_may_be_read(data: Path, capfd: Output) -> None:
    (data / "store/b.txt").write_text("")
    name = "plug-boxes:box/boxes"
    assert (
        told(["verify", name, "--limit", "2"], capfd)[0] == f"{name}: 2 of 3 samples read, sound\n"
    )
    assert told(["verify", name, "--samples", "a,c"], capfd)[0].endswith(
        "2 of 3 samples read, sound\n"
    )
    assert told(["verify", name, "--samples", "b"], capfd, 3)[0].startswith("box/boxes: b: b.txt")


def test_another_release_and_an_empty_one_are_faults(data: Path, capfd: Output) -> None:
    (data / "store/list.txt").write_text("a\nb\n")
    assert "3 samples expected, 2 found" in told(["verify", "store"], capfd, 3)[0]
    (data / "store/list.txt").write_text("")
    assert "3 samples expected, 0 found" in told(["verify", "store"], capfd, 3)[0]
    assert states(["store"], capfd) == {"box/boxes": "partial", "box/watched": "partial"}


def test_data_that_cannot_be_opened_is_a_reason_and_stops_no_other(
    data: Path, capfd: Output
) -> None:
    (data / "nowhere").write_text("a file")
    words = ["verify", "plug-boxes:box/angry", "plug-boxes:box/lost", "plug-boxes:box/boxes"]
    out, _ = told(words, capfd, 3)
    angry, lost, boxes = out.splitlines()
    assert "ZeroDivisionError: divided" in angry
    assert "nowhere is no folder" in lost
    assert "vgen-eval data list box/lost says where it comes from" in lost
    assert boxes.endswith("3 samples read, sound")


# --- prepare


def test_a_reader_converts_and_stdout_stays_ours(data: Path, capfd: Output) -> None:
    out, err = told(["prepare", "plug-boxes:box/baked"], capfd)
    assert out == "plug-boxes:box/baked: ready, 3/3 samples\n"
    assert set(err.splitlines()) == {"printed by the reader", "converting raw.txt"}
    assert told(["prepare", "raw"], capfd)[0] == out


def test_data_that_comes_by_hand_is_told_with_its_source_and_terms(
    data: Path, capfd: Output
) -> None:
    out, err = told(["prepare", "plug-boxes:box/lost"], capfd, 3)
    assert out == ""
    assert "you get it yourself from https://example.org/nowhere" in err
    assert "Be kind." in err
    assert "vgen-eval data list box/lost" in err
    (data / "raw/raw.txt").unlink()
    _, err = told(["prepare", "plug-boxes:box/baked"], capfd, 3)
    assert "no raw.txt in " in err
    assert "https://example.org/raw" in err


def test_one_that_cannot_be_prepared_stops_no_other(data: Path, capfd: Output) -> None:
    words = ["prepare", "plug-boxes:box/lost", "plug-boxes:box/baked", "samples/counting"]
    out, err = told(words, capfd, 3)
    assert out.splitlines() == [
        "plug-boxes:box/baked: ready, 3/3 samples",
        "samples/counting: built in, 13/13 samples",
    ]
    assert err.startswith("error: data not found: ")


def test_without_a_data_folder_its_name_is_asked_for(
    data: Path, capfd: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VGEN_DATA")
    assert "--data-root DIR" in told(["prepare", "plug-boxes:box/baked"], capfd, 3)[1]
    assert told(["list", "store"], capfd)[0].startswith("data folder: not set (--data-root DIR")


# --- what runs say of it


def test_a_run_counts_the_tasks_without_data_in_one_line_and_names_the_verb(
    data: Path, capfd: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VGEN_DATA")
    words = ["--tasks", "plug-boxes:*,samples/counting", "--model", "copy", "--limit", "1"]
    assert main([*words, "--no-bounds"]) == 0
    lines = [line.strip() for line in capfd.readouterr().out.splitlines()]
    assert "skipped   5 pairs   data not found (vgen-eval data list)" in lines
    assert main(["--tasks", "plug-boxes:box/lost", "--model", "copy"]) == 3
    assert "vgen-eval data list box/lost says where" in capfd.readouterr().err


def test_the_shell_completes_tasks_and_folders_of_data(
    data: Path, capfd: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_VGEN_EVAL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "vgen-eval data verify s")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert main(["data"]) == 0
    offered = capfd.readouterr().out.split()
    assert {"plain,store", "plain,samples/counting"} <= set(offered)
