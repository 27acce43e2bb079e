"""Videos that public tools got wrong: without a frame, and stored on their side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import Scored, read_run, write_file, write_predictions
from numpy.typing import NDArray
from vgen_eval import evaluate
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog
from vgen_eval.video import Clip, write_mp4

pytest.importorskip("av")

RGB = NDArray[np.uint8]
MAZES = ("maze-2-0-abstract", "maze-2-1-abstract", "maze-2-2-abstract", "maze-2-3-abstract")


def write_mazes(folder: Path) -> str:
    """Writes the card of four small mazes; gives its path."""
    options = {
        "puzzle": "maze", "sizes": [2], "seeds": 4, "styles": ["abstract"], "width": 160,
        "height": 96,
    }  # fmt: skip
    answer = {
        "form": "video", "prompt": {"mid": "Go."}, "decoder": "maze_walk", "encoder": "maze_video",
    }  # fmt: skip
    card = {
        "task": "known/mazes",
        "version": 1,
        "family": "video",
        "dataset": {
            "reader": "puzzles", "options": options, "licence": "CC0-1.0", "source": "made by rule",
            "citation": "none",
        },
        "default_protocol": "plain",
        "protocols": {
            "plain": {
                "answers": [answer], "metrics": [{"name": "puzzle"}], "primary": "solved",
                "failure_value": "unsolved",
            }
        },
    }  # fmt: skip
    write_file(folder / "mazes.yaml", json.dumps(card).encode())
    return str(folder / "mazes.yaml")


def score_films(folder: Path, films: Mapping[str, bytes]) -> Scored:
    """Scores MP4 files, each named by its maze, as the command does."""
    (card,) = import_predictions(
        task=write_mazes(folder),
        predictions=write_predictions(folder, {f"{name}.mp4": films[name] for name in films}),
        model_name="theirs",
        catalog=Catalog.discover(),
        output=str(folder / "results"),
    )
    return read_run(folder / "results", card)


# --- no frame -----------------------------------------------------------------------------


def box(name: bytes, body: bytes) -> bytes:
    """A box of an MP4 file."""
    return (len(body) + 8).to_bytes(4, "big") + name + body


def no_frames() -> bytes:
    """An MP4 file with a head and an index, and nothing in it."""
    head = bytes(12) + (1000).to_bytes(4, "big") + bytes(84)
    return box(b"ftyp", b"isom\0\0\2\0isom") + box(b"moov", box(b"mvhd", head))


def test_a_video_without_a_frame_is_a_failed_answer_and_ends_no_run(tmp_path: Path) -> None:
    """https://github.com/EvolvingLMMs-Lab/lmms-eval/issues/964"""
    rng = np.random.default_rng(82)
    whole = write_mp4(rng.integers(0, 255, (4, 48, 64, 3), dtype=np.uint8), fps=4)
    assert whole.index(b"moov") > len(whole) / 2  # where the frames lie is told at the end
    files = (whole, whole[: len(whole) // 2], b"", no_frames())
    run = score_films(tmp_path, dict(zip(MAZES, files, strict=True)))
    assert [run.status(name) for name in MAZES] == ["ok", *["undecodable"] * 3]
    reasons = ("no frames: ", "(it is empty)", "no frames: ")
    for name, reason in zip(MAZES[1:], reasons, strict=True):
        assert reason in run.lines[name]["reason"]
    assert run.card.counts.statuses == {"ok": 1, "undecodable": 3}
    assert (run.card.score().n, run.card.complete) == (4, True)


# --- display matrices ---------------------------------------------------------------------

UPRIGHT, CLOCKWISE, BACK = (1, 0, 0, 1), (0, 1, -1, 0), (0, -1, 1, 0)


def turned(film: bytes, a: int, b: int, c: int, d: int) -> bytes:
    """An MP4 file with another display matrix: x' = ax + cy, y' = bx + dy."""
    at = film.index(b"tkhd") + 4 + 40  # version 0: the matrix lies 40 bytes on
    numbers = [a << 16, b << 16, 0, c << 16, d << 16, 0, 0, 0, 1 << 30]
    matrix = b"".join(number.to_bytes(4, "big", signed=True) for number in numbers)
    return film[:at] + matrix + film[at + 36 :]


def white_corner(picture: NDArray[Any]) -> str:
    rows, columns = np.nonzero(picture.mean(axis=2) > 180)
    up = "top" if rows.mean() < picture.shape[0] / 2 else "bottom"
    return f"{up}-{'left' if columns.mean() < picture.shape[1] / 2 else 'right'}"


@pytest.mark.parametrize(
    ("matrix", "size", "corner"),
    [(UPRIGHT, (64, 48), "top-left"), (CLOCKWISE, (48, 64), "top-right")],
)
def test_a_clip_is_turned_once_and_the_way_that_its_file_says(
    matrix: Sequence[int], size: tuple[int, int], corner: str
) -> None:
    """https://github.com/opencv/opencv/issues/26876"""
    patched = np.full((48, 64, 3), 100, np.uint8)
    patched[:16, :16] = 255
    clip = Clip.open(turned(write_mp4([patched] * 4, fps=4), *matrix))
    (frame,) = clip.take([0])
    assert clip.size == (frame.image.width, frame.image.height) == size
    assert white_corner(frame.image.array) == corner


def test_a_right_way_that_was_filmed_on_its_side_is_the_right_way(tmp_path: Path) -> None:
    """https://github.com/opencv/opencv/issues/26876"""
    (card,) = evaluate(
        tasks=write_mazes(tmp_path), model="oracle", bounds=False, output=str(tmp_path / "oracle")
    )
    solved = tmp_path / "oracle" / card.run
    films = {}
    for line in map(json.loads, (solved / "predictions.jsonl").read_text().splitlines()):
        film = (solved / "outputs" / line["answer"]["file"]).read_bytes()
        films[line["sample"]] = write_mp4(
            [np.rot90(frame.image.array) for frame in Clip.open(film)], fps=16
        )
    matrices = dict(zip(MAZES, (CLOCKWISE, CLOCKWISE, UPRIGHT, BACK), strict=True))
    run = score_films(
        tmp_path, {name: turned(films[name], *matrix) for name, matrix in matrices.items()}
    )
    assert run.card.counts.statuses == {"ok": 4}
    assert [run.statistics(name)["solved"] for name in MAZES] == [1, 1, 0, 0]
