"""Baselines answer every form they claim, the floor never looks, the flaky one fails as told."""

from __future__ import annotations

import time
from collections import Counter
from importlib.resources import files
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
import skimage.data
from numpy.typing import NDArray
from vgen_eval.errors import RateLimited, Refused, Transient
from vgen_eval.imaging import Image
from vgen_eval.types import FORMS, Adapter, NoOptions, Output, Request, Scene
from vgen_eval_plugins.baselines import ADAPTERS
from vgen_eval_plugins.baselines.blind import Blind, BlindOptions
from vgen_eval_plugins.baselines.classical import Classical
from vgen_eval_plugins.baselines.copying import Copy
from vgen_eval_plugins.baselines.flaky import KINDS, Flaky, FlakyOptions, Kind, kind_of
from vgen_eval_plugins.baselines.oracle import Oracle
from vgen_eval_plugins.baselines.regions import colours_named
from vgen_eval_plugins.counting.components import Components
from vgen_eval_plugins.counting.decoders import CountText, Points
from vgen_eval_plugins.counting.encoders import (
    ComponentsEncoder,
    CountTextEncoder,
    PointsEncoder,
    RedDotsEncoder,
    RedDotsEncoderOptions,
)
from vgen_eval_plugins.counting.red_dots import RedDots, RedDotsOptions
from vgen_eval_plugins.depth.encoders import (
    DepthMapEncoder,
    LuminanceDepthEncoder,
    LuminanceDisparityEncoder,
)
from vgen_eval_plugins.depth.luminance import Luminance
from vgen_eval_plugins.depth.native_map import DepthMapOptions, NativeDepth
from vgen_eval_plugins.normals.encoders import NormalMapEncoder, RgbNormalsEncoder
from vgen_eval_plugins.normals.native_map import NormalMap
from vgen_eval_plugins.normals.rgb_normals import RgbNormals
from vgen_eval_plugins.segmentation.binary_mask import BinaryMask
from vgen_eval_plugins.segmentation.encoders import BinaryMaskEncoder, MaskEncoder
from vgen_eval_plugins.segmentation.native_mask import NativeMask
from vgen_eval_plugins.semantic.encoders import NativeLabelsEncoder, NearestColourEncoder
from vgen_eval_plugins.semantic.native_labels import LabelOptions, NativeLabels
from vgen_eval_plugins.semantic.nearest_colour import NearestColour, NearestColourOptions

FAMILIES = ("counting", "referring", "depth", "normals", "semantic", "no such family")
ADAPTER_CLASSES = {
    "oracle": Oracle, "blind": Blind, "copy": Copy, "classical": Classical, "flaky": Flaky,
}  # fmt: skip


def random_photo(height: int = 90, width: int = 120, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def request_for(
    picture: NDArray[np.uint8] | None, *, family: str, form: str, sample: str = "a",
    prompt: str = "", **more: Any,
) -> Request:  # fmt: skip
    images = () if picture is None else (Image(picture),)
    return Request(
        id=f"{sample}/0", sample=sample, attempt=0, family=family, form=form,  # type: ignore[arg-type]
        prompt=prompt, images=images, choices=("good", "poor"), **more,
    )  # fmt: skip


def ask(adapter: Adapter, request: Request) -> Any:
    (output,) = adapter.generate([request])
    assert output.id == request.id
    return output.answer


def scene_of(picture: NDArray[np.uint8]) -> Scene:
    return Scene(image=Image(picture), size=(picture.shape[0], picture.shape[1]))


def test_every_adapter_keeps_the_contract_and_is_registered() -> None:
    assert set(ADAPTERS) == set(ADAPTER_CLASSES)
    for name, cls in ADAPTER_CLASSES.items():
        module, _, attribute = ADAPTERS[name].partition(":")
        assert (module, attribute) == (cls.__module__, cls.__name__)
        adapter = cls(cls.Options())
        assert isinstance(adapter, Adapter)
        assert set(cls.forms) <= set(FORMS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("picture", [None, (1, 1), (3, 50), (90, 120)])
@pytest.mark.parametrize("name", ["oracle", "blind", "copy", "classical"])
def test_no_family_form_or_size_makes_a_baseline_raise(
    name: str, family: str, picture: tuple[int, int] | None
) -> None:
    cls = ADAPTER_CLASSES[name]
    adapter = cls(cls.Options())
    pixels = None if picture is None else random_photo(*picture)
    for form in cls.forms:
        ask(adapter, request_for(pixels, family=family, form=form))


def test_oracle_answers_with_the_ideal_and_with_nothing_where_there_is_none() -> None:
    ideal = np.ones((2, 2), bool)
    oracle = Oracle(NoOptions())
    assert ask(oracle, request_for(None, family="referring", form="mask", ideal=ideal)) is ideal
    assert ask(oracle, request_for(None, family="referring", form="mask")) is None


def test_copy_answers_with_the_first_picture() -> None:
    picture = random_photo()
    answer = ask(Copy(NoOptions()), request_for(picture, family="depth", form="image"))
    assert np.array_equal(answer, picture)
    assert ask(Copy(NoOptions()), request_for(None, family="depth", form="image")) is None


PALETTE = NearestColourOptions(palette={"sky": "#00ffff", "road": "#ff0000"})
IN_OPENCV = RgbNormals.Options(frame="opencv")
LEFT_FIRST = NormalMap.Options(frame="left up toward")

CODECS: dict[str, list[tuple[str, Any, Any]]] = {
    "counting": [
        ("image", RedDots(RedDotsOptions()), RedDotsEncoder(RedDotsEncoderOptions())),
        ("image", Components(Components.Options()), ComponentsEncoder(ComponentsEncoder.Options())),
        ("text", CountText(NoOptions()), CountTextEncoder(NoOptions())),
        ("points", Points(NoOptions()), PointsEncoder(NoOptions())),
    ],
    "referring": [
        ("image", BinaryMask(BinaryMask.Options()), BinaryMaskEncoder(BinaryMask.Options())),
        ("mask", NativeMask(NoOptions()), MaskEncoder(NoOptions())),
    ],
    "depth": [
        ("image", Luminance(Luminance.Options()), LuminanceDepthEncoder(NoOptions())),
        ("image", Luminance(Luminance.Options()), LuminanceDisparityEncoder(NoOptions())),
        ("depth_map", NativeDepth(DepthMapOptions()), DepthMapEncoder(DepthMapOptions())),
    ],
    "normals": [
        ("image", RgbNormals(RgbNormals.Options()), RgbNormalsEncoder(RgbNormals.Options())),
        ("image", RgbNormals(IN_OPENCV), RgbNormalsEncoder(IN_OPENCV)),
        ("normal_map", NormalMap(NormalMap.Options()), NormalMapEncoder(NormalMap.Options())),
        ("normal_map", NormalMap(LEFT_FIRST), NormalMapEncoder(LEFT_FIRST)),
    ],
    "semantic": [
        ("image", NearestColour(PALETTE), NearestColourEncoder(PALETTE)),
        ("label_map", NativeLabels(LabelOptions()), NativeLabelsEncoder(LabelOptions())),
    ],
}


def ask_blind(blind: Blind, picture: NDArray[np.uint8], family: str) -> list[Any]:
    """What each codec of the family reads from the prior that it wrote itself."""
    scene = scene_of(picture)
    read = []
    for form, decoder, encoder in CODECS[family]:
        request = request_for(
            picture, family=family, form=form,
            encode=lambda target, encoder=encoder: encoder.encode(target, scene),
        )  # fmt: skip
        read.append(decoder.decode(ask(blind, request), scene).value)
    return read


@pytest.mark.parametrize(("height", "width"), [(200, 300), (512, 512), (1500, 900), (90, 120)])
@pytest.mark.parametrize("count", [0, 1, 5, 12])
def test_blind_counts_alike_through_every_codec(height: int, width: int, count: int) -> None:
    picture = np.full((height, width, 3), 90, np.uint8)
    assert ask_blind(Blind(BlindOptions(count=count)), picture, "counting") == [count] * 4


def test_blind_marks_a_centred_box_through_every_codec() -> None:
    expected = np.zeros((80, 120), bool)
    expected[20:60, 30:90] = True
    masks = ask_blind(Blind(BlindOptions()), random_photo(80, 120), "referring")
    assert len(masks) == 2
    assert all(np.array_equal(mask, expected) for mask in masks)


def test_blind_sees_a_floor_that_runs_away_through_every_codec() -> None:
    bright, bright_too, metres = ask_blind(Blind(BlindOptions()), random_photo(80, 120), "depth")
    assert metres.space == "depth"
    assert metres.values[:, 3] == pytest.approx(np.linspace(10, 2, 80), abs=1e-5)
    for read in (bright, bright_too):
        assert read.space == "relative"
        assert (np.diff(read.values[:, 3]) >= 0).all()  # the nearest, at the bottom, is brightest
        assert np.ptp(read.values, axis=1).max() == 0
    ranged = ask_blind(Blind(BlindOptions(near_m=1, far_m=3)), random_photo(80, 120), "depth")
    assert (ranged[2].values.min(), ranged[2].values.max()) == (1, 3)


def test_blind_faces_the_camera_through_every_codec() -> None:
    for read in ask_blind(Blind(BlindOptions()), random_photo(80, 120), "normals"):
        assert read.shape == (80, 120, 3)
        assert read == pytest.approx(np.broadcast_to([0.0, 0.0, 1.0], read.shape), abs=0.01)


def test_blind_says_the_first_class_through_every_codec() -> None:
    painted, native = ask_blind(Blind(BlindOptions()), random_photo(80, 120), "semantic")
    assert painted.classes == ("sky", "road")
    for read in (painted, native):
        assert read.labels.shape == (80, 120)
        assert not read.labels.any()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "video"])
def test_blind_never_looks_at_pixels(family: str, form: str) -> None:
    blind = Blind(BlindOptions())
    one = ask(blind, request_for(random_photo(seed=1), family=family, form=form))
    two = ask(blind, request_for(random_photo(seed=2), family=family, form=form))
    assert np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two


def test_colours_are_read_off_a_prompt_as_codes_levels_or_words() -> None:
    words = "the road dark red, the wall orange, the terrain light green, and everything else black"
    assert colours_named(words) == [(139, 0, 0), (255, 165, 0), (144, 238, 144)]
    assert colours_named("a : [1, 2, 3]\nb : [0, 0, 0]\nc : [1, 2, 3]") == [(1, 2, 3)]
    assert colours_named("orange: #0000FF; void: black (#000000)") == [(0, 0, 255)]
    assert colours_named("no colour is scared") == []


@pytest.mark.parametrize("form", Classical.forms)
@pytest.mark.parametrize("family", FAMILIES)
def test_classical_answers_the_same_every_time(family: str, form: str) -> None:
    picture = skimage.data.coffee()
    prompt = "sky: #00ffff; road: #ff0000; tree: #00ff00; void: #000000"
    request = request_for(picture, family=family, form=form, prompt=prompt)
    first = ask(Classical(NoOptions()), request)
    ask(Classical(NoOptions()), request_for(random_photo(), family="referring", form="mask"))
    again = ask(Classical(NoOptions()), request)
    assert np.array_equal(first, again)


def test_classical_counts_discs_on_a_plain_ground() -> None:
    picture = np.full((300, 400, 3), 230, np.uint8)
    yy, xx = np.mgrid[:300, :400]
    centres = [(60, 60), (200, 60), (340, 60), (60, 220), (102, 220), (250, 200)]  # two touch
    for x, y in centres:
        picture[(yy - y) ** 2 + (xx - x) ** 2 <= 22**2] = (60, 90, 140)
    classical = Classical(NoOptions())
    scene = scene_of(picture)
    points = ask(classical, request_for(picture, family="counting", form="points"))
    assert len(points) == 6
    gaps = np.abs(points[:, None, :] - np.array(centres)[None, :, :]).max(axis=2).min(axis=0)
    assert (gaps < 3).all()
    assert ask(classical, request_for(picture, family="counting", form="text")) == "6"
    image = ask(classical, request_for(picture, family="counting", form="image"))
    assert RedDots(RedDotsOptions()).decode(image, scene).value == 6


def test_classical_cuts_a_central_object_out() -> None:
    yy, xx = np.mgrid[:240, :320]
    target = (yy - 120) ** 2 + (xx - 160) ** 2 <= 60**2
    picture = np.where(target[..., None], (200, 60, 50), (40, 120, 70)).astype(np.uint8)
    picture += np.random.default_rng(0).integers(0, 20, picture.shape, dtype=np.uint8)
    mask = ask(Classical(NoOptions()), request_for(picture, family="referring", form="mask"))
    assert (mask & target).sum() / (mask | target).sum() > 0.95


def test_classical_takes_no_long_time_for_a_large_photo() -> None:
    picture = np.asarray(Image(random_photo(3000, 4000)).array)
    classical = Classical(NoOptions())
    start = time.perf_counter()
    for family in FAMILIES:
        ask(classical, request_for(picture, family=family, form="image", prompt="#ff0000 #00ff00"))
    assert time.perf_counter() - start < 10.0


def flaky_outputs(kind: Kind, *, form: str = "image", **options: Any) -> list[Output]:
    adapter = Flaky(FlakyOptions(kinds=(kind,), **options))
    picture = np.full((90, 120, 3), 90, np.uint8)
    return list(adapter.generate([request_for(picture, family="counting", form=form)]))


def test_kinds_are_dealt_by_sample_and_attempt_and_all_come_up() -> None:
    dealt = Counter(kind_of(f"sample-{n}", 0) for n in range(500))
    assert set(dealt) == set(KINDS) == set(get_args(Kind))
    assert min(dealt.values()) > 10
    assert kind_of("a", 0) == kind_of("a", 0)
    samples = [f"sample-{n}" for n in range(50)]
    assert [kind_of(s, 0) for s in samples] != [kind_of(s, 1) for s in samples]
    assert [kind_of(s, 0) for s in samples] != [kind_of(s, 0, salt=1) for s in samples]
    assert {kind_of(s, 0, kinds=("ok", "refused")) for s in samples} == {"ok", "refused"}


def test_adapter_does_what_the_pure_function_says() -> None:
    kinds: tuple[Kind, ...] = ("ok", "nothing", "refused")
    adapter = Flaky(FlakyOptions(kinds=kinds))
    seen: Counter[str] = Counter()
    for number in range(60):
        request = request_for(random_photo(), family="counting", form="text", sample=f"s{number}")
        try:
            answer = ask(adapter, request)
        except Refused:
            seen["refused"] += 1
        else:
            seen["nothing" if answer is None else "ok"] += 1
    assert seen == Counter(kind_of(f"s{number}", 0, kinds=kinds) for number in range(60))


SOUND: list[tuple[str, Any]] = [
    ("image", BinaryMask(BinaryMask.Options())),
    ("image", Luminance(Luminance.Options())),
    ("image", RgbNormals(RgbNormals.Options())),
    ("image", NearestColour(PALETTE)),
    ("mask", NativeMask(NoOptions())),
    ("depth_map", NativeDepth(DepthMapOptions())),
    ("normal_map", NormalMap(NormalMap.Options())),
    ("label_map", NativeLabels(LabelOptions(classes=("sky", "road")))),
]


@pytest.mark.parametrize("kind", ["ok", "wrong_size", "constant"])
@pytest.mark.parametrize(("form", "decoder"), SOUND)
def test_pictures_and_maps_of_the_flaky_model_can_be_decoded(
    kind: Kind, form: str, decoder: Any
) -> None:
    (output,) = flaky_outputs(kind, form=form)
    decoder.decode(output.answer, scene_of(np.full((90, 120, 3), 90, np.uint8)))


def test_good_kinds_answer_well() -> None:
    for kind in ("ok", "hang"):
        (output,) = flaky_outputs(kind, hang_s=0.0)
        assert output.answer.shape == (90, 120, 3)
    twice = flaky_outputs("twice")
    assert [output.id for output in twice] == ["a/0", "a/0"]


def test_bad_answers_are_bad_in_the_way_named() -> None:
    assert flaky_outputs("wrong_size")[0].answer.shape == (90, 60, 3)
    for form in ("image", "mask", "label_map", "depth_map", "normal_map"):
        assert len(np.unique(flaky_outputs("constant", form=form)[0].answer)) == 1
    assert isinstance(flaky_outputs("text_for_picture")[0].answer, str)
    assert flaky_outputs("nothing")[0].answer is None
    assert isinstance(flaky_outputs("garbage_bytes")[0].answer, bytes)
    assert flaky_outputs("foreign_id")[0].id != "a/0"
    assert flaky_outputs("no_output") == []


def test_raising_kinds_raise_what_they_are_named_for() -> None:
    with pytest.raises(RuntimeError, match="on purpose"):
        flaky_outputs("exception")
    with pytest.raises(Refused):
        flaky_outputs("refused")


@pytest.mark.parametrize(
    ("kind", "error"), [("transient", Transient), ("rate_limited", RateLimited)]
)
def test_faults_that_pass_pass_on_the_second_call(kind: Kind, error: type[Exception]) -> None:
    adapter = Flaky(FlakyOptions(kinds=(kind,)))
    request = request_for(random_photo(), family="counting", form="text")
    with pytest.raises(error):
        ask(adapter, request)
    assert ask(adapter, request) == "5"
    assert ask(adapter, request) == "5"


def test_hanging_call_takes_as_long_as_told() -> None:
    start = time.perf_counter()
    flaky_outputs("hang", hang_s=0.05)
    assert time.perf_counter() - start >= 0.05


def test_flaky_options_are_checked() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"kinds": ["explodes"]}, FlakyOptions)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"kinds": []}, FlakyOptions)
    assert Flaky(FlakyOptions(batch=4)).max_batch == 4


def test_model_cards_name_their_adapters_forms_and_options() -> None:
    from pathlib import Path

    from vgen_eval.cards import convert, load_card

    folder = Path(str(files("vgen_eval.model_cards"))) / "baselines"
    paths = sorted(folder.glob("*.yaml"))
    assert [path.stem for path in paths] == sorted(ADAPTER_CLASSES)
    for path in paths:
        card: Any = load_card(path).record
        cls = ADAPTER_CLASSES[card.adapter]
        assert card.model == path.stem == card.adapter
        assert set(card.answers) <= set(cls.forms)
        assert card.availability == "code"
        assert card.licence == "Apache-2.0"
        convert(cls.Options, card.options, file=str(path))
    roles = {path.stem: getattr(load_card(path).record, "role") for path in paths}  # noqa: B009
    assert roles == {
        "oracle": "ceiling", "blind": "floor", "copy": "model", "classical": "model",
        "flaky": "model",
    }  # fmt: skip
