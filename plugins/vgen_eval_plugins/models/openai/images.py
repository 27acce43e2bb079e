"""/images/edits: the pictures and the prompt as a form, and the picture that comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from vgen_eval.errors import CallError
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.openai.calling import Reply, billed, date_of, dig, whole
from vgen_eval_plugins.models.openai.pictures import Fetcher, pick
from vgen_eval_plugins.models.payloads import MIME, ImageFormat, encode, from_base64

__all__ = ["CALL", "OURS", "ask_edit", "read_edit", "upload"]

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
    prompt = request.prompt.encode("utf-8", "replace").decode()
    return {"image": files[0] if len(files) == 1 else files, "prompt": prompt}


def read_edit(body: Any, request: Request, reply: Reply, *, fetch: Fetcher) -> Output:
    """The picture of an answer; `answer` None with the reason where it holds none."""
    entries = dig(body, "data")
    entries = entries if isinstance(entries, list) else []
    usage = _usage(dig(body, "usage"), made=len(entries))
    files: list[bytes] = []
    with billed(usage, reply.request_id):
        for entry in entries:
            text, url = dig(entry, "b64_json"), dig(entry, "url")
            if isinstance(text, str) and text:
                files.append(from_base64(text))
            elif isinstance(url, str) and url:
                files.append(fetch(url))
    found = pick(files)
    reason = found.reason
    if found.answer is None and not files:
        reason = "a list of pictures without a picture" if entries else "an empty list of pictures"
    said = [dig(entry, "revised_prompt") for entry in entries]
    return Output(
        id=request.id,
        answer=found.answer,
        reason=reason,
        usage=usage,
        request_id=reply.request_id,
        reported_model=dig(body, "model") if isinstance(dig(body, "model"), str) else None,
        reported_date=date_of(dig(body, "created")),
        text=next((text for text in said if isinstance(text, str) and text), None),
        pictures=found.others,
        flags=found.flags,
    )


def _usage(told: Any, *, made: int) -> Usage | None:
    usage = Usage(images=made or None)
    if isinstance(told, Mapping):
        usage = msgspec.structs.replace(
            usage,
            input_tokens=whole(told.get("input_tokens")),
            cached_tokens=whole(dig(told, "input_tokens_details", "cached_tokens")),
            input_image_tokens=whole(dig(told, "input_tokens_details", "image_tokens")),
            output_tokens=whole(told.get("output_tokens")),
            image_tokens=whole(dig(told, "output_tokens_details", "image_tokens")),
        )
    return None if usage == Usage() else usage
