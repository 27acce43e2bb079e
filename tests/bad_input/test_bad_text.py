"""Control characters and escapes from models, data and errors reach no terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from badkit import SAFE, Done, Shell, picture, runs_in, write

EVIL = "a\x1b[31mred\x9b5m\u202egnp"
MODELS = ("ansi", "ansi_raises", "ansi_refuses")
TASK = ("--tasks", "plug-data:toys/pictures", "--data-root", "data", "--no-bounds")


def is_safe(done: Done) -> bool:
    for text in (done.out, done.err):
        assert SAFE.fullmatch(text), repr(text)
        assert "\x1b" not in text
    return True


@pytest.fixture(scope="module")
def evil(home: Shell) -> Shell:
    """A folder whose samples, answers, refusals and errors all hold escapes; run once."""
    write(home.folder / f"data/pictures/{EVIL}.png", b"<html>\x1b[31m</html>")
    write(home.folder / "data/pictures/b\x1b]0;title\x07.png", picture())
    names = ",".join(f"plug-bad:{name}" for name in MODELS)
    done = home(*TASK, "--model", names, "--log-level", "debug")
    assert done.code == 1
    assert is_safe(done)
    assert "red" in done.err
    return home


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_runs_and_what_shows_them_are_safe_to_print(evil: Shell, form: tuple[str, ...]) -> None:
    runs = list(runs_in(evil.folder / "results"))
    assert len(runs) == len(MODELS)
    for run in runs:
        assert is_safe(evil("show", run, "--failed", *form))
    assert is_safe(evil("show", runs[0], *form))
    assert is_safe(evil("runs", "list", *form))
    names = ",".join(f"plug-bad:{name}" for name in MODELS)
    assert is_safe(evil(*TASK, "--model", names, *form))
    assert is_safe(evil(*TASK, "--model", "copy", "--samples", EVIL + "x", *form))


def test_the_words_stay_whole_in_json(evil: Shell) -> None:
    (run,) = (r for r in runs_in(evil.folder / "results") if "/ansi_refuses/" in str(r))
    done = evil("show", run, "--failed", "--json")
    found = {entry["sample"]: entry for entry in done.document["failed"]}
    assert EVIL in found
    assert "\x1b[31mred\x1b[2J" in found["b\x1b]0;title\x07"]["reason"]


def test_logs_and_result_cards_are_safe_to_print(evil: Shell) -> None:
    files = [*(evil.folder / "results/logs").iterdir()]
    files += (evil.folder / "results").rglob("result_card.md")
    assert len(files) >= 1 + len(MODELS)
    for file in files:
        assert SAFE.fullmatch(file.read_text()), file


def test_escapes_in_options_and_paths_are_not_said_back(home: Shell) -> None:
    for words in (
        ("--tasks", EVIL, "--model", "copy"),
        ("--tasks", "samples/counting", "--model", EVIL),
        ("--tasks", "samples/counting", "--model", "copy", f"--{EVIL}"),
        ("--tasks", "samples/counting", "--model", "copy", "--set", f"{EVIL}=1"),
        (EVIL,),
        ("show", EVIL),
        ("check", f"{EVIL}.yaml", "--json", EVIL),
    ):
        done = home(*words)
        assert done.code == 2, done
        assert is_safe(done)


def test_a_file_name_that_is_no_text_is_refused_before_anything_runs(home: Shell) -> None:
    folder = home.folder / "odd/pictures"
    write(folder / "good.png", picture())
    try:
        write(Path(f"{folder}/{chr(0xDCFF)}.png"), picture())
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    words = ("--tasks", "plug-data:toys/pictures", "--model", "plug-bad:good", "--data-root", "odd")
    home(*words, "--output", "odd-out").refuses(3, "sample id '\\udcff' cannot be written as UTF-8")
    assert not (home.folder / "odd-out/runs").exists()
