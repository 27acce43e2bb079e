"""What the viewer refuses: paths, foreign hosts and sites, anything but reading. Byte by byte."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from browser_kit import Server, page_of, raw, row_of, serve
from damage_kit import SECRET
from results_kit import FAMILIES, MANY_TASK, run_of
from vgen_eval.viewer.records import key_of

ETC = b"root:"
"""What a file stolen from the system would hold."""
UP = "../" * 12
TARGETS = (
    f"/{UP}etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/%252e%252e%252f%252e%252e%252fetc%252fpasswd",
    "/..\\..\\..\\..\\..\\..\\etc\\passwd",
    "/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd",
    "//etc/passwd",
    "/static/../../../../../../../../etc/passwd",
    "/static/..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/static/%2fetc%2fpasswd",
    "/static/..%5c..%5capp.py",
    "/r/{run}/o/..%2f..%2f..%2frun.json",
    "/r/{run}/o/../run.json",
    "/r/{run}/o/%2e%2e%2frun.json",
    "/r/{run}/o//etc/passwd",
    "/r/{run}/s/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/r/{run}/s/{sample}/1/..%2f..%2f..%2frun.json",
    "/r/{run}/s/{sample}/1/../../../../run.json",
    "/r/..%2f..%2f..%2fetc/s",
    "/r/%00",
    "/r/{run}/o/%00",
    "/t/..%2f..%2fetc%2fpasswd",
    "/c?runs=../../../../etc/passwd,..%2f..%2fetc%2fpasswd",
    f"/r/{{run}}/s/{{sample}}/1/{'a' * 5000}.png",
    "/r/{run}/o/" + "0" * 64,
    "/r/{run}/o/" + "g" * 64,
)


@pytest.mark.parametrize("target", TARGETS, ids=range(len(TARGETS)))
def test_no_target_leads_out(server: Server, target: str) -> None:
    run = row_of(server, FAMILIES["depth"], "oracle")
    sample = server.site.index.record(run)["samples"][0]
    filled = target.replace("{run}", run.slug).replace("{sample}", key_of(sample))
    status, headers, body = raw(server, filled)
    assert status in (400, 404, 405), (status, body[:200])
    assert ETC not in body
    assert b'"schema"' not in body
    assert b"Traceback" not in body
    assert "default-src 'none'" in headers["content-security-policy"]


def test_every_answer_carries_the_policy_and_no_leave_for_others(server: Server) -> None:
    run = row_of(server, FAMILIES["depth"], "oracle")
    for target in ("/", f"/r/{run.slug}", f"/r/{run.slug}/s", "/static/page.js", "/nowhere"):
        status, headers, _ = raw(server, target, Origin="https://elsewhere.example")
        assert status == (404 if target == "/nowhere" else 200)
        policy = headers["content-security-policy"]
        for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
            assert rule in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "host",
    [
        "elsewhere.example", "127.0.0.1.elsewhere.example:{port}", "localhost:1", "[::1", "",
        "10.0.0.1:{port}",
    ],
)  # fmt: skip
def test_another_name_is_not_answered(server: Server, host: str) -> None:
    status, _, body = raw(server, "/", Host=host.format(port=server.address[1]))
    assert status in (400, 421)
    assert b"oracle" not in body


@pytest.mark.parametrize("host", ["localhost:{port}", "[::1]:{port}", "127.0.0.1:{port}"])
def test_every_name_of_this_machine_is_answered(server: Server, host: str) -> None:
    status, _, body = raw(server, "/", Host=host.format(port=server.address[1]))
    assert status == 200
    assert b"oracle" in body


def test_another_site_gets_nothing(server: Server) -> None:
    run = row_of(server, FAMILIES["depth"], "oracle")
    for target in ("/", f"/r/{run.slug}/s", "/static/page.js"):
        status, _, body = raw(server, target, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")
        assert status == 403
        assert b"oracle" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_but_reading(server: Server, method: str) -> None:
    status, headers, _ = raw(server, "/", method=method, Content_Length="0")
    assert status == 405
    assert "GET" in headers["allow"]


def test_a_head_is_a_get_without_its_body(server: Server) -> None:
    status, headers, body = raw(server, "/", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 500


def test_a_raw_answer_comes_by_its_digest_and_inert(server: Server, results: Path) -> None:
    run = row_of(server, FAMILIES["depth"], "oracle")
    folder = run_of(results, FAMILIES["depth"], "oracle")
    line = json.loads((folder / "predictions.jsonl").read_text().splitlines()[0])
    status, headers, body = raw(server, f"/r/{run.slug}/o/{line['answer']['sha256']}")
    assert status == 200
    assert body == (folder / "outputs" / line["answer"]["file"]).read_bytes()
    assert headers["content-type"] == "image/png"
    assert "sandbox" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_page_in_a_pictures_place_is_never_rendered(broken_server: Server) -> None:
    (run,) = [r for r in broken_server.site.index.runs() if r.path.startswith("markup/")]
    folder = broken_server.site.results / run.path
    line = json.loads((folder / "predictions.jsonl").read_text().splitlines()[0])
    status, headers, _ = raw(broken_server, f"/r/{run.slug}/o/{line['answer']['sha256']}")
    assert status == 200
    assert "html" not in headers["content-type"]
    assert headers["content-disposition"].startswith("attachment")


def test_a_link_that_leads_out_is_not_followed(broken_server: Server) -> None:
    (run,) = [r for r in broken_server.site.index.runs() if r.path.startswith("linked/")]
    folder = broken_server.site.results / run.path
    line = json.loads((folder / "predictions.jsonl").read_text().splitlines()[0])
    status, _, body = raw(broken_server, f"/r/{run.slug}/o/{line['answer']['sha256']}")
    assert status == 404
    assert SECRET.encode() not in body


def test_a_crafted_range_is_answered_at_once(server: Server, results: Path) -> None:
    run = row_of(server, FAMILIES["puzzle"], "oracle")
    folder = run_of(results, FAMILIES["puzzle"], "oracle")
    line = json.loads((folder / "predictions.jsonl").read_text().splitlines()[0])
    target = f"/r/{run.slug}/o/{line['answer']['sha256']}"
    size = line["answer"]["bytes"]
    data = (folder / "outputs" / line["answer"]["file"]).read_bytes()
    status, headers, body = raw(server, target, Range="bytes=10-19")
    assert (status, body) == (206, data[10:20])
    assert headers["content-range"] == f"bytes 10-19/{size}"
    many = ",".join(f"{at}-{at}" for at in range(0, 2000, 2))
    for given in (f"bytes={many}", "bytes=9-1", f"bytes={size}-", "bytes=" + "0-," * 5000, "x=1-2"):
        status, _, body = raw(server, target, Range=given)
        assert status in (200, 206, 400, 416, 431), given[:40]
        assert len(body) < 4 * size + 200_000


def test_pages_and_scripts_are_light(server: Server) -> None:
    weights = {"js": 0, "css": 0}
    for name in ("page.js", "pane.js", "field.js", "style.css", "sample.css"):
        status, _, body = raw(server, f"/static/{name}")
        assert status == 200
        weights[name.partition(".")[2]] += len(gzip.compress(body))
    assert weights["js"] < 40_000
    assert weights["css"] < 12_000
    gallery = page_of(server, MANY_TASK, "near").removeprefix(server.url)
    assert len(raw(server, gallery)[2]) < 60_000


def test_two_viewers_at_once_and_a_lost_index(results: Path, tmp_path: Path) -> None:
    source = run_of(results, FAMILIES["depth"], "oracle")
    shutil.copytree(source, tmp_path / "results" / "runs" / "one")
    with serve(tmp_path / "results") as first, serve(tmp_path / "results") as second:
        run = row_of(first, FAMILIES["depth"], "oracle")
        for server in (first, second, first):
            status, _, body = raw(server, f"/r/{run.slug}/s")
            assert status == 200
            assert body.count(b'class="card ') == 2
        shutil.rmtree(tmp_path / "results" / ".view")
        for server in (first, second):
            status, _, body = raw(server, f"/r/{run.slug}/s")
            assert status == 200
            assert body.count(b'class="card ') == 2
    # nothing of a run was touched
    for path in source.rglob("*"):
        if path.is_file():
            copy = tmp_path / "results" / "runs" / "one" / path.relative_to(source)
            assert copy.read_bytes() == path.read_bytes()
