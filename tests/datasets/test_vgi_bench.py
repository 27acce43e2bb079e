"""VGI-Bench read from a look-alike: instances, halves, rubrics, what the judge is told."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lookalikes import vgi_bench
from lookalikes.files import write_png
from releasekit import load_all
from vgen_eval.cards import convert
from vgen_eval.errors import BadSample, CardError, MissingData
from vgen_eval_plugins.datasets.vgi_bench import VgiBench, choose_half
from vgen_eval_plugins.datasets.vgi_rubrics import find_rubric, parse_rubrics
from vgen_eval_plugins.video.vgi.tasks import DOMAINS, IMAGE_TASKS, SKILLS, TASKS


def reader_of(root: Path, **options: Any) -> VgiBench:
    home = root / "vgi_bench"
    return VgiBench(VgiBench.Options(**options), root=home, folder=root)


def rubric_file(root: Path, task: str) -> Path:
    return root / f"vgi_bench/bench_data/{task}/judge_spec/_judge_rubric_{task}.json"


def test_the_table_is_that_of_the_paper() -> None:
    assert set(TASKS) == set(vgi_bench.TASKS)
    assert len(TASKS) == 27
    by_domain = Counter(task.domain for task in TASKS.values())
    assert by_domain == dict(zip(DOMAINS, (8, 5, 7, 7), strict=True))
    skills = Counter(skill for task in TASKS.values() for skill in task.skills)
    assert skills == dict(zip(SKILLS, (12, 8, 8, 6, 4, 4, 2), strict=True))
    assert len(IMAGE_TASKS) == 16
    assert set(IMAGE_TASKS) < set(TASKS)
    gt = Counter(task.gt for task in TASKS.values())
    assert gt == {("image",): 10, ("text",): 4, ("image", "text"): 3, (): 10}


def test_all_810_instances_and_their_halves(tmp_path: Path) -> None:
    written = vgi_bench.write(tmp_path)
    full = reader_of(tmp_path).index()
    assert sorted(item.id for item in full) == sorted(entry["id"] for entry in written)
    half = reader_of(tmp_path, fraction="half").index()
    assert len(half) == 405
    assert set(Counter((i.tags["task"], i.tags["level"]) for i in half).values()) == {5}
    assert reader_of(tmp_path, fraction="half").index() == half
    other = reader_of(tmp_path, fraction="half", seed=7).index()
    assert {item.id for item in other} != {item.id for item in half}
    pictures = reader_of(tmp_path, output="image", fraction="half").index()
    assert len(pictures) == 240
    assert {item.tags["task"] for item in pictures} == set(IMAGE_TASKS)
    assert {item.id for item in pictures} <= {item.id for item in half}


def test_half_of_an_odd_number_is_rounded_up_and_hangs_on_ids_alone() -> None:
    ids = [f"gears_lv1_{number:03d}" for number in range(1, 8)]
    assert len(choose_half(ids, 42)) == 4
    assert choose_half(ids[::-1], 42) == choose_half(ids, 42)


def test_a_sample_has_its_frame_its_prompt_and_what_its_judge_is_told(tmp_path: Path) -> None:
    written = vgi_bench.write(tmp_path, tasks=["maze_square", "sorting"], numbers=[1, 10])
    samples = {s.id: s for s in load_all(reader_of(tmp_path, tasks=("maze_square", "sorting")))}
    assert list(samples) == [entry["id"] for entry in written]
    for entry in written:
        assert np.array_equal(samples[entry["id"]].images[0].array, entry["picture"])
    maze = samples["maze_square_lv3_010"]
    assert maze.target.goal == "leave by maze_square_lv3_010."
    assert maze.target.checklist == ("No wall.", "One dot.")
    assert maze.target.answer == "left 10"
    assert maze.fields["prompt"] == "Show how: maze_square."
    assert maze.fields["oracle"].startswith("Show how: maze_square.\n")
    assert maze.fields["oracle"].endswith("left 10")
    assert maze.tags == {
        "task": "maze_square", "domain": "structured_puzzles", "level": "hard", "planning": "yes",
        "domain_level": "structured_puzzles hard",
        "answer": "yes",
    }  # fmt: skip
    sorting = samples["sorting_lv1_001"]
    assert (sorting.target.goal, sorting.target.checklist) == ("Solve it.", ("Solve it.",))
    assert sorting.target.tiers == "0: mixed\n2: sorted"
    assert sorting.fields["oracle"] == sorting.fields["prompt"]
    assert "answer" not in sorting.tags
    assert sorting.tags["level"] == "easy"
    assert maze.target.tiers == ""


def test_painters_get_their_own_prompt_where_there_is_one(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["maze_square", "maze_round"], numbers=[1])
    reader = reader_of(tmp_path, output="image", tasks=("maze_square", "maze_round"))
    told = {sample.tags["task"]: sample.fields["prompt"] for sample in load_all(reader)}
    assert told == {"maze_square": "Show how: maze_square.", "maze_round": "Paint the way out."}


def test_without_a_rubric_file_the_prompt_stands_in(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1], rubrics=False)
    for sample in load_all(reader_of(tmp_path, tasks=("gears",))):
        assert sample.target.goal == "Show how: gears."
        assert sample.target.checklist == ()


def test_a_rubric_file_without_the_instance_is_that_instances_fault(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    entries = [{"id": "gears_lv1_001", "rubric": ["Turn."]}, {"id": "x", "rubric": ["y"]}]
    rubric_file(tmp_path, "gears").write_text(json.dumps(entries))
    reader = reader_of(tmp_path, tasks=("gears",))
    first, second, _ = reader.index()
    assert reader.load(first).target.goal == "Turn."
    with pytest.raises(BadSample, match="none of its 2 entries is gears_lv2_001"):
        reader.load(second)
    assert len(reader.verify(reader.index())) == 2


BROKEN = ["", "{", "7", '["a", 1]', '[{"id": "gears", "rubric": []}]', "[" * 100_000]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_rubric_file_is_told_with_its_name(tmp_path: Path, text: str) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    rubric_file(tmp_path, "gears").write_text(text)
    reader = reader_of(tmp_path, tasks=("gears",))
    with pytest.raises(BadSample, match=r"_judge_rubric_gears\.json"):
        reader.load(reader.index()[0])


@pytest.mark.parametrize(
    ("told", "goal"),
    [
        ({"gears_lv1_003": ["a"], "gears_003": ["b"]}, "a"),
        ({"gears_003": ["b"], "gears_default": ["c"]}, "b"),
        ({"gears_default": ["c"], "default": ["d"]}, "c"),
        ({"default": ["d"], "gears": ["e"]}, "d"),
        ({"gears": ["e"], "rubric": ["f"]}, "e"),
        ({"rubric": ["f"], "answer": "z"}, "f"),
        ({"anything": {"rubric": ["g"]}}, "g"),
        ([{"rubric": ["h"]}], "h"),
        (["i", "first entry"], "i"),
        ([{"id": "gears", "rubric": "OVERALL TASK:  j "}, {"id": "x", "rubric": ["y"]}], "j"),
    ],
)
def test_rubrics_are_looked_up_from_the_instance_to_the_default(told: Any, goal: str) -> None:
    entries = parse_rubrics(json.dumps(told).encode())
    assert find_rubric(entries, task="gears", level="lv1", number="003").goal == goal


def test_an_answer_beside_the_rubric_is_kept_and_structures_are_json() -> None:
    entries = parse_rubrics(b'{"rubric": ["f", "g"], "answer": [3, 1]}')
    found = find_rubric(entries, task="gears", level="lv1", number="003")
    assert (found.goal, found.checklist, found.answer) == ("f", ("g",), "[3, 1]")


def test_an_answer_that_is_nested_deep_is_read_or_told(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    outcomes = set()
    for depth in range(800, 1001):  # at some depth it can be read, and no more be written
        answer = "[" * depth + "]" * depth
        told = f'{{"gears": {{"rubric": ["Turn."], "answer": {answer}}}}}'
        rubric_file(tmp_path, "gears").write_text(told)
        reader = reader_of(tmp_path, tasks=("gears",))
        try:
            reader.load(reader.index()[0])
            outcomes.add("read")
        except BadSample as exc:
            outcomes.add(exc.what.rpartition(": ")[2])
    assert outcomes == {"read", "it is nested too deep"}


def test_a_rubric_file_may_begin_with_a_mark_of_the_byte_order(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    rubric_file(tmp_path, "gears").write_text('{"gears": ["Turn."]}', "utf-8-sig")
    reader = reader_of(tmp_path, tasks=("gears",))
    assert reader.load(reader.index()[0]).target.goal == "Turn."


def test_two_entries_of_one_id_must_agree() -> None:
    with pytest.raises(ValueError, match="two entries of id 'a'"):
        parse_rubrics(b'[{"id": "a", "rubric": ["x"]}, {"id": "a", "rubric": ["y"]}]')
    assert len(parse_rubrics(b'[{"id": "a", "rubric": ["x"]}, {"id": "a", "rubric": ["x"]}]')) == 1
    with pytest.raises(ValueError, match="'a' stands twice"):
        parse_rubrics(b'{"a": ["x"], "b": ["y"], "a": ["z"]}')


def test_a_users_own_solutions_reach_the_judge_of_the_tasks_that_had_them(tmp_path: Path) -> None:
    tasks = ("gears", "untie_knot", "maze_round", "color_mix")
    vgi_bench.write(tmp_path, tasks=tasks, numbers=[1])
    plain = reader_of(tmp_path, tasks=tasks)
    solution = np.full((30, 40, 3), 77, np.uint8)
    for item in plain.index():
        stem = tmp_path / "vgi_bench/mine" / item.tags["task"] / item.id
        write_png(stem.with_suffix(".png"), solution)
        stem.with_suffix(".txt").write_text(f"so: {item.id}\n")
    for gt in ("none", "image", "text", "both"):
        reader = reader_of(tmp_path, tasks=tasks, gt=gt, gt_folder="mine")
        assert reader.look(reader.index()) == []
        told = {
            sample.tags["task"]: (sample.target.gt_image is not None, bool(sample.target.gt_text))
            for sample in load_all(reader)
        }
        image, text = gt in ("image", "both"), gt in ("text", "both")
        assert told == {
            "gears": (image, text), "untie_knot": (False, text), "maze_round": (image, False),
            "color_mix": (False, False),
        }  # fmt: skip
    assert reader.fingerprint() != plain.fingerprint()


def test_a_solution_that_is_not_there_is_not_shown_and_that_is_told(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    reader = reader_of(tmp_path, tasks=("gears",), gt="both")
    with pytest.raises(MissingData, match="holds no solution"):
        reader.index()
    stem = tmp_path / "vgi_bench/gt/gears/gears_lv2_001"
    write_png(stem.with_suffix(".png"), np.full((30, 40, 3), 77, np.uint8))
    reader = reader_of(tmp_path, tasks=("gears",), gt="both")
    assert [item.tags["gt"] for item in reader.index()] == ["none", "image", "none"]
    assert [s.target.gt_image is not None for s in load_all(reader)] == [False, True, False]
    assert "gt" not in reader_of(tmp_path, tasks=("gears",)).index()[0].tags


def test_a_folder_that_is_not_there_is_missing_data(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    with pytest.raises(MissingData, match="maze_square"):
        reader_of(tmp_path).index()


def test_the_data_may_lie_without_its_outer_folder(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    inner = tmp_path / "vgi_bench/bench_data"
    reader = VgiBench(VgiBench.Options(tasks=("gears",)), root=inner, folder=tmp_path)
    assert len(load_all(reader)) == 3


def test_faulty_files_are_named(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1, 2])
    home = tmp_path / "vgi_bench/bench_data/gears"
    (home / "input_image/lv1/gears_lv1_001.png").write_bytes(b"no picture")
    (home / "input_image/lv1/gears_lv2_009.png").write_bytes(b"in the wrong folder")
    reader = reader_of(tmp_path, tasks=("gears",))
    assert len(reader.index()) == 6
    assert [problem.path for problem in reader.verify(reader.index())] == ["gears_lv1_001"]
    (home / "prompt/video_gen_prompt/gears.txt").write_text(" \n")
    with pytest.raises(BadSample, match="is empty"):
        reader.load(reader.index()[1])


def test_the_fingerprint_changes_with_a_rubric(tmp_path: Path) -> None:
    vgi_bench.write(tmp_path, tasks=["gears"], numbers=[1])
    before = reader_of(tmp_path, tasks=("gears",)).fingerprint()
    rubric_file(tmp_path, "gears").write_text('[{"rubric": ["Turn them."]}]')
    assert reader_of(tmp_path, tasks=("gears",)).fingerprint() != before


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"tasks": ["maze_squares"]}, "maze_square"),
        ({"output": "image", "tasks": ["untie_knot"]}, "untie_knot"),
    ],
)
def test_tasks_that_are_not_there_are_refused(options: Any, told: str) -> None:
    with pytest.raises(CardError, match=told):
        convert(VgiBench.Options, options, file="card.yaml")
