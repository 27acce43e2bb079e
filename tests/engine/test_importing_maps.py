"""Predicted maps from files: the form follows the suffixes, a fault is its sample's alone."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import kit
import numpy as np
import PIL.Image
import pytest
from vgen_eval import MissingData, MissingExtra, Results
from vgen_eval.engine.importing import import_predictions
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog

DEPTH = np.linspace(1, 9, 12, dtype=np.float32).reshape(3, 4)


def imported(folder: Path, task: str, predictions: Path, **more: Any) -> Results:
    return import_predictions(
        task=task, predictions=predictions, model_name="theirs", catalog=Catalog.discover(),
        output=str(folder / "out"), **more,
    )  # fmt: skip


def task_of(folder: Path, *forms: str, n: int = 2) -> str:
    answers = [{"form": form, "decoder": "toybench:anything"} for form in forms]
    return kit.task(folder, n=n, protocol={"answers": answers})


def npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def picture(array: Any, form: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(array).save(buffer, form)
    return buffer.getvalue()


def pfm(array: Any) -> bytes:
    head = f"Pf\n{array.shape[1]} {array.shape[0]}\n-1.0\n".encode()
    return head + array[::-1].astype("<f4").tobytes()


GREY = picture((DEPTH * 1000).astype(np.uint16))
COLOUR = picture(np.full((3, 4, 3), (0, 0, 1), np.uint8))


def write(place: Path, **files: bytes) -> Path:
    """name_suffix=bytes -> name.suffix"""
    place.mkdir(exist_ok=True)
    for name, data in files.items():
        (place / name.replace("_", ".")).write_bytes(data)
    return place


def kept(folder: Path, card: Any) -> dict[str, Any]:
    """Sample -> the array that was kept of its answer."""
    found = {}
    for line in kit.predictions(folder, card):
        if "file" in line.get("answer", {}):
            file = kit.run_folder(folder, card) / "outputs" / line["answer"]["file"]
            file = file if file.exists() else kit.run_folder(folder, card) / line["answer"]["file"]
            found[line["sample"]] = np.load(file)
    return found


def reasons(folder: Path, card: Any) -> dict[str, str]:
    return {line["sample"]: line.get("reason", "") for line in kit.scores(folder, card)}


# --- depth --------------------------------------------------------------------------------


def test_depth_in_every_file_of_floats_and_in_any_case(toys: Path) -> None:
    files = {"s000_NPY": npy(DEPTH), "s001_npz": npz(depth=DEPTH), "s002_Pfm": pfm(DEPTH)}
    (card,) = imported(toys, task_of(toys, "depth_map", n=3), write(toys / "p", **files))
    assert card.counts.statuses == {"ok": 3}
    for array in kept(toys, card).values():
        assert array.dtype == np.float32
        assert np.array_equal(array, DEPTH)


def test_depth_in_exr(toys: Path) -> None:
    library = pytest.importorskip("OpenEXR")
    place = write(toys / "p")
    head = {"compression": library.ZIP_COMPRESSION, "type": library.scanlineimage}
    library.File(head, {"Z": DEPTH}).write(str(place / "s000.EXR"))
    (card,) = imported(toys, task_of(toys, "depth_map", n=1), place)
    assert np.array_equal(kept(toys, card)["s000"], DEPTH)


def test_exr_without_its_library_is_said_before_anything_runs(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    with pytest.raises(MissingExtra, match="exr"):
        imported(toys, task_of(toys, "depth_map"), write(toys / "p", s000_exr=b"v/1\x01"))
    assert not (toys / "out" / "runs").exists()


def test_pictures_are_depth_with_a_scale_which_is_part_of_the_model(toys: Path) -> None:
    task = task_of(toys, "image", "depth_map")
    place = write(toys / "p", s000_png=GREY, s001_tif=picture(DEPTH, "TIFF"))
    (card,) = imported(toys, task, place, depth_scale=0.001)
    assert card.counts.statuses == {"ok": 2}
    assert np.allclose(kept(toys, card)["s000"], DEPTH, atol=1e-3)
    assert np.allclose(kept(toys, card)["s001"], DEPTH * 0.001)
    (again,) = imported(toys, task, place, depth_scale=0.001)
    (other,) = imported(toys, task, place, depth_scale=0.01)
    assert card.run == again.run != other.run
    (as_image,) = imported(toys, task, place, answer="image")
    assert as_image.answer == "image"


def grey(*values: int, dtype: Any = np.uint8) -> bytes:
    return picture(np.resize(np.array(values, dtype), (3, 4)))


def palette(*values: int) -> bytes:
    image = PIL.Image.fromarray(np.resize(np.array(values, np.uint8), (3, 4)))
    image.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0])
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("form", "data", "cure"),
    [
        ("depth_map", GREY, "--answer depth_map --depth-scale 1/1000"),
        ("label_map", grey(0, 5, dtype=np.uint16), "--answer label_map"),
        ("mask", grey(0, 1, dtype=np.uint16), "--answer mask"),
        ("label_map", grey(0, 1, 2), "--answer label_map"),
        ("label_map", grey(0, 63, 255), "--answer label_map"),
        ("label_map", palette(0, 1, 2), "--answer label_map"),
        ("mask", grey(0, 1), "--answer mask"),
    ],
)
@pytest.mark.parametrize("lines", [False, True])
def test_pictures_that_may_be_something_else_are_asked_about(
    toys: Path, form: str, data: bytes, cure: str, lines: bool
) -> None:
    task = task_of(toys, "image", form)
    place = write(toys / "p", s000_png=data, s001_png=data)
    if lines:
        text = "".join(f'{{"id": "s00{n}", "output": "s00{n}.png"}}\n' for n in range(2))
        (place / "index.jsonl").write_text(text)
    with pytest.raises(UsageError, match="answers painted as pictures, or") as caught:
        imported(toys, task, place)
    assert cure in str(caught.value.cure)
    assert "--answer image" in str(caught.value.cure)
    assert not (toys / "out" / "runs").exists()
    (card,) = imported(toys, task, place, answer="image")
    assert (card.answer, card.counts.statuses) == ("image", {"ok": 2})


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("depth_map", [grey(0, 200)]),
        ("depth_map", [COLOUR, GREY]),  # one in colours: all are painted
        ("label_map", [grey(0, 64)]),
        ("label_map", [grey(1, 2), COLOUR]),
        ("mask", [grey(0, 255)]),
        ("mask", [grey(0), grey(0)]),  # nothing found, whatever they are
        ("mask", [grey(0, 1), grey(0, 255)]),
        ("mask", [palette(0, 1)]),  # black and red
        ("normal_map", [GREY]),
        ("depth_map", [b"no picture", grey(0, 9)]),
    ],
)
def test_pictures_that_are_plain_answers_are_taken(
    toys: Path, form: str, files: list[bytes]
) -> None:
    place = write(toys / "p", **{f"s{at:03d}_png": data for at, data in enumerate(files)})
    (card,) = imported(toys, task_of(toys, "image", form, n=len(files)), place)
    assert card.answer == "image"


def test_pictures_without_a_scale_are_no_depth_and_the_option_is_named(toys: Path) -> None:
    place = write(toys / "p", s000_png=GREY, s001_PNG=GREY, notes_md=b"x")
    with pytest.raises(MissingData) as caught:
        imported(toys, task_of(toys, "depth_map"), place)
    assert "found: 2 .png, 1 .md" in caught.value.what
    assert ".npy .npz .exr .pfm (.png .tif .tiff with --depth-scale)" in str(caught.value.cure)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_that_is_none_is_refused(toys: Path, scale: float) -> None:
    with pytest.raises(UsageError, match="--depth-scale"):
        imported(toys, task_of(toys, "depth_map"), write(toys / "p"), depth_scale=scale)


def test_a_scale_is_for_depth(toys: Path) -> None:
    with pytest.raises(UsageError, match="takes no depth_map"):
        imported(toys, task_of(toys, "image"), write(toys / "p"), depth_scale=1.0)
    with pytest.raises(UsageError, match="goes with depth_map, not with --answer image"):
        imported(
            toys, task_of(toys, "image", "depth_map"), write(toys / "p"), depth_scale=1.0,
            answer="image",
        )  # fmt: skip


# --- the form -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forms", "files", "answer", "form"),
    [
        (("image", "depth_map"), {"s000_npy": npy(DEPTH)}, None, "depth_map"),
        (("image", "depth_map"), {"s000_npy": npy(DEPTH), "s000_png": COLOUR}, None, "image"),
        (("depth_map", "image"), {"s000_npy": npy(DEPTH), "s000_png": COLOUR}, None, "depth_map"),
        (("image", "depth_map"), {"s000_npy": npy(DEPTH), "s000_png": COLOUR}, "depth_map",
         "depth_map"),
        (("image", "mask"), {"s000_png": COLOUR}, None, "image"),
        (("image", "mask"), {"s000_png": COLOUR}, "mask", "mask"),
        (("mask",), {"s000_png": COLOUR}, None, "mask"),
        (("label_map",), {"s000_PNG": picture(np.ones((3, 4), np.uint8))}, None, "label_map"),
        (("normal_map", "image"), {"s000_png": COLOUR}, None, "image"),
        (("normal_map", "image"), {"s000_png": COLOUR}, "normal_map", "normal_map"),
        (("normal_map", "image"), {"s000_npz": npz(n=np.ones((3, 4, 3)))}, None, "normal_map"),
        (("image", "text"), {"s000_txt": b"3"}, None, "text"),
    ],
)  # fmt: skip
def test_the_form_is_the_best_that_a_suffix_speaks_for(
    toys: Path, forms: tuple[str, ...], files: dict[str, bytes], answer: str | None, form: str
) -> None:
    place = write(toys / "p", **files)
    (card,) = imported(toys, task_of(toys, *forms, n=1), place, answer=answer)
    assert card.answer == form
    assert card.counts.statuses == {"ok": 1}


def test_files_that_are_passed_over_are_told(toys: Path, caplog: Any) -> None:
    place = write(toys / "p", s000_npy=npy(DEPTH), s000_png=COLOUR)
    imported(toys, task_of(toys, "image", "depth_map"), place)
    assert ".png files are taken, .npy passed over (--answer depth_map takes those)" in caplog.text


def test_masks_and_labels_are_read_as_what_they_store(toys: Path) -> None:
    target = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
    indexed = PIL.Image.fromarray(target)
    indexed.putpalette([0, 0, 0, 0, 0, 1, 255, 0, 0])
    buffer = io.BytesIO()
    indexed.save(buffer, "PNG")
    place = write(toys / "p", s000_png=buffer.getvalue())
    (card,) = imported(toys, task_of(toys, "label_map", n=1), place)
    assert kept(toys, card)["s000"].tolist() == target.tolist()
    grey = picture((target > 0).astype(np.uint8) * 255)
    place = write(toys / "q", s000_png=grey, s001_npy=npy(target > 0))
    (card,) = imported(toys, task_of(toys, "mask", n=2), place)
    for mask in kept(toys, card).values():
        assert mask.dtype == bool
        assert mask.tolist() == (target > 0).tolist()


def test_a_folder_that_suits_no_form_lists_what_is_there_and_what_is_wanted(toys: Path) -> None:
    place = write(toys / "p", a_mat=b"x", b_mat=b"y", c_json=b"{}", LICENSE=b"")
    with pytest.raises(MissingData, match="no_predictions_matched") as caught:
        imported(toys, task_of(toys, "image", "mask", "points"), place)
    assert caught.value.exit_code == 3
    assert caught.value.what.endswith("(found: 2 .mat, 1 without suffix, 1 .json)")
    assert caught.value.cure == (
        "wanted: image in .png .jpg .jpeg .webp .bmp .tif .tiff; mask in .npy .npz (.png .jpg "
        ".jpeg .webp .bmp .tif .tiff with --answer mask); points in lines of a .jsonl file"
    )


# --- faults -------------------------------------------------------------------------------


def test_a_faulty_file_is_its_samples_fault_and_named(toys: Path) -> None:
    files = {
        "s000_npy": npy(DEPTH),
        "s001_npy": npy(np.array([{}], dtype=object), allow_pickle=True),
        "s002_npz": npz(a=DEPTH, b=DEPTH),
        "s003_npy": npy(DEPTH)[:-1],
        "s004_npy": b"",
        "s005_npy": npy(DEPTH.astype(np.uint16)),
        "s006_npy": b"<html>502</html>",
        "s007_npy": npy(np.ones((2, 3, 4))),
        "s008_pfm": b"Pf\n1 1\n",
    }
    (card,) = imported(toys, task_of(toys, "depth_map", n=9), write(toys / "p", **files))
    assert card.complete
    assert card.counts.statuses == {"ok": 1, "undecodable": 8}
    said = reasons(toys, card)
    for sample, words in {
        "s001": "s001.npy: holds objects, which need a pickle: not allowed",
        "s002": "s002.npz: one array was wanted, it holds a, b",
        "s003": "s003.npy: is cut off: 48 bytes declared, 47 there",
        "s004": "s004.npy: the file is empty",
        "s005": "s005.npy: holds whole numbers (uint16), which are no metres: give the scale",
        "s006": "s006.npy: not a picture (it begins with '<html>502</h')",
        "s007": "s007.npy: depth is (H, W), the shape is (2, 3, 4)",
        "s008": "s008.pfm: the header of the PFM file cannot be read",
    }.items():
        assert said[sample].startswith(words), said[sample]


def test_a_file_that_cannot_be_opened_is_its_samples_fault(toys: Path) -> None:
    import os

    place = write(toys / "p", s000_npy=npy(DEPTH), s001_npy=npy(DEPTH))
    (place / "s001.npy").chmod(0)
    if os.access(place / "s001.npy", os.R_OK):
        pytest.skip("this user may read everything")
    (card,) = imported(toys, task_of(toys, "depth_map"), place)
    assert card.counts.statuses == {"ok": 1, "undecodable": 1}
    assert "s001.npy: cannot be read" in reasons(toys, card)["s001"]


def test_a_file_that_goes_away_is_its_samples_fault(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vgen_eval.engine import importing

    place = write(toys / "p", s000_npy=npy(DEPTH), s001_npy=npy(DEPTH))
    make_plan = importing.make_plan

    def and_then_it_goes(*arguments: Any) -> Any:
        (place / "s001.npy").unlink(missing_ok=True)
        return make_plan(*arguments)

    monkeypatch.setattr(importing, "make_plan", and_then_it_goes)
    (card,) = imported(toys, task_of(toys, "depth_map"), place)
    assert card.counts.statuses == {"ok": 1, "undecodable": 1}
    assert "s001.npy: cannot be read: No such file" in reasons(toys, card)["s001"]


# --- files named in lines -----------------------------------------------------------------


def test_lines_name_files_of_any_form(toys: Path) -> None:
    write(toys / "p", a_NPZ=npz(d=DEPTH), b_npy=npy(DEPTH[:-1]), c_npy=b"none")
    names = ["a.NPZ", "b.npy", "c.npy", None]
    lines = [{"id": f"s{at:03d}", "output": name} for at, name in enumerate(names)]
    (toys / "p" / "i.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (card,) = imported(toys, task_of(toys, "image", "depth_map", n=4), toys / "p")
    assert card.answer == "depth_map"
    assert card.counts.statuses == {"ok": 2, "undecodable": 1, "no_answer": 1}
    assert np.array_equal(kept(toys, card)["s000"], DEPTH)
    assert reasons(toys, card)["s002"].startswith("c.npy: ")


def test_lines_hold_small_masks_themselves(toys: Path) -> None:
    path = toys / "p.jsonl"
    path.write_text(json.dumps({"id": "s000", "output": [[0, 1], [1, 0]]}) + "\n")
    (card,) = imported(toys, task_of(toys, "mask", n=1), path)
    assert kept(toys, card)["s000"].tolist() == [[0, 1], [1, 0]]
