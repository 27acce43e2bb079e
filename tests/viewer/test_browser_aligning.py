"""Panes one against another: unlinked and shifted, linked again; classes as outlines alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser_kit import Server, axe_faults, colours_of
from panes_kit import query, settle, visit
from results_kit import FAMILIES
from vgen_eval.viewing import ClassMap

PLACES = """() => Object.fromEntries(VgenView.current.panes.map(pane => {
  const at = pane.place();
  return [pane.role, [at.left, at.top, at.kx]];
}))"""
DEPTH, LABELS, MASK = FAMILIES["depth"], FAMILIES["labels"], FAMILIES["mask"]


def places(page: Any) -> dict[str, list[float]]:
    """Of each pane: left, top, scale."""
    settle(page)
    found: dict[str, list[float]] = page.evaluate(PLACES)
    return found


def drag(page: Any, role: str, across: int, down: int) -> None:
    box = page.locator(f"[data-role={role}] .view").first.bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 80 + across, box["y"] + 60 + down, steps=4)
    page.mouse.up()


def moved(before: dict[str, list[float]], after: dict[str, list[float]], role: str) -> list[float]:
    return [after[role][at] - before[role][at] for at in (0, 1)]


def test_an_unlinked_pane_is_shifted_alone_and_keeps_its_offset(page: Any, server: Server) -> None:
    visit(page, server, DEPTH, "classical")
    button = page.locator("[data-role=prediction] [data-unlink]")
    assert button.get_attribute("aria-pressed") == "false"
    before = places(page)
    button.click()
    drag(page, "prediction", 30, 12)
    after = places(page)
    assert moved(before, after, "prediction") == pytest.approx([30, 12], abs=0.5)
    assert moved(before, after, "target") == [0, 0]
    assert "shifted" in page.locator("[data-role=prediction] [data-shifted]").inner_text()
    # linked again they go together, as far apart as they were
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    page.evaluate("() => VgenView.current.set(.5, .5, 2)")
    zoomed = places(page)
    apart = [zoomed["prediction"][at] - zoomed["target"][at] for at in (0, 1)]
    assert apart == pytest.approx([60, 24], abs=1)
    drag(page, "target", 10, 10)
    again = places(page)
    assert moved(zoomed, again, "prediction") == pytest.approx([10, 10], abs=0.5)
    assert moved(zoomed, again, "target") == pytest.approx([10, 10], abs=0.5)
    # fit is of the view: only what is unlinked goes back
    page.locator("[data-act=fit]").click()
    assert moved(before, places(page), "prediction") == pytest.approx([30, 12], abs=0.5)
    button.click()
    page.locator("[data-act=fit]").click()
    assert moved(before, places(page), "prediction") == pytest.approx([0, 0], abs=0.5)
    assert page.locator("[data-role=prediction] [data-shifted]").inner_text() == ""


def test_the_address_keeps_offsets_and_goes_to_the_next_sample(page: Any, server: Server) -> None:
    visit(page, server, DEPTH, "classical")
    page.locator("[data-role=prediction] [data-unlink]").click()
    drag(page, "prediction", 30, 12)
    key = page.locator("[data-role=prediction]").get_attribute("data-key")
    said = query(page, "shift")
    assert said is not None
    assert said.startswith(f"{key}:0.")
    assert said.endswith(":u")
    before = places(page)
    page.reload()
    page.wait_for_selector("[data-stage].ready")
    assert moved(before, places(page), "prediction") == pytest.approx([0, 0], abs=0.6)
    assert page.locator("[data-unlink][aria-pressed=true]").count() == 1
    page.keyboard.press("u")  # nothing has the focus, nothing is pointed at
    assert page.locator("[data-unlink][aria-pressed=true]").count() == 1
    page.locator("[data-unlink][aria-pressed=true]").click()
    assert query(page, "shift") == said.removesuffix(":u")
    page.locator("a[rel=next]").click()
    page.wait_for_selector("[data-stage].ready")
    assert query(page, "shift") == said.removesuffix(":u")


def test_keys_unlink_and_shift_a_pane(page: Any, server: Server) -> None:
    visit(page, server, DEPTH, "classical")
    before = places(page)
    page.keyboard.press("p")
    page.keyboard.press("u")
    assert "unlinked" in page.locator("#announce").inner_text()
    for _ in range(5):
        page.keyboard.press("Shift+ArrowRight")
    after = places(page)
    assert moved(before, after, "prediction")[0] > 5
    assert moved(before, after, "target") == [0, 0]
    page.keyboard.press("u")
    page.keyboard.press("0")
    assert moved(before, places(page), "prediction")[0] > 5
    page.keyboard.press("u")
    page.keyboard.press("0")
    assert moved(before, places(page), "prediction") == pytest.approx([0, 0], abs=0.01)


def test_a_shifted_pane_is_read_where_it_lies(page: Any, server: Server) -> None:
    look = visit(page, server, DEPTH, "oracle", "?shift=prediction:0.25:0")
    (key,) = [shown.name for shown in look.panes if shown.pane.role == "prediction"]
    (target,) = [shown.name for shown in look.panes if shown.pane.role == "target"]
    page.evaluate(f"() => VgenView.current.panes.find(p => p.key === '{key}').shiftTo(.25, 0)")
    told = page.evaluate("() => VgenView.valueAt(.5 + .001, .5 + .001)")
    plain = page.evaluate(
        f"""() => {{ VgenView.current.panes.find(p => p.key === '{key}').shiftTo(0, 0);
        return VgenView.valueAt(.25 + .001, .5 + .001); }}"""
    )
    assert told[key] == plain[key]
    assert told[target] != plain[target]
    # what it does not reach any more has no value
    page.evaluate(f"() => VgenView.current.panes.find(p => p.key === '{key}').shiftTo(.25, 0)")
    assert page.evaluate("() => VgenView.valueAt(.1, .5)")[key] == "–"


def test_what_wipes_over_another_is_shifted_against_it(page: Any, server: Server) -> None:
    visit(page, server, DEPTH, "classical", "?layout=wipe")
    before = places(page)
    page.locator(".pane.chosen [data-unlink]").first.click()
    box = page.locator(".wipe-view").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 320, box["y"] + 70, steps=3)
    page.mouse.up()
    after = places(page)
    assert moved(before, after, "prediction") == pytest.approx([20, 10], abs=0.5)
    assert moved(before, after, "target") == [0, 0]


@pytest.mark.parametrize("task", [LABELS, MASK])
def test_outlines_alone_leave_what_lies_beneath_to_be_seen(
    page: Any, server: Server, task: str
) -> None:
    look = visit(page, server, task, "oracle")
    (shown,) = [shown for shown in look.panes if shown.pane.role == "prediction"]
    body = shown.pane.body
    assert isinstance(body, ClassMap)
    page.locator("[data-outline]").check()
    page.wait_for_function("() => VgenView.current.panes.every(p => !p.numbers || p.field)")
    settle(page)
    ids = np.pad(body.ids, 1, mode="edge")
    inner = ids[1:-1, 1:-1]
    edges = np.zeros(inner.shape, bool)
    for other in (ids[:-2, 1:-1], ids[2:, 1:-1], ids[1:-1, :-2], ids[1:-1, 2:]):
        edges |= other != inner
    painted = colours_of(page, shown.name)[..., 3] > 0
    assert np.array_equal(painted, edges & (inner >= 0))
    assert 0 < painted.sum() < 0.5 * painted.size
    assert query(page, "outline") == "1"
    # the address brings it back; switched off it is as it was
    page.reload()
    page.wait_for_selector("[data-stage].ready")
    assert page.locator("[data-outline]").is_checked()
    assert np.array_equal(colours_of(page, shown.name)[..., 3] > 0, edges & (inner >= 0))
    page.locator("[data-outline]").uncheck()
    page.wait_for_timeout(300)
    whole = colours_of(page, shown.name)[..., 3] > 0
    assert np.array_equal(whole, inner >= 0)
    assert query(page, "outline") is None


def test_an_address_switches_outlines_on_by_1_alone(page: Any, server: Server) -> None:
    for given, is_on in (("0", False), ("", False), ("1", True)):
        visit(page, server, LABELS, "oracle", f"?outline={given}")
        assert page.locator("[data-outline]").is_checked() is is_on


def test_outlines_go_with_classes_that_are_hidden(page: Any, server: Server) -> None:
    look = visit(page, server, LABELS, "oracle", "?outline=1")
    (shown,) = [shown for shown in look.panes if shown.pane.role == "prediction"]
    at_first = colours_of(page, shown.name)[..., 3].astype(bool)
    box = page.locator("[data-class] input").first
    box.uncheck()
    page.wait_for_timeout(300)
    place = int(page.locator("[data-class]").first.get_attribute("data-class"))
    assert isinstance(shown.pane.body, ClassMap)
    wanted = at_first & (shown.pane.body.ids != place)
    assert np.array_equal(colours_of(page, shown.name)[..., 3] > 0, wanted)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_both_switches_are_sound_for_everyone(
    open_page: Callable[..., Any], server: Server, scheme: str, width: int
) -> None:
    page = open_page(bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 844})
    visit(page, server, LABELS, "classical", "?outline=1&shift=prediction:0.1:0.05:u")
    settle(page)
    assert page.locator("[data-shifted]:not(:empty)").count() == 1
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
