"""Pictures, numbers and raw files as they are served: right, checked, and nothing else."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import PIL.Image
import pytest
from looking_kit import lines_of, own_depth, rewrite
from vgen_eval.plugins import Catalog
from vgen_eval.viewer.drawing.render import draw
from vgen_eval.viewer.drawing.sheets import draw_words
from vgen_eval.viewer.drawing.thumbs import Thumbs
from vgen_eval.viewer.looking import Look, Looker
from vgen_eval.viewer.looking.panes import Placed, show_panes
from vgen_eval.viewer.looking.workshop import Room
from vgen_eval.viewer.records import key_of

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.applications import Starlette
from starlette.testclient import TestClient
from vgen_eval.viewer.pages.media import LEAST, ROUTES
from vgen_eval.viewer.pages.raw import type_of
from vgen_eval.viewer.site import MOST_DRAWN
from vgen_eval.viewer.strips import Frames
from vgen_eval.viewing import Film, Pane, ScalarMap, Words

RUN = "r" * 10


class Rows:
    """The one run of a results folder, as the index of a viewer has it."""

    def __init__(self, results: Path, run: Path) -> None:
        self._row = SimpleNamespace(key=RUN, path=run.relative_to(results).as_posix())
        self._ids = json.loads((run / "run.json").read_text())["samples"]

    def run(self, word: str) -> Any:
        return self._row if word.partition("-")[0] == RUN else None

    def sample(self, run: str, word: str) -> Any:
        known = {key_of(name): name for name in self._ids}
        name = known.get(word.partition("-")[0])
        return None if name is None else SimpleNamespace(id=name)


class Viewer:
    """A site of one run and a client of it."""

    def __init__(self, results: Path, run: Path) -> None:
        self.run, self.results = run, results
        self.looker = Looker(Catalog.discover())
        self.thumbs = Thumbs(results)
        app = Starlette(routes=ROUTES)
        app.state.site = SimpleNamespace(
            results=results, index=Rows(results, run), looker=self.looker, thumbs=self.thumbs,
            frames=Frames(), drawing=Room(MOST_DRAWN),
        )  # fmt: skip
        self.client = TestClient(app)

    def look(self, sample: str = "near") -> Look:
        return self.looker.look(self.run, sample)

    def get(self, rest: str, sample: str = "near", **headers: str) -> Any:
        address = f"/r/{RUN}/s/{key_of(sample)}/1/{rest}"
        return self.client.get(address, headers=headers)

    def raw(self, digest: str, **headers: str) -> Any:
        return self.client.get(f"/r/{RUN}/o/{digest}", headers=headers)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "own"
    own_depth(folder, "classical")
    return folder


@pytest.fixture
def viewer(sound: Path, tmp_path: Path) -> Viewer:
    shutil.copytree(sound / "results", tmp_path / "results")
    (record,) = (tmp_path / "results").rglob("run.json")
    return Viewer(tmp_path / "results", record.parent)


def pixels(answer: Any) -> np.ndarray[Any, Any]:
    return np.asarray(PIL.Image.open(io.BytesIO(answer.content)).convert("RGB"))


def test_a_pane_is_served_as_it_is_drawn(viewer: Viewer) -> None:
    look = viewer.look()
    for shown in look.panes:
        answer = viewer.get(f"{shown.name}.png?v={shown.key[:12]}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/png"
        assert "immutable" in answer.headers["cache-control"]
        assert "sandbox" in answer.headers["content-security-policy"]
        assert np.array_equal(pixels(answer), draw(shown, look))
        again = viewer.get(f"{shown.name}.png", **{"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_an_address_of_other_pixels_is_asked_for_anew(viewer: Viewer) -> None:
    for version in ("", "?v=0123456789ab", "?v="):
        answer = viewer.get(f"prediction.png{version}")
        assert answer.status_code == 200
        assert "immutable" not in answer.headers["cache-control"]


def test_a_style_is_drawn_and_has_a_tag_of_its_own(viewer: Viewer) -> None:
    plain, gray = viewer.get("prediction.png"), viewer.get("prediction.png?map=gray&lo=1&hi=5")
    assert plain.headers["etag"] != gray.headers["etag"]
    shades = pixels(gray)
    assert (shades[5:, 5:-5, 0] == shades[5:, 5:-5, 1]).all()
    for bad in ("map=red", "lo=x", "scale=up", "off=a"):
        answer = viewer.get(f"prediction.png?{bad}")
        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("text/plain")


def test_a_field_says_what_it_is_and_holds_the_numbers(viewer: Viewer) -> None:
    body = viewer.look().find("target").pane.body  # type: ignore[union-attr]
    assert isinstance(body, ScalarMap)
    answer = viewer.get("target.field")
    head = json.loads(answer.headers["x-field"])
    assert answer.headers["content-encoding"] == "gzip"
    assert (head["width"], head["height"], head["unit"]) == (60, 40, body.unit)
    data = answer.content
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    assert len(data) == 2 * 60 * 40
    planes = np.frombuffer(data, np.uint8).reshape(2, 40, 60).astype(np.uint32)
    levels = np.cumsum(planes[0] + 256 * planes[1], axis=1) % 65536
    assert np.array_equal(levels > 0, np.isfinite(body.values))
    numbers = head["low"] + (levels - 1) * (head["high"] - head["low"]) / 65534
    inside = levels > 0
    half = (head["high"] - head["low"]) / 65534 / 2
    assert np.abs(numbers - body.values)[inside].max() <= half * 1.01
    assert viewer.get("input.field").status_code == 404


def test_values_of_all_panes_at_a_point_are_exact(viewer: Viewer) -> None:
    look = viewer.look()
    found = viewer.get("values?x=0.51&y=0.76").json()
    assert {"input", "answer", "prediction", "target", "error"} <= found.keys()
    for name in ("prediction", "target"):
        body = look.find(name).pane.body  # type: ignore[union-attr]
        assert isinstance(body, ScalarMap)
        assert found[name] == f"{body.values[30, 30]:.6g} {body.unit}"
    assert viewer.get("values?x=0.5&y=0").json()["target"] == "-"
    for bad in ("x=0.5", "x=2&y=0", "x=a&y=0", "x=nan&y=0", "x=-0.1&y=0"):
        assert viewer.get(f"values?{bad}").status_code == 400


def test_frames_are_decoded_in_the_room_of_their_site_and_kept_there(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("av")
    from vgen_eval.video import Clip, write_mp4

    film = Film(clip=Clip.open(write_mp4([np.full((32, 32, 3), 90, np.uint8)] * 3, fps=10)))
    placed = Placed(Pane(role="prediction", title="Video", body=film), None)
    found = msgspec.structs.replace(viewer.look(), panes=show_panes([placed], size=None))
    monkeypatch.setattr(viewer.looker, "look", lambda *_: found)
    site = viewer.client.app.state.site  # type: ignore[attr-defined]
    room, weights = Room(1), []
    monkeypatch.setattr(room, "enter", lambda weight, **_: weights.append(weight) or True)
    monkeypatch.setattr(room, "leave", lambda _: None)
    monkeypatch.setattr(site, "drawing", room)
    monkeypatch.setattr(site, "frames", Frames())
    assert viewer.get("prediction/frame/1.webp").status_code == 200
    assert weights == [LEAST]
    assert site.frames.held > 0


def test_thumbnails_are_made_once_and_nothing_is_opened_for_the_next(viewer: Viewer) -> None:
    first = viewer.get("thumb.webp?w=256&layer=error")
    assert first.status_code == 200
    assert first.headers["content-type"] == "image/webp"
    assert pixels(first).shape == (40, 60, 3)
    again = viewer.get("thumb.webp?w=256&layer=error", **{"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    fresh = Viewer(viewer.results, viewer.run)
    fresh.looker.look = None  # type: ignore[assignment]
    assert fresh.get("thumb.webp?w=256&layer=error").content == first.content
    assert fresh.get("thumb.webp?w=300").status_code == 400
    shutil.rmtree(viewer.results / ".view")
    last = Viewer(viewer.results, viewer.run).get("thumb.webp?layer=target")
    assert last.status_code == 200


def test_what_cannot_be_shown_in_full_has_a_thumbnail_that_is_not_kept(viewer: Viewer) -> None:
    hidden = viewer.run / "elsewhere"
    (viewer.run / "outputs").rename(hidden)
    tile = viewer.get("thumb.webp")
    assert tile.status_code == 200
    assert not list((viewer.results / ".view").rglob("*.webp"))
    hidden.rename(viewer.run / "outputs")
    assert Viewer(viewer.results, viewer.run).get("thumb.webp").content != tile.content


def tile(word: str, layer: str) -> np.ndarray[Any, Any]:
    return draw_words(Words(text=word), layer, 256)


@pytest.mark.parametrize("layer", ["prediction", "answer", "error"])
def test_an_answer_that_is_gone_or_altered_has_a_tile_of_words(viewer: Viewer, layer: str) -> None:
    address = f"thumb.webp?layer={layer}"
    whole = viewer.get(address).content
    (line,) = (e for e in lines_of(viewer.run / "predictions.jsonl") if e["sample"] == "near")
    file = viewer.run / "outputs" / line["answer"]["file"]
    kept = file.read_bytes()
    file.write_bytes(kept + b"x")
    altered = viewer.get(address)
    assert np.array_equal(pixels(altered), tile("changed since scoring", layer))
    file.unlink()
    assert np.array_equal(pixels(viewer.get(address)), tile("file missing", layer))
    shown = pixels(viewer.get("thumb.webp?layer=input"))
    assert not np.array_equal(shown, tile("file missing", "input"))
    file.write_bytes(kept)
    assert viewer.get(address).content == whole


def test_a_line_that_is_gone_or_damaged_has_a_tile_of_words(viewer: Viewer) -> None:
    viewer.get("thumb.webp?layer=prediction")
    lines = viewer.run / "predictions.jsonl"
    whole = lines.read_text()
    for text in ("", whole.replace('"sample"', '"sampel"')):
        lines.write_text(text)
        for layer in ("prediction", "error"):
            answer = viewer.get(f"thumb.webp?layer={layer}")
            assert np.array_equal(pixels(answer), tile("no prediction", layer))


def test_a_refusal_has_a_drawn_card(viewer: Viewer) -> None:
    def refuse(line: dict[str, Any]) -> dict[str, Any]:
        return {**line, "status": "refused", "reason": "no"} | {"answer": None}

    rewrite(viewer.run / "predictions.jsonl", refuse)
    shutil.rmtree(viewer.run / "scores")
    for layer in ("", "answer", "input"):
        answer = viewer.get(f"thumb.webp?layer={layer}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/webp"


@pytest.mark.parametrize(
    "address",
    [
        "/r/nobody/s/{key}/1/input.png",
        "/r/{run}/s/nobody/1/input.png",
        "/r/{run}/s/{key}/2/input.png",
        "/r/{run}/s/{key}/x/input.png",
        "/r/{run}/s/{key}/99999999/input.png",
        "/r/{run}/s/{key}/1/nothing.png",
        "/r/{run}/s/{key}/1/..%2f..%2frun.json.png",
        "/r/{run}/s/{key}/1/input/frame/0.webp",
        "/r/{run}/s/..%2f..%2f/1/thumb.webp",
        "/r/{run}/o/..%2frun.json",
        "/r/{run}/o/{key}",
        "/r/nobody/o/" + "0" * 64,
    ],
)
def test_unknown_keys_are_404_with_a_plain_word(viewer: Viewer, address: str) -> None:
    answer = viewer.client.get(address.format(run=RUN, key=key_of("near")))
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")
    assert "run.json" not in answer.text
    assert viewer.client.post(f"/r/{RUN}/o/{'0' * 64}").status_code == 405


# --- raw files ----------------------------------------------------------------------------


def answer_of(viewer: Viewer) -> tuple[str, bytes]:
    kept = lines_of(viewer.run / "predictions.jsonl")[0]["answer"]
    return kept["sha256"], (viewer.run / "outputs" / kept["file"]).read_bytes()


def test_a_raw_file_comes_as_it_is(viewer: Viewer) -> None:
    digest, data = answer_of(viewer)
    answer = viewer.raw(digest)
    assert answer.content == data
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert int(answer.headers["content-length"]) == len(data)


@pytest.mark.parametrize(
    ("asked", "part"),
    [("bytes=0-9", slice(0, 10)), ("bytes=5-", slice(5, None)), ("bytes=-7", slice(-7, None)),
     ("bytes=3-999999999", slice(3, None)), ("bytes=-999999999", slice(0, None))],
)  # fmt: skip
def test_a_part_of_a_raw_file_may_be_asked_for(viewer: Viewer, asked: str, part: slice) -> None:
    digest, data = answer_of(viewer)
    answer = viewer.raw(digest, range=asked)
    assert answer.status_code == 206
    assert answer.content == data[part]
    assert answer.headers["content-range"].endswith(f"/{len(data)}")


@pytest.mark.parametrize("asked", ["bytes=999999999-", "bytes=9-3", "bytes=-0"])
def test_a_part_that_is_not_there_is_416(viewer: Viewer, asked: str) -> None:
    digest, data = answer_of(viewer)
    answer = viewer.raw(digest, range=asked)
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(data)}"


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "lines=1-2", "bytes=-", "bytes=" + "9" * 999])
def test_a_range_that_is_none_gives_all_of_it(viewer: Viewer, asked: str) -> None:
    digest, data = answer_of(viewer)
    answer = viewer.raw(digest, range=asked)
    assert (answer.status_code, answer.content) == (200, data)


def put(viewer: Viewer, data: bytes, suffix: str = ".bin") -> str:
    digest = hashlib.sha256(data).hexdigest()
    (viewer.run / "outputs" / f"{digest}{suffix}").write_bytes(data)
    return digest


def test_an_altered_file_is_not_served(viewer: Viewer) -> None:
    digest, _ = answer_of(viewer)
    assert viewer.raw(digest).status_code == 200
    (path,) = (viewer.run / "outputs").glob(f"{digest}*")
    path.write_bytes(b"\x89PNG\r\n\x1a\nanother")
    assert viewer.raw(digest).status_code == 404


@pytest.mark.parametrize(
    "data", [b"<html><script>alert(1)</script>", b"<svg onload='x'/>", b"PK\x03\x04"]
)
def test_what_could_act_is_a_download(viewer: Viewer, data: bytes) -> None:
    answer = viewer.raw(put(viewer, data, ".html"))
    assert answer.content == data
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


def test_links_that_lead_out_are_refused(viewer: Viewer, tmp_path: Path) -> None:
    secret = b"\x89PNG\r\n\x1a\n what lies outside"
    digest = hashlib.sha256(secret).hexdigest()
    (tmp_path / "secret").write_bytes(secret)
    (viewer.run / "outputs" / f"{digest}.png").symlink_to(tmp_path / "secret")
    assert viewer.raw(digest).status_code == 404
    inside = put(viewer, b"GIF89a of our own", ".gif")
    other = hashlib.sha256(b"x").hexdigest()
    (viewer.run / "outputs" / f"{other}.gif").symlink_to(f"{inside}.gif")
    assert viewer.raw(other).status_code == 404  # a link within, of other bytes
    assert viewer.raw(inside).status_code == 200


def test_a_run_that_lies_outside_is_refused(viewer: Viewer, tmp_path: Path) -> None:
    moved = tmp_path / "outside"
    viewer.run.rename(moved)
    viewer.run.symlink_to(moved)
    assert viewer.get("input.png").status_code == 404
    assert viewer.get("thumb.webp").status_code == 404
    digest = next((moved / "outputs").iterdir()).stem
    assert viewer.raw(digest).status_code == 404


def test_types_are_told_by_the_first_bytes() -> None:
    known = {
        b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff\xe0": "image/jpeg",
        b"RIFF1234WEBPVP8 ": "image/webp", b"GIF89a": "image/gif",
        b"\x00\x00\x00\x20ftypisom": "video/mp4", b"\x1aE\xdf\xa3": "video/webm",
        b"": "application/octet-stream", b"RIFF1234AVI ": "application/octet-stream",
        b"<?xml": "application/octet-stream", b"\x93NUMPY": "application/octet-stream",
    }  # fmt: skip
    assert {data: type_of(data) for data in known} == known
