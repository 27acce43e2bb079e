"""Where checkpoints lie: folders, commits, floating revisions, and what a hub may answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from vgen_eval.cards.records import Checkpoint, ModelCard
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.secrets import redact
from vgen_eval_plugins.models.local.hub import (
    JSON_LIMIT,
    Source,
    find_source,
    read_json,
    resolve,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40


def card(**given: Any) -> ModelCard:
    return ModelCard(
        model="m", adapter="a", answers=("image",), licence="none", checkpoint=Checkpoint(**given)
    )


def find(*options: str | None, **given: Any) -> Source:
    """The place by the options `model` and `revision` and a card's checkpoint."""
    model, revision = (*options, None, None)[:2]
    return find_source(model, revision, card=card(**given), extra="diffusers")


def test_a_pinned_commit_is_taken_as_it_is() -> None:
    assert find(repo="org/name", revision=COMMIT) == Source("org/name", COMMIT)
    assert find("org/other", OTHER, repo="org/name", revision=COMMIT) == Source("org/other", OTHER)
    assert str(Source("org/name", COMMIT)) == "org/name@0123456789ab"


def test_an_option_may_name_another_revision_of_the_cards_repository() -> None:
    assert find(None, OTHER, repo="org/name") == Source("org/name", OTHER)
    assert find("org/name", repo="org/name", revision=COMMIT) == Source("org/name", COMMIT)


def test_a_folder_is_a_name_that_looks_like_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "name").mkdir(parents=True)
    assert find("./org/name").folder == tmp_path / "org" / "name"
    assert find(path="org/name").folder == tmp_path / "org" / "name"
    # a folder beside the program does not shadow a repository
    assert find("org/name", COMMIT).folder is None


def test_what_is_no_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a folder has no revision"):
        resolve(str(tmp_path), "main", extra="diffusers")
    with pytest.raises(UsageError, match="is no repository of the hub"):
        resolve("https://huggingface.co/org/name", None, extra="diffusers")
    with pytest.raises(NotRunnable, match="no folder"):
        resolve(str(tmp_path / "none"), None, extra="diffusers")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 200_000, "cannot be read"),
        (b"\xff{}", "cannot be read"),
        (b" " * (JSON_LIMIT + 1), "more than 32 MiB"),
    ],
    ids=["deep", "not UTF-8", "large"],
)
def test_a_configuration_that_is_a_bomb_is_told(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "config.json").write_bytes(data)
    with pytest.raises(NotRunnable, match=words):
        read_json(Source(str(tmp_path)), "config.json", extra="transformers")


def test_the_users_key_to_the_hub_is_cut_out_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = "hf_PlantedKeyOfNobody"
    monkeypatch.setenv("HF_TOKEN", planted)
    find(repo="org/name", revision=COMMIT)
    assert redact(f"Bearer {planted}") == "Bearer [HF_TOKEN]"


class Hub(BaseHTTPRequestHandler):
    """Answers for three repositories as the hub does."""

    def do_GET(self) -> None:
        parts = self.path.split("/")
        name = "/".join(parts[3:5])
        status, error = {
            "org/gated": (403, "GatedRepo"),
            "org/down": (503, None),
            "org/none": (404, "RepoNotFound"),
        }.get(name, (200, None))
        if status == 200 and parts[-1] == "nonesuch":
            status, error = 404, "RevisionNotFound"
        body = json.dumps({"id": name, "sha": COMMIT, "siblings": []} if status == 200 else {})
        self.send_response(status)
        if error:
            self.send_header("X-Error-Code", error)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


ASK = """
import json, sys
from vgen_eval.errors import VgenEvalError
from vgen_eval_plugins.models.local.hub import identity_facts, read_json, resolve
told = []
for name, revision in json.loads(sys.argv[1]):
    try:
        source = resolve(name, revision, extra="diffusers")
        if len(sys.argv) > 2:
            told.append(read_json(source, sys.argv[2], extra="diffusers"))
        else:
            told.append([source.commit, source.asked])
    except VgenEvalError as exc:
        told.append([type(exc).__name__, exc.what, exc.cure])
assert "torch" not in sys.modules
print(json.dumps(told))
"""


def ask(
    home: Path, *names: tuple[str, str | None], file: str | None = None, **variables: str
) -> list[Any]:
    """What `resolve`, or `read_json` of that file, gives or raises in a process of its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK, json.dumps(names), *([file] if file else [])],
        env={**kept, "HF_HOME": str(home), **variables},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_a_floating_revision_becomes_a_commit_and_what_a_hub_refuses_has_a_cure(
    hub: str, tmp_path: Path
) -> None:
    main, tag, revision, gated, missing, down = ask(
        tmp_path,
        ("org/name", None), ("org/name", "v1"), ("org/name", "nonesuch"),
        ("org/gated", None), ("org/none", None), ("org/down", None),
        HF_ENDPOINT=hub,
    )  # fmt: skip
    assert main == [COMMIT, "main"]
    assert tag == [COMMIT, "v1"]
    assert revision[:2] == ["NotRunnable", "org/name has no revision 'nonesuch'"]
    assert gated[0] == "AccessDenied"
    assert "accept its terms at https://huggingface.co/org/gated" in gated[2]
    assert missing[1] == "no repository org/none on the hub, or not for this login"
    assert "a folder is ./org/none" in missing[2]
    assert down[0] == "NotRunnable"
    assert "the hub cannot be reached" in down[1]


def cache(home: Path, name: str, revision: str, **files: str) -> None:
    """Puts files of a repository where the hub's library keeps what it fetched."""
    place = home / "hub" / f"models--{name.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / revision).write_text(COMMIT)
    (place / "snapshots" / COMMIT).mkdir(parents=True)
    for file, text in files.items():
        (place / "snapshots" / COMMIT / f"{file}.json").write_text(text)


def test_offline_a_revision_is_known_by_the_cache_or_told_with_its_cure(tmp_path: Path) -> None:
    cache(tmp_path, "org/name", "cached")
    known, pinned, other, unknown = ask(
        tmp_path,
        ("org/name", "cached"), ("org/name", COMMIT), ("org/name", "v2"), ("org/none", None),
        HF_HUB_OFFLINE="1",
    )  # fmt: skip
    assert known == [COMMIT, "cached"]
    assert pinned == [COMMIT, None]
    for told, name, revision in ((other, "org/name", "v2"), (unknown, "org/none", "main")):
        assert told[0] == "NotRunnable"
        assert f"{name} at '{revision}' is not on this machine" in told[1]
        assert f"hf download {name} --revision {revision}" in told[2]
        assert "HF_HUB_OFFLINE" in told[2]


def test_offline_a_file_comes_from_the_cache_or_is_told(tmp_path: Path) -> None:
    cache(tmp_path, "org/name", "main", model_index='{"a": 1}', broken="{")
    name = ("org/name", COMMIT)
    offline = {"HF_HUB_OFFLINE": "1"}
    assert ask(tmp_path, name, file="model_index.json", **offline) == [{"a": 1}]
    (told,) = ask(tmp_path, name, file="other.json", **offline)
    assert "is not on this machine" in told[1]  # it may be on the hub: nobody can say
    (told,) = ask(tmp_path, name, file="broken.json", **offline)
    assert "broken.json cannot be read" in told[1]


def test_a_hub_that_is_down_leaves_what_the_cache_knows(hub: str, tmp_path: Path) -> None:
    cache(tmp_path, "org/down", "v1")
    assert ask(tmp_path, ("org/down", "v1"), HF_ENDPOINT=hub) == [[COMMIT, "v1"]]
    closed = "http://127.0.0.1:9"
    assert ask(tmp_path, ("org/down", "v1"), HF_ENDPOINT=closed) == [[COMMIT, "v1"]]
