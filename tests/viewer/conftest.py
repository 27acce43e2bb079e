"""What the tests of the viewer share: results made once, the real server, real Chromium."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_kit import Faults, Server, launch, serve
from damage_kit import make_broken
from results_kit import World, make_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Runs of every family and the data of those that need any; nobody may write there."""
    logging.disable()  # the models that fail on purpose are loud about it
    try:
        return make_world(tmp_path_factory.mktemp("world"))
    finally:
        logging.disable(logging.NOTSET)


@pytest.fixture(scope="session")
def results(world: World) -> Path:
    """The results folder of `world`; nobody may write there but the viewer."""
    return world.results


@pytest.fixture(scope="session")
def broken_results(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that are damaged in every known way, each below a folder named for it."""
    return make_broken(results, tmp_path_factory.mktemp("broken"))


@pytest.fixture(scope="session")
def empty_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder without a run."""
    return tmp_path_factory.mktemp("nothing") / "results"


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[Server]:
    """The viewer of `results`."""
    with serve(world.results, data_root=world.data) as found:
        yield found


@pytest.fixture(scope="session")
def broken_server(broken_results: Path) -> Iterator[Server]:
    """The viewer of `broken_results`."""
    with serve(broken_results) as found:
        yield found


@pytest.fixture(scope="session")
def empty_server(empty_results: Path) -> Iterator[Server]:
    """The viewer of `empty_results`."""
    with serve(empty_results) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium. A module's: while it is open, playwright's event loop occupies the thread."""
    with launch() as found:
        yield found


@pytest.fixture
def faults() -> Iterator[Faults]:
    """What the pages of a test complained of; the test fails for all that it did not expect."""
    found = Faults()
    yield found
    assert found.left == []


@pytest.fixture
def open_page(browser: Any, faults: Faults) -> Iterator[Callable[..., Any]]:
    """Opens a page in a context of its own, with the options of playwright's `new_context`."""
    contexts: list[Any] = []

    def open_(**options: Any) -> Any:
        options = {"viewport": {"width": 1280, "height": 900}, **options}
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        faults.watch(page)
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    """An empty page of a desk's size."""
    return open_page()
