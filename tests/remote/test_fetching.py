"""Files that a service points to: which addresses are asked, and what of their answers is taken."""

from __future__ import annotations

import pytest
from certificates import self_signed
from remotekit import DATA, FileService, Stopwatch, raw_server
from vgen_eval.errors import Transient, Undecodable
from vgen_eval.remote import fetch
from vgen_eval_plugins.standins.server import Answer, Order, drop, halfway, redirect, status


@pytest.fixture(scope="module")
def shared():
    with FileService() as service:
        yield service


@pytest.fixture
def files(shared):
    shared.seen.clear()
    assert shared.unmet == 0
    return shared


def test_a_file_of_the_service_itself_is_fetched(files):
    assert fetch(f"{files.url}/file", trusted=f"{files.url}/v1") == DATA


def test_no_key_and_no_cookie_goes_along(files):
    fetch(f"{files.url}/file", trusted=files.url)
    assert set(files.seen[0].headers) == {"host", "accept", "accept-encoding"}


def test_letters_and_blanks_of_an_address_are_escaped(files):
    given = f"{files.url}/echo/über uns/a%20b?sig=a/b==&q=ä"
    assert fetch(given, trusted=files.url) == b"/echo/%C3%BCber%20uns/a%20b?sig=a/b==&q=%C3%A4"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254",
        "100.64.0.1", "0.0.0.0", "[::1]", "[::]", "[::ffff:10.0.0.1]", "[::ffff:127.0.0.1]",
        "[::10.0.0.1]", "[2002:0a00:0001::1]", "[64:ff9b::a00:1]", "[fe80::1]", "[fd00::1]",
        "[fec0::1]", "224.0.0.1", "255.255.255.255", "localhost", "LOCALHOST", "2130706433",
        "0x7f000001", "0177.0.0.1", "127.1", "0",
    ],
)  # fmt: skip
def test_a_private_address_is_never_asked(host):
    with pytest.raises(Undecodable, match="private address"):
        fetch(f"https://{host}/latest/meta-data")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a.png", "ftp://example.com/a.png", "file:///etc/passwd",
        "gopher://example.com", "//example.com/a.png", "a.png", "", "https://", "https://a b/",
        "https://me:word@example.com/", "https://example.com:x/", "https://[::1/",
        "https://exa\x00mple.com/", "data:image/png;base64,AAAA",
    ],
)  # fmt: skip
def test_only_https_addresses_are_asked(url):
    with pytest.raises(Undecodable):
        fetch(url)


def test_a_host_name_that_cannot_be_is_no_address():
    with pytest.raises(Undecodable, match="no host"):
        fetch(f"https://{'a' * 70}.example/")


@pytest.mark.parametrize("port", [1, 2])
def test_another_port_than_the_services_own_is_not_trusted(files, port):
    with pytest.raises(Undecodable, match="https only"):
        fetch(f"http://127.0.0.1:{port}/file", trusted=files.url)


def test_https_on_the_services_own_host_is_not_its_origin(files):
    with pytest.raises(Undecodable, match="private address"):
        fetch(f"https://{files.host}/file", trusted=files.url)


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest", "https://10.0.0.1/", "https://localhost/", "http://example/"],
)
def test_a_redirect_to_a_private_address_is_refused(files, target):
    files.order(redirect(target))
    with pytest.raises(Undecodable, match=r"private address|https only"):
        fetch(f"{files.url}/file", trusted=files.url)


def test_a_redirect_within_the_service_is_followed(files):
    files.order(redirect("/file", number=307))
    assert fetch(f"{files.url}/elsewhere", trusted=files.url) == DATA


def test_a_circle_of_redirects_ends(files):
    files.whim = lambda _seen: redirect("/file")
    try:
        with pytest.raises(Undecodable, match="more than 5 redirects"):
            fetch(f"{files.url}/file", trusted=files.url)
    finally:
        files.whim = None
    assert len(files.seen) == 6


@pytest.mark.parametrize("target", ["", "https://[::1/"])
def test_a_redirect_to_nowhere_is_refused(files, target):
    files.order(redirect(target))
    with pytest.raises(Undecodable, match=r"nowhere|no address"):
        fetch(f"{files.url}/file", trusted=files.url)


@pytest.mark.parametrize("number", [408, 429, 500, 502, 503, 504])
def test_a_status_that_may_pass_is_transient(files, number):
    files.order(status(number))
    with pytest.raises(Transient, match=f"status {number}"):
        fetch(f"{files.url}/file", trusted=files.url)


@pytest.mark.parametrize("number", [204, 401, 403, 404, 410])
def test_another_status_is_no_file(files, number):
    files.order(Order(answer=Answer(status=number)))
    with pytest.raises(Undecodable, match=f"status {number}"):
        fetch(f"{files.url}/file", trusted=files.url)


def test_a_file_that_says_it_is_too_large_is_not_read(files):
    with pytest.raises(Undecodable, match=f"{len(DATA)} bytes, over the limit of 100"):
        fetch(f"{files.url}/file", trusted=files.url, limit=100)


def test_a_file_that_grows_too_large_is_given_up():
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with (
        raw_server(pieces=[head, *[bytes(1000)] * 50], pause=0.0) as url,
        pytest.raises(Undecodable, match="over the limit of 5000 bytes"),
    ):
        fetch(url, trusted=url, limit=5000)


def test_a_file_without_a_length_is_read_to_its_end():
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with raw_server(pieces=[head, DATA], pause=0.0) as url:
        assert fetch(url, trusted=url) == DATA


@pytest.mark.parametrize("order", [drop(), halfway()])
def test_a_connection_that_is_lost_is_transient(files, order):
    files.order(order)
    with pytest.raises(Transient):
        fetch(f"{files.url}/file", trusted=files.url)


def test_nobody_at_the_address_is_transient():
    with pytest.raises(Transient, match="ConnectionRefusedError"):
        fetch("http://127.0.0.1:1/file", trusted="http://127.0.0.1:1/")


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b"x"] * 1000],
        [b"HTTP/1.1 200 OK\r\n", *[f"X-{at}: y\r\n".encode() for at in range(90)]],
        [bytes([letter]) for letter in b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    ],
    ids=["body", "headers", "status line"],
)
def test_an_answer_that_trickles_is_cut_off_at_the_deadline(pieces):
    watch = Stopwatch()
    with raw_server(pieces=pieces, pause=0.1) as url, pytest.raises(Transient, match="too long"):
        fetch(url, trusted=url, timeout=0.5)
    assert watch.seconds < 2


def test_an_answer_that_never_comes_is_transient():
    watch = Stopwatch()
    with raw_server(pieces=[b""], pause=30) as url, pytest.raises(Transient):
        fetch(url, trusted=url, timeout=0.3)
    assert watch.seconds < 2


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    pytest.importorskip("cryptography")
    context, certificate = self_signed(tmp_path_factory.mktemp("tls"))
    with FileService(tls=context) as service:
        yield service, certificate


def test_a_certificate_that_nobody_signed_is_refused(sealed):
    service, _ = sealed
    with pytest.raises(Undecodable, match="certificate cannot be verified"):
        fetch(f"{service.url}/file", trusted=service.url)
    assert service.seen == []


def test_a_certificate_that_is_trusted_is_taken(sealed, monkeypatch):
    service, certificate = sealed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert fetch(f"{service.url}/file", trusted=service.url) == DATA


def test_a_certificate_for_another_name_is_refused(sealed, monkeypatch):
    service, certificate = sealed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    url = service.url.replace("127.0.0.1", "localhost")
    with pytest.raises(Undecodable, match="certificate cannot be verified"):
        fetch(f"{url}/file", trusted=url)


def test_a_signed_address_is_not_shown(files):
    with pytest.raises(Undecodable) as caught:
        fetch(f"{files.url}/gone?signature=hunter2#hunter2", trusted=files.url)
    assert "hunter2" not in str(caught.value)
