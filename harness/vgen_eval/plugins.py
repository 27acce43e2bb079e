"""The catalog: every card and component that is installed, and what a name of one means."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.cards import CardHead, read_head
from vgen_eval.discovery import BUILTIN, SWITCH, Found, Plugin, find_plugins, normalise
from vgen_eval.distributions import HOME
from vgen_eval.errors import BrokenPlugin, CardError, UsageError, nearest
from vgen_eval.loading import CURE, Loader

if TYPE_CHECKING:
    from vgen_eval.survey import PluginReport

__all__ = ["BUILTIN", "CARD_KINDS", "Catalog", "Component", "Plugin"]

CARD_KINDS = ("task", "model", "suite")


class Component(msgspec.Struct, frozen=True):
    """An object that a plugin offers under a name."""

    dist: str
    """The distribution it comes from."""
    name: str
    obj: Any
    dist_version: str

    @property
    def qualified(self) -> str:
        """distribution:name, which means the same everywhere."""
        return f"{self.dist}:{self.name}"

    def identify(self, options: msgspec.Struct) -> dict[str, Any]:
        """Which one it is, with these options, as records of runs have it."""
        found = {
            "name": self.qualified,
            "version": self.obj.version,
            "options": msgspec.to_builtins(options),
        }
        return found if self.dist == HOME else found | {"distribution_version": self.dist_version}


class _Shelf(msgspec.Struct, frozen=True):
    """The readable cards of all plugins, and what is wrong with the others."""

    cards: dict[tuple[str, str], dict[str, CardHead]]
    """(kind, distribution) -> name -> head."""
    clashes: dict[tuple[str, str, str], tuple[Path, Path]]
    """(kind, distribution, name) -> two files that claim it."""
    problems: tuple[str, ...]


class Catalog:
    """Cards and components of the installed plugins, found by `[distribution:]name`.

    Building it and asking for cards imports no plugin; `component` imports the one it needs.
    """

    def __init__(self, found: Found) -> None:
        self.plugins: tuple[Plugin, ...] = found.plugins
        self._found = found
        self._by_name = {normalise(plugin.name): plugin for plugin in found.plugins}
        self._loader = Loader()
        self._origins: dict[str, Mapping[str, Any]] = {}

    @classmethod
    def discover(cls) -> Catalog:
        """The catalog of this environment, under the switch VGEN_EVAL_PLUGINS."""
        return cls(find_plugins(os.environ.get(SWITCH)))

    @property
    def problems(self) -> tuple[str, ...]:
        """Faults that show without importing: names claimed twice, lost packages, bad cards."""
        return self._found.problems + self._shelf.problems

    def plugin(self, name: str) -> Plugin:
        """The plugin of a distribution; UsageError when there is none, BrokenPlugin when it is."""
        key = normalise(name)
        if key in self._by_name:
            return self._by_name[key]
        if key in self._found.broken:
            raise BrokenPlugin(f"plugin '{name}': {self._found.broken[key]}", cure=CURE)
        if key in self._found.left_out:
            raise UsageError(
                f"plugin '{name}' is left out by {SWITCH}={os.environ.get(SWITCH, '')}",
                cure=f"unset {SWITCH}, or add '{name}' to its list",
            )
        raise UsageError(
            f"no plugin '{name}'.{nearest(name, [p.name for p in self.plugins])}", cure=CURE
        )

    def provenance(self, plugin: Plugin) -> Mapping[str, Any]:
        """Where a plugin came from, as a result card says it: asked once, no path of this machine.

        A checkout's address is its folder; commit and `dirty` say what matters of it.
        """
        if plugin.name not in self._origins:
            self._origins[plugin.name] = {
                key: value
                for key, value in plugin.provenance().items()
                if value is not None and not str(value).startswith("file:")
            }
        return self._origins[plugin.name]

    # --- cards

    def heads(self, kind: str) -> tuple[tuple[Plugin, CardHead], ...]:
        """Every readable card of a kind (task, model or suite) with its plugin, by name.

        A name that two files of one distribution claim is a problem and belongs to neither.
        """
        _check_kind(kind)
        return tuple(
            (plugin, head)
            for plugin in self.plugins
            for _, head in sorted(self._cards_of(kind, plugin).items())
        )

    def find(
        self, kind: str, name: str, *, home: str | None = None, notices: list[str] | None = None
    ) -> tuple[Plugin, CardHead]:
        """The card that `[distribution:]name` means.

        home: the distribution of the card in which the name stands: its own cards come first,
        then the built-in ones, then the others' if one alone has the name. None: the name was
        typed; a built-in wins, and a line goes to `notices` when others have the name too.
        Raises UsageError for an unknown or ambiguous name, with the nearest or the candidates.
        """
        _check_kind(kind)
        distribution, colon, bare = name.partition(":")
        if colon:
            plugin = self.plugin(distribution)
            head = self._card(kind, plugin, bare)
            if head is None:
                raise self._unknown(kind, name, bare, self._cards_of(kind, plugin))
            return plugin, head
        first = () if home is None else (self.plugin(home),)
        for plugin in (*first, self._by_name[BUILTIN]):
            head = self._card(kind, plugin, name)
            if head is not None:
                if home is None and notices is not None:
                    self._add_notice(kind, name, notices)
                return plugin, head
        owners = [p for p in self.plugins if name in self._cards_of(kind, p)]
        if not owners:
            self._refuse_clash(kind, name)
            known = (head.name for _, head in self.heads(kind))
            raise self._unknown(kind, name, name, known)
        _refuse_ambiguous(kind, name, [f"{p.name}:{name}" for p in owners])
        return owners[0], self._cards_of(kind, owners[0])[name]

    def _card(self, kind: str, plugin: Plugin, name: str) -> CardHead | None:
        clash = self._shelf.clashes.get((kind, plugin.name, name))
        if clash:
            raise UsageError(
                f"{kind} '{plugin.name}:{name}' is claimed by two cards: {clash[0]} and {clash[1]}",
                cure="rename one of them",
            )
        return self._cards_of(kind, plugin).get(name)

    def _refuse_clash(self, kind: str, name: str) -> None:
        for plugin in self.plugins:
            self._card(kind, plugin, name)

    def _cards_of(self, kind: str, plugin: Plugin) -> dict[str, CardHead]:
        return self._shelf.cards.get((kind, plugin.name), {})

    def _add_notice(self, kind: str, name: str, notices: list[str]) -> None:
        others = [
            f"{p.name}:{name}"
            for p in self.plugins
            if not p.builtin and name in self._cards_of(kind, p)
        ]
        if others:
            notices.append(f"{kind} '{name}' is {BUILTIN}'s; there is also {', '.join(others)}")

    def _unknown(self, kind: str, name: str, bare: str, known: Any) -> UsageError:
        faulty = len(self._shelf.problems)
        cure = f"{CURE} shows {faulty} faulty card(s)" if faulty else f"vgen-eval list {kind}s"
        plugin = self._by_name.get(normalise(name))
        if plugin is not None and self._cards_of(kind, plugin):  # `NAME:v1` with `:v1` forgotten
            own = ", ".join(f"{plugin.name}:{card}" for card in self._cards_of(kind, plugin))
            return UsageError(f"'{name}' is a plugin, not a {kind}; it has {own}", cure=cure)
        return UsageError(f"no {kind} '{name}'.{nearest(bare, known)}", cure=cure)

    @cached_property
    def _shelf(self) -> _Shelf:
        shelf = _Shelf(cards={}, clashes={}, problems=())
        problems: list[str] = []
        for plugin in self.plugins:
            for folder in plugin.card_dirs:
                for path in sorted(folder.rglob("*.yaml")):
                    if not path.is_file():  # a pipe of that name would be waited for
                        continue
                    problem = _put(shelf, plugin, path)
                    if problem:
                        problems.append(f"plugin '{plugin.name}': {problem}")
        return msgspec.structs.replace(shelf, problems=tuple(problems))

    # --- components

    def component(self, kind: str, name: str, *, home: str) -> Component:
        """The component that `[distribution:]name` means in a card of the distribution `home`.

        kind: a key of `vgen_eval.hookspecs.HOOKS`. A bare name is looked for in `home`, then in
        vgen-eval; only when both lack it are the other plugins imported. Raises UsageError for an
        unknown or ambiguous name, BrokenPlugin with the cause chained, or MissingExtra.
        """
        distribution, colon, bare = name.partition(":")
        if colon:
            plugin = self.plugin(distribution)
            names = self._loader.names(plugin, kind)
            if bare not in names:
                raise UsageError(
                    f"no {kind} '{name}'.{nearest(bare, names)}", cure=f"vgen-eval list {kind}s"
                )
            return self._resolve(plugin, kind, bare)
        near = dict.fromkeys((normalise(home), BUILTIN))
        for key in near:
            plugin = self.plugin(key)
            if name in self._loader.names(plugin, kind):
                return self._resolve(plugin, kind, name)
        return self._resolve(self._look_further(kind, name, set(near)), kind, name)

    def names(self, kind: str) -> list[str]:
        """What may be typed for the components of a kind; plugins that are broken have none."""
        found: list[str] = []
        for plugin in self.plugins:
            prefix = "" if plugin.builtin else f"{plugin.name}:"
            with contextlib.suppress(BrokenPlugin):
                found += [f"{prefix}{name}" for name in self._loader.names(plugin, kind)]
        return found

    def _look_further(self, kind: str, name: str, asked: set[str]) -> Plugin:
        """The one other plugin that has the name."""
        owners: list[Plugin] = []
        known = [n for key in asked for n in self._loader.names(self.plugin(key), kind)]
        silent: list[BrokenPlugin] = []
        for key, plugin in self._by_name.items():
            if key in asked:
                continue
            try:
                names = self._loader.names(plugin, kind)
            except BrokenPlugin as exc:
                silent.append(exc)
                continue
            known += names
            if name in names:
                owners.append(plugin)
        if owners:
            _refuse_ambiguous(kind, name, [f"{p.name}:{name}" for p in owners])
            return owners[0]
        message = f"no {kind} '{name}'.{nearest(name, known)}"
        if silent:
            # it may be theirs, so their fault is shown, but a mistyped name stays a usage error
            reasons = "; ".join(exc.what for exc in silent)
            cause = silent[0].__cause__ or silent[0]
            raise UsageError(f"{message} Not looked into: {reasons}", cure=CURE) from cause
        raise UsageError(message, cure=f"vgen-eval list {kind}s")

    def _resolve(self, plugin: Plugin, kind: str, name: str) -> Component:
        thing = self._loader.resolve(plugin, kind, name)
        return Component(plugin.name, name, thing, plugin.version)

    def survey(self, *, timeout_s: float = 30.0) -> list[PluginReport]:
        """What each plugin comes to when it is imported, in a child process of its own.

        Plugins that cannot even be looked at (see `problems`) come last.
        """
        from vgen_eval.survey import PluginReport, survey_plugins

        counts = {
            plugin.name: {kind: len(self._cards_of(kind, plugin)) for kind in CARD_KINDS}
            for plugin in self.plugins
        }
        lost = [
            PluginReport(
                name=name, version="unknown", package="", origin={}, ok=False, reason=reason
            )
            for name, reason in self._found.broken.items()
            if name not in self._by_name
        ]
        return survey_plugins(self.plugins, counts, timeout_s=timeout_s) + lost


def _check_kind(kind: str) -> None:
    if kind not in CARD_KINDS:
        raise UsageError(f"no kind of card '{kind}'.{nearest(kind, CARD_KINDS)}")


def _refuse_ambiguous(kind: str, name: str, candidates: list[str]) -> None:
    if len(candidates) > 1:
        raise UsageError(
            f"{kind} '{name}' is ambiguous: {', '.join(candidates)}",
            cure="name the distribution too",
        )


def _put(shelf: _Shelf, plugin: Plugin, path: Path) -> str | None:
    """Shelve one card; a line when it cannot be read or its name is taken."""
    try:
        head = read_head(path)
    except CardError as exc:
        return str(exc.problems[0])
    except (OSError, UnicodeError) as exc:
        return f"{path}: cannot be read: {exc}"
    cards = shelf.cards.setdefault((head.kind, plugin.name), {})
    key = (head.kind, plugin.name, head.name)
    if key in shelf.clashes:
        return f"{path}: {head.kind} '{head.name}' is also in {shelf.clashes[key][0]}"
    if head.name in cards:
        first = cards.pop(head.name)
        shelf.clashes[key] = (first.path, path)
        return f"{path}: {head.kind} '{head.name}' is also in {first.path}; neither is used"
    cards[head.name] = head
    return None
