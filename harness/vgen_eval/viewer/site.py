"""What the viewer serves: a results folder, and what its pages read and draw it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.viewer.absent import not_found
from vgen_eval.viewer.contrasts import Contrasts
from vgen_eval.viewer.looking.workshop import Room
from vgen_eval.viewer.records import RunRow
from vgen_eval.viewer.strips import Frames

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.viewer.index import Index
    from vgen_eval.viewer.looking import Looker
    from vgen_eval.viewer.warming import Warmer

__all__ = ["DEFAULT_PORT", "Site", "Tally"]

DEFAULT_PORT = 8765
LOOPBACK = "127.0.0.1"
MOST_DRAWN = 64 * 2**20
"""Bytes in hand for the pictures that are drawn at one time."""


@dataclass(frozen=True)
class Tally:
    """What a results folder holds."""

    runs: int
    samples: int
    unreadable: int
    running: int


@dataclass
class Site:
    """Pages take it from `request.app.state.site`."""

    results: Path
    index: Index
    looker: Looker
    catalog: Catalog
    thumbs: Any
    """Pictures made once; None: made at each request."""
    data_root: Path | None = None
    host: str = LOOPBACK
    """What it listens on, as it was named."""
    port: int = DEFAULT_PORT
    token: str | None = None
    """What a reader has to know; None: whoever reaches it may read."""
    warmer: Warmer | None = None
    """Makes ahead what the next page will show; None: nothing is made ahead."""
    frames: Frames = field(default_factory=Frames)
    drawing: Room = field(default_factory=partial(Room, MOST_DRAWN))
    contrasts: Contrasts = field(init=False)

    def __post_init__(self) -> None:
        self.contrasts = Contrasts(self.catalog)

    @classmethod
    def open(
        cls, results: Path, *, data_root: Path | None = None,
        tell: Callable[[int, int], None] | None = None, **where: Any,
    ) -> Site:  # fmt: skip
        """The site of a results folder, its index refreshed.

        A folder that is not there is a site without runs. `tell`: as of `Index.refresh`;
        `where`: host, port, token, warmer.
        """
        from vgen_eval.plugins import Catalog
        from vgen_eval.viewer.drawing.thumbs import Thumbs
        from vgen_eval.viewer.index import Index
        from vgen_eval.viewer.looking import Looker

        catalog = Catalog.discover()
        index = Index(results)
        index.refresh(0.0, tell=tell)
        return cls(
            results=results,
            index=index,
            looker=Looker(
                catalog,
                data_root=None if data_root is None else str(data_root),
                where=index.lines_of,
                root=results,
            ),
            catalog=catalog,
            thumbs=Thumbs(results, place=index.path.parent / "thumbs"),
            data_root=data_root,
            **where,
        )

    def tally(self) -> Tally:
        """Runs, and the samples that they were asked for."""
        runs = self.index.runs()
        return Tally(
            runs=len(runs),
            samples=sum(run.samples for run in runs),
            unreadable=sum(run.state == "unreadable" for run in runs),
            running=sum(run.state == "running" for run in runs),
        )

    def run(self, word: str) -> RunRow:
        """The run of that key or slug, its index fresh; NoSuchPage where there is none."""
        self.index.refresh()
        found = self.index.run(word)
        if found is None:
            not_found("no run has this address", cure="It may have been deleted.")
        return found
