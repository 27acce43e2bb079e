"""The viewer's application without a server: requests go straight into it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the viewer needs vgen-eval[view]")
from starlette.testclient import TestClient
from vgen_eval.viewer.app import make_app
from vgen_eval.viewer.records import RunRow
from vgen_eval.viewer.site import Site

__all__ = ["HERE", "client_of", "labels", "row_of", "text_of"]

HERE = "http://127.0.0.1:8765"


def client_of(results: Path, *, base_url: str = HERE, **where: Any) -> TestClient:
    """A client whose `app.state.site` is the site."""
    return TestClient(
        make_app(Site.open(results, **where)), base_url=base_url, follow_redirects=False
    )


def row_of(client: TestClient, task: str, model: str) -> RunRow:
    """The only run of a model on a task."""
    runs: list[RunRow] = client.app.state.site.index.runs()  # type: ignore[attr-defined]
    (one,) = [r for r in runs if r.task.partition("@")[0] == task and r.model == model]
    return one


def labels(page: str) -> list[str]:
    """The full names of a gallery's cards, as they are escaped."""
    return re.findall(r'<li class="card[^>]*><a href="[^"]*" aria-label="([^"]*)"', page)


def text_of(page: str) -> str:
    """What a page says in its main part, without its markup."""
    main = page.partition("<main")[2].partition("</main>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())
