"""Which plugins are installed, and where their cards lie: found without importing any of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval._version import __version__
from vgen_eval.errors import nearest
from vgen_eval.provenance import checkout_state, origin_of, source_origin

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

__all__ = ["BUILTIN", "GROUP", "SWITCH", "Found", "Plugin", "find_plugins", "normalise"]

GROUP = "vgen_eval"
"""The entry-point group that makes a distribution a plugin."""
SWITCH = "VGEN_EVAL_PLUGINS"
"""Unset: every plugin; empty: the built-ins alone; else a comma list of distributions."""
BUILTIN = "vgen-eval"
"""The distribution whose own plugin is always there."""

_BUILTIN_PACKAGE = "vgen_eval_plugins"


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution that brings cards, components or both."""

    name: str
    """The distribution, as its metadata writes it."""
    version: str
    package: str
    """The top-level package that implements the hooks."""
    origin: Mapping[str, Any]
    """kind, url and commit, as the installer noted them."""
    card_dirs: tuple[Path, ...] = ()
    builtin: bool = False

    def provenance(self) -> dict[str, Any]:
        """The origin with the checkout's commit and `dirty` as they are now: runs git."""
        return checkout_state(self.origin)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the installed distributions came to."""

    plugins: tuple[Plugin, ...]
    """The built-in one first, then by name."""
    problems: tuple[str, ...] = ()
    broken: Mapping[str, str] = {}
    """Normalised distribution -> why it is no usable plugin."""
    left_out: tuple[str, ...] = ()
    """Normalised distributions that the switch leaves out."""


def normalise(name: str) -> str:
    """The name as package indexes compare it (PEP 503): acme_Editor and acme-editor are one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def find_plugins(switch: str | None) -> Found:
    """The usable plugins under the switch's value, and what is wrong with the others.

    Nothing of a plugin is imported: only installed metadata and the place of its package are read.
    """
    search = _Search(switch)
    for distribution, entries in _claims():
        search.look_at(distribution, entries)
    return search.finish()


def _claims() -> Iterator[tuple[Distribution, list[EntryPoint]]]:
    """Distributions with an entry point in the group, in an order that no folder listing sways."""
    import importlib.metadata

    claims = []
    for position, distribution in enumerate(importlib.metadata.distributions()):
        if GROUP not in (distribution.read_text("entry_points.txt") or ""):
            continue
        entries = sorted(
            (entry for entry in distribution.entry_points if entry.group == GROUP),
            key=lambda entry: (entry.name, entry.value),
        )
        if entries:
            claims.append((normalise(_name_of(distribution)), position, distribution, entries))
    # among equal names the order of sys.path rules, as it does for imports
    for _, _, distribution, entries in sorted(claims, key=lambda claim: claim[:2]):
        yield distribution, entries


def _name_of(distribution: Distribution) -> str:
    return distribution.metadata["Name"] or "(a distribution without a name)"


class _Search:
    """The state of one look over all distributions: names and packages are claimed once."""

    def __init__(self, switch: str | None) -> None:
        self.wanted = None if switch is None else _split_switch(switch)
        self.builtin: Plugin | None = None
        self.plugins: dict[str, Plugin] = {}
        self.packages: dict[str, str] = {"vgen_eval": BUILTIN, _BUILTIN_PACKAGE: BUILTIN}
        self.entries: dict[str, str] = {}
        self.problems: list[str] = []
        self.broken: dict[str, str] = {}
        self.left_out: list[str] = []

    def look_at(self, distribution: Distribution, entries: Sequence[EntryPoint]) -> None:
        """Take one distribution in as a plugin, or note why not."""
        name = _name_of(distribution)
        key = normalise(name)
        if key == BUILTIN:
            if self.builtin is None:
                self.builtin = _builtin_plugin(distribution)
            return
        if self.wanted is not None and key not in self.wanted:
            self.left_out.append(key)
            return
        if key in self.plugins:
            self._note_twin(self.plugins[key], name, distribution, entries[0])
            return
        fault = _entry_fault(entries) or self._claim_fault(entries[0])
        if fault:
            self.broken.setdefault(key, fault)
            self.problems.append(f"plugin '{name}': {fault}")
            return
        self._note_entry(name, entries[0])
        package = entries[0].value
        self.packages[package] = name
        folders, folder = _locate(package)
        self.plugins[key] = Plugin(
            name=name,
            version=distribution.metadata["Version"] or "unknown",
            package=package,
            origin=origin_of(distribution, folder=folder),
            card_dirs=tuple(f / "cards" for f in folders if (f / "cards").is_dir()),
        )

    def _claim_fault(self, entry: EntryPoint) -> str | None:
        package = entry.value
        if package in self.packages:
            return f"its package '{package}' is already that of plugin '{self.packages[package]}'"
        if not _exists(package):
            return f"its package '{package}' cannot be found"
        return None

    def _note_entry(self, name: str, entry: EntryPoint) -> None:
        # both keep working: components are addressed by distribution, the label names nothing
        other = self.entries.setdefault(entry.name, name)
        if other != name:
            self.problems.append(
                f"plugin '{name}': names its entry point '{entry.name}', as plugin '{other}' does; "
                "name an entry point after its distribution"
            )

    def _note_twin(
        self, first: Plugin, name: str, distribution: Distribution, entry: EntryPoint
    ) -> None:
        version = distribution.metadata["Version"]
        if (first.version, first.package) == (version, entry.value):
            return  # one distribution, seen through two folders of sys.path
        self.problems.append(
            f"plugin '{name}': installed twice: {first.version} ({first.package}), which is used, "
            f"and {version} ({entry.value})"
        )

    def finish(self) -> Found:
        """The plugins in their order, the unknown names of the switch noted."""
        known = {*self.plugins, *self.broken, BUILTIN}
        for name in sorted((self.wanted or set()) - known):
            self.problems.append(
                f"{SWITCH} names '{name}', which is no installed plugin.{nearest(name, known)}"
            )
        return Found(
            plugins=(self.builtin or _builtin_plugin(None), *self.plugins.values()),
            problems=tuple(self.problems),
            broken=self.broken,
            left_out=tuple(self.left_out),
        )


def _entry_fault(entries: Sequence[EntryPoint]) -> str | None:
    if len(entries) > 1:
        names = ", ".join(f"{entry.name} = {entry.value}" for entry in entries)
        return f"has {len(entries)} entry points in the group '{GROUP}' ({names}); one wanted"
    value = entries[0].value
    if not value.isidentifier():
        return (
            f"its entry point is '{entries[0].name} = {value}'; "
            "the bare name of a top-level package wanted"
        )
    return None


def _split_switch(switch: str) -> set[str]:
    return {normalise(part.strip()) for part in switch.split(",") if part.strip()}


def _exists(package: str) -> bool:
    return _find_spec(package) is not None


def _find_spec(name: str) -> Any:
    import importlib.util

    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        # a module without a spec in sys.modules, or a finder that gives up
        return None


def _locate(package: str) -> tuple[list[Path], Path]:
    """Folders of the package's files, and the folder in which the package itself lies."""
    spec = _find_spec(package)
    folders = [Path(place) for place in spec.submodule_search_locations or ()]
    folders = [folder for folder in folders if folder.is_dir()]
    if folders:
        return folders, folders[0].parent
    return [], Path(spec.origin or ".").parent


def _builtin_plugin(distribution: Distribution | None) -> Plugin:
    """The plugin of vgen-eval itself, installed or run from its source tree."""
    here = Path(__file__).resolve()
    if distribution is None:
        origin = source_origin(here.parents[2])
    else:
        origin = origin_of(distribution, folder=here.parents[2])
    return Plugin(
        name=BUILTIN,
        version=__version__,
        package=_BUILTIN_PACKAGE,
        origin=origin,
        card_dirs=tuple(_builtin_cards()),
        builtin=True,
    )


def _builtin_cards() -> Iterator[Path]:
    for folder in ("task_cards", "model_cards"):
        spec = _find_spec(f"vgen_eval.{folder}")
        if spec is not None and spec.submodule_search_locations:
            yield Path(next(iter(spec.submodule_search_locations)))
            continue
        # run from the source tree: the packages lie beside harness/, not inside it
        tree = Path(__file__).resolve().parents[2] / folder
        if tree.is_dir():
            yield tree
