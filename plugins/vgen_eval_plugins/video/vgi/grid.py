"""When a video is looked at: grids, windows, nominations and what is looked at again.

Times are in seconds from the first frame. Source: VGI-Bench's judge (arXiv 2608.19583, code).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

__all__ = [
    "choose_nominations",
    "merge_intervals",
    "nomination_cap",
    "sample_interval",
    "sample_times",
    "split_groups",
    "split_windows",
]

SAME = 1e-9
"""Seconds: two times that differ by less are one."""
TOUCHING = 0.001
"""Seconds between two intervals that are one."""
GAP = 0.175
"""Seconds between two samples that no window spans."""


def sample_times(
    duration: float,
    fps: float,
    *,
    limit: float,
    add_last: bool = False,
    digits: int | None = None,
) -> list[float]:
    """The grid k / fps for k = 0 .. round(duration * fps), half to even, clamped to `limit`.

    `limit`: the last frame's time. `add_last`: it ends the grid even where that stops earlier.
    `digits`: decimals with which times are sought; those that are equal so stand once.
    """
    times = _clamp((k / fps for k in range(round(duration * fps) + 1)), limit, digits)
    if add_last and limit - times[-1] > SAME:
        times.append(limit)
    return times


def split_windows(count: int, *, size: int = 10, shared: int = 1) -> list[range]:
    """Positions of 0 .. count - 1 in windows; neighbours share `shared` of them."""
    windows = []
    for start in range(0, count, size - shared):
        windows.append(range(start, min(start + size, count)))
        if start + size >= count:
            break
    return windows


def nomination_cap(frames: int) -> int:
    """How many frames of a window of that many may be nominated: half of them, rounded up."""
    return (frames + 1) // 2


def choose_nominations(told: Any, known: Collection[int]) -> list[int]:
    """Frame numbers out of a reply, in its order, up to the cap of the window.

    `known`: the numbers of the window's frames, one for each frame; two may share one.
    Dropped before they count: what is no integer, unknown frames, repeats.
    """
    chosen: list[int] = []
    for number in told if isinstance(told, list) else ():
        is_frame = isinstance(number, int) and not isinstance(number, bool) and number in known
        if is_frame and number not in chosen:
            chosen.append(number)
    return chosen[: nomination_cap(len(known))]


def merge_intervals(times: Iterable[float], *, reach: float = 4 / 8) -> list[tuple[float, float]]:
    """[t - reach, t + reach] of each time, from 0 on; those that touch are one."""
    merged: list[tuple[float, float]] = []
    for time in sorted(set(times)):
        start, end = max(0.0, time - reach), time + reach
        if merged and start <= merged[-1][1] + TOUCHING:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def sample_interval(
    interval: tuple[float, float], fps: float, *, limit: float, digits: int | None = None
) -> list[float]:
    """The grid start + k / fps up to the interval's end, that included, clamped to `limit`.

    `digits` as in `sample_times`.
    """
    start, end = interval
    times = [start + k / fps for k in range(int((end - start) * fps + 1e-6) + 1)]
    if end - times[-1] > 1e-6:
        times.append(end)
    return _clamp(times, limit, digits)


def split_groups(times: Sequence[float]) -> list[list[float]]:
    """Ascending times, parted where the next is more than GAP away."""
    groups: list[list[float]] = []
    for time in times:
        if groups and time - groups[-1][-1] <= GAP:
            groups[-1].append(time)
        else:
            groups.append([time])
    return groups


def _clamp(times: Iterable[float], limit: float, digits: int | None) -> list[float]:
    kept: list[float] = []
    for time in times:
        at = max(0.0, min(time, limit))
        if not kept or not _are_one(kept[-1], at, digits):
            kept.append(at)
    return kept


def _are_one(earlier: float, later: float, digits: int | None) -> bool:
    if digits is None:
        return later - earlier <= SAME
    return round(earlier, digits) == round(later, digits)
