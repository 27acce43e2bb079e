"""What a thumbnail hangs on; and looking with an index that knows where lines lie."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from looking_kit import WithViews, every_family, lines_of, looker, rewrite, run_of
from vgen_eval.viewer.index import Index
from vgen_eval.viewer.looking import Looker
from vgen_eval.viewer.looking import looker as looker_module


class First:
    version = 1
    measures = "depth"

    def panes(self, seen: Any) -> Any:
        return []


class Second(First):
    version = 2


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every_family(tmp_path_factory.getbasetemp())


def stamp_under(view: Any, run: Path, sample: str) -> str:
    return Looker(WithViews({"depth": view})).stamp(run, sample)  # type: ignore[arg-type]


def test_a_view_that_changes_its_panes_makes_new_thumbnails(results: Path) -> None:
    run = run_of(results, "depth")
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    first = stamp_under(First, run, sample)
    assert stamp_under(First, run, sample) == first
    assert stamp_under(Second, run, sample) != first
    other = run_of(results, "normals")  # which nobody draws by that view
    sample = lines_of(other / "predictions.jsonl")[0]["sample"]
    assert stamp_under(First, other, sample) == stamp_under(Second, other, sample)


def test_another_version_of_the_harness_makes_new_thumbnails(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(results, "depth")
    sample = lines_of(run / "predictions.jsonl")[0]["sample"]
    before = looker().stamp(run, sample)
    assert looker().stamp(run, sample) == before
    monkeypatch.setattr(looker_module, "__version__", "99.0")
    assert looker().stamp(run, sample) != before


def test_with_an_index_the_same_is_seen(results: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(results, tmp_path / "results"))
    index = Index(own)
    index.refresh()
    told = looker(where=index.lines_of)
    for task in ("depth", "answers", "quality"):
        run = run_of(own, task)
        for line in lines_of(run / "predictions.jsonl"):
            found, wanted = told.look(run, line["sample"]), looker().look(run, line["sample"])
            assert (found.line, found.score) == (wanted.line, wanted.score)
            assert [pane.key for pane in found.panes] == [pane.key for pane in wanted.panes]
            assert found.notices == wanted.notices


def test_an_index_that_is_behind_is_not_believed(results: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(results, tmp_path / "results"))
    run = run_of(own, "depth")
    index = Index(own)
    index.refresh()
    told = looker(where=index.lines_of)
    sample = lines_of(run / "predictions.jsonl")[1]["sample"]
    assert told.look(run, sample).facts["status"] == "ok"
    rewrite(
        run / "predictions.jsonl",
        lambda line: {**line, "status": "refused", "reason": "no", "answer": None},
    )
    line = told.look(run, sample).line
    assert line is not None
    assert (line["sample"], line["status"]) == (sample, "refused")
