"""Cityscapes, CelebAMask-HQ and COCO panoptic: label tables, merging, crops, wrong files."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from releasekit import item_of, load_all, photo, write_png
from vgen_eval.errors import BadSample, MissingData
from vgen_eval_plugins.datasets.celebamask_hq import CLASSES, CelebAMaskHQ, merge_parts
from vgen_eval_plugins.datasets.cityscapes import Cityscapes
from vgen_eval_plugins.datasets.coco_classes import CLASSES as COCO
from vgen_eval_plugins.datasets.coco_panoptic import NAMES, CocoPanoptic
from vgen_eval_plugins.datasets.draw import Draw

FRAME = "frankfurt_000000_000294"


def cityscapes(root: Path, **options: str) -> Cityscapes:
    return Cityscapes(Cityscapes.Options(**options), root=root, folder=root)  # type: ignore[arg-type]


def write_cityscapes(root: Path, ids: np.ndarray) -> None:
    write_png(root / f"leftImg8bit/val/frankfurt/{FRAME}_leftImg8bit.png", photo(*ids.shape))
    write_png(root / f"gtFine/val/frankfurt/{FRAME}_gtFine_labelIds.png", ids.astype(np.uint8))


def test_label_ids_become_the_19_classes_and_the_rest_is_ignored(tmp_path):
    write_cityscapes(tmp_path, np.array([[7, 8, 33, 9], [26, 0, 29, 255]]))
    (sample,) = load_all(cityscapes(tmp_path))
    names = sample.target.classes
    assert len(names) == 19
    told = [[names[label] if label >= 0 else None for label in row] for row in sample.target.labels]
    assert told == [["road", "sidewalk", "bicycle", None], ["car", None, None, None]]
    assert sample.fields["present"].split("\n") == ["road", "sidewalk", "car", "bicycle"]
    assert (sample.id, sample.tags) == (FRAME, {"city": "frankfurt"})


def test_the_seven_categories_ignore_what_the_classes_ignore(tmp_path):
    write_cityscapes(tmp_path, np.array([[7, 8, 33, 9], [11, 24, 25, 30]]))
    (sample,) = load_all(cityscapes(tmp_path, scheme="categories"))
    names = sample.target.classes
    told = [[names[label] if label >= 0 else None for label in row] for row in sample.target.labels]
    assert told == [
        ["flat", "flat", "vehicle", None],
        ["construction", "human", "human", None],
    ]


def test_instance_ids_are_no_label_ids(tmp_path):
    write_cityscapes(tmp_path, np.array([[7, 40]]))
    with pytest.raises(BadSample, match="40 is no label id"):
        load_all(cityscapes(tmp_path))


def test_labels_of_another_size_and_missing_ones_are_told(tmp_path):
    write_cityscapes(tmp_path, np.array([[7, 8]]))
    label = tmp_path / f"gtFine/val/frankfurt/{FRAME}_gtFine_labelIds.png"
    write_png(label, np.zeros((4, 4), np.uint8))
    with pytest.raises(BadSample, match="is 4x4, the picture 2x1"):
        load_all(cityscapes(tmp_path))
    label.unlink()
    data = cityscapes(tmp_path)
    assert "no file" in str(data.look(data.index())[0])
    with pytest.raises(MissingData, match="holds no CITY"):
        cityscapes(tmp_path / "nothing").index()


def test_a_wholly_ignored_picture_is_loaded(tmp_path):
    write_cityscapes(tmp_path, np.zeros((2, 2), int))
    (sample,) = load_all(cityscapes(tmp_path))
    assert (sample.target.labels == -1).all()
    assert sample.fields["present"] == ""


def disc(size: int, row: int, column: int, radius: float) -> np.ndarray:
    rows, columns = np.mgrid[:size, :size]
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def test_a_later_part_lies_over_an_earlier_one():
    skin, eye, hair = disc(64, 34, 32, 22), disc(64, 30, 24, 4), disc(64, 14, 32, 18)
    labels = merge_parts([("hair", hair), ("skin", skin), ("l_eye", eye)], 64)
    wanted = np.zeros((64, 64), int)
    for name, mask in (("skin", skin), ("left_eye", eye), ("hair", hair)):
        wanted[mask] = CLASSES.index(name)
    assert np.array_equal(labels, wanted)
    assert (labels == CLASSES.index("skin")).sum() < skin.sum()
    with pytest.raises(ValueError, match="hair is 32x32, not 64x64"):
        merge_parts([("hair", np.ones((32, 32), bool))], 64)


def faces(root: Path, **options: object) -> CelebAMaskHQ:
    return CelebAMaskHQ(CelebAMaskHQ.Options(**options), root=root, folder=root)  # type: ignore[arg-type]


def write_face(root: Path, number: int = 2001) -> None:
    write_png(root / f"CelebA-HQ-img/{number}.jpg", photo(1024, 1024))
    for part, mask in (("skin", disc(512, 260, 256, 200)), ("hair", disc(512, 90, 256, 120))):
        stored = np.repeat((mask * np.uint8(255))[..., None], 3, axis=2)
        write_png(
            root / f"CelebAMask-HQ-mask-anno/{number // 2000}/{number:05d}_{part}.png", stored
        )


def test_part_files_are_found_by_their_folder_and_brought_to_the_photo(tmp_path):
    write_face(tmp_path)
    sample = faces(tmp_path).load(item_of("2001"))
    assert sample.target.labels.shape == (1024, 1024)
    assert sample.images[0].array.shape == (1024, 1024, 3)
    small = faces(tmp_path, score_size=512).load(item_of("2001"))
    assert np.array_equal(sample.target.labels[::2, ::2], small.target.labels)
    assert sample.fields["present"].split("\n") == ["background", "skin", "hair"]


def test_a_face_without_any_part_is_missed_before_anything_runs(tmp_path):
    write_face(tmp_path)
    data = faces(tmp_path)
    assert data.look([item_of("2001")]) == []
    told = [str(problem) for problem in data.look([item_of("7")])]
    assert len(told) == 2
    assert "no part file" in told[1]


def test_a_draw_is_that_of_random_sample(tmp_path):
    write_face(tmp_path)
    names = [item.id for item in faces(tmp_path, draw=Draw(seed=77, count=150)).index()]
    wanted = sorted(random.Random(77).sample(range(30_000), 150))
    assert names == [str(number) for number in wanted]


def test_a_list_of_official_numbers_takes_the_place_of_the_draw(tmp_path):
    write_face(tmp_path)
    (tmp_path / "mine.json").write_text('[2001, "00007"]')
    data = faces(tmp_path, ids="mine.json", draw=Draw(seed=77, count=150))
    assert [item.id for item in data.index()] == ["2001", "7"]
    assert data.load(item_of("2001")).target.labels.shape == (1024, 1024)
    (tmp_path / "mine.json").write_text('[7, "00007"]')
    with pytest.raises(MissingData, match="names a picture twice"):
        faces(tmp_path, ids="mine.json").index()
    (tmp_path / "mine.json").write_text("[2001, 30000]")
    with pytest.raises(MissingData, match="nor of official numbers"):
        faces(tmp_path, ids="mine.json").index()


HEX = "002b92f1" + "0" * 24


def write_export(root: Path) -> None:
    (root / "eval-set/celeb").mkdir(parents=True)
    (root / "eval-set/celeb/id-150.json").write_text(json.dumps([HEX]))
    write_png(root / f"images/{HEX}.jpg", photo(512, 512))
    labels = np.zeros((512, 512), np.uint8)
    labels[:, 256:] = 13
    picture = Pillow.fromarray(labels).convert("P")
    picture.putpalette([200, 10, 10] * 256)  # colours that say nothing
    (root / "masks-512").mkdir()
    picture.save(root / f"masks-512/{HEX}.png")


def test_the_export_is_read_by_its_list_and_its_indices(tmp_path):
    write_export(tmp_path)
    (sample,) = load_all(faces(tmp_path))
    assert sample.id == HEX
    assert sample.target.labels.shape == (1024, 1024)
    assert sample.fields["present"].split("\n") == ["background", "hair"]
    # grown by whole pixels: shrunk again it is the picture that was fed
    assert np.array_equal(sample.images[0].array[::2, ::2], sample.images[0].array[1::2, 1::2])


def test_a_mask_of_another_size_than_its_folder_says_is_a_bad_sample(tmp_path):
    write_export(tmp_path)
    write_png(tmp_path / f"masks-512/{HEX}.png", np.zeros((512, 500), np.uint8))
    with pytest.raises(BadSample, match="is 500x512, not 512x512"):
        load_all(faces(tmp_path))
    write_png(tmp_path / f"masks-512/{HEX}.png", np.full((512, 512), 19, np.uint8))
    with pytest.raises(BadSample, match="label 19 of 19 classes"):
        load_all(faces(tmp_path))


def test_masks_of_the_size_scored_at_come_before_grown_ones(tmp_path):
    write_export(tmp_path)
    write_png(tmp_path / f"masks-1024/{HEX}.png", np.full((1024, 1024), 17, np.uint8))
    (large,), (small,) = (load_all(faces(tmp_path, score_size=side)) for side in (1024, 512))
    assert large.fields["present"] == "neck"
    assert small.fields["present"] == "background\nhair"


def test_a_list_that_is_none_is_refused(tmp_path):
    write_export(tmp_path)
    for text in ("{}", '["../x"]', "[]", "nonsense"):
        (tmp_path / "eval-set/celeb/id-150.json").write_text(text)
        with pytest.raises(MissingData, match=r"id-150\.json is no"):
            faces(tmp_path).index()


def coco(root: Path, **options: object) -> CocoPanoptic:
    return CocoPanoptic(CocoPanoptic.Options(**options), root=root, folder=root)  # type: ignore[arg-type]


def write_coco(root: Path, count: int = 2) -> None:
    entries = []
    for at in range(count):
        name = f"{at + 139:012d}"
        write_png(root / f"val2017/{name}.jpg", photo(30, 41, at))
        painted = np.zeros((30, 41, 3), np.uint8)
        painted[:, 10:20] = (5, 1, 2)  # 5 + 256 + 2 * 65536
        painted[:, 20:] = (7, 0, 0)
        write_png(root / f"annotations/panoptic_val2017/{name}.png", painted)
        segments = [{"id": 5 + 256 + 131072, "category_id": 1}, {"id": 7, "category_id": 200}]
        entries.append({"file_name": f"{name}.png", "image_id": at, "segments_info": segments})
    (root / "annotations/panoptic_val2017.json").write_text(json.dumps({"annotations": entries}))


def test_segments_become_categories_and_no_segment_is_other(tmp_path):
    write_coco(tmp_path)
    sample = load_all(coco(tmp_path, area="whole"))[0]
    names = sample.target.classes
    assert len(names) == 134
    row = [names[label] for label in sample.target.labels[0, [0, 10, 20, 40]]]
    assert row == ["other", "person", "rug-merged", "rug-merged"]
    assert sample.fields["present"].split("\n") == ["other", "person", "rug-merged"]


def test_the_square_in_the_middle_is_taken_alike_of_both(tmp_path):
    write_coco(tmp_path)
    whole, square = (
        load_all(coco(tmp_path, area=area, side=60))[0] for area in ("whole", "square")
    )
    assert np.array_equal(square.images[0].array[::2, ::2], whole.images[0].array[:, 5:35])
    assert np.array_equal(square.target.labels[::2, ::2], whole.target.labels[:, 5:35])


def test_the_draw_is_one_of_names(tmp_path):
    write_coco(tmp_path, count=6)
    names = sorted(f"{at + 139:012d}" for at in range(6))
    found = [item.id for item in coco(tmp_path, draw=Draw(seed=77, count=3)).index()]
    assert found == sorted(random.Random(77).sample(names, 3))
    with pytest.raises(MissingData, match=r"9 (of 6 pictures|pictures wanted, 6)"):
        coco(tmp_path, draw=Draw(seed=77, count=9)).index()


def test_faulty_coco_files_are_told(tmp_path):
    write_coco(tmp_path)
    painted = np.full((30, 41, 3), 9, np.uint8)
    write_png(tmp_path / "annotations/panoptic_val2017/000000000139.png", painted)
    data = coco(tmp_path)
    (problem,) = data.verify(data.index())
    assert "segment 592137 is not in annotations/panoptic_val2017.json" in str(problem)
    whole = (tmp_path / "annotations/panoptic_val2017.json").read_bytes()
    (tmp_path / "annotations/panoptic_val2017.json").write_bytes(whole[:-20])
    with pytest.raises(MissingData, match="is cut off or another file"):
        coco(tmp_path).index()


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize(
    ("write", "open_data", "file"),
    [
        (lambda root: write_cityscapes(root, np.full((40, 60), 7)), cityscapes, "leftImg8bit/val"),
        (lambda root: write_cityscapes(root, np.full((40, 60), 7)), cityscapes, "gtFine"),
        (write_export, faces, "images"),
        (write_export, faces, "masks-512"),
        (write_coco, coco, "val2017"),
        (write_coco, coco, "annotations/panoptic_val2017"),
    ],
)
def test_a_truncated_file_is_named(tmp_path, write, open_data, file, share):
    write(tmp_path)
    path = sorted(path for path in (tmp_path / file).rglob("*") if path.is_file())[0]
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    data = open_data(tmp_path)
    with pytest.raises(BadSample, match=path.name):
        data.load(data.index()[0])
    assert len(data.verify(data.index())) == 1
    assert len(data.look(data.index())) == (share == 0)


def test_a_label_picture_of_another_size_than_the_photo_is_a_bad_sample(tmp_path):
    write_coco(tmp_path)
    label = tmp_path / "annotations/panoptic_val2017/000000000139.png"
    write_png(label, np.zeros((41, 30, 3), np.uint8))
    with pytest.raises(BadSample, match="is 30x41, the picture 41x30"):
        load_all(coco(tmp_path))


def test_every_category_has_a_name_a_colour_and_a_label_of_its_own():
    assert len(set(NAMES)) == 134
    assert len({entry.number for entry in COCO}) == len({entry.colour for entry in COCO}) == 133
    assert sum(entry.number <= 90 for entry in COCO) == 80
    assert "#000000" not in {entry.colour for entry in COCO}
    assert (NAMES[0], NAMES[1], NAMES[-1]) == ("other", "person", "rug-merged")
