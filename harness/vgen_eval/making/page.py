"""The preview as one HTML file: pictures inside, no script, nothing fetched, text escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import unicodedata
from collections.abc import Sequence

import msgspec

from vgen_eval.imaging import encode_png
from vgen_eval.making.drawing import Drawing

__all__ = ["Panel", "Row", "render"]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1280px;
  padding: 0 1rem; background: Canvas; color: CanvasText; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .3rem; }
p { margin: .2rem 0; } .dim { opacity: .72; } pre { white-space: pre-wrap; margin: .3rem 0; }
.row { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); }
figure { margin: .6rem 0; min-width: 0; } img { max-width: 100%; height: auto; display: block;
  border: 1px solid GrayText; }
figcaption { overflow-wrap: anywhere; } ul { list-style: none; margin: .2rem 0; padding: 0;
  columns: 2; font-size: .85rem; }
svg { width: .8em; height: .8em; margin-right: .4em; border: 1px solid GrayText; }
""".strip()
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
    "form-action 'none'"
)


class Panel(msgspec.Struct, frozen=True):
    """One picture of a row, under what it is."""

    title: str
    drawing: Drawing


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One sample: what is said of it, and its pictures."""

    title: str
    notes: tuple[str, ...]
    prompt: str
    panels: tuple[Panel, ...]


def render(title: str, notes: Sequence[str], rows: Sequence[Row]) -> str:
    """The page."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = html.escape(_POLICY.format(digest=digest))
    said = "".join(f'<p class="dim">{_text(note)}</p>\n' for note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_text(title)}</h1>\n{said}{''.join(map(_row, rows))}</body>\n</html>\n"
    )


def _row(row: Row) -> str:
    notes = "".join(f"<p>{_bidi(note)}</p>\n" for note in row.notes)
    prompt = f'<p class="dim">prompt</p><pre>{_bidi(row.prompt)}</pre>\n' if row.prompt else ""
    panels = "".join(map(_panel, row.panels))
    return (
        f"<section>\n<h2>{_bidi(row.title)}</h2>\n{notes}{prompt}"
        f'<div class="row">\n{panels}</div>\n</section>\n'
    )


def _panel(panel: Panel) -> str:
    drawing = panel.drawing
    image = ""
    if drawing.picture is not None:
        height, width = drawing.picture.shape[:2]
        data = base64.b64encode(encode_png(drawing.picture)).decode()
        image = (
            f'<img src="data:image/png;base64,{data}" width="{width}" height="{height}" '
            f'alt="{_text(panel.title)}">'
        )
    legend = "".join(
        f'<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" '
        f'fill="rgb({red},{green},{blue})"/></svg>{_bidi(text)}</li>'
        for (red, green, blue), text in drawing.legend
    )
    caption = f"<br>{_bidi(drawing.caption)}" if drawing.caption else ""
    return (
        f"<figure>{image}<figcaption><b>{_text(panel.title)}</b>{caption}</figcaption>"
        f"{f'<ul>{legend}</ul>' if legend else ''}</figure>\n"
    )


def _text(text: str) -> str:
    """Escaped, without control characters: neither markup nor anything that turns the text."""
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return html.escape("".join(kept))


def _bidi(text: str) -> str:
    return f"<bdi>{_text(text)}</bdi>"
