"""Pictures, numbers and raw files of attempts, by key and digest: what pages point to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval import jsonio
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.viewer.absent import NoSuchPage, not_found
from vgen_eval.viewer.drawing.fields import field_of, has_field, read_value
from vgen_eval.viewer.drawing.render import Style, draw, encode_png, encode_webp
from vgen_eval.viewer.drawing.sheets import draw_words
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewer.looking.opened import NoSuchAttempt
from vgen_eval.viewer.pages.raw import serve_file
from vgen_eval.viewer.records import read_whole
from vgen_eval.viewer.strips import strip_of
from vgen_eval.viewing import Bars, ClassMap, Film, Words

if TYPE_CHECKING:
    from vgen_eval.viewer.drawing.thumbs import Thumbs
    from vgen_eval.viewer.site import Site

__all__ = ["ROUTES", "thumb_of"]

WIDTHS = (256, 512)
MOST_SIDE = 4096
"""Pixels of a picture's long side: of larger panes a smaller picture is drawn."""
WORDS_SIDE = 1024
"""Of a card of words or bars, which has no grid of its own."""
FRAME_SIDE = 640
MOST_ATTEMPTS = 999_999
FOREVER = "private, max-age=31536000, immutable"
ASK = "private, no-cache"
SANDBOX = "default-src 'none'; sandbox"
A_PIXEL = 12
"""Bytes that it takes to draw a pixel: its colours, those below them, and the file."""
LEAST = 32 * 2**20
OWN_ALONE = {"error": "no error map", "target": "no truth to show"}
"""Layers that nothing stands for, and what is said where there is none."""


def guarded(handler: Any) -> Any:
    """A handler whose faults are short plain answers: pictures have no page to show one."""

    def answer(request: Request) -> Response:
        try:
            found: Response = handler(request)
            return found
        except (NoSuchPage, NoSuchAttempt) as exc:
            return _refuse(404, exc.what)
        except UsageError as exc:
            return _refuse(400, exc.what)
        except NotRunnable as exc:
            return _refuse(409, exc.what)

    answer.__name__ = handler.__name__
    return answer


def _refuse(status: int, words: str) -> Response:
    return Response(
        f"{words}\n", status_code=status, media_type="text/plain; charset=utf-8",
        headers={"cache-control": "no-store"},
    )  # fmt: skip


def _where(request: Request) -> tuple[Path, str, int]:
    """The run's directory, the sample's id, the attempt from 0; addresses count from 1."""
    site, given = request.app.state.site, request.path_params
    run = site.index.run(given["run"])
    if run is None:
        not_found("no run has this address")
    sample = site.index.sample(run.key, given["sample"])
    if sample is None:
        not_found("the run has no sample of this address")
    number = read_whole(given["attempt"], most=MOST_ATTEMPTS)
    if number is None:
        not_found("no attempt has this address")
    return _inside(Path(site.results), run.path), sample.id, max(0, number - 1)


def _inside(results: Path, below: str) -> Path:
    """The run's directory, which lies under the results root, links followed."""
    root, path = results.resolve(), (results / below).resolve()
    if not path.is_relative_to(root):
        not_found("the run lies outside the results folder")
    return path


def _look(request: Request) -> Look:
    run, sample, attempt = _where(request)
    found: Look = request.app.state.site.looker.look(run, sample, attempt)
    return found


def _pane(request: Request) -> tuple[Look, Shown]:
    look = _look(request)
    name = request.path_params["pane"]
    shown = look.find(name)
    if shown is None:
        if not look.complete and look.notices:  # it may be there another time
            raise NotRunnable(look.notices[0])
        known = ", ".join(each.name for each in look.panes)
        not_found(f"the attempt has no such pane; it has {known or 'none'}")
    return look, shown


def _send(
    request: Request, make: Callable[[], bytes], kind: str, *, tag: str, forever: bool,
    headers: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """The bytes, or that they have not changed: then they are not made."""
    quoted = f'"{tag}"'
    own = {
        "etag": quoted,
        "cache-control": FOREVER if forever else ASK,
        "content-security-policy": SANDBOX,
    }
    if quoted in [part.strip() for part in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=own)
    return Response(make(), media_type=kind, headers={**own, **(headers or {})})


def _is_current(request: Request, shown: Shown) -> bool:
    """Does the address name what is shown now, so that it never goes stale?"""
    version = request.query_params.get("v", "")
    return len(version) >= 8 and shown.key.startswith(version)


def _tag(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _in_room(site: Site, shown: Shown | None) -> AbstractContextManager[None]:
    """While it is drawn, or decoded: large ones one by one."""
    pixels = 0 if shown is None else shown.width * shown.height
    return site.drawing.taken(max(LEAST, A_PIXEL * pixels))


@guarded
def picture(request: Request) -> Response:
    """A pane as PNG."""
    style = Style.read(request.query_params)
    look, shown = _pane(request)

    def make() -> bytes:
        with _in_room(request.app.state.site, shown):
            side = MOST_SIDE if shown.width else WORDS_SIDE
            return encode_png(draw(shown, look, style=style, long_side=side))

    tag = _tag(shown.key, style)
    return _send(request, make, "image/png", tag=tag, forever=_is_current(request, shown))


@guarded
def field(request: Request) -> Response:
    """A pane's numbers; `X-Field` says what they mean."""
    _, shown = _pane(request)
    if not has_field(shown):
        not_found("the pane has no numbers")
    headers = {"content-encoding": "gzip"}

    def make() -> bytes:
        with _in_room(request.app.state.site, shown):
            body, head = field_of(shown)
        headers["x-field"] = _ascii(head)
        return body

    return _send(
        request, make, "application/octet-stream", tag=_tag(shown.key, "field"),
        forever=_is_current(request, shown), headers=headers,
    )  # fmt: skip


def _ascii(head: Mapping[str, Any]) -> str:
    """JSON of letters that a header holds."""
    import json

    return json.dumps(head, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


@guarded
def values(request: Request) -> Response:
    """JSON: pane -> what it says at the point `x`, `y` of the original, 0..1."""
    place = [_part(request, name) for name in ("x", "y")]
    look = _look(request)
    told = {shown.name: read_value(shown, *place) for shown in look.panes}
    found = {name: words for name, words in told.items() if words}
    return Response(
        jsonio.dumps(found), media_type="application/json", headers={"cache-control": "no-store"}
    )


def _part(request: Request, name: str) -> float:
    said = request.query_params.get(name, "")
    try:
        part = float(said)
    except ValueError:
        part = -1.0
    if not 0 <= part <= 1:
        raise UsageError(f"{name}: '{said[:40]}' is no part of the picture, 0 to 1")
    return part


@guarded
def frame(request: Request) -> Response:
    """A frame of a clip as WebP."""
    _, shown = _pane(request)
    site: Site = request.app.state.site
    body, index = shown.pane.body, read_whole(request.path_params["index"])
    if not isinstance(body, Film):
        not_found("the pane is no clip")
    if index is None or index >= body.clip.frames:
        not_found(f"no such frame: the clip has {body.clip.frames}")

    def make() -> bytes:
        try:
            with _in_room(site, shown):
                image = site.frames.image(
                    body.clip, index, long_side=FRAME_SIDE, beside=strip_of(body).indices
                )
        except Exception as exc:  # the library of videos raises its own errors
            raise NoSuchPage("the frame does not decode") from exc
        return encode_webp(image.array)

    return _send(
        request, make, "image/webp", tag=_tag(body.clip.sha256, index),
        forever=_is_current(request, shown),
    )  # fmt: skip


@guarded
def thumb(request: Request) -> Response:
    """A small picture of an attempt: made once, and kept by what it hangs on."""
    site = request.app.state.site
    run, sample, attempt = _where(request)
    layer = request.query_params.get("layer", "")
    width = request.query_params.get("w", str(WIDTHS[0]))
    if width not in map(str, WIDTHS):
        raise UsageError(f"w: one of {', '.join(map(str, WIDTHS))}")
    body, tag = thumb_of(site, run, sample, attempt, layer=layer, width=int(width))
    return _send(request, lambda: body, "image/webp", tag=tag[:24], forever=False)


def thumb_of(
    site: Site, run: Path, sample: str, attempt: int = 0, *, layer: str = "", width: int
) -> tuple[bytes, str]:
    """The small picture and its tag; it is made where it was not made before."""
    layer = layer[:20]
    try:
        stamp = site.looker.stamp(run, sample, attempt)
    except NotRunnable as exc:
        return _card("unreadable", exc.what, width), "unreadable"
    key = hashlib.sha256(f"{stamp} {layer} {width}".encode()).hexdigest()
    thumbs: Thumbs | None = site.thumbs
    if thumbs is None:
        found = draw_thumb(site.looker.look(run, sample, attempt), layer, width)
        return found, _tag(found)
    kept = thumbs.find(key)
    if kept is not None:
        return kept, key
    brief = thumbs.find_brief(key)
    if brief is not None:
        return brief, _tag(brief)
    look = site.looker.look(run, sample, attempt)

    def make() -> bytes:
        with _in_room(site, look.layer(layer)):
            return draw_thumb(look, layer, width)

    # what could not be shown in full may be here another time
    if look.complete and look.line is not None:
        return thumbs.get(key, make), key
    body = thumbs.get_brief(key, make)
    return body, _tag(body)


def draw_thumb(look: Look, layer: str, side: int) -> bytes:
    """The pane of that layer, or what comes nearest, as WebP; a card where there is none.

    Of an answer that is gone or altered it is a card: neither its input nor its score stands for
    what the model made.
    """
    shown = look.layer(layer)
    status = str(look.facts["status"])
    is_answered = status == "ok"
    word = ""
    if is_answered and layer not in ("input", "target"):
        is_given = shown is None or shown.pane.role in ("input", "target")
        word = look.lost or ("no prediction" if look.line is None or is_given else "")
    if shown is not None and shown.pane.role != layer:  # another layer never passes for this one
        word = word or OWN_ALONE.get(layer, "")
    if word and (is_answered or layer == "target"):
        return encode_webp(draw_words(Words(text=word), layer or "prediction", side), lossless=True)
    if shown is None or (not is_answered and shown.pane.role == "input" and layer != "input"):
        return _card(status, str(look.facts["reason"]), side)
    body = shown.pane.body
    is_flat = isinstance(body, Words | Bars) or (isinstance(body, ClassMap) and body.opacity == 1)
    return encode_webp(draw(shown, look, long_side=side), lossless=is_flat)


def _card(status: str, reason: str, side: int) -> bytes:
    facts = (("reason", reason),) if reason else ()
    return encode_webp(draw_words(Words(facts=facts), status, side), lossless=True)


@guarded
def raw(request: Request) -> Response:
    """A raw file of a run by its digest."""
    site = request.app.state.site
    run = site.index.run(request.path_params["run"])
    if run is None:
        not_found("no run has this address")
    path = _inside(Path(site.results), run.path)
    found = serve_file(
        Path(site.results), path, request.path_params["sha256"],
        asked=request.headers.get("range"),
    )  # fmt: skip
    if found is None:
        not_found("no such file: it is gone, was not kept, or was altered since")
    return found


_ATTEMPT = "/r/{run}/s/{sample}/{attempt}"
ROUTES = [
    Route(f"{_ATTEMPT}/thumb.webp", thumb),
    Route(f"{_ATTEMPT}/values", values),
    Route(_ATTEMPT + "/{pane}.png", picture),
    Route(_ATTEMPT + "/{pane}.field", field),
    Route(_ATTEMPT + "/{pane}/frame/{index}.webp", frame),
    Route("/r/{run}/o/{sha256}", raw),
]
