"""Names of files and folders: portable, below the target, whatever cards are called."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from eee_schema import UUID4, check_tree
from exportkit import Copied, edit, export_runs
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval_plugins.exporters.naming import component, run_uuid, scrub


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("samples/depth", "samples_depth"),
        ("../../etc", "_.._etc"),
        ("..", "_"),
        (".", "_"),
        ("", "_"),
        (" .hidden. ", "hidden"),
        ('a<b>:"c\\d|e?f*g', "a_b___c_d_e_f_g"),
        ("line\nbreak\0", "line_break_"),
        ("con", "con_"),
        ("LPT1.txt", "LPT1.txt_"),
        ("Qwen team, Alibaba", "Qwen team, Alibaba"),
        ("x" * 300, "x" * 120),
    ],
)
def test_names_become_one_portable_component(text: str, name: str) -> None:
    assert component(text) == name


@given(st.text())
def test_any_text_becomes_a_name_that_stays_in_its_folder(text: str) -> None:
    name = component(text)
    assert name not in ("", ".", "..")
    assert not re.search(r'[/\\<>:"|?*\x00-\x1f]', name)
    assert not name.endswith((".", " "))
    assert len(name.encode()) <= 122


def test_identifiers_have_the_form_of_version_4_and_hang_on_run_and_owner() -> None:
    name = run_uuid("runs/a/b@c/1", owner="us")
    assert re.fullmatch(UUID4, name)
    assert run_uuid("runs/a/b@c/1", owner="us") == name
    assert (
        len({name, run_uuid("runs/a/b@c/2", owner="us"), run_uuid("runs/a/b@c/1", owner="x")}) == 3
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no file /home/me/data/a.png here", "no file .../a.png here"),
        ("'/opt/x/y/': gone", "'.../y': gone"),
        ("~/models/net.bin", ".../net.bin"),
        ("file:///srv/a/b", ".../b"),
        (r"C:\Users\me\a.txt is gone", ".../a.txt is gone"),
        ("https://example.org/a/b and 3/4/5", "https://example.org/a/b and 3/4/5"),
        ("and/or, /word, runs/a/b", "and/or, /word, runs/a/b"),
    ],
)
def test_absolute_paths_become_their_last_part(text: str, told: str) -> None:
    assert scrub(text) == told
    assert scrub({"a": [text]}) == {"a": [told]}


@pytest.mark.parametrize("form", ["every-eval-ever", "csv", "hf-eval-results"])
def test_cards_with_hostile_names_stay_below_the_target(
    copied: Copied, tmp_path: Path, form: str
) -> None:
    def rename(card: Any) -> None:
        card |= {"task": "../../escaped", "model": "../../../up/and/away", "protocol": "/abs/p"}
        card["model_info"]["checkpoint"] = {"repo": "../../x/.."}

    run = edit(copied("classical", "referring"), rename)
    inside = tmp_path / "deep" / "er" / "out"
    options = {"hub_dataset": "a/b", "task_id": "t"} if form == "hf-eval-results" else {}
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    done = export_runs(form, [run], inside, **options)
    written = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert len(done.files) == len(written) > 0
    assert all(path.is_relative_to(inside) for path in written)
    if form == "every-eval-ever":
        check_tree(inside)


def test_a_task_called_data_is_told_from_the_formats_root(copied: Copied, tmp_path: Path) -> None:
    run = edit(copied("classical", "referring"), lambda card: card.update(task="data"))
    export_runs("every-eval-ever", [run], tmp_path / "out")
    assert [path.name for path in (tmp_path / "out" / "data").iterdir()] == ["data_"]
