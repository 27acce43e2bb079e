"""A strict loopback service of OpenAI's protocol: chat, image edits, videos, models.

Fields follow the API reference of OpenAI (chat completions, images, videos); `extras` are those
of other servers. It answers from the pixels: see `seeing`.
"""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from vgen_eval_plugins.standins import seeing
from vgen_eval_plugins.standins.bodies import Fields, Part, check_shape
from vgen_eval_plugins.standins.server import Answer, Call, Handler, Rejected, Service

__all__ = ["OpenAIService"]

CREATED = 1_760_000_000
"""2025-10-09T08:53:20Z: the date that every answer carries."""
MODELS = ("tiny-vision", "tiny-edit", "tiny-video")
NoneType = type(None)
JSON = {"type": "json_object"}

_DETAIL = frozenset({"auto", "low", "high", "original"})
_PART = (
    Fields({"type": frozenset({"text"}), "text": str}),
    Fields(
        {"type": frozenset({"image_url"}), "image_url": Fields({"url": str}, {"detail": _DETAIL})}
    ),
)
_CHAT = Fields(
    {"model": str, "messages": [Fields({"role": str, "content": (str, [_PART])})]},
    {
        "frequency_penalty": (float, NoneType),
        "logprobs": (bool, NoneType),
        "max_completion_tokens": (int, NoneType),
        "max_tokens": (int, NoneType),
        "modalities": [str],
        "presence_penalty": (float, NoneType),
        "response_format": Fields(
            {"type": frozenset({"text", "json_object", "json_schema"})}, {"json_schema": object}
        ),
        "reasoning_effort": (str, NoneType),
        "seed": (int, NoneType),
        "stop": (str, [str], NoneType),
        "temperature": (float, NoneType),
        "top_logprobs": (int, NoneType),
        "top_p": (float, NoneType),
        "verbosity": (str, NoneType),
    },
)
_CONTINUED = {"add_generation_prompt": bool, "continue_final_message": bool}
"""Further fields of chat at vLLM and SGLang, by which the last message goes on."""
_EDIT = {
    "background": r"auto|opaque|transparent", "input_fidelity": r"high|low", "model": r".+",
    "n": r"[1-9]|10", "output_compression": r"\d{1,3}", "output_format": r"png|jpeg|webp",
    "prompt": r"(?s).*", "quality": r"auto|low|medium|high", "response_format": r"url|b64_json",
    "size": r"auto|\d+x\d+", "user": r".*",
}  # fmt: skip
"""Field of an edit -> pattern of its value."""
_VIDEO = {"model": r".+", "prompt": r"(?s).*", "seconds": r"\d+", "size": r"\d+x\d+"}


class OpenAIService(Service):
    """Chat, edits, videos and models, each held to its fields.

    The attributes below are turned by tests: what it knows, and how it answers.
    """

    name: ClassVar[str] = "openai"

    def __init__(self, *, key: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(key=key, tls=tls)
        self.renew()

    def renew(self) -> None:
        """Turns all that tests turn back to what it was, and forgets what it has seen."""
        super().renew()
        self.models: tuple[str, ...] = MODELS
        self.extras: Mapping[str, Any] = {}
        """Further fields of bodies: name -> shape, as vLLM and others take them."""
        self.thinking: str | None = None
        self.thinking_field = "reasoning"
        """`reasoning` as vLLM gives it today, `reasoning_content` as it did."""
        self.tokens: Mapping[str, float] | None = None
        """Token -> log-probability at the first place; None: from the pixels."""
        self.continues = False
        """Does it take the fields by which a last message goes on?"""
        self.gives_urls = False
        """Are edits given as addresses, not in base64?"""
        self.picture_url: str | None = None
        """The address given, in place of its own."""
        self.images_in_content = False
        """Where chat puts pictures: parts of `content` (vLLM-Omni), or `images` (OpenRouter)."""
        self.polls = 2
        """Times that a video is asked for until it is done."""
        self.video_fault: Mapping[str, str] | None = None
        """code and message with which videos fail."""
        self.files: dict[str, bytes] = {}
        self._jobs: dict[str, _Job] = {}

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        return (
            ("GET", r"/v1/models", self._list_models),
            ("POST", r"/v1/chat/completions", self._chat),
            ("POST", r"/v1/images/edits", self._edit),
            ("POST", r"/v1/videos", self._create_video),
            ("GET", r"/v1/videos/([\w-]+)", self._show_video),
            ("GET", r"/v1/videos/([\w-]+)/content", self._give_video),
            ("GET", r"/files/([\w.]+)", self._give_file),
        )

    def check_key(self, call: Call) -> None:
        if not call.path.startswith("/files/"):  # addresses that are handed out ask for no key
            super().check_key(call)

    def error(self, rejected: Rejected) -> Answer:
        kind = "server_error" if rejected.status >= 500 else "invalid_request_error"
        body = {
            "message": rejected.message,
            "type": "rate_limit_error" if rejected.status == 429 else kind,
            "param": rejected.param,
            "code": rejected.code,
        }
        return Answer.json({"error": body}, status=rejected.status, headers=self._headers())

    # --- chat -------------------------------------------------------------------------------

    def _chat(self, call: Call) -> Answer:
        body = call.json
        more = _CONTINUED if self.continues else {}
        shape = Fields(_CHAT.required, {**_CHAT.optional, **more, **self.extras})
        try:
            check_shape(body, shape)
        except ValueError as exc:
            raise _bad_field(exc) from None
        self._check_model(body["model"])
        _check_continued(body)
        if body.get("top_logprobs") is not None and not body.get("logprobs"):
            raise Rejected("top_logprobs needs logprobs", param="top_logprobs")
        if (body.get("top_logprobs") or 0) > 20:
            raise Rejected("top_logprobs is at most 20", param="top_logprobs")
        pictures, prompt = _read_messages(body["messages"])
        if body.get("response_format") == JSON and "json" not in prompt.lower():
            raise Rejected(
                "'messages' must contain the word 'json' in some form, to use 'response_format' "
                "of type 'json_object'.",
                param="messages",
            )
        choice = self._choose(body, pictures)
        text = choice["message"].get("content")
        read = len(prompt.split()) + sum(_tokens_of(picture) for picture in pictures)
        written = len(text.split()) if isinstance(text, str) else 1
        thought = len((self.thinking or "").split())
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written + thought,
            "total_tokens": read + written + thought,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
        return self._json({
            "id": f"chatcmpl-{_digest(call.data)}", "object": "chat.completion",
            "created": CREATED, "model": f"{body['model']}-2025-10-09",
            "system_fingerprint": "fp_loopback", "choices": [choice], "usage": usage,
        })  # fmt: skip

    def _choose(self, body: Mapping[str, Any], pictures: list[seeing.RGB]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}
        if self.thinking is not None:
            message[self.thinking_field] = self.thinking
        if "image" in body.get("modalities", ()):
            self._add_picture(message, pictures)
        elif body.get("logprobs"):
            tokens = self.tokens or seeing.token_logprobs(pictures)
            likeliest = sorted(tokens.items(), key=lambda entry: -entry[1])
            message["content"] = likeliest[0][0]
            shown = [_token(*entry) for entry in likeliest[: body.get("top_logprobs") or 0]]
            first = {**_token(*likeliest[0]), "top_logprobs": shown}
            choice["logprobs"] = {"content": [first], "refusal": None}
        elif body.get("response_format") == JSON:
            message["content"] = f'{{"count": {seeing.count(pictures)}}}'
        else:
            message["content"] = str(seeing.count(pictures))
        return choice

    def _add_picture(self, message: dict[str, Any], pictures: list[seeing.RGB]) -> None:
        if not pictures:
            raise Rejected("an edit needs a picture", param="messages")
        data = base64.b64encode(seeing.write_picture(seeing.paint(pictures[0]))).decode()
        part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        if self.images_in_content:
            message["content"] = [part]
        else:
            message["content"] = "Here it is."
            message["images"] = [part]

    # --- pictures ---------------------------------------------------------------------------

    def _edit(self, call: Call) -> Answer:
        fields, files = self._form(call, _EDIT, files=("image", "image[]", "mask"))
        given = [part for part in files if part.name in ("image", "image[]")]
        if not given:
            raise Rejected("image: missing required parameter", param="image")
        self._check_model(fields.get("model", "tiny-edit"))
        pictures = [seeing.open_picture(part.data, part.content_type) for part in given]
        size = fields.get("size", "auto")
        wanted = None if size == "auto" else tuple(int(side) for side in size.split("x"))
        painted = seeing.paint(pictures[0], size=wanted)  # type: ignore[arg-type]
        form = fields.get("output_format", "png")
        data = seeing.write_picture(painted, form)
        entry: dict[str, Any] = {"b64_json": base64.b64encode(data).decode()}
        if self.gives_urls or fields.get("response_format") == "url":
            name = f"{_digest(data)}.{form}"
            self.files[name] = data
            entry = {"url": self.picture_url or f"{self.url}/files/{name}"}
        read = sum(_tokens_of(picture) for picture in pictures)
        words, made = len(fields["prompt"].split()), _tokens_of(painted)
        return self._json({
            "created": CREATED, "background": "opaque", "output_format": form,
            "quality": fields.get("quality", "auto"),
            "size": f"{painted.shape[1]}x{painted.shape[0]}",
            "data": [entry] * int(fields.get("n", 1)),
            "usage": {
                "input_tokens": read + words,
                "input_tokens_details": {"image_tokens": read, "text_tokens": words},
                "output_tokens": made, "total_tokens": read + words + made,
                "output_tokens_details": {"image_tokens": made, "text_tokens": 0},
            },
        })  # fmt: skip

    def _give_file(self, call: Call) -> Answer:
        data = self.files.get(call.groups[0])
        if data is None:
            raise Rejected("no such file", status=404)
        return Answer(body=data, content_type="image/png")

    # --- videos -----------------------------------------------------------------------------

    def _create_video(self, call: Call) -> Answer:
        fields, files = self._form(call, _VIDEO, files=("input_reference",))
        self._check_model(fields.get("model", "tiny-video"))
        for part in files:
            seeing.open_picture(part.data, part.content_type)
        job = _Job(
            id=f"video_{_digest(call.data)}",
            model=fields.get("model", "tiny-video"),
            prompt=fields["prompt"],
            seconds=fields.get("seconds", "4"),
            size=fields.get("size", "720x1280"),
            reference=hashlib.sha256(files[0].data if files else b"").hexdigest(),
        )
        self._jobs[job.id] = job
        return self._json(job.shown("queued"))

    def _show_video(self, call: Call) -> Answer:
        job = self._job(call)
        job.asked += 1
        if job.asked < self.polls:
            return self._json(job.shown("queued" if job.asked == 1 else "in_progress"))
        if self.video_fault is not None:
            return self._json({**job.shown("failed"), "error": dict(self.video_fault)})
        return self._json(job.shown("completed"))

    def _give_video(self, call: Call) -> Answer:
        job = self._job(call)
        if job.asked < self.polls:
            raise Rejected("the video is not ready", status=404, code="video_not_ready")
        ident = bytes.fromhex(job.reference)
        head = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"
        data = head + (8 + len(ident)).to_bytes(4, "big") + b"mdat" + ident
        return Answer(body=data, content_type="video/mp4", headers=self._headers())

    def _job(self, call: Call) -> _Job:
        job = self._jobs.get(call.groups[0])
        if job is None:
            raise Rejected("no such video", status=404, code="not_found")
        return job

    # --- all of them ------------------------------------------------------------------------

    def _list_models(self, call: Call) -> Answer:  # noqa: ARG002
        shown = [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "loopback"}
            for name in self.models
        ]
        return self._json({"object": "list", "data": shown})

    def _form(
        self, call: Call, patterns: Mapping[str, str], *, files: Sequence[str]
    ) -> tuple[dict[str, str], list[Part]]:
        """Plain fields and files of a form, each one known and of the right kind."""
        fields: dict[str, str] = {}
        uploads: list[Part] = []
        for part in call.form:
            if part.filename is not None and part.name in files:
                uploads.append(part)
            elif part.filename is None and part.name in {*patterns, *self.extras}:
                if part.name in fields:
                    raise Rejected(f"{part.name}: given twice", param=part.name)
                fields[part.name] = part.text
                if not re.fullmatch(patterns.get(part.name, r"(?s).*"), part.text):
                    raise Rejected(f"{part.name}: invalid value", param=part.name)
            else:
                raise Rejected(f"{part.name}: unknown parameter", param=part.name)
        if "prompt" not in fields:
            raise Rejected("prompt: missing required parameter", param="prompt")
        return fields, uploads

    def _check_model(self, name: str) -> None:
        if name not in self.models:
            raise Rejected(
                f"The model '{name}' does not exist or you do not have access to it.",
                status=404,
                code="model_not_found",
            )

    def _json(self, value: Any) -> Answer:
        return Answer.json(value, headers=self._headers())

    def _headers(self) -> dict[str, str]:
        return {"x-request-id": f"req_{len(self.seen):06d}"}


class _Job(msgspec.Struct, kw_only=True):
    """A video under way."""

    id: str
    model: str
    prompt: str
    seconds: str
    size: str
    reference: str
    asked: int = 0

    def shown(self, status: str) -> dict[str, Any]:
        """It as the service shows it."""
        done = {"queued": 0, "in_progress": 50}.get(status, 100)
        return {
            "id": self.id, "object": "video", "created_at": CREATED, "model": self.model,
            "prompt": self.prompt, "seconds": self.seconds, "size": self.size, "status": status,
            "progress": done, "error": None,
        }  # fmt: skip


def _read_messages(messages: Sequence[Mapping[str, Any]]) -> tuple[list[seeing.RGB], str]:
    """The pictures and the words of a conversation."""
    pictures: list[seeing.RGB] = []
    words: list[str] = []
    for message in messages:
        if message["role"] not in ("system", "developer", "user", "assistant"):
            raise Rejected(f"messages: unknown role {message['role']}", param="messages")
        content = message["content"]
        parts: list[Any] = content if isinstance(content, list) else [_text_part(content)]
        for part in parts:
            if part["type"] == "text":
                words.append(part["text"])
            elif message["role"] != "user":
                raise Rejected("messages: only users show pictures", param="messages")
            else:
                pictures.append(seeing.open_data_uri(part["image_url"]["url"]))
    return pictures, "\n".join(words)


def _check_continued(body: Mapping[str, Any]) -> None:
    """vLLM's rules for a last message that goes on."""
    if not body.get("continue_final_message"):
        return
    if body.get("add_generation_prompt", True):
        raise Rejected(
            "Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
            param="continue_final_message",
        )
    if body["messages"][-1]["role"] != "assistant":
        raise Rejected("the final message is none to go on with", param="messages")


def _text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _bad_field(exc: ValueError) -> Rejected:
    path, _, _ = str(exc).partition(":")
    code = "unknown_parameter" if "unknown parameter" in str(exc) else "invalid_type"
    return Rejected(str(exc), code=code, param=path)


def _token(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def _tokens_of(picture: seeing.RGB) -> int:
    """One token a patch of 32 x 32 pixels."""
    height, width = picture.shape[:2]
    return int(-(-height // 32) * -(-width // 32))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
