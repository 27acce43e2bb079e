"""Templates: the environment, its filters, and a page as a response."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from vgen_eval._version import __version__
from vgen_eval.results.markdown import format_value
from vgen_eval.types import STATUS_GROUP
from vgen_eval.viewer import assets
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.untold import (
    explain_value,
    leading_values,
    untold_replies,
    untold_summary,
)
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import HTMLResponse

__all__ = [
    "FOLD",
    "count",
    "environment",
    "exact",
    "group_of",
    "number",
    "page",
    "plain",
    "render",
    "said",
    "score",
    "tell_status",
    "visible",
]

FOLD = 4096
"""Letters of a model's text that a page shows at once."""

STATUS_WORDS = {
    "ok": "ok",
    "refused": "refused",
    "no_answer": "no answer",
    "undecodable": "undecodable",
    "missing": "missing",
    "error": "error",
    "timeout": "timed out",
    "judge_error": "judge error",
    "no_valid_target": "no valid target",
    "bad_sample": "bad sample",
    "not_run": "not run yet",
}
SHAPES = {
    "answered": "●",
    "model_failure": "✕",
    "infrastructure": "▲",
    "data_fault": "◇",
    "not_run": "○",
}
STATE_SHAPES = {
    "running": "▶",
    "complete": "●",
    "incomplete": "◐",
    "stopped": "■",
    "unreadable": "▲",
}
_KEPT = "\n\t"
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_JOINERS = "\u200c\u200d"
"""Part of how some scripts and emoji are written."""


def render(request: Request | None, name: str, /, **context: Any) -> str:
    """The template, filled; `request` None: for a page that stands by itself."""
    context.setdefault("trouble", "" if request is None else _trouble(request))
    return environment().get_template(name).render(request=request, **context)


def _trouble(request: Request) -> str:
    """What keeps the viewer from writing its index, for every page to tell."""
    site = getattr(request.app.state, "site", None) if "app" in request.scope else None
    return "" if site is None else str(site.index.trouble)


def page(
    request: Request | None, template: str, /, status: int = 200, **context: Any
) -> HTMLResponse:
    """The template as a response."""
    from starlette.responses import HTMLResponse

    return HTMLResponse(render(request, template, **context), status_code=status)


@functools.cache
def environment() -> Environment:
    """Escapes everything; a name that a handler forgot is an error."""
    found = Environment(
        loader=PackageLoader("vgen_eval.viewer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_finalize,
    )
    found.filters.update(
        said=said,
        exact=exact,
        whole=said,  # a report has its own, which keeps what there is room for
        number=number,
        count=count,
        score=score,
        plural=plural,
        status=tell_status,
        group=group_of,
        pairs=links.query_string,
    )
    found.globals.update(
        static=assets.address_of,
        links=links,
        untold_summary=untold_summary,
        untold_replies=untold_replies,
        leading_values=leading_values,
        explain_value=explain_value,
        shape=lambda status: SHAPES[group_of(status)],
        state_shape=STATE_SHAPES.__getitem__,
        version=__version__,
        crumbs=(),
        page_class="",
        live="",
        mark=0,
        trouble="",
    )
    return found


def _finalize(value: Any) -> Any:
    """What a template prints, whatever it is of: what it hides is shown.

    Markup is what `said`, `exact` and macros have made of a text already.
    """
    if value is None or isinstance(value, int | float) or hasattr(value, "__html__"):
        return value
    return plain(str(value))


def plain(text: str) -> str:
    """The text with its control and direction characters as code points, for where no markup is."""
    if text.isascii():
        return _CONTROLS.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
    return "".join(f"[U+{ord(char):04X}]" if _is_hidden(char) else char for char in text)


def exact(text: object) -> Markup:
    """The text as a form sends it and a script reads it: escaped, hidden characters by number.

    NUL has no number in HTML: a browser reads another character.
    """
    whole = str(text)
    if whole.isascii() and whole.isprintable():
        return escape(whole)
    return Markup("").join(
        # of C1 controls the numbers mean letters of Windows: they stand as they are
        Markup(f"&#{ord(char)};") if _is_hidden(char) and not "\x7f" < char < "\xa0"  # noqa: S704
        else escape(char)
        for char in whole
    )  # fmt: skip


def _is_hidden(char: str) -> bool:
    """Is it a control or direction character?"""
    return char not in _KEPT and char not in _JOINERS and unicodedata.category(char)[0] == "C"


def said(text: object, whole: str = "") -> Markup:
    """Text of a model, a card or a file: inert, what it hides shown, folded above FOLD letters.

    `whole`: where all of it can be read.
    """
    full = str(text)
    shown = full[:FOLD]
    parts = [_visible(shown)]
    if len(full) > FOLD:
        size = len(full.encode("utf-8", "surrogatepass"))
        rest = f"{tell_size(size)} in all"
        link = Markup(' <a href="{}">show all</a>').format(whole) if whole else ""
        parts.append(Markup(' <span class="fold">… cut here, {}{}</span>').format(rest, link))
    return Markup("<bdi>{}</bdi>").format(Markup("").join(parts))


def visible(text: str) -> Markup:
    """All of a text, inert, what it hides shown."""
    return Markup("<bdi>{}</bdi>").format(_visible(text))


def _visible(text: str) -> Markup:
    """Control and direction characters as their code points, marked."""
    if text.isascii() and text.isprintable():
        return escape(text)
    pieces: list[Markup] = []
    shown: list[str] = []
    for char in text:
        if not _is_hidden(char):
            shown.append(char)
            continue
        pieces.append(escape("".join(shown)))
        shown.clear()
        pieces.append(Markup('<span class="hidden-char">U+{}</span>').format(f"{ord(char):04X}"))
    pieces.append(escape("".join(shown)))
    return Markup("").join(pieces)


def tell_size(size: int) -> str:
    """Bytes, as people read them."""
    for unit, step in (("MB", 1_000_000), ("kB", 1000)):
        if size >= step:
            return f"{size / step:.1f} {unit}"
    return f"{size} bytes"


def number(value: float | None, unit: str = "") -> str:
    """A number as tables show it; a dash where there is none."""
    return "–" if value is None or not math.isfinite(value) else format_value(value, unit)


def count(number: int) -> str:
    """How many, thousands apart."""
    return f"{number:,}"


def score(value: float | None, unit: str = "") -> str:
    """A value in short, as lists show it: three digits; n/a where it is undefined."""
    if value is None or not math.isfinite(value):
        return "n/a"
    text = f"{value:.3g}" if abs(value) < 1e5 else f"{value:.2e}"
    return f"{text} {unit}".rstrip()


def tell_status(status: str) -> str:
    """A status in words."""
    return STATUS_WORDS.get(status, status.replace("_", " "))


def group_of(status: str) -> str:
    """What a status counts as: it has its own look."""
    return STATUS_GROUP.get(status, "not_run")
