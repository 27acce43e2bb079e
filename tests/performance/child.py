"""One evaluation in a process of its own: python child.py TASK MODEL OUTPUT; prints its cost."""

from __future__ import annotations

import json
import sys
import time

from figures import peak_mb


def main() -> None:
    from vgen_eval import evaluate

    task, model, output = sys.argv[1:]
    start = time.perf_counter()
    cards = evaluate(tasks=task, model=model, output=output, bounds=False)
    wall = time.perf_counter() - start
    for card in cards:
        if not card.complete:
            raise SystemExit(
                f"{task}: the run is incomplete, its figures say nothing: {card.counts}"
            )
    print(json.dumps({"wall_s": wall, "cpu_s": time.process_time(), "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
