"""How the verbs that compare read runs: damage is told, each run by itself, and stops no other."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import vgen_eval
from vgen_eval.cli import main
from vgen_eval.engine.ablation import read_variants
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import NotRunnable
from vgen_eval.plugins import Catalog
from vgen_eval.results.identity import differing_groups
from vgen_eval.results.reading import read_run, read_runs
from vgen_eval.store.run import RunStore, find_runs

MODELS = ("oracle", "blind", "copy")
VERBS: dict[str, list[str]] = {
    "compare": ["compare", "{runs}", "--json"],
    "table": ["table", "{runs}", "--json"],
    "plot": ["plot", "errors", "{runs}", "--json"],
    "export": ["export", "csv", "{runs}", "-o", "{out}", "--json"],
}
CARD_ALONE = ("table",)
CODES = {"export": 1}
"""Of a verb that has done what it could for the others that were named; 3 of any other."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models on the counting sample."""
    folder = tmp_path_factory.mktemp("reading") / "results"
    vgen_eval.evaluate(
        tasks="samples/counting", models=list(MODELS), forms=("image",), bounds=False, output=folder
    )
    return folder


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(made, tmp_path / "results"))


def _run(results: Path, model: str) -> Path:
    (path,) = (path for path in find_runs(results) if f"/runs/{model}/" in str(path))
    return path


def _edit(path: Path, change: Callable[[Any], Any]) -> None:
    record = json.loads(path.read_text())
    path.write_text(json.dumps(change(record) or record))


def _set(dotted: str, value: Any) -> Callable[[Any], None]:
    def change(record: Any) -> None:
        *folders, last = dotted.split(".")
        for key in folders:
            record = record[key]
        if value is KeyError:
            del record[last]
        else:
            record[last] = value

    return change


def _words(verb: str, runs: list[Path], out: Path) -> list[str]:
    words: list[str] = []
    for word in VERBS[verb]:
        words += map(str, runs) if word == "{runs}" else [word.format(out=out)]
    return words


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("attempts", value) for value in (KeyError, -1, 0, "a", None, 1.5, 10**9, [1], True)),
        *(("samples", value) for value in (KeyError, 7, "coins", [1], None, ["coins", "coins"])),
        *(("model", value) for value in (KeyError, None, 3)),
        ("prompt", "mid"), ("prompt.variant", 3), ("answer", None), ("selection", [1]),
        ("cards", []), ("cards.task", "x"), ("cards.model", KeyError), ("settings", None),
        ("settings.set", [1]), ("identity", "x"), ("identity.task", []), ("task", {}),
        ("model_identity", None), ("model_identity.card", [1]),
    ],
)  # fmt: skip
def test_a_damaged_record_leaves_its_run_out_and_no_other(
    results: Path, field: str, value: Any
) -> None:
    run = _run(results, "blind")
    _edit(run / "run.json", _set(field, value))
    for catalog in (None, Catalog.discover()):
        runs, (fault,) = read_runs(find_runs(results), catalog)
        assert [each.card.model for each in runs] == ["copy", "oracle"]
        assert fault.startswith(f"{run}/run.json: damaged: ")
        assert field.split(".", maxsplit=1)[0] in fault
        assert "the command that made the run" in fault
    with pytest.raises(NotRunnable, match=r"run\.json: damaged"):
        rescore(run, Catalog.discover())


def test_a_damaged_record_is_written_anew_by_the_same_command(results: Path) -> None:
    run = _run(results, "blind")
    sound = (run / "run.json").read_text()
    _edit(run / "run.json", _set("attempts", "a"))
    vgen_eval.evaluate(
        tasks="samples/counting", models=["blind"], forms=("image",), bounds=False, output=results
    )
    written = json.loads((run / "run.json").read_text())
    leave = ("created", "versions", "hardware")
    assert {k: v for k, v in written.items() if k not in leave} == {
        k: v for k, v in json.loads(sound).items() if k not in leave
    }
    assert read_runs(find_runs(results))[1] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("protocol_info.answer", [1]), ("protocol_info.metrics", [1]),
        ("protocol_info.metrics", {"mae": 1}), ("protocol_info.decoder", "x"),
        ("protocol_info.score_digest", 7), ("model_info", [1]), ("model_info.options", 3),
        ("model_info.exposure", "none"), ("model_info.role", {}), ("dataset_info", "x"),
        ("dataset_info.reader", 3), ("selection", None), ("selection.attempts", 0),
        ("selection.samples", "all"), ("task_info.distribution", 3), ("volatile", []),
        ("volatile.failures", [3]), ("counts.expected", None), ("versions", [1]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", VERBS)
def test_a_damaged_card_is_told_by_every_verb(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    field: str, value: Any, verb: str,
) -> None:  # fmt: skip
    run = _run(results, "blind")
    _edit(run / "result_card.json", _set(field, value))
    code = main(_words(verb, [run, _run(results, "copy")], tmp_path / "out"))
    assert code == CODES.get(verb, 3)
    told = capsys.readouterr().err
    assert f"{run}/result_card.json: damaged: " in told
    assert f"vgen-eval score {run}" in told


def test_a_card_that_knows_less_than_cards_do_today_is_read(results: Path) -> None:
    run = _run(results, "blind")
    _edit(run / "result_card.json", lambda card: card | {"protocol_info": {}, "selection": {}})
    facts = read_run(run).facts
    assert (facts["decoder"], facts["samples.n"], facts["answer.form"]) == (None, None, "image")


def _halve(run: Path) -> None:
    (path,) = (run / "scores").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: len(lines) // 2]))


def _lose_predictions(run: Path) -> None:
    (run / "predictions.jsonl").unlink()


def _lose_scores(run: Path) -> None:
    shutil.rmtree(run / "scores")


def _change_answer(run: Path) -> None:
    path = run / "predictions.jsonl"
    first, *others = path.read_text().splitlines(keepends=True)
    path.write_text(first.replace('"sha256":"', '"sha256":"0', 1) + "".join(others))


def _change_score(run: Path) -> None:
    (path,) = (run / "scores").glob("*.jsonl")
    first, *others = map(json.loads, path.read_text().splitlines())
    first["values"]["mae"] = 123.0
    path.write_text("".join(json.dumps(line) + "\n" for line in (first, *others)))


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_halve, "6 of the 13 scores that its card was made of"),
        (_lose_predictions, "predictions that its card was made of are gone"),
        (_lose_scores, "scores that its card was made of are gone"),
        (_change_answer, "its card is older than its lines"),
        (_change_score, "its card is older than its lines"),
    ],
)
def test_lines_that_are_not_those_of_the_card_are_refused_by_every_verb(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    spoil: Callable[[Path], None], told: str, verb: str,
) -> None:  # fmt: skip
    run = _run(results, "blind")
    spoil(run)
    code = main(_words(verb, [run, _run(results, "copy")], tmp_path / "out"))
    said = capsys.readouterr()
    if verb in CARD_ALONE and "older" in told:
        assert code == 0  # as many lines as there were: a card alone does not show it
        return
    assert code == CODES.get(verb, 3)
    assert told in said.err
    assert f"vgen-eval score {run}" in said.err


def test_of_a_folder_the_other_runs_are_compared(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _run(results, "blind")
    _change_score(run)
    assert main(["compare", str(results), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [each["label"] for each in record["runs"]] == ["copy", "oracle"]
    (left,) = record["left_out"]
    assert left["what"] == str(run)
    assert f"vgen-eval score {run}" in left["reason"]


def test_another_reading_wants_all_the_answers_of_the_card(results: Path) -> None:
    run = _run(results, "blind")
    _halve(run)  # of these none is read
    path = run / "predictions.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    with pytest.raises(NotRunnable, match="4 of the 13 predictions") as caught:
        read_variants([run], Catalog.discover(), key="failure_value", values=["skip"])
    assert f"vgen-eval score {run}" in str(caught.value.cure)


def test_after_score_the_run_is_read_again(results: Path) -> None:
    run = _run(results, "blind")
    _halve(run)
    assert rescore(run, Catalog.discover()) is not None
    assert read_run(run, Catalog.discover()).summary(Catalog.discover()).table.state.size == 13


def test_samples_of_other_groups_are_told_and_refused(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blind, oracle = _run(results, "blind"), _run(results, "oracle")
    path = blind / "samples.jsonl"
    first, *others = map(json.loads, path.read_text().splitlines())
    was, first["group"] = first["group"], "elsewhere"
    path.write_text("".join(json.dumps(item) + "\n" for item in (first, *others)))
    assert main(["compare", str(oracle), str(blind)]) == 2
    told = f"samples.groups: {first['id']}: {was} / {first['id']}: elsewhere"
    assert told in capsys.readouterr().err
    assert main(["compare", str(oracle), str(blind), "--anyway", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["identity"] == [
        {
            "field": "samples.groups",
            "values": [f"{first['id']}: {was}", f"{first['id']}: elsewhere"],
        }
    ]


def test_groups_differ_only_for_a_sample_that_runs_share() -> None:
    assert differing_groups([{"a": "1", "b": "2"}, {"a": "1", "c": "3"}, {}]) is None
    assert differing_groups([{"a": "1"}, {}, {"a": "2"}]) == ("a: 1", None, "a: 2")


def test_runs_read_together_have_names_of_their_own(results: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(results, tmp_path / "again" / "results"))
    blind, copy = _run(results, "blind"), _run(results, "copy")
    runs, faults = read_runs([blind, copy, _run(other, "blind")])
    assert faults == []
    names = [f"{blind.name} in results", copy.name, f"{blind.name} in again/results"]
    assert [run.name for run in runs] == names
    assert [run.name for run in read_runs([blind])[0]] == [blind.name]


def test_repeats_in_two_results_folders_are_labelled_by_them(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Path(shutil.move(results, tmp_path / "first"))
    second = Path(shutil.copytree(first, tmp_path / "second"))
    one, two = _run(first, "blind"), _run(second, "blind")
    _edit(two / "result_card.json", lambda card: card | {"content_digest": "0" * 64})
    # a repeat that answered otherwise: its lines are its own
    _change_score(two)
    (scores,) = (two / "scores").glob("*.jsonl")
    digest = RunStore(two).content_digest(scores.stem)
    _edit(two / "result_card.json", lambda card: card | {"content_digest": digest})
    assert main(["compare", str(one), str(two), "--json"]) == 0
    labels = [run["label"] for run in json.loads(capsys.readouterr().out)["runs"]]
    assert labels == [f"blind {one.name} in first", f"blind {one.name} in second"]


# --- what may not be read: root may read everything, so a child gives that right up

AS_OTHERS_DO = """
import ctypes, os, sys
from vgen_eval.cli import main

READS_ALL = 0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
if os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(head, sets):
        sys.exit(77)
    sets[0] &= ~READS_ALL
    sets[1] &= ~READS_ALL
    if libc.capset(head, sets):
        sys.exit(77)
if os.access(sys.argv[1], os.R_OK):
    sys.exit(77)
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def close() -> Iterator[Callable[[Path], None]]:
    """Takes every right to a path away until the test has ended."""
    closed: dict[Path, int] = {}

    def take(path: Path) -> None:
        closed[path] = path.stat().st_mode
        path.chmod(0)

    yield take
    for path, mode in closed.items():
        path.chmod(mode)


def _say(closed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """The command, said by somebody who may not read `closed`."""
    done = subprocess.run(
        [sys.executable, "-c", AS_OTHERS_DO, str(closed), *map(str, words)],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("root reads everything, and this one cannot give that up")
    assert "Traceback" not in done.stderr
    return done


def test_a_folder_that_may_not_be_listed_is_told(
    results: Path, close: Callable[[Path], None]
) -> None:
    copy, closed = _run(results, "copy"), results / "runs" / "blind"
    close(closed)
    done = _say(closed, "table", "--output", results, "--json")
    assert done.returncode == 0, done.stderr
    assert f"left out: {closed}: cannot be read: Permission denied; mend its" in done.stderr
    done = _say(closed, "compare", results, "--json")
    (left,) = json.loads(done.stdout)["left_out"]
    assert left["what"] == str(closed)
    for words in (["table", closed], ["export", "csv", closed, "-o", results / "out"]):
        done = _say(closed, *words)
        assert done.returncode == 3
        assert f"{closed}: cannot be read: Permission denied" in done.stderr
    done = _say(closed, "compare", closed, copy)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{closed}: cannot be read: Permission denied" in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("what", ["scores", "run.json", "result_card.json", "predictions.jsonl"])
def test_a_part_of_a_run_that_may_not_be_read_is_told(
    results: Path, what: str, close: Callable[[Path], None]
) -> None:
    run, copy = _run(results, "blind"), _run(results, "copy")
    close(run / what)
    done = _say(run / what, "compare", run, copy)
    assert done.returncode == 3, done.stderr
    assert f"{run}/{what}" in done.stderr
    assert "Permission denied" in done.stderr
    assert "mend its permissions" in done.stderr
