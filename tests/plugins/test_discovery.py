"""Which distributions become plugins, and what is said of those that do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from throwaway import MODEL, TASK, Install
from vgen_eval import __version__
from vgen_eval.discovery import SWITCH, Found, find_plugins, normalise
from vgen_eval.errors import BrokenPlugin, UsageError
from vgen_eval.plugins import Catalog

EMPTY = ""


def names(found: Found) -> list[str]:
    return [plugin.name for plugin in found.plugins]


def test_built_in_plugin_is_always_there_and_first(install: Install) -> None:
    install("aaa-first", {"aaa_first/__init__.py": EMPTY})
    builtin, *others = find_plugins(None).plugins
    assert (builtin.name, builtin.package, builtin.builtin) == (
        "vgen-eval",
        "vgen_eval_plugins",
        True,
    )
    assert builtin.version == __version__
    assert {folder.name for folder in builtin.card_dirs} == {"task_cards", "model_cards"}
    assert all((folder / "__init__.py").is_file() for folder in builtin.card_dirs)
    assert "aaa-first" in [plugin.name for plugin in others]


def test_source_tree_without_any_metadata_offers_the_built_in_plugin() -> None:
    source = Path(__file__).resolve().parents[2]
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import importlib.metadata as m; "
        "m.distributions = lambda: []; "
        "from vgen_eval.plugins import Catalog; p, = Catalog.discover().plugins; "
        "print(p.name, p.package, p.origin['kind'], len(p.card_dirs))"
    )
    paths = [str(source / "harness"), str(source / "plugins")]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["vgen-eval", "vgen_eval_plugins", "source", "2"]


def test_order_does_not_follow_the_order_of_installation(install: Install) -> None:
    for name in ("Zeta", "alpha", "mid-way"):
        install(name, {f"{name.replace('-', '_').lower()}/__init__.py": EMPTY})
    ours = [name for name in names(find_plugins(None)) if name in ("Zeta", "alpha", "mid-way")]
    assert ours == ["alpha", "mid-way", "Zeta"]


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        (None, ["one-plug", "two-plug"]),
        ("", []),
        (" , ", []),
        ("one-plug", ["one-plug"]),
        ("ONE_plug, two.plug", ["one-plug", "two-plug"]),
        ("vgen-eval,two-plug", ["two-plug"]),
    ],
)
def test_switch_leaves_only_the_plugins_it_names_and_the_built_in(
    install: Install, switch: str | None, expected: list[str]
) -> None:
    install("one-plug", {"one_plug/__init__.py": EMPTY})
    install("two-plug", {"two_plug/__init__.py": EMPTY})
    found = find_plugins(switch)
    assert names(found)[0] == "vgen-eval"
    assert [name for name in names(found) if name in ("one-plug", "two-plug")] == expected


def test_switch_that_names_no_installed_plugin_is_a_problem(install: Install) -> None:
    install("one-plug", {"one_plug/__init__.py": EMPTY})
    assert find_plugins("one-plugg,one-plug").problems == (
        "VGEN_EVAL_PLUGINS names 'one-plugg', which is no installed plugin. Nearest: one-plug",
    )


def test_name_of_a_plugin_left_out_says_so(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("one-plug", {"one_plug/__init__.py": EMPTY})
    monkeypatch.setenv(SWITCH, "")
    with pytest.raises(UsageError, match="'one-plug' is left out by VGEN_EVAL_PLUGINS="):
        Catalog.discover().find("task", "one-plug:toys/a")


@pytest.mark.parametrize("name", ["acme_Editor", "acme-editor", "ACME.editor", "acme__editor"])
def test_names_compare_as_package_indexes_do(name: str) -> None:
    assert normalise(name) == "acme-editor"


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        (
            {"odd": "odd_plug.hooks:register"},
            (
                "its entry point is 'odd = odd_plug.hooks:register'; "
                "the bare name of a top-level package wanted"
            ),
        ),
        (
            {"odd": "odd_plug.hooks"},
            (
                "its entry point is 'odd = odd_plug.hooks'; "
                "the bare name of a top-level package wanted"
            ),
        ),
        ({"odd": "gone_plug"}, "its package 'gone_plug' cannot be found"),
        (
            {"odd": "odd_plug", "other": "odd_plug"},
            (
                "has 2 entry points in the group 'vgen_eval' (odd = odd_plug, other = odd_plug); "
                "one wanted"
            ),
        ),
        (
            {"odd": "vgen_eval_plugins"},
            "its package 'vgen_eval_plugins' is already that of plugin 'vgen-eval'",
        ),
    ],
)
def test_malformed_plugin_is_a_problem_and_spares_the_others(
    install: Install, entries: dict[str, str], reason: str
) -> None:
    install("odd-plug", {"odd_plug/__init__.py": EMPTY}, entries=entries)
    install("good-plug", {"good_plug/__init__.py": EMPTY})
    found = find_plugins(None)
    assert f"plugin 'odd-plug': {reason}" in found.problems
    assert "good-plug" in names(found)
    assert "odd-plug" not in names(found)
    with pytest.raises(BrokenPlugin) as caught:
        Catalog(found).find("task", "odd_plug:toys/a")
    assert reason in str(caught.value)


def test_two_distributions_cannot_share_a_package(install: Install) -> None:
    install("first-plug", {"shared_plug/__init__.py": EMPTY}, entries={"first": "shared_plug"})
    install("second-plug", {}, entries={"second": "shared_plug"})
    found = find_plugins(None)
    assert "first-plug" in names(found)
    assert "second-plug" not in names(found)
    assert (
        "plugin 'second-plug': its package 'shared_plug' is already that of plugin 'first-plug'"
        in found.problems
    )


def test_one_name_installed_twice_is_a_problem_and_the_first_on_the_path_is_used(
    install: Install,
) -> None:
    install("twin-plug", {"twin_b/__init__.py": EMPTY}, entries={"t": "twin_b"}, version="2.0",
            site="later")  # fmt: skip
    install("Twin_Plug", {"twin_a/__init__.py": EMPTY}, entries={"t": "twin_a"}, site="earlier")
    found = find_plugins(None)
    assert [p.package for p in found.plugins if normalise(p.name) == "twin-plug"] == ["twin_a"]
    assert (
        "plugin 'twin-plug': installed twice: 1.0 (twin_a), which is used, and 2.0 (twin_b)"
        in found.problems
    )


def test_one_distribution_seen_through_two_folders_is_no_problem(install: Install) -> None:
    install("same-plug", {"same_plug/__init__.py": EMPTY}, site="one")
    install("same-plug", {"same_plug/__init__.py": EMPTY}, site="two")
    found = find_plugins(None)
    assert names(found).count("same-plug") == 1
    assert not [problem for problem in found.problems if "same-plug" in problem]


def test_two_plugins_with_one_entry_point_name_are_named_and_both_work(install: Install) -> None:
    install("left-plug", {"left_plug/__init__.py": EMPTY}, entries={"editor": "left_plug"})
    install("right-plug", {"right_plug/__init__.py": EMPTY}, entries={"editor": "right_plug"})
    found = find_plugins(None)
    assert {"left-plug", "right-plug"} <= set(names(found))
    (problem,) = [p for p in found.problems if "'right-plug'" in p]
    assert "'editor', as plugin 'left-plug' does" in problem


def test_faulty_card_file_is_a_problem_and_spares_the_others(install: Install) -> None:
    folder = install(
        "card-plug",
        {
            "card_plug/__init__.py": EMPTY,
            "card_plug/cards/deep/er/good.yaml": TASK.format(name="toys/good"),
            "card_plug/cards/bad.yaml": "task: [\n",
            "card_plug/cards/none.yaml": "nothing: 1\n",
            "card_plug/cards/model.yaml": MODEL.format(name="toy"),
        },
    )
    (folder / "card_plug/cards/bytes.yaml").write_bytes(b"task: \xff\xfe\n")
    catalog = Catalog.discover()
    assert [h.name for p, h in catalog.heads("task") if p.name == "card-plug"] == ["toys/good"]
    assert [h.name for p, h in catalog.heads("model") if p.name == "card-plug"] == ["toy"]
    ours = [problem for problem in catalog.problems if "card-plug" in problem]
    assert len(ours) == 3
    for file in ("bad.yaml", "none.yaml", "bytes.yaml"):
        assert any(file in problem for problem in ours)


def test_two_cards_of_one_name_are_a_problem_and_neither_is_used(install: Install) -> None:
    install(
        "pair-plug",
        {
            "pair_plug/__init__.py": EMPTY,
            "pair_plug/cards/a.yaml": TASK.format(name="toys/pair"),
            "pair_plug/cards/b.yaml": TASK.format(name="toys/pair"),
            "pair_plug/cards/c.yaml": MODEL.format(name="toys/pair"),
        },
    )
    catalog = Catalog.discover()
    (problem,) = [problem for problem in catalog.problems if "pair-plug" in problem]
    assert "b.yaml: task 'toys/pair' is also in" in problem
    assert not [h for p, h in catalog.heads("task") if p.name == "pair-plug"]
    for name in ("toys/pair", "pair-plug:toys/pair"):
        with pytest.raises(UsageError, match=r"claimed by two cards: .*a\.yaml and .*b\.yaml"):
            catalog.find("task", name)
    assert catalog.find("model", "toys/pair")[1].kind == "model"


def test_module_without_a_folder_is_a_plugin_without_cards(install: Install) -> None:
    install("flat-plug", {"flat_plug.py": EMPTY})
    (plugin,) = [plugin for plugin in find_plugins(None).plugins if plugin.name == "flat-plug"]
    assert plugin.card_dirs == ()


def test_listing_loads_no_plugin_and_no_heavy_library(install: Install) -> None:
    site = install(
        "list-plug",
        {
            "list_plug/__init__.py": "raise RuntimeError('imported')\n",
            "list_plug/cards/task.yaml": TASK.format(name="toys/listed"),
        },
    )
    code = (
        "import sys; sys.path[:] = sys.argv[2:]; from vgen_eval.plugins import Catalog; "
        "c = Catalog.discover(); names = [h.name for _, h in c.heads('task')]; c.problems; "
        "assert 'toys/listed' in names, names; heavy = sys.argv[1].split(','); "
        "print(sorted(set(heavy) & set(sys.modules)))"
    )
    heavy = "list_plug,vgen_eval_plugins,pluggy,numpy,cv2,skimage,PIL,jsonlines,rich,click"
    done = subprocess.run(
        [sys.executable, "-c", code, heavy, *sys.path], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert site.is_dir()
