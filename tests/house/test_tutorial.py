"""The tutorial works: its blocks are run in order, and print what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cleanroom import CleanRoom
from tutorial import PAGE, Block, Console, read_blocks, same


@pytest.mark.slow
def test_the_blocks_run_in_order_and_print_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "here").mkdir()
    console = Console(tmp_path / "here", CleanRoom(tmp_path / "room"))
    printed = ""
    for block in read_blocks(PAGE.read_text(encoding="utf-8")):
        if block.kind == "text":
            assert same(block.text, printed), (
                f"{PAGE.name}:{block.line} shows\n{block.text}\nand there came\n{printed}\n"
                "python tests/house/tutorial.py writes it"
            )
        elif block.runs:
            printed = console.execute(block)


def test_every_block_is_of_a_known_kind_and_few_are_not_run() -> None:
    blocks = read_blocks(PAGE.read_text(encoding="utf-8"))
    assert {block.kind for block in blocks} == {"bash", "python", "diff", "text"}
    assert len([block for block in blocks if not block.runs]) == 2
    assert all("twine" in block.text or "all" in block.text for block in blocks if not block.runs)


def test_a_block_that_fails_is_named_by_its_line(tmp_path: Path, clean_room: CleanRoom) -> None:
    console = Console(tmp_path, clean_room)
    with pytest.raises(AssertionError, match=r"tutorial\.md:7: exit 3"):
        console.execute(Block("bash", "exit 3\n", runs=True, line=7, start=0, end=0))


def test_the_folder_of_one_block_is_that_of_the_next(tmp_path: Path, clean_room: CleanRoom) -> None:
    console = Console(tmp_path, clean_room)
    first = Block("bash", "mkdir a && cd a && echo x\n", runs=True, line=1, start=0, end=0)
    assert console.execute(first) == "x\n"
    assert console.folder == (tmp_path / "a").resolve()


def test_outputs_differ_in_numbers_and_agree_whatever_the_time() -> None:
    assert same("done in 3.7 s  run 0123456789ab", "done in 12 s run ba9876543210\n")
    assert not same("giou   0.12", "giou   0.13")
