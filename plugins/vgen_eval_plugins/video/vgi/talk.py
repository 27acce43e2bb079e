"""One judging of a video as it goes on: what is asked, and what comes of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from vgen_eval.errors import JudgeError, Unreadable
from vgen_eval.imaging import Image
from vgen_eval.judging import Case, Question, Reply, put

from vgen_eval_plugins.video.vgi import wording
from vgen_eval_plugins.video.vgi.film import REFERENCE_SIDE, Film, Seen, shrink
from vgen_eval_plugins.video.vgi.grid import (
    merge_intervals,
    nomination_cap,
    split_groups,
    split_windows,
)
from vgen_eval_plugins.video.vgi.judge_options import EVEN_FPS, Options
from vgen_eval_plugins.video.vgi.marks import TIERS
from vgen_eval_plugins.video.vgi.records import VgiTruth
from vgen_eval_plugins.video.vgi.replies import (
    Counts,
    Incomplete,
    Reading,
    read_counts,
    read_tier,
    read_window,
)
from vgen_eval_plugins.video.vgi.verdicts import FIRST, Noted, tell

__all__ = ["Talk"]

FIRST_FPS = 4.0
ZOOM_FPS = 8.0
COMPLETENESS_FPS = 2.0


class Talk:
    """One judging as it goes on: what was asked and what came of it."""

    def __init__(self, options: Options, case: Case, film: Film, turn: int) -> None:
        self.options = options
        self.truth: VgiTruth = case.target
        self.film = film
        self.turn = turn
        self.flags: list[str] = []
        self.failed: list[str] = []
        self.noted: list[Noted] = []
        self.labels: tuple[tuple[str, ...], ...] = ()
        self._references = self._show_references(case)

    def _show_references(self, case: Case) -> list[str | Image]:
        scaling = self.options.scaling
        first = shrink(case.images[0], REFERENCE_SIDE, scaling)
        parts: list[str | Image] = ["The first frame that the model was given:", first]
        if self.truth.gt_image is not None:
            solution = shrink(self.truth.gt_image, REFERENCE_SIDE, scaling)
            parts += ["What a right solution looks like:", solution]
        return parts

    def look_at_all(self) -> Generator[Sequence[Question], Sequence[Reply], None]:
        """Round 1 over the whole clip, then a closer look at what it nominates."""
        preset = self.options.preset
        seen = self.film.look(self.film.grid(EVEN_FPS.get(preset, FIRST_FPS)))
        if not seen:
            raise JudgeError("none of the samples of the video has a frame")
        yield from self._ask(FIRST, self._cut(seen), wording.WINDOW)
        nominated = self._nominated_times()
        if not nominated or preset == "no_zoom" or preset in EVEN_FPS:
            return
        times: list[float] = []
        for interval in merge_intervals(nominated):
            times += self.film.grid_within(interval, ZOOM_FPS)
        groups = [self.film.look(group) for group in split_groups(sorted(set(times)))]
        windows = [window for group in groups for window in self._cut(group)]
        yield from self._ask("zoom", windows, wording.CLOSER)

    def _cut(self, seen: Sequence[Seen]) -> list[Sequence[Seen]]:
        if self.options.preset == "no_window":
            return [seen] if seen else []
        return [[seen[at] for at in window] for window in split_windows(len(seen))]

    def _ask(
        self, kind: str, windows: Sequence[Sequence[Seen]], template: str
    ) -> Generator[Sequence[Question], Sequence[Reply], None]:
        words = wording.task_words(self.truth)
        questions = [
            self._question(
                f"{kind}/{at}",
                template.format(count=len(window), task=words, cap=nomination_cap(len(window))),
                window,
            )
            for at, window in enumerate(windows)
        ]
        reading = self.options.reading
        texts = yield from put(
            questions, lambda text: _checked(text, reading), re_asks=self.options.re_asks
        )
        for question, window, text in zip(questions, windows, texts, strict=True):
            if isinstance(text, Unreadable):
                self._fail_window(f"{question.name}: {text.what}")
                continue
            looked = read_window(text, [seen.label for seen in window], reading)
            self.noted.append(Noted(question.name, tuple(window), looked))

    def _fail_window(self, what: str) -> None:
        if self.options.failed_window == "error":
            raise JudgeError(what)
        self.failed.append(what)

    def _nominated_times(self) -> list[float]:
        times = set()
        for noted in self.noted:
            by_label = {seen.label: seen.time for seen in reversed(noted.frames)}
            times |= {by_label[label] for label in noted.looked.nominated}
        return sorted(times)

    def count_violations(self) -> Generator[Sequence[Question], Sequence[Reply], tuple[int, ...]]:
        """How many each entry of the checklist has, after the comments."""
        entries = len(self.truth.checklist)
        words = wording.POLISH.format(
            task=wording.task_words(self.truth),
            comments="\n".join(tell(noted) for noted in self.noted) or "(none)",
            labels=wording.LABELS if self.options.failure_labels else "",
        )
        question = self._question("polish", words, pictured=False)
        (read,) = yield from put(
            [question],
            lambda text: read_counts(text, entries, self.options.numbers, self.options.reading),
            re_asks=self.options.re_asks,
        )
        if isinstance(read, Incomplete):
            if self.options.missing_entry == "error":
                raise JudgeError(f"polish: {read.what}")
            read = read.counts
        elif isinstance(read, Unreadable):
            if self.options.failed_counts == "error":
                raise JudgeError(f"polish: {read.what}")
            self.flags.append("counts_unread")
            return (1,) * entries
        return self._fill_in(read, entries)

    def _fill_in(self, read: Counts, entries: int) -> tuple[int, ...]:
        missing = [at for at in range(1, entries + 1) if at not in read.counts]
        if missing and self.options.missing_entry == "error":
            raise JudgeError(f"polish: no count for entry {missing[0]}")
        if missing:
            self.flags.append("entries_missing")
        substitute = 0 if self.options.missing_entry == "no_violation" else 1
        if self.options.failure_labels:
            self.labels = tuple(read.labels.get(at, ()) for at in range(1, entries + 1))
        return tuple(read.counts.get(at, substitute) for at in range(1, entries + 1))

    def judge_completeness(
        self,
    ) -> Generator[Sequence[Question], Sequence[Reply], float | None]:
        """0, 0.5 or 1; None where it cannot be read and the options let that pass."""
        seen = self.film.look(self.film.grid(COMPLETENESS_FPS))
        if not seen:
            raise JudgeError("none of the samples of the video has a frame")
        words = wording.COMPLETENESS.format(
            count=len(seen),
            task=wording.task_words(self.truth, with_checklist=False),
            tiers=self.truth.tiers or wording.TIERS,
        )
        (tier,) = yield from put(
            [self._question("completeness", words, seen)],
            lambda text: read_tier(text, self.options.numbers, self.options.reading),
            re_asks=self.options.re_asks,
        )
        if isinstance(tier, Unreadable):
            if self.options.failed_tier == "error":
                raise JudgeError(f"completeness: {tier.what}")
            self.flags.append("tier_unread")
            return None
        return TIERS[tier]

    def _question(
        self, name: str, words: str, frames: Sequence[Seen] = (), *, pictured: bool = True
    ) -> Question:
        parts: list[str | Image] = [words]
        if pictured:
            parts += self._references
        for seen in frames:
            parts += [seen.line(), seen.image]
        return Question(
            name=f"{name}#{self.turn}" if self.turn else name,
            parts=tuple(parts),
            wants_json=True,
            round=self.turn,
        )


def _checked(text: str, reading: Reading) -> str:
    """The text, once it can be read as a window's."""
    read_window(text, (), reading)
    return text
