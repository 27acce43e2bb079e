"""Which names a new plugin may have, and what is said of the others."""

from __future__ import annotations

import pytest
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.scaffold.names import LONGEST, check_name, package_of, suggest


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    monkeypatch.setenv("VGEN_EVAL_PLUGINS", "")
    return Catalog.discover()


@pytest.mark.parametrize("name", ["acme-editor", "a", "x2", "acme-editor-2", "a" * LONGEST])
def test_ordinary_names_are_taken(name: str, catalog: Catalog) -> None:
    check_name(name, catalog)
    assert package_of(name).isidentifier()
    assert suggest(name) == name


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("Acme Editor", "acme-editor"),
        ("acme_editor", "acme-editor"),
        ("acme--editor", "acme-editor"),
        ("-acme", "acme"),
        ("acme-", "acme"),
        ("acme.editor", "acme-editor"),
        ("3d-net", "vgen-3d-net"),
        ("../acme", "acme"),
        ("acme/editor", "acme-editor"),
        ("acme\n", "acme"),
        ("épée", "pe"),
        ("日本", "vgen-plugin"),
        ("", "vgen-plugin"),
        ("{{name}}", "name"),
        ("$(rm -rf x)", "rm-rf-x"),
        ("a" * 41, "a" * 40),
        ("class", "vgen-class"),
        ("match", "vgen-match"),
        ("json", "vgen-json"),
        ("tests", "vgen-tests"),
    ],
)
def test_other_names_are_refused_with_the_nearest_valid_one(
    name: str, nearest: str, catalog: Catalog
) -> None:
    with pytest.raises(UsageError) as caught:
        check_name(name, catalog)
    assert caught.value.what.endswith(f"Nearest: {nearest}")
    assert caught.value.cure == f"vgen-eval plugin new {nearest}"
    check_name(nearest, catalog)


@pytest.mark.parametrize("name", ["vgen-eval", "vgen-eval-plugins", "numpy", "pillow", "yaml"])
def test_names_of_what_is_installed_are_refused(name: str, catalog: Catalog) -> None:
    # pillow is a distribution without a package of its name, yaml is the opposite
    with pytest.raises(UsageError, match="cannot be the name of a plugin"):
        check_name(name, catalog)
