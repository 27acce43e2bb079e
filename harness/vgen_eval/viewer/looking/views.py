"""The views that a run's metrics ask for, and their versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vgen_eval.distributions import home_of
from vgen_eval.engine.plan import Job
from vgen_eval.errors import UsageError
from vgen_eval.viewer.fallback import FallbackView
from vgen_eval.viewer.looking.reasons import ANYTHING

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Component

__all__ = ["find_view", "measured_by", "versions_of_views"]


def measured_by(job: Job) -> tuple[str, ...]:
    """What its metrics measure, each once, in their order."""
    named = [getattr(metric.metric, "measures", None) for metric in job.task.metrics]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str) and name))


def find_view(job: Job, catalog: Catalog, measures: str) -> Component:
    """The view of it; UsageError where nobody has one, and whatever its plugin raises."""
    distribution = job.task.ref.distribution
    return catalog.component("view", measures, home=home_of(distribution))


def versions_of_views(job: Job, catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """Measure -> who draws it: name, the distribution's version, its own; "" -> the fallback's."""
    found: dict[str, tuple[str, ...]] = {"": (str(FallbackView.version),)}
    for measures in measured_by(job):
        try:
            view = find_view(job, catalog, measures)
        except UsageError:  # the fallback draws it
            continue
        except ANYTHING as exc:  # plugins are anyone's code
            found[measures] = (type(exc).__name__,)
            continue
        version = str(getattr(view.obj, "version", ""))
        found[measures] = (view.qualified, view.dist_version, version)
    return found
