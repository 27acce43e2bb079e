"""Readers of public data sets, each in the layout that its makers publish."""

from __future__ import annotations

_HERE = "vgen_eval_plugins.datasets"

DATASETS: dict[str, str] = {
    "nyuv2": f"{_HERE}.nyuv2:NYUv2",
    "diode": f"{_HERE}.diode:Diode",
    "scannet": f"{_HERE}.scannet:ScanNet",
    "kitti": f"{_HERE}.kitti:Kitti",
    "refcoco": f"{_HERE}.refcoco:RefCoco",
    "reasonseg": f"{_HERE}.reasonseg:ReasonSeg",
    "dram": f"{_HERE}.dram:Dram",
    "manga109": f"{_HERE}.manga109:Manga109",
    "cityscapes": f"{_HERE}.cityscapes:Cityscapes",
    "celebamask_hq": f"{_HERE}.celebamask_hq:CelebAMaskHQ",
    "coco_panoptic": f"{_HERE}.coco_panoptic:CocoPanoptic",
    "pixmo_count": f"{_HERE}.pixmo_count:PixMoCount",
    "pixmo_points": f"{_HERE}.pixmo_points:PixMoPoints",
    "fsc147": f"{_HERE}.fsc147:FSC147",
    "countbench": f"{_HERE}.countbench:CountBench",
    "opinion_scores": f"{_HERE}.opinion_scores:OpinionScores",
    "llvisionqa": f"{_HERE}.llvisionqa:LLVisionQA",
    "lldescribe": f"{_HERE}.lldescribe:LLDescribe",
    "vgi_bench": f"{_HERE}.vgi_bench:VgiBench",
}
