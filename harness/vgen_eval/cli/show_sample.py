"""One sample of a run: answer, what was read off it, what a judge said, scores, frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from vgen_eval import jsonio
from vgen_eval.cli import terminal
from vgen_eval.errors import NotRunnable, Undecodable, UsageError, nearest
from vgen_eval.store.rows import Rows
from vgen_eval.store.run import RunStore
from vgen_eval.store.transcript import read_replies

__all__ = ["describe_sample", "draw_frames", "show_sample"]

MOST_SHOWN = 2000
"""Characters of a text that are printed."""
SHEET, ANIMATIONS = ".png", (".webp", ".gif")


def describe_sample(path: Path, sample: str) -> tuple[dict[str, Any], list[str]]:
    """Record and lines of every attempt at a sample; UsageError where the run has no such one."""
    store = RunStore(path)
    rows = _rows(store, sample)
    scores = _current(store.scores(store.record.get("score_digest", ""), rows))
    replies: dict[int, list[Mapping[str, Any]]] = {}
    for _, line in read_replies(store):
        if line.get("sample") == sample:
            replies.setdefault(line.get("attempt", 0), []).append(line)
    attempts = [
        {
            "attempt": line["attempt"],
            "prediction": line,
            "score": scores.get(line["attempt"]),
            "judgements": replies.get(line["attempt"], []),
        }
        for line in store.predictions(rows)
    ]
    record = {"run": str(path), "sample": sample, "attempts": attempts}
    lines = [f"sample {sample}   {path}"]
    for entry in attempts:
        lines += ["", f"attempt {entry['attempt']}", *_tell(store, entry)]
    return record, lines if attempts else [*lines, "  not answered yet"]


def _rows(store: RunStore, sample: str) -> Rows:
    known = store.record.get("samples", [])
    if sample not in known:
        raise UsageError(f"{store.path} has no sample '{sample}'.{nearest(sample, known)}")
    return Rows([sample], store.record.get("attempts", 1))


def _current(lines: Iterator[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    return {line["attempt"]: line for line in lines}


def _tell(store: RunStore, entry: Mapping[str, Any]) -> Iterator[str]:
    line, score = entry["prediction"], entry["score"]
    yield f"  status      {line['status']}{_because(line)}"
    answer = line.get("answer", {})
    if "file" in answer:
        yield f"  answer      {store.path / 'outputs' / answer['file']}"
    elif "value" in answer:
        yield f"  answer      {_clip(answer['value'])}"
    if score is not None:
        if score["status"] != line["status"]:
            yield f"  scored as   {score['status']}{_because(score)}"
        for name in ("prediction", "values", "flags"):
            if score.get(name):
                yield f"  {name:<11} {_clip(score[name])}"
    for reply in entry["judgements"]:
        said = reply.get("reply")
        told = f"- ({reply.get('reason')})" if said is None else _clip(said)
        yield f"  judge       {reply.get('question')}, round {reply.get('round')}: {told}"


def _because(line: Mapping[str, Any]) -> str:
    reason = line.get("reason") or line.get("volatile", {}).get("reason")
    return f"   {reason}" if reason else ""


def _clip(value: Any) -> str:
    text = value if isinstance(value, str) else jsonio.dumps(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text):,} in all)"


def draw_frames(path: Path, sample: str, file: Path) -> bytes:
    """Frames of a video answer: a sheet with their times (.png), or an animation (.webp, .gif).

    UsageError for another suffix, and where the first attempt's answer is no video.
    """
    from vgen_eval.video import Clip, draw_sheet, write_animation

    suffix = file.suffix.lower()
    if suffix not in (SHEET, *ANIMATIONS):
        raise UsageError(f"{file}: no format '{suffix}'", cure="-o FILE.png, FILE.webp or FILE.gif")
    store = RunStore(path)
    line = next(iter(store.predictions(_rows(store, sample))), None)
    if line is None or line.get("form") != "video" or "file" not in line.get("answer", {}):
        raise UsageError(f"'{sample}' has no video in {path}", cure="leave -o out: see its answer")
    data = store.get(line["answer"])
    if data is None:
        raise NotRunnable(f"{path}: the video of '{sample}' was not kept, or was altered")
    try:
        clip = Clip.open(data)
        if suffix == SHEET:
            return draw_sheet(clip)
        return write_animation(clip, form="webp" if suffix == ".webp" else "gif")
    except Undecodable as exc:
        raise NotRunnable(f"{path}: the video of '{sample}' cannot be read: {exc.what}") from exc


def show_sample(path: Path, sample: str, file: str | None, *, as_json: bool) -> int:
    """Prints a sample of a run, and writes its frames where a file is named."""
    record, lines = describe_sample(path, sample)
    if file is not None:
        from vgen_eval.cli.writing import write_file

        write_file(Path(file), draw_frames(path, sample, Path(file)))
        terminal.note(f"written to {file}")
    if as_json:
        terminal.say_json(record)
    else:
        terminal.say(*(terminal.clean(line) for line in lines))
    return 0
