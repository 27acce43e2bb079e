"""What adapters of services share: arguments, pictures, words and likelihoods."""

from __future__ import annotations

import logging
import math
import time

import numpy as np
import pytest
from vgen_eval import secrets
from vgen_eval.errors import AccessDenied, CallError, Refused, Transient, UsageError
from vgen_eval.imaging import Image
from vgen_eval.secrets import read_secret
from vgen_eval_plugins.models.arguments import check_arguments, parameters_of
from vgen_eval_plugins.models.likelihoods import first_place, read_choices
from vgen_eval_plugins.models.payloads import data_uri, encode, from_base64, no_picture, no_video
from vgen_eval_plugins.models.replies import date_of, number, whole
from vgen_eval_plugins.models.service import (
    Service,
    connection_error,
    hush,
    status_error,
    words,
)

SERVICE = Service(host="api.example.com", model="m", key_env="SOME_KEY")
PICTURE = Image(np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3))


def test_words_of_a_provider_are_one_short_line_without_keys_and_pictures(monkeypatch):
    monkeypatch.setattr(secrets, "_known", {})
    monkeypatch.setenv("SOME_KEY", "sk-planted-0123")
    read_secret("SOME_KEY")
    said = words(f"bad\n  key sk-planted-0123 in {'iVBOR' * 100} " + "and so on " * 100)
    assert said.startswith("bad key [SOME_KEY] in [500 characters] and so on")
    assert len(said) == 400


def test_a_key_inside_a_long_word_is_cut_out_before_the_word_is(monkeypatch):
    monkeypatch.setattr(secrets, "_known", {})
    monkeypatch.setenv("SOME_KEY", "sk-planted-0123")
    read_secret("SOME_KEY")
    assert "planted" not in words("x" * 90 + "sk-planted-0123")


@pytest.mark.parametrize(
    ("number", "codes", "kind"),
    [
        (400, ["content_filter"], Refused),
        (403, ["moderation_blocked"], Refused),
        (400, ["ResponsibleAIPolicyViolation"], Refused),
        (400, ["model_not_found"], AccessDenied),
        (400, ["API_KEY_INVALID"], AccessDenied),
        (418, [None], CallError),
        (413, [], CallError),
        (500, [None, "server_error"], Transient),
    ],
)
def test_codes_count_before_statuses(number, codes, kind):
    fault = status_error(number, "so it is", service=SERVICE, codes=codes)
    assert type(fault) is kind
    assert "so it is" in str(fault)


def test_404_of_a_job_says_nothing_of_the_model():
    assert type(status_error(404, "", service=SERVICE, job=True)) is CallError
    assert type(status_error(404, "", service=SERVICE)) is AccessDenied


class ReadTimeout(Exception):
    """As HTTP libraries name theirs."""


def test_what_happened_on_the_line_is_told_by_its_deepest_cause():
    try:
        try:
            raise ConnectionResetError(104, "reset by peer")
        except OSError as exc:
            raise RuntimeError("Connection error.") from exc
    except RuntimeError as exc:
        fault = connection_error(exc, service=SERVICE)
    assert str(fault) == ("api.example.com: ConnectionResetError: [Errno 104] reset by peer")
    assert type(fault) is Transient
    assert type(connection_error(ReadTimeout(), service=SERVICE, seconds=2.0)) is TimeoutError


def test_loggers_are_kept_to_warnings_and_louder_ones_stay():
    logging.getLogger("loud.sdk").setLevel(logging.DEBUG)
    logging.getLogger("quiet.sdk").setLevel(logging.ERROR)
    hush("loud.sdk", "quiet.sdk")
    assert logging.getLogger("loud.sdk").level == logging.WARNING
    assert logging.getLogger("quiet.sdk").level == logging.ERROR


# --- pictures ---------------------------------------------------------------------------------


def test_a_picture_survives_its_data_uri():
    import io

    import PIL.Image

    data = from_base64(data_uri(PICTURE))
    assert data == encode(PICTURE) == PICTURE.png()
    with PIL.Image.open(io.BytesIO(data)) as picture:
        assert np.array_equal(np.asarray(picture), PICTURE.array)
    assert no_picture(encode(PICTURE, "jpeg")) is None
    assert data_uri(PICTURE, "jpeg").startswith("data:image/jpeg;base64,/9j/")


@pytest.mark.parametrize(
    "text", ["aGVsbG8=", "aGVsbG8", "aGVs\nbG8=\n", "data:x/y;base64,aGVsbG8="]
)
def test_base64_is_read_with_and_without_its_trimmings(text):
    assert from_base64(text) == b"hello"


@pytest.mark.parametrize("text", ["a", "aGVs bG8*", "aGVsbG8=x", "data:image/png,hello", "\u00fc"])
def test_what_is_no_base64_is_said_to_be_none(text):
    with pytest.raises(CallError, match="base64"):
        from_base64(text)


def test_the_limit_is_asked_before_and_after_decoding():
    assert from_base64("aGVsbG8=", limit=5) == b"hello"
    with pytest.raises(CallError, match="over the limit of 4"):
        from_base64("aGVsbG8=", limit=4)
    with pytest.raises(CallError, match="over the limit of 10"):
        from_base64("A" * 1000, limit=10)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\n <!DOCTYPE html><html>", "a web page"),
        (b'{"error": 1}', "JSON"),
        (b"<svg/>", "XML or SVG"),
        (b"", "an empty file"),
        (b"abc", "3 bytes of unknown format"),
    ],
)
def test_bytes_that_are_no_picture_say_what_they_are(data, reason):
    assert no_picture(data) == f"{reason} in place of a picture"
    assert no_video(data) == f"{reason} in place of a video"


def test_videos_are_known_by_their_first_bytes():
    assert no_video(b"\x00\x00\x00\x18ftypmp42") is None
    assert no_video(b"\x1aE\xdf\xa3") is None
    assert no_video(PICTURE.png()) is not None


# --- arguments --------------------------------------------------------------------------------


def _call(self, prompt, *, quality="auto", seed=None, **rest):
    """Stands for an SDK's method."""


def test_arguments_are_held_against_the_method():
    known = parameters_of(_call)
    assert known == {"prompt", "quality", "seed"}
    ours = {"prompt": "the task's"}
    check_arguments({"quality": 1, "seed": 2}, known=known, ours=ours, call="call")
    with pytest.raises(UsageError, match=r"call takes none\. Nearest: quality") as caught:
        check_arguments(["qualty"], known=known, ours=ours, call="call", cure="elsewhere")
    assert caught.value.cure == "elsewhere"
    with pytest.raises(UsageError, match=r"generation\.prompt: set by the harness: the task's"):
        check_arguments(["prompt"], known=known, ours=ours, call="call")


# --- likelihoods ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "choices", "expected", "flags"),
    [
        ({"yes": 0.5, "no": 0.25}, ("yes", "no"), {"yes": 0.5, "no": 0.25}, ()),
        ({" yes": 0.25, "yes": 0.25, "no": 0.25}, ("yes", "no"), {"yes": 0.5, "no": 0.25}, ()),
        ({"Yes": 0.5, "YES": 0.25, "no": 0.125}, ("yes", "no"), {"yes": 0.75, "no": 0.125}, ()),
        ({"A": 0.5, "a": 0.25, "B": 0.125}, ("A", "B"), {"A": 0.5, "B": 0.125}, ()),
        (
            {"Ex": 0.5, "poor": 0.25},
            ("excellent", "poor"),
            {"excellent": 0.5, "poor": 0.25},
            ("choice_leading_token",),
        ),
        ({"yes": 0.5, "p": 0.25}, ("yes", "no"), {"yes": 0.5, "no": None, "p": 0.25},
         ("choice_floored",)),
        (
            {"good": 0.5, "go": 0.1},
            ("good", "gone"),
            {"good": 0.5, "gone": None, "go": 0.1},
            ("choice_floored",),
        ),
        ({"yes": 0.5, "": 0.2, " ": 0.1, "no": 0.3}, ("yes", "no"), {"yes": 0.5, "no": 0.3}, ()),
        ({"B.": 0.5, "A": 0.25}, ("A", "B"), {"A": 0.25, "B": 0.5}, ()),
        ({" B)": 0.25, "B:": 0.125, "B": 0.125, "A.": 0.5}, ("A", "B"), {"A": 0.5, "B": 0.5}, ()),
        ({"Yes.": 0.5, "no": 0.25}, ("yes", "no"), {"yes": 0.5, "no": 0.25}, ()),
        ({"B.": 0.5, "A": 0.25, "a.": 0.125}, ("A", "B."), {"A": 0.25, "B.": 0.5}, ()),
        # `B)` could be either of two
        ({"B)": 0.5, "B": 0.25, "B.": 0.125}, ("B", "B."), {"B": 0.25, "B.": 0.125}, ()),
        (
            {"B.": 0.5, "C.": 0.25},
            ("B. left", "C. right"),
            {"B. left": 0.5, "C. right": 0.25},
            ("choice_leading_token",),
        ),
    ],
)  # fmt: skip
def test_tokens_are_counted_for_the_choice_they_mean(tokens, choices, expected, flags):
    answer, found = read_choices({t: math.log(p) for t, p in tokens.items()}, choices)
    found_p = {word: value if value is None else math.exp(value) for word, value in answer.items()}
    assert found_p == pytest.approx(expected)
    assert found == flags


LIKELIEST = [("good", -0.3), ("Good", -2.0), ("fine", -3.0)]


@pytest.mark.parametrize(
    ("own", "known"),
    [
        # OpenAI's number for what is very unlikely is no floor for what is not told at all
        (("weird", -9999.0), dict(LIKELIEST)),
        (("poor", -3.5), dict(LIKELIEST)),
        (("poor", -1.0), {"poor": -1.0, **dict(LIKELIEST)}),
        (("good", -0.3), dict(LIKELIEST)),
        (("weird", None), dict(LIKELIEST)),
        ((None, None), dict(LIKELIEST)),
        ((" ", -0.1), {}),
    ],
)
def test_the_sampled_token_joins_the_likeliest_above_the_least_of_them(own, known):
    found = first_place([(own, LIKELIEST)])
    assert found == known
    if known:
        answer, _ = read_choices(found, ("good", "bad"))
        assert answer["bad"] is None
        assert answer["fine"] == -3.0


def test_a_sampled_token_alone_is_all_that_is_known():
    assert first_place([(("yes", -0.1), [])]) == {"yes": -0.1}
    assert first_place([((" ", -0.1), []), (("yes", -0.2), [])]) == {"yes": -0.2}


def test_a_number_for_very_unlikely_is_no_log_probability():
    rows = [("good", -0.3), ("poor", -9999.0), ("", -9999.0), ("fine", -3.0)]
    found = first_place([(("good", -0.3), rows)])
    assert found == {"good": -0.3, "fine": -3.0}
    answer, flags = read_choices(found, ("good", "poor"))
    assert answer == {"good": -0.3, "poor": None, "fine": -3.0}
    assert flags == ("choice_floored",)
    # the next place is another word's
    assert first_place([(("poor", -9999.0), []), (("good", -0.1), [])]) == {}


def test_no_choice_among_the_tokens_is_none():
    assert read_choices({"maybe": -0.1}, ("yes", "no")) == (None, ())


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Thu, 01 Jan 2026 10:00:00 GMT", "2026-01-01T10:00:00Z"),
        ("Thu, 01 Jan 2026 10:00:00 -0000", "2026-01-01T10:00:00Z"),
        ("Thu, 01 Jan 2026 10:00:00 +0530", "2026-01-01T04:30:00Z"),
        ("Fri, 31 Dec 9999 23:59:59 -2359", None),
        ("Mon, 99 Foo", None),
        ("", None),
    ],
)
def test_the_date_of_a_reply_is_in_utc_wherever_it_is_read(monkeypatch, date, expected):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert date_of({"Date": date}) == expected
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("value", "count", "real"),
    [
        (3, 3, 3.0), ("3", 3, None), (3.5, None, 3.5), (True, None, None), (-1, None, -1.0),
        ("9" * 5000, None, None), (1 << 60, None, float(1 << 60)), (10**400, None, None),
        (float("nan"), None, None), (float("inf"), None, None), ([1], None, None),
        ("\u00b2", None, None),
    ],
)  # fmt: skip
def test_counts_and_numbers_are_read_or_passed_over(value, count, real):
    assert whole(value) == count
    assert number(value) == real


def test_a_picture_larger_than_jpeg_can_be_is_an_error_of_that_request():
    wide = Image(np.zeros((1, 65_501, 3), np.uint8))
    with pytest.raises(CallError, match="no JPEG of 65501x1 pixels"):
        encode(wide, "jpeg")
