"""Waits that services ask for, addresses of services, and keys that are cut out of words."""

from __future__ import annotations

import base64
import datetime as dt
import html
import json
from urllib.parse import quote

import pytest
from vgen_eval import secrets
from vgen_eval.errors import MissingKey, UsageError
from vgen_eval.remote import endpoint_of, is_loopback, retry_after
from vgen_eval.secrets import read_secret, redact

NOON = dt.datetime(2026, 9, 9, 12, tzinfo=dt.UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "5"}, 5.0),
        ({"Retry-After": "Wed, 09 Sep 2026 12:00:59 GMT"}, 59.0),
        ({"retry-after-ms": "4321"}, 4.321),
        ({"retry-after": "Wed, 09 Sep 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-7"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "86400"}, 86400.0),  # the engine caps it
        ({}, None),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"RETRY-AFTER": " 7 "}, 7.0),
        ({"retry-after": "Wednesday, 09-Sep-26 12:00:10 GMT"}, 10.0),  # the form of RFC 850
        ({"retry-after": "Wed Sep  9 12:00:10 2026"}, 10.0),  # that of asctime, in UTC
        ({"retry-after": "Wed, 09 Sep 99999 12:00:10 GMT"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)
def test_the_wait_is_read_in_each_form(headers, wait, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert retry_after(headers, now=NOON) == (None if wait is None else pytest.approx(wait))


def test_a_date_counts_from_now_where_nothing_else_is_said():
    far = {"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}
    assert retry_after(far) > 365 * 86400


@pytest.mark.parametrize(
    ("address", "endpoint"),
    [
        ("https://api.openai.com/v1", "api.openai.com"),
        ("https://API.Example.com:443/v1/", "api.example.com"),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("http://localhost", "localhost"),
        ("https://[::1]:8443/v1", "[::1]:8443"),
        ("https://API.OpenAI.com./v1", "api.openai.com."),
        ("https://1.2.3.4/v1", "1.2.3.4"),
        ("https://4u.example/v1", "4u.example"),
    ],
)
def test_an_endpoint_is_host_and_port(address, endpoint):
    assert endpoint_of(address) == endpoint


@pytest.mark.parametrize(
    "address",
    [
        "", "api.openai.com/v1", "ftp://host/v1", "https://", "https://a b/v1", "https://host:x/v1",
        "https://ho\nst/v1", "https://host/v1\t", "https://a..b/v1", "https://" + "a" * 64 + "/v1",
        "https://api.openai.com%2eevil.com/v1", "https://good<b>.com", "https://a>b", "https://a^b",
        "https://good.com\u3002evil.com/v1", "https://1.2.3.4\u200b/v1", "https://go\u00adod.com",
        "http://127.1:9", "http://2130706433", "http://0177.0.0.1", "http://0x7f.1", "http://a.1",
        "http://[::1%25eth0]/v1", "http://[v1.x]/v1", "http://[fe80::1%eth0]", "https://@host/v1",
        "https://stra\u00dfe.example", "https://\u200b/v1",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(address):
    with pytest.raises(UsageError, match="base_url"):
        endpoint_of(address)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://\u0430pi.openai.com/v1", "xn--pi-6kc.openai.com"),  # a Cyrillic a
        ("https://\uff41pi.openai.com/v1", "api.openai.com"),  # a full-width a
        ("https://b\u00fccher.example:8443/v1", "xn--bcher-kva.example"),
    ],
)
def test_a_name_that_is_not_ascii_is_refused_and_given_in_its_ascii_form(address, name):
    with pytest.raises(UsageError, match="not ASCII") as caught:
        endpoint_of(address)
    assert caught.value.what.endswith(f"its ASCII form is {name}")
    assert caught.value.what.isascii()
    assert f"write {name} " in caught.value.cure
    assert endpoint_of(f"https://{name}/v1") == name


@pytest.mark.parametrize(
    "address",
    [
        "https://me:hunter2-secret@ho\u2100st/v1",
        "https://me:hunter2-secret@host/v1",
        "ftp://me:hunter2-secret@host/v1",
        "https://me:hunter2-secret@host:x/v1",
        "https://host/v1?key=hunter2-secret",
        "ftp://host/v1?key=hunter2-secret",
        "https://host/v1#hunter2-secret",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(address):
    with pytest.raises(UsageError) as caught:
        endpoint_of(address)
    assert "hunter2" not in caught.value.what + (caught.value.cure or "")


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1:8000", True),
        ("localhost", True),
        ("[::1]:80", True),
        ("127.9.9.9", True),
        ("10.0.0.1", False),
        ("localhost.example.com", False),
        ("api.openai.com", False),
    ],
)
def test_this_machine_is_known_by_its_names(host, own):
    assert is_loopback(host) is own


@pytest.fixture
def no_keys(monkeypatch):
    monkeypatch.setattr(secrets, "_known", {})


@pytest.mark.usefixtures("no_keys")
def test_a_key_is_cut_out_once_it_was_read(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "  sk-planted-0123  ")
    assert redact("sk-planted-0123") == "sk-planted-0123"
    assert read_secret("SOME_KEY") == "sk-planted-0123"
    assert redact("Bearer sk-planted-0123!") == "Bearer [SOME_KEY]!"


@pytest.mark.usefixtures("no_keys")
def test_a_key_that_begins_as_another_is_cut_out_whole(monkeypatch):
    monkeypatch.setenv("SHORT_KEY", "sk-planted")
    monkeypatch.setenv("LONG_KEY", "sk-planted-0123")
    read_secret("SHORT_KEY")
    read_secret("LONG_KEY")
    assert redact("sk-planted-0123, sk-planted") == "[LONG_KEY], [SHORT_KEY]"


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u200d", "\u00ad", "\x00", "\x1b", "\ufe0f", "\ud800", "\n", "\r\n"]
)
def test_a_key_with_characters_that_nobody_sees_in_it_is_cut_out(monkeypatch, hidden):
    monkeypatch.setenv("SOME_KEY", "sk-planted-0123")
    read_secret("SOME_KEY")
    broken = hidden.join("sk-planted-0123")
    assert redact(f"{hidden}a {broken} b{hidden}") == f"{hidden}a [SOME_KEY] b{hidden}"
    assert redact(f"{broken}, {broken}") == "[SOME_KEY], [SOME_KEY]"
    innocent = f"s{hidden}k-plan{hidden}\n"
    assert redact(innocent) == innocent


AWKWARD = 'sk-"q"/s\\b+<a>=&%41\'planted'


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("key", [AWKWARD, "sk-planted-0123", "12345678", "a/b+c=d~"])
@pytest.mark.parametrize(
    "form",
    [
        lambda key: json.dumps(key)[1:-1],
        lambda key: json.dumps(key)[1:-1].replace("/", r"\/"),
        lambda key: json.dumps(json.dumps(key))[3:-3],
        lambda key: repr(key)[1:-1],
        html.escape,
        quote,
        lambda key: quote(key, safe=""),
        lambda key: base64.b64encode(key.encode()).decode().rstrip("="),
        lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("="),
    ],
)
def test_a_key_that_is_written_in_another_way_is_cut_out(monkeypatch, key, form):
    monkeypatch.setenv("SOME_KEY", key)
    read_secret("SOME_KEY")
    written = form(key)
    assert redact(f"<{written}>") == "<[SOME_KEY]>"
    broken = f"{written[:4]}\u200b{written[4:]}"
    assert redact(f"<{broken}>") == "<[SOME_KEY]>"


@pytest.mark.usefixtures("no_keys")
@pytest.mark.parametrize("before", ["", ":", "me", "me:", "user:"])
@pytest.mark.parametrize("after", ["", ":", "ab", "abc"])
def test_a_key_within_something_in_base64_is_cut_out(monkeypatch, before, after):
    monkeypatch.setenv("SOME_KEY", "sk-planted-0123")
    read_secret("SOME_KEY")
    text = base64.b64encode(f"{before}sk-planted-0123{after}".encode()).decode()
    cut = redact(f"Basic {text}")
    assert "[SOME_KEY]" in cut
    assert len(cut) - len("Basic [SOME_KEY]") <= len(text) - 18


@pytest.mark.usefixtures("no_keys")
def test_what_writers_of_json_for_html_make_of_a_key_is_cut_out(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk+a<b>&c=planted")
    read_secret("SOME_KEY")
    assert redact(r"k sk\u002Ba\u003Cb\u003E\u0026c=planted") == "k [SOME_KEY]"
    assert redact(r"k sk+a\u003cb\u003e\u0026c=planted") == "k [SOME_KEY]"
    assert redact(r"k sk+a\u003cb\u003e\u0026c\u003dplanted") == "k [SOME_KEY]"


@pytest.mark.usefixtures("no_keys")
def test_a_word_in_the_place_of_a_key_is_left_in_texts(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "none")
    assert read_secret("SOME_KEY") == "none"
    assert redact("none of them") == "none of them"


@pytest.mark.parametrize("value", ["", "   "])
def test_a_key_that_is_not_set_is_missing(monkeypatch, value):
    monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(MissingKey, match="SOME_KEY is not set"):
        read_secret("SOME_KEY")


@pytest.mark.parametrize("value", ["sk-one\nsk-two", "sk one two", "sk-\u00fcmlaut"])
def test_a_key_that_no_header_carries_is_refused_without_being_shown(monkeypatch, value):
    monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(UsageError) as caught:
        read_secret("SOME_KEY")
    assert "SOME_KEY" in caught.value.what
    assert "sk" not in caught.value.what
