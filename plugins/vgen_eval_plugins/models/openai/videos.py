"""/videos: a job that is submitted, asked after until it is done, and downloaded.

OpenAI closed its own service, and the SDK's methods for it warn and will go; other servers
(vLLM-Omni) speak the protocol, so its requests go through the client's plain get and post.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from vgen_eval.errors import CallError, RateLimited, Refused, Transient
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.openai.faults import read_fault, request_id_of
from vgen_eval_plugins.models.openai.images import upload
from vgen_eval_plugins.models.payloads import ImageFormat, no_video
from vgen_eval_plugins.models.replies import billed, date_at, dig, read_object, told, whole, word
from vgen_eval_plugins.models.service import NO_CREDIT, POLICY, status_error, words
from vgen_eval_plugins.models.service_adapter import prompt_of
from vgen_eval_plugins.models.wire import Line, Reply

__all__ = ["ARGUMENTS", "CALL", "OURS", "Jobs", "ask_video", "make_video"]

CALL = "videos.create"
ARGUMENTS = frozenset({"seconds", "size"})
"""Of the call, in the API reference; others go into the extra body."""
OURS: Mapping[str, str] = {
    "prompt": "the prompt of the task",
    "input_reference": "the picture of the sample",
    "model": "options.model",
}
RAW = {"X-Stainless-Raw-Response": "true"}
"""What the SDK's own `with_raw_response` adds to a request: the answer is left as it came."""
FIRST_POLL_S = 0.25
LONGEST_POLL_S = 15.0
GROWTH = 1.5
DOWNLOADS = 5
LONGEST_WAIT_S = 600.0
"""However long a service asks to wait."""
DONE = ("completed", "succeeded")
OVER = (*DONE, "failed", "cancelled", "canceled", "expired")

_ID = re.compile(r"(?!\.+$)[A-Za-z0-9._~:=+-]{1,512}")
"""A job's id becomes a part of paths, and must not lead out of them."""


class Jobs:
    """The three requests of the protocol, each within what is left of a job's time."""

    def __init__(self, client: Any, line: Line, *, headers: Mapping[str, Any]) -> None:
        """`client`: the SDK's; `headers`: further ones of each request."""
        self.line = line
        self.deadline = line.deadline()
        self._client = client
        self._headers = {**headers, **RAW}

    def create(self, *, file: Any = None, **fields: Any) -> Reply:
        """Submits a job: a form, with the picture as `input_reference` where there is one."""
        files = [] if file is None else [("input_reference", file)]
        options = self._options({"Content-Type": "multipart/form-data"})
        return self._ask(
            lambda: self._client.post(
                "/videos", cast_to=object, body=fields, files=files, options=options
            ),
            job=False,
        )

    def retrieve(self, job: str, *, content: bool = False) -> Reply:
        """How a job stands; `content`: the video itself."""
        path = f"/videos/{job}" + ("/content" if content else "")
        return self._ask(
            lambda: self._client.get(path, cast_to=object, options=self._options({})), job=True
        )

    def _options(self, headers: Mapping[str, str]) -> dict[str, Any]:
        return {"headers": {**self._headers, **headers}, "timeout": self.line.left(self.deadline)}

    def _ask(self, call: Callable[[], Any], *, job: bool) -> Reply:
        service = self.line.service
        return self.line.ask(call, lambda reply: read_fault(reply, service=service, job=job))


def ask_video(request: Request, *, image_format: ImageFormat) -> dict[str, Any]:
    """The form of a new job."""
    files = upload(request, image_format)
    if len(files) > 1:
        raise CallError(f"a video starts from one picture, and this request has {len(files)}")
    return {"prompt": prompt_of(request)} | ({"file": files[0]} if files else {})


def make_video(jobs: Jobs, request: Request, arguments: dict[str, Any]) -> Output:
    """The video of one job, made within the call's time.

    TimeoutError while the job is still under way; Refused where the provider declined, CallError
    where the job failed.
    """
    host = jobs.line.service.host
    reply = jobs.create(**arguments)
    body: Any = read_object(reply.text, host=host)
    job = dig(body, "id")
    if not isinstance(job, str) or not _ID.fullmatch(job):
        raise CallError(f"{host}: a video job without an id, or with one that is none")
    body = _wait(jobs, job, body)
    usage = _usage(body)
    if dig(body, "status") not in DONE:
        raise _fault(jobs.line, body, usage=usage, request_id=request_id_of(reply))
    with billed(usage, request_id_of(reply)):
        data = _download(jobs, job).data
    reason = no_video(data)
    return Output(
        id=request.id,
        answer=None if reason else data,
        reason=reason,
        usage=usage,
        request_id=request_id_of(reply) or job,
        reported_model=word(dig(body, "model")),
        reported_date=date_at(dig(body, "created_at")),
    )


def _wait(jobs: Jobs, job: str, body: Any) -> Any:
    """The job once it is over, asked for at growing intervals.

    What may pass is sat out here: the engine would submit the job, and pay for it, anew.
    """
    pause = FIRST_POLL_S
    while dig(body, "status") not in OVER:
        wait = pause
        try:
            body = read_object(jobs.retrieve(job).text, host=jobs.line.service.host)
        except RateLimited as exc:
            wait = max(pause, exc.retry_after or 0.0)
        except Transient:
            pass
        except TimeoutError:
            raise _still_running(jobs.line, job, body) from None
        if dig(body, "status") in OVER:
            break
        left = None if jobs.deadline is None else jobs.deadline - time.monotonic()
        if left is not None and left <= 0:
            raise _still_running(jobs.line, job, body)
        time.sleep(min(wait, LONGEST_WAIT_S) if left is None else min(wait, left))
        pause = min(pause * GROWTH, LONGEST_POLL_S)
    return body


def _still_running(line: Line, job: str, body: Any) -> TimeoutError:
    status = words(str(dig(body, "status")), longest=40)
    return TimeoutError(f"{line.service.host}: job {job} still {status} after {line.seconds:g} s")


def _download(jobs: Jobs, job: str) -> Reply:
    for at in range(DOWNLOADS):
        try:
            return jobs.retrieve(job, content=True)
        except (RateLimited, Transient):
            if at == DOWNLOADS - 1:
                raise
        time.sleep(FIRST_POLL_S * GROWTH**at)
    raise AssertionError("unreachable")


def _fault(line: Line, body: Any, *, usage: Usage | None, request_id: str | None) -> Exception:
    """The error of a job that ended without a video."""
    status = dig(body, "status")
    code, message = dig(body, "error", "code"), dig(body, "error", "message")
    said = words(message) if isinstance(message, str) else "no reason given"
    known = code.lower() if isinstance(code, str) else ""
    if known in POLICY or "moderation" in known or "policy" in known:
        return Refused(said, usage=usage, request_id=request_id)
    if known in NO_CREDIT:
        return status_error(402, said, service=line.service)
    what = f"{line.service.host}: the video job {status}: {said}"
    return CallError(what, usage=usage, request_id=request_id)


def _usage(body: Any) -> Usage | None:
    seconds = whole(dig(body, "seconds"))
    return told(Usage(video_seconds=None if seconds is None else float(seconds)))
