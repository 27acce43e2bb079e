"""Formats of predictions: found by name, a plugin's like our own, faults told with the cure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vgen_eval import importing
from vgen_eval.cli import main
from vgen_eval.engine.formats import find_format, name_after
from vgen_eval.errors import CardError, UsageError
from vgen_eval.plugins import Catalog

CATALOG = Catalog.discover()
LINE = '{"img_path": "%s.png", "gt_score": %s, "logit_good": %s, "logit_poor": 2}'


def run(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(arguments)
    told = capfd.readouterr()
    return code, told.out, told.err


def test_an_unknown_format_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match=r"no format 'qbench'\. Nearest: qbench-raw") as caught:
        find_format("qbench", CATALOG)
    assert caught.value.cure is not None
    assert "human, qbench-raw" in caught.value.cure


def test_an_option_of_no_format_is_told() -> None:
    with pytest.raises(CardError, match="dup"):
        find_format("qbench-raw", CATALOG, {"dup": "drop"})


def test_importers_are_listed_like_other_components(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(["list", "importers", "--json"], capfd)
    assert code == 0
    assert {"human", "qbench-raw"} <= {record["name"] for record in json.loads(out)}


@pytest.mark.parametrize(
    ("path", "name"),
    [("IQA/idefics_livec.json", "idefics_livec"), ("My Model v1.5.json", "my-model-v1.5"),
     ("---.json", "predictions"), ("\u00fcber.csv", "ber")],
)  # fmt: skip
def test_a_model_without_a_name_is_called_as_its_file(path: str, name: str) -> None:
    assert name_after(Path(path)) == name


def test_the_command_line_scores_a_file_by_its_format(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Some Model.json"
    rows = ((at, at * 10, 2 + (at * 3) % 5) for at in range(9))
    path.write_text("".join(LINE % row for row in rows))
    words = ["score", "--task", "quality/livec@qbench", "--predictions", str(path),
             "--output", str(tmp_path / "out"), "--json"]  # fmt: skip
    code, out, err = run([*words, "--format", "qbench-raw"], capfd)
    assert code == 0, err
    (card,) = json.loads(out)["results"]
    assert card["model"] == "some-model"
    assert f"{path} holds 9 of 1,169 samples of quality/livec@qbench" in err
    code, _, err = run([*words, "--format", "qbench-row"], capfd)
    assert code == 2
    assert "qbench-raw" in err
    code, _, err = run([*words, "--format", "qbench-raw", "--answer", "choice"], capfd)
    assert code == 2
    assert "--answer" in err


def test_what_is_not_there_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["score", "--task", "quality/livec@qbench", "--predictions", str(tmp_path / "no.json"),
             "--output", str(tmp_path / "out"), "--format", "qbench-raw"]  # fmt: skip
    code, _, err = run(words, capfd)
    assert code == 2
    assert "does not exist" in err


def test_the_example_of_the_contract_is_an_importer(tmp_path: Path) -> None:
    from vgen_eval.types import NoOptions

    text = (importing.__doc__ or "").split("\n\n    class", 1)[1]
    lines = ["class" + text.split("\n", 1)[0], *text.split("\n")[1:]]
    source = "\n".join(line.removeprefix("    ") for line in lines)
    names: dict[str, Any] = {
        "NoOptions": NoOptions, "Imported": importing.Imported, "Answer": importing.Answer
    }  # fmt: skip
    exec(source, names)
    path = tmp_path / "answers.tsv"
    path.write_text("a\t3\nb\tnone\n", encoding="utf-8")
    scope = importing.Scope(task="a/b@c", family="counting", forms=("text",))
    found = names["Tsv"](NoOptions()).read(path, scope)
    assert [(answer.sample, answer.value) for answer in found.answers] == [
        ("a", "3"),
        ("b", "none"),
    ]
