"""Where a plugin came from, as result cards tell it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from throwaway import Install
from vgen_eval.discovery import Plugin, find_plugins
from vgen_eval.provenance import strip_credentials

COMMIT = "3f2a91c0ffee3f2a91c0ffee3f2a91c0ffee3f2a"


def installed(install: Install, **metadata: Any) -> Plugin:
    install("one-plug", {"one_plug/__init__.py": ""}, **metadata)
    (plugin,) = [plugin for plugin in find_plugins("one-plug").plugins if not plugin.builtin]
    return plugin


@pytest.mark.parametrize(
    ("direct_url", "expected"),
    [
        (
            {
                "url": "https://user:secret@example.org/acme/editor.git",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"},
            },
            {"kind": "vcs", "url": "https://example.org/acme/editor.git", "commit": COMMIT},
        ),
        (
            {"url": "file:///srv/editor", "dir_info": {}},
            {"kind": "file", "url": "file:///srv/editor", "commit": None},
        ),
        (
            {
                "url": "https://example.org/editor-1.0-py3-none-any.whl?token=secret",
                "archive_info": {"hashes": {"sha256": "ab" * 32}},
            },
            {
                "kind": "file",
                "url": "https://example.org/editor-1.0-py3-none-any.whl",
                "commit": None,
                "sha256": "ab" * 32,
            },
        ),
        ("{not json", {"kind": "unknown", "url": None, "commit": None}),
        ("[]", {"kind": "unknown", "url": None, "commit": None}),
        ({"url": 3}, {"kind": "unknown", "url": None, "commit": None}),
        ({"url": "x", "vcs_info": {}}, {"kind": "unknown", "url": None, "commit": None}),
    ],
)
def test_origin_is_what_the_installer_noted(
    install: Install, direct_url: Any, expected: dict[str, Any]
) -> None:
    plugin = installed(install, direct_url=direct_url, installer="pip\n")
    assert plugin.origin == expected
    assert plugin.provenance() == expected | {"dirty": None}


def test_without_a_note_an_installed_plugin_came_from_an_index(install: Install) -> None:
    origin = installed(install, installer="pip\n").origin
    assert origin == {"kind": "pypi", "url": None, "commit": None}


def test_plugin_that_no_installer_put_there_runs_from_source(
    install: Install, tmp_path: Path
) -> None:
    origin = installed(install).origin
    assert origin == {"kind": "source", "url": (tmp_path / "site").as_uri(), "commit": None}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://token@example.org/a.git", "https://example.org/a.git"),
        ("https://user:pa%40ss@example.org:8443/a", "https://example.org:8443/a"),
        ("https://${TOKEN}@example.org/a#egg=x&token=s", "https://example.org/a"),
        ("ssh://git@example.org/a.git", "ssh://git@example.org/a.git"),
        ("ssh://git:secret@example.org/a.git", "ssh://example.org/a.git"),
        ("file:///srv/a", "file:///srv/a"),
    ],
)
def test_credentials_leave_the_url(url: str, expected: str) -> None:
    assert strip_credentials(url) == expected


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with one commit, below a folder whose name needs quoting in URLs."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "my work" / "editor"
    folder.mkdir(parents=True)
    (folder / "editor.py").write_text("A = 1\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    return folder


def test_editable_checkout_tells_its_commit_and_whether_it_is_dirty(
    install: Install, checkout: Path
) -> None:
    note = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    plugin = installed(install, direct_url=note, installer="pip\n")
    assert plugin.origin == {"kind": "editable", "url": checkout.as_uri(), "commit": None}
    commit = git(checkout, "rev-parse", "HEAD")
    clean = plugin.provenance()
    assert (clean["kind"], clean["commit"], clean["dirty"]) == ("editable", commit, False)
    (checkout / "editor.py").write_text("A = 2\n")
    assert plugin.provenance()["dirty"] is True
    git(checkout, "checkout", "--quiet", "editor.py")
    assert plugin.provenance()["dirty"] is False
    (checkout / "new.py").write_text("")
    assert plugin.provenance()["dirty"] is True


def test_editable_folder_outside_git_is_neither_clean_nor_dirty(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    note = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    plugin = installed(install, direct_url=note, installer="pip\n")
    state = plugin.provenance()
    assert (state["commit"], state["dirty"]) == (None, None)


def test_without_git_the_state_is_unknown(
    install: Install, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    plugin = installed(install, direct_url=note, installer="pip\n")
    monkeypatch.setenv("PATH", "")
    assert plugin.provenance()["dirty"] is None


def test_file_monitor_that_a_checkout_names_is_not_run(
    install: Install, checkout: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "ran"
    program = tmp_path / "monitor"
    program.write_text(f"#!/bin/sh\ntouch '{trace}'\n")
    program.chmod(0o755)
    git(checkout, "config", "core.fsmonitor", str(program))
    note = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    plugin = installed(install, direct_url=note, installer="pip\n")
    assert plugin.provenance()["dirty"] is False
    assert not trace.exists()
