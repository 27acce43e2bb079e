"""A folder becomes a task: card, manifest, preview; nothing is left where it does not."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import PIL.Image
import pytest
import yaml
from makingkit import FAMILIES, HOSTILE, make_folder, make_photo, make_truth, save
from vgen_eval.cards import check_card, load_card, protocol
from vgen_eval.cards.records import TaskCard
from vgen_eval.engine.evaluate import evaluate
from vgen_eval.errors import CardError, UsageError
from vgen_eval.making.new import FaultyData, Made, NewTask, make_task
from vgen_eval.plugins import Catalog

CEILING = {"delta1": 0.99, "mean": 2.0, "giou": 0.99, "miou": 0.99, "mae": 0.0}
"""Primary -> what a perfect model reaches at least, or at most where less is better."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.discover()


def make(folder: Path, catalog: Catalog, **said: Any) -> Made:
    return make_task(NewTask(folder=folder, **{"family": None, **said}), catalog)


def task_of(path: Path) -> TaskCard:
    record = load_card(path).record
    assert isinstance(record, TaskCard)
    return record


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_of_each_family_becomes_a_task_that_a_perfect_model_solves(
    tmp_path: Path, catalog: Catalog, family: str
) -> None:
    hints = make_folder(tmp_path / "data", family)
    made = make(tmp_path / "data", catalog, family=family, hints=hints, facts={"licence": "CC0"})
    card = task_of(made.files["card"])
    assert (card.task, card.family, card.dataset.n) == ("my/data", family, 4)
    assert (card.dataset.licence, made.unknown) == ("CC0", ("source", "citation"))
    assert check_card(made.files["card"], catalog) == []
    score = made.ceiling.score()
    bound = CEILING[score.metric]
    assert score.value >= bound if score.higher_is_better else score.value <= bound
    found = sorted(path.name for path in (tmp_path / "data").iterdir() if path.is_file())
    assert {"manifest.jsonl", "preview.html", "task.yaml"} <= set(found)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_protocols_are_those_of_the_familys_own_task(
    tmp_path: Path, catalog: Catalog, family: str
) -> None:
    hints = make_folder(tmp_path, family)
    card = task_of(make(tmp_path, catalog, family=family, hints=hints).files["card"])
    own = task_of(catalog.find("task", f"samples/{family}")[1].path)
    assert list(card.protocols) == list(own.protocols)
    assert card.default_protocol == own.default_protocol
    for name in own.protocols:
        mine, theirs = protocol(card, name), protocol(own, name)
        if family == "semantic":  # its palette and prompts name the classes
            assert [a.decoder for a in mine.answers] == [a.decoder for a in theirs.answers]
            mine = msgspec.structs.replace(mine, answers=theirs.answers)
        assert mine == theirs


def test_the_protocols_of_another_task_can_be_taken(tmp_path: Path, catalog: Catalog) -> None:
    make_folder(tmp_path, "counting")
    made = make(tmp_path, catalog, like="samples/counting@white_dots", name="acme/dots")
    card = task_of(made.files["card"])
    assert (card.task, card.family, card.default_protocol) == (
        "acme/dots",
        "counting",
        "white_dots",
    )
    with pytest.raises(UsageError, match="of the family counting, not depth"):
        make(tmp_path, catalog, like="samples/counting", family="depth", force=True)


def test_classes_get_their_palette_wherever_an_answer_has_one(
    tmp_path: Path, catalog: Catalog
) -> None:
    make_folder(tmp_path, "semantic")
    (tmp_path / "names.yaml").write_text("0: a\n1: no\n2: 1e3\n3: '{b}'\n")
    hints = {"classes": str(tmp_path / "names.yaml")}
    card = task_of(make(tmp_path, catalog, family="semantic", hints=hints).files["card"])
    for body in card.protocols.values():
        for answer in body.answers:
            if answer.decoder == "nearest_colour":
                assert list(answer.options["palette"]) == ["a", "no", "1e3", "{b}"]


def test_answers_take_the_frame_of_the_data_where_a_protocol_has_the_houses(
    tmp_path: Path, catalog: Catalog
) -> None:
    make_folder(tmp_path, "normals")
    hints = {"frame": "right down toward"}
    card = task_of(make(tmp_path, catalog, family="normals", hints=hints).files["card"])
    standard, other = card.protocols["standard"], card.protocols["red_left"]
    assert [a.options["frame"] for a in standard.answers] == ["right down toward"] * 2
    assert standard.title == "Normals as colours or arrays, x right, y down, z toward the camera"
    assert str(standard.source).endswith("Changed here: frame right down toward.")
    assert [a.options["frame"] for a in other.answers] == ["dsine"] * 2
    assert other.title.startswith("Red to the left")


def test_an_option_that_a_card_leaves_at_its_default_is_exchanged_too(
    tmp_path: Path, catalog: Catalog
) -> None:
    make_folder(tmp_path / "a", "normals")
    path = make(tmp_path / "a", catalog, family="normals").files["card"]
    path.write_text(path.read_text().replace("frame: opengl", "min_length: 0.5", 1))
    text = re.sub(r"( +)options:\n +frame: opengl\n", "", path.read_text())
    path.write_text(text.replace("normals:\n        frame: opengl", "normals: {frame: opengl}"))
    assert "frame: opengl" not in path.read_text().split("protocols:")[1]
    make_folder(tmp_path / "b", "normals")
    hints = {"frame": "opencv"}
    card = task_of(make(tmp_path / "b", catalog, like=str(path), hints=hints).files["card"])
    assert {a.options["frame"] for a in card.protocols["standard"].answers} == {"opencv"}


def test_a_task_is_not_written_over_unless_forced(tmp_path: Path, catalog: Catalog) -> None:
    make_folder(tmp_path, "counting")
    (tmp_path / "task.yaml").write_text("mine")
    with pytest.raises(UsageError, match="is there already") as caught:
        make(tmp_path, catalog, family="counting")
    assert caught.value.cure == "--force writes over it"
    assert (tmp_path / "task.yaml").read_text() == "mine"
    assert not (tmp_path / "manifest.jsonl").exists()
    make(tmp_path, catalog, family="counting", force=True)
    assert task_of(tmp_path / "task.yaml").task.startswith("my/")


def test_faulty_data_is_told_whole_and_leaves_nothing(tmp_path: Path, catalog: Catalog) -> None:
    hints = make_folder(tmp_path, "referring")
    save(tmp_path / "targets" / "1.png", np.zeros((5, 6), np.uint8))
    (tmp_path / "targets" / "3.png").write_bytes(b"no picture")
    save(tmp_path / "images" / "alone.png", make_photo(9))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FaultyData) as caught:
        make(tmp_path, catalog, family="referring", hints=hints)
    assert [p.file for p in caught.value.problems] == ["targets/1.png", "targets/3.png"]
    assert caught.value.left_out == ("images/alone.png: no mask file",)
    assert sorted(tmp_path.iterdir()) == before


def test_what_stood_there_is_put_back_when_forcing_fails(tmp_path: Path, catalog: Catalog) -> None:
    hints = make_folder(tmp_path, "referring")
    make(tmp_path, catalog, family="referring", hints=hints)
    kept = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    save(tmp_path / "targets" / "1.png", np.zeros((5, 6), np.uint8))
    with pytest.raises(CardError):
        make(tmp_path, catalog, family="referring", hints=hints, force=True)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == kept


def test_a_truth_that_is_all_ignored_is_legal_and_not_scored(
    tmp_path: Path, catalog: Catalog
) -> None:
    make_folder(tmp_path, "semantic")
    save(tmp_path / "targets" / "2.png", np.full(make_truth("semantic", 0).shape, 255, np.uint8))
    made = make(tmp_path, catalog, family="semantic")
    assert made.ceiling.counts.statuses == {"ok": 3, "no_valid_target": 1}
    assert made.ceiling.score().value >= 0.99


def test_a_card_of_data_can_be_read_by_any_yaml_reader(tmp_path: Path, catalog: Catalog) -> None:
    make_folder(tmp_path, "counting")
    facts = {"licence": "1e3", "source": "yes", "citation": "a: b # c\nd"}
    made = make(tmp_path, catalog, family="counting", facts=facts, title="0o17")
    card = task_of(made.files["card"])
    assert (card.dataset.licence, card.dataset.source) == ("1e3", "yes")
    assert (card.dataset.citation, card.title) == ("a: b # c\nd", "0o17")
    other = yaml.safe_load(made.files["card"].read_text())
    assert other["dataset"]["source"] == "yes"


# --- the preview


def test_depth_is_shown_with_what_its_greys_mean_and_the_first_metrics_values(
    tmp_path: Path, catalog: Catalog
) -> None:
    hints = make_folder(tmp_path, "depth")
    page = read_page(make(tmp_path, catalog, family="depth", hints=hints).files["preview"])
    text = "\n".join(page.shown)
    assert "bright is larger" in text
    assert re.search(r"black: [01]\.\d+\nwhite: 3\.\d", text)
    assert "scored: delta1 " in text
    assert "depth_space" not in text.partition("scored:")[2].partition("\n")[0]


class _Reader(HTMLParser):
    """Elements with their attributes, and the text that is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, Mapping[str, str | None]]] = []
        self.shown: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


def read_page(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert reader.open == []
    return reader


def test_the_preview_shows_three_samples_and_fetches_nothing(
    tmp_path: Path, catalog: Catalog
) -> None:
    hints = make_folder(tmp_path, "referring", count=5)
    page = read_page(make(tmp_path, catalog, family="referring", hints=hints).files["preview"])
    pictures = [str(attrs["src"]) for tag, attrs in page.elements if tag == "img"]
    assert len(pictures) == 3 * 4
    decoded = []
    for source in pictures:
        head, _, data = source.partition(",")
        assert head == "data:image/png;base64"
        decoded.append(np.asarray(PIL.Image.open(io.BytesIO(base64.b64decode(data)))))
    assert np.array_equal(decoded[0], make_photo(0))
    for shown in decoded[1:4]:  # truth, perfect answer, read back
        assert np.array_equal(shown[..., 0], make_truth("referring", 0))
    kept = {"href", "srcset", "style", "background", "action", "xlink:href"}
    assert not [a for _, attrs in page.elements for a in attrs if a in kept or a.startswith("on")]
    assert not {tag for tag, _ in page.elements} & {"script", "link", "iframe", "object", "base"}


def test_the_preview_forbids_all_but_its_own_style_and_pictures(
    tmp_path: Path, catalog: Catalog
) -> None:
    hints = make_folder(tmp_path, "referring")
    path = make(tmp_path, catalog, family="referring", hints=hints).files["preview"]
    policy = next(a["content"] for t, a in read_page(path).elements if "http-equiv" in a)
    style = re.search(r"<style>(.*?)</style>", path.read_text(), re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert "color-scheme: light dark" in style[1]


def test_hostile_ids_queries_and_tags_are_text_and_nothing_else(
    tmp_path: Path, catalog: Catalog
) -> None:
    make_folder(tmp_path, "counting", count=2)
    rows = [{"id": HOSTILE, "image": "0.png", "query": HOSTILE, "count": 2}]
    (tmp_path / "counts.csv").unlink()
    (tmp_path / "counts.jsonl").write_text(json.dumps(rows[0]) + "\n")
    made = make(tmp_path, catalog, family="counting")
    page = read_page(made.files["preview"])
    assert "script" not in {tag for tag, _ in page.elements}
    text = "".join(page.shown)
    wanted = HOSTILE.replace("\u202e", "")
    assert f"query: {wanted}" in text
    assert text.count(wanted) >= 3  # the id, the field, the prompt
    assert "\u202e" not in text
    [line] = (tmp_path / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["query"] == HOSTILE


def test_hostile_queries_reach_a_model_unharmed(tmp_path: Path, catalog: Catalog) -> None:
    make_folder(tmp_path, "counting", count=1)
    row = {"id": "a", "image": "0.png", "query": HOSTILE, "count": 2}
    (tmp_path / "counts.csv").unlink()
    (tmp_path / "counts.jsonl").write_text(json.dumps(row) + "\n")
    make(tmp_path, catalog, family="counting")
    prompts: list[str] = []

    def model(request: Any) -> str:
        prompts.append(request.prompt)
        return "2"

    [card] = evaluate(
        tasks=str(tmp_path), model=model, forms=["text"], output=tmp_path / "results", bounds=False
    )
    assert card.score().value == 0
    assert HOSTILE in prompts[0]


@pytest.mark.parametrize("beside", [False, True])
def test_what_a_mask_excludes_does_not_steer_the_ceiling(
    tmp_path: Path, catalog: Catalog, beside: bool
) -> None:
    ceilings = []
    for name, rubbish in (("clean", 2.0), ("spoilt", 190.0)):
        folder = tmp_path / name
        for seed in range(3):
            depth = (make_truth("depth", seed) / 1000).astype(np.float32)
            known = np.ones(depth.shape, np.uint8)
            known[:12] = 0
            depth[:12] = rubbish
            save(folder / f"{seed}.png", make_photo(seed))
            save(folder / f"{seed}_depth.npy", depth)
            save(folder / (f"{seed}_depth_mask.npy" if beside else f"m/{seed}.npy"), known)
        hints = {"valid": "." if beside else "m"}
        made = make(folder, catalog, family="depth", hints=hints)
        ceilings.append({s.metric: s.value for s in made.ceiling.scores})
    assert ceilings[0] == ceilings[1]


@pytest.mark.parametrize("empty", [(2,), (0, 1, 2, 3)])
@pytest.mark.parametrize("by", ["zeros", "max_depth", "mask"])
def test_samples_without_any_reading_are_shown_and_said(
    tmp_path: Path, catalog: Catalog, empty: tuple[int, ...], by: str
) -> None:
    for seed in range(4):
        depth = np.full((60, 80), 3.0, np.float32)
        depth += np.linspace(0, 1, 80, dtype=np.float32)
        if seed in empty and by != "mask":
            depth[:] = 0 if by == "zeros" else 9
        save(tmp_path / "images" / f"{seed}.png", make_photo(seed))
        save(tmp_path / "depth" / f"{seed}.npy", depth)
        if by == "mask":
            save(tmp_path / "m" / f"{seed}.npy", np.full(depth.shape, seed not in empty))
    hints: dict[str, Any] = {"max_depth": {"max_depth": 5}, "mask": {"valid": "m"}}.get(by, {})
    made = make(tmp_path, catalog, family="depth", hints=hints)
    assert made.ceiling.counts.data_fault == len(empty)
    page = made.files["preview"].read_text()
    assert page.count("80 x 60, no value") == len({0, 2, 3} & set(empty))
    assert "has a depth" in page
    assert (made.ceiling.score().value is None) == (len(empty) == 4)
