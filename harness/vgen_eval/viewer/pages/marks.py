"""What a page knew of a run when it was made: the mark that it asks with, whether more has come."""

from __future__ import annotations

import re

import msgspec

from vgen_eval.viewer.records import RunRow, SampleRow, key_of, read_whole
from vgen_eval.viewer.site import Site

__all__ = ["Mark", "mark_run", "news"]

LAST = 1 << 62
"""Beyond the lines of any run."""
FORM = re.compile(r"(\d+)(?:-([0-9a-f]{0,16})-([0-9a-f]{0,16}))?")


class Mark(msgspec.Struct, frozen=True):
    """Lines tell what was added; the file and its time tell that scores were replaced."""

    lines: int
    file: str = ""
    """Which file of scores: one that took its place is another one. "" is unknown."""
    moment: str = ""
    """When it was written last; of a run that is being written, as it was before that, until lines
    are added: these are told by themselves, and "" is unknown."""

    def __str__(self) -> str:
        return f"{self.lines}-{self.file}-{self.moment}"

    @classmethod
    def read(cls, text: str) -> Mark | None:
        """Of an address; None where it is no mark."""
        found = FORM.fullmatch(text)
        lines = None if found is None else read_whole(found[1])
        if found is None or lines is None:
            return None
        return cls(lines, found[2] or "", found[3] or "")


def mark_run(site: Site, run: RunRow) -> Mark:
    """As the run is now."""
    # as an unsigned number: a file may be dated before 1970
    moment = "" if run.state == "running" else f"{int(run.changed * 1e6) % 2**64:x}"
    return Mark(site.index.newest(run, LAST)[1], _file_of(site, run), moment)


def _file_of(site: Site, run: RunRow) -> str:
    path = site.index.scores(run)
    try:
        return "" if path is None else key_of(f"{path.name} {path.stat().st_ino}")
    except OSError:  # it went meanwhile
        return ""


def news(site: Site, run: RunRow, known: Mark) -> tuple[list[SampleRow], Mark, bool]:
    """Samples whose lines came since, the new mark, and: was the run scored again?

    Lines of scores that were replaced are counted anew: what came since is then not known.
    """
    now = mark_run(site, run)
    is_other = bool(known.file and now.file) and known.file != now.file
    rows = [] if is_other else site.index.newest(run, known.lines)[0]
    is_later = bool(known.moment and now.moment) and known.moment != now.moment
    moment = now.moment or ("" if rows else known.moment)
    now = msgspec.structs.replace(now, moment=moment)
    return rows, now, is_other or (is_later and not rows)
