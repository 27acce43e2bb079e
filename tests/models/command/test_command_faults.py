"""Programs that crash, hang, break the protocol or print into it: survived, and named."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commandkit import (
    Start,
    alive,
    ask,
    make_adapter,
    make_card,
    make_request,
    make_requests,
    outputs,
    wait_until,
    write_program,
)
from vgen_eval.errors import AccessDenied, CallError, NotRunnable, Transient, UsageError
from vgen_eval_plugins.models.command import process
from vgen_eval_plugins.models.command.lines import Bad, read_lines

UNTIL_B = """
ready(max_batch=8)
for r in requests():
    if r["id"] == "b":
        {fault}
    reply(r, text="it is " + r["id"])
"""


# --- ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("print('boom', file=sys.stderr); sys.exit(3)", r"exit code 3; its last words: boom"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"died of SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", r"died of SIGKILL \(by hand, or out of memory\)"),
        ("sys.exit(0)", r"ended with exit code 0"),
        ("raise ValueError('no such layer')", r"exit code 1.*ValueError: no such layer"),
        ("os.close(1); time.sleep(60)", r"closed its stdout and lived on: it was killed"),
    ],
)
def test_a_crash_costs_its_request_and_the_next_is_answered(
    start: Start, monkeypatch: pytest.MonkeyPatch, fault: str, told: str
) -> None:
    monkeypatch.setattr(process, "SETTLE_S", 0.5)
    adapter = start(UNTIL_B.format(fault=fault))
    assert ask(adapter, "a") == {"a": "it is a"}
    with pytest.raises(CallError, match=f"gave no answer: it .*{told}"):
        ask(adapter, "b")
    assert ask(adapter, "c") == {"c": "it is c"}


def test_what_was_answered_before_a_crash_is_kept(start: Start) -> None:
    adapter = start(UNTIL_B.format(fault="sys.exit(1)"))
    call = adapter.generate(make_requests("abc"))
    assert next(call).id == "a"
    with pytest.raises(CallError, match="exit code 1"):
        next(call)


def test_a_program_killed_between_two_calls_costs_nothing(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    adapter = start("ready()\nfor r in requests(): reply(r, text=str(os.getpid()))")
    pid = int(ask(adapter)["a"])
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not alive(pid))
    assert int(ask(adapter, "b")["b"]) != pid
    assert "between two calls it died of SIGKILL" in caplog.text


def test_a_program_that_ends_again_and_again_ends_the_run(start: Start) -> None:
    adapter = start("ready()\nfor r in requests(): sys.exit(9)", restarts=2)
    for _ in range(3):
        with pytest.raises(CallError, match="exit code 9"):
            ask(adapter)
    for _ in range(2):
        with pytest.raises(AccessDenied, match=r"started again 2 times and is given up: .*code 9"):
            ask(adapter)


def test_a_program_that_does_not_come_back_ends_the_run(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vgen_eval_plugins.models.command import worker

    monkeypatch.setattr(worker, "PAUSE_S", 0.0)
    body = """
if os.path.exists("once"): sys.exit("no memory left on the device")
open("once", "w").close()
ready()
for r in requests(): sys.exit(1)
"""
    adapter = start(body, restarts=3)
    with pytest.raises(CallError, match="exit code 1"):
        ask(adapter)
    with pytest.raises(AccessDenied, match=r"3 times.*no memory left on the device"):
        ask(adapter)


def test_a_program_that_hangs_is_killed_with_its_children_and_started_again(start: Start) -> None:
    fault = "open('child', 'w').write(str(subprocess.Popen(['sleep', '60']).pid)); time.sleep(60)"
    adapter = start(UNTIL_B.format(fault=fault), card=make_card(timeout_s=1.0))
    since = time.monotonic()
    with pytest.raises(TimeoutError, match=r"gave no answer within 1 s: it was killed"):
        ask(adapter, "b")
    assert time.monotonic() - since < 8
    child = int((Path(adapter.options.folder) / "child").read_text())
    wait_until(lambda: not alive(child))
    assert ask(adapter, "c") == {"c": "it is c"}


def test_a_program_that_does_not_read_is_out_of_time_too(start: Start) -> None:
    adapter = start("ready()\ntime.sleep(60)", card=make_card(timeout_s=0.5))
    with pytest.raises(TimeoutError):
        outputs(adapter, make_request(size=600))  # a megabyte, more than a pipe holds


def test_a_program_that_closed_its_stdin_is_named(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "SETTLE_S", 0.3)
    adapter = start("ready()\nos.close(0)\ntime.sleep(60)", restarts=0)
    with pytest.raises(CallError, match="reads its stdin no longer and lived on"):
        outputs(adapter, make_request(size=600))


# --- broken lines -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("""raw('{"type": "answer", "id": "b", "te\\n'); continue""", "broke the protocol: "),
        ("""raw('loading {"type": "answer", "id": "b", "te\\n'); continue""", "broke the protocol"),
        ("send(type='answer', id='zz', text='?'); continue", "an answer with the id 'zz', which"),
        ("send(type='answer', id=5, text='?'); continue", "an answer with the id 5, which"),
        ("send(type='answer', text='?'); continue", "an answer with the id None, which"),
        ("send(type='anwser', id='b'); continue", r"unknown type 'anwser'\. Nearest: answer"),
        ("send(type='answer', id='b', text=['?']); continue", r"malformed: .*at `\$\.text`"),
        ("send(type='answer', id='b', usage=3); continue", r"malformed: .*at `\$\.usage`"),
        ("send(type='answer', id='b', mask='AA=='); continue", "'mask' where 'text' was asked"),
        ("""raw(b'{"type": "answer", "id": "b", "text": "\\xff"}\\n'); continue""", "not UTF-8"),
    ],
)
def test_a_broken_line_is_the_error_of_its_request(start: Start, fault: str, told: str) -> None:
    adapter = start(UNTIL_B.format(fault=fault))
    with pytest.raises(CallError, match=told):
        ask(adapter, "b")
    assert ask(adapter, "a") == {"a": "it is a"}
    call = adapter.generate(make_requests("abc"))  # its neighbours are answered all the same
    assert {next(call).id, next(call).id} == {"a", "c"}
    with pytest.raises(CallError, match=told):
        next(call)


@pytest.mark.parametrize(
    ("form", "value", "told"),
    [
        ("image", "'no base64 at all!'", "not base64"),
        ("mask", "[[1, 0]]", "list: base64 is wanted"),
        ("choice", "{'yes': 'likely'}", "no map of words to log-probabilities"),
        ("points", "7", r"no list of \[x, y\]"),
    ],
)
def test_an_answer_of_the_wrong_type_is_an_error(
    start: Start, form: str, value: str, told: str
) -> None:
    adapter = start(f"ready()\nfor r in requests(): reply(r, {form}={value})")
    with pytest.raises(CallError, match=told):
        outputs(adapter, make_request(form=form))  # type: ignore[arg-type]


def test_a_line_over_the_limit_is_read_past_and_never_held() -> None:
    reading, writing = os.pipe()
    os.write(writing, b'first\n{"type": "answer' + b"x" * 5000 + b"\nlast\n" + b"y" * 30)
    os.close(writing)
    lines = list(read_lines(reading, limit=100))
    os.close(reading)
    assert [lines[0], *lines[2:]] == [b"first", b"last", b"y" * 30]
    assert isinstance(lines[1], Bad)
    assert "a line of 5016 bytes, over the limit of 100" in lines[1].reason


def test_a_program_with_an_endless_line_is_told_so(start: Start) -> None:
    fault = "[raw('x' * (1 << 20)) for _ in range(257)]; raw('\\n'); continue"
    adapter = start(
        UNTIL_B.format(fault='raw(\'{"type": "answer", "id": "b", "text": "\'); ' + fault)
    )
    with pytest.raises(CallError, match="over the limit of 268435456"):
        ask(adapter, "b")
    assert ask(adapter, "a") == {"a": "it is a"}


# --- strays -------------------------------------------------------------------------------------


def test_stray_prints_cost_nothing_and_each_kind_is_told_once(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    body = """
print("UserWarning: this is slow")
print("Loading: 100%|####|", end="")
ready()
for r in requests():
    print("step", r["id"])
    print({"loss": 1})
    print('{"loss": 0.5}')
    raw(b"\\xff\\xfe junk\\n")
    raw("\\rDone 1/1")
    reply(r, text="it is " + r["id"], txet="?")
"""
    adapter = start(body)
    for name in "abcd":
        assert ask(adapter, name) == {name: f"it is {name}"}
    adapter.close()
    told = [record.getMessage() for record in caplog.records]
    for kind, first in (
        ("text", "UserWarning: this is slow"), ("text glued to a message", "Loading: 100%"),
        ("JSON without a type", '{"loss": 0.5}'),
        ("unknown field 'txet' Nearest: text", "in answer"),
    ):  # fmt: skip
        assert sum(f": {kind}" in line and f"over: {first}" in line for line in told) == 1
    assert "4 of JSON without a type, 13 of text, 5 of text glued" in told[-1]


def test_messages_on_one_line_and_a_print_behind_one_are_all_read(start: Start) -> None:
    body = """
ready(max_batch=4)
for a, b in calls():
    raw(json.dumps({"type": "answer", "id": a["id"], "text": "1"}) +
        json.dumps({"type": "answer", "id": b["id"], "text": "2"}) + "done" + chr(10))
"""
    assert ask(start(body), "ab") == {"a": "1", "b": "2"}


def test_second_and_late_answers_are_passed_over(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    body = """
ready()
for r in requests():
    reply(r, text="first")
    reply(r, text="second")
"""
    adapter = start(body)
    assert [ask(adapter, name) for name in "ab"] == [{"a": "first"}, {"b": "first"}]
    assert "second or late answers" in caplog.text


def test_what_came_between_two_calls_is_no_answer_to_a_call_made_again(start: Start) -> None:
    body = """
ready()
for at, r in enumerate(requests()):
    if at:
        reply(r, text="again")
        continue
    send(type="error", id=r["id"], kind="transient", message="busy")
    reply(r, text="late")
    open("said", "w").close()
"""
    adapter = start(body)
    with pytest.raises(Transient, match="busy"):
        ask(adapter)
    worker = adapter._workers[0]
    assert worker._process is not None
    inbox = worker._process._inbox
    wait_until(lambda: not inbox.empty())
    assert ask(adapter) == {"a": "again"}


def test_each_program_answers_for_its_own_requests_alone(start: Start, tmp_path: Path) -> None:
    body = """
number = ready()["process"]
for r in requests():
    reply({"id": "b" if r["id"] == "a" else r["id"]}, text=str(number))
"""
    adapter = start(body, processes=4)
    with ThreadPoolExecutor(4) as threads:
        made = {name: threads.submit(ask, adapter, name) for name in "abcd"}
    with pytest.raises(CallError, match="with the id 'b', which was not asked"):
        made["a"].result()
    assert [list(made[name].result()) for name in "bcd"] == [["b"], ["c"], ["d"]]


def test_megabytes_on_stderr_are_drained_and_the_last_lines_kept(start: Start) -> None:
    body = """
ready()
for r in requests():
    for _ in range(300): sys.stderr.write("noise " * 3000)
    sys.stderr.write(chr(10) + "the end is near" + chr(10))
    if r["id"] == "b": sys.exit(4)
    reply(r, text="fine")
"""
    adapter = start(body)
    assert ask(adapter, "a") == {"a": "fine"}
    with pytest.raises(CallError, match=r"exit code 4.*the end is near"):
        ask(adapter, "b")


# --- starts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import not_there_at_all", r"ended before it was ready: .*No module named 'not_there"),
        ("hear(); send(type='error', message='no GPU here')", "cannot start: no GPU here"),
        ("hear(); send(type='ready', protocol=2)", r"speaks version 2 .* speaks 1"),
        ("hear(); send(type='ready')", r"speaks version None"),
        ("ready(max_batch=0)", r"ready message is malformed: .*max_batch"),
        ("ready(forms=['picture'])", r"ready message is malformed: .*forms"),
        ("send(type='answer', id='a')", "first message is 'answer', ready is wanted"),
        ('raw(\'{"type": "rea\\n\'); time.sleep(9)', "program 'python program.py': "),
    ],
)
def test_a_program_that_does_not_get_ready_cannot_be_run(
    start: Start, body: str, told: str
) -> None:
    with pytest.raises(NotRunnable, match=told) as caught:
        start(body, start_timeout_s=30)
    assert caught.value.cure


def test_a_program_that_is_never_ready_is_ended_in_time(start: Start) -> None:
    body = "print('loading...', file=sys.stderr, flush=True); time.sleep(60)"
    with pytest.raises(NotRunnable, match=r"not ready within 2 s; its last words: loading"):
        start(body, start_timeout_s=2)


def test_one_of_several_programs_that_fails_ends_the_others(start: Start) -> None:
    body = (
        "h = hear()\nif h['process'] == 1: sys.exit('one')\nsend(type='ready', protocol=1)\nhear()"
    )
    with pytest.raises(NotRunnable, match="its last words: one"):
        start(body, processes=3)


def test_a_program_that_is_not_here_is_named_with_the_cure(tmp_path: Path) -> None:
    plain = tmp_path / "plain.sh"
    plain.write_text("echo")
    no_kind = tmp_path / "no_kind"
    no_kind.write_bytes(b"\0\1\2\3")
    no_kind.chmod(0o755)
    for words, told, cure in (
        (["no-such-program-here"], "no program 'no-such-program-here' on PATH", "install it"),
        (["./absent"], "absent' cannot be run: No such file", "docs/command.md"),
        (["./plain.sh"], "plain.sh' cannot be run: Permission denied", "chmod"),
        (["./no_kind"], "cannot be run: Exec format error", "#!"),
    ):
        with pytest.raises(NotRunnable, match=told) as caught:
            make_adapter(tmp_path, program=words).load()
        assert cure in str(caught.value.cure)


def test_words_and_folders_that_lead_astray_are_usage_errors(tmp_path: Path) -> None:
    folder = tmp_path / "card"
    folder.mkdir()
    write_program(tmp_path / "outside.py", "")
    for options, told in (
        ({"program": ["../outside.py"]}, r"'\.\./outside\.py' leads out of"),
        ({"program": ["python", "../outside.py"]}, r"'\.\./outside\.py' leads out of"),
        ({"folder": str(tmp_path / "absent")}, "absent' is no folder"),
        ({"pass_env": ["OPENAI_API_KEY"]}, "OPENAI_API_KEY is a key by"),
        ({"pass_env": ["HF_TOKEN"]}, "HF_TOKEN is a key by its name"),
    ):
        with pytest.raises(UsageError, match=told):
            make_adapter(folder, **options).load()


# --- the end ------------------------------------------------------------------------------------


def test_close_ends_a_program_that_does_not_listen_and_its_children(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CLOSE_S", 0.3)
    monkeypatch.setattr(process, "TERM_S", 0.3)
    body = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"])
ready()
for r in requests(): reply(r, text=f"{os.getpid()} {child.pid}")
while True: time.sleep(1)
"""
    adapter = start(body)
    pids = [int(word) for word in ask(adapter)["a"].split()]
    adapter.close()
    wait_until(lambda: not any(map(alive, pids)))


def test_close_lets_a_program_tidy_up(start: Start, tmp_path: Path) -> None:
    adapter = start("ready()\nfor call in calls(): pass\ntime.sleep(0.3)\nopen('tidy', 'w')")
    adapter.close()
    assert (tmp_path / "tidy").exists()
