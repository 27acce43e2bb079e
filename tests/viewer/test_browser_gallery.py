"""From the runs to a sample and back: sort, filter, page, keys, dark, the width of a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from browser_kit import (
    MISSING,
    Faults,
    Server,
    addresses,
    axe_faults,
    page_of,
    sheds_sideways,
    shoot,
)
from results_kit import FAMILIES, MANY, MANY_TASK

OFF = sum(1 for at in range(MANY) if at % 3 == 0)
"""Samples for which the model `near` is 2 too high; it is right for the others."""


def labels(page: Any) -> list[str]:
    """The full names of a gallery's cards."""
    found: list[str] = page.eval_on_selector_all(
        ".cards a", "links => links.map(link => link.getAttribute('aria-label'))"
    )
    return found


def told(page: Any) -> str:
    """How many samples the gallery says that it shows."""
    text: str = page.locator("#found").inner_text()
    return text


def focused(page: Any) -> str:
    """The full name of what has the focus."""
    name: str = page.evaluate("() => document.activeElement.getAttribute('aria-label') || ''")
    return name


def test_a_gallery_is_sorted_filtered_and_paged(page: Any, server: Server) -> None:
    page.goto(page_of(server, MANY_TASK, "near"))
    assert told(page) == f"{MANY} of {MANY} samples"
    worst = labels(page)
    assert len(worst) == 60
    assert ["mae 2" in label for label in worst] == [True] * OFF + [False] * (60 - OFF)
    shoot(page, "gallery", whole=False)
    # the next page, and the last: each sample is on one of them
    page.get_by_label("Next page").first.click()
    page.wait_for_url("**page=2*")
    seen = worst + labels(page)
    page.get_by_label("Next page").first.click()
    page.wait_for_url("**page=3*")
    assert len(labels(page)) == MANY - 120
    seen += labels(page)
    assert len(set(seen)) == MANY
    # by id: the address says all of it
    page.locator("#sort").select_option("id")
    page.wait_for_url("**sort=id*")
    assert page.evaluate("() => document.activeElement.id") == "sort"
    ids = [label.rpartition(", status")[0].rpartition(", ")[0] for label in labels(page)]
    assert ids == sorted(ids)
    # a tag, a range of the score, a part of the id, together
    page.get_by_label(re.compile("^even")).check()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**tag=half*")
    assert told(page) == f"{MANY // 2} of {MANY} samples"
    page.locator("input[name=low]").fill("1")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**score=1*")
    even = sum(1 for at in range(0, MANY, 2) if at % 3 == 0)
    assert told(page) == f"{even} of {MANY} samples"
    page.locator("#q").fill("s01")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**q=s01*")
    assert [label.split(",")[0] for label in labels(page)] == ["s012", "s018"]
    # a filter is taken away by its chip
    page.get_by_role("link", name=re.compile("Remove filter: .*even")).click()
    page.wait_for_url(lambda url: "tag=" not in url)
    assert [label.split(",")[0] for label in labels(page)] == ["s012", "s015", "s018"]
    # what leaves nothing says so, and how many without each
    page.locator("#q").fill("no such id")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**q=no*")
    assert "No sample is left" in page.locator("main").inner_text()
    assert f"{OFF} without it" in page.locator(".chips").inner_text()


def test_statuses_are_told_by_word_and_filter(page: Any, server: Server) -> None:
    page.goto(page_of(server, FAMILIES["depth"], "flaky"))
    names = labels(page)
    assert len(names) == 10
    assert any("status refused" in name or "status error" in name for name in names)
    page.get_by_label(re.compile("^refused")).check()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**status=refused*")
    (only,) = labels(page)
    assert "status refused" in only
    assert "refused" in page.locator(".card").inner_text()
    shoot(page, "gallery-refused", whole=False)


def test_keys_lead_to_a_sample_and_back_to_its_card(page: Any, server: Server) -> None:
    page.goto(page_of(server, MANY_TASK, "near"))
    names = labels(page)
    page.keyboard.press("j")
    assert focused(page) == names[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert focused(page) == names[2]
    page.keyboard.press("ArrowDown")
    across = names.index(focused(page)) - 2
    assert 1 < across < 10
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert focused(page) == names[1]
    # one stop of the tab key: the grid is one thing
    assert page.locator(".cards a[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url.partition("?")[0] != first.partition("?")[0])
    assert f"3 of {MANY}" in " ".join(page.locator("body").inner_text().split())
    page.go_back()
    page.wait_for_url(first)
    page.go_back()
    page.wait_for_selector(".cards")
    page.wait_for_function("() => document.activeElement.closest('.cards') !== null")
    assert focused(page) == names[1]


def test_arrows_and_enter_work_at_once_and_after_coming_back(page: Any, server: Server) -> None:
    page.goto(page_of(server, MANY_TASK, "near"))
    names = labels(page)
    page.keyboard.press("ArrowRight")
    assert focused(page) == names[0]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    page.keyboard.press("Escape")
    page.wait_for_url("**#s-*")
    page.wait_for_function("() => document.activeElement.closest('.cards') !== null")
    assert focused(page) == names[1]
    page.keyboard.press("ArrowRight")
    assert focused(page) == names[2]
    # Enter alone opens the card that Tab would come to
    page.goto(page_of(server, MANY_TASK, "near"))
    page.keyboard.press("Enter")
    page.locator(".walk").get_by_text(f"1 of {MANY}").wait_for()


def test_show_and_direction_act_at_once_and_keep_the_focus(page: Any, server: Server) -> None:
    page.goto(page_of(server, FAMILIES["depth"], "classical"))
    page.get_by_role("radio", name="target").check()
    page.wait_for_url("**layer=target*")
    page.wait_for_function("() => document.activeElement.value === 'target'")
    page.locator("#dir").select_option("desc")
    page.wait_for_url("**dir=desc*")
    assert "layer=target" in page.url
    page.wait_for_function("() => document.activeElement.id === 'dir'")


def test_a_task_without_values_of_single_samples_says_so(page: Any, server: Server) -> None:
    page.goto(page_of(server, FAMILIES["quality"], "oracle"))
    text = page.locator("main").inner_text()
    assert "order of the run" in page.locator(".bar").first.inner_text()
    assert "srcc is of all samples together" in text
    assert "worst first" not in text
    assert "n/a" not in page.locator(".cards").inner_text()
    options = page.locator("#sort option").all_inner_texts()
    assert options == ["order of the run", "id", "status"]


def test_pictures_on_their_way_have_a_look_of_their_own(page: Any, server: Server) -> None:
    held: list[Any] = []
    page.route("**/thumb.webp*", lambda route: held.append(route))  # noqa: PLW0108
    page.goto(page_of(server, FAMILIES["depth"], "blind"), wait_until="domcontentloaded")
    page.wait_for_selector(".card img.coming")
    coming = page.locator(".card img.coming")
    grounds = "all => all.map(a => getComputedStyle(a).backgroundColor)"
    before = coming.evaluate_all(grounds)
    assert held
    page.unroute("**/thumb.webp*")  # lets those go that wait
    page.wait_for_function("() => !document.querySelector('.card img.coming')")
    assert before[0] not in page.locator(".card img").evaluate_all(grounds)


def test_a_table_that_is_cut_says_so_and_is_scrolled_by_keys(page: Any, server: Server) -> None:
    page.set_viewport_size({"width": 1000, "height": 700})
    page.goto(server.url + "/table")
    line = page.locator(".more-right")
    assert line.inner_text() == "More to the right →"
    box = page.locator(".scroll")
    box.focus()
    before = page.locator("tbody th").first.bounding_box()
    page.keyboard.press("End")
    box.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    page.get_by_text("← More to the left").wait_for()
    assert page.locator("tbody th").first.bounding_box()["x"] == before["x"]
    assert axe_faults(page) == []


def test_the_key_sheet_opens_closes_and_gives_the_focus_back(page: Any, server: Server) -> None:
    page.goto(page_of(server, MANY_TASK, "near"))
    button = page.locator("[data-do=keys]")
    button.focus()
    page.keyboard.press("?")
    assert page.locator("dialog#keys").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("dialog#keys").is_hidden()
    assert page.evaluate("() => document.activeElement.dataset.do") == "keys"
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "q"
    page.keyboard.type("jk?")
    assert page.locator("#q").input_value() == "jk?"
    assert page.locator("dialog#keys").is_hidden()
    # single keys can be turned off, for good
    button.click()
    page.locator("[data-do=single-keys]").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("j")
    assert page.locator(".cards a:focus").count() == 0
    page.keyboard.press("?")
    assert page.locator("dialog#keys").is_hidden()


def luminance(page: Any) -> float:
    """Of the page's background, 0 to 1."""
    text = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    if "oklch" in text or "color(" in text:
        return float(re.findall(r"[\d.]+", text)[0])
    red, green, blue = map(float, re.findall(r"[\d.]+", text)[:3])
    return (0.21 * red + 0.72 * green + 0.07 * blue) / 255


def test_dark_by_the_system_and_by_choice(open_page: Callable[..., Any], server: Server) -> None:
    page = open_page(color_scheme="light")
    page.goto(server.url + "/")
    light = luminance(page)
    page.emulate_media(color_scheme="dark")
    dark = luminance(page)
    assert light > 0.8
    assert dark < 0.3
    shoot(page, "runs-dark", whole=False)
    button = page.locator("[data-do=theme]")
    while "light" not in button.inner_text():
        button.click()
    assert luminance(page) > 0.8
    page.goto(page_of(server, MANY_TASK, "near"))
    assert luminance(page) > 0.8  # the choice goes from page to page


def test_no_page_scrolls_sideways_on_a_phone(
    open_page: Callable[..., Any], server: Server, faults: Faults
) -> None:
    faults.expected = [MISSING]
    page = open_page(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
    for name, address in addresses(server).items():
        page.goto(address)
        shoot(page, f"phone-{name}", whole=False)
        assert sheds_sideways(page) <= 0, name


def test_a_rule_is_typed_told_and_walked(page: Any, server: Server, faults: Faults) -> None:
    faults.expected = [r"status of 400 .*select=median"]
    page.goto(page_of(server, MANY_TASK, "near"))
    page.locator("#select").fill("median:maee")
    page.locator("#n").fill("3")
    page.get_by_role("button", name="Apply").click()
    assert page.get_by_role("alert").inner_text().startswith("This rule takes no sample")
    assert axe_faults(page) == []
    page.locator("#select").fill("worst:mae")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**select=worst*")
    assert told(page) == f"3 of {MANY} samples"
    assert "3 samples with the worst mae of near" in page.locator(".chosen .choice").inner_text()
    page.locator(".chosen summary").click()
    assert axe_faults(page) == []
    page.locator(".cards a").nth(1).click()
    page.locator(".walk").get_by_text("2 of 3").wait_for()
    page.keyboard.press("j")
    page.locator(".walk").get_by_text("3 of 3").wait_for()
    page.go_back()
    page.go_back()
    page.get_by_role("link", name="Remove filter: rule worst:mae").click()
    page.locator("#found").get_by_text(f"{MANY} of {MANY} samples").wait_for()


def test_a_value_stands_below_its_id_however_long_that_is(page: Any, server: Server) -> None:
    page.goto(page_of(server, MANY_TASK, "near", rest="?sort=id"))
    places = page.evaluate(
        """() => [...document.querySelectorAll('.cards .card')].map(card => {
          const [id, score] = ['.id', '.score'].map(s => card.querySelector(s));
          const [a, b] = [id, score].map(one => one.getBoundingClientRect());
          return [id.title.length, b.top - a.bottom, b.left - a.left];
        })"""
    )
    lengths = [length for length, _, _ in places]
    assert min(lengths) < 6
    assert max(lengths) > 20
    assert all(below >= -1 and abs(beside) < 1 for _, below, beside in places)
