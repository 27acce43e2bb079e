"""What was made lately stays within its bound, the least used going first."""

from __future__ import annotations

from vgen_eval.viewer.remembered import Remembered


def test_a_thing_is_made_once_and_the_least_used_goes_first() -> None:
    kept: Remembered[str | None] = Remembered(2)
    assert kept.get("a", lambda: "made") == "made"
    assert kept.get("a", lambda: "again") == "made"
    assert kept.get("none", lambda: None) is None
    assert kept.get("none", lambda: "again") is None  # nothing is a thing like others
    kept.get("a", lambda: "again")
    kept.put("b", "b")
    assert (kept.find("a"), kept.find("none"), kept.find("b")) == ("made", None, "b")
    assert kept.get("none", lambda: "again") == "again"
    assert kept.held == 2


def test_things_are_kept_by_weight() -> None:
    kept: Remembered[bytes] = Remembered(10, weigh=len)
    kept.put("a", bytes(6))
    kept.put("b", bytes(4))
    assert kept.held == 10
    kept.put("b", bytes(1))  # another in its place
    assert kept.held == 7
    kept.put("c", bytes(4))
    assert kept.held == 5
    assert kept.find("a") is None


def test_what_is_heavier_than_all_there_is_puts_nothing_out() -> None:
    kept: Remembered[bytes] = Remembered(10, weigh=len)
    kept.put("a", bytes(6))
    assert kept.get("b", lambda: bytes(11)) == bytes(11)
    assert kept.find("b") is None
    assert kept.find("a") == bytes(6)
    kept.put("a", bytes(11))  # what it was is not what it is
    assert kept.find("a") is None
    assert kept.held == 0


def test_the_last_one_stays_where_it_is_to() -> None:
    kept: Remembered[bytes] = Remembered(10, weigh=len, keeps_last=True)
    assert kept.latest is None
    kept.put("a", bytes(6))
    kept.put("b", bytes(11))
    assert kept.find("a") is None
    assert kept.find("b") == kept.latest == bytes(11)
    kept.put("c", bytes(1))
    assert kept.find("b") is None
    assert kept.held == 1
    kept.put("d", bytes(2))
    kept.find("c")
    assert kept.latest == bytes(1)
