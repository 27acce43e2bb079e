"""What is written: every file filled, nothing overwritten, code that the linter leaves as it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from vgen_eval.cli import main
from vgen_eval.errors import StorageError, UsageError
from vgen_eval.imaging import decode_image
from vgen_eval.scaffold import KINDS, Kind
from vgen_eval.scaffold.package import make_files, write_files

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize("kind", KINDS)
def test_every_placeholder_is_filled_and_every_text_ends_with_one_line_end(kind: Kind) -> None:
    made = make_files("acme-editor", kind)
    assert {"pyproject.toml", "README.md", "LICENSE", ".gitignore"} <= set(made)
    assert {"acme_editor/__init__.py", "acme_editor/py.typed"} <= set(made)
    assert any(re.fullmatch(r"tests/test_\w+\.py", path) for path in made)
    for path, data in made.items():
        assert not path.endswith(".tmpl")
        if not path.endswith(".png"):
            text = data.decode("ascii")
            assert not re.search(r"\{\{|PACKAGE", text), path
            assert text == "" or re.search(r"[^\n]\n\Z", text), path


@pytest.mark.parametrize("kind", KINDS)
def test_the_project_file_makes_it_a_plugin(kind: Kind) -> None:
    project = tomllib.loads(make_files("acme-editor", kind)["pyproject.toml"].decode())
    assert project["project"]["name"] == "acme-editor"
    assert project["project"]["entry-points"] == {"vgen_eval": {"acme-editor": "acme_editor"}}
    assert "cards/**/*" in project["tool"]["setuptools"]["package-data"]["acme_editor"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a", "acme-" + "e" * 35])
def test_the_linter_has_nothing_to_say_whatever_the_name_is(
    name: str, kind: Kind, tmp_path: Path
) -> None:
    write_files(make_files(name, kind), tmp_path / "p")
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", "."],
            cwd=tmp_path / "p",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_masks_are_where_their_colour_is_in_the_picture() -> None:
    made = make_files("acme-task", "task")
    lines = made["acme_task/cards/shapes.jsonl"].decode().splitlines()
    assert len(lines) == 8
    near = {"red": 0, "green": 1, "blue": 2}
    for line in map(json.loads, lines):
        picture = decode_image(made[f"acme_task/cards/{line['image']}"], what="picture")
        mask = decode_image(made[f"acme_task/cards/{line['mask']}"], what="mask")[:, :, 0]
        assert set(np.unique(mask)) == {0, 255}
        colour = line["query"].split()[1]
        # the colour's own channel is the strongest in its shape alone
        strongest = picture.argmax(axis=2) == near[colour]
        dark = picture.max(axis=2) < 220
        assert np.array_equal(mask == 255, strongest & dark)


def test_the_same_words_write_the_same_bytes() -> None:
    assert make_files("acme", "metric") == make_files("acme", "metric")


def test_an_empty_folder_is_filled_and_anything_else_is_left_alone(tmp_path: Path) -> None:
    made = {"a/b.txt": b"x"}
    write_files(made, tmp_path / "new" / "deep")
    assert (tmp_path / "new/deep/a/b.txt").read_bytes() == b"x"
    (tmp_path / "empty").mkdir()
    write_files(made, tmp_path / "empty")
    assert (tmp_path / "empty/a/b.txt").read_bytes() == b"x"
    with pytest.raises(UsageError, match="is not empty"):
        write_files({"a/b.txt": b"y"}, tmp_path / "empty")
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("file", "dangling"):
        with pytest.raises(UsageError, match="is no folder"):
            write_files(made, tmp_path / name)
    assert (tmp_path / "empty/a/b.txt").read_bytes() == b"x"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot write .*file"):
        write_files({"a.txt": b"x"}, tmp_path / "file" / "below")


def test_the_command_writes_below_its_folder_and_says_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plugin", "new", "acme-editor", "--folder", "some where"]) == 0
    lines = capfd.readouterr().out.splitlines()
    count = len([path for path in Path("some where").rglob("*") if path.is_file()])
    assert lines[0].startswith(f"some where: {count} files.")
    assert lines[-3:] == [
        "  cd 'some where' && pip install -e '.[dev]'",
        "  vgen-eval check plugin acme-editor",
        "  vgen-eval --tasks 'samples/*' --model acme-editor:v1",
    ]
    assert main(["plugin", "new", "acme-editor", "--folder", "some where"]) == 2
    assert "is not empty" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nw", "acme"], "Nearest: new"),
        (["new"], "NAME is missing"),
        (["new", "acme", "--kind", "moddel"], "--kind"),
        (["new", "Acme"], "Nearest: acme"),
    ],
)
def test_wrong_words_write_nothing(
    words: list[str], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plugin", *words]) == 2
    assert text in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
