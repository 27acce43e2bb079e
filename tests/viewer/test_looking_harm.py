"""What may lie in a run or hang in a plugin: the page of one attempt tells it, the others go on."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import httpx2 as httpx
import numpy as np
import PIL.Image
import pytest
from looking_kit import (
    WithViews,
    catalog,
    copy_of,
    every_family,
    lines_of,
    look,
    looker,
    rewrite,
    run_of,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from vgen_eval.store.regular import open_regular
from vgen_eval.video import clips, write_mp4
from vgen_eval.viewer.bounding import THREADS, Bounding
from vgen_eval.viewer.looking import Looker
from vgen_eval.viewer.looking.building import MOST_READ
from vgen_eval.viewer.looking.looker import LARGE
from vgen_eval.viewer.looking.opened import Opened
from vgen_eval.viewer.looking.samples import Samples
from vgen_eval.viewer.looking.sizes import AN_ORIGINAL, BASE, MOST_SHOWN, weigh
from vgen_eval.viewer.looking.workshop import Busy, Room, Workshop
from vgen_eval.viewer.pages.raw import serve_file
from vgen_eval.viewing import Pane, Words


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_family(tmp_path_factory.getbasetemp())


def in_time(act: Any, seconds: float = 10.0) -> Any:
    """What it gives; a failure where it does not come back."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(act()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it hangs"
    return found[0]


# --- files that are none ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["judgements.jsonl", "predictions.jsonl", "scores", "outputs"])
def test_a_pipe_in_the_place_of_a_file_is_told(results: Path, tmp_path: Path, name: str) -> None:
    run = copy_of(results, "depth", tmp_path)
    path = run / name
    if name == "scores":
        (path,) = (run / name).glob("*.jsonl")
    if name == "outputs":
        path = run / name / lines_of(run / "predictions.jsonl")[0]["answer"]["file"]
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    found = in_time(lambda: look(run, sample))
    assert [notice for notice in found.notices if "is no file of bytes" in notice]


def test_a_pipe_for_run_json_is_no_run(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    (run / "run.json").unlink()
    os.mkfifo(run / "run.json")
    found = in_time(lambda: looker().look(run, "any", 0))
    assert "is no file of bytes" in found.notices[0]


@pytest.mark.parametrize("name", ["predictions.jsonl", "outputs"])
def test_a_link_that_leads_out_is_not_followed(results: Path, tmp_path: Path, name: str) -> None:
    run = copy_of(results, "depth", tmp_path / "here" / "runs")
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    (run / name).rename(tmp_path / "elsewhere")
    (run / name).symlink_to(tmp_path / "elsewhere")
    found = look(run, sample)
    assert [notice for notice in found.notices if "leads out of" in notice]
    within = Looker(catalog(), root=tmp_path).look(run, sample, 0)
    assert not [notice for notice in within.notices if "leads out of" in notice]


def test_a_link_to_itself_is_no_file(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    name = lines_of(run / "predictions.jsonl")[0]["answer"]["file"]
    path = run / "outputs" / name
    path.unlink()
    path.symlink_to(name)
    assert serve_file(tmp_path, run, name.partition(".")[0]) is None
    assert look(run).notices
    with pytest.raises(OSError, match="leads out"):
        open_regular(path, within=tmp_path)


# --- lines that somebody changed ----------------------------------------------------------------


DEEP = "[" * 900 + "]" * 900
CHANGES: list[tuple[str, str, Any]] = [
    ("predictions", "status", {"a": 1}),
    ("predictions", "status", []),
    ("predictions", "geometry", "wide"),
    ("predictions", "geometry", [1]),
    ("predictions", "flags", [[]]),
    ("predictions", "volatile", {"finished": [], "seconds": "x", "thinking": 5}),
    ("predictions", "answer", "here"),
    ("scores", "status", ["ok"]),
    ("scores", "values", {"absrel": "5"}),
    ("scores", "values", [1]),
    ("scores", "prediction", [[[]]]),
    ("scores", "statistics", "x"),
]


@pytest.mark.parametrize(("file", "field", "value"), CHANGES)
def test_a_field_of_another_type_is_left_out_and_told(
    results: Path, tmp_path: Path, file: str, field: str, value: Any
) -> None:
    run = copy_of(results, "depth", tmp_path)
    path = next(run.glob("scores/*.jsonl")) if file == "scores" else run / "predictions.jsonl"
    rewrite(path, lambda line: {**line, field: value})
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    found = look(run, sample)
    told = [notice for notice in found.notices if notice.startswith("damaged: ")]
    assert told
    assert isinstance(found.facts["status"], str)
    assert all(isinstance(number, float | int | None) for number in found.facts["values"].values())


@pytest.mark.parametrize("value", [{"A": [1]}, [[1, "x"]], 5, None])
def test_an_answer_of_another_type_is_no_answer(results: Path, tmp_path: Path, value: Any) -> None:
    run = copy_of(results, "answers", tmp_path)
    rewrite(
        run / "predictions.jsonl",
        lambda line: {**line, "form": "choice", "answer": {**line["answer"], "value": value}},
    )
    found = look(run)
    assert [notice for notice in found.notices if "that is no log-probability" in notice]


def test_lines_nested_without_end_are_told(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    path = run / "predictions.jsonl"
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([first[:-1] + f',"geometry":{DEEP},"x":{DEEP}}}', *rest]) + "\n")
    found = look(run, json.loads(first)["sample"])
    assert [notice for notice in found.notices if "'geometry', 'x'" in notice]
    path.write_text("\n".join([first[:-1] + f',"x":{DEEP * 9}'.replace("][", "") + "}", *rest]))
    assert look(run, json.loads(first)["sample"]).facts["status"]


# --- views --------------------------------------------------------------------------------------


class Mute(Exception):
    """Says nothing of itself."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def view_that(act: Any) -> WithViews:
    """A catalog whose view of depth does that."""

    class Acting:
        version: ClassVar[int] = 1
        measures: ClassVar[str] = "depth"

        def panes(self, seen: Any) -> Any:
            return act(seen)

    return WithViews({"depth": Acting})


def fail_with(exc: BaseException) -> Any:
    def fail(_: Any) -> Any:
        raise exc

    return fail


@pytest.mark.parametrize("exc", [Mute(), KeyboardInterrupt(), GeneratorExit(), SystemExit(3)])
def test_whatever_a_view_raises_is_a_notice(results: Path, exc: BaseException) -> None:
    found = Looker(view_that(fail_with(exc))).look(*first_of(results))
    assert [n for n in found.notices if n.startswith("the view of 'depth' failed")]


def test_panes_without_end_are_cut(results: Path) -> None:
    one = Pane(role="detail", title="x", body=Words(text="x"))

    def endless(_: Any) -> Any:
        while True:
            yield one

    found = in_time(lambda: Looker(view_that(endless)).look(*first_of(results)))
    assert [notice for notice in found.notices if "more than 64 panes" in notice]
    assert len(found.of_role("detail")) == 64


@pytest.mark.parametrize("title", [Mute, 3])
def test_a_title_that_is_no_text_is_told(results: Path, title: Any) -> None:
    given = title() if isinstance(title, type) else title
    pane = Pane(role="detail", title=given, body=Words(text="x"))
    found = Looker(view_that(lambda _: [pane])).look(*first_of(results))
    assert [notice for notice in found.notices if "is no text" in notice]


def test_a_view_that_hangs_is_told_and_blocks_no_other_run(results: Path) -> None:
    gate = threading.Event()

    def wait(_: Any) -> Any:
        gate.wait(60)
        return []

    hanging = Looker(view_that(wait), patience_s=2.0)
    run, sample = first_of(results)[:2]
    try:
        for seconds in (5.0, 1.0):  # it is not waited for a second time
            found = in_time(lambda: hanging.look(run, sample, 0), seconds)
            assert "still being made, or hangs" in found.notices[0]
            # what its lines say is known all the same
            assert found.facts["status"] == "ok"
            assert found.score is not None
            assert found.facts["values"] == found.score["values"]
            assert not found.complete
        other = in_time(lambda: hanging.look(run_of(results, "answers"), *rest_of(results)), 8)
        assert other.panes
    finally:
        gate.set()
    deadline = time.monotonic() + 10
    while not hanging.look(run, sample, 0).panes and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hanging.look(run, sample, 0).panes


def first_of(results: Path) -> tuple[Path, str, int]:
    run = run_of(results, "depth")
    return run, lines_of(run / "predictions.jsonl")[0]["sample"], 0


def rest_of(results: Path) -> tuple[str, int]:
    return lines_of(run_of(results, "answers") / "predictions.jsonl")[0]["sample"], 0


# --- what may be in hand ------------------------------------------------------------------------


def test_of_a_run_few_pieces_may_hang() -> None:
    gate = threading.Event()
    shop = Workshop(Room(10), patience_s=0.1)
    try:
        for key in "ab":
            with pytest.raises(Busy, match="hangs"):
                shop.ask(key, "run", lambda _: gate.wait(30))
        with pytest.raises(Busy, match="others of this run hang"):
            shop.ask("c", "run", lambda _: True)
        assert shop.ask("d", "another", lambda _: True)
    finally:
        gate.set()


def test_what_is_heavy_goes_in_alone() -> None:
    room = Room(10)
    assert room.enter(99)
    assert not room.enter(1, patience_s=0.01)
    room.leave(99)
    assert room.enter(5)
    assert room.enter(5)
    assert not room.enter(1, patience_s=0.01)
    room.leave(5)
    with room.taken(5):
        pass


def test_what_was_asked_about_counts_as_what_was_answered(results: Path) -> None:
    run = run_of(results, "depth")
    opened = Opened(run, catalog(), None, Samples())
    (line, *_) = lines_of(run / "predictions.jsonl")
    assert weigh(opened, line) == weigh(opened, None) == BASE
    large = {**line, "geometry": {**line["geometry"], "original": [[3000, 4000], [10, 10]]}}
    assert weigh(opened, large) == AN_ORIGINAL * (3000 * 4000 + 100)
    for odd in (None, {}, {"original": 3}, {"original": [[1]]}, {"original": [["a", 1]]}):
        assert weigh(opened, {**line, "geometry": odd}) == BASE


def test_what_is_large_is_not_made_beside_what_is_held(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(results, "depth")
    first, second = (line["sample"] for line in lines_of(run / "predictions.jsonl"))
    shower = looker()
    small = shower.look(run, first)
    shower.look(run, second)
    assert shower.look(run, first) is small
    monkeypatch.setattr("vgen_eval.viewer.looking.looker.weigh", lambda *_: LARGE + 1)
    other = run_of(results, "counting")
    large = shower.look(other, lines_of(other / "predictions.jsonl")[0]["sample"])
    assert shower.look(other, large.sample) is large
    assert shower.look(run, first) is not small


def test_a_picture_too_large_is_told_by_its_header(results: Path, tmp_path: Path) -> None:
    import hashlib
    import tracemalloc

    run = copy_of(results, "depth", tmp_path)
    side = int(MOST_SHOWN**0.5) + 200
    PIL.Image.fromarray(np.zeros((side, side), np.uint8)).save(tmp_path / "large.png")
    data = (tmp_path / "large.png").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    (run / "outputs" / f"{digest}.png").write_bytes(data)
    answer = {"sha256": digest, "file": f"{digest}.png", "bytes": len(data)}
    rewrite(run / "predictions.jsonl", lambda line: {**line, "answer": answer})
    shower = looker()
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    shower.stamp(run, sample)
    tracemalloc.start()
    try:
        found = shower.look(run, sample, 0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    body = found.find("answer").pane.body  # type: ignore[union-attr]
    assert isinstance(body, Words)
    assert body.text == f"too large to show: {side:,} x {side:,}; open the raw file"
    assert [notice for notice in found.notices if "too large to show" in notice]
    assert peak < MOST_SHOWN * 2


def test_a_long_text_is_shown_without_being_read_again(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "answers", tmp_path)
    text = "A" * (MOST_READ + 1)
    rewrite(
        run / "predictions.jsonl",
        lambda line: {**line, "answer": {**line["answer"], "value": text}},
    )
    found = look(run)
    assert [notice for notice in found.notices if "letters: for a page" in notice]
    assert found.facts["status"] == "ok"
    body = found.find("answer").pane.body  # type: ignore[union-attr]
    assert isinstance(body, Words)
    assert body.text == text


def test_requests_at_one_time_are_few() -> None:
    at_once, most = 0, 0
    lock = threading.Lock()

    def page(_: Request) -> Response:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.05)
        with lock:
            at_once -= 1
        return Response("x")

    async def ask_many() -> None:
        app = Starlette(routes=[Route("/", page)], middleware=[Middleware(Bounding)])
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            await asyncio.gather(*(client.get("/") for _ in range(30)))

    asyncio.run(ask_many())
    assert 1 < most <= THREADS


def test_a_clip_is_gone_through_once_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[str] = []

    class Counted(clips.Pass):
        def __init__(self, data: bytes, *, what: str) -> None:
            passes.append(what)
            super().__init__(data, what=what)

    monkeypatch.setattr(clips, "Pass", Counted)
    shades = [np.full((48, 64, 3), 10 * k, np.uint8) for k in range(5)]
    data = write_mp4(shades, fps=7)
    first, second = (clips.Clip.open(data, what=str(at)) for at in range(2))
    assert passes == ["0"]
    assert first.times == second.times
    assert first.frames == 5
