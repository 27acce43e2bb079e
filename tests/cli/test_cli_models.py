"""`list models` and `show MODEL`: which models there are, what each needs, and what is not here."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from clikit import Command
from vgen_eval.cards.records import ModelCard, Needs
from vgen_eval.cli import main, model_needs
from vgen_eval.cli.model_list import HEADS, fit_titles, model_row
from vgen_eval.cli.model_needs import missing, needs

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GEMINI_API_KEY", "VGEN_TEST_KEY", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """`whole` is installed, of `half` two distributions are not."""
    lacking = {"whole": [], "half": ["torch", "diffusers"]}
    monkeypatch.setattr("vgen_eval.cli.extras.missing_of", lambda extra: lacking[extra])


def records(words: Sequence[str], output: Output) -> list[dict[str, Any]]:
    assert main([*words, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(output.readouterr().out)
    return found


def make_card(**more: Any) -> ModelCard:
    base: dict[str, Any] = {"adapter": "classical", "answers": ("image",), "licence": "x"}
    return ModelCard(model="mine", **(base | more))


# --- list ---------------------------------------------------------------------------------------


def test_models_are_listed_with_what_they_need(capfd: Output) -> None:
    found = {record["name"]: record for record in records(["list", "models"], capfd)}
    assert len(found) > 60
    banana = found["google/nano-banana-pro"]
    assert banana["adapter"] == "gemini"
    assert banana["answers"] == ["image", "text"]
    assert banana["needs"] == ["api", "$GEMINI_API_KEY"]
    assert "$GEMINI_API_KEY" in banana["missing"]
    assert banana["runs_here"] is False
    assert banana["papers"] == ["probegen", "pixelarena", "vgi"]
    assert found["google/vision-banana"]["missing"] == ["not runnable"]
    assert found["classical"]["runs_here"] is True
    assert "typed" not in banana


def test_a_line_says_name_adapter_answers_needs_and_here(vgen: Command) -> None:
    done = vgen("list", "models", COLUMNS="240")
    head, *lines = done.stdout.splitlines()
    assert head.split("   ")[0].strip() == "name"
    [line] = [line for line in lines if line.startswith("vectorspacelab/omnigen2 ")]
    cells = [cell.strip() for cell in line.split("   ") if cell.strip()]
    assert cells[1:4] == ["openai_compatible", "image", "api, own server, 17 GB"]
    assert cells[-1] == "OmniGen2: open unified image generator and editor"
    [own] = [line for line in lines if line.startswith("plug-noise:loud ")]
    assert own.split()[1:5] == ["loud", "text", "-", "yes"]


def test_a_papers_roster(capfd: Output) -> None:
    names = [record["name"] for record in records(["list", "models", "--paper", "editors"], capfd)]
    assert names == [
        "firered/firered-image-edit-1.1", "meituan/longcat-image-edit", "qwen/qwen-image-edit-2511",
    ]  # fmt: skip


def test_an_unknown_paper_names_the_nearest_and_all(capfd: Output) -> None:
    assert main(["list", "models", "--paper", "probgen"]) == 2
    told = capfd.readouterr().err
    assert "no model stands in the roster of 'probgen'. Nearest: probegen" in told
    assert "rosters here: editors, pixelarena, probegen, qbench, vgi" in told


def test_only_what_runs_here(capfd: Output) -> None:
    found = records(["list", "models", "--runs-here"], capfd)
    assert {"classical", "depth-anything/depth-anything-v2-large"} <= {r["name"] for r in found}
    assert all(record["missing"] == [] for record in found)


@pytest.mark.parametrize("words", [("--paper", "vgi"), ("--runs-here",)])
def test_models_alone_have_rosters(words: tuple[str, ...], capfd: Output) -> None:
    assert main(["list", "tasks", *words]) == 2
    told = capfd.readouterr().err
    assert f"{words[0]} picks models, not tasks" in told
    assert f"vgen-eval list models {' '.join(words)}" in told


def test_a_card_broken_below_its_head_is_listed_with_its_problem(
    vgen: Command, tmp_path: Path
) -> None:
    card = tmp_path / "site/plug_noise/cards/loud.yaml"
    card.write_text(card.read_text() + "needs: {vram_gb: much}\n")
    done = vgen("list", "models")
    assert done.returncode == 0
    [line] = [line for line in done.stdout.splitlines() if line.startswith("plug-noise:loud ")]
    assert "no: its card is broken" in line
    assert "loud.yaml:6: needs.vram_gb: " in done.stderr


def test_many_forms_are_counted() -> None:
    record = {
        "typed": "m", "adapter": "a", "answers": ["image", "text", "mask", "points"], "needs": [],
        "missing": [], "runs_here": True, "title": "T",
    }  # fmt: skip
    assert dict(zip(HEADS, model_row(record), strict=True)) == {
        "name": "m", "adapter": "a", "answers": "image, text, +2", "needs": "-", "here": "yes",
        "what it is": "T",
    }  # fmt: skip


def test_titles_take_what_is_left_of_the_line() -> None:
    rows = [["name", "what it is"], ["mine", "a model with a title that is long"]]
    assert fit_titles(rows, 200) == rows
    [_, [_, cut]] = fit_titles(rows, 35)
    assert cut != rows[1][1]
    assert rows[1][1].startswith(cut[:20])
    assert fit_titles(rows, 20) == [["name"], ["mine"]]


# --- what is needed, and what is missing ---------------------------------------------------------


def test_needs_are_short_in_lists_and_long_where_there_is_room() -> None:
    wanted = Needs(extra="api", key_env="KEY", serve="serve it", vram_gb=17)
    card = make_card(needs=wanted, options={"env": {"requirements": []}})
    assert needs(card) == ["api", "$KEY", "own server", "own environment", "17 GB"]
    assert needs(card, long=True) == [
        "the extra api", "a key in KEY", "a server of your own", "an environment of its own",
        "17 GB of device memory",
    ]  # fmt: skip


@pytest.mark.usefixtures("extras")
def test_what_is_missing_comes_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing(make_card(needs=Needs(extra="whole"))) == []
    card = make_card(needs=Needs(extra="half", key_env="VGEN_TEST_KEY"))
    assert missing(card) == [
        "torch, diffusers: pip install 'vgen-eval[half]'",
        "VGEN_TEST_KEY is not set: export VGEN_TEST_KEY=...",
    ]
    monkeypatch.setenv("VGEN_TEST_KEY", "secret")
    assert "secret" not in "".join(missing(card))
    closed = make_card(runnable=False, reason="it is gone")
    assert missing(closed) == ["it cannot be run: it is gone"]


@pytest.mark.parametrize(
    ("here", "told"),
    [
        ([], ["a device with 24 GB of memory: no NVIDIA GPU is seen here"]),
        ([8.6, 16.9], ["a device with 24 GB of memory: the largest here has 17 GB"]),
        ([8.6, 25.4], []),
        (None, []),
    ],
)
def test_device_memory(
    here: list[float] | None, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_needs, "find_memory", lambda: here)
    assert missing(make_card(needs=Needs(vram_gb=24))) == told


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_server_of_your_own_is_looked_for_on_this_machine(listener: socket.socket) -> None:
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    card = make_card(needs=Needs(serve="serve it"), options={"base_url": url})
    assert missing(card) == []
    listener.close()
    assert missing(card) == [f"nothing answers at {url}: serve it"]
    elsewhere = make_card(
        needs=Needs(serve="serve it"), options={"base_url": "https://models.example/v1"}
    )
    assert missing(elsewhere) == []  # nobody is called to tell


# --- show ---------------------------------------------------------------------------------------


def shown(words: Sequence[str], output: Output) -> str:
    assert main(list(words)) == 0
    return output.readouterr().out


def test_a_service_is_shown_with_key_price_and_papers(capfd: Output) -> None:
    text = shown(["show", "google/nano-banana-pro"], capfd)
    for part in (
        "measured by    probegen, pixelarena, vgi", "$0.134 an image", "price from     https://",
        "needs          the extra api, a key in GEMINI_API_KEY", "passing on     none",
        "missing here   GEMINI_API_KEY is not set: export GEMINI_API_KEY=...",
        "generation     (temperature: 1.0, top_p: 0.95, response_modalities: [TEXT, IMAGE]",
        "verified       no: ", "runs here      no",
    ):  # fmt: skip
        assert part in text


def test_a_server_of_your_own_is_shown_with_the_command_that_starts_it(capfd: Output) -> None:
    text = shown(["show", "bytedance/bagel"], capfd)
    command = "vllm serve ByteDance-Seed/BAGEL-7B-MoT --omni --port 8091"
    assert f"its server     {command}" in text
    assert "http://127.0.0.1:8091/v1" in text


def test_an_environment_is_shown_with_what_is_built(capfd: Output) -> None:
    text = shown(["show", "depth-anything/depth-anything-v2-large"], capfd)
    assert "environment    built on first use: torch==" in text
    assert "runs here      yes, as far as can be told without loading it" in text


def test_a_missing_program_is_told(capfd: Output, tmp_path: Path) -> None:
    card = tmp_path / "mine.yaml"
    card.write_text(
        "model: mine\ntitle: Mine\nadapter: command\nanswers: [image]\nlicence: x\n"
        "options: {program: [no-such-program]}\n"
    )
    text = shown(["show", str(card)], capfd)
    assert "missing here   there is no program 'no-such-program' on PATH: install it" in text


def test_what_cannot_be_run_says_why_and_ends_with_3(capfd: Output) -> None:
    text = shown(["show", "google/vision-banana"], capfd)
    assert "missing here   it cannot be run: neither weights nor a service are public" in text
    words = ["run", "--model", "google/vision-banana", "--tasks", "samples/depth"]
    assert main(words) == 3
    assert "neither weights nor a service are public" in capfd.readouterr().err
