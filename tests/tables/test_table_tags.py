"""Tags of samples: those that all of them share, and names with a = in them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tablekit import changed, head_names, look
from vgen_eval.errors import UsageError
from vgen_eval.results.figures.chosen import choose
from vgen_eval.results.figures.tags import read_tags
from vgen_eval.results.reading import Run, read_run
from vgen_eval.results.tables.build import make_table

Tags = dict[str, str]


def tagged(run: Run, folder: Path, tags: Callable[[Tags], Tags]) -> Run:
    """A copy of the run, its samples tagged otherwise."""
    path = Path(shutil.copytree(run.path, folder / run.path.name))
    lines = [json.loads(line) for line in (path / "samples.jsonl").read_text().splitlines()]
    told = [json.dumps({**line, "tags": tags(line["tags"])}) for line in lines]
    (path / "samples.jsonl").write_text("\n".join(told) + "\n")
    return read_run(path)


def renamed(run: Run, tag: str, name: str) -> Run:
    """The run, that tag's subsets of its card under another name."""
    scores = tuple(
        msgspec.structs.replace(s, subset=s.subset.replace(f"{tag}=", f"{name}=", 1))
        if s.subset.startswith(f"{tag}=") else s
        for s in run.card.scores
    )  # fmt: skip
    return changed(run, scores=scores)


def test_a_tag_that_all_samples_share_has_the_value_of_all(counting: Run, tmp_path: Path) -> None:
    run = tagged(counting, tmp_path, lambda tags: {**tags, "n": "1"})
    table = make_table([run], cols=["tag:n"])
    assert head_names(table)[1] == ["all", "n=1"]
    one, every = (look(table, "classical", col) for col in ("n=1", "all"))
    assert (one.value, one.low, one.n) == (every.value, every.low, every.n)
    assert one.subset == "n=1"
    record = read_tags(choose([run]), ["n"])
    assert record["subsets"] == ["all", "n=1"]
    first, second = record["bars"][0]["values"]
    assert first == second
    assert "n=1" not in head_names(make_table([run], cols=["tag"]))[1]  # it tells nothing apart


def test_a_run_is_not_dropped_for_sharing_the_tag(counting: Run, tmp_path: Path) -> None:
    one = changed(
        tagged(counting, tmp_path, lambda tags: {**tags, "density": "none"}),
        model="one", scores=(counting.card.score(),),
    )  # fmt: skip
    table = make_table([counting, one], cols=["tag:density"])
    assert look(table, "one", "density=none").value == one.card.score().value
    assert not [note for note in table.notes if "left out" in note.text]
    alone = make_table([one], cols=["tag"])
    assert "density=none" in head_names(alone)[1]


def test_a_tag_that_some_samples_lack_is_not_shared(counting: Run, tmp_path: Path) -> None:
    def some(tags: Tags) -> Tags:
        return {**tags, "n": "1"} if tags["density"] == "dense" else tags

    run = tagged(counting, tmp_path, some)
    with pytest.raises(UsageError, match=r"no run here has the tag 'n'\."):
        make_table([run], cols=["tag:n"])


def test_a_tags_name_may_have_a_sign_of_equality(counting: Run, tmp_path: Path) -> None:
    name = "kind|=x"

    def more(tags: Tags) -> Tags:
        return {**tags, name: tags["density"]}

    run = renamed(tagged(counting, tmp_path, more), "density", name)
    values = ["dense", "medium", "none", "sparse"]
    subsets = ["all", *(f"{name}={value}" for value in values)]
    assert head_names(make_table([run], cols=[f"tag:{name}"]))[1] == subsets
    assert read_tags(choose([run]), [name])["subsets"] == subsets
    for refuse in (
        lambda: make_table([run], cols=["tag:kind|"]),
        lambda: read_tags(choose([run]), ["kind|"]),
    ):
        with pytest.raises(UsageError, match=r"no run here has the tag 'kind\|'") as caught:
            refuse()
        assert name in str(caught.value.cure)


def test_without_the_samples_the_card_alone_tells(counting: Run, tmp_path: Path) -> None:
    path = Path(shutil.copytree(counting.path, tmp_path / counting.path.name))
    (path / "samples.jsonl").unlink()
    heads = head_names(make_table([Run(path, counting.card)], cols=["tag:density"]))
    assert heads == head_names(make_table([counting], cols=["tag:density"]))
