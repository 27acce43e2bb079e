"""Stubs that are made first, and cards that one checked model stands for."""

from __future__ import annotations

from pathlib import Path

import pytest
from contractkit import Make
from vgen_eval.cli import main
from vgen_eval.conformance import Check, Conformance
from vgen_eval.plugins import Catalog
from vgen_eval.testing import check_plugin
from vgen_eval.testing.rules import rules_of

LOAD = "    def load(self):\n"
SERVED = """    class Options(NoOptions, frozen=True):
        weights: str = "real"
        port: int = 0
        shades: int = 64

    def load(self):
        import os, socket, pathlib
        assert pathlib.Path(self.options.weights).read_text() == "tiny"
        socket.create_connection(("127.0.0.1", self.options.port), 5).close()
        self.level = 128
        if "shade" in self.card.generation:
            from vgen_eval.errors import UsageError
            raise UsageError("no argument 'shade'. Nearest: shades", cure="correct generation")

    @staticmethod
    @contextlib.contextmanager
    def stub(card, folder):
        import os, socket
        IN
        file = folder / "weights.txt"
        file.write_text("tiny")
        if card.needs.key_env:
            os.environ[card.needs.key_env] = "key-of-the-stub"
        server = socket.create_server(("localhost", 0))
        print("a server starts")
        try:
            yield {"weights": str(file), "port": server.getsockname()[1]}
        finally:
            server.close()
            OUT

    def generate(self, requests):
        import socket
        socket.create_connection(("127.0.0.1", self.options.port), 5).close()
"""
CARD = "model: {name}\nadapter: rules\nanswers: [image]\nlicence: CC0-1.0\navailability: code\n"
KEY = "needs: {key_env: TOY_PLUG_NO_KEY}\n"


@pytest.fixture
def served(toy: Make) -> Make:
    """The toy plugin whose adapter asks a server that its stub starts; more lines go into it."""

    def make(place: str = "", old: str = "", new: str = "") -> str:
        name = toy()
        import toyplug  # the fixture's copy

        path = Path(toyplug.__file__).with_name("parts.py")
        text = path.read_text(encoding="utf-8")
        start, end = text.index(LOAD), text.index("        for request in requests:\n")
        own = {"IN": "pass", "OUT": "pass"} | ({place: new} if place else {})
        body = SERVED.replace(" IN\n", f" {own['IN']}\n").replace(" OUT\n", f" {own['OUT']}\n")
        if old:
            assert old in body
            body = body.replace(old, new)
        text = text[:start] + body + text[end:]
        path.write_text(text.replace("import hashlib\n", "import contextlib\nimport hashlib\n"))
        return name

    return make


def _write_card(plugin: str, name: str, more: str = "") -> None:
    folder = Catalog.discover().plugin(plugin).card_dirs[0]
    (folder / f"{name}.yaml").write_text(CARD.format(name=name) + more)


def _by_check(record: Conformance, subject: str = "model:rules") -> dict[str, Check]:
    return {check.check: check for check in record.checks if check.subject == subject}


def test_a_stub_that_is_made_first_is_there_for_every_check(served: Make) -> None:
    record = check_plugin(served(), only="model:*")
    assert [(check.id, check.detail) for check in record.failures] == []
    found = _by_check(record)
    assert found["loads"].detail == "on its stub"
    assert {check for check, made in found.items() if made.outcome == "skipped"} == {"no_secret"}
    assert list(found) == list(rules_of("model"))


def test_a_stub_sets_the_key_itself_and_loopback_is_no_network(
    served: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_PLUG_NO_KEY", raising=False)
    name = served()
    path = Catalog.discover().plugin(name).card_dirs[0] / "model.yaml"
    path.write_text(path.read_text() + KEY)
    record = check_plugin(name, only="model:*")
    assert {check.outcome for check in record.checks} == {"passed"}
    assert _by_check(record)["offline"].detail == ""


def test_a_stub_that_needs_an_extra_skips_the_model(served: Make) -> None:
    error = "from vgen_eval.errors import MissingExtra; raise MissingExtra('diffusers')"
    record = check_plugin(served("IN", new=error), only="model:*")
    assert {check.outcome for check in record.checks} == {"skipped"}
    assert "pip install 'vgen-eval[diffusers]'" in _by_check(record)["loads"].detail


@pytest.mark.parametrize(
    ("where", "line", "says", "cure"),
    [
        ("IN", "raise ValueError('no such shape')",
         "its stub raised ValueError: no such shape (toyplug/parts.py:", "let stub(card, folder)"),
        ("IN", "import sys; sys.exit('no GPU')", "its stub raised SystemExit: no GPU",
         "instead of ending the process"),
        ("IN", "import os; os._exit(9)", "ended the process with exit status 9",
         "instead of ending the process"),
        ("IN", "import time; time.sleep(600)", "not done after 2 s, in toyplug/parts.py:",
         "a time limit of its own"),
        ("OUT", "raise OSError('still in use')",
         "leaving its stub raised OSError: still in use (toyplug/parts.py:", "take it back"),
        ("OUT", "import os; os._exit(4)", "leaving its stub: ended the process with exit status 4",
         "instead of ending the process"),
        ("OUT", "import time; time.sleep(600)", "leaving its stub: not done after 2 s",
         "a time limit of its own"),
    ],
)  # fmt: skip
def test_a_stub_at_fault_fails_once(
    served: Make, where: str, line: str, says: str, cure: str
) -> None:
    timeout_s = 2.0 if "sleep" in line else 30.0
    record = check_plugin(served(where, new=line), only="model:rules::loads", timeout_s=timeout_s)
    (check,) = record.checks
    assert (check.outcome, says in check.detail, cure in check.cure) == ("failed", True, True), (
        check.detail, check.cure,
    )  # fmt: skip


def test_a_stub_that_gives_no_options_of_the_adapter_fails(served: Make) -> None:
    record = check_plugin(served("", '{"weights"', '{"wheigts"'), only="model:rules::loads")
    (check,) = record.failures
    assert "what its stub gives are no options of it" in check.detail


def test_a_stub_that_gives_no_mapping_fails(served: Make) -> None:
    record = check_plugin(served("", "yield {", "yield 5 or {"), only="model:rules::loads")
    assert [check.detail for check in record.failures] == ["its stub gave int, no options"]


def test_cards_of_one_adapter_and_forms_are_checked_once_under_a_stub(served: Make) -> None:
    name = served()
    for card in ("second", "third"):
        _write_card(name, card, "generation: {steps: 4}\n")
    _write_card(name, "other-role", "role: human\n")
    record = check_plugin(name, only="model:*")
    assert record.failed == 0
    made = {check.subject: [] for check in record.checks}
    for check in record.checks:
        made[check.subject].append((check.check, check.outcome, check.detail))
    full = [subject for subject, found in made.items() if len(found) > 1]
    assert full == ["model:other-role", "model:rules"]
    for card in ("model:second", "model:third"):
        assert made[card] == [("accepted", "passed", "as model:rules")]


def test_a_card_whose_settings_are_refused_is_named(served: Make) -> None:
    name = served()
    _write_card(name, "second", "generation: {shade: 4}\n")
    _write_card(name, "third", "options: {shades: much}\n")
    record = check_plugin(name, only="model:*")
    (check,) = record.failures
    assert check.id == "model:second::accepted"
    assert check.detail.startswith("UsageError: no argument 'shade'. Nearest: shades")
    assert check.cure == "correct generation"
    (third,) = [check for check in record.checks if check.subject == "model:third"]
    assert (third.outcome, "see package::cards_valid" in third.detail) == ("skipped", True)


def test_a_fault_of_the_adapter_is_told_of_one_card_alone(served: Make) -> None:
    name = served("", "self.level = 128", "self.level = self.levels")
    _write_card(name, "second")
    record = check_plugin(name, only="model:*")
    assert [check.id for check in record.failures] == ["model:rules::loads"]
    (second,) = [check for check in record.checks if check.subject == "model:second"]
    assert (second.check, second.outcome, second.detail) == (
        "accepted", "skipped", "see model:rules::loads",
    )  # fmt: skip


def test_a_card_that_ends_its_process_leaves_the_next_to_be_tried(served: Make) -> None:
    exits = "self.level = 128\n        import os\n        if self.card.generation: os._exit(3)\n"
    name = served("", "self.level = 128\n", exits)
    _write_card(name, "second", "generation: {steps: 4}\n")
    _write_card(name, "third")
    record = check_plugin(name, only="model:*")
    assert [(c.id, c.detail) for c in record.failures] == [
        ("model:second::accepted", "ended the process with exit status 3; it printed: "
         "a server starts"),
    ]  # fmt: skip
    (third,) = [check for check in record.checks if check.subject == "model:third"]
    assert third.outcome == "passed"


def test_a_card_named_alone_is_checked_in_full(served: Make) -> None:
    name = served()
    _write_card(name, "second")
    record = check_plugin(name, only="model:second")
    assert list(_by_check(record, "model:second")) == list(rules_of("model"))


def test_cards_of_an_adapter_without_a_stub_are_each_checked_in_full(toy: Make) -> None:
    name = toy()
    _write_card(name, "second")
    record = check_plugin(name, only="model:*::loads")
    assert [check.id for check in record.checks] == ["model:rules::loads", "model:second::loads"]


def test_a_card_that_nobody_can_run_is_checked_as_a_card_alone(toy: Make) -> None:
    name = toy()
    _write_card(name, "second", "runnable: false\nreason: its weights are withdrawn\n")
    record = check_plugin(name, only="model:*")
    assert [(c.id, c.outcome, c.detail) for c in record.checks if c.subject == "model:second"] == [
        ("model:second::accepted", "skipped",
         "its card says that it cannot be run: its weights are withdrawn"),
    ]  # fmt: skip
    assert record.failed == 0


def test_an_adapter_that_no_card_uses_is_checked_by_its_stub(served: Make) -> None:
    name = served()
    folder = Catalog.discover().plugin(name).card_dirs[0]
    (folder / "model.yaml").unlink()
    record = check_plugin(name)
    assert [(check.id, check.detail) for check in record.failures] == []
    found = _by_check(record, "adapter:rules")
    assert list(found) == list(rules_of("model"))
    assert found["answers"].outcome == "passed"
    assert [check for check in record.checks if check.check == "used"] == []


def test_an_adapter_that_puts_off_its_own_stub_fails(served: Make) -> None:
    busy = "from vgen_eval.errors import RateLimited; raise RateLimited()\n"
    name = served("", "        import socket\n        socket.create_connection", f"        {busy}"
                  "        socket.create_connection")  # fmt: skip
    record = check_plugin(name, only="model:*")
    assert [check.check for check in record.failures] == ["forms_honoured"]


def test_a_slow_model_is_asked_less_and_calls_restart_the_clock(toy: Make) -> None:
    answer = "yield Output(id=request.id, answer=self.paint(request))"
    slow = f"import time; time.sleep(0.8)\n            {answer}"
    name = toy("parts.py", answer, slow)
    record = check_plugin(name, only="model:rules::forms_honoured", timeout_s=2.5)
    assert record.failed == 0  # four calls of 0.8 s are more than 2.5 s
    record = check_plugin(name, only="model:rules::answers", timeout_s=2.5)
    (check,) = record.checks
    assert (check.outcome, "ask about two pictures" in check.detail) == ("passed", True)


def test_the_command_says_how_far_it_is(
    toy: Make, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from vgen_eval.cli import check_plugin as verb

    monkeypatch.setattr(verb, "HEARTBEAT_S", 0.0)
    assert main(["check", "plugin", toy(), "--only", "*::loads"]) == 0
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "checking package"
    assert any(line.startswith("checking model:rules, ") and "of 2 done" in line for line in lines)
