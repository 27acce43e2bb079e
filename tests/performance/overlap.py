"""Work hidden behind a model of 50 ms that sleeps, and behind one that keeps a core busy.

Work is all that the harness does of its own for a picture of 1024x1024: read the photograph, keep
the answer, decode and score it. Its size is the CPU time of a run with a model that costs nothing;
hidden is the part of it by which the run with the model is shorter than both one after the other.
"""

from __future__ import annotations

import hashlib
import itertools
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_plugin import NAME, install, mask_task, write_photos
from figures import ROUNDS, report, seconds
from vgen_eval import evaluate
from vgen_eval.imaging import Image, read_image
from vgen_eval.plugins import Catalog
from vgen_eval.types import Request

SAMPLES = 200
MODEL_S = 0.050
BLOCK = bytes(1 << 20)


def burn(blocks: int) -> None:
    """Keeps a core busy in many calls, as a model of many operators does.

    Each lets go of the interpreter's lock and has to wait for it again.
    """
    digest = hashlib.sha256()
    for _ in range(blocks):
        digest.update(BLOCK)


def burn_at_once(turns: int) -> None:
    """The same in one call, as an inference session does: the lock is let go of once."""
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", turns)


def calibrate(work: Callable[[int], None], tried: int) -> int:
    """How much of `work` takes the model's time, from the fastest of five tries of `tried`."""
    fastest = min(seconds(lambda: work(tried))() for _ in range(5))
    return max(1, round(tried * MODEL_S / fastest))


def crowding(blocks: int) -> float:
    """Seconds of two busy threads at once over those of one: 1 when two cores are free."""
    start = time.perf_counter()
    burn(4 * blocks)
    middle = time.perf_counter()
    threads = [threading.Thread(target=burn, args=(4 * blocks,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - middle) / (middle - start)


def main() -> None:
    counter = itertools.count()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        photos = folder / "photos"
        write_photos(photos, SAMPLES)
        install(folder / "site", {"mask": mask_task("mask", SAMPLES, photos)})
        catalog = Catalog.discover()
        answers = {f"p{at:03}": painted(photos, at) for at in range(SAMPLES)}
        blocks = calibrate(burn, 40)
        turns = calibrate(burn_at_once, 20_000)

        def run(wait: Callable[[], Any]) -> tuple[float, float]:
            """Wall and CPU seconds of a run whose model waits so before it answers."""

            def model(request: Request) -> bytes:
                wait()
                return answers[request.sample]

            start, cpu = time.perf_counter(), time.process_time()
            (card,) = evaluate(
                tasks=f"{NAME}:mask", model=model, model_name="waits", forms=["image"],
                catalog=catalog, output=str(folder / f"results{next(counter)}"),
                workers=2, bounds=False,
            )  # fmt: skip
            if not card.complete or card.counts.answered != SAMPLES:
                raise SystemExit("a run is incomplete: its figures say nothing")
            return time.perf_counter() - start, time.process_time() - cpu

        models: dict[str, Callable[[], Any]] = {
            "sleeps": lambda: time.sleep(MODEL_S),
            "uses a core, one call": lambda: burn_at_once(turns),
            "uses a core, many calls": lambda: burn(blocks),
        }
        run(lambda: None)
        work: list[float] = []
        hidden: dict[str, list[float]] = {kind: [] for kind in models}
        crowded: list[float] = []
        for _ in range(ROUNDS):
            before = crowding(blocks)
            work.append(run(lambda: None)[1])
            for kind, wait in models.items():
                start = time.perf_counter()
                for _ in range(SAMPLES):
                    wait()
                alone = time.perf_counter() - start
                hidden[kind].append(1 - (run(wait)[0] - alone) / work[-1])
            crowded.append(max(before, crowding(blocks)))
    report("two busy threads / one (1: cores are free)", statistics.median(crowded))
    report("work a picture", 1e3 * statistics.median(work) / SAMPLES, " ms")
    for kind, shares in hidden.items():
        least = 85 if kind == "sleeps" else 75
        share = 100 * statistics.median(shares)
        report(f"work hidden, model {kind}", share, " %", least=least)


def painted(photos: Path, at: int) -> bytes:
    """A PNG that a model might answer: its photograph in grey, cut hard, a different one each."""
    import numpy as np

    grey = read_image(photos / f"p{at:03}.jpg").array.mean(axis=2)
    spread = np.clip((grey - np.median(grey)) * 4 + 128, 0, 255).astype(np.uint8)
    return Image(np.repeat(spread[:, :, None], 3, axis=2)).png()


if __name__ == "__main__":
    main()
