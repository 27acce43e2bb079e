"""From an attempt's lines to what is shown of it; what fails becomes a notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.answers import clean, unpack
from vgen_eval.cards.records import ModelCard
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import Prepared, prepare
from vgen_eval.engine.scorer import pixels_digest, score_key
from vgen_eval.errors import Undecodable, UsageError
from vgen_eval.imaging import Image
from vgen_eval.store.regular import open_regular
from vgen_eval.types import FORMS, STATUS_GROUP, AnswerForm, Prediction, Sample, Scene
from vgen_eval.viewer.fallback import FallbackView
from vgen_eval.viewer.looking.answers import TITLE, answer_pane, geometry_of, place_of
from vgen_eval.viewer.looking.facts import asked_of, facts_of
from vgen_eval.viewer.looking.opened import Lines, Opened
from vgen_eval.viewer.looking.panes import WHOLE, Placed, fault_of, show_panes
from vgen_eval.viewer.looking.reasons import ANYTHING, say
from vgen_eval.viewer.looking.records import Frame, Look
from vgen_eval.viewer.looking.sizes import MOST_SHOWN, size_of
from vgen_eval.viewer.looking.views import find_view, measured_by
from vgen_eval.viewing import Film, Pane, Picture, Seen, View, Words

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["build_look"]


MOST_FOLLOWED = 600
"""Frames of a scored clip, above which it is not decoded again to be looked at."""
MOST_READ = 2_000_000
"""Letters of a scored answer, above which what is read off it is not read again."""
MOST_PANES = 64
"""Of one view."""
_CHANGED = "file changed since it was scored"


class Kept(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The answer of an attempt as it can be had."""

    form: AnswerForm
    answer: Any = None
    """As decoders take it; an Undecodable for bytes that cannot be read; None: there is none."""
    raw: bytes | None = None
    lost: str = ""
    """Why there is none, where there was one: its file is gone or altered."""
    is_altered: bool = False
    """Is its file there, with other bytes?"""
    large: str = ""
    """Its size, where it is too large to be decoded for a page."""


class Read(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What an answer was read as."""

    prediction: Prediction | None = None
    substitute: bool = False


def build_look(
    opened: Opened, catalog: Catalog, sample_id: str, attempt: int, lines: Lines
) -> Look:
    """The attempt with its panes; raises nothing that data, answers or plugins can cause."""
    given = opened.given
    notices = [*given.notices, *lines.notices]
    line, score = lines.line, lines.score
    sample, prepared = _load(opened, sample_id, notices)
    kept = _keep(opened, line, notices)
    scene = prepared.scene if prepared is not None else None
    placed: list[Placed] = [] if sample is None else list(_inputs(sample))
    if line is not None:
        placed += _answer(opened, line, kept, scene, notices)
        _check_picture(line, prepared, notices)
    read = Read()
    if given.job is not None and line is not None and scene is not None:
        if score is not None and (count := _frames_of(placed)) > MOST_FOLLOWED:
            notices.append(
                f"the clip has {count:,} frames: for a page it is not gone through again; what was "
                "found in it stands in the score, without its times"
            )
        elif score is not None and isinstance(kept.answer, str) and len(kept.answer) > MOST_READ:
            notices.append(
                f"the answer has {len(kept.answer):,} letters: for a page it is not gone through "
                "again; what was read off it stands in the score"
            )
        else:
            read = _read(given.job, line, kept, scene, score, notices)
        _check_score(given.job, line, score, read, notices)
    seen = _seen(opened, sample_id, sample, scene, kept, read, lines)
    is_seen = True
    if sample is not None and scene is not None:
        panes, is_seen = _view(given.job, catalog, seen, notices)
        size: tuple[int, int] | None = scene.size
    else:
        panes, size = _panes_of(FallbackView(), "", seen, notices), None
    placed += [Placed(pane, _frame_of(pane, size)) for pane in panes]
    return Look(
        run=opened.store.path,
        sample=sample_id,
        attempt=attempt,
        attempts=opened.rows.attempts,
        panes=show_panes(placed, size=size),
        notices=tuple(dict.fromkeys(notices)),
        prompt=prepared.prompt if prepared is not None and prepared.prompt else None,
        line=line,
        score=score,
        judgements=lines.replies,
        facts=facts_of(opened.record, lines, kept.form)
        | ({} if sample is None else asked_of(sample.fields)),
        lost=kept.lost and ("changed since scoring" if kept.is_altered else "file missing"),
        complete=given.is_whole and sample is not None and is_seen and not kept.lost,
    )


def tell_lines(opened: Opened, sample_id: str, attempt: int, lines: Lines, notice: str) -> Look:
    """The attempt without a pane: what its lines say, and why no more is shown."""
    return Look(
        run=opened.store.path,
        sample=sample_id,
        attempt=attempt,
        attempts=opened.rows.attempts,
        notices=(notice, *lines.notices),
        line=lines.line,
        score=lines.score,
        judgements=lines.replies,
        facts=facts_of(opened.record, lines, _form_of(opened, lines.line)),
        complete=False,
    )


def _form_of(opened: Opened, line: Mapping[str, Any] | None) -> Any:
    form = (line or {}).get("form", opened.record.get("answer"))
    return form if form in FORMS else "text"


def _frames_of(placed: Sequence[Placed]) -> int:
    return max(
        (p.pane.body.clip.frames for p in placed if isinstance(p.pane.body, Film)), default=0
    )


def _load(
    opened: Opened, sample_id: str, notices: list[str]
) -> tuple[Sample | None, Prepared | None]:
    """The sample with its truth, and as the model saw it."""
    given = opened.given
    item = given.items.get(sample_id)
    if given.job is None or not given.has_data or item is None:
        return None, None
    # readers and decoders are anyone's code
    try:
        sample = opened.samples.load(given.job, item)
    except ANYTHING as exc:
        notices.append(f"its input and truth cannot be loaded: {say(exc)}")
        return None, None
    try:
        return sample, prepare(_asking_nothing(given.job), sample)
    except ANYTHING as exc:
        notices.append(f"it cannot be shown as the model saw it: {say(exc)}")
        return sample, None


def _asking_nothing(job: Job) -> Job:
    """The job without what only a ceiling or a floor is given: an ideal answer takes time."""
    card: ModelCard = msgspec.structs.replace(job.model.card, role="model")
    return msgspec.structs.replace(job, model=msgspec.structs.replace(job.model, card=card))


def _keep(opened: Opened, line: Mapping[str, Any] | None, notices: list[str]) -> Kept:
    """The answer of the line, its bytes checked."""
    form = _form_of(opened, line)
    answer = (line or {}).get("answer")
    if line is None or line.get("status") != "ok" or not isinstance(answer, Mapping):
        return Kept(form=form)
    if "file" in answer:
        raw = opened.store.get(answer) if isinstance(answer.get("sha256"), str) else None
        if raw is None:
            notices.append(_lost(opened, answer))
            is_altered = notices[-1].startswith(_CHANGED)
            return Kept(form=form, lost=notices[-1], is_altered=is_altered)
    else:
        raw = None
    size = size_of(raw) if form == "image" and raw is not None else None
    if size is not None and size[0] * size[1] > MOST_SHOWN:
        notices.append(
            f"the answer is too large to show, {size[0]:,} x {size[1]:,} pixels, so that what is "
            "read off it is not shown either: open the raw file; the numbers stay"
        )
        return Kept(form=form, large=f"{size[0]:,} x {size[1]:,}")
    try:
        keeper = opened.given.keeper
        if keeper is not None:
            return Kept(form=form, answer=keeper.read(line), raw=raw)
        return Kept(form=form, answer=unpack(form, value=answer.get("value"), data=raw), raw=raw)
    except Undecodable as exc:
        return Kept(form=form, answer=exc, raw=raw)
    except (KeyError, TypeError, ValueError, MemoryError) as exc:  # a line that somebody changed
        notices.append(f"its answer cannot be read: {say(exc)}")
        return Kept(form=form, raw=raw, lost=notices[-1])


def _lost(opened: Opened, answer: Mapping[str, Any]) -> str:
    name, digest = clean(str(answer.get("file"))), clean(str(answer.get("sha256")))
    try:
        with open_regular(opened.store.path / "outputs" / name, within=opened.root):
            pass
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as exc:
        return f"file not read: outputs/{name} {getattr(exc, 'strerror', None) or exc}"
    try:
        is_altered = opened.store.altered(answer) is not None
    except (KeyError, OSError, TypeError, ValueError):
        is_altered = False
    if is_altered:
        return f"{_CHANGED}: outputs/{name}, its sha256 should be {digest}"
    return f"file missing: outputs/{name} is gone, or was not kept; the numbers stay"


def _inputs(sample: Sample) -> Iterator[Placed]:
    for at, image in enumerate(sample.images):
        title = "Input" if len(sample.images) == 1 else f"Input {at + 1}"
        first = sample.images[0]
        is_alike = (image.height, image.width) == (first.height, first.width)
        pane = Pane(role="input", title=title, body=Picture(image=image))
        yield Placed(pane, WHOLE if is_alike else None)


def _answer(
    opened: Opened, line: Mapping[str, Any], kept: Kept, scene: Scene | None, notices: list[str]
) -> Iterator[Placed]:
    if kept.lost:
        words, _, reason = kept.lost.partition(": ")
        body = Words(text=words, facts=(("reason", reason),))
        yield Placed(Pane(role="answer", title=TITLE, body=body), None)
        return
    if kept.large:
        words = f"too large to show: {kept.large}; open the raw file"
        yield Placed(Pane(role="answer", title=TITLE, body=Words(text=words)), None)
        return
    answer = kept.answer
    job = opened.given.job
    if kept.form == "image" and kept.raw is not None and job is not None:
        shows = job.codec.answer
        if shows.reencode is not None:  # what the decoder takes is not what the model gave
            try:
                answer = unpack("image", data=kept.raw, background=shows.background)
            except Undecodable as exc:
                answer = exc
    pane, why = answer_pane(kept.form, line, answer, kept.raw)
    if why:
        notices.append(why)
    if pane is None:
        return
    frame: Frame | None = None
    if isinstance(pane.body, Picture):
        image = pane.body.image
        fit = "stretch" if job is None else job.codec.answer.fit
        geometry = geometry_of(line, fit) if scene is None else scene.geometry
        frame, note = place_of((image.height, image.width), geometry)
        pane = msgspec.structs.replace(pane, note=note)
    yield Placed(pane, frame)


def _check_picture(line: Mapping[str, Any], prepared: Prepared | None, notices: list[str]) -> None:
    """A notice where the picture that lies here is not the one that the model saw."""
    told = line.get("geometry")
    saw = told.get("sha256") if isinstance(told, Mapping) else None
    if prepared is None or not isinstance(saw, list):
        return
    if saw != [image.sha256 for image, _ in prepared.shown]:
        notices.append(
            "the input that lies here is not the one that the model saw: the data has changed "
            "since, or its reader"
        )


def _read(
    job: Job, line: Mapping[str, Any], kept: Kept, scene: Scene,
    score: Mapping[str, Any] | None, notices: list[str],
) -> Read:  # fmt: skip
    """What is read off the answer, as it is scored; without a judge, whose word is in the score."""
    group = STATUS_GROUP.get(line.get("status", ""))
    if group not in ("answered", "model_failure") or kept.lost or kept.large:
        return Read()
    # decoders are anyone's code
    try:
        if group == "answered":
            try:
                if isinstance(kept.answer, Undecodable):
                    raise kept.answer
                found = job.codec.decoder.decode(kept.answer, scene)
                is_judged = job.codec.judge is not None
                told = bool((score or {}).get("substitute")) if is_judged else False
                return Read(prediction=found, substitute=told)
            except Undecodable as exc:
                if (score or {}).get("status") == "ok":
                    notices.append(f"the answer cannot be read any more: {say(exc)}")
        if job.task.failure is None:
            return Read()
        return Read(prediction=job.task.failure.decode(None, scene), substitute=True)
    except ANYTHING as exc:
        notices.append(f"what was read off the answer cannot be shown: {say(exc)}")
        return Read()


def _check_score(
    job: Job, line: Mapping[str, Any], score: Mapping[str, Any] | None, read: Read,
    notices: list[str],
) -> None:  # fmt: skip
    """Notices where what is shown is not what the score line is of."""
    if score is None:
        return
    again = f"vgen-eval score {job.path}"
    try:
        is_of_it = score.get("of") == score_key(line, job.codec)
    except (KeyError, TypeError):
        is_of_it = False
    if not is_of_it:
        notices.append(f"its score is of an earlier answer or calibration: {again}")
        return
    if not isinstance(score.get("sha256"), str) or read.prediction is None or job.judge:
        return
    try:
        found = pixels_digest(read.prediction.value)
    except (TypeError, ValueError):
        found = None
    if found != score["sha256"]:
        notices.append(
            "what is read off the answer now is not what was scored: a decoder of another version, "
            f"or a library below it; {again} makes the scores anew"
        )


def _seen(
    opened: Opened, sample_id: str, sample: Sample | None, scene: Scene | None, kept: Kept,
    read: Read, lines: Lines,
) -> Seen:  # fmt: skip
    given = opened.given
    if sample is None:
        item = opened.item(sample_id)
        group = sample_id if item is None else item.group
        sample = Sample(id=sample_id, group=group, images=(), target=None)
    if scene is None:
        scene = Scene(image=_blank(), size=(0, 0))
    metrics = {} if given.job is None else {m.key: m.metric for m in given.job.task.metrics}
    return Seen(
        sample=sample,
        scene=scene,
        form=kept.form,
        answer=kept.answer if not isinstance(kept.answer, Undecodable) else None,
        prediction=read.prediction,
        substitute=read.substitute,
        score=lines.score or lines.line or {},
        metrics=metrics,
        judgements=lines.replies,
        decoder=None if given.job is None else given.job.codec.decoder,
    )


def _blank() -> Image:
    import numpy as np

    return Image(np.zeros((0, 0, 3), np.uint8))


def _view(
    job: Job | None, catalog: Catalog, seen: Seen, notices: list[str]
) -> tuple[list[Pane], bool]:
    """The panes of every view that the metrics ask for, and whether all of them came."""
    assert job is not None
    found: list[Pane] = []
    is_whole = True
    for measures in measured_by(job):
        try:
            view: View = find_view(job, catalog, measures).obj()
        except UsageError:  # nobody has a view of it
            continue
        except ANYTHING as exc:
            notices.append(f"the view of '{measures}' cannot be loaded: {say(exc)}")
            is_whole = False
            continue
        before = len(notices)
        found += _panes_of(view, measures, seen, notices)
        is_whole = is_whole and len(notices) == before
    if not found:
        found = _panes_of(FallbackView(), "", seen, notices)
    return found, is_whole


def _panes_of(view: View, measures: str, seen: Seen, notices: list[str]) -> list[Pane]:
    """What a view gives, without what cannot be drawn."""
    name = f"the view of '{measures}'" if measures else "the view of scores"
    # views are anyone's code
    try:
        given: Sequence[Pane] = tuple(islice(view.panes(seen), MOST_PANES + 1))
    except ANYTHING as exc:
        notices.append(f"{name} failed: {say(exc)}")
        return []
    good = []
    if len(given) > MOST_PANES:
        notices.append(f"{name} gave more than {MOST_PANES} panes: those after them are left out")
    for pane in given[:MOST_PANES]:
        fault = _fault_of(pane)
        if fault is None:
            good.append(pane)
        else:
            title = _title_of(pane)
            notices.append(f"{name} gave a pane '{title}' that cannot be drawn: {fault}")
    return good


def _fault_of(pane: Any) -> str | None:
    try:
        return fault_of(pane)
    except ANYTHING as exc:
        return say(exc)


def _title_of(pane: Any) -> str:
    try:
        return clean(str(getattr(pane, "title", "?")))[:80]
    except ANYTHING:  # a title of any kind
        return "?"


def _frame_of(pane: Pane, size: tuple[int, int] | None) -> Frame | None:
    """A view's maps lie on the target's grid; one of another shape is out of step."""
    body: Any = pane.body
    array = getattr(body, "values", getattr(body, "ids", None))
    if array is None:
        image = getattr(body, "image", None)
        if image is None:
            return WHOLE if hasattr(body, "marks") else None
        shape = (image.height, image.width)
    else:
        shape = array.shape[:2]
    if size is None or min(size) < 1:
        return None
    # as long as they differ by less than a pixel in shape
    is_same = abs(shape[1] * size[0] - shape[0] * size[1]) <= max(size[0], shape[0])
    return WHOLE if is_same else None
