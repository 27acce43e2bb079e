"""Pictures by their addresses: dead links, other bytes, redirects, runs that were broken off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from countkit import Pictures, files_below, picture, row, sha256, write_rows
from vgen_eval.errors import StorageError
from vgen_eval_plugins.datasets import fetching
from vgen_eval_plugins.datasets.fetching import Fetched, Fetcher, Wanted
from vgen_eval_plugins.datasets.pixmo_count import PixMoCount
from vgen_eval_plugins.standins.server import Answer, Order, hang, redirect, status


@pytest.fixture
def service() -> Iterator[Pictures]:
    with Pictures() as pictures:
        yield pictures


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PAUSE_S", 0.01)


def wanted(service: Pictures, *numbers: int) -> list[Wanted]:
    return [Wanted(sha256(picture(n)), (f"{service.url}/{n}.png",)) for n in numbers]


def bring(
    root: Path, service: Pictures, pictures: list[Wanted], count: int | None = None
) -> tuple[list[Fetched], Fetcher]:
    fetcher = Fetcher(root, trusted=service.url)
    return list(fetcher.bring(pictures, count=count, say=str)), fetcher


def test_pictures_come_in_their_order_and_lie_by_their_sha256(
    tmp_path: Path, service: Pictures
) -> None:
    pictures = wanted(service, *range(40))
    found, fetcher = bring(tmp_path, service, pictures)
    assert [one.sha256 for one in found] == [one.sha256 for one in pictures]
    assert {(one.suffix, one.size) for one in found} == {("png", (50, 40))}
    assert files_below(tmp_path / "images") == sorted(f"{one.sha256}.png" for one in pictures)
    assert fetcher.counts == {}
    assert service.most_at_once <= fetching.WORKERS


def test_no_more_is_asked_for_than_is_wanted(tmp_path: Path, service: Pictures) -> None:
    found, _ = bring(tmp_path, service, wanted(service, *range(40)), 5)
    assert len(found) == 5
    assert service.asked == [f"/{n}.png" for n in range(5)]


def test_what_lies_there_with_the_right_bytes_is_not_fetched(
    tmp_path: Path, service: Pictures
) -> None:
    pictures = wanted(service, 1, 2, 3)
    before, _ = bring(tmp_path, service, pictures)
    (tmp_path / "images" / f"{pictures[1].sha256}.png").write_bytes(picture(2)[:-30])
    service.seen.clear()
    assert bring(tmp_path, service, pictures)[0] == before
    assert service.asked == ["/2.png"]


@pytest.mark.parametrize(
    ("order", "kind", "why"),
    [
        (Order(answer=Answer(status=404)), "dead links", "status 404"),
        (Order(answer=Answer(body=picture(9))), "other pictures", "sha256"),
        (Order(answer=Answer(body=picture(1)[:-40])), "other pictures", "sha256"),
        (Order(answer=Answer(body=b"<html>moved</html>")), "other pictures", "sha256"),
        (redirect("https://10.0.0.1/1.png"), "dead links", "private address"),
        (redirect("http://example.invalid/1.png"), "dead links", "https only"),
    ],
)
def test_what_cannot_be_had_is_counted_with_the_reason(
    tmp_path: Path, service: Pictures, order: Order, kind: str, why: str
) -> None:
    service.order(order)
    found, fetcher = bring(tmp_path, service, wanted(service, 1))
    assert found == []
    assert dict(fetcher.counts) == {kind: 1}
    (lost,) = fetcher.lost
    assert why in lost["why"]
    assert lost["url"] == f"{service.url}/1.png"
    assert not (tmp_path / "images").exists()


def test_bytes_that_are_right_and_no_picture_are_left_out(
    tmp_path: Path, service: Pictures
) -> None:
    text = b"these are the bytes that were wanted"
    service.order(Order(answer=Answer(body=text)))
    found, fetcher = bring(tmp_path, service, [Wanted(sha256(text), (f"{service.url}/1.png",))])
    assert found == []
    assert dict(fetcher.counts) == {"unreadable pictures": 1}


def test_a_redirect_within_the_service_is_followed(tmp_path: Path, service: Pictures) -> None:
    service.order(redirect("/1.png"))
    address = (f"{service.url}/old.png",)
    found, _ = bring(tmp_path, service, [Wanted(sha256(picture(1)), address)])
    assert len(found) == 1


def test_a_fault_that_passes_is_tried_again_once(tmp_path: Path, service: Pictures) -> None:
    service.order(status(503))
    assert len(bring(tmp_path, service, wanted(service, 1))[0]) == 1
    service.order(status(503), status(503))
    found, fetcher = bring(tmp_path, service, wanted(service, 2))
    assert found == []
    assert dict(fetcher.counts) == {"dead links": 1}


def test_the_next_address_of_a_picture_is_tried(tmp_path: Path, service: Pictures) -> None:
    service.gone = {"/7.png"}
    addresses = (f"{service.url}/7.png", f"{service.url}/8.png", f"{service.url}/1.png")
    found, fetcher = bring(tmp_path, service, [Wanted(sha256(picture(1)), addresses)])
    assert len(found) == 1
    assert fetcher.counts == {}


@pytest.mark.parametrize("trusted", [None, "http://127.0.0.1:1"])
def test_plain_http_is_asked_over_https_unless_it_is_trusted(
    tmp_path: Path, service: Pictures, trusted: str | None
) -> None:
    fetcher = Fetcher(tmp_path, trusted=trusted)
    assert list(fetcher.bring(wanted(service, 1), count=None, say=str)) == []
    assert "private address" in fetcher.lost[0]["why"]
    assert service.seen == []


def test_progress_is_told(tmp_path: Path, service: Pictures) -> None:
    said: list[str] = []
    list(Fetcher(tmp_path, trusted=service.url).bring(
        wanted(service, *range(50)), count=60, say=said.append
    ))  # fmt: skip
    assert said == ["50 of 60 pictures"]


def test_a_folder_that_cannot_be_written_ends_it(tmp_path: Path, service: Pictures) -> None:
    (tmp_path / "images").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="cannot be written"):
        bring(tmp_path, service, wanted(service, 1))


class Stopped(Exception):
    """As a user's interrupt comes: in the middle of the work."""


def prepare(root: Path, service: Pictures, say: Any = str) -> PixMoCount:
    reader = PixMoCount(PixMoCount.Options(trusted=service.url), root=root, folder=root)
    reader.prepare(say)
    return reader


def test_a_run_that_was_broken_off_goes_on_where_it_was(
    tmp_path: Path, service: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(service, n, "things", 2, points=None) for n in range(60)]
    write_rows(tmp_path, rows, name="test-00000-of-00001")

    def stop(_: str) -> None:
        raise Stopped

    monkeypatch.setattr(fetching, "TELL_EVERY", 20)
    with pytest.raises(Stopped):
        prepare(tmp_path, service, stop)
    assert not (tmp_path / "index.jsonl").exists()
    there = len(files_below(tmp_path / "images"))
    assert 20 <= there < 60
    service.seen.clear()
    assert len(prepare(tmp_path, service).index()) == 60
    assert len(service.seen) == 60 - there
    assert not [name for name in files_below(tmp_path) if name.endswith(".part")]


def test_preparing_again_gives_the_same_bytes_and_fetches_nothing(
    tmp_path: Path, service: Pictures
) -> None:
    rows = [row(service, n, "things", 2, points=None) for n in range(12)]
    write_rows(tmp_path, rows, name="test-00000-of-00001")
    prepare(tmp_path, service)
    kept = {name: (tmp_path / name).read_bytes() for name in ("index.jsonl", "prepared.json")}
    service.seen.clear()
    prepare(tmp_path, service)
    assert kept == {name: (tmp_path / name).read_bytes() for name in kept}
    assert service.seen == []


def test_an_index_that_is_torn_is_made_anew(tmp_path: Path, service: Pictures) -> None:
    write_rows(tmp_path, [row(service, 1, "x", 2, points=None)], name="test-00000-of-00001")
    prepare(tmp_path, service)
    (tmp_path / "index.jsonl").write_text('{"part": "te')
    (tmp_path / "prepared.json").write_text("{")
    reader = prepare(tmp_path, service)
    assert len(reader.index()) == 1
    assert json.loads((tmp_path / "prepared.json").read_text())["test"]["samples"] == 1


def test_a_slow_service_is_given_up(
    tmp_path: Path, service: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT_S", 0.2)
    service.order(hang(2), hang(2))
    found, fetcher = bring(tmp_path, service, wanted(service, 1))
    assert found == []
    assert dict(fetcher.counts) == {"dead links": 1}
