"""Who may ask the viewer, and what each answer carries."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_kit import HERE, client_of
from starlette.testclient import TestClient
from vgen_eval.viewer.security import is_loopback
from vgen_eval.viewer.serving import address_of, token_for

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
PAGES = ("/", "/table", "/live", "/nope", "/static/page.js", "/static/none.js", "/r/0000000000")


@pytest.fixture
def client(empty_results: Path) -> TestClient:
    return client_of(empty_results)


@pytest.fixture
def open_client(empty_results: Path) -> Callable[..., TestClient]:
    def make(base_url: str, **where: Any) -> TestClient:
        return client_of(empty_results, base_url=base_url, **where)

    return make


@pytest.mark.parametrize("page", PAGES)
def test_every_answer_carries_the_headers(client: TestClient, page: str) -> None:
    headers = client.get(page).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8765", "localhost:8765", "LocalHost:8765", "localhost.:8765", "[::1]:8765",
     "127.8.8.8:8765"],
)  # fmt: skip
def test_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example:8765", "127.0.0.1.evil.example:8765", "localhost:1", "127.0.0.1", "", "[::1",
     "[::2]:8765", "localhost:8765:8765", "localhost:+8765", "10.0.0.1:8765"],
)  # fmt: skip
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert answer.headers["content-security-policy"] == POLICY


def test_two_hosts_are_refused(client: TestClient) -> None:
    hosts = [("host", "127.0.0.1:8765"), ("host", "evil.example")]
    assert client.get("/", headers=hosts).status_code == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_nothing_but_reading(client: TestClient, method: str) -> None:
    answer = client.request(method, "/")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_head_says_what_get_does_without_a_body(client: TestClient) -> None:
    answer = client.head("/")
    assert answer.status_code == 200
    assert answer.content == b""


def test_another_site_may_not_ask(client: TestClient) -> None:
    for kind in ("image", "script", "empty", "iframe"):
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
        answer = client.get("/live", headers={**headers, "sec-fetch-dest": kind})
        assert answer.status_code == 403
        assert answer.headers["content-type"].startswith("text/plain")
    for site in ("Cross-Site", " CROSS-SITE"):
        assert client.get("/live", headers={"sec-fetch-site": site}).status_code == 403
    for site in ("same-origin", "none"):
        assert client.get("/live", headers={"sec-fetch-site": site}).status_code == 200


@pytest.mark.parametrize("target", ["http://127.0.0.1:8765/", "live", "*"])
def test_what_is_no_path_is_refused(client: TestClient, target: str) -> None:
    """As a server that does not take a whole address apart passes it on."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": target, "raw_path": target.encode(),
        "query_string": b"", "headers": [(b"host", b"127.0.0.1:8765")], "scheme": "http",
        "server": ("127.0.0.1", 8765), "client": ("127.0.0.1", 9), "root_path": "",
        "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(client.app(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 400


def test_who_follows_a_link_of_another_site_may_go_on_by_hand(client: TestClient) -> None:
    headers = {
        "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document",
    }  # fmt: skip
    answer = client.get('//evil.example/"><b>?q=a"b', headers=headers)
    assert answer.status_code == 403
    (link,) = re.findall(r'class="button" href="([^"]*)"', answer.text)
    assert link.startswith("/")
    assert not link.startswith("//")
    assert "<b>" not in link


def test_a_token_is_taken_from_the_address_once(open_client: Callable[..., TestClient]) -> None:
    client = open_client("http://box:8765", host="box", token="s3cret")
    assert client.get("/").status_code == 401
    assert "Runs" not in client.get("/").text.partition("<main")[2]
    assert client.get("/?token=wrong").status_code == 401
    answer = client.get("/table?a=1&token=s3cret")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/table?a=1"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200  # by the cookie
    client.cookies.clear()
    assert client.get("//elsewhere.example/?token=s3cret").headers["location"][:2] != "//"


def test_the_host_that_was_named_is_answered(open_client: Callable[..., TestClient]) -> None:
    client = open_client("http://box:8765", host="box", token="t")
    client.get("/?token=t")
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"host": "evil.example:8765"}).status_code == 421
    everywhere = open_client("http://10.1.2.3:8765", host="0.0.0.0", token="t")
    assert everywhere.get("/?token=t").status_code == 303
    assert everywhere.get("/", headers={"host": "evil.example:8765"}).status_code == 421
    assert everywhere.get("/?token=t", headers={"host": "[fe80::1]:8765"}).status_code == 303


def test_an_unforeseen_error_has_an_id_and_no_trace(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr(client.app.state.site.index, "runs", fail)  # type: ignore[attr-defined]
    with caplog.at_level(logging.ERROR):
        answer = client.get("/")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    (mark,) = re.findall(r"noted as ([0-9a-f]{8})", answer.text)
    assert mark in caplog.text
    assert "a secret of the machine" in caplog.text
    assert answer.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/"]
)
def test_a_path_never_names_a_file(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "make_app" not in answer.text


def test_assets_are_kept_by_their_content(client: TestClient) -> None:
    page = client.get("/").text
    (style,) = re.findall(r'href="(/static/style\.css\?v=[0-9a-f]{12})"', page)
    assert "immutable" in client.get(style).headers["cache-control"]
    assert client.get("/static/style.css").headers["cache-control"] == "no-cache"
    maps = client.get("/static/maps.json").json()
    assert {len(table) for table in maps.values()} == {256}


def test_no_page_has_a_script_or_style_of_its_own(client: TestClient) -> None:
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert re.findall(r"\son[a-z]+=", page) == []


def test_scripts_use_no_sink_that_trusted_types_forbid() -> None:
    from vgen_eval.viewer.assets import text_of

    for name in ("page.js", "pane.js", "field.js"):
        source = text_of(name)
        for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert sink not in source, name


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("[::1]", True), ("localhost", True), ("0.0.0.0", False),
     ("10.0.0.1", False), ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_loopback_is_told_apart(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_token_is_made_where_others_reach_the_host() -> None:
    assert token_for("127.0.0.1", None) is None
    assert token_for("127.0.0.1", "chosen") == "chosen"
    made = {token_for("0.0.0.0", None) for _ in range(3)}
    assert len(made) == 3
    assert all(token is not None and len(token) >= 22 for token in made)


def test_the_address_has_the_token_and_brackets(open_client: Callable[..., TestClient]) -> None:
    site = open_client(HERE, host="::1", token="a/b").app.state.site  # type: ignore[attr-defined]
    assert address_of(site) == "http://[::1]:8765/?token=a%2Fb"
