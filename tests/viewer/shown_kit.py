"""Runs that figures and reports are made of in the tests: sound, refusing and hostile models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vgen_eval import evaluate
from vgen_eval.errors import Refused
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import Run, read_run
from vgen_eval.viewer.gathering import Gathered, gather

HOSTILE = (
    '<script>window.hostile=1</script></script><img src=x onerror="window.hostile=2">'
    '<a href="javascript:alert(1)">x</a> https://example.org/track \u202eright\u202c \x07 {{ 7*7 }}'
)


def refuse_one(request: Any) -> Any:
    """A grey picture for every sample but the first, which it declines."""
    if request.sample == "motorcycle":
        raise Refused("no motorcycles")
    return request.images[0].array // 2


def speak(request: Any) -> str:
    """Markup, scripts and what runs the wrong way."""
    return HOSTILE


def make_runs(output: Path) -> dict[str, Run]:
    """Name -> run: two of depth by models that see, one that declines, one of hostile text."""
    common = {"output": str(output), "bounds": False}
    depth = {"tasks": "samples/depth", "samples": ["motorcycle", "motorcycle-front", "scene-balls"]}
    evaluate(**depth, models=["classical", "oracle"], **common)
    evaluate(**depth, model=refuse_one, model_name="shy", forms=["image"], **common)
    for model, name in ((speak, "hostile"), ("oracle", None)):
        named = {"model_name": name, "forms": ["text"]} if name else {}
        evaluate(tasks="samples/answers", model=model, limit=2, **named, **common)
    catalog = Catalog.discover()
    found = {}
    for path in sorted(output.glob("runs/*/samples/*/*")):
        run = read_run(path, catalog)
        kind = "depth" if run.card.task.endswith("depth") else "answers"
        found[f"{run.card.model.rpartition(':')[2]} {kind}"] = run
    return found


def gathered(runs: dict[str, Run], *names: str, **asked: Any) -> Gathered:
    """Those runs with the samples that a rule takes."""
    asked = {"n": 3, **asked}
    return gather([runs[name] for name in names], Catalog.discover(), **asked)
