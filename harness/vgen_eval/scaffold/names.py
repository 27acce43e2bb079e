"""What a plugin may be called: its distribution, folder, package and commands share one name."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from typing import TYPE_CHECKING

from vgen_eval.discovery import BUILTIN, normalise
from vgen_eval.errors import UsageError
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["LONGEST", "check_name", "package_of", "suggest"]

LONGEST = 40
"""Characters: names stand in paths, in tables and in every qualified id."""
_VALID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PREFIX = "vgen"
"""What a suggested name starts with where the one given cannot stand alone."""
_FOLDERS = frozenset({"build", "cards", "dist", "docs", "results", "test", "tests"})
"""Names of folders in which a package of the same name would get lost."""


def package_of(name: str) -> str:
    """The package of a distribution: acme-editor -> acme_editor."""
    return name.replace("-", "_")


def suggest(name: str) -> str:
    """The nearest name that `check_name` takes, as far as spelling goes."""
    words = re.findall(r"[a-z0-9]+", name.encode("ascii", "ignore").decode().lower())
    if not words or not words[0][0].isalpha() or _why_taken("-".join(words)):
        words = [_PREFIX, *(words or ["plugin"])]
    return _join(*words)


def _join(*words: str) -> str:
    return "-".join(words)[:LONGEST].rstrip("-")


def check_name(name: str, catalog: Catalog) -> None:
    """Nothing, when a new plugin may have the name; else UsageError with the nearest valid one."""
    why = _why_misspelt(name) or _why_taken(name)
    if why:
        raise UsageError(
            f"'{name}' cannot be the name of a plugin: {why}. Nearest: {suggest(name)}",
            cure=f"vgen-eval plugin new {suggest(name)}",
        )
    for plugin in catalog.plugins:
        if normalise(plugin.name) == name or plugin.package == package_of(name):
            raise UsageError(
                f"plugin '{plugin.name}' is installed already (package {plugin.package})",
                cure=f"another name, or pip uninstall {plugin.name}",
            )
    _refuse_installed(name)


def _why_misspelt(name: str) -> str:
    if len(name) > LONGEST:
        return f"it has {plural(len(name), 'character')}, {LONGEST} at most"
    if not _VALID.fullmatch(name):
        return "small letters, digits and single hyphens wanted, a letter first"
    return ""


def _why_taken(name: str) -> str:
    package = package_of(name)
    if normalise(name) == BUILTIN or package in ("vgen_eval_plugins", "vgen_eval"):
        return f"it is {BUILTIN}'s own"
    if keyword.iskeyword(package) or keyword.issoftkeyword(package):
        return f"'{package}' is a word of Python's"
    if package in sys.stdlib_module_names:
        return f"'{package}' is a module of Python's library"
    if package in _FOLDERS:
        return f"'{package}' is what other folders are called"
    return ""


def _refuse_installed(name: str) -> None:
    """UsageError where the distribution or its package would hide something that is installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    package = package_of(name)
    try:
        found = f"distribution '{distribution(name).name}'"
    except PackageNotFoundError:
        if not _has_code(package):
            return
        found = f"package '{package}'"
    raise UsageError(
        f"'{name}' cannot be the name of a plugin: a {found} is installed here",
        cure=f"another name, such as {_join(_PREFIX, name)}",
    )


def _has_code(package: str) -> bool:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return True  # there is something, and it is broken
    # a folder without __init__.py is found too, and hides nothing
    return spec is not None and spec.origin is not None
