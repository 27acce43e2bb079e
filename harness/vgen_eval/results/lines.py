"""Whether the lines of a run are those that its card was made of: one check for all who read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vgen_eval.engine.calibration import recall
from vgen_eval.engine.plan import Job
from vgen_eval.engine.rescore import reopen
from vgen_eval.errors import NotRunnable, VgenEvalError
from vgen_eval.results.card import ResultCard
from vgen_eval.store.regular import read_regular
from vgen_eval.store.run import RunStore

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["check_counts", "open_lines"]

SMALL = 2**20
"""Bytes of a file whose lines are counted: it takes less than a millisecond."""


def check_counts(path: Path, card: ResultCard, *, scores: bool = True) -> None:
    """NotRunnable where the run has fewer lines than its card was made of.

    `scores`: of these as well as of predictions.
    For those who read cards alone: a look, no proof. Of a file above `SMALL` it is known only
    whether it is there.
    """
    digest, made = card.protocol_info.get("score_digest"), card.counts.ended
    if not digest or made <= 0:
        return
    store = RunStore(path)
    files = {"scores": store.scores_path(digest)} if scores else {}
    for what, file in {**files, "predictions": store.predictions_path}.items():
        try:
            is_small = file.stat().st_size <= SMALL
            found = read_regular(file).count(b"\n") if is_small else made
        except FileNotFoundError:
            raise NotRunnable(
                f"{file}: the {what} that its card was made of are gone", cure=_cure(path, what)
            ) from None
        except OSError as exc:
            raise _unreadable(file, exc) from exc
        if found < made:
            raise NotRunnable(
                f"{file}: {found} of the {made} {what} that its card was made of",
                cure=_cure(path, what),
            )


def open_lines(
    path: Path,
    card: ResultCard,
    catalog: Catalog,
    *,
    data_root: str | None = None,
    with_data: bool = False,
) -> Job:
    """The job of a run whose lines are, one by one, those that its card was made of.

    Without `with_data` the data of the task need not be there. NotRunnable, with the cure, where
    its scores are of other decoders or metrics than those installed, where lines were lost or
    changed since the card was made, and where the run cannot be read.
    """
    store = RunStore(path)
    try:
        job = recall(reopen(path, catalog, data_root=data_root, with_data=with_data), store)
        if job is None or not store.scores_path(job.score_digest).is_file():
            raise NotRunnable(
                f"{path}: its scores are of other decoders or metrics than those installed",
                cure=_cure(path, "scores"),
            )
        is_same = store.content_digest(job.score_digest, job.rows()) == card.content_digest
    except NotRunnable:
        raise
    except VgenEvalError as exc:  # of what run.json names
        raise NotRunnable(f"{path}: {exc.what}", cure=exc.cure) from exc
    except OSError as exc:
        raise _unreadable(path, exc) from exc
    if not is_same:
        raise NotRunnable(
            f"{path}: its card is older than its lines: it went on and has not ended, or they were "
            "changed",
            cure=_cure(path, "predictions"),
        )
    return job


def _cure(path: Path, what: str) -> str:
    again = f"vgen-eval score {path}"
    return again if what == "scores" else f"{again}, or the command that began it"


def _unreadable(path: Path, exc: OSError) -> NotRunnable:
    return NotRunnable(
        f"{exc.filename or path}: cannot be read: {exc.strerror or exc}",
        cure="mend its permissions",
    )
