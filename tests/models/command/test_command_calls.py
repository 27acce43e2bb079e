"""What a sound program is sent, and what its answers become."""

from __future__ import annotations

import base64
import io
import json
import threading
from pathlib import Path

import numpy as np
import pytest
from commandkit import Start, ask, make_card, make_request, make_requests, outputs
from vgen_eval.answers import AnswerFault, pack
from vgen_eval.errors import CallError, RateLimited, Refused, Transient, Undecodable
from vgen_eval.imaging import decode_image
from vgen_eval.types import FORMS, AnswerForm, Usage
from vgen_eval_plugins.models.command.adapter import REFERENCE

ECHO = 'ready()\nfor r in requests(): reply(r, text="it is " + r["id"])'


def npy(array: np.ndarray, *, pickled: bool = False) -> str:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=pickled)
    return base64.b64encode(buffer.getvalue()).decode()


def test_a_program_gets_the_card_and_the_whole_request(start: Start, tmp_path: Path) -> None:
    body = """
hello = ready()
for r in requests():
    with open("seen.json", "w") as file:
        json.dump([hello, r], file)
    reply(r, text="done")
"""
    adapter = start(body, config={"size": 512})
    request = make_request("a#0", form="text", size=5)
    [output] = outputs(adapter, request)
    assert output.answer == "done"
    hello, seen = json.loads((tmp_path / "seen.json").read_text())
    assert hello == {
        "type": "hello", "protocol": 1, "model": "toy", "checkpoint": None,
        "config": {"size": 512}, "device": None, "process": 0,
    }  # fmt: skip
    [picture] = seen.pop("images")
    pixels = decode_image(base64.b64decode(picture), what="picture")
    assert (pixels == request.images[0].array).all()
    assert seen == {
        "id": "a#0", "family": "counting", "form": "text", "prompt": "about a#0", "choices": [],
        "fields": {"query": "coins"}, "settings": {"steps": 4}, "seed": 7,
    }  # fmt: skip


def test_answers_of_a_call_may_come_in_any_order(start: Start) -> None:
    body = """
ready(max_batch=8, name="toy-2", deterministic=True)
for call in calls():
    for r in reversed(call):
        reply(r, text="it is " + r["id"], thinking="hm", flags=["guessed"],
              usage={"output_tokens": 3}, request_id="r1")
"""
    adapter = start(body)
    assert (adapter.max_batch, adapter.deterministic, adapter.concurrency) == (8, True, 1)
    found = outputs(adapter, *make_requests("abc"))
    assert [(out.id, out.answer) for out in found] == [
        ("c", "it is c"), ("b", "it is b"), ("a", "it is a"),
    ]  # fmt: skip
    assert (found[0].reported_model, found[0].request_id) == ("toy-2", "r1")
    assert (found[0].thinking, found[0].flags) == ("hm", ("guessed",))
    assert found[0].usage == Usage(output_tokens=3)


@pytest.mark.parametrize("form", FORMS)
def test_the_reference_program_answers_every_form(start: Start, form: AnswerForm) -> None:
    adapter = start("", program=["{python}", str(REFERENCE)])
    [output] = outputs(adapter, make_request(form=form))
    pack(form, output.answer)


def test_arrays_and_points_come_as_they_were_sent(start: Start) -> None:
    depth = np.linspace(1, 5, 12, dtype=np.float32).reshape(3, 4)
    body = f"""
ready()
for r in requests():
    if r["form"] == "depth_map": reply(r, depth_map={npy(depth)!r}, text="two walls")
    if r["form"] == "points": reply(r, points=[[1.5, 2], [3, 4]])
    if r["form"] == "choice": reply(r, choice={{"yes": -0.1, "no": None}})
    if r["form"] == "image": reply(r, text="I would rather not", reason="stop")
"""
    adapter = start(body)
    [output] = outputs(adapter, make_request(form="depth_map"))
    assert output.answer.dtype == np.float32
    assert (output.answer == depth).all()
    assert output.text == "two walls"
    assert outputs(adapter, make_request(form="points"))[0].answer == [[1.5, 2], [3, 4]]
    assert outputs(adapter, make_request(form="choice"))[0].answer == {"yes": -0.1, "no": None}
    [words] = outputs(adapter, make_request(form="image"))
    assert (words.answer, words.text, words.reason) == (None, "I would rather not", "stop")


def test_a_pickle_or_a_broken_array_is_undecodable_and_never_loaded(start: Start) -> None:
    pickled = npy(np.array([{"a": 1}], dtype=object), pickled=True)
    cut = npy(np.zeros((9, 9)))[:80]
    body = f"""
ready()
for r in requests(): reply(r, mask={{"a": {pickled!r}, "b": {cut!r}}}[r["id"]])
"""
    adapter = start(body)
    for name, why in (("a", "pickle"), ("b", "not an array file")):
        [output] = outputs(adapter, make_request(name, form="mask"))
        assert isinstance(output.answer, Undecodable)
        with pytest.raises(AnswerFault, match=why):
            pack("mask", output.answer)


def test_errors_that_a_program_tells_of_are_the_engines_own(start: Start) -> None:
    body = """
ready(max_batch=4)
for r in requests():
    kind, more = {"a": ("refused", {}), "b": ("transient", {}), "c": ("error", {}),
                  "d": ("rate_limited", {"retry_after": 2.5}), "e": ("odd", {})}[r["id"]]
    send(type="error", id=r["id"], kind=kind, message=f"why {kind}", **more)
"""
    adapter = start(body)
    for name, kind, word in (
        ("a", Refused, "refused"), ("b", Transient, "transient"), ("c", CallError, "error"),
        ("d", RateLimited, "rate_limited"), ("e", CallError, "odd"),
    ):  # fmt: skip
        with pytest.raises(kind, match=f"why {word}") as caught:
            ask(adapter, name)
        assert type(caught.value) is kind
        assert getattr(caught.value, "retry_after", 2.5) == 2.5


def test_an_error_of_one_request_keeps_the_answers_of_its_neighbours(start: Start) -> None:
    body = """
ready(max_batch=4)
for r in requests():
    if r["id"] == "a": send(type="error", id="a", kind="refused", message="not this one")
    else: reply(r, text=r["id"])
"""
    adapter = start(body)
    heard = []
    with pytest.raises(Refused, match="not this one"):
        heard += (out.id for out in adapter.generate(make_requests("abc")))
    calls = adapter.generate(make_requests("abc"))
    assert [next(calls).id, next(calls).id] == ["b", "c"]
    with pytest.raises(Refused):
        next(calls)


def test_an_error_without_an_id_is_of_the_whole_call(start: Start) -> None:
    body = """
ready(max_batch=4)
for call in calls():
    if len(call) > 1: send(type="error", kind="error", message="out of memory")
    else: reply(call[0], text="fine")
"""
    adapter = start(body)
    with pytest.raises(CallError, match="out of memory"):
        ask(adapter, "ab")
    assert ask(adapter, "a") == {"a": "fine"}


def test_a_form_that_the_program_does_not_give_is_an_error_that_says_so(start: Start) -> None:
    adapter = start('ready(forms=["image"])\nfor r in requests(): reply(r, text="?")')
    with pytest.raises(CallError, match=r"does not give 'text': its ready says image"):
        ask(adapter)


def test_several_processes_answer_at_once(start: Start) -> None:
    body = """
hello = ready()
for r in requests():
    open("at-" + r["id"], "w").close()
    while len([name for name in os.listdir() if name.startswith("at-")]) < 3: time.sleep(0.02)
    reply(r, text=str(hello["process"]))
"""
    adapter = start(body, processes=3)
    assert adapter.concurrency == 3
    found: dict[str, str] = {}
    threads = [
        threading.Thread(target=lambda n=name: found.update(ask(adapter, n))) for name in "abc"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found.values()) == ["0", "1", "2"]


def test_an_adapter_comes_back_after_it_was_closed(start: Start) -> None:
    adapter = start(ECHO)
    assert ask(adapter) == {"a": "it is a"}
    adapter.close()
    adapter.close()
    adapter.load()
    assert ask(adapter, "b") == {"b": "it is b"}


def test_a_call_that_nobody_hears_to_the_end_leaves_nothing_to_the_next(start: Start) -> None:
    body = """
ready(max_batch=4)
for r in requests():
    reply(r, text=r["id"] + " " + r["prompt"])
    time.sleep(0.3)
"""
    adapter = start(body)
    calls = adapter.generate(make_requests("ab"))
    assert next(calls).id == "a"
    calls.close()
    assert ask(adapter, "b") == {"b": "b about b"}


def test_a_checkpoint_is_told(start: Start) -> None:
    import msgspec
    from vgen_eval.cards.records import Checkpoint

    card = msgspec.structs.replace(
        make_card(), checkpoint=Checkpoint(repo="acme/net", revision="abc")
    )
    body = 'h = ready()\nfor r in requests(): reply(r, text=json.dumps(h["checkpoint"]))'
    adapter = start(body, card=card)
    assert json.loads(ask(adapter)["a"]) == {"repo": "acme/net", "revision": "abc", "path": None}
