"""/images/edits: the pictures and the prompt as a form, and the picture that comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import CallError
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.openai.faults import request_id_of
from vgen_eval_plugins.models.payloads import MIME, ImageFormat, encode
from vgen_eval_plugins.models.pictures import Fetcher, open_picture, pick
from vgen_eval_plugins.models.replies import billed, date_at, dig, items, told, whole, word
from vgen_eval_plugins.models.service_adapter import prompt_of
from vgen_eval_plugins.models.wire import Reply

__all__ = ["CALL", "OURS", "ask_edit", "near_size", "read_edit", "upload"]

CALL = "images.edit"
OURS: Mapping[str, str] = {
    "image": "the pictures of the sample",
    "prompt": "the prompt of the task",
    "model": "options.model",
    "n": "attempts are calls of their own, --attempts",
    "stream": "answers are read whole",
    "partial_images": "answers are read whole",
    "mask": "no task has one",
    "markup": "no task has one",
    "timeout": "limits.timeout_s",
    "extra_headers": "none but its own",
    "extra_query": "none but its own",
    "extra_body": "options.extra_body",
}

STEP = 16
"""Sides are multiples of it, ..."""
LONGEST = 3
"""... and the longer one is at most so many times the other (the SDK's reference of `size`)."""

File = tuple[str, bytes, str]


def upload(request: Request, form: ImageFormat) -> list[File]:
    """(name, bytes, type) of each picture."""
    suffix = {"png": "png", "jpeg": "jpg"}[form]
    return [
        (f"image-{at}.{suffix}", encode(image, form), MIME[form])
        for at, image in enumerate(request.images, 1)
    ]


def ask_edit(request: Request, *, image_format: ImageFormat) -> dict[str, Any]:
    """The form: `image` for one picture, `image[]` for several."""
    files = upload(request, image_format)
    if not files:
        raise CallError("an edit starts from a picture, and this request has none")
    return {"image": files[0] if len(files) == 1 else files, "prompt": prompt_of(request)}


def near_size(width: int, height: int) -> str:
    """WxH near that of a picture: each side the nearest multiple of 16, the ratio 1:3 to 3:1.

    A side that is too short for the other one is lengthened: what is asked for is never coarser
    than the picture.
    """
    wide, high = (max(1, (side + STEP // 2) // STEP) for side in (width, height))
    wide, high = max(wide, -(-high // LONGEST)), max(high, -(-wide // LONGEST))
    return f"{wide * STEP}x{high * STEP}"


def read_edit(body: Any, request: Request, reply: Reply, *, fetch: Fetcher) -> Output:
    """The picture of an answer; `answer` None with the reason where it holds none."""
    entries = items(dig(body, "data"))
    usage = _usage(dig(body, "usage"), made=len(entries))
    request_id = request_id_of(reply)
    files: list[bytes | str] = []
    with billed(usage, request_id):
        for entry in entries:
            text, url = word(dig(entry, "b64_json")), word(dig(entry, "url"))
            if text is not None:
                files.append(open_picture(text))
            elif url is not None:
                files.append(fetch(url))
    found = pick(files)
    reason = found.reason
    if not files:
        reason = "a list of pictures without a picture" if entries else "an empty list of pictures"
    said = [word(dig(entry, "revised_prompt")) for entry in entries]
    return Output(
        id=request.id,
        answer=found.answer,
        reason=reason,
        usage=usage,
        request_id=request_id,
        reported_model=word(dig(body, "model")),
        reported_date=date_at(dig(body, "created")),
        text=next(filter(None, said), None),
        pictures=found.others,
        flags=found.flags,
    )


def _usage(given: Any, *, made: int) -> Usage | None:
    """Tokens of an edit; all that is written is pictures where services leave out the details."""
    written = whole(dig(given, "output_tokens"))
    pictures = whole(dig(given, "output_tokens_details", "image_tokens"))
    return told(
        Usage(
            images=made or None,
            input_tokens=whole(dig(given, "input_tokens")),
            cached_tokens=whole(dig(given, "input_tokens_details", "cached_tokens")),
            input_image_tokens=whole(dig(given, "input_tokens_details", "image_tokens")),
            output_tokens=written,
            image_tokens=written if pictures is None and made else pictures,
        )
    )
