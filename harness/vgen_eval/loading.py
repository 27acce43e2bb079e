"""Imports plugins, reads their hooks and resolves the objects they name, each fault contained."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.errors import BrokenPlugin, MissingExtra, UsageError, nearest
from vgen_eval.wording import describe, message

if TYPE_CHECKING:
    from types import ModuleType

    import pluggy

    from vgen_eval.discovery import Plugin

__all__ = ["CURE", "Loader"]

CURE = "vgen-eval list plugins"
"""What shows every plugin with its faults."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_MEASURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_. -]*")
"""A view's name is what metrics say that they measure: several words may stand there."""
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_METHODS: Mapping[str, tuple[str, ...]] = {
    "adapter": ("generate",),
    "dataset": ("index", "load", "fingerprint"),
    "decoder": ("decode",),
    "encoder": ("encode",),
    "metric": ("update", "merge", "compute"),
    "judge": ("judge", "prompts"),
    "importer": ("read",),
    "exporter": ("export",),
    "view": ("panes",),
}
_WITH_OPTIONS = ("dataset", "decoder", "encoder", "metric", "judge", "importer", "exporter")


class Loader:
    """Plugins imported so far, in this process; what was found out is kept."""

    def __init__(self) -> None:
        self._manager: pluggy.PluginManager | None = None
        self._modules: dict[str, ModuleType] = {}
        self._broken: dict[str, tuple[str, BaseException | None]] = {}
        self._names: dict[tuple[str, str], Mapping[str, str]] = {}
        self._objects: dict[tuple[str, str, str], Any] = {}

    def names(self, plugin: Plugin, kind: str) -> Mapping[str, str]:
        """name -> "package.module:Object" of one kind of component; imports the plugin.

        Raises BrokenPlugin when the plugin cannot be imported or its hook breaks the contract.
        """
        from vgen_eval.hookspecs import HOOKS

        if kind not in HOOKS:
            raise UsageError(f"no kind of component '{kind}'.{nearest(kind, HOOKS)}")
        key = (plugin.name, kind)
        if key not in self._names:
            self._register(plugin)
            self._names[key] = self._call_hook(plugin, HOOKS[kind])
        return self._names[key]

    def resolve(self, plugin: Plugin, kind: str, name: str) -> Any:
        """The object that a plugin names; imports its module.

        Raises BrokenPlugin, with the cause chained, when it cannot be imported or is not such a
        component; MissingExtra passes through.
        """
        key = (plugin.name, kind, name)
        if key not in self._objects:
            target = self.names(plugin, kind)[name]
            what = f"{kind} '{plugin.name}:{name}' ({target})"
            module, _, path = target.partition(":")
            thing = _guarded(lambda: importlib.import_module(module), what)
            for part in path.split("."):
                thing = _attribute(thing, part, what)
            fault = contract_fault(kind, thing) or _misnamed(kind, name, thing)
            if fault:
                raise BrokenPlugin(f"{what}: {fault}", cure=CURE)
            self._objects[key] = thing
        return self._objects[key]

    def _register(self, plugin: Plugin) -> None:
        if plugin.name in self._modules:
            return
        if plugin.name in self._broken:
            what, cause = self._broken[plugin.name]
            raise BrokenPlugin(what, cure=CURE) from cause
        try:
            what = f"plugin '{plugin.name}' (package {plugin.package})"
            module = _guarded(lambda: importlib.import_module(plugin.package), what)
            _check_hooks(module, what)
            self._add(plugin, module, what)
        except BrokenPlugin as exc:
            # an import that failed half-way is not tried again: its second try fails otherwise
            self._broken[plugin.name] = (exc.what, exc.__cause__)
            raise
        self._modules[plugin.name] = module

    def _add(self, plugin: Plugin, module: ModuleType, what: str) -> None:
        import pluggy

        from vgen_eval import hookspecs

        if self._manager is None:
            self._manager = pluggy.PluginManager("vgen_eval")
            self._manager.add_hookspecs(hookspecs)
        try:
            self._manager.register(module, name=plugin.name)
        except (ValueError, pluggy.PluginValidationError) as exc:
            # a name or a module registered twice; a hook whose arguments are not the declared ones
            if self._manager.get_plugin(plugin.name) is module:
                self._manager.unregister(name=plugin.name)
            raise BrokenPlugin(f"{what}: {message(exc)}", cure=CURE) from exc

    def _call_hook(self, plugin: Plugin, hook: str) -> Mapping[str, str]:
        assert self._manager is not None
        # one plugin at a time: its faults, and its wrappers, must not reach into another's answer
        others = [p for n, p in self._manager.list_name_plugin() if n != plugin.name]
        caller = self._manager.subset_hook_caller(hook, remove_plugins=others)
        what = f"plugin '{plugin.name}': {hook}"
        answers = _guarded(caller, what)
        if not answers:
            return {}
        if not isinstance(answers, list) or not isinstance(answers[0], Mapping):
            raise BrokenPlugin(f"{what} returns {answers!r:.80}; a mapping wanted", cure=CURE)
        pattern = _MEASURE if hook == "vgen_views" else _NAME
        return _checked_names(answers[0], what, pattern)


def _checked_names(
    names: Mapping[Any, Any], what: str, pattern: re.Pattern[str]
) -> Mapping[str, str]:
    for name, target in names.items():
        if not isinstance(name, str) or not pattern.fullmatch(name):
            raise BrokenPlugin(
                f"{what} names {name!r:.80}; letters, digits, '_', '.', '-' wanted", cure=CURE
            )
        if not isinstance(target, str) or not _TARGET.fullmatch(target):
            raise BrokenPlugin(
                f"{what} gives {target!r:.80} for '{name}'; 'package.module:Object' wanted",
                cure=CURE,
            )
    return dict(names)


def _check_hooks(module: ModuleType, what: str) -> None:
    """BrokenPlugin for a `vgen_*` function that is no hook, or lacks the mark of one."""
    from vgen_eval.hookspecs import HOOKS

    known = set(HOOKS.values())
    for name, thing in vars(module).items():
        if not name.startswith("vgen_") or not inspect.isroutine(thing):
            continue
        if name not in known:
            raise BrokenPlugin(
                f"{what}: no hook is called '{name}'.{nearest(name, known)}", cure=CURE
            )
        if not hasattr(thing, "vgen_eval_impl"):
            raise BrokenPlugin(
                f"{what}: {name} lacks @hookimpl",
                cure=f"from vgen_eval.hookspecs import hookimpl, and write @hookimpl above {name}",
            )


def contract_fault(kind: str, thing: Any) -> str | None:
    """What an object lacks to be a component of its kind; None when nothing is missing."""
    if not callable(thing):
        return f"a class wanted, {type(thing).__name__} seen"
    if kind in (*_WITH_OPTIONS, "view"):
        version = getattr(thing, "version", None)
        if not isinstance(version, int) or isinstance(version, bool):
            return "lacks the attribute 'version', a whole number: version: ClassVar[int] = 1"
    if kind in _WITH_OPTIONS:
        options = getattr(thing, "Options", None)
        if not isinstance(options, type) or not issubclass(options, msgspec.Struct):
            return (
                "lacks the attribute 'Options', a msgspec.Struct "
                "(Options = vgen_eval.types.NoOptions for none)"
            )
    for method in _METHODS.get(kind, ()) if isinstance(thing, type) else ():
        if not callable(getattr(thing, method, None)):
            return f"lacks the method '{method}'"
    return None


def _misnamed(kind: str, name: str, thing: Any) -> str | None:
    """Is a view named by another thing than what it shows?"""
    measures = getattr(thing, "measures", None)
    if kind != "view" or measures == name:
        return None
    return (
        f"a view is named by what it measures: measures is {measures!r:.80}, the name is '{name}'"
    )


def _attribute(thing: Any, part: str, what: str) -> Any:
    try:
        return _guarded(lambda: getattr(thing, part), what)
    except BrokenPlugin as exc:
        if not isinstance(exc.__cause__, AttributeError):
            raise
        where = getattr(thing, "__name__", repr(thing))
        near = nearest(part, [name for name in dir(thing) if not name.startswith("_")])
        raise BrokenPlugin(f"{what}: {where} has no '{part}'.{near}", cure=CURE) from exc.__cause__


def _guarded(action: Any, what: str) -> Any:
    """The action's result; whatever it raises becomes BrokenPlugin, whatever it prints is moved.

    Prints go to stderr, since a command's stdout may be JSON that somebody parses.
    """
    try:
        with _stdout_to_stderr():
            return action()
    except (KeyboardInterrupt, MissingExtra):
        raise
    except BaseException as exc:  # foreign code: it may call sys.exit, or raise what it likes
        raise BrokenPlugin(f"{what}: {describe(exc)}", cure=CURE) from exc


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    # a handler that the plugin builds on sys.stdout stays usable, which a buffer would not
    with contextlib.redirect_stdout(sys.stderr):
        yield
