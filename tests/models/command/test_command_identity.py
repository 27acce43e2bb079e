"""What of a program is the model's identity, and what it sees of the harness's environment."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import msgspec
import pytest
from commandkit import Start, ask, make_adapter, make_card, write_program
from vgen_eval.errors import CallError, MissingKey, UsageError
from vgen_eval_plugins.models.command.adapter import Command, CommandOptions
from vgen_eval_plugins.models.command.launch import KEPT

SEES = "ready()\nfor r in requests(): reply(r, text=json.dumps(dict(os.environ)))"
KEY = "sk-planted-0123456789"


def identify(folder: Path, **options: object) -> dict[str, object]:
    given = {"program": ["python", "predict.py"], "folder": str(folder)} | options
    return dict(Command.identify(msgspec.convert(given, CommandOptions), make_card()))


def test_the_programs_own_files_are_its_identity_and_nothing_else_is(tmp_path: Path) -> None:
    write_program(tmp_path / "predict.py", "one")
    (tmp_path / "net.yaml").write_text("width: 8")
    (tmp_path / "notes.txt").write_text("hello")
    words = ["python", "predict.py", "--net=net.yaml", "--fast"]
    first = identify(tmp_path, program=words)
    assert sorted(first["program_files"]) == ["net.yaml", "predict.py"]  # type: ignore[call-overload]
    assert first["protocol"] == 1
    (tmp_path / "notes.txt").write_text("bye")
    assert identify(tmp_path, program=words) == first
    (tmp_path / "net.yaml").write_text("width: 16")
    assert identify(tmp_path, program=words) != first


def test_the_identity_does_not_hang_on_where_the_folder_lies(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        write_program(tmp_path / name / "predict.py", "one")
    assert identify(tmp_path / "here") == identify(tmp_path / "there")


def test_further_files_may_be_listed_by_pattern_and_must_be_there(tmp_path: Path) -> None:
    write_program(tmp_path / "predict.py", "one")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").write_text("two")
    found = identify(tmp_path, files=["src/*.py"])["program_files"]
    assert sorted(found) == ["predict.py", "src/net.py"]  # type: ignore[call-overload]
    for name, told in (("lib/*.py", "no file 'lib/"), ("../*.py", "leads out of")):
        with pytest.raises(UsageError, match=told):
            identify(tmp_path, files=[name])


def test_requirements_are_identity_wherever_they_are_written(tmp_path: Path) -> None:
    write_program(tmp_path / "predict.py", "one")
    (tmp_path / "needs.txt").write_text("# ours\nnumpy==2.1  # exact\n\n")
    listed = identify(tmp_path, env={"requirements": ["numpy==2.1"]})
    assert listed["requirements"] == ["numpy==2.1"]
    assert identify(tmp_path, env={"requirements_file": "needs.txt"}) == listed
    assert identify(tmp_path, env={"requirements": ["numpy==2.2"]}) != listed


def test_a_program_sees_a_small_environment_and_no_key(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN", "PYTHONPATH", "WHATEVER"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("LC_NUMERIC", "C")
    monkeypatch.setenv("MY_LICENCE_SERVER", "there")
    adapter = start(SEES, pass_env=["MY_LICENCE_SERVER"])
    seen = json.loads(ask(adapter)["a"])
    assert seen["CUDA_VISIBLE_DEVICES"] == "1"
    assert seen["MY_LICENCE_SERVER"] == "there"
    assert seen["PATH"] == os.environ["PATH"]
    own = {name for name in seen if not name.startswith("LC_")}
    assert own <= {*KEPT, "MY_LICENCE_SERVER"}
    assert KEY not in json.dumps(seen)


def test_the_key_that_the_card_names_is_passed_and_cut_out_of_all_messages(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ACME_API_KEY", KEY)
    body = """
ready()
key = os.environ["ACME_API_KEY"]
for r in requests():
    if r["id"] == "a": reply(r, text=str(len(key)))
    print("using", key)
    sys.exit("wrong key " + key)
"""
    adapter = start(body, card=make_card(key_env="ACME_API_KEY"))
    assert ask(adapter) == {"a": str(len(KEY))}
    with pytest.raises(CallError) as caught:
        ask(adapter, "b")
    assert "wrong key [ACME_API_KEY]" in str(caught.value)
    assert "using [ACME_API_KEY]" in caplog.text
    assert KEY not in caplog.text + str(caught.value)


def test_a_key_that_is_not_set_is_missed_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACME_API_KEY", raising=False)
    adapter = make_adapter(tmp_path, card=make_card(key_env="ACME_API_KEY"), program=["./absent"])
    with pytest.raises(MissingKey):
        adapter.load()


def test_words_have_the_interpreter_and_the_folder_put_in(start: Start, tmp_path: Path) -> None:
    body = "ready()\nfor r in requests(): reply(r, text=' '.join([*sys.argv[1:], os.getcwd()]))"
    adapter = start(body, program=["{python}", "{folder}/program.py", "--at={folder}", "{}"])
    assert ask(adapter)["a"] == f"--at={tmp_path} {{}} {tmp_path}"


def test_an_adapter_that_is_not_loaded_can_be_sent_to_another_process(tmp_path: Path) -> None:
    adapter = pickle.loads(pickle.dumps(make_adapter(tmp_path)))
    assert adapter.options.program == ("python", "program.py")


def lacks(folder: Path, /, **options: object) -> list[str]:
    given = {"program": ["python", "predict.py"], "folder": str(folder)} | options
    return list(Command.lacks(msgspec.convert(given, CommandOptions), make_card()))


def test_show_is_told_of_what_is_not_here(tmp_path: Path) -> None:
    write_program(tmp_path / "predict.py", "raise SystemExit('never run')")
    env = {"requirements": ["numpy==2.1"]}
    assert lacks(tmp_path) == []
    assert lacks(tmp_path, env=env) == []
    for options, told in (
        ({"program": ["no-such-program"]}, "no program 'no-such-program' on PATH: install it"),
        ({"program": ["./absent"]}, f"no program {tmp_path}/absent"),
        ({"program": ["python", "absent.py"]}, f"no absent.py in {tmp_path}"),
        ({"program": ["python", "absent.py"], "env": env}, f"no absent.py in {tmp_path}"),
        ({"folder": str(tmp_path / "absent")}, "is no folder"),
        ({"files": ["lib/*.py"]}, "no file 'lib/*.py'"),
        ({"env": {"requirements": ["-e ."]}}, "'-e .' is no requirement"),
    ):
        [said] = lacks(tmp_path, **options)
        assert told in said
