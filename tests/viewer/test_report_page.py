"""The one-file report: nothing from outside, a policy of hashes, inert texts, a limit of size."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import shown_kit as kit
from vgen_eval import evaluate
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.reading import read_run

pytest.importorskip("jinja2", reason="a report needs vgen-eval[view]")
from vgen_eval.viewer.report.build import build_report

DEPTH = ("classical depth", "oracle depth")
MB = 1_000_000


class Parsed(HTMLParser):
    """Elements with attributes, and the text of scripts and styles."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.bodies: list[tuple[str, dict[str, str | None], str]] = []
        self.text: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem is None:
            self.text.append(data)
            return
        tag, attrs = self.elements[-1]
        before = ""
        if self.bodies and self.bodies[-1][1] is attrs:  # a body may come in pieces
            before = self.bodies.pop()[2]
        self.bodies.append((tag, attrs, before + data))

    def of(self, name):
        return [attrs for tag, attrs in self.elements if tag == name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return kit.make_runs(tmp_path_factory.mktemp("reports"))


def report(runs, *parts, most_bytes=25 * MB, **asked):
    asked = {"select": "random:1", **asked}
    found = [kit.gathered(runs, *names, **asked) for names in (parts or (DEPTH,))]
    return build_report(found, Catalog.discover(), most_bytes=most_bytes)


@pytest.fixture(scope="module")
def depth(runs):
    return report(runs, n=2)


def test_no_address_leads_out_of_the_file(depth):
    parsed = Parsed(depth[0])
    held = {"src", "href", "action", "data", "poster", "srcset", "formaction", "xlink:href"}
    addresses = [
        (tag, value)
        for tag, attrs in parsed.elements
        for name, value in attrs.items()
        if name in held and value
    ]
    assert len(addresses) > 10
    assert [one for one in addresses if not one[1].startswith(("data:", "#"))] == []
    assert parsed.of("link") == [{"rel": "icon", "href": "data:,"}]
    for tag, _, body in parsed.bodies:
        if tag == "style":
            assert "url(" not in body
            assert "@import" not in body


def test_the_policy_lets_its_own_scripts_and_styles_run_and_nothing_else(depth):
    parsed = Parsed(depth[0])
    (policy,) = [m["content"] for m in parsed.of("meta") if "http-equiv" in m]
    rules = {words.split()[0]: words.split()[1:] for words in policy.split("; ")}

    def hashes(tag):
        digests = [
            hashlib.sha256(body.encode()).digest()
            for name, attrs, body in parsed.bodies
            if name == tag and attrs.get("type") is None
        ]
        return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]

    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"] == hashes("script")
    assert rules["style-src"] == hashes("style")
    assert len(rules["script-src"]) == 4
    assert rules["img-src"] == ["data:", "blob:"]
    assert rules["require-trusted-types-for"] == ["'script'"]
    assert "connect-src" not in rules
    assert not [attrs for _, attrs in parsed.elements if "style" in attrs]
    assert not [name for _, attrs in parsed.elements for name in attrs if name.startswith("on")]


def test_the_policy_stands_before_everything_that_it_rules(depth):
    page = depth[0].decode()
    assert page.index("Content-Security-Policy") < min(page.index("<style>"), page.index("<script"))


def test_what_a_hostile_model_says_is_text(runs):
    page, _ = report(runs, ("hostile answers", "oracle answers"))
    parsed = Parsed(page)
    kinds = {attrs.get("type") for attrs in parsed.of("script")}
    assert kinds <= {None, "application/json", "text/plain"}
    assert len([attrs for attrs in parsed.of("script") if attrs.get("type") is None]) == 4
    assert [attrs for attrs in parsed.of("img") if not attrs["src"].startswith("data:")] == []
    assert not [a for a in parsed.of("a") if not (a.get("href") or "#").startswith("#")]
    text = "".join(parsed.text)
    assert "<script>window.hostile=1</script>" in text
    assert "{{ 7*7 }}" in text
    assert "\u202e" not in text
    assert "U+202E" in text


def test_names_that_end_scripts_do_not(runs):
    made = kit.gathered(runs, *DEPTH, n=1, select="random:1")
    import msgspec

    evil = "</script><script>alert(1)</script>"
    chosen = msgspec.structs.replace(made.selection, rule=evil, words=evil)
    page, record = build_report(
        [msgspec.structs.replace(made, selection=chosen)], Catalog.discover(), most_bytes=25 * MB
    )
    parsed = Parsed(page)
    assert len([attrs for attrs in parsed.of("script") if attrs.get("type") is None]) == 4
    (body,) = [body for _, attrs, body in parsed.bodies if attrs.get("id") == "record"]
    assert json.loads(body) == json.loads(json.dumps(record))
    assert json.loads(body)["parts"][0]["select"] == evil


def test_equal_runs_make_equal_bytes(runs, depth):
    assert report(runs, n=2)[0] == depth[0]


def test_the_record_has_rule_seed_and_ids(depth, runs):
    (body,) = [b for _, attrs, b in Parsed(depth[0]).bodies if attrs.get("id") == "record"]
    (part,) = json.loads(body)["parts"]
    assert (part["select"], part["seed"], len(part["ids"])) == ("random:1", 1, 2)
    assert part["ids"] == part["shown"]
    assert [run["content_digest"] for run in part["runs"]] == [
        runs[name].card.content_digest for name in DEPTH
    ]


def test_it_has_every_score_the_difference_and_the_choice(depth):
    text = " ".join("".join(Parsed(depth[0]).text).split())
    assert "2 samples drawn at random (seed 1), of 3 samples" in text
    assert "Paired differences" in text
    assert "delta1: higher is better" in text
    assert "oracle (ceiling)" in text


def decode(attrs, text):
    """Numbers of a scalar field, as documented: low bytes, high bytes, rows as differences."""
    head = json.loads(attrs["data-field"])
    flat = np.frombuffer(gzip.decompress(base64.b64decode(text)), np.uint8)
    size = head["width"] * head["height"]
    steps = flat[:size].astype(np.uint16) | (flat[size:].astype(np.uint16) << 8)
    levels = np.cumsum(steps.reshape(head["height"], head["width"]), axis=1, dtype=np.uint16)
    numbers = head["low"] + (levels.astype(float) - 1) * (head["high"] - head["low"]) / 65534
    return np.where(levels == 0, np.nan, numbers)


def test_the_numbers_of_a_pane_are_those_of_its_array(runs, depth):
    gathered = kit.gathered(runs, *DEPTH, n=2, select="random:1")
    parsed = Parsed(depth[0])
    places = {
        attrs["data-field"][1:]: attrs for attrs in parsed.of("figure") if "data-field" in attrs
    }
    fields = {a["id"]: (a, body) for _, a, body in parsed.bodies if "data-field" in a}
    assert set(places) == set(fields)
    truth = {
        gathered.looks(sample)[0].find("target").pane.body.values.shape: (
            gathered.looks(sample)[0].find("target").pane.body.values
        )
        for sample in gathered.selection.ids
    }
    targets = [decode(*fields[name]) for name, a in places.items() if a["data-role"] == "target"]
    assert len(targets) == 2
    for found in targets:
        wanted = truth[found.shape]
        step = (np.nanmax(wanted) - np.nanmin(wanted)) / 65534
        np.testing.assert_allclose(found, wanted, atol=step, equal_nan=True)


def test_no_two_elements_have_one_id(runs):
    page, _ = report(runs, DEPTH, ("oracle answers",))
    ids = [attrs["id"] for _, attrs in Parsed(page).elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_runs_of_several_tasks_are_parts_of_one_page(runs):
    page, record = report(runs, DEPTH, ("hostile answers", "oracle answers"), n=1)
    assert [part["task"] for part in record["parts"]] == [
        "samples/depth@standard", "samples/answers@standard",
    ]  # fmt: skip
    heads = page.decode()
    assert heads.index("samples/depth@standard</h2>") < heads.index("samples/answers@standard</h2>")


@pytest.mark.parametrize("most", [400_000, 700_000, 1_200_000, 3_000_000])
def test_the_limit_of_size_is_kept_and_what_it_cost_is_said(runs, most):
    page, record = report(runs, n=3, most_bytes=most)
    assert len(page) <= most
    assert len(record["parts"][0]["shown"]) + len(record["left_out"]) == 3
    text = "".join(Parsed(page).text)
    for one in record["left_out"]:
        assert one["sample"] in text
        assert "fit" in one["reason"]
    if record["without_numbers"]:
        assert "No room for every value under the cursor" in text


def test_pictures_shrink_and_numbers_go_before_a_sample_is_left_out(runs):
    all_of, small = (report(runs, n=3, most_bytes=most)[1] for most in (25 * MB, 700_000))
    assert all_of["without_numbers"] == all_of["left_out"] == []
    assert all_of["side"] > small["side"]
    assert small["without_numbers"] != []


def test_a_limit_below_one_sample_is_refused(runs):
    with pytest.raises(UsageError, match="not one sample fits"):
        report(runs, most_bytes=60_000)


def test_a_failure_has_its_word_and_reason(runs):
    page, _ = report(runs, ("shy depth",), select="ids:motorcycle")
    text = " ".join("".join(Parsed(page).text).split())
    assert "refused" in text
    assert "no motorcycles" in text


def test_a_clip_is_its_strip_and_itself_where_it_fits(tmp_path):
    pytest.importorskip("av")
    evaluate(tasks="samples/hanoi", model="oracle", output=tmp_path, bounds=False, limit=1)
    (path,) = tmp_path.glob("runs/*/samples/*/*")
    run = read_run(path)
    (kept,) = path.glob("outputs/*.mp4")
    asked = ({"hanoi": run}, ("hanoi",))
    page, record = report(*asked, n=1)
    parsed = Parsed(page)
    (video,) = parsed.of("video")
    head, data = video["src"].split(",")
    assert head == "data:video/mp4;base64"
    assert base64.b64decode(data) == kept.read_bytes()
    assert "autoplay" not in video
    assert record["without_clips"] == []
    smaller, record = report(*asked, n=1, most_bytes=len(page) - kept.stat().st_size)
    bare = Parsed(smaller)
    assert bare.of("video") == []
    assert len(record["without_clips"]) == 1
    assert "Frames alone" in "".join(bare.text)
    for one in (parsed, bare):
        assert len([attrs for attrs in one.of("button") if "data-frame" in attrs]) >= 8


def test_no_path_of_this_machine_is_in_it(runs, depth):
    folder = str(runs["oracle depth"].path.parents[4])
    assert folder not in re.sub(r"base64,[A-Za-z0-9+/=]+", "", depth[0].decode())


def test_floor_and_ceiling_stand_beside_the_score_and_the_prompt_is_open(tmp_path):
    evaluate(tasks="samples/referring", model="classical", output=str(tmp_path), limit=2)
    (path,) = tmp_path.glob("runs/classical/samples/*/*")
    run = read_run(path, Catalog.discover())
    page, _ = report({"classical": run}, ("classical",), select="random:1", n=1)
    parsed = Parsed(page)
    text = " ".join(" ".join(parsed.text).split())
    assert "Floor Ceiling Samples" in text
    heads = [attrs.get("data-head") for attrs in parsed.of("td")]
    assert heads.index("Floor") < heads.index("Ceiling") < heads.index("Samples")
    asked = [attrs for attrs in parsed.of("p") if attrs.get("class") == "asked"]
    assert len(asked) == 1
    (prompt, *others) = [a for a in parsed.of("details") if a.get("class") == "said-by"]
    assert "open" in prompt
    assert all("open" not in one for one in others)


def test_colours_beyond_the_range_are_told_in_words(depth):
    text = " ".join(" ".join(Parsed(depth[0]).text).split())
    assert "pink is below it, light blue above it, hatched where there is no number" in text


def test_a_part_without_numbers_of_single_samples_is_drawn_and_says_why(tmp_path):
    evaluate(tasks="samples/quality", model="oracle", output=str(tmp_path), bounds=False, limit=4)
    (path,) = tmp_path.glob("runs/*/samples/*/*")
    run = read_run(path, Catalog.discover())
    found = kit.gathered({"oracle": run}, "oracle", n=2)
    assert found.selection.rule == "random:0"
    assert found.selection.words.endswith("srcc says nothing of single samples")


def test_runs_that_are_equal_on_all_show_the_first_and_say_so(tmp_path):
    evaluate(tasks="samples/referring", model="oracle", output=str(tmp_path), bounds=False, limit=3)
    (path,) = tmp_path.glob("runs/*/samples/*/*")
    run = read_run(path, Catalog.discover())
    found = kit.gathered({"a": run}, "a", n=2)
    assert "first by id: giou of oracle is 1 on all, of 3 samples" in found.selection.words
