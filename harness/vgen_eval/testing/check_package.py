"""Checks of a package: how it is imported, what its hooks name, what its cards say."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import MissingExtra, Problem, VgenEvalError
from vgen_eval.testing.outcome import Failed, Skipped, clip

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Plugin
    from vgen_eval.testing.child import Printed
    from vgen_eval.testing.children import Spec

__all__ = ["HEAVY", "Bench"]

HEAVY = (
    "torch", "torchvision", "tensorflow", "keras", "jax", "flax", "transformers", "diffusers",
    "accelerate", "vllm", "onnxruntime", "mediapipe", "cv2", "skimage", "scipy", "sklearn",
    "pandas", "matplotlib", "openai", "anthropic", "google.genai", "ray", "av",
)  # fmt: skip
"""Libraries that importing a plugin's package must not load."""
MOST_CPU_S = 1.0
MOST_WALL_S = 3.0
"""Above the CPU's limit: a machine that is busy is no fault of the plugin."""
_MOST_SHOWN = 5
_TERMS = ("licence", "dataset.licence", "dataset.source", "dataset.citation")


class Bench:
    """The package, imported once with all that shows of it measured."""

    def __init__(self, spec: Spec, printed: Printed) -> None:
        from vgen_eval.loading import Loader
        from vgen_eval.plugins import Catalog

        self.catalog: Catalog = Catalog.discover()
        self.plugin: Plugin = self.catalog.plugin(spec.plugin)
        self.loader = Loader()
        self.printed = printed

    @cached_property
    def imported(self) -> tuple[float, float, str, list[str]]:
        """Seconds of CPU and of the clock, output, and heavy libraries of the import."""
        before, start = set(sys.modules), self.printed.size()
        wall, cpu = time.perf_counter(), time.process_time()
        importlib.import_module(self.plugin.package)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.printed.size()
        loaded = [name for name in HEAVY if name in sys.modules and name not in before]
        return cpu, wall, self.printed.text(start), loaded

    @property
    def facts(self) -> dict[str, Any]:
        """What the package offers: kind of component -> names."""
        from vgen_eval.hookspecs import HOOKS

        hooks = {}
        for kind in HOOKS:
            try:
                hooks[kind] = list(self.names(kind))
            except VgenEvalError:
                return {}
        return {"hooks": hooks}

    def names(self, kind: str) -> Any:
        """The names that a hook gives; imports the package."""
        return self.loader.names(self.plugin, kind)

    @cached_property
    def problems(self) -> tuple[list[Problem], list[Problem]]:
        """Faults of the cards: about terms, and all others."""
        from vgen_eval.cards import check_card

        found: list[Problem] = []
        for path in self.cards():
            found += check_card(path, self.catalog, home=self.plugin.name)
        terms = [problem for problem in found if problem.path in _TERMS]
        return terms, [problem for problem in found if problem.path not in _TERMS]

    def cards(self) -> Iterator[Any]:
        for folder in self.plugin.card_dirs:
            for path in sorted(folder.rglob("*.yaml")):
                if path.is_file():
                    yield path


def check_imports(bench: Bench) -> None:
    """Is it imported without an error?"""
    try:
        _ = bench.imported
    except MissingExtra as exc:
        raise Failed(f"importing the package needs an extra: {exc.what}") from exc


def check_import_silent(bench: Bench) -> None:
    """Does it print nothing?"""
    text = bench.imported[2]
    if text.strip():
        raise Failed(f"it printed {clip(text.strip(), longest=120)!r}")


def check_import_cheap(bench: Bench) -> str:
    """Does it load nothing heavy, in little time?"""
    cpu, wall, _, loaded = bench.imported
    if loaded:
        raise Failed(f"importing {bench.plugin.package} loads {', '.join(loaded)}")
    if cpu > MOST_CPU_S or wall > MOST_WALL_S:
        raise Failed(f"importing {bench.plugin.package} takes {wall:.1f} s ({cpu:.1f} s of CPU)")
    return f"{wall * 1000:.0f} ms"


def check_hooks_strings(bench: Bench) -> str:
    """Does each name lead to a component?"""
    from vgen_eval.hookspecs import HOOKS

    faults, count, lacking = [], 0, set()
    for kind in HOOKS:
        try:
            names = bench.names(kind)
        except VgenEvalError as exc:
            raise Failed(exc.what) from exc
        for name in names:
            count += 1
            try:
                bench.catalog.component(kind, f"{bench.plugin.name}:{name}", home="vgen-eval")
            except MissingExtra as exc:
                lacking.add(exc.cure)
            except VgenEvalError as exc:
                faults.append(exc.what)
    if faults:
        raise Failed(_first_of(faults))
    return f"{count} names" + "".join(
        f"; not looked into: {cure}" for cure in sorted(lacking, key=str)
    )


def check_cards_valid(bench: Bench) -> str:
    """Does every card keep to its schema?"""
    faults = [str(problem) for problem in bench.problems[1]]
    faults += [
        fault for fault in bench.catalog.problems
        if f"plugin '{bench.plugin.name}'" in fault and " is also in " in fault
    ]  # fmt: skip
    if faults:
        raise Failed(_first_of(faults))
    return f"{sum(1 for _ in bench.cards())} cards"


def check_licence_stated(bench: Bench) -> None:
    """Do the cards say on what terms?"""
    if bench.problems[0]:
        raise Failed(_first_of([str(problem) for problem in bench.problems[0]]))


def check_names(bench: Bench) -> str:
    """Which names does a built-in have as well?"""
    from vgen_eval.hookspecs import HOOKS
    from vgen_eval.plugins import BUILTIN, CARD_KINDS

    if bench.plugin.builtin:
        raise Skipped("these are the built-ins")
    builtin = bench.catalog.plugin(BUILTIN)
    shared = [
        f"{kind} '{name}'"
        for kind in HOOKS
        for name in set(bench.names(kind)) & set(bench.loader.names(builtin, kind))
    ]
    for kind in CARD_KINDS:
        owners: dict[str, set[str]] = {}
        for owner, head in bench.catalog.heads(kind):
            owners.setdefault(owner.name, set()).add(head.name)
        both = owners.get(BUILTIN, set()) & owners.get(bench.plugin.name, set())
        shared += [f"{kind} '{name}'" for name in both]
    if not shared:
        return ""
    return (
        f"notice: vgen-eval has {', '.join(sorted(shared))} too, which a bare name means on the "
        "command line"
    )


def _first_of(faults: list[str]) -> str:
    more = f" (and {len(faults) - _MOST_SHOWN} more)" if len(faults) > _MOST_SHOWN else ""
    return "; ".join(faults[:_MOST_SHOWN]) + more
