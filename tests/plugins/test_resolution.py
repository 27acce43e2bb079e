"""What a name means: on the command line, and inside a card of some distribution."""

from __future__ import annotations

from pathlib import Path

import pytest
from throwaway import CARDS, Install, component_class, hooks
from vgen_eval.discovery import Found, Plugin
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog

OWNERS = {
    "vgen-eval": ("built-in", "everywhere", "shared-with-acme"),
    "acme-editor": ("acme-only", "everywhere", "shared-with-acme", "two-others"),
    "Zeta_Lab": ("zeta-only", "everywhere", "two-others"),
}

AMBIGUOUS = "is ambiguous: acme-editor:two-others, Zeta_Lab:two-others"

# name, home -> the distribution that is meant, or what the error says
RULES = [
    ("built-in", None, "vgen-eval"),
    ("acme-only", None, "acme-editor"),
    ("everywhere", None, "vgen-eval"),
    ("two-others", None, AMBIGUOUS),
    ("vgen-eval:everywhere", None, "vgen-eval"),
    ("acme-editor:everywhere", None, "acme-editor"),
    ("acme_editor:everywhere", None, "acme-editor"),
    ("ACME.Editor:everywhere", None, "acme-editor"),
    ("zeta-lab:two-others", None, "Zeta_Lab"),
    ("zeta-lab:acme-only", None, "no {kind} 'zeta-lab:acme-only'."),
    ("acme-edit:everywhere", None, "no plugin 'acme-edit'. Nearest: acme-editor"),
    ("acme_editor", None, "is a plugin, not a {kind}; it has acme-editor:acme-only, acme-editor:"),
    ("everywhere", "acme-editor", "acme-editor"),
    ("everywhere", "zeta-lab", "Zeta_Lab"),
    ("everywhere", "vgen-eval", "vgen-eval"),
    ("shared-with-acme", "Zeta_Lab", "vgen-eval"),
    ("acme-only", "Zeta_Lab", "acme-editor"),
    ("acme-only", "vgen-eval", "acme-editor"),
    ("two-others", "vgen-eval", AMBIGUOUS),
    ("two-others", "acme-editor", "acme-editor"),
    ("zeta-lab:everywhere", "acme-editor", "Zeta_Lab"),
    ("acme-onl", "Zeta_Lab", "no {kind} 'acme-onl'. Nearest: acme-only"),
]


def shelf(folder: Path, owners: dict[str, tuple[str, ...]], kind: str = "task") -> Catalog:
    """A catalog of plugins that have cards alone; `vgen-eval` is the built-in one."""
    plugins = []
    for name, cards in owners.items():
        place = folder / name
        place.mkdir()
        for card in cards:
            text = CARDS[kind].format(name=card)
            (place / f"{card.replace('/', '-')}.yaml").write_text(text)
        builtin = name == "vgen-eval"
        plugins.append(
            Plugin(name=name, version="1", package="none", origin={}, card_dirs=(place,),
                   builtin=builtin)
        )  # fmt: skip
    return Catalog(Found(plugins=tuple(plugins)))


@pytest.mark.parametrize(("name", "home", "expected"), RULES)
@pytest.mark.parametrize("kind", ["task", "model", "suite"])
def test_card_names(tmp_path: Path, kind: str, name: str, home: str | None, expected: str) -> None:
    catalog = shelf(tmp_path, OWNERS, kind)
    if expected in OWNERS:
        plugin, head = catalog.find(kind, name, home=home)
        assert (plugin.name, head.kind, head.name) == (expected, kind, name.rpartition(":")[2])
    else:
        with pytest.raises(UsageError) as caught:
            catalog.find(kind, name, home=home)
        assert expected.format(kind=kind) in str(caught.value)


@pytest.mark.parametrize(("name", "home", "expected"), [rule for rule in RULES if rule[1]])
def test_component_names(install: Install, name: str, home: str, expected: str) -> None:
    package = {"vgen-eval": "vgen_eval_stand_in", "acme-editor": "acme_x", "Zeta_Lab": "zeta_x"}
    plugins = []
    for owner, metrics in OWNERS.items():
        names = dict.fromkeys(metrics, f"{package[owner]}.parts:Thing")
        install(
            f"x-{owner}",
            {
                f"{package[owner]}/__init__.py": hooks(metrics=names),
                f"{package[owner]}/parts.py": "from vgen_eval.types import NoOptions\n"
                + component_class("Thing", "update", "merge", "compute"),
            },
        )
        plugins.append(Plugin(name=owner, version="1", package=package[owner], origin={},
                              builtin=owner == "vgen-eval"))  # fmt: skip
    catalog = Catalog(Found(plugins=tuple(plugins)))
    if expected in OWNERS:
        component = catalog.component("metric", name, home=home)
        bare = name.rpartition(":")[2]
        assert component.qualified == f"{expected}:{bare}"
        assert component.obj.__module__ == f"{package[expected]}.parts"
        assert catalog.component("metric", name, home=home).obj is component.obj
    else:
        with pytest.raises(UsageError) as caught:
            catalog.component("metric", name, home=home)
        assert expected.format(kind="metric") in str(caught.value)


def test_unknown_name_gives_the_nearest_ones(tmp_path: Path) -> None:
    catalog = shelf(
        tmp_path, {"vgen-eval": ("depth/nyuv2", "depth/nyuv2-normals", "counting/coins")}
    )
    with pytest.raises(UsageError) as caught:
        catalog.find("task", "depth/nyu")
    assert str(caught.value) == "no task 'depth/nyu'. Nearest: depth/nyuv2, depth/nyuv2-normals"


def test_built_in_that_wins_a_bare_name_says_who_else_has_it(tmp_path: Path) -> None:
    catalog = shelf(tmp_path, OWNERS)
    notices: list[str] = []
    catalog.find("task", "everywhere", notices=notices)
    assert notices == [
        (
            "task 'everywhere' is vgen-eval's; there is also acme-editor:everywhere, "
            "Zeta_Lab:everywhere"
        )
    ]


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("built-in", None),
        ("acme-only", None),
        ("vgen-eval:everywhere", None),
        ("everywhere", "vgen-eval"),
        ("everywhere", "acme-editor"),
    ],
)
def test_no_notice_where_nothing_else_could_be_meant(
    tmp_path: Path, name: str, home: str | None
) -> None:
    notices: list[str] = []
    shelf(tmp_path, OWNERS).find("task", name, home=home, notices=notices)
    assert notices == []


def test_one_name_may_be_a_task_and_a_model(tmp_path: Path) -> None:
    catalog = shelf(tmp_path, {"vgen-eval": ("toys/a",)})
    (tmp_path / "vgen-eval" / "model.yaml").write_text(CARDS["model"].format(name="toys/a"))
    assert catalog.find("task", "toys/a")[1].kind == "task"
    assert catalog.find("model", "toys/a")[1].kind == "model"
    assert catalog.problems == ()


def test_unknown_kinds_are_usage_errors(tmp_path: Path) -> None:
    catalog = shelf(tmp_path, OWNERS)
    with pytest.raises(UsageError, match=r"no kind of card 'tasks'\. Nearest: task"):
        catalog.heads("tasks")
    with pytest.raises(UsageError, match=r"no kind of component 'metrics'\. Nearest: metric"):
        catalog.component("metrics", "x", home="vgen-eval")
