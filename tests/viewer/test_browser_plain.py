"""Without scripts, for every reader: pages are complete, axe-core finds nothing, keys lead on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

from browser_kit import MISSING, Faults, Server, addresses, axe_faults, page_of, raw, row_of, shoot
from results_kit import FAMILIES, MANY, MANY_TASK

STATUS = (200, 303, 307)


class Links(HTMLParser):
    """Addresses and pictures of a page; what would need a script or a style of its own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.inline: list[str] = []
        self.headings = 0
        self.title = ""
        self.nameless: list[str] = []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self._in = tag
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if tag == "img":
            if found.get("src"):
                self.pictures.append(found["src"] or "")
            sized = found.get("width") and found.get("height")
            if "alt" not in found or (found.get("src") and not sized):
                self.nameless.append(str(found))
        self.headings += tag == "h1"
        self.inline += [f"{tag} {name}" for name in found if name == "style" or name[:2] == "on"]

    def handle_data(self, data: str) -> None:
        if self._in == "title":
            self.title += data
        if self._in in ("script", "style") and data.strip():
            self.inline.append(data.strip()[:60])

    def handle_endtag(self, tag: str) -> None:
        self._in = ""


def few_of_each_shape(links: Iterable[str], *, most: int = 3) -> list[str]:
    """Links of which no more than so many differ in keys and values alone."""
    kept: dict[str, list[str]] = defaultdict(list)
    for link in sorted({link.partition("#")[0] for link in links}):
        shape = re.sub(r"[0-9a-f]{10}[\w-]*|=[^&]*", "*", link.partition("//")[2])
        kept[shape].append(link)
    return [link for found in kept.values() for link in found[:most]]


def test_every_page_is_whole_without_scripts(server: Server) -> None:
    links, pictures, titles = set(), set(), set()
    for name, address in addresses(server).items():
        status, headers, body = raw(server, address.removeprefix(server.url))
        assert status == (404 if name == "missing" else 200), name
        assert headers["content-type"].startswith("text/html")
        found = Links(body.decode())
        assert found.headings == 1, name
        titles.add(found.title)
        assert found.inline == [], name
        assert found.nameless == [], name
        if name.startswith("sample") and name.partition("-")[2] in ("depth", "normals", "labels"):
            assert len(found.pictures) >= 4, name
        links |= {urljoin(address, link) for link in found.links}
        pictures |= {urljoin(address, link) for link in found.pictures}
    assert len(titles) == len(addresses(server))
    assert all(link.startswith(server.url) for link in links | pictures)
    for link in few_of_each_shape(links - {addresses(server)["missing"] + "#main"}):
        status, _, _ = raw(server, link.removeprefix(server.url) or "/")
        assert status in STATUS, link
    for link in sorted(pictures):
        status, headers, body = raw(server, link.removeprefix(server.url))
        assert status == 200, link
        assert headers["content-type"].startswith("image/"), link
        assert body, link


def test_a_sample_is_read_without_scripts(open_page: Callable[..., Any], server: Server) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(server.url + "/")
    page.get_by_role("link", name=re.compile(r"^Samples of .*classical, samples.depth")).click()
    page.get_by_role("link", name=re.compile(r"status ok")).first.click()
    text = page.locator("main").inner_text()
    for words in ("target", "prediction", "delta1", "AbsRel" if "AbsRel" in text else "absrel"):
        assert words.lower() in text.lower()
    assert page.locator("figure[data-role=error] img").first.is_visible()
    assert "Turn this picture into a depth map" in page.locator("main").text_content()
    # the map is chosen by a form
    form = page.locator("form[data-look]")
    if form.count():
        form.locator("[data-choose=map]").select_option("turbo")
        form.get_by_role("button").first.click()
        page.wait_for_url("**map=turbo*")
        source = page.locator("figure[data-role=target] img").first.get_attribute("src")
        assert "map=turbo" in source
    shoot(page, "plain-sample")


def test_axe_finds_nothing_serious_on_any_page(
    open_page: Callable[..., Any], server: Server, faults: Faults
) -> None:
    faults.expected = [MISSING]
    found = {}
    for scheme in ("light", "dark"):
        page = open_page(bypass_csp=True, color_scheme=scheme)
        for name, address in addresses(server).items():
            if scheme == "dark" and name not in ("runs", "gallery-depth", "sample-depth"):
                continue
            page.goto(address)
            violations = axe_faults(page)
            if violations:
                found[name, scheme] = violations
    assert found == {}


def test_axe_finds_nothing_serious_on_damaged_runs(
    open_page: Callable[..., Any], broken_server: Server
) -> None:
    page = open_page(bypass_csp=True)
    found = {}
    paths = {run.path: run for run in broken_server.site.index.runs()}
    for path, run in paths.items():
        if path.partition("/")[0] in ("cut", "no-record"):
            page.goto(f"{broken_server.url}/r/{run.slug}")
            found[path] = axe_faults(page)
    page.goto(broken_server.url + "/")
    found["runs"] = axe_faults(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def tab_to(page: Any, wanted: str, *, most: int = 200) -> None:
    """Presses the tab key until what has the focus is called so."""
    for _ in range(most):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "() => { const e = document.activeElement;"
            " return e.getAttribute('aria-label') || e.textContent.trim(); }"
        )
        if re.search(wanted, " ".join(name.split())):
            return
    raise AssertionError(f"the tab key never comes to {wanted}")


def test_by_keys_alone_from_the_runs_to_a_value(page: Any, server: Server) -> None:
    page.goto(server.url + "/")
    page.keyboard.press("Tab")
    assert "Skip" in page.evaluate("() => document.activeElement.textContent")
    tab_to(page, r"^Samples of .*classical, samples.depth")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s")
    tab_to(page, "status ok")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    page.wait_for_selector("[data-stage].ready")
    page.keyboard.press("t")
    page.keyboard.press("x")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(
        "() => / m\\b/.test(document.querySelector('[data-spoken]').textContent)"
    )
    spoken = page.locator("[data-spoken]").first
    assert spoken.get_attribute("aria-live") == "polite" or spoken.get_attribute("role") == "status"
    before = page.locator("[data-place]").first.inner_text()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('[data-place]').textContent !== before", arg=before
    )
    columns = [int(re.findall(r"\d+", text)[0]) for text in
               (before, page.locator("[data-place]").first.inner_text())]  # fmt: skip
    assert columns[1] - columns[0] == 10
    # and back, a level at a time
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_selector(".cards")
    shoot(page, "keys-back", whole=False)


def test_the_leaderboard_is_a_table_that_says_its_order(page: Any, server: Server) -> None:
    run = row_of(server, FAMILIES["depth"], "oracle")
    page.goto(f"{server.url}/t/{run.task_slug}")
    assert page.locator("table th[scope=col]").count() >= 4
    assert page.locator("table [aria-sort]").count() >= 1
    text = page.locator("main").inner_text()
    for model in ("oracle", "classical", "blind", "flaky"):
        assert model in text
    shoot(page, "leaderboard")


def test_a_comparison_says_who_wins_and_which_samples_decide(page: Any, server: Server) -> None:
    near, hostile = row_of(server, MANY_TASK, "near"), row_of(server, MANY_TASK, "hostile")
    page.goto(f"{server.url}/c?runs={near.key},{hostile.key}")
    text = page.locator("main").inner_text()
    assert "near" in text
    assert "hostile" in text
    assert re.search(rf"\b{MANY}\b", text)
    shoot(page, "compare", whole=False)
    pairing = server.site.index.pair(near, hostile, query())
    # the largest difference first
    deltas = [abs(row.delta) for row in pairing.rows if row.delta is not None]
    assert deltas == sorted(deltas, reverse=True)
    first = pairing.rows[0].first.id
    assert first[:20] in text
    only = pairing.counts["only_a"]
    page.locator("a[href*='quadrant=only_a']").first.click()
    page.wait_for_url("**quadrant=only_a*")
    assert re.search(rf"\b{only}\b", page.locator("main").inner_text())


def test_all_models_on_one_sample(page: Any, server: Server) -> None:
    run = row_of(server, FAMILIES["depth"], "oracle")
    sample = server.site.index.record(run)["samples"][0]
    one = page_of(server, FAMILIES["depth"], "oracle", sample)
    page.goto(one)
    page.goto(one.replace(f"/r/{run.slug}", f"/t/{run.task_slug}"))
    text = page.locator("main").inner_text()
    for model in ("oracle", "classical", "blind", "flaky"):
        assert model in text
    page.wait_for_selector("[data-stage].ready")
    predictions = page.locator("figure[data-role=prediction]")
    assert predictions.count() >= 3
    ends = predictions.evaluate_all("all => all.map(a => [a.dataset.low, a.dataset.high].join())")
    assert len(set(ends)) == 1  # one range over all models
    assert page.locator("figure[data-role=target]").count() == 1
    shoot(page, "models")


def query() -> Any:
    from vgen_eval.viewer.records import Query

    return Query()
