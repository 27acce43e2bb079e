"""Attempts as they are looked at: every family, and everything that may be wrong with a run."""

from __future__ import annotations

import hashlib
import shutil
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looking_kit import (
    FAMILIES,
    copy_of,
    every_family,
    lines_of,
    look,
    own_depth,
    pane,
    rewrite,
    run_of,
)
from vgen_eval.errors import Refused
from vgen_eval.imaging import Geometry
from vgen_eval.types import Request
from vgen_eval.viewer.looking.answers import geometry_of, place_of
from vgen_eval.viewer.looking.panes import WHOLE
from vgen_eval.viewing import ClassMap, Picture, ScalarMap, Words


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_family(tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("family", FAMILIES)
def test_of_a_sound_run_everything_is_shown(results: Path, family: str) -> None:
    found = look(run_of(results, family))
    assert found.notices == ()
    assert found.complete
    assert found.facts["status"] == "ok"
    assert found.prompt
    assert found.panes[0].name == "input"
    assert found.panes[0].frame == WHOLE
    names = [shown.name for shown in found.panes]
    assert set(FAMILIES[family]) <= set(names)
    assert names.index("answer") < min(map(names.index, FAMILIES[family]))
    assert len(set(names)) == len(names)
    assert len({shown.key for shown in found.panes}) == len(names)
    for shown in found.panes:
        if isinstance(shown.pane.body, ScalarMap | ClassMap | Picture):
            assert shown.frame == WHOLE
            assert (shown.width, shown.height) == (found.panes[0].width, found.panes[0].height)


def test_the_answer_is_the_picture_as_it_came(results: Path) -> None:
    run = run_of(results, "depth")
    line = lines_of(run / "predictions.jsonl")[0]
    found = look(run, line["sample"])
    from vgen_eval.imaging import decode_image

    data = (run / "outputs" / line["answer"]["file"]).read_bytes()
    body = pane(found, "answer").pane.body
    assert isinstance(body, Picture)
    assert np.array_equal(body.image.array, decode_image(data, what="it"))
    assert found.facts["files"] == (
        {"name": "answer", "sha256": line["answer"]["sha256"], "bytes": len(data),
         "file": line["answer"]["file"]},
    )  # fmt: skip


def test_other_components_than_those_that_scored_are_told(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    (scores,) = (run / "scores").glob("*.jsonl")
    rewrite(scores, lambda line: {**line, "sha256": "0" * 64})
    found = look(run)
    assert [n for n in found.notices if "is not what was scored" in n and "vgen-eval score" in n]
    assert pane(found, "prediction")


def test_a_score_of_an_earlier_answer_is_told(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    (scores,) = (run / "scores").glob("*.jsonl")
    rewrite(scores, lambda line: {**line, "of": "ok:other"})
    assert any("of an earlier answer" in notice for notice in look(run).notices)


def test_scores_of_other_versions_are_told(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    (scores,) = (run / "scores").glob("*.jsonl")
    scores.rename(scores.with_name("0123456789abcdef.jsonl"))
    found = look(run)
    assert any("of other versions" in notice for notice in found.notices)
    assert found.score is not None


def test_an_answer_whose_file_is_gone_has_a_tile_and_its_numbers(
    results: Path, tmp_path: Path
) -> None:
    run = copy_of(results, "depth", tmp_path)
    shutil.rmtree(run / "outputs")
    found = look(run)
    assert any(notice.startswith("file missing: ") for notice in found.notices)
    body = pane(found, "answer").pane.body
    assert isinstance(body, Words)
    assert body.text == "file missing"
    assert found.find("prediction") is None
    assert pane(found, "target")
    assert found.facts["values"]["delta1"] == pytest.approx(1.0, abs=0.05)
    assert not found.complete


def test_an_altered_answer_is_not_shown(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    line = lines_of(run / "predictions.jsonl")[0]
    (run / "outputs" / line["answer"]["file"]).write_bytes(b"another")
    found = look(run, line["sample"])
    (told,) = [notice for notice in found.notices if notice.startswith("file changed")]
    assert line["answer"]["sha256"] in told
    assert found.find("prediction") is None


def put_answer(run: Path, data: bytes) -> None:
    """The first sample's answer is these bytes, and everything agrees with it."""
    digest = hashlib.sha256(data).hexdigest()
    (run / "outputs" / f"{digest}.png").write_bytes(data)
    first = lines_of(run / "predictions.jsonl")[0]["sample"]
    answer = {"sha256": digest, "file": f"{digest}.png", "bytes": len(data)}

    def change(line: dict[str, Any]) -> dict[str, Any]:
        return {**line, "answer": answer} if line["sample"] == first else line

    rewrite(run / "predictions.jsonl", change)


def huge_header() -> bytes:
    """A PNG of 200 bytes that says it has 40,000 x 40,000 pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + crc

    head = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(99)))
        + chunk(b"IEND", b"")
    )  # fmt: skip


def test_a_picture_that_says_it_is_huge_is_not_decoded(results: Path, tmp_path: Path) -> None:
    run = copy_of(results, "depth", tmp_path)
    put_answer(run, huge_header())
    body = pane(look(run), "answer").pane.body
    assert isinstance(body, Words)
    assert body.text == "too large: open the raw file"


@pytest.mark.parametrize("data", [b"", b"<svg onload=alert(1)>", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_picture_is_not_shown(results: Path, tmp_path: Path, data: bytes) -> None:
    run = copy_of(results, "depth", tmp_path)
    put_answer(run, data)
    body = pane(look(run), "answer").pane.body
    assert isinstance(body, Words)
    assert body.text == "no picture: open the raw file"


# --- data that is not here ----------------------------------------------------------------


def test_without_its_data_the_answer_and_the_numbers_are_shown(tmp_path: Path) -> None:
    run = own_depth(tmp_path / "own", "oracle")
    whole = look(run)
    assert whole.notices == ()
    (tmp_path / "own" / "manifest.jsonl").unlink()
    found = look(run)
    assert any("its data cannot be opened" in notice for notice in found.notices)
    assert not found.complete
    assert found.find("input") is None
    assert isinstance(pane(found, "answer").pane.body, Picture)
    assert pane(found, "answer").frame == WHOLE
    assert isinstance(pane(found, "prediction").pane.body, Words)
    assert found.prompt is None
    assert found.facts["prompt_template"]


def test_a_sample_whose_files_are_faulty_is_told(tmp_path: Path) -> None:
    run = own_depth(tmp_path / "own", "oracle")
    (tmp_path / "own" / "near.npy").write_bytes(b"no array")
    found = look(run, "near")
    assert any("cannot be loaded" in notice for notice in found.notices)
    assert look(run, "far").notices == ()


def test_another_input_than_the_model_saw_is_told(tmp_path: Path) -> None:
    run = own_depth(tmp_path / "own", "oracle")
    shutil.copy(tmp_path / "own" / "near.png", tmp_path / "spare.png")
    import PIL.Image

    PIL.Image.new("RGB", (60, 40), (9, 9, 9)).save(tmp_path / "own" / "near.png")
    found = look(run, "near")
    assert any("is not the one that the model saw" in notice for notice in found.notices)


# --- attempts without an answer -----------------------------------------------------------


def test_refusals_and_words_in_the_place_of_a_picture(tmp_path: Path) -> None:
    def model(request: Request) -> Any:
        if request.sample == "near":
            raise Refused("I would rather not <b>paint</b>")
        return "a picture of a road"

    run = own_depth(tmp_path / "own", model, model_name="shy")
    refused, spoke = look(run, "near"), look(run, "far")
    assert refused.facts["status"] == "refused"
    assert "rather not <b>paint</b>" in refused.facts["reason"]
    assert refused.find("answer") is None
    assert pane(refused, "target")
    assert refused.facts["substitute"] is True
    assert spoke.facts["status"] == "no_answer"
    body = pane(spoke, "answer").pane.body
    assert isinstance(body, Words)
    assert body.text == "a picture of a road"
    assert spoke.notices == ()


def test_what_was_not_answered_yet_shows_the_truth_alone(tmp_path: Path) -> None:
    run = own_depth(tmp_path / "own", "oracle")
    (run / "predictions.jsonl").write_text("")
    shutil.rmtree(run / "scores")
    found = look(run)
    assert found.facts["status"] == "not_run"
    assert found.line is None
    assert [shown.name for shown in found.panes] == ["input", "target"]


def test_an_answer_of_another_size_is_in_step(tmp_path: Path) -> None:
    def half(request: Request) -> Any:
        return np.zeros((20, 30, 3), np.uint8)

    def square(request: Request) -> Any:
        return np.zeros((64, 64, 3), np.uint8)

    answer = pane(look(own_depth(tmp_path / "half", half)), "answer")
    assert (answer.width, answer.height, answer.frame) == (30, 20, WHOLE)
    answer = pane(look(own_depth(tmp_path / "square", square)), "answer")
    assert (answer.width, answer.height, answer.frame) == (64, 64, WHOLE)
    assert "stretched" in answer.pane.note


@pytest.mark.parametrize("size", [(512, 512), (300, 512), (257, 511), (64, 48), (33, 100)])
@pytest.mark.parametrize("fit", ["stretch", "letterbox"])
def test_the_place_of_an_answer_is_what_decoders_cut_out(size: tuple[int, int], fit: Any) -> None:
    """A picture of coordinates, cut as decoders cut, shows the same part."""
    geometry = Geometry(original=(40, 60), seen=(96, 96), box=(16, 0, 64, 96), fit=fit)
    rows, columns = np.indices(size)
    part = geometry.crop(np.stack([rows, columns], axis=-1))
    frame, _ = place_of(size, geometry)
    assert frame is not None
    left, top, width, height = frame
    assert round(left * size[1]) == part[0, 0, 1]
    assert round(top * size[0]) == part[0, 0, 0]
    assert round((left + width) * size[1]) == part[-1, -1, 1] + 1
    assert round((top + height) * size[0]) == part[-1, -1, 0] + 1


def test_a_geometry_that_cannot_be_is_none() -> None:
    good = {"original": [[40, 60]], "seen": [[96, 96]], "boxes": [[16, 0, 64, 96]]}
    assert geometry_of({"geometry": good}, "stretch") == Geometry(
        original=(40, 60), seen=(96, 96), box=(16, 0, 64, 96)
    )
    for bad in (
        None,
        {},
        {"original": []},
        {**good, "seen": [["a", 1]]},
        {**good, "seen": [[0, 0]]},
    ):
        assert geometry_of({"geometry": bad}, "stretch") is None
    assert place_of((10, 10), None) == (None, "")
