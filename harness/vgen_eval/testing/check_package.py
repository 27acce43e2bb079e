"""Checks of a package: how it is imported, what its hooks name, what its cards say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cards.checking import message_of
from vgen_eval.cards.terms import unfilled_terms
from vgen_eval.cards.walk import type_of
from vgen_eval.errors import BrokenPlugin, MissingExtra, Problem, VgenEvalError
from vgen_eval.loading import CURE
from vgen_eval.testing.build import build_parts
from vgen_eval.testing.children import Event
from vgen_eval.testing.cures import cure_of
from vgen_eval.testing.modules import HEAVIEST, HEAVY, Imported, import_measured
from vgen_eval.testing.outcome import Failed, Skipped, clip, tell
from vgen_eval.testing.subjects import protocols_of

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Plugin
    from vgen_eval.testing.child import Printed
    from vgen_eval.testing.children import Spec

__all__ = ["Bench"]

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
        self.events = spec.events
        # a module that ended the process before would end this one too
        self.is_safe = spec.done.get("hooks_strings") != "failed"

    @cached_property
    def imported(self) -> Imported:
        """The package itself."""
        return import_measured(self.plugin.package, self.printed, heavy=HEAVY)

    @cached_property
    def targets(self) -> dict[str, list[tuple[str, str]]]:
        """Module -> the components (kind, name) that hooks put there; imports the package."""
        from vgen_eval.hookspecs import HOOKS

        found: dict[str, list[tuple[str, str]]] = {}
        for kind in HOOKS:
            for name, target in self.loader.names(self.plugin, kind).items():
                found.setdefault(target.partition(":")[0], []).append((kind, name))
        return found

    @cached_property
    def modules(self) -> dict[str, Imported]:
        """The modules that hooks name, each imported after the package."""
        if self.imported.fault is not None or not self.is_safe:
            return {}
        found = {}
        for module in self.targets:
            if module != self.plugin.package:
                self.note(module)
                found[module] = import_measured(module, self.printed, heavy=HEAVIEST)
        return found

    def note(self, module: str) -> None:
        """Tell the parent what is imported now: it may end the process."""
        event = Event(what="facts", facts={"importing": module})
        with Path(self.events).open("ab") as sink:
            sink.write(msgspec.json.encode(event) + b"\n")

    def all_imports(self) -> list[Imported]:
        """The package, then the modules that its hooks name, as far as these can be told."""
        try:
            return [self.imported, *self.modules.values()]
        except VgenEvalError:  # told by hooks_strings
            return [self.imported]

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
        return {"hooks": hooks, "stubs": self.stubs(hooks["adapter"])}

    def stubs(self, adapters: Iterable[str]) -> list[str]:
        """Those of the adapters that name a stub; imports their modules."""
        if not self.is_safe:
            return []
        found = []
        for name in adapters:
            try:
                part = self.catalog.component("adapter", f"{self.plugin.name}:{name}", home="")
            except VgenEvalError:  # told by hooks_strings
                continue
            if getattr(part.obj, "stub", None) is not None:
                found.append(name)
        return found

    def names(self, kind: str) -> Any:
        """The names that a hook gives; imports the package."""
        return self.loader.names(self.plugin, kind)

    @cached_property
    def problems(self) -> tuple[list[Problem], list[Problem]]:
        """Faults of the cards: about terms, and all others."""
        from vgen_eval.cards import check_card

        finder = _Finder(self.catalog, self.plugin, is_safe=self.is_safe)
        found: list[Problem] = []
        for path in self.cards():
            found += check_card(path, finder, home=self.plugin.name, trials=False)
        found = [problem for problem in found if problem.message not in finder.told]
        terms = [problem for problem in found if problem.path in _TERMS]
        return terms, [problem for problem in found if problem.path not in _TERMS]

    def cards(self) -> Iterator[Path]:
        """The plugin's card files."""
        for folder in self.plugin.card_dirs:
            for path in sorted(folder.rglob("*.yaml")):
                if path.is_file():
                    yield path


class _Finder:
    """A catalog that notes what cannot be imported: hooks_strings tells of it, not each card."""

    def __init__(self, catalog: Catalog, plugin: Plugin, *, is_safe: bool) -> None:
        self.is_safe = is_safe
        self.catalog = catalog
        self.plugin = plugin
        self.told: set[str] = set()

    def find(self, kind: str, name: str, *, home: str | None = None) -> tuple[Any, Any]:
        """As the catalog does."""
        return self.catalog.find(kind, name, home=home)

    def component(self, kind: str, name: str, *, home: str) -> Any:
        """As the catalog does."""
        if not self.is_safe:  # all of them: what a card names may lead to the module at fault
            unsafe = BrokenPlugin(f"{kind} '{name}' is not looked into")
            self.told.add(message_of(unsafe))
            raise unsafe
        try:
            found = self.catalog.component(kind, name, home=home)
        except (BrokenPlugin, MissingExtra) as exc:
            if isinstance(exc, MissingExtra) or f"'{self.plugin.name}" in exc.what:
                self.told.add(message_of(exc))
            raise
        fault = _fault_of_options(found.obj)
        if fault is not None and found.dist == self.plugin.name:
            self.told.add(message_of(fault))
        return found


def _fault_of_options(part: Any) -> BrokenPlugin | None:
    """Why the Options of a component cannot be read, before any card gives some."""
    try:
        type_of(part.Options)
    except BrokenPlugin as exc:
        return exc
    return None


def check_imports(bench: Bench) -> None:
    """Is it imported without an error?"""
    fault = bench.imported.fault
    if isinstance(fault, MissingExtra):
        raise Failed(f"importing the package needs an extra: {fault.what}") from fault
    if fault is not None:
        raise fault


def check_import_silent(bench: Bench) -> None:
    """Do the package and its modules print nothing?"""
    faults = [
        f"importing {done.module} printed {clip(done.said, longest=120)!r}"
        for done in bench.all_imports()
        if done.said
    ]
    if faults:
        raise Failed(_first_of(faults))


def check_import_cheap(bench: Bench) -> str:
    """Do they load nothing heavy, the package in little time?"""
    for done in bench.all_imports():
        if done.heavy:
            cure = "" if done is bench.imported else LATE
            raise Failed(f"importing {done.module} loads {', '.join(done.heavy)}", cure=cure)
    cpu, wall = bench.imported.cpu_s, bench.imported.wall_s
    if cpu > MOST_CPU_S or wall > MOST_WALL_S:
        raise Failed(f"importing {bench.plugin.package} takes {wall:.1f} s ({cpu:.1f} s of CPU)")
    return f"{wall * 1000:.0f} ms"


OPTIONS = (
    "correct the annotations of its Options: types that exist, and a bound on the bare type "
    "(Annotated[int, msgspec.Meta(ge=1)] | None)"
)
BARE = "let it be built without arguments: a view has no options"
LATE = "import it inside the method that needs it, such as load()"


def check_hooks_strings(bench: Bench) -> str:
    """Does each name lead to a component?"""
    from vgen_eval.hookspecs import HOOKS

    try:
        for kind in HOOKS:
            bench.names(kind)
    except BrokenPlugin as exc:
        own = exc.cure if exc.cure != CURE else ""
        cause = exc.__cause__
        cure = own or (cure_of(cause, package=bench.plugin.package) if cause else "")
        raise Failed(exc.what, cure=cure or "") from exc
    faults: list[tuple[str, str]] = []
    lacking = set()
    for module, parts in bench.targets.items():
        fault = bench.modules[module].fault if module in bench.modules else None
        if isinstance(fault, MissingExtra):
            lacking.add(str(fault.cure))
        elif fault is not None:
            named = ", ".join(f"{kind} '{name}'" for kind, name in parts)
            cure = cure_of(fault, package=bench.plugin.package) or "mend that line"
            faults.append((f"importing {module} ({named}): {tell(fault)}", cure))
        else:
            for kind, name in parts:
                faults += _look_at(bench, kind, name, lacking)
    if faults:
        raise Failed(_first_of([told for told, _ in faults]), cure=faults[0][1])
    count = sum(map(len, bench.targets.values()))
    return f"{count} names" + "".join(f"; not looked into: {cure}" for cure in sorted(lacking))


def _look_at(bench: Bench, kind: str, name: str, lacking: set[str]) -> list[tuple[str, str]]:
    """What is wrong with one component, and the cure where it is not the check's own."""
    try:
        part = bench.catalog.component(kind, f"{bench.plugin.name}:{name}", home="vgen-eval")
        fault = None if kind == "view" else _fault_of_options(part.obj)
        if fault is not None:
            return [(f"{kind} '{name}': {fault.what}", OPTIONS)]
        if kind == "view":
            part.obj()
    except MissingExtra as exc:
        lacking.add(str(exc.cure))
    except VgenEvalError as exc:
        cause = exc.__cause__
        cure = cure_of(cause, package=bench.plugin.package) if cause else ""
        return [(exc.what, cure)]
    except Exception as exc:  # a view that cannot be built
        return [(f"{kind} '{name}' cannot be built: {tell(exc)}", BARE)]
    return []


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
    faults = [
        *bench.problems[0],
        *(fault for path in bench.cards() for fault in unfilled_terms(path)),
    ]
    if faults:
        raise Failed(_first_of([str(problem) for problem in faults]))


def check_parts_built(bench: Bench) -> str:
    """Can what the protocols name be built?"""
    found: dict[str, BaseException | None] = {}
    count = 0
    for _, _, body in protocols_of(bench.catalog, bench.plugin):
        count += 1
        for fault in build_parts(body, bench.catalog, home=bench.plugin.name):
            found.setdefault(fault.what, fault.cause)
    if found:
        cause = next(iter(found.values()))
        cure = cure_of(cause, package=bench.plugin.package) if cause else ""
        raise Failed(_first_of(list(found)), cure=cure)
    return f"of {count} protocols"


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
