"""Who may import whom: the engine knows no plugin, plugins know only what is public."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HARNESS = ROOT / "harness" / "vgen_eval"
PLUGINS = ROOT / "plugins" / "vgen_eval_plugins"
PUBLIC_TO_PLUGINS = {
    "vgen_eval",
    "vgen_eval.adapters",
    "vgen_eval.cards.records",
    "vgen_eval.drafts",
    "vgen_eval.errors",
    "vgen_eval.exporting",
    "vgen_eval.hookspecs",
    "vgen_eval.imaging",
    "vgen_eval.importing",
    "vgen_eval.judging",
    "vgen_eval.numerals",
    "vgen_eval.paths",
    "vgen_eval.prompting",
    "vgen_eval.remote",
    "vgen_eval.scoring",
    "vgen_eval.secrets",
    "vgen_eval.types",
    "vgen_eval.video",
    "vgen_eval.viewing",
}
HEAVY = {"numpy", "cv2", "skimage", "PIL", "scipy", "torch", "rich", "pluggy", "jsonlines"}
# modules that `import vgen_eval`, `--help` and `list` load
LIGHT = (
    "__init__",
    "_version",
    "types",
    "errors",
    "jsonio",
    "paths",
    "secrets",
    "plugins",
    "discovery",
    "distributions",
    "prompting",
)
MAX_LINES = 500


def imports(path: Path, *, top_only: bool = False) -> Iterator[str]:
    """Modules that a file imports, TYPE_CHECKING blocks left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in ast.walk(node)
    }
    nodes = tree.body if top_only else list(ast.walk(tree))
    for node in nodes:
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def sources(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    assert len(found) > 5
    return found


@pytest.mark.parametrize("path", sources(HARNESS), ids=lambda p: str(p.relative_to(HARNESS)))
def test_the_harness_never_imports_the_built_in_plugins(path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] == "vgen_eval_plugins"]


@pytest.mark.parametrize("path", sources(PLUGINS), ids=lambda p: str(p.relative_to(PLUGINS)))
def test_built_in_plugins_import_only_public_names(path: Path) -> None:
    used = {name for name in imports(path) if name.split(".")[0] == "vgen_eval"}
    assert used <= PUBLIC_TO_PLUGINS


def test_light_modules_import_nothing_heavy_at_the_top() -> None:
    paths = [HARNESS / f"{name}.py" for name in LIGHT]
    paths += [*(HARNESS / "cards").glob("*.py"), *(HARNESS / "imaging").glob("*.py")]
    paths += [HARNESS / "cli" / "__init__.py", HARNESS / "scaffold" / "__init__.py"]
    for path in paths:
        heavy = {name.split(".")[0] for name in imports(path, top_only=True)} & HEAVY
        assert not heavy, f"{path.name} imports {heavy}"


def test_rooms_name_their_parts_without_importing_them() -> None:
    for path in sorted(PLUGINS.glob("*/**/__init__.py")):
        assert not {name.split(".")[0] for name in imports(path)} - {"__future__", "vgen_eval"}


def test_no_file_is_crowded() -> None:
    folders = (HARNESS, PLUGINS, ROOT / "tests")
    long = {
        str(path.relative_to(ROOT)): count
        for folder in folders
        for path in folder.rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert not long
