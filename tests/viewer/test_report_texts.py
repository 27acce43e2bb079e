"""Long texts in the one-file report: whole and folded, before numbers; what is cut is said."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import shown_kit as kit
from vgen_eval import evaluate
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import Run, read_run
from vgen_eval.types import Request

pytest.importorskip("jinja2", reason="a report needs vgen-eval[view]")
from vgen_eval.viewer.report.build import build_report
from vgen_eval.viewer.staging.templating import FOLD

MB = 1_000_000
END = "the very last word"
LONG = "All of it is <b>said</b>, \u202eand more. " * 9000 + END
"""1.2 MB of a page, with what is made visible."""


def grey(request: Request) -> Any:
    """A grey picture."""
    return request.images[0].array // 2


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> dict[str, Run]:
    """Of two samples, with a long text beside each answer, that of the second the longer."""
    output = tmp_path_factory.mktemp("texts")
    evaluate(
        tasks="samples/depth", samples=["motorcycle", "scene-balls"], model=grey,
        model_name="teller", forms=["image"], output=str(output), bounds=False,
    )  # fmt: skip
    (path,) = output.glob("runs/*/samples/*/*")
    journal = path / "predictions.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:  # a function gives its answer alone
        more = "More. " * 30_000 if line["sample"] == "scene-balls" else ""
        line.setdefault("volatile", {})["text"] = f"{more}{line['sample']}: {LONG}"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"teller": read_run(path, Catalog.discover())}


def report(run, *, most_bytes):
    made = kit.gathered(run, "teller", select="ids:motorcycle,scene-balls")
    page, record = build_report([made], Catalog.discover(), most_bytes=most_bytes)
    assert len(page) <= most_bytes
    return page.decode(), record


def whole_texts(page):
    return [body for body in re.findall(r"<bdi>(.*?)</bdi>", page, re.DOTALL) if END in body]


@pytest.fixture(scope="module")
def large(run):
    return report(run, most_bytes=25 * MB)


def test_a_long_text_stands_whole_and_folded_with_its_size(large):
    page, record = large
    assert record["without_texts"] == []
    assert "cut here" not in page
    assert len(whole_texts(page)) == 2
    size = len(f"motorcycle: {LONG}")
    (folded,) = re.findall(rf'<details class="folded"><summary>{size:,} characters: .*?</details>',
                           page, re.DOTALL)  # fmt: skip
    assert " open" not in folded.partition(">")[0]
    (body,) = whole_texts(folded)
    assert body.count("U+202E") == 9000
    assert "&lt;b&gt;said&lt;/b&gt;" in body
    assert "<b>" not in body


def test_texts_come_before_numbers(run, large):
    room = len(large[0]) - sum(len(f) for f in fields(large[0])) // 2
    page, record = report(run, most_bytes=room)
    assert record["without_texts"] == []
    assert len(whole_texts(page)) == 2
    assert record["without_numbers"] != []


def fields(page):
    return re.findall(r'<script type="text/plain"[^>]*>[^<]*', page)


def test_what_is_cut_is_said_and_the_others_stay_whole(run, large):
    sizes = [len(text) for text in whole_texts(large[0])]
    bare = len(large[0]) - sum(map(len, fields(large[0]))) - sum(sizes)
    page, record = report(run, most_bytes=bare + min(sizes) + 30_000)
    assert [one["sample"] for one in record["without_texts"]] == ["scene-balls"]
    (reason,) = [one["reason"] for one in record["without_texts"]]
    assert float(reason.removesuffix(" MB")) == pytest.approx((max(sizes) - FOLD) / MB, abs=0.2)
    (body,) = whole_texts(page)
    assert body.startswith("motorcycle: ")
    assert page.count("cut here") == 1
    assert f"scene-balls</bdi> ({reason})" in page.partition("No room for all of what was said")[2]


def test_where_no_text_fits_the_samples_are_there_still(run, large):
    bare = len(large[0]) - sum(map(len, fields(large[0]))) - sum(map(len, whole_texts(large[0])))
    page, record = report(run, most_bytes=bare + 30_000)
    assert whole_texts(page) == []
    assert len(record["without_texts"]) == len(record["parts"][0]["shown"]) == 2
    assert record["left_out"] == []
