"""The check of a model card whose adapter another card's checks stand for: is it taken?"""

from __future__ import annotations

from vgen_eval.errors import CallError, UsageError
from vgen_eval.testing.cures import cure_of
from vgen_eval.testing.model_bench import ModelBench
from vgen_eval.testing.outcome import Failed, Unavailable, tell
from vgen_eval.testing.toys import PICTURES

__all__ = ["Bench"]


class Bench(ModelBench):
    """A model card under its adapter's stub."""


def check_accepted(bench: Bench) -> str:
    """Is it loaded as its card says, and asked once in each form with its settings?"""
    shown = f"as {bench.subject.like}"
    try:
        _ = bench.adapter
    except UsageError as exc:
        raise _refused(exc) from exc
    for form in bench.forms:
        try:
            bench.ask([bench.request(form, PICTURES[0])])
        except UsageError as exc:
            raise _refused(exc) from exc
        except CallError as exc:
            if not bench.declines(exc):
                raise Unavailable(f"form {form}: {tell(exc)}") from exc
        except Exception as exc:
            cure = cure_of(exc, package=bench.plugin.package)
            raise Failed(f"form {form}: raised {tell(exc)}", cure=cure) from exc
    return shown


def _refused(exc: UsageError) -> Failed:
    return Failed(tell(exc), cure=exc.cure or "")
