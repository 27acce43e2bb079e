"""Peak memory: from 1,000 to 100,000 text samples, and of runs over 1024x1024 pictures."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from bench_plugin import dots_task, install, mask_task, text_task, write_photos
from figures import ROUNDS, report
from overhead import evaluate_apart

FEW, MANY = 1_000, 100_000
PHOTOS = 48


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photos = folder / "photos"
        write_photos(photos, PHOTOS)
        cards = {
            "few": text_task("few", FEW),
            "many": text_task("many", MANY),
            "mask": mask_task("mask", PHOTOS, photos),
            "dots": dots_task("dots", PHOTOS, photos),
        }
        env = install(folder / "site", cards)
        peaks: dict[str, list[float]] = {task: [] for task in cards}
        for number in range(ROUNDS):
            for task in cards:
                model = "perfect" if task in ("mask", "dots") else "noop"
                cost = evaluate_apart(task, model, folder / f"{task}{number}", env)
                peaks[task].append(cost["peak_mb"])
    growth = statistics.median(b - a for a, b in zip(peaks["few"], peaks["many"], strict=True))
    report(f"peak memory, {FEW} samples", statistics.median(peaks["few"]), " MB")
    report(f"growth from {FEW} to {MANY} samples", growth, " MB", most=50)
    for task in ("mask", "dots"):
        peak = statistics.median(peaks[task])
        report(f"{task} run over {PHOTOS} pictures of 1024x1024", peak, " MB", most=200)


if __name__ == "__main__":
    main()
