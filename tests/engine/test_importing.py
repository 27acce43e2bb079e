"""Predictions from files: every one counted once, the missing and the unknown listed by name."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import kit
import numpy as np
import PIL.Image
import pytest
from vgen_eval import MissingData, Results
from vgen_eval.engine.importing import import_predictions
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog


def picture(number: int, form: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(np.full((8, 8, 3), (0, 0, number), np.uint8)).save(buffer, form)
    return buffer.getvalue()


def imported(folder: Path, task: str, predictions: Path, **more: Any) -> Results:
    return import_predictions(
        task=task, predictions=predictions, model_name="theirs", catalog=Catalog.discover(),
        output=str(folder / "out"), **more,
    )  # fmt: skip


def image_task(folder: Path, **options: Any) -> str:
    return kit.task(folder, protocol={"answers": [kit.IMAGE]}, **options)


def folder_of(place: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


def jsonl(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


# --- folders of files ---------------------------------------------------------------------


def test_three_of_five(toys: Path) -> None:
    ids = ["0", "1", "2", "3", "4"]
    files = {f"{n}.png": picture(n) for n in range(3)}
    (card,) = imported(toys, image_task(toys, ids=ids), folder_of(toys / "p", files))
    score = card.score("mae")
    assert card.counts.missing_ids == ("3", "4")
    assert card.counts.answered / card.counts.expected == 0.6
    assert (score.value, score.answered_only, score.n) == ((3 + 4) / 5, 0.0, 5)
    assert card.counts.statuses == {"missing": 2, "ok": 3}
    assert card.complete


@pytest.mark.parametrize("files", [{}, {"README.txt": b"x"}, {"zz.png": picture(1)}])
def test_none_that_matches_is_an_error_and_no_mean(toys: Path, files: dict[str, bytes]) -> None:
    place = folder_of(toys / "p", files)
    place.mkdir(exist_ok=True)
    with pytest.raises(MissingData, match="no_predictions_matched") as caught:
        imported(toys, image_task(toys), place)
    assert caught.value.exit_code == 3
    assert not (toys / "out" / "runs").exists()


def test_a_folder_that_is_not_there_is_named(toys: Path) -> None:
    with pytest.raises(MissingData, match="does not exist"):
        imported(toys, image_task(toys), toys / "nowhere")


def test_broken_pictures_do_not_stop_the_run_and_say_what_they_are(toys: Path) -> None:
    rng = np.random.default_rng(0)
    buffer = io.BytesIO()
    PIL.Image.fromarray(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(buffer, "PNG")
    png = buffer.getvalue()
    buffer = io.BytesIO()
    PIL.Image.fromarray(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(buffer, "JPEG")
    jpg = buffer.getvalue()
    files = {
        "cut_png.png": png[: len(png) * 2 // 3], "cut_jpg.jpg": jpg[: len(jpg) // 2],
        "empty.png": b"", "html.png": b"<!DOCTYPE html><html>Too many requests</html>",
        "fine.png": picture(4),
    }  # fmt: skip
    ids = ["cut_png", "cut_jpg", "empty", "html", "fine"]
    (card,) = imported(toys, image_task(toys, ids=ids), folder_of(toys / "p", files))
    assert card.complete
    assert card.counts.statuses == {"ok": 1, "undecodable": 4}
    scores = {score["sample"]: score for score in kit.scores(toys, card)}
    assert scores["fine"]["status"] == "ok"
    assert scores["fine"]["values"]["mae"] == 0
    assert "truncated" in scores["cut_png"]["reason"]
    assert "Truncated" in scores["cut_jpg"]["reason"]
    assert "empty" in scores["empty"]["reason"]
    assert "not a picture (it begins with '<!DOCTYPE ht')" in scores["html"]["reason"]
    for name in files:
        sample = name.partition(".")[0]
        if sample != "fine":
            assert scores[sample]["reason"].startswith(f"{name}: ")


def test_attempts_folders_and_dots_in_names_find_their_samples(toys: Path) -> None:
    ids = ["a/b/c", "v1.5", "plain", "v1"]
    files = {
        "a/b/c.png": picture(0), "a/b/c.1.png": picture(1),
        "v1.5.png": picture(1), "v1.5.1.png": picture(1),
        "plain.0.png": picture(2), "plain.1.png": picture(3),
        "v1.png": picture(3), "v1.1.webp": picture(3, "WEBP"),
        "stranger.png": picture(9), "other/v9.7.png": picture(9),
    }  # fmt: skip
    (card,) = imported(toys, image_task(toys, ids=ids), folder_of(toys / "p", files))
    assert card.counts.expected == 8
    assert card.counts.statuses["ok"] == 8
    assert set(card.counts.unknown_ids) == {"stranger", "other/v9.7"}
    values = {(s["sample"], s["attempt"]): s["values"]["mae"] for s in kit.scores(toys, card)}
    assert values[("a/b/c", 1)] == 1
    assert values[("plain", 1)] == 1
    assert values[("v1.5", 0)] == 0
    text = (kit.run_folder(toys, card) / "result_card.md").read_text()
    assert "stranger" in text


@pytest.mark.parametrize("pattern", ["{}_depth.png", "pred-{}.png", "deep/{}_out.png"])
def test_one_word_more_in_every_name_is_left_out_aloud(
    toys: Path, caplog: Any, pattern: str
) -> None:
    ids = ["a_1", "b", "c"]
    names = ids if "/" not in pattern else [f"deep/{name}" for name in ids]
    files = {pattern.format(name): picture(n) for n, name in enumerate(ids)}
    (card,) = imported(toys, image_task(toys, ids=names), folder_of(toys / "p", files))
    assert card.counts.statuses == {"ok": 3}
    assert "in the files' names is left out" in caplog.text


@pytest.mark.parametrize("names", [["a_depth", "b_mask"], ["a_1", "b_1"], ["a_depth_x"]])
def test_names_that_are_no_ids_are_told_beside_one_that_is(toys: Path, names: list[str]) -> None:
    place = folder_of(toys / "p", {f"{name}.png": picture(0) for name in names})
    with pytest.raises(MissingData, match=f"found '{names[0]}'") as caught:
        imported(toys, image_task(toys, ids=["a", "b"]), place)
    assert "such as 'a.png'" in str(caught.value.cure)


def test_a_word_is_left_out_only_where_no_name_is_an_id(toys: Path) -> None:
    files = {"a.png": picture(0), "b_depth.png": picture(1)}
    (card,) = imported(toys, image_task(toys, ids=["a", "b"]), folder_of(toys / "p", files))
    assert (card.counts.missing_ids, card.counts.unknown_ids) == (("b",), ("b_depth",))


def test_a_date_in_a_file_name_is_no_attempt_number(toys: Path) -> None:
    place = folder_of(toys / "p", {"s000.20260101.png": picture(0), "s001.png": picture(1)})
    with pytest.raises(UsageError, match=r"s000.20260101.png: attempt 20260101.*1000 at most"):
        imported(toys, image_task(toys), place)


def test_links_and_paths_that_lead_out_are_refused(toys: Path) -> None:
    (toys / "secret.png").write_bytes(picture(1))
    place = folder_of(toys / "p", {"s001.png": picture(1)})
    (place / "s000.png").symlink_to(toys / "secret.png")
    with pytest.raises(UsageError, match=r"s000\.png: .*leads out of"):
        imported(toys, image_task(toys), place)
    for name in ("../secret.png", str(toys / "secret.png")):
        lines = jsonl(toys / "q" / "a.jsonl", [{"id": "s000", "output": name}])
        with pytest.raises(UsageError, match="leads out of"):
            imported(toys, image_task(toys), lines)
    (toys / "q" / "link.png").symlink_to(toys / "secret.png")
    lines = jsonl(toys / "q" / "a.jsonl", [{"id": "s000", "output": "link.png"}])
    with pytest.raises(UsageError, match="leads out of"):
        imported(toys, image_task(toys), lines)


@pytest.mark.parametrize(
    "output",
    ["x" * 100_000, "a/" * 50_000 + "a.png", "a" * 255 + ".png", "a\0.png", "\udc80.png", "", ".",
     "loop.png"],
)  # fmt: skip
def test_what_no_file_can_be_called_is_refused_with_its_line(toys: Path, output: str) -> None:
    lines = jsonl(toys / "q" / "a.jsonl", [{"id": "s000", "output": "s000.png"}])
    (toys / "q" / "s000.png").write_bytes(picture(0))
    (toys / "q" / "loop.png").symlink_to("loop.png")
    with lines.open("ab") as file:
        file.write(b"\n" + json.dumps({"id": "s001", "output": output}).encode() + b"\n")
    with pytest.raises(UsageError, match=r"a\.jsonl:3: ") as caught:
        imported(toys, image_task(toys), lines)
    assert len(caught.value.what) < 1000


def test_predictions_that_no_path_can_be_are_not_there(toys: Path) -> None:
    for name in ("a" * 300, "a\0b"):
        with pytest.raises(MissingData, match="no predictions"):
            imported(toys, image_task(toys), toys / name)


def test_array_files_are_read_without_pickle_and_broken_ones_are_undecodable(toys: Path) -> None:
    form = {"form": "depth_map", "decoder": "toybench:anything"}
    place = toys / "p"
    place.mkdir()
    np.save(place / "s000.npy", np.ones((3, 4)))
    np.save(place / "s001.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (place / "s002.npy").write_bytes(b"PK\x03\x04 no archive")
    (place / "s003.npy").write_bytes(b"")
    task = kit.task(toys, n=4, protocol={"answers": [form]})
    (card,) = imported(toys, task, place)
    assert card.counts.statuses == {"ok": 1, "undecodable": 3}


# --- JSONL --------------------------------------------------------------------------------


def test_an_exact_duplicate_counts_once(toys: Path) -> None:
    records = [
        {"id": "s001", "output": "1"}, {"id": "s002", "output": "2"}, {"id": "s002", "output": "2"},
    ]  # fmt: skip
    (card,) = imported(toys, kit.task(toys, n=3), jsonl(toys / "p.jsonl", records))
    assert card.counts.statuses == {"missing": 1, "ok": 2}
    assert card.score().n == 3


@pytest.mark.parametrize("ids", [("s001", "s001"), (7, "7"), ("zz", "zz")])
def test_two_different_answers_to_one_attempt_are_an_error_with_the_id(
    toys: Path, ids: tuple[Any, Any]
) -> None:
    records = [{"id": ids[0], "output": "1"}, {"id": ids[1], "output": "0"}]
    task = kit.task(toys, ids=["s001", "7"])
    words = rf"p.jsonl:2: sample '{ids[0]}' has two different predictions"
    with pytest.raises(UsageError, match=words):
        imported(toys, task, jsonl(toys / "p.jsonl", records))


def test_ids_compare_as_text(toys: Path) -> None:
    records = [{"id": 7, "output": 0}, {"id": "7", "output": 0}, {"id": 8, "output": "1"}]
    (card,) = imported(toys, kit.task(toys, ids=["7", "8"]), jsonl(toys / "p.jsonl", records))
    assert card.counts.statuses == {"ok": 2}
    assert card.score().value == 0


def test_shards_padded_with_the_first_samples_count_each_once(toys: Path) -> None:
    right = {0, 3, 5, 8, 11, 13, 17, 20}
    everything = [{"id": f"s{n:03d}", "output": str(n if n in right else n + 1)} for n in range(22)]
    padded = [*everything, *everything[:2]]
    for shard in range(3):
        jsonl(toys / "p" / f"shard_{shard}.jsonl", padded[shard * 8 : shard * 8 + 8])
    (card,) = imported(toys, kit.task(toys, n=22), toys / "p")
    assert card.score().n == 22
    assert card.score().value == pytest.approx(14 / 22, abs=1e-12)
    assert card.counts.expected == 22


def test_attempts_in_lines(toys: Path) -> None:
    records = [
        {"id": f"s{n:03d}", "attempt": attempt, "output": str(n + attempt)}
        for n in range(3)
        for attempt in range(2)
    ]
    (card,) = imported(toys, kit.task(toys, n=3), jsonl(toys / "p.jsonl", records))
    assert card.score().value == 0.5
    assert card.score(selection="best_of_2").value == 0.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": "s000", "output": NaN}\n', r"p\.jsonl.*line 1|NaN|invalid"),
        ('{"id": "s000"}\n', r"p\.jsonl:1: a line holds 'id' and 'output'"),
        ('{"id": true, "output": "1"}\n', r"p\.jsonl:1: a line holds"),
        ('{"id": null, "output": "1"}\n', r"p\.jsonl:1: a line holds"),
        ('{"id": "a", "output": "1"}\n[1]\n', r"p\.jsonl"),
        ('{"id": "a", "output": "1", "attempt": -1}\n', r"p\.jsonl:1: attempt -1"),
        ('{"id": "a", "output": "1", "attempt": "x"}\n', r"p\.jsonl:1: attempt 'x'"),
        ('{"id": "s000", "output": "1", "attempt": 5000}\n', r"attempt 5000 of 's000'"),
        ("no json\n", r"p\.jsonl"),
        ("\xff\xfe", r"p\.jsonl"),
    ],
)
def test_lines_that_cannot_be_read_are_named(toys: Path, text: str, words: str) -> None:
    (toys / "p.jsonl").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=words):
        imported(toys, kit.task(toys), toys / "p.jsonl")


def test_files_named_in_lines(toys: Path) -> None:
    folder_of(toys / "p", {"deep/one.png": picture(0), "two.png": picture(1)})
    lines = jsonl(
        toys / "p" / "index.jsonl",
        [{"id": "s000", "output": "deep/one.png"}, {"id": "s001", "output": "two.png"}],
    )
    (card,) = imported(toys, image_task(toys, n=2), lines)
    assert (card.score().value, card.counts.statuses) == (0.0, {"ok": 2})
    jsonl(toys / "p" / "index.jsonl", [{"id": "s000", "output": "no.png"}])
    with pytest.raises(UsageError, match=r"index\.jsonl:1: no file 'no\.png'"):
        imported(toys, image_task(toys, n=2), lines)


def test_lines_are_of_the_form_that_they_fit(toys: Path) -> None:
    answers = [{"form": form, "decoder": "toybench:anything"} for form in ("text", "points")]
    answers.insert(1, {"form": "image", "decoder": "toybench:anything"})
    task = kit.task(toys, n=2, protocol={"answers": answers})
    folder_of(toys / "p", {"s000.png": picture(0), "s001.png": picture(1)})
    for outputs, form in (
        (["3", 4], "text"),
        (["s000.png", "none.png"], "text"),
        ([[[1, 2]], []], "points"),
        ([[[1, 2]], "3"], "text"),  # of no one form: the best, and the others are no answers
        (["s000.png", "s001.png"], "image"),
        (["s000.png", None], "image"),
        (["x" * 5000, "a\0.png"], "text"),
    ):
        records = [{"id": f"s00{at}", "output": output} for at, output in enumerate(outputs)]
        (card,) = imported(toys, task, jsonl(toys / "p" / "index.jsonl", records))
        assert (card.answer, outputs) == (form, outputs)


def test_the_same_predictions_are_the_same_run_and_others_are_not(toys: Path) -> None:
    task = kit.task(toys, n=2)
    lines = jsonl(toys / "p.jsonl", [{"id": "s000", "output": "0"}])
    (first,), (again,) = imported(toys, task, lines), imported(toys, task, lines)
    moved = jsonl(toys / "elsewhere" / "q.jsonl", [{"id": "s000", "output": "0"}])
    (same,) = imported(toys, task, moved)
    (other,) = imported(toys, task, jsonl(toys / "r.jsonl", [{"id": "s000", "output": "1"}]))
    assert first.run == again.run == same.run != other.run


def test_a_form_that_the_protocol_does_not_take_is_refused(toys: Path) -> None:
    lines = jsonl(toys / "p.jsonl", [{"id": "s000", "output": "0"}])
    with pytest.raises(UsageError, match="takes no video"):
        imported(toys, kit.task(toys), lines, answer="video")


def test_predictions_are_of_one_task(toys: Path) -> None:
    (toys / "p.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"predictions are of one task, 'samples/.*' means \d+"):
        import_predictions(
            task="samples/*", predictions=toys / "p.jsonl", model_name="m",
            catalog=Catalog.discover(), output=str(toys / "out"),
        )  # fmt: skip
