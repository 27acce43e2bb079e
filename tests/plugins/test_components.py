"""Components are imported when asked for; a plugin's faults hurt only those who need it."""

from __future__ import annotations

import sys
import traceback

import pytest
from throwaway import NO_OPTIONS, Install, component_class, hooks
from vgen_eval import hookspecs
from vgen_eval.discovery import Found, Plugin
from vgen_eval.errors import BrokenPlugin, MissingExtra, UsageError
from vgen_eval.plugins import Catalog

THING = NO_OPTIONS + component_class("Thing", "update", "merge", "compute")

MARKED = "from vgen_eval.hookspecs import hookimpl\n@hookimpl\n"

METHODS = {
    "adapter": ("generate",),
    "dataset": ("index", "load", "fingerprint"),
    "decoder": ("decode",),
    "encoder": ("encode",),
    "metric": ("update", "merge", "compute"),
    "judge": ("judge", "prompts"),
    "importer": ("read",),
    "exporter": ("export",),
    "view": ("panes",),
}


def add(install: Install, init: str, parts: str = THING, *, name: str = "one-plug") -> Catalog:
    package = name.replace("-", "_")
    install(name, {f"{package}/__init__.py": init, f"{package}/parts.py": parts})
    return Catalog.discover()


def test_every_hook_is_documented_and_gives_components(install: Install) -> None:
    assert METHODS.keys() == hookspecs.HOOKS.keys()
    assert set(hookspecs.HOOKS.values()) == {n for n in vars(hookspecs) if n.startswith("vgen_")}
    parts = NO_OPTIONS
    named = {}
    for kind, hook in hookspecs.HOOKS.items():
        assert (getattr(hookspecs, hook).__doc__ or "").strip(), hook
        parts += component_class(
            f"My{kind.title()}", *METHODS[kind], body=f"    measures = 'my_{kind}'\n"
        )
        named[hook.removeprefix("vgen_")] = {f"my_{kind}": f"one_plug.parts:My{kind.title()}"}
    catalog = add(install, hooks(**named), parts)
    for kind in hookspecs.HOOKS:
        component = catalog.component(kind, f"my_{kind}", home="one-plug")
        assert component.qualified == f"one-plug:my_{kind}"
        assert component.dist_version == "1.0"
        assert component.obj.__name__ == f"My{kind.title()}"


@pytest.mark.parametrize("name", ["mine", "built_in"])
def test_name_of_home_or_of_the_built_ins_imports_no_other_plugin(
    install: Install, name: str
) -> None:
    install("noisy-plug", {"noisy_plug/__init__.py": "raise RuntimeError('imported')\n"})
    add(install, hooks(metrics={"built_in": "stand_in.parts:Thing"}), name="stand-in")
    found = add(install, hooks(metrics={"mine": "one_plug.parts:Thing"})).plugins
    stand_in = Plugin(name="vgen-eval", version="1", package="stand_in", origin={}, builtin=True)
    others = tuple(p for p in found if p.name in ("noisy-plug", "one-plug"))
    catalog = Catalog(Found(plugins=(stand_in, *others)))
    assert catalog.component("metric", name, home="one-plug").name == name
    assert "noisy_plug" not in sys.modules


def test_modules_of_components_that_nobody_uses_stay_unimported(install: Install) -> None:
    catalog = add(
        install, hooks(metrics={"a": "one_plug.parts:Thing", "b": "one_plug.absent:Thing"})
    )
    assert catalog.component("metric", "a", home="one-plug").obj.version == 1
    with pytest.raises(BrokenPlugin, match=r"metric 'one-plug:b' \(one_plug.absent:Thing\)"):
        catalog.component("metric", "b", home="one-plug")


@pytest.mark.parametrize(
    ("word", "reason", "cause"),
    [
        (
            "raises",
            "ModuleNotFoundError: No module named 'a_module_that_is_not_there'",
            ModuleNotFoundError,
        ),
        ("exits", "SystemExit: 3", SystemExit),
    ],
)
def test_needed_broken_plugin_is_an_error_with_its_own_traceback(
    broken_three: Install, word: str, reason: str, cause: type[BaseException]
) -> None:
    del broken_three
    catalog = Catalog.discover()
    for _ in range(2):  # the second time it is remembered, not imported again
        with pytest.raises(BrokenPlugin) as caught:
            catalog.component("metric", "anything", home=f"plug-{word}")
        error = caught.value
        assert str(error) == f"plugin 'plug-{word}' (package plug_{word}): {reason}"
        assert error.exit_code == 3
        assert error.cure == "vgen-eval list plugins"
        assert isinstance(error.__cause__, cause)
        frames = traceback.extract_tb(error.__cause__.__traceback__)
        assert frames[-1].filename.endswith(f"plug_{word}/__init__.py")


def test_broken_plugins_spare_those_who_do_not_need_them(
    broken_three: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    del broken_three
    catalog = Catalog.discover()
    component = catalog.component("metric", "quiet", home="plug-prints")
    assert component.qualified == "plug-prints:quiet"
    output = capsys.readouterr()
    assert output.out == ""  # somebody may parse it as JSON
    assert output.err == "{not json\n"
    assert not {"plug_raises", "plug_exits"} & set(sys.modules)


def test_heads_of_broken_plugins_are_listed_without_importing_them(broken_three: Install) -> None:
    del broken_three
    listed = {head.name for _, head in Catalog.discover().heads("task")}
    assert {"toys/raises", "toys/exits", "toys/prints"} <= listed
    assert not {"plug_raises", "plug_exits", "plug_prints"} & set(sys.modules)


def test_name_found_nowhere_shows_which_plugins_could_not_be_asked(broken_three: Install) -> None:
    del broken_three
    with pytest.raises(UsageError) as caught:
        Catalog.discover().component("metric", "lost", home="vgen-eval")
    text = str(caught.value)
    assert text.startswith("no metric 'lost'.")
    assert "plugin 'plug-raises' (package plug_raises): ModuleNotFoundError" in text
    assert "plugin 'plug-exits' (package plug_exits): SystemExit: 3" in text
    assert isinstance(caught.value.__cause__, SystemExit)


@pytest.mark.parametrize(
    ("init", "reason"),
    [
        (
            MARKED + "def vgen_metric():\n    return {}\n",
            "no hook is called 'vgen_metric'. Nearest: vgen_metrics",
        ),
        ("def vgen_metrics():\n    return {}\n", "vgen_metrics lacks @hookimpl"),
        (
            MARKED + "def vgen_metrics(extra):\n    return {}\n",
            "Argument(s) {'extra'}",
        ),
        ("syntax error\n", "SyntaxError: invalid syntax"),
        ("class Odd(BaseException): ...\nraise Odd('no')\n", "Odd: no"),
        (hooks(metrics={"a": "one_plug.parts"}), "gives 'one_plug.parts' for 'a'"),
        (hooks(metrics={"a": 3}), "gives 3 for 'a'; 'package.module:Object' wanted"),  # type: ignore[dict-item]
        (hooks(metrics={"x:a": "one_plug.parts:Thing"}), "names 'x:a'"),
        (hooks(metrics={3: "one_plug.parts:Thing"}), "names 3"),  # type: ignore[dict-item]
        (
            MARKED + "def vgen_metrics():\n    return ['a']\n",
            "returns [['a']]; a mapping wanted",
        ),
        (
            MARKED + "def vgen_metrics():\n    raise SystemExit('bye')\n",
            "plugin 'one-plug': vgen_metrics: SystemExit: bye",
        ),
    ],
)
def test_plugin_that_breaks_the_contract_of_hooks_is_broken(
    install: Install, init: str, reason: str
) -> None:
    catalog = add(install, init)
    with pytest.raises(BrokenPlugin) as caught:
        catalog.component("metric", "a", home="one-plug")
    assert "plugin 'one-plug'" in str(caught.value)
    assert reason in str(caught.value)


def test_interrupt_during_an_import_is_no_fault_of_the_plugin(install: Install) -> None:
    catalog = add(install, "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        catalog.component("metric", "a", home="one-plug")


def test_one_module_registered_by_two_plugins_is_broken(install: Install) -> None:
    install("first-plug", {"first_plug/__init__.py": hooks(metrics={"a": "json:loads"})})
    alias = "import sys, first_plug\nsys.modules[__name__] = first_plug\n"
    catalog = add(install, alias)
    catalog._loader.names(catalog.plugin("first-plug"), "metric")
    with pytest.raises(BrokenPlugin, match=r"plugin 'one-plug' .*already registered"):
        catalog.component("metric", "a", home="one-plug")


@pytest.mark.parametrize(
    ("kind", "parts", "reason"),
    [
        ("metric", "class Other: ...\n", "one_plug.parts has no 'Thing'"),
        ("metric", "Thing = 3\n", "a class wanted, int seen"),
        ("metric", "class Thing:\n    version = 1\n", "lacks the attribute 'Options'"),
        ("decoder", "class Thing:\n    version = 1\n    Options = dict\n", "attribute 'Options'"),
        (
            "encoder",
            NO_OPTIONS + "class Thing:\n    Options = NoOptions\n",
            "lacks the attribute 'version'",
        ),
        (
            "dataset",
            NO_OPTIONS + "class Thing:\n    version = '1'\n    Options = NoOptions\n",
            "lacks the attribute 'version', a whole number",
        ),
        ("metric", NO_OPTIONS + component_class("Thing", "update", "merge"), "method 'compute'"),
        ("decoder", NO_OPTIONS + component_class("Thing"), "lacks the method 'decode'"),
        ("adapter", "class Thing: ...\n", "lacks the method 'generate'"),
        ("view", "class Thing:\n    measures = 'a'\n", "lacks the attribute 'version'"),
        ("view", "class Thing:\n    version = 1\n    measures = 'a'\n", "method 'panes'"),
        (
            "view",
            NO_OPTIONS + component_class("Thing", "panes", body="    measures = 'b'\n"),
            "measures is 'b', the name is 'a'",
        ),
        ("metric", "import sys\nsys.exit(4)\n", "SystemExit: 4"),
        ("metric", "import a_lost_library\n", "No module named 'a_lost_library'"),
    ],
)
def test_object_that_is_no_such_component_is_broken(
    install: Install, kind: str, parts: str, reason: str
) -> None:
    catalog = add(install, hooks(**{f"{kind}s": {"a": "one_plug.parts:Thing"}}), parts)
    with pytest.raises(BrokenPlugin) as caught:
        catalog.component(kind, "a", home="one-plug")
    assert str(caught.value).startswith(f"{kind} 'one-plug:a' (one_plug.parts:Thing): ")
    assert reason in str(caught.value)


def test_missing_extra_passes_through_and_is_no_broken_plugin(install: Install) -> None:
    parts = "from vgen_eval.errors import MissingExtra\nraise MissingExtra('diffusers')\n"
    catalog = add(install, hooks(metrics={"a": "one_plug.parts:Thing"}), parts)
    with pytest.raises(MissingExtra) as caught:
        catalog.component("metric", "a", home="one-plug")
    assert caught.value.cure == "pip install 'vgen-eval[diffusers]'"


def test_wrapper_of_one_plugin_does_not_touch_the_answers_of_another(install: Install) -> None:
    install(
        "wrap-plug",
        {
            "wrap_plug/__init__.py": "from vgen_eval.hookspecs import hookimpl\n"
            "@hookimpl(wrapper=True)\ndef vgen_metrics():\n"
            "    answer = yield\n    return [{'stolen': 'x:Y'}]\n"
        },
    )
    catalog = add(install, hooks(metrics={"mine": "one_plug.parts:Thing"}))
    wrapping = catalog.plugin("wrap-plug")
    assert catalog._loader.names(wrapping, "metric") == {"stolen": "x:Y"}
    assert catalog._loader.names(catalog.plugin("one-plug"), "metric") == {
        "mine": "one_plug.parts:Thing"
    }


def test_nested_objects_can_be_named(install: Install) -> None:
    inner = component_class("Thing", "update", "merge", "compute").replace("\n", "\n    ")
    parts = f"{NO_OPTIONS}class Outer:\n    {inner}"
    catalog = add(install, hooks(metrics={"a": "one_plug.parts:Outer.Thing"}), parts)
    component = catalog.component("metric", "a", home="one-plug")
    assert component.obj.__qualname__ == "Outer.Thing"
