"""Hostile texts, names and files in the browser: all of it is data, nothing of it acts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser_kit import Server, addresses, page_of, raw, row_of, shoot
from damage_kit import DAMAGES, SECRET
from results_kit import EVIL_IDS, LONG, MANY_TASK, MARK
from vgen_eval.viewer.records import RunRow, key_of

HOSTILE = "hostile"
OBEYED = re.compile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What turns text around, and what a terminal obeys."""


def is_inert(page: Any) -> bool:
    """Nothing out of a text became a global or an element that acts."""
    inert: bool = page.evaluate(
        f"""() => window.{MARK} === undefined
          && !document.querySelector('iframe, object, embed, main script, svg[onload]')
          && ![...document.querySelectorAll('*')].some(one =>
            [...one.attributes].some(a => /^on/i.test(a.name)
              || (/^(href|src|action)$/i.test(a.name) && /^\\s*javascript:/i.test(a.value))))"""
    )
    return inert


def test_texts_of_a_hostile_model_are_read_as_they_are(page: Any, server: Server) -> None:
    said = {
        "s014": "<script>window.", "s015": "<img src=x onerror=", "s016": "<iframe srcdoc=",
        "s017": "javascript:window.", "s018": "right to left", "s019": "{{ 7 * 7 }}",
        "s020": "<style>body{display:none}</style>",
    }  # fmt: skip
    for sample, words in said.items():
        page.goto(page_of(server, MANY_TASK, HOSTILE, sample))
        text = page.locator("main").inner_text()
        assert words in text
        assert is_inert(page)
        assert page.locator("main").is_visible()
        if sample == "s018":
            # what turns the text around and what a terminal obeys is seen, and does nothing
            shown = page.locator("main").text_content()
            assert not re.search(
                "[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", shown
            )
            assert re.search(r"202[eE]|RLO", text)
            shoot(page, "hostile-text")


def test_a_million_letters_are_folded_with_a_way_to_all(page: Any, server: Server) -> None:
    address = page_of(server, MANY_TASK, HOSTILE, "s012")
    _, _, body = raw(server, address.removeprefix(server.url))
    assert len(body) < LONG / 5
    page.goto(address)
    text = page.locator("main").inner_text()
    assert "<b>long</b> and longer" in text
    assert len(text) < LONG / 10
    assert re.search(r"\b9\d\d,\d\d\d characters|1\.\d MB", text)
    link = page.get_by_role("link", name="show all").first
    if not link.is_visible():
        page.locator("details.folded summary").first.click()
    _, headers, whole = raw(server, link.get_attribute("href"))
    assert len(whole) >= LONG
    assert headers["content-type"].startswith("text/plain")
    assert is_inert(page)


def test_hostile_ids_tags_and_titles_are_words(page: Any, server: Server) -> None:
    page.goto(page_of(server, MANY_TASK, HOSTILE, rest="?sort=order"))
    text = page.locator("main").inner_text()
    titles = page.eval_on_selector_all(".card .id", "all => all.map(a => a.title)")
    for name in EVIL_IDS[:4]:  # a long one stands without its middle, and whole in its title
        assert name in titles
        assert name in text or f"{name[:18]}…{name[-18:]}" in text
    assert is_inert(page)
    shoot(page, "hostile-gallery")
    for name in EVIL_IDS:
        page.goto(page_of(server, MANY_TASK, HOSTILE, name))
        assert is_inert(page)
        assert page.locator("h1").is_visible()
        width = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, name[:20]
    run = row_of(server, MANY_TASK, HOSTILE)
    for address in (f"/r/{run.slug}", f"/t/{run.task_slug}", "/"):
        page.goto(server.url + address)
        assert is_inert(page)
    # a tag out of the data is a filter like another
    page.goto(page_of(server, MANY_TASK, HOSTILE))
    page.get_by_label(re.compile(r"alert\(9\)")).first.check()
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**tag=*")
    assert page.locator("#found").inner_text().startswith("3 of ")
    assert is_inert(page)


def test_what_is_written_into_an_address_is_words_too(
    page: Any, server: Server, faults: Any
) -> None:
    faults.expected = [r"status of 4\d\d"]
    evil = f"%22%3E%3Cscript%3Ewindow.{MARK}=1%3C/script%3E%3Cimg%20src=x%20onerror=alert(1)%3E"
    gallery = page_of(server, MANY_TASK, "near")
    sample = page_of(server, MANY_TASK, "near", "s001")
    run = row_of(server, MANY_TASK, "near")
    for address in (
        f"{server.url}/?q={evil}",
        f"{gallery}?q={evil}",
        f"{gallery}?sort={evil}",
        f"{gallery}?tag={evil}={evil}",
        f"{gallery}?status={evil}&flag={evil}&layer={evil}",
        f"{gallery}?score={evil}",
        f"{gallery}?page={evil}",
        f"{sample}?map={evil}&off={evil}&z={evil}&x={evil}&lo={evil}&wipe={evil}&layout={evil}",
        f"{sample}?a={evil}",
        f"{server.url}/c?runs={evil}",
        f"{server.url}/c?runs={run.key},{evil}&sort={evil}&quadrant={evil}",
        f"{server.url}/t/{run.task_slug}?metric={evil}&subset={evil}&fail={evil}",
        f"{server.url}/r/{evil}",
        f"{server.url}/{evil}",
    ):
        answer = page.goto(address)
        assert answer.status < 500, address
        assert is_inert(page), address
        assert page.locator("h1").count() == 1, address


# --- damaged runs -------------------------------------------------------------------------

SAYS = {
    "cut": r"ended|stopped|incomplete",
    "old-card": r"0\.9|schema|stopped|older",
    "new-record": r"99",
    "no-record": r"damaged|run\.json",
}
"""Damage -> what the page of its run says."""
OF_SAMPLE = {
    "gone": r"missing|gone|not (there|here)",
    "altered": r"changed|altered|differs",
    "linked": r"missing|changed|altered|differs|gone|outside|link",
    "huge": r"large|megapixel|Mpx|pixels",
    "markup": r"no (picture|image)|cannot|not .*(picture|image)|format",
    "frameless": r"no frames|no video|cannot",
}
"""Damage -> what the page of its first sample says."""


def damaged(server: Server, name: str) -> RunRow:
    (run,) = [run for run in server.site.index.runs() if run.path.startswith(f"{name}/")]
    row: RunRow = run
    return row


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_run_is_told_and_what_is_sound_is_shown(
    page: Any, broken_server: Server, damage: str
) -> None:
    run = damaged(broken_server, damage)
    answer = page.goto(f"{broken_server.url}/r/{run.slug}")
    assert answer.status == 200
    text = page.locator("main").inner_text()
    if damage in SAYS:
        assert re.search(SAYS[damage], text), text[:500]
    answer = page.goto(f"{broken_server.url}/r/{run.slug}/s")
    assert answer.status == 200
    page.wait_for_load_state("networkidle")
    if run.state == "unreadable":
        return
    cards = page.locator(".cards a")
    assert cards.count() == len(broken_server.site.index.record(run)["samples"])
    cards.first.click()
    page.wait_for_url("**/s/*")
    text = page.locator("main").inner_text()
    if damage in OF_SAMPLE:
        assert re.search(OF_SAMPLE[damage], text, re.IGNORECASE), text[:800]
        assert re.search(r"delta1|solved", text)  # the numbers stay
    assert SECRET not in text
    page.wait_for_load_state("networkidle")
    shoot(page, f"broken-{damage}")


def test_the_list_of_runs_has_them_all(page: Any, broken_server: Server) -> None:
    page.goto(broken_server.url + "/")
    text = page.locator("main").inner_text()
    runs = broken_server.site.index.runs()
    # each damage, two twins, two with names, and the link that leads out, which is not followed
    assert len(runs) == len(DAMAGES) + 5
    assert "a symbolic link leads out" in text
    assert len({run.key for run in runs}) == len(runs)
    assert "no-record" in text
    assert "new-record" in text
    assert page.locator("img").count() == 0
    for team in ("team-a", "team-b"):
        assert team in text
    shoot(page, "broken-runs")


def test_two_runs_of_one_name_are_two(page: Any, broken_server: Server) -> None:
    first, second = (damaged(broken_server, team) for team in ("team-a", "team-b"))
    assert first.key != second.key
    answer = page.goto(f"{broken_server.url}/c?runs={first.key},{second.key}")
    assert answer.status == 200
    assert page.locator("h1").is_visible()


def test_a_folder_named_to_escape_is_a_run_like_another(page: Any, broken_server: Server) -> None:
    runs = [run for run in broken_server.site.index.runs() if run.path.startswith("names/")]
    assert len(runs) == 2
    for run in runs:
        assert ".." not in run.slug
        answer = page.goto(f"{broken_server.url}/r/{run.slug}")
        assert answer.status == 200
        assert page.evaluate("() => document.querySelectorAll('main img[src=x]').length") == 0


def test_a_folder_without_runs_says_how_to_make_one(page: Any, empty_server: Server) -> None:
    page.goto(empty_server.url + "/")
    text = page.locator("main").inner_text()
    assert str(empty_server.site.results) in text
    assert "vgen-eval --tasks" in text
    shoot(page, "no-runs")


def test_thumbnails_come_for_all_that_there_is(server: Server, broken_server: Server) -> None:
    for site in (server, broken_server):
        for run in site.site.index.runs():
            if run.state == "unreadable" or (site is server and run.model != "oracle"):
                continue
            for sample in site.site.index.record(run)["samples"][:1]:
                target = f"/r/{run.key}/s/{key_of(sample)}/1/thumb.webp?w=256"
                status, headers, body = raw(site, target)
                assert status == 200, (run.path, sample)
                assert headers["content-type"] == "image/webp"
                assert body[:4] == b"RIFF"
                assert len(body) < 60_000


def test_no_page_has_words_of_python(server: Server, broken_server: Server) -> None:
    for address in addresses(server).values():
        status, _, body = raw(server, address.removeprefix(server.url))
        assert status in (200, 404)
        text = body.decode()
        for word in ("Traceback", "object at 0x", "Undefined", ">None<", "nan<", "&lt;vgen_eval"):
            assert word not in text, (address, word)
