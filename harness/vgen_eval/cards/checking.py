"""What every check of a card needs: the lines, the catalog, and a component held to its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from vgen_eval.cards.load import ParsedCard
from vgen_eval.cards.problems import MAX_PROBLEMS
from vgen_eval.cards.walk import convert
from vgen_eval.errors import CardError, Problem, VgenEvalError
from vgen_eval.types import NoOptions, Value

__all__ = ["Checker", "Finder", "message_of", "values_of"]


class Finder(Protocol):
    """What a check asks of a catalog: `vgen_eval.plugins.Catalog`, or less."""

    def find(self, kind: str, name: str, *, home: str | None = None) -> tuple[Any, Any]:
        """Plugin and head of the card that a name means."""
        ...

    def component(self, kind: str, name: str, *, home: str) -> Any:
        """The component that a name means; its `obj` is the class."""
        ...


class Checker:
    """Collects the problems of one card that keeps to its schema."""

    def __init__(self, parsed: ParsedCard, catalog: Finder, *, file: str, home: str) -> None:
        self.parsed = parsed
        self.catalog = catalog
        self.file = file
        self.home = home
        self.problems: list[Problem] = []
        self._found: dict[tuple[str, str], Any] = {}

    def add(self, path: str, message: str) -> None:
        """Note a fault at a path, with the line of the nearest key that is written."""
        if len(self.problems) < MAX_PROBLEMS:
            line = self.parsed.line_of(path)
            self.problems.append(Problem(message, file=self.file, line=line, path=path))

    def has_problem(self, path: str) -> bool:
        """Is a fault noted at this path, or below it?"""
        return any(problem.path.startswith(path) for problem in self.problems)

    def refuse_blank(self, *paths_and_texts: tuple[str, str]) -> None:
        """Note the texts that say nothing."""
        for path, text in paths_and_texts:
            if not text.strip():
                self.add(path, "must not be empty")

    def component(
        self, kind: str, name: str, path: str, options: Mapping[str, Any], options_path: str
    ) -> Any:
        """The class that a name means, its options checked; None, the fault noted, without."""
        found = self.look_up(kind, name)
        if isinstance(found, VgenEvalError):
            self.add(path, message_of(found))
            return None
        self.check_options(getattr(found, "Options", NoOptions), options, options_path)
        return found

    def look_up(self, kind: str, name: str) -> Any:
        """The class that a name means, or the error that tells why there is none."""
        if (kind, name) not in self._found:
            try:
                self._found[kind, name] = self.catalog.component(kind, name, home=self.home).obj
            except VgenEvalError as exc:
                self._found[kind, name] = exc
        return self._found[kind, name]

    def check_options(self, cls: Any, options: Mapping[str, Any], path: str) -> None:
        """Hold options to the record that the component declares."""
        try:
            convert(cls, options, file=self.file, path=path)
        except CardError as exc:
            for problem in exc.problems:
                self.add(problem.path or path, problem.message)
        except VgenEvalError as exc:  # the component's own Options cannot be read
            self.add(path, message_of(exc))


def message_of(error: VgenEvalError) -> str:
    """Cause and cure of an error in one line."""
    return f"{error.what} ({error.cure})" if error.cure else error.what


def values_of(metric: Any) -> tuple[Value, ...]:
    """The values that a metric class says it reports; () when it says none."""
    values = getattr(metric, "values", ())
    if not isinstance(values, tuple):
        return ()
    return tuple(value for value in values if isinstance(value, Value))
