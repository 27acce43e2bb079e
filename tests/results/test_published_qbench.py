"""Q-Bench's published tables agree with themselves, but for the rows that are named here."""

from __future__ import annotations

import pytest
from vgen_eval.results.published import Cell, find_table

# questions by type and by concern, of 1,495 each (recovered from accuracies of four digits)
SIZES = {
    "dev": {"yes-or-no": 550, "what": 452, "how": 493, "distortion": 514, "others": 432,
            "in-context distortion": 304, "in-context others": 245},
    "test": {"yes-or-no": 548, "what": 461, "how": 486, "distortion": 520, "others": 419,
             "in-context distortion": 292, "in-context others": 264},
}  # fmt: skip
TYPES = ("yes-or-no", "what", "how")
CONCERNS = ("distortion", "others", "in-context distortion", "in-context others")
ROUNDING = 0.0002  # of figures of four digits, and of the sizes recovered from them

OFF = {
    ("test, multiple choice", "Shikra(Vicuna-7B)", TYPES),
    ("test, multiple choice", "LLaMA-Adapter-V2", TYPES),
    ("test, multiple choice", "InstructBLIP (Flan-T5-XL)", CONCERNS),
}
"""Rows whose sub-scores do not come to what is printed."""


def _figures(data: str) -> dict[str, float]:
    (row,) = (row for row in find_table("qbench:a1").rows if row.data == data)
    return {cell.label: cell.values["accuracy"] for cell in row.cells}


def test_sizes_are_those_of_the_halves() -> None:
    for sizes in SIZES.values():
        for names in (TYPES, CONCERNS):
            assert sum(sizes[name] for name in names) == 1495


def test_accuracies_of_types_and_concerns_come_to_the_overall_one() -> None:
    rows, off = 0, set()
    for split, sizes in SIZES.items():
        for scoring in ("multiple choice", "perplexity"):
            data = f"{split}, {scoring}"
            overall = _figures(data)
            parts = {name: _figures(f"{data}: {name}") for name in (*TYPES, *CONCERNS)}
            rows += len(overall)
            for label, accuracy in overall.items():
                for names in (TYPES, CONCERNS):
                    found = sum(parts[name][label] * sizes[name] for name in names) / 1495
                    if abs(found - accuracy) > ROUNDING:
                        off.add((data, label, names))
    assert rows == 55
    assert off == OFF
    assert len({label for _, label, _ in off}) == 3  # the other 52 rows agree


def test_each_subset_is_of_its_tag() -> None:
    for row in find_table("qbench:a1").rows:
        name = row.data.partition(": ")[2]
        tag = "type" if name in TYPES else "concern"
        assert row.subset == (f"{tag}={name}" if name else "all")
        assert row.answer == ("choice" if "perplexity" in row.data else "text")


DIMENSIONS = ("completeness", "preciseness", "relevance")
DESCRIBED = find_table("qbench:a2").rows[0].cells


@pytest.mark.parametrize("cell", DESCRIBED, ids=lambda cell: cell.label)
def test_descriptions_scores_follow_from_their_shares(cell: Cell) -> None:
    values, total = cell.values, 0.0
    for name in DIMENSIONS:
        shares = [values[f"{name}_p{score}"] for score in (0, 1, 2)]
        assert sum(shares) == pytest.approx(1.0, abs=0.00021)
        score = shares[1] + 2 * shares[2]
        assert values[name] == pytest.approx(score, abs=0.01)
        total += score
    # printed is the rounded sum of the parts before rounding; they are of shares of two digits
    assert values["sum"] == pytest.approx(total, abs=0.005 + 3 * 0.00015)


def test_there_are_fourteen_descriptions_and_one_sum_only_unrounded_parts_give() -> None:
    assert len(DESCRIBED) == 14
    (cell,) = (cell for cell in DESCRIBED if cell.label == "LLaVA-v1.5 (Vicuna-v1.5-13B)")
    assert sum(cell.values[name] for name in DIMENSIONS) == pytest.approx(3.48)
    assert cell.values["sum"] == 3.47


def _of(model: str) -> dict[str, dict[str, float]]:
    rows = [row for row in find_table("qbench:a3").rows if "README" not in row.data]
    return {
        row.data: dict(cell.values) for row in rows for cell in row.cells if cell.label == model
    }


def test_assessment_has_fifteen_models_on_seven_sets() -> None:
    rows = find_table("qbench:a3").rows[:7]
    assert [(row.task, row.n_paper) for row in rows] == [
        ("quality/koniq", 10073), ("quality/spaq", 11125), ("quality/livefb", 39810),
        ("quality/livec", 1169), ("quality/cgiqa", 6000), ("quality/agiqa", 2982),
        ("quality/kadid", 10125),
    ]  # fmt: skip
    assert {len(row.cells) for row in rows} == {15}
    assert all(set(cell.values) == {"srcc", "plcc"} for row in rows for cell in row.cells)


def test_assessment_is_the_notebooks_where_the_readme_departs() -> None:
    assert _of("idefics")["CGIQA-6K"] == {"srcc": 0.199, "plcc": 0.229}
    assert _of("shikra")["SPAQ"]["srcc"] == 0.327
    assert _of("shikra")["LIVE-FB"] == {"srcc": 0.222, "plcc": 0.227}
    assert _of("instructblip_t5")["KADID-10k"] == {"srcc": 0.181, "plcc": 0.166}
    departing = [row for row in find_table("qbench:a3").rows if "README" in row.data]
    assert {row.comparability for row in departing} == {"not_comparable"}
    assert len(departing) == 4


def test_models_with_words_of_their_own_are_held_to_those() -> None:
    row = find_table("qbench:a3").rows[0]
    sets = {cell.label: row.of(cell).set for cell in row.cells if cell.set}
    assert sets == {
        "instructblip_t5": {
            "protocol.answers.0.options.positive": ["high"],
            "protocol.answers.0.options.negative": ["low"],
        },
        "shikra": {"protocol.answers.0.prefix": "The answer is"},
    }


def test_domains_are_the_means_of_their_levels() -> None:
    levels = {row.data: row for row in find_table("vgi:levels").rows}
    for row in find_table("vgi:video").rows[1:]:
        for cell in row.cells:
            parts = [
                one.values["final"]
                for level in ("easy", "mid", "hard")
                for one in levels[f"{row.data}, {level}"].cells
                if one.label == cell.label
            ]
            wide = row.data == "spatiotemporal dynamics" and cell.label in (
                "Kling 3.0", "Veo 3.1", "Seedance 2.0", "Gen-4.5"
            )  # fmt: skip
            off = abs(sum(parts) / 3 - cell.values["final"])
            assert off <= (0.003 if wide else 0.001) + 1e-9, (row.data, cell.label)
