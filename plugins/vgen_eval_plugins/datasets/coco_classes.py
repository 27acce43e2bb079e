"""The 133 categories of COCO panoptic with their numbers and official colours (panopticapi)."""

from __future__ import annotations

import msgspec

__all__ = ["CLASSES", "CocoClass"]


class CocoClass(msgspec.Struct, frozen=True):
    """A category of things or of stuff."""

    number: int
    name: str
    colour: str


_TABLE = """
1 person dc143c|2 bicycle 770b20|3 car 00008e|4 motorcycle 0000e6|5 airplane 6a00e4|6 bus 003c64
7 train 005064|8 truck 000046|9 boat 0000c0|10 traffic light faaa1e|11 fire hydrant 64aa1e
13 stop sign dcdc00|14 parking meter af74af|15 bench fa001e|16 bird a52a2a|17 cat ff4dff
18 dog 00e2fc|19 horse b6b6ff|20 sheep 005200|21 cow 78a69d|22 elephant 6e4c00|23 bear ae39ff
24 zebra c76400|25 giraffe 480076|27 backpack ffb3f0|28 umbrella 007d5c|31 handbag d10097
32 tie bcd0b6|33 suitcase 00dcb0|34 frisbee ff63a4|35 skis 5c0049|36 snowboard 8581ff
37 sports ball 4eb4ff|38 kite 00e400|39 baseball bat aefff3|40 baseball glove 2d59ff
41 skateboard 868667|42 surfboard 9194ae|43 tennis racket ffd0ba|44 bottle c5e2ff
46 wine glass ab8601|47 cup 6d3f36|48 fork cf8aff|49 knife 97005f|50 spoon 09503d|51 bowl 546933
52 banana 4a4169|53 apple a6c466|54 sandwich d0c3d2|55 orange ff6d41|56 broccoli 008f95
57 carrot b300c2|58 hot dog d1636a|59 pizza 057900|60 donut e3ffcd|61 cake 93bad0|62 chair 994501
63 couch 035fa1|64 potted plant a3ff00|65 bed 7700aa|67 dining table 00b6c7|70 toilet 00a578
72 tv b78258|73 laptop 5f2000|74 mouse 827287|75 remote 6e8185|76 keyboard a64a76
77 cell phone db8eb9|78 microwave 4fd272|79 oven b25a3e|80 toaster 41460f|81 sink 7fa773
82 refrigerator 3b696a|84 book 8e6c2d|85 clock c4ac00|86 vase 5f3650|87 scissors 804cff
88 teddy bear c93901|89 hair drier f6007a|90 toothbrush bfa2d0|92 banner ffff80|93 blanket 93d3cb
95 bridge 966464|100 cardboard a8abac|107 counter 9270c6|109 curtain d2aa64|112 door-stuff 5c8859
118 floor-wood da58b8|119 flower f18100|122 fruit d911ff|125 gravel 7c4ab5|128 house 464646
130 light ffe4ff|133 mirror-stuff 9ad000|138 net c1005c|141 pillow 4c5b71|144 platform ffb4c3
145 playingfield 6a9ab0|147 railroad e6968c|148 river 3c8fff|149 road 804080|151 roof 5c5237
154 sand fed47c|155 sea 494dae|156 shelf ffa062|159 snow ffffff|161 stairs 68546d|166 tent a9a483
168 towel e1c7ff|171 wall-brick 89364a|175 wall-stone 879edf|176 wall-tile 07f6e7
177 wall-wood 6bffc8|178 water-other 3a2995|180 window-blind b7798e|181 window-other ff4961
184 tree-merged 6b8e23|185 fence-merged be9999|186 ceiling-merged 928b8d|187 sky-other-merged 4682b4
188 cabinet-merged 86c79c|189 table-merged d1e28c|190 floor-other-merged 60246c
191 pavement-merged 606060|192 mountain-merged 40aa40|193 grass-merged 98fb98|194 dirt-merged d0e5e4
195 paper-merged cebaab|196 food-other-merged 98a140|197 building-other-merged 747000
198 rock-merged 00728f|199 wall-other-merged 66669c|200 rug-merged fa8dff
"""


def _read(entry: str) -> CocoClass:
    number, rest = entry.split(" ", 1)
    name, colour = rest.rsplit(" ", 1)
    return CocoClass(int(number), name, f"#{colour}")


CLASSES: tuple[CocoClass, ...] = tuple(
    _read(entry) for line in _TABLE.strip().splitlines() for entry in line.split("|")
)
"""In the order of their numbers, which have gaps."""
