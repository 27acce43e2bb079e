"""The report itself: one page, everything inside, held by a policy of the hashes of its scripts."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vgen_eval import jsonio
from vgen_eval._version import __version__
from vgen_eval.errors import MissingExtra, UsageError
from vgen_eval.viewer import assets
from vgen_eval.viewer.gathering import Gathered
from vgen_eval.viewer.looking import Look
from vgen_eval.viewer.report.facts import list_runs, pair_runs
from vgen_eval.viewer.report.fitting import Fitted, Made, fit, least, told

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["SCRIPTS", "STYLES", "build_report", "policy"]

STYLES = ("style.css", "sample.css", "report.css")
SCRIPTS = ("page.js", "report.js", "field.js", "pane.js")
"""In this order: names of the viewer's own files, carried inside unchanged."""


def build_report(
    parts: Sequence[Gathered], catalog: Catalog, *, most_bytes: int, anyway: bool = False
) -> tuple[bytes, dict[str, Any]]:
    """The page as UTF-8, and its record: what was chosen, by which rule, what was left out.

    `parts`: one a task. Equal for equal runs. MissingExtra without jinja2; UsageError where not
    one sample fits.
    """
    try:
        from vgen_eval.viewer.report.texts import Texts
    except ModuleNotFoundError as exc:
        raise MissingExtra("view") from exc
    texts = Texts()
    template = texts.environment().get_template("report.html")
    common = {
        "request": None,
        "texts": texts,
        "media": _Nowhere(),
        "parts": [_facts(gathered, catalog, anyway=anyway) for gathered in parts],
        "styles": [_inline(assets.text_of(name)) for name in STYLES],
        "scripts": [_inline(assets.text_of(name)) for name in SCRIPTS],
        "policy": policy(
            [assets.text_of(name) for name in SCRIPTS], [assets.text_of(name) for name in STYLES]
        ),
        "maps": _inline(_script_json(assets.text_of(assets.MAPS))),
    }

    def make(fitted: Fitted) -> Made:
        texts.reset(fitted.texts)
        record = _record(parts, fitted)
        text = _inline(_script_json(jsonio.dumps(record).decode()))
        page = template.render(fitted=fitted, record=text, told=record, **common)
        return Made(page, tuple(texts.found))

    fitted, page = fit(parts, most_bytes, make)
    if not fitted.sections:
        needed = math.ceil(least(parts, make) / 1e5) / 10
        raise UsageError(
            f"--max-mb {most_bytes / 1e6:g}: not one sample fits, the first needs {needed:g}",
            cure=f"--max-mb {needed:g}, or more",
        )
    return page.encode("utf-8", "backslashreplace"), _record(parts, fitted)


def _facts(gathered: Gathered, catalog: Catalog, *, anyway: bool) -> dict[str, Any]:
    differences, reason = pair_runs(gathered, catalog, anyway=anyway)
    return {
        "task": gathered.runs[0].task,
        "runs": list(list_runs(gathered)),
        "differences": differences,
        "no_differences": reason,
        "told": gathered.told(),
        "notes": gathered.notes,
    }


class _Nowhere:
    """Raw files stay with the run: a page names them by their digests."""

    def file(self, look: Look, sha256: str) -> str:  # noqa: ARG002
        """No address."""
        return ""


def policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Content-Security-Policy of a page in which these run, and nothing else."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data: blob:",
            "media-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _record(parts: Sequence[Gathered], fitted: Fitted) -> dict[str, Any]:
    return {
        "kind": "report",
        "vgen_eval": __version__,
        "parts": [
            {
                **part.told(),
                "shown": [s.sample for s in fitted.sections if s.task == part.runs[0].task],
                "notes": list(part.notes),
            }
            for part in parts
        ],
        **told(fitted),
    }


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _script_json(text: str) -> str:
    """JSON that ends no script and begins no comment, whatever a model wrote into it."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _inline(text: str) -> Any:
    """Our own files and escaped JSON: put in as they are."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704
