"""Checks of a model: what it answers, and that nothing but the request decides it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from vgen_eval.answers import unpack
from vgen_eval.errors import CallError, RateLimited, Refused, Transient, Undecodable, VgenEvalError
from vgen_eval.testing import toys
from vgen_eval.testing.check_model_life import (
    check_close_releases,
    check_no_secret,
    check_pickling,
    check_quiet,
    check_reload,
)
from vgen_eval.testing.cures import OUTPUT, cure_of
from vgen_eval.testing.model_bench import BATCH, ModelBench, keep
from vgen_eval.testing.outcome import Failed, Skipped, Unavailable, tell
from vgen_eval.types import Output, Request
from vgen_eval.wording import plural

__all__ = [
    "Bench",
    "check_close_releases",
    "check_no_secret",
    "check_pickling",
    "check_quiet",
    "check_reload",
]

Bench = ModelBench
MEND = (
    "mend that line; what the model cannot do is told with Refused, what may pass with Transient "
    "(vgen_eval.errors)"
)
NOTHING = (
    "answer ordinary pictures (48x64) and prompts: what answers nothing cannot be tried; take the "
    "form off the card, or let a stub answer (BaseAdapter.stub)"
)
SLOW_S = 0.75
"""Seconds of an answer from which fewer are asked for."""
NO_PICTURE = "raise Refused, or answer None, where request.images is empty"


def check_loads(bench: Bench) -> str:
    """Is it built and loaded, and are its limits sound?"""
    adapter = bench.adapter
    for name in ("max_batch", "concurrency"):
        value = getattr(adapter, name, None)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise Failed(f"{name} is {value!r}; a whole number from 1 wanted")
    if not isinstance(getattr(adapter, "deterministic", None), bool):
        raise Failed(f"deterministic is {getattr(adapter, 'deterministic', None)!r}; a bool wanted")
    if bench.stub is not None:
        return "with the options of its stub" if isinstance(bench.stub, Mapping) else "on its stub"
    return "" if bench.card.checkpoint is None else "as its card says: it names no stub"


def check_answers(bench: Bench) -> str:
    """Is an ordinary request of each form answered?"""
    slowest = 0.0
    for form in bench.forms:
        declined: dict[str, str] = {}
        for name in toys.PICTURES:
            start = time.perf_counter()
            request = bench.request(form, name)
            try:
                outputs = bench.ask([request])
            except Failed as exc:
                raise Failed(f"form {form}: {exc.detail}", cure=exc.cure) from exc
            except CallError as exc:
                if bench.declines(exc):
                    declined[name] = tell(exc)
                    continue
                bench.network_fault = exc if bench.tried else None
                raise Unavailable(f"form {form}: it declines, {tell(exc)}") from exc
            except Exception as exc:
                bench.blame_network(exc)
                raise _fault(bench, form, request, exc) from exc
            if name != toys.PICTURES[0]:  # the first call may compile
                slowest = max(slowest, time.perf_counter() - start)
            for output in outputs:
                if not isinstance(output, Output):
                    given = type(output).__name__
                    raise Failed(f"form {form}: generate gave {given}, no Output", cure=OUTPUT)
            if not outputs:
                raise Failed(f"form {form}, sample '{request.sample}': no output", cure=OUTPUT)
            bench.has_answered = True
        bench.note_declined(form, declined)
    if not bench.has_answered:
        raise Skipped("it declines every request: see forms_honoured")
    if slowest < SLOW_S:
        return ""
    bench.pictures = toys.PICTURES[:2]
    return f"up to {slowest:.1f} s each: the checks that follow ask about two pictures"


def _fault(bench: Bench, form: str, request: Request, exc: Exception) -> Failed:
    cure = cure_of(exc, package=bench.plugin.package) or MEND
    return Failed(f"form {form}, sample '{request.sample}': raised {tell(exc)}", cure=cure)


def check_offline(bench: Bench) -> str:
    """Does it do without a network, or say that it cannot?"""
    if bench.is_online:
        raise Skipped("its card needs a key: it is there to go online")
    if bench.network_fault is None:
        if not bench.has_answered:
            raise Skipped("needs answers, see there")
        return f"tried {', '.join(sorted(set(bench.tried)))}, and went on" if bench.tried else ""
    if isinstance(bench.network_fault, VgenEvalError):
        return f"it says so: {tell(bench.network_fault)}"
    raise Failed(f"it tried {bench.tried[0]} and raised {tell(bench.network_fault)}")


def check_forms_honoured(bench: Bench) -> str:
    """Is each answer of the form that was asked for, and is there one?"""
    told = []
    for form in bench.forms:
        declined = bench.declined(form)
        names = [name for name in bench.pictures if name not in declined]
        outputs = [out for name in names for out in bench.ask([bench.request(form, name)])]
        said = Counter(declined.values())
        said["None"] = sum(output.answer is None for output in outputs)
        if said.total() >= len(declined) + len(outputs):
            reasons = {output.reason for output in outputs if output.answer is None}
            if not declined and reasons and None not in reasons:
                told.append(
                    f"form {form}: no such picture can be answered: {min(map(str, reasons))}"
                )
                continue
            raise Failed(_no_answer(form, said), cure=NOTHING)
        if said.total():
            told.append(f"form {form}: {said.total()} of {len(names) + len(declined)} not answered")
        for output in outputs:
            kept = keep(form, output.answer)
            if kept is None:
                continue
            try:
                unpack(form, value=kept.value, data=kept.data)
            except Undecodable as exc:
                raise Failed(f"form {form}, '{output.id}': {exc.what}") from exc
    return "; ".join(told)


def _no_answer(form: str, said: Counter[str]) -> str:
    words = "; ".join(f"{count} times {text}" for text, count in said.most_common(3) if count)
    return f"form {form}: {plural(said.total(), 'request')}, and no answer to any: {words}"


def check_ids_echoed(bench: Bench) -> None:
    """Does each request get one output, under its id?"""
    size = min(bench.adapter.max_batch, BATCH)
    for form in bench.forms:
        for requests in _batches(bench.requests(form), size):
            wanted = [request.id for request in requests]
            seen = [output.id for output in bench.ask(requests)]
            for name in seen:
                if name not in wanted:
                    raise Failed(f"form {form}: an output carries '{name}', which was not asked")
                if seen.count(name) > 1:
                    raise Failed(f"form {form}: '{name}' was answered {seen.count(name)} times")
            missing = [name for name in wanted if name not in seen]
            if missing:
                raise Failed(f"form {form}: no output for '{missing[0]}' in a call of {size}")


def _batches(requests: list[Request], size: int) -> list[list[Request]]:
    return [requests[at : at + size] for at in range(0, len(requests), size)]


def _refuse_undetermined(bench: Bench) -> None:
    if not bench.adapter.deterministic:
        raise Skipped("it declares deterministic = False")


def check_determinism(bench: Bench) -> None:
    """Does the same request give the same bytes?"""
    _refuse_undetermined(bench)
    for form in bench.forms:
        bench.compare(form, bench.alone(form), bench.alone(form), "two equal requests")


def check_seed_used(bench: Bench) -> str:
    """Does the seed alone decide what is drawn?"""
    _refuse_undetermined(bench)
    matters = False
    for form in bench.forms:
        name = bench.requests(form)[0].sample
        answers = [
            bench.digests(form, [[bench.request(form, name, seed=seed)]]) for seed in (0, 1, 0)
        ]
        bench.compare(form, answers[0], answers[2], "seed 0 before and after seed 1")
        matters = matters or answers[0] != answers[1]
    return "its answers vary with the seed" if matters else "its answers do not vary with the seed"


def check_order_invariance(bench: Bench) -> None:
    """Do answers hang on the order of the requests?"""
    _refuse_undetermined(bench)
    size = min(bench.adapter.max_batch, BATCH)
    for form in bench.forms:
        forth = bench.digests(form, _batches(bench.requests(form), size))
        back = bench.digests(form, _batches(bench.requests(form)[::-1], size))
        bench.compare(form, forth, back, "one order of the requests and the reverse")


def check_batch_invariance(bench: Bench) -> None:
    """Do answers hang on what else is in the call?"""
    _refuse_undetermined(bench)
    size = min(bench.adapter.max_batch, BATCH)
    if size == 1:
        raise Skipped("max_batch is 1")
    for form in bench.forms:
        together = bench.digests(form, _batches(bench.requests(form), size))
        bench.compare(form, bench.alone(form), together, f"batch 1 and {size}")


def check_concurrency(bench: Bench) -> str:
    """Do two calls at once disturb each other?"""
    if bench.adapter.concurrency == 1:
        raise Skipped("concurrency is 1")
    for form in bench.forms:
        alone = bench.alone(form) if bench.adapter.deterministic else {}
        found: list[dict[str, Any]] = [{}, {}]
        faults: list[BaseException] = []
        requests = bench.requests(form)

        def work(at: int, form: Any = form, found: Any = found, requests: Any = requests) -> None:
            try:
                for request in requests[at::2] * 3:
                    found[at] |= bench.digests(form, [[request]])
            except BaseException as exc:
                faults.append(exc)  # noqa: B023

        threads = [threading.Thread(target=work, args=(at,)) for at in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise Failed(f"form {form}: two calls at once raised {tell(faults[0])}")
        if bench.adapter.deterministic:
            bench.compare(form, alone, found[0] | found[1], "one call at a time and two at once")
    return ""


def _answer(bench: Bench, what: str, request: Request, *, cure: str = "") -> None:
    """An answer, None or an error of ours; Failed for anything else."""
    try:
        outputs = bench.ask([request])
    except VgenEvalError:
        return
    except Exception as exc:
        cure = cure_of(exc, package=bench.plugin.package) or cure
        raise Failed(f"{what}: raised {tell(exc)}", cure=cure) from exc
    for output in outputs:
        try:
            keep(request.form, output.answer)
        except Failed as exc:
            raise Failed(f"{what}: {exc.detail}", cure=exc.cure or cure) from exc


def check_picture_kinds(bench: Bench) -> None:
    """Are unusual pictures handled?"""
    for form in bench.forms:
        for name in toys.ODD_PICTURES:
            _answer(bench, f"form {form}, picture {name}", bench.request(form, name))
        several = (toys.picture("disc"), toys.picture("odd 37x53"), toys.picture("noise"))
        request = bench.request(form, "disc", images=several)
        _answer(bench, f"form {form}, three pictures in a request", request)


def check_failure_kinds(bench: Bench) -> None:
    """Are odd prompts and missing pictures handled?"""
    for form in bench.forms[:1]:
        for kind, text in toys.ODD_PROMPTS.items():
            request = bench.request(form, "disc", prompt=text)
            _answer(bench, f"form {form}, prompt with {kind}", request)
    for form in bench.forms:
        request = bench.request(form, "disc", images=())
        _answer(bench, f"form {form}, no picture", request, cure=NO_PICTURE)


def check_inputs_untouched(bench: Bench) -> None:
    """Is a request what it was?"""
    for form in bench.forms:
        for request in bench.requests(form):
            before = [image.array.copy() for image in request.images]
            words = (dict(request.fields), dict(request.settings), request.prompt)
            try:
                bench.ask([request])
            except (Refused, Transient, RateLimited):
                continue
            for image, array in zip(request.images, before, strict=True):
                if image.array.shape != array.shape or (image.array != array).any():
                    raise Failed(f"form {form}: the picture '{request.sample}' was painted on")
            if words != (dict(request.fields), dict(request.settings), request.prompt):
                raise Failed(f"form {form}: fields or settings of '{request.sample}' changed")


def check_upright(bench: Bench) -> None:
    """Do pictures lie as the input lies?"""
    if "image" not in bench.forms:
        raise Skipped("it gives no pictures")
    for request in bench.requests("image"):
        for output in bench.ask([request]):
            kept = keep("image", output.answer)
            if kept is None:
                continue
            height, width = unpack("image", data=kept.data).shape[:2]
            shown = request.images[0]
            if (height, width) == (shown.width, shown.height):
                raise Failed(
                    f"sample '{request.sample}' is {shown.height}x{shown.width} and its answer "
                    f"{height}x{width}: on its side"
                )
