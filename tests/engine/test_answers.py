"""Answers of every wrong shape: the run completes, each has a status and a reason."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import kit
import numpy as np
import PIL.Image
import pytest
from vgen_eval import Image, Output, Request, Usage
from vgen_eval.answers import AnswerFault, pack, unpack

RNG = np.random.default_rng(0)
PHOTO = RNG.integers(0, 256, (12, 16, 3), dtype=np.uint8)


def file_of(picture: Any, form: str = "PNG", **more: Any) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(picture).save(buffer, form, **more)
    return buffer.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG file of a few bytes that declares this size."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    pixels = chunk(b"IDAT", zlib.compress(b"\0" * 1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixels + chunk(b"IEND", b"")


class Unreadable:
    """An object that raises when it is read as an array."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("on another device")


class Endless:
    def __str__(self) -> str:
        raise ValueError("no words")


PNG = file_of(PHOTO)
JPG = file_of(PHOTO, "JPEG")
NO = "no_answer"
UN = "undecodable"

WRONG: list[tuple[str, Any, str, str]] = [
    ("image", PHOTO / 255.0, UN, "uint8 .H, W, 3., float64"),
    ("image", np.dstack([PHOTO, PHOTO[:, :, :2]]), UN, "3 or 4 channels, 5 seen"),
    ("image", PHOTO.astype(np.int64), UN, "int64"),
    ("image", np.zeros((0, 5, 3), np.uint8), UN, "uint8 .0, 5, 3. seen"),
    ("image", np.zeros(7, np.uint8), UN, r"uint8 .7,. seen"),
    ("image", np.array([None, {}], dtype=object), UN, "object"),
    ("image", [[1, 2], [3]], UN, "list instead of an image"),
    ("image", {"image": PHOTO}, UN, "dict instead of an image"),
    ("image", Unreadable(), UN, "Unreadable cannot be read: RuntimeError: on another device"),
    ("image", "Here is your picture \ud83d", NO, "text instead of an image"),
    ("image", PIL.Image.new("F", (16, 12)), UN, "a picture of floats seen"),
    ("image", b"", UN, "the file is empty"),
    ("image", b"no file at all", UN, "not a picture"),
    ("image", b"<html><body>502</body></html>", UN, "not a picture .it begins with '<html><body>'"),
    ("image", PNG[: len(PNG) // 2], UN, "cannot be decoded"),
    ("image", JPG[: len(JPG) // 2], UN, "cannot be decoded"),
    ("image", bomb(12_000, 12_000), UN, "declares 12000x12000 pixels, over the limit"),
    ("image", bomb(60_000, 60_000), UN, "3600000000 pixels. exceeds limit"),
    ("image", bytearray(b"\x89PNG but no more"), UN, "not a picture"),
    ("image", None, NO, "the model gave nothing"),
    ("mask", np.full((4, 5), np.nan), "ok", ""),
    ("mask", np.zeros((4, 5, 3)), UN, r"not a mask: float64 .4, 5, 3."),
    ("mask", np.array([["a", "b"]]), UN, "not a mask: <U1"),
    ("mask", np.zeros((2, 2), dtype=complex), UN, "not a mask: complex128"),
    ("mask", b"bytes of something", UN, "not a mask"),
    ("mask", [[True], [True, False]], UN, "list instead of a mask"),
    ("mask", "yes", NO, "text instead of a mask"),
    ("label_map", np.zeros(4), UN, "not a label_map: float64"),
    ("depth_map", np.zeros((1, 2, 3, 4)), UN, "not a depth_map"),
    ("depth_map", Unreadable(), UN, "on another device"),
    ("normal_map", np.zeros((4, 4)), UN, "not a normal_map"),
    ("points", [[1, 2, 3]], UN, r"points are .N, 2. finite numbers, .1, 3. seen"),
    ("points", [1, 2], UN, r"points are .N, 2. finite numbers"),
    ("points", [[1, float("nan")]], UN, "finite numbers"),
    ("points", [[10**400, 1]], UN, "OverflowError"),
    ("points", [[1, 2], [3]], UN, "points are"),
    ("points", "12, 13", UN, "points are"),
    ("points", np.array([[1j, 2]]), UN, "points are|Complex"),
    ("points", Unreadable(), UN, "on another device"),
    ("text", False, NO, "bool instead of text"),
    ("text", b"seven", NO, "bytes instead of text"),
    ("text", ["seven"], NO, "list instead of text"),
    ("choice", {}, NO, "log-probabilities of the choices wanted"),
    ("choice", "a", NO, "log-probabilities"),
    ("choice", {"a": float("nan")}, UN, "log-probability of 'a' is nan"),
    ("choice", {"a": True}, UN, "log-probability of 'a' is no number"),
    ("choice", {"a": "-0.5"}, UN, "log-probability of 'a' is no number"),
    ("choice", {"a": float("inf")}, UN, "log-probability of 'a' is inf"),
    ("choice", {"a": "likely"}, UN, "log-probability of .* is no number"),
    ("choice", {"a": [1]}, UN, "no number"),
    ("choice", {Endless(): 0.0}, UN, "no words"),
    ("video", PHOTO, UN, "a video is bytes, ndarray seen"),
    ("video", "a film", NO, "text instead of a video"),
]

RIGHT: list[tuple[str, Any, str, list[int]]] = [
    ("image", PHOTO, "ndarray", [12, 16, 3]),
    ("image", PHOTO[:, :, 0], "ndarray", [12, 16, 3]),
    ("image", PHOTO[::-1, ::-2, ::-1], "ndarray", [12, 8, 3]),
    ("image", Image(PHOTO), "ndarray", [12, 16, 3]),
    ("image", np.dstack([PHOTO, PHOTO[:, :, 0]]), "ndarray", [12, 16, 3]),
    ("image", PNG, "ndarray", [12, 16, 3]),
    ("image", memoryview(JPG), "ndarray", [12, 16, 3]),
    *(
        ("image", PIL.Image.fromarray(PHOTO).convert(mode), "ndarray", [12, 16, 3])
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "HSV", "I")
    ),
    ("image", PIL.Image.new("I;16", (16, 12)), "ndarray", [12, 16, 3]),
    ("mask", PHOTO[:, :, 0] > 9, "ndarray", [12, 16]),
    ("mask", [[0, 1], [1, 0]], "ndarray", [2, 2]),
    ("label_map", PHOTO[:, :, 0].astype(np.int32).T, "ndarray", [16, 12]),
    ("depth_map", PHOTO[:, :, 0].astype(np.float16), "ndarray", [12, 16]),
    ("depth_map", np.full((2, 2, 1), np.inf), "ndarray", [2, 2]),
    ("depth_map", PHOTO[None, ::2, ::-3, 0].astype(">f8"), "ndarray", [6, 6]),
    ("label_map", PHOTO[:, :, :1].astype(">i2"), "ndarray", [12, 16]),
    ("mask", PHOTO[None, :, :, 0] > 9, "ndarray", [12, 16]),
    ("normal_map", np.ones((1, 4, 3), np.float16), "ndarray", [1, 4, 3]),
    ("normal_map", np.zeros((2, 2, 3)), "ndarray", [2, 2, 3]),
    ("points", [], "ndarray", [0, 2]),
    ("points", [(1, 2), (3, 4)], "ndarray", [2, 2]),
    ("text", "", "str", [0]),
    ("text", "\ud800 lone \udfff", "str", [8]),
    ("text", "m" * 1_000_000, "str", [1_000_000]),
    ("choice", {"a": -1, "b": None}, "dict", [2]),
    ("choice", {"a": np.float32(-1), 2: float("-inf")}, "dict", [2]),
    ("video", b"\0\0\0 ftypisom", "bytes", [12]),
]


def answered(toys: Path, form: str, answers: list[Any]) -> tuple[list[Any], list[Any]]:
    """Runs a model that gives these answers, sample by sample; the lines of both files in order."""

    def model(request: Request) -> Any:
        return answers[int(request.sample[1:])]

    task = kit.task(toys, n=len(answers), protocol={"answers": kit.ALL_FORMS})
    card = kit.run(toys, tasks=task, model=model, forms=[form], model_name=f"m-{form[:2]}")
    assert card.complete
    assert card.counts.expected == len(answers)
    for path in kit.run_folder(toys, card).rglob("*.json*"):
        kit.lines(path) if path.suffix == ".jsonl" else kit.strict(path.read_text())
    found = (kit.predictions(toys, card), kit.scores(toys, card))
    first, second = (sorted(each, key=lambda line: line["sample"]) for each in found)
    return first, second


@pytest.mark.parametrize("form", sorted({form for form, *_ in WRONG}))
def test_wrong_answers_end_as_their_attempts_status_with_a_reason(toys: Path, form: str) -> None:
    import re

    cases = [case[1:] for case in WRONG if case[0] == form]
    lines, scored = answered(toys, form, [answer for answer, *_ in cases])
    for (_, status, words), line, score in zip(cases, lines, scored, strict=True):
        assert score["status"] == status, (words, score)
        assert re.search(words, score.get("reason", "")), (words, score)
        assert score.get("values") is not None  # a failure is scored as the failure value
        assert score["substitute"] == (status != "ok")
        assert line["status"] in (status, "ok")


@pytest.mark.parametrize("form", sorted({form for form, *_ in RIGHT}))
def test_right_answers_reach_the_decoder_in_one_type_and_again_when_rescored(
    toys: Path, form: str
) -> None:
    from vgen_eval.engine.rescore import rescore
    from vgen_eval.plugins import Catalog

    cases = [case[1:] for case in RIGHT if case[0] == form]
    _, scored = answered(toys, form, [answer for answer, *_ in cases])
    for (_, kind, shape), score in zip(cases, scored, strict=True):
        assert score["status"] == "ok", score
        assert score["prediction"] == {"type": kind, "shape": shape}
    (run,) = (toys / "out" / "runs").rglob("run.json")
    (file,) = (run.parent / "scores").glob("*.jsonl")
    before = sorted(file.read_text().splitlines())
    rescore(run.parent, Catalog.discover())
    assert sorted(file.read_text().splitlines()) == before


def test_text_in_place_of_a_picture_is_kept(toys: Path) -> None:
    (line,), _ = answered(toys, "image", ["I cannot draw \ud83d that"])
    assert line["text"] == "I cannot draw ? that"


def test_a_pillow_picture_that_ends_early_is_undecodable(toys: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.png").write_bytes(PNG[: len(PNG) // 2])
    with PIL.Image.open(tmp_path / "cut.png") as cut:
        _, (score,) = answered(toys, "image", [cut])
    assert score["status"] == "undecodable"
    assert "truncated" in score["reason"]


@pytest.mark.parametrize("form", ["mask", "depth_map"])
@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY\x01\x00", b"\x80\x04pickle", b"x"]
)
def test_bytes_that_are_no_array_are_undecodable(form: Any, data: bytes) -> None:
    from vgen_eval.errors import Undecodable

    with pytest.raises(Undecodable, match=r"not an array file|not a "):
        unpack(form, data=data)


def test_an_array_file_that_declares_a_huge_size_is_undecodable() -> None:
    from vgen_eval.errors import Undecodable

    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000, 90000)}\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
    with pytest.raises(Undecodable, match="over the limit"):
        unpack("depth_map", data=data)


def test_an_object_array_runs_no_pickle() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    from vgen_eval.errors import Undecodable

    with pytest.raises(Undecodable, match="pickle: not allowed"):
        unpack("depth_map", data=buffer.getvalue())


def test_pixels_survive_packing_bit_by_bit() -> None:
    for answer in (PHOTO, PHOTO[::-1, :, ::-1], PIL.Image.fromarray(PHOTO), Image(PHOTO)):
        packed = pack("image", answer)
        array = getattr(answer, "array", answer)
        assert np.array_equal(unpack("image", data=packed.data), np.asarray(array))
    table = RNG.normal(size=(5, 7)) * 9
    for depth in (table.T, table[::-1, ::2], *(table.astype(t) for t in ("f2", ">f4", "i8", "?"))):
        found = unpack("depth_map", data=pack("depth_map", depth).data)
        assert found.dtype == depth.dtype.newbyteorder("=")
        assert np.array_equal(found, depth)


@pytest.mark.parametrize("background", [(255, 255, 255), (10, 20, 30)])
def test_transparent_pixels_of_an_answer_lie_on_the_background_of_the_card(
    background: tuple[int, int, int],
) -> None:
    clear = PHOTO[:, :, 0] > 100
    answer = np.dstack([PHOTO, np.where(clear, 0, 255).astype(np.uint8)])
    found = unpack("image", data=pack("image", answer).data, background=background)
    assert (found[clear] == background).all()
    assert np.array_equal(found[~clear], PHOTO[~clear])


def test_a_pillow_picture_with_an_orientation_is_read_as_its_file_would_be() -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    data = file_of(PHOTO, "PNG", exif=exif)
    as_file = unpack("image", data=pack("image", data).data)
    with PIL.Image.open(io.BytesIO(data)) as picture:
        as_picture = unpack("image", data=pack("image", picture).data)
    assert as_file.shape == (16, 12, 3)
    assert np.array_equal(as_file, as_picture)


def test_equal_answers_have_equal_digests_and_others_do_not() -> None:
    assert pack("text", "a").sha256 == pack("text", "a").sha256 != pack("text", "b").sha256
    assert pack("image", PHOTO).sha256 == pack("image", PHOTO.copy()).sha256
    with pytest.raises(AnswerFault):
        pack("image", 3)


# --- what comes with an answer ------------------------------------------------------------


def test_odd_usage_and_ids_never_end_a_run(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import toybench.parts

    usages: list[Any] = [
        Usage(input_tokens=3, output_tokens=4, images=1, cost_usd=0.25),
        Usage(input_tokens=np.int64(5), cost_usd=np.float32(0.5)),  # type: ignore[arg-type]
        Usage(cost_usd=float("nan"), input_tokens="many"),  # type: ignore[arg-type]
        Usage(cost_usd=-1.0, images=float("inf")),  # type: ignore[arg-type]
        None,
    ]

    def generate(self: Any, requests: Any) -> Any:
        for request in requests:
            number = int(request.sample[1:])
            yield Output(
                id=request.id, answer=str(number), usage=usages[number],
                request_id=[None, "r\ud800", 7, b"x", "ok"][number],  # type: ignore[arg-type]
                reported_model=["m", None, 3.5, object, "m"][number],  # type: ignore[arg-type]
            )  # fmt: skip

    monkeypatch.setattr(toybench.parts.Teller, "generate", generate)
    card = kit.run(toys, tasks=kit.task(toys, n=5), model=kit.model(toys))
    assert card.counts.statuses == {"ok": 5}
    facts = {p["sample"]: p["volatile"] for p in kit.predictions(toys, card)}
    assert facts["s000"]["input_tokens"] == 3
    assert facts["s000"]["cost_usd"] == 0.25
    assert (facts["s001"]["input_tokens"], facts["s001"]["cost_usd"]) == (5, 0.5)
    assert facts["s001"]["request_id"] == "r?"
    assert not facts["s002"].keys() & {"cost_usd", "input_tokens"}
    assert not facts["s003"].keys() & {"cost_usd", "images"}
    assert card.volatile["cost_usd"] == 0.75


# --- plugins that give NumPy's numbers, or worse ------------------------------------------


def test_numpy_numbers_of_decoders_and_metrics_are_written_as_numbers(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts
    from vgen_eval import Prediction

    def decode(self: Any, answer: Any, scene: Any) -> Prediction:
        return Prediction(
            value=float(answer), flags=(np.str_("odd"),), summary={"a": np.arange(3), "b": np.True_}
        )

    def update(self: Any, pred: Any, target: Any, valid: Any) -> Any:
        return {"n": np.int64(1), "abs": np.float32(0.5), "sq": np.array(0.25)}

    monkeypatch.setattr(toybench.parts.Number, "decode", decode)
    monkeypatch.setattr(toybench.parts.Error, "update", update)
    card = kit.run(toys, tasks=kit.task(toys, n=3), model=kit.model(toys))
    assert card.score("mae").value == 0.5
    assert card.score("rmse").value == 0.5
    assert kit.scores(toys, card)[0]["prediction"] == {"a": [0, 1, 2], "b": True}


@pytest.mark.parametrize(
    ("statistics", "words"),
    [
        ({"n": 1, "abs": float("nan"), "sq": 0.0}, r"statistics of toybench:error\.abs is nan"),
        ({"n": 1, "abs": object(), "sq": 0.0}, r"abs is object"),
        ({1: 1}, "has the key 1"),
        (None, "NoneType"),
    ],
)
def test_statistics_that_cannot_be_written_are_that_attempts_error(
    toys: Path, monkeypatch: pytest.MonkeyPatch, statistics: Any, words: str
) -> None:
    import toybench.parts

    update = toybench.parts.Error.update

    def broken(self: Any, pred: Any, target: Any, valid: Any) -> Any:
        return statistics if target == 1 else update(self, pred, target, valid)

    monkeypatch.setattr(toybench.parts.Error, "update", broken)
    card = kit.run(toys, tasks=kit.task(toys, n=3), model=kit.model(toys))
    assert card.counts.statuses == {"error": 1, "ok": 2}
    (score,) = [s for s in kit.scores(toys, card) if s["status"] == "error"]
    assert words.replace("\\", "") in score["reason"]
    assert not card.complete


def test_decoding_in_threads_leaves_the_warnings_of_the_process_as_they_were() -> None:
    import threading
    import warnings

    before = list(warnings.filters)

    def decode() -> None:
        for _ in range(150):
            unpack("image", data=JPG)

    threads = [threading.Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before
