"""The command, the record it writes, and what result cards say of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from contractkit import Make
from vgen_eval import evaluate
from vgen_eval.cli import main
from vgen_eval.conformance import files_digest
from vgen_eval.plugins import Catalog
from vgen_eval.results.card import json_schema
from vgen_eval.testing.rules import RULES, closure, rules_of

Output = pytest.CaptureFixture[str]
DOCS = Path(__file__).parents[2] / "docs" / "contract.md"
CHECK = ["check", "plugin"]


def test_a_failure_is_told_with_its_cure_and_exits_1(
    toy: Make, capfd: Output, tmp_path: Path
) -> None:
    name = toy("parts.py", "id=request.id", "id=request.sample")
    out = str(tmp_path / "out")
    assert main([*CHECK, name, "--only", "model:*", "--output", out, "--timeout", "30"]) == 1
    first, second, *skipped, last = capfd.readouterr().out.splitlines()
    assert first.startswith("model:rules::ids_echoed: form image: an output carries 'disc'")
    assert second.strip() == "cure: yield Output(id=request.id, ...), once for each request"
    assert re.fullmatch(r"toy-plug 1\.0   \d+ checks passed   1 failed   \d+ skipped", last)
    assert skipped == [
        "skipped: builds on model:rules::ids_echoed (6 checks)",
        "skipped: its card needs no key (1 check)",
    ]
    assert not Path(out).exists()  # a record of a part would read like the whole


def test_what_no_card_uses_is_a_line_and_each_reason_of_a_skip(
    toy: Make, capfd: Output, tmp_path: Path
) -> None:
    name = toy("__init__.py", '{"rules":', '{"spare": "toyplug.parts:Rules", "rules":')
    path = Catalog.discover().plugin(name).card_dirs[0] / "model.yaml"
    path.write_text(path.read_text() + "needs: {key_env: TOY_PLUG_NO_KEY}\n")
    assert main([*CHECK, name, "--output", str(tmp_path)]) == 0
    lines = capfd.readouterr().out.splitlines()
    count = len(rules_of("model")) - 1  # a model with a key is there to go online
    assert lines[0] == (f"skipped: it needs a key: TOY_PLUG_NO_KEY is not set ({count} checks)")
    assert lines[1] == "skipped: its card needs a key: it is there to go online (1 check)"
    assert lines[2] == "not tried, since no card of the plugin uses it: adapter:spare"


def test_verbose_gives_every_check_a_line(toy: Make, capfd: Output) -> None:
    assert main([*CHECK, toy(), "--only", "task:*", "-v"]) == 0
    lines = capfd.readouterr().out.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("task:toys/discs::")]
    assert named == [f"task:toys/discs::{check}" for check in rules_of("task")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*CHECK], "NAME of one plugin is missing"),
        ([*CHECK, "a", "b"], "one plugin at a time"),
        ([*CHECK, "no-such-plugin"], "no plugin 'no-such-plugin'"),
        ([*CHECK, "no-such-plugin"], "pip install -e . in its folder"),
        ([*CHECK, "vgen-evaal"], "Nearest: vgen-eval"),
        ([*CHECK, "vgen-eval", "--timeout", "0"], "--timeout"),
        ([*CHECK, "vgen-eval", "--only", "nonsense"], "means no check"),
        (["check", "card.yaml", "--only", "x"], "--only is an option of `check plugin NAME`"),
        (["check", "judge", "acme"], "--human FILE is missing"),
    ],
)
def test_wrong_words_are_usage(words: list[str], says: str, capfd: Output) -> None:
    assert main(words) == 2
    assert says in capfd.readouterr().err


def test_the_record_stands_in_result_cards_until_the_files_change(
    toy: Make, capfd: Output, tmp_path: Path
) -> None:
    name = toy("parts.py", "id=request.id", "id=request.sample")
    out = tmp_path / "out"
    assert main([*CHECK, name, "--output", str(out), "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    stored = json.loads((out / "conformance" / "toy-plug.json").read_text())
    assert stored == document
    assert document["failed"] == 1
    assert document["passed"] + document["failed"] + document["skipped"] == len(document["checks"])
    assert document["files_digest"] == files_digest(Catalog.discover().plugin(name))

    def conformance(limit: int) -> tuple[dict[str, object], str]:
        (card,) = evaluate(
            tasks="toy-plug:toys/discs", model="copy", output=str(out), limit=limit, bounds=False
        )
        written = json.loads((out / card.run / "result_card.json").read_text())
        jsonschema.Draft202012Validator(json_schema()).validate(written)
        by_name = {plugin["name"]: plugin for plugin in written["plugins"]}
        assert "conformance" not in by_name["vgen-eval"]  # nobody has checked it here
        return by_name["toy-plug"]["conformance"], (out / card.run / "result_card.md").read_text()

    found, text = conformance(limit=1)
    assert found == {
        "passed": document["passed"],
        "failed": 1,
        "skipped": document["skipped"],
        "failed_checks": ["model:rules::ids_echoed"],
        "checked": document["checked"],
        "current": True,
    }
    line = (
        f"Contract of toy-plug: {document['passed']} checks passed, 1 failed "
        f"(model:rules::ids_echoed), {document['skipped']} skipped, {document['checked']}"
    )
    assert line in text.splitlines()
    package = Path(Catalog.discover().plugin(name).card_dirs[0]).parent
    (package / "notes.txt").write_text("another file")
    found, text = conformance(limit=2)
    assert found["current"] is False
    assert f"{line}; its files have changed since" in text.splitlines()
    (out / "conformance" / "toy-plug.json").write_text("{damaged")
    (card,) = evaluate(
        tasks="toy-plug:toys/discs", model="copy", output=str(out), limit=3, bounds=False
    )
    assert all("conformance" not in plugin for plugin in card.plugins)


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_command_and_its_children(
    toy: Make, tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    mark = tmp_path / "started"
    hang = (
        "import os, pathlib, time\n"
        f"        pathlib.Path({str(mark)!r}).write_text(str(os.getpid()))"
        "\n        time.sleep(600)"
    )
    name = toy("parts.py", "self.level = 128", hang)
    code = "import sys; from vgen_eval.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *CHECK, name, "--only", "model:*"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 30
    while not (mark.is_file() and mark.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(sent)
    child.communicate(timeout=10)
    assert child.returncode == status
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_the_digest_is_of_names_and_contents_alone(toy: Make) -> None:
    name = toy()
    plugin = Catalog.discover().plugin(name)
    before = files_digest(plugin)
    path = plugin.card_dirs[0] / "model.yaml"
    text = path.read_text()
    (path.parent / "__pycache__").mkdir()
    (path.parent / "__pycache__" / "x.pyc").write_bytes(b"compiled")
    assert files_digest(plugin) == before
    path.write_text(text + "\n")
    assert files_digest(plugin) != before
    path.write_text(text)
    assert files_digest(plugin) == before


def test_the_docs_tell_every_check_and_its_cure() -> None:
    text = " ".join(DOCS.read_text(encoding="utf-8").split())
    for rule in RULES:
        row = f"| `{rule.id}` | {rule.asks} | {rule.cure.replace('|', '/')} |"
        assert row in text, f"docs/contract.md lacks: {row}"


def test_every_check_builds_on_checks_that_come_before_it() -> None:
    for rule in RULES:
        order = list(rules_of(rule.kind))
        for need in (*rule.needs, *rule.after):
            assert order.index(need) < order.index(rule.id)
        assert closure(rule.kind, [rule.id])[-1] == rule
