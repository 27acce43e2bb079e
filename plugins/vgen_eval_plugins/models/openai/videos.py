"""/videos: a job that is submitted, asked after until it is done, and downloaded.

OpenAI closed its own service, and the SDK's methods for it warn and will go; other servers
(vLLM-Omni) speak the protocol, so its requests go through the client's plain get and post.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from vgen_eval.errors import CallError, RateLimited, Refused, Transient
from vgen_eval.types import Output, Request, Usage

from vgen_eval_plugins.models.openai.calling import Line, Reply, date_of, dig, whole
from vgen_eval_plugins.models.openai.images import upload
from vgen_eval_plugins.models.payloads import ImageFormat, no_video
from vgen_eval_plugins.models.service import NO_CREDIT, POLICY, status_error, words

__all__ = ["ARGUMENTS", "CALL", "OURS", "Jobs", "ask_video", "make_video"]

CALL = "videos.create"
ARGUMENTS = frozenset({"seconds", "size"})
"""Of the call, in the API reference; others go into the extra body."""
OURS: Mapping[str, str] = {
    "prompt": "the prompt of the task",
    "input_reference": "the picture of the sample",
    "model": "options.model",
}
STREAMED = {"X-Stainless-Raw-Response": "stream"}
"""What the SDK's own `with_streaming_response` adds to a request."""
FIRST_POLL_S = 0.25
LONGEST_POLL_S = 15.0
GROWTH = 1.5
DOWNLOADS = 5
OVER = ("completed", "succeeded", "failed", "cancelled", "canceled", "expired")


class Jobs:
    """The three requests of the protocol, as `Line.ask` takes them."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def create(
        self, *, timeout: float | None, extra_headers: Mapping[str, Any], file: Any = None,
        **fields: Any,
    ) -> contextlib.AbstractContextManager[Any]:  # fmt: skip
        """Submits a job: a form, with the picture as `input_reference` where there is one."""
        headers = {**extra_headers, "Content-Type": "multipart/form-data"}
        files = [] if file is None else [("input_reference", file)]
        options = {"headers": headers | STREAMED, "timeout": timeout}
        return _closing(
            lambda: self._client.post(
                "/videos", cast_to=object, body=fields, files=files, options=options
            )
        )

    def retrieve(
        self, *, job_id: str, timeout: float | None, extra_headers: Mapping[str, Any],
        content: bool = False,
    ) -> contextlib.AbstractContextManager[Any]:  # fmt: skip
        """How a job stands; `content`: the video itself."""
        path = f"/videos/{quote(job_id, safe='')}" + ("/content" if content else "")
        options = {"headers": {**extra_headers, **STREAMED}, "timeout": timeout}
        return _closing(lambda: self._client.get(path, cast_to=object, options=options))


@contextlib.contextmanager
def _closing(request: Callable[[], Any]) -> Iterator[Any]:
    response = request()
    try:
        yield response
    finally:
        response.close()


def ask_video(request: Request, *, image_format: ImageFormat) -> dict[str, Any]:
    """The form of a new job."""
    files = upload(request, image_format)
    if len(files) > 1:
        raise CallError(f"a video starts from one picture, and this request has {len(files)}")
    prompt = request.prompt.encode("utf-8", "replace").decode()
    return {"prompt": prompt} | ({"file": files[0]} if files else {})


def make_video(line: Line, jobs: Jobs, request: Request, arguments: dict[str, Any]) -> Output:
    """The video of one job, made within the call's time.

    TimeoutError while the job is still under way; Refused where the provider declined, CallError
    where the job failed.
    """
    deadline = line.deadline()
    body, reply = line.ask_json(jobs.create, deadline=deadline, **arguments)
    job = dig(body, "id")
    if not isinstance(job, str) or not job:
        raise CallError(f"{line.service.host}: a video job without an id")
    body = _wait(line, jobs, job, body, deadline=deadline)
    usage = _usage(body)
    if dig(body, "status") not in ("completed", "succeeded"):
        raise _fault(line, body, usage=usage, request_id=reply.request_id)
    data = _download(line, jobs, job, deadline=deadline).data
    reason = no_video(data)
    model = dig(body, "model")
    return Output(
        id=request.id,
        answer=None if reason else data,
        reason=reason,
        usage=usage,
        request_id=reply.request_id or job,
        reported_model=model if isinstance(model, str) else None,
        reported_date=date_of(dig(body, "created_at")),
    )


def _wait(line: Line, jobs: Jobs, job: str, body: Any, *, deadline: float | None) -> Any:
    """The job once it is over, asked for at growing intervals.

    What may pass is sat out here: the engine would submit the job, and pay for it, anew.
    """
    pause = FIRST_POLL_S
    while dig(body, "status") not in OVER:
        wait = pause
        try:
            body, _ = line.ask_json(jobs.retrieve, deadline=deadline, job=True, job_id=job)
        except RateLimited as exc:
            wait = max(pause, exc.retry_after or 0.0)
        except Transient:
            pass
        except TimeoutError:
            raise _still_running(line, job, body) from None
        if dig(body, "status") in OVER:
            break
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise _still_running(line, job, body)
        time.sleep(wait if left is None else min(wait, left))
        pause = min(pause * GROWTH, LONGEST_POLL_S)
    return body


def _still_running(line: Line, job: str, body: Any) -> TimeoutError:
    status = words(str(dig(body, "status")), longest=40)
    return TimeoutError(f"{line.service.host}: job {job} still {status} after {line.seconds:g} s")


def _download(line: Line, jobs: Jobs, job: str, *, deadline: float | None) -> Reply:
    for at in range(DOWNLOADS):
        try:
            return line.ask(jobs.retrieve, deadline=deadline, job=True, job_id=job, content=True)
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
    return None if seconds is None else Usage(video_seconds=float(seconds))
