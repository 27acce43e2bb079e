"""list, show, check, doctor and completion on the cards that ship."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from clikit import ROOT, Command
from vgen_eval.cli import main

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _builtins_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VGEN_EVAL_PLUGINS", "")
    monkeypatch.chdir(tmp_path)


def _json(words: list[str], output: Output) -> Any:
    assert main([*words, "--json"]) == 0
    out, err = output.readouterr()
    assert err == ""
    return json.loads(out)


def _lines(words: list[str], output: Output) -> list[str]:
    assert main(words) == 0
    return output.readouterr().out.splitlines()


def test_tasks_are_an_aligned_table(capfd: Output) -> None:
    lines = _lines(["list"], capfd)
    assert lines[0].split() == ["name", "family", "title"]
    start = lines[0].index("family")
    row = next(line for line in lines if line.startswith("samples/counting "))
    assert row[start:].startswith("counting ")


def test_a_family_narrows_the_tasks(capfd: Output) -> None:
    records = _json(["list", "tasks", "--family", "counting"], capfd)
    assert records
    assert {record["family"] for record in records} == {"counting"}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("models", "classical"), ("suites", "samples"), ("decoders", "red_dots"),
        ("encoders", "red_dots"), ("metrics", "count_error"), ("datasets", "samples"),
        ("adapters", "oracle"),
    ],
)  # fmt: skip
def test_every_kind_is_listed_with_qualified_ids(kind: str, name: str, capfd: Output) -> None:
    ids = [record["id"] for record in _json(["list", kind], capfd)]
    assert f"vgen-eval:{name}" in ids
    assert len(set(ids)) == len(ids)


def test_plugins_are_listed_with_what_they_offer(capfd: Output) -> None:
    [record] = _json(["list", "plugins"], capfd)
    assert (record["id"], record["ok"]) == ("vgen-eval", True)
    assert "count_error" in record["hooks"]["metric"]


def test_a_broken_card_is_one_line_and_no_failure(vgen: Command, tmp_path: Path) -> None:
    (tmp_path / "site/plug_noise/cards/bad.yaml").write_text("task: Bad Name\nfamily: x\n")
    done = vgen("list", "models")
    assert done.returncode == 0
    assert "plug-noise:loud" in done.stdout
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: plugin 'plug-noise': ")
    assert "bad.yaml:1: task: " in line


def test_a_broken_plugin_is_listed_with_its_reason(vgen: Command, tmp_path: Path) -> None:
    (tmp_path / "site/plug_noise/__init__.py").write_text("import module_that_is_not_there\n")
    for words in (("list", "plugins"), ("doctor",), ("show", "plug-noise")):
        done = vgen(*words)
        assert done.returncode == 0
        assert "ModuleNotFoundError: No module named 'module_that_is_not_there'" in done.stdout
    assert vgen("list", "metrics").returncode == 0


def test_a_task_is_shown_with_its_protocols(capfd: Output) -> None:
    text = "\n".join(_lines(["show", "samples/counting"], capfd))
    for part in ("How many things", "samples/counting@", "(default)", "red_dots", "mae",
                 "zero_count", "scikit-image", "licence"):  # fmt: skip
        assert part in text
    [record] = _json(["show", "vgen-eval:samples/counting"], capfd)
    assert (record["kind"], record["id"]) == ("task", "vgen-eval:samples/counting")


def test_an_unknown_protocol_names_the_nearest(capfd: Output) -> None:
    assert main(["show", "samples/counting@standrd"]) == 2
    assert "standard" in capfd.readouterr().err


def test_a_model_says_what_is_missing_here(capfd: Output, tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    card.write_text(
        "model: mine\ntitle: A\u202e trick\nadapter: classical\nanswers: [image]\nlicence: x\n"
        "needs: {key_env: VGEN_TEST_KEY}\nprice: {per_image_usd: 0.04}\n"
    )
    text = "\n".join(_lines(["show", str(card)], capfd))
    assert "missing here   VGEN_TEST_KEY is not set: export VGEN_TEST_KEY=..." in text
    assert "$0.04 an image" in text
    assert "A trick" in text
    [record] = _json(["show", "classical"], capfd)
    assert record["missing"] == []


def test_all_that_share_a_name_are_shown(capfd: Output) -> None:
    (Path("results/runs/x/t@p/classical")).mkdir(parents=True)
    Path("results/runs/x/t@p/classical/run.json").write_text(
        '{"task": "t@p", "model": "vgen-eval:x", "samples": ["a"], "attempts": 1}'
    )
    assert [r["kind"] for r in _json(["show", "classical"], capfd)] == ["model", "run"]


def test_sound_cards_pass_the_check(capfd: Output) -> None:
    lines = _lines(["check", str(ROOT / "model_cards"), str(ROOT / "task_cards")], capfd)
    assert len(lines) >= 7
    assert all(line.endswith(".yaml: ok") for line in lines)


def test_every_problem_of_a_card_is_printed_with_its_line(capfd: Output, tmp_path: Path) -> None:
    card = tmp_path / "card.yaml"
    card.write_text("model: mine\nadaptr: classical\nanswers: [imag]\nlicence: x\n")
    assert main(["check", str(card)]) == 2
    lines = capfd.readouterr().out.splitlines()
    assert f"{card}:2: adaptr: unknown key (did you mean 'adapter'?)" in lines
    assert any(line.startswith(f"{card}:3: answers[0]: ") for line in lines)
    assert lines[-1] == f"{len(lines) - 1} errors"
    assert main(["check", str(card), "--json"]) == 2
    problems = json.loads(capfd.readouterr().out)["problems"]
    assert [(p["file"], p["line"]) for p in problems] == [(str(card), n) for n in (1, 2, 3)]


def test_a_missing_file_and_an_empty_folder_fail_the_check(capfd: Output) -> None:
    assert main(["check", "none.yaml"]) == 2
    assert "none.yaml: cannot be read" in capfd.readouterr().out
    Path("empty").mkdir()
    assert main(["check", "empty"]) == 2
    assert "holds no *.yaml file" in capfd.readouterr().err


def test_a_file_of_a_reserved_name_is_checked_by_its_path(capfd: Output) -> None:
    Path("plugin").write_text("model: mine\nadapter: classical\nanswers: [image]\nlicence: x\n")
    assert _lines(["check", "./plugin"], capfd) == ["plugin: ok"]


def test_the_doctor_changes_nothing_and_says_what_it_found(
    capfd: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VGEN_DATA", raising=False)
    found = _json(["doctor"], capfd)
    assert found["output"]["writable"] is True
    assert found["output"]["locks"] is True
    assert found["data_root"] == {"path": None, "is_folder": False}
    assert found["libraries"]["click"]
    assert found["problems"] == []
    assert list(tmp_path.iterdir()) == []
    text = "\n".join(_lines(["doctor", "--data-root", "nowhere"], capfd))
    assert "data root" in text
    assert "missing" in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed_and_installed(
    shell: str, capfd: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    script = "\n".join(_lines(["completion", shell], capfd))
    assert f"_VGEN_EVAL_COMPLETE={shell}_complete" in script
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    path = Path(_lines(["completion", "--install"], capfd)[0].removeprefix("written: "))
    assert path.is_relative_to(tmp_path)
    assert path.read_text().strip("\n") == script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("vgen-eval l", "list"),
        ("vgen-eval --ta", "--tasks"),
        ("vgen-eval --tasks samples/c", "samples/counting"),
        ("vgen-eval --tasks x --model class", "classical"),
        ("vgen-eval run --tasks a,suite:s", "a,suite:samples"),
        ("vgen-eval list deco", "decoders"),
    ],
)
def test_the_shell_is_offered_verbs_options_and_names(
    words: str, offered: str, vgen: Command
) -> None:
    done: subprocess.CompletedProcess[str] = vgen(
        _VGEN_EVAL_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert done.stderr == ""
    assert f"plain,{offered}" in done.stdout.splitlines()


def test_a_component_is_shown_with_its_options_and_what_it_reports(capfd: Output) -> None:
    lines = _lines(["show", "red_dots"], capfd)
    assert lines[0] == "decoder red_dots   (vgen-eval)"
    assert ["s_min", "160", "Least saturation."] in [
        re.split(r" {3,}", line.strip()) for line in lines
    ]
    assert any(line.startswith("encoder red_dots") for line in lines)
    [metric] = _json(["show", "mask_iou"], capfd)
    assert (metric["id"], metric["measures"]) == ("vgen-eval:mask_iou", "mask")
    assert [value["name"] for value in metric["values"]] == ["giou", "ciou"]
    [decoder] = _json(["show", "zero_count"], capfd)
    assert [(o["name"], o["default"]) for o in decoder["options"]] == [("count", 0)]


def test_exporters_are_listed_by_what_they_are_and_shown_with_aligned_options(
    capfd: Output,
) -> None:
    lines = _lines(["list", "exporters"], capfd)
    assert lines[0].split(maxsplit=1) == ["name", "what it is"]
    [line] = [line for line in lines if line.startswith("hf-eval-results ")]
    assert line.split(maxsplit=1)[1] == (
        ".eval_results/TASK@PROTOCOL.yaml, to be put into the model's repository."
    )
    records = _json(["list", "exporters"], capfd)
    assert all(record["text"] and record["target"] for record in records)
    shown = _lines(["show", "hf-eval-results"], capfd)
    options = shown[shown.index("  options") + 1 :]
    assert {re.split(r" {3,}", line.strip())[1] for line in options} == {"null"}
    assert len({line.index("null") for line in options}) == 1


def test_an_unknown_component_is_sent_to_the_list_of_its_kind(capfd: Output) -> None:
    assert main(["export", "json", "-o", "out"]) == 2
    assert capfd.readouterr().err.splitlines()[1] == "vgen-eval list exporters"
