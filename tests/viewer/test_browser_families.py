"""A sample's page beyond its arrays: full screen, keys, what each family shows, clips, the walk."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser_kit import Server, page_of, row_of, shoot
from panes_kit import first_of, look_at, settle, slug, slug_of, visit
from results_kit import FAMILIES
from vgen_eval.viewing import Marks


def test_a_stage_fills_the_screen_by_a_key(page: Any, server: Server) -> None:
    visit(page, server, FAMILIES["depth"], "classical")
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement?.matches('[data-stage]')")
    page.wait_for_selector(".filling")
    settle(page)
    # its pictures take what room there is, and all of them are in view
    boxes = page.eval_on_selector_all(
        ".filling .view", "all => all.map(a => a.getBoundingClientRect().toJSON())"
    )
    boxes = [box for box in boxes if box["width"]]
    assert len(boxes) == 6
    assert max(box["bottom"] for box in boxes) <= 900
    assert sum(box["width"] * box["height"] for box in boxes) > 0.45 * 1280 * 900
    page.keyboard.press("w")
    page.locator("[data-wipe]").press("End")
    assert page.locator("[data-wipe]").is_visible()
    page.keyboard.press("f")
    page.wait_for_function("() => document.fullscreenElement === null")


def test_roles_have_keys(page: Any, server: Server) -> None:
    visit(page, server, FAMILIES["depth"], "classical")
    for key, role in (("i", "input"), ("a", "answer"), ("p", "prediction"), ("t", "target"),
                      ("e", "error")):  # fmt: skip
        page.keyboard.press(key)
        found = page.evaluate("() => document.activeElement.closest('figure')?.dataset.role")
        assert found == role, key


def test_every_attempt_and_every_model_has_its_key(page: Any, server: Server) -> None:
    sample = first_of(server, FAMILIES["depth"], "oracle")
    page.goto(page_of(server, FAMILIES["depth"], "flaky", sample))
    page.wait_for_selector("h1")
    first = page.url
    page.keyboard.press("n")
    page.wait_for_url("**a=2*")
    assert slug(page).startswith(slug_of(first))
    page.keyboard.press("Shift+N")
    page.wait_for_url(lambda url: "a=2" not in url)
    page.keyboard.press("m")
    run = row_of(server, FAMILIES["depth"], "flaky")
    page.wait_for_url(lambda url: run.key not in url)
    assert slug(page).startswith(slug_of(first))
    assert "flaky" not in page.locator("h1").inner_text()


KINDS = {
    "depth": {"input": "picture", "answer": "picture", "prediction": "scalar", "target": "scalar",
              "error": "scalar"},
    "normals": {"input": "picture", "prediction": "directions", "target": "directions",
                "error": "scalar"},
    "mask": {"input": "picture", "prediction": "classes", "target": "classes", "error": "classes"},
    "labels": {"input": "picture", "prediction": "classes", "target": "classes",
               "error": "classes"},
    "count": {"input": "picture", "answer": "picture", "prediction": "marks"},
}  # fmt: skip
"""Family -> role -> what kind of pane it has."""


@pytest.mark.parametrize("family", KINDS)
def test_families_with_maps_have_their_panes(page: Any, server: Server, family: str) -> None:
    visit(page, server, FAMILIES[family], "classical")
    panes = page.eval_on_selector_all(
        "figure[data-pane]", "all => all.map(a => [a.dataset.role, a.dataset.kind])"
    )
    for role, kind in KINDS[family].items():
        assert [role, kind] in panes
    assert_pictures(page)
    shoot(page, f"family-{family}")


def assert_pictures(page: Any) -> None:
    """Every picture that the page has asked for came."""
    page.wait_for_load_state("networkidle")
    broken = page.eval_on_selector_all(
        "img", "all => all.filter(a => a.complete && a.src && !a.naturalWidth).map(a => a.src)"
    )
    assert broken == []


SAID = {
    "quality": r"good|quality|rating",
    "option": r"[A-D]\b",
    "answer": r"accepted|truth",
    "description": r"complete|precise|relevan",
}
"""Family -> what its page says."""


@pytest.mark.parametrize("family", SAID)
def test_families_of_words_say_what_was_read_and_by_which_rule(
    page: Any, server: Server, family: str
) -> None:
    sample = first_of(server, FAMILIES[family], "oracle")
    page.goto(page_of(server, FAMILIES[family], "oracle", sample))
    text = page.locator("main").inner_text()
    assert re.search(SAID[family], text, re.IGNORECASE)
    look = look_at(server, FAMILIES[family], "oracle", sample)
    panes = [*look.of_role("prediction"), *look.of_role("target")]
    titles = [shown.pane.title for shown in panes]
    assert titles
    for title in titles:
        assert title.lower() in text.lower(), title
    assert_pictures(page)
    shoot(page, f"family-{family}")


def test_points_and_their_truth_are_drawn_with_what_they_mean(page: Any, server: Server) -> None:
    look = visit(page, server, FAMILIES["count"], "oracle")
    text = page.locator("main").inner_text()
    assert "matched" in text
    drawn = [shown for shown in look.panes if isinstance(shown.pane.body, Marks)]
    meanings = {mark.meaning for shown in drawn for mark in shown.pane.body.marks}
    assert "matched" in meanings
    assert any(re.search(r"\d", shown.pane.title) for shown in drawn)


def test_a_clip_is_a_strip_that_steps(page: Any, server: Server) -> None:
    sample = first_of(server, FAMILIES["puzzle"], "oracle")
    page.goto(page_of(server, FAMILIES["puzzle"], "oracle", sample))
    film = page.locator("[data-film]").first
    buttons = film.locator("[data-frame]")
    assert buttons.count() >= 8
    assert re.search(r"frame \d+, [\d.]+ s", buttons.nth(1).inner_text())
    page.keyboard.press(".")
    page.keyboard.press(".")
    chosen = film.locator("[data-frame][aria-current=true]")
    assert chosen.count() == 1
    there = chosen.get_attribute("data-frame")
    page.keyboard.press(",")
    assert film.locator("[data-frame][aria-current=true]").get_attribute("data-frame") != there
    buttons.nth(5).click()
    assert buttons.nth(5).get_attribute("aria-current") == "true"
    video = page.locator("video").first
    assert video.evaluate("v => v.paused && !v.autoplay")
    # Chromium as playwright brings it has no H.264: the strip is there all the same
    if video.evaluate("""v => v.canPlayType('video/mp4; codecs="avc1.42E01E"')"""):
        page.locator("h1").click()
        page.keyboard.press("Space")
        page.wait_for_function("() => document.querySelector('video').currentTime > 0")
        page.keyboard.press(".")
        assert video.evaluate("v => v.paused")
    assert_pictures(page)
    shoot(page, "family-puzzle")


@pytest.mark.parametrize("width", [1280, 1000, 360])
def test_a_verdict_beside_its_film_has_room_for_its_words(
    page: Any, server: Server, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    visit(page, server, FAMILIES["puzzle"], "oracle")
    rooms = page.eval_on_selector_all(
        ".other .facts dd", "all => all.map(a => a.getBoundingClientRect().width)"
    )
    assert rooms
    assert min(rooms) >= 140
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_judges_remarks_stand_at_their_frames(page: Any, server: Server) -> None:
    page.goto(page_of(server, "video/vgi", "painter", "sorting_lv3_001"))
    text = page.locator("main").inner_text()
    assert "unclear" in text  # the judge's comment
    assert re.search(r"window/0|Judge", text)
    assert page.locator("[data-film] [data-frame]").count() >= 8
    assert_pictures(page)
    shoot(page, "family-film")
    page.goto(page_of(server, "video/vgi", "painter", "maze_square_lv2_001"))
    assert "undecodable" in page.locator("main").inner_text()


def test_neighbours_walk_the_list_that_the_reader_came_from(page: Any, server: Server) -> None:
    page.goto(page_of(server, "own/many", "near", rest="?sort=id&tag=half%3Deven&score=1~"))
    page.locator(".cards a").nth(1).click()
    page.wait_for_url("**/s/*")
    even = sum(1 for at in range(0, 130, 2) if at % 3 == 0)
    assert re.search(rf"\b2 of {even}\b", page.locator("body").inner_text())
    assert "filtered" in page.locator("body").inner_text()
    seen = {slug(page)}
    for _ in range(3):
        page.keyboard.press("j")
        page.wait_for_url(lambda url: not any(old in url for old in seen))
        seen.add(slug(page))
    assert re.search(rf"\b5 of {even}\b", page.locator("body").inner_text())


def test_each_fact_of_a_judged_sample_stands_once(page: Any, server: Server) -> None:
    sample = first_of(server, FAMILIES["description"], "oracle")
    page.goto(page_of(server, FAMILIES["description"], "oracle", sample))
    look = look_at(server, FAMILIES["description"], "oracle", sample)
    answer = look.find("prediction").pane.body.text
    said = page.locator("p.said").all_inner_texts()
    assert said.count(answer) == 1 + (look.find("target").pane.body.text == answer)
    text = page.locator("main").inner_text()
    assert "votes" not in text
    assert "dropped" not in text
    assert "share of rounds with 0" in page.locator("main").text_content()
    # who judged, and what it was asked, word for word
    assert "word-matcher, 3 replies" in text
    page.get_by_text("What the judge was asked").click()
    page.get_by_text("completeness/0").click()
    assert "You mark a description" in page.locator("main").inner_text()
    page.goto(page_of(server, FAMILIES["option"], "oracle",
                      first_of(server, FAMILIES["option"], "oracle")))  # fmt: skip
    text = page.locator("main").inner_text()
    assert text.count("extracted") == 1
    assert text.count("whole answer") == 1


def test_values_begin_with_the_primary_and_fold_the_rest(page: Any, server: Server) -> None:
    visit(page, server, FAMILIES["normals"], "classical")
    names = page.locator("section:has(> h2:text-is('Values')) > table th").all_inner_texts()
    assert names[0] == "mean"
    assert len(names) == 6
    assert page.get_by_text("11 more values").is_visible()


def test_a_pair_leads_to_truth_predictions_and_errors_in_view(page: Any, server: Server) -> None:
    first = row_of(server, FAMILIES["depth"], "classical")
    second = row_of(server, FAMILIES["depth"], "oracle")
    page.goto(f"{server.url}/c?runs={first.key},{second.key}")
    assert re.match(r"B better by \d", page.locator(".pair .delta b").first.inner_text())
    page.locator(".pair a").first.click()
    page.wait_for_selector("[data-stage].ready")
    titles = page.locator(".pane .title").all_inner_texts()
    assert titles == [
        "Target",
        "classical: Prediction, aligned", "classical: Signed error", "classical: Relative error",
        "oracle: Prediction, aligned", "oracle: Signed error", "oracle: Relative error",
    ]  # fmt: skip
    bottoms = page.eval_on_selector_all(
        ".pane .view", "all => all.map(a => a.getBoundingClientRect().bottom)"
    )
    assert max(bottoms) <= 900
    shoot(page, "pair", whole=False)
    page.get_by_role("link", name="all panes").click()
    page.wait_for_selector("[data-name=input]")


def test_the_command_for_one_file_is_copied_and_names_the_sample(page: Any, server: Server) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, server, FAMILIES["depth"], "classical")
    shown = page.locator("[data-command]").inner_text()
    assert shown.startswith("vgen-eval report runs/classical/samples/depth@standard/")
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    sample = first_of(server, FAMILIES["depth"], "classical")
    assert copied == shown
    assert f"--task samples/depth@standard --sample {sample} -o {sample}.html" in copied
