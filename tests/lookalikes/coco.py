"""COCO panoptic val2017: pictures, segments in RGB-coded PNG, one JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalikes.files import write_jpeg, write_png
from lookalikes.scenes import room, street

__all__ = ["CATEGORIES", "write"]

THINGS = """1 person,2 bicycle,3 car,4 motorcycle,5 airplane,6 bus,7 train,8 truck,9 boat,
10 traffic light,11 fire hydrant,13 stop sign,14 parking meter,15 bench,16 bird,17 cat,18 dog,
19 horse,20 sheep,21 cow,22 elephant,23 bear,24 zebra,25 giraffe,27 backpack,28 umbrella,31 handbag,
32 tie,33 suitcase,34 frisbee,35 skis,36 snowboard,37 sports ball,38 kite,39 baseball bat,
40 baseball glove,41 skateboard,42 surfboard,43 tennis racket,44 bottle,46 wine glass,47 cup,
48 fork,49 knife,50 spoon,51 bowl,52 banana,53 apple,54 sandwich,55 orange,56 broccoli,57 carrot,
58 hot dog,59 pizza,60 donut,61 cake,62 chair,63 couch,64 potted plant,65 bed,67 dining table,
70 toilet,72 tv,73 laptop,74 mouse,75 remote,76 keyboard,77 cell phone,78 microwave,79 oven,
80 toaster,81 sink,82 refrigerator,84 book,85 clock,86 vase,87 scissors,88 teddy bear,89 hair drier,
90 toothbrush"""
STUFF = """92 banner,93 blanket,95 bridge,100 cardboard,107 counter,109 curtain,112 door-stuff,
118 floor-wood,119 flower,122 fruit,125 gravel,128 house,130 light,133 mirror-stuff,138 net,
141 pillow,144 platform,145 playingfield,147 railroad,148 river,149 road,151 roof,154 sand,155 sea,
156 shelf,159 snow,161 stairs,166 tent,168 towel,171 wall-brick,175 wall-stone,176 wall-tile,
177 wall-wood,178 water-other,180 window-blind,181 window-other,184 tree-merged,185 fence-merged,
186 ceiling-merged,187 sky-other-merged,188 cabinet-merged,189 table-merged,190 floor-other-merged,
191 pavement-merged,192 mountain-merged,193 grass-merged,194 dirt-merged,195 paper-merged,
196 food-other-merged,197 building-other-merged,198 rock-merged,199 wall-other-merged,
200 rug-merged"""


def _numbered(text: str) -> dict[int, str]:
    entries = (entry.strip().split(" ", 1) for entry in text.split(","))
    return {int(number): name for number, name in entries}


CATEGORIES = _numbered(THINGS) | _numbered(STUFF)
"""The 133 categories by number: 80 things, 53 kinds of stuff."""

_ROOM = {"ball": 37, "cabinet": 188, "floor": 118, "ceiling": 186, "wall": 199}
_STREET = {"car": 3, "person": 1, "vegetation": 184, "building": 197, "sidewalk": 191,
           "terrain": 193, "road": 149, "sky": 187}  # fmt: skip
NUMBERS = (139, 285, 632, 724)


def write(root: Path, *, samples: int = 3, listed: int = 0) -> list[dict[str, Any]]:
    """`coco/val2017/N.jpg`, `annotations/panoptic_val2017.json` and `panoptic_val2017/N.png`.

    A segment's id is R + 256 G + 65536 B; each object is a segment of its own. 0 is unlabelled and
    in no class: the lamp post of a street, and a stripe. The JSON lists the pictures backwards.
    Sizes are 640 x 480 and 640 x 427. Colours of the categories are not COCO's. `listed`: pictures
    in all that the JSON names, those after `samples` without their files.
    """
    home = root / "coco"
    images, annotations, found = [], [], []
    for place in range(samples):
        number = NUMBERS[place]
        view = street(place, width=640, height=427) if place % 2 else room(place)
        category = _STREET if place % 2 else _ROOM
        ids: NDArray[np.int64] = np.zeros(view.places.shape, np.int64)
        segments: list[dict[str, Any]] = []
        labels: dict[str, NDArray[np.bool_]] = {}
        for at in np.unique(view.places).tolist():
            label = "sky" if at < 0 else view.labels[at]
            if label not in category:
                continue
            segment = 3_226_956 + 70_001 * (at + 2)
            mask = view.places == at
            mask[:, 100:104] = False
            ids[mask] = segment
            segments.append(_segment(segment, category[label], mask))
            name = CATEGORIES[category[label]]
            labels[name] = labels.get(name, np.zeros(mask.shape, bool)) | mask
        write_jpeg(home / "val2017" / f"{number:012d}.jpg", view.rgb)
        coded = np.stack([ids % 256, ids // 256 % 256, ids // 65536], axis=2).astype(np.uint8)
        write_png(home / "annotations" / "panoptic_val2017" / f"{number:012d}.png", coded)
        height, width = view.rgb.shape[:2]
        image = {"id": number, "file_name": f"{number:012d}.jpg", "height": height, "width": width}
        images.append(image)
        annotations.append(
            {"image_id": number, "file_name": f"{number:012d}.png", "segments_info": segments}
        )
        found.append(
            {"number": number, "picture": view.rgb, "lossy": True, "labels": labels,
             "unlabelled": ids == 0}
        )  # fmt: skip
    for number in range(NUMBERS[-1] + 1, NUMBERS[-1] + 1 + listed - samples):
        images.append(
            {"id": number, "file_name": f"{number:012d}.jpg", "height": 480, "width": 640}
        )
        whole = _segment(1, _ROOM["wall"], np.ones((480, 640), bool))
        annotations.append(
            {"image_id": number, "file_name": f"{number:012d}.png", "segments_info": [whole]}
        )
    record = {
        "info": {},
        "licenses": [],
        "images": images[::-1],
        "annotations": annotations[::-1],
        "categories": [
            {"id": k, "name": name, "isthing": int(k < 91), "supercategory": "",
             "color": [k, 255 - k, 7 * k % 256]}
            for k, name in CATEGORIES.items()
        ],
    }  # fmt: skip
    path = home / "annotations" / "panoptic_val2017.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return found


def _segment(number: int, category: int, mask: Any) -> dict[str, Any]:
    rows, columns = np.nonzero(mask)
    left, top = int(columns.min()), int(rows.min())
    box = [left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top]
    return {"id": number, "category_id": category, "iscrowd": 0, "area": len(rows), "bbox": box}
