"""Plain functions as models, what is skipped beside them, and errors of asking."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kit
import numpy as np
import pytest
import vgen_eval
from vgen_eval import Request
from vgen_eval.adapters import function_card
from vgen_eval.errors import CardError, NotRunnable, UsageError


def evaluated(folder: Path, **arguments: Any) -> vgen_eval.Results:
    return vgen_eval.evaluate(output=str(folder / "out"), bounds=False, **arguments)


def grey(request: Request) -> Any:
    return np.full((10, 10, 3), 128, np.uint8)


def test_a_function_is_a_model(tmp_path: Path) -> None:
    results = vgen_eval.evaluate(
        tasks=["samples/counting", "samples/referring"], model=grey, forms=["image"],
        output=str(tmp_path),
    )  # fmt: skip
    assert [card.model for card in results] == ["grey", "grey"]
    assert results.exit_code() == 0
    counting, referring = results
    assert counting.counts.flags["constant"] == counting.counts.expected
    assert counting.ceiling is not None
    assert counting.ceiling.value == 0
    assert referring.floor is not None
    assert referring.floor.value is not None
    assert referring.run.startswith("runs/grey/samples/referring@standard/")


def test_functions_in_one_evaluation_are_told_apart(toys: Path) -> None:
    def one(request: Request) -> str:
        return "1"

    def two(request: Request) -> str:
        return "2"

    results = vgen_eval.evaluate(
        tasks=kit.task(toys, n=3), models=[one, two], forms=["text"], bounds=False,
        output=str(toys / "out"),
    )  # fmt: skip
    assert [(card.model, card.score().value) for card in results] == [("one", 2 / 3), ("two", 1.0)]


def variants() -> list[Callable[..., Any]]:
    def plus(request: Any) -> Any:
        return [*map(lambda a: a + 1, request)]  # noqa: C417

    def times(request: Any) -> Any:
        return [*map(lambda a: a * 1, request)]  # noqa: C417

    def constant(request: Any) -> Any:
        return [*map(lambda a: a + 2, request)]  # noqa: C417

    def default(request: Any, gain: float = 1.0) -> Any:
        return gain

    def other_default(request: Any, gain: float = 2.0) -> Any:
        return gain

    def keyword(request: Any, *, gain: float = 1.0) -> Any:
        return gain

    def other_keyword(request: Any, *, gain: float = 2.0) -> Any:
        return gain

    def method(request: Any) -> Any:
        return request.upper()

    def other_method(request: Any) -> Any:
        return request.lower()

    return [
        plus, times, constant, default, other_default, keyword, other_keyword, method, other_method,
    ]  # fmt: skip


def test_every_change_of_its_code_is_another_model_and_none_is_the_same() -> None:
    digests = [function_card(f, name="f", forms=["text"]).options["code"] for f in variants()]
    again = [function_card(f, name="f", forms=["text"]).options["code"] for f in variants()]
    assert digests == again
    assert len(set(digests)) == len(digests)


def test_the_same_code_is_the_same_model_in_every_process() -> None:
    code = (
        "from vgen_eval.adapters import function_card\n"
        "def f(request, known=frozenset({'p', 'q', 'r'})):\n"
        "    return [x for x in (lambda: request)() if x in {'alpha', 'beta', 'gamma', 'delta'}]\n"
        "print(function_card(f, name='f', forms=['text']).options['code'])\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": str(seed)}, text=True,
            capture_output=True, check=True,
        ).stdout
        for seed in range(4)
    }  # fmt: skip
    assert len(found) == 1


def test_changed_code_is_another_run(toys: Path) -> None:
    def make(text: str) -> Callable[[Request], str]:
        space: dict[str, Any] = {}
        exec(f"def f(request):\n    return {text!r}\n", space)
        return space["f"]  # type: ignore[no-any-return]

    task = kit.task(toys, n=3)
    first, same, second = (
        kit.run(toys, tasks=task, model=make(text), forms=["text"], model_name="f")
        for text in ("1", "1", "2")
    )
    assert first.run == same.run != second.run
    assert (first.score().value, second.score().value) == (2 / 3, 1.0)


def test_a_function_without_a_name_is_asked_anew_each_time(toys: Path) -> None:
    class State:  # what it holds is not seen from the function
        says = "1"

    def f(_request: Request) -> str:
        return State.says

    task = kit.task(toys, n=3)
    first = kit.run(toys, tasks=task, model=f, forms=["text"])
    State.says = "2"
    second = kit.run(toys, tasks=task, model=f, forms=["text"])
    assert (first.score().value, second.score().value) == (2 / 3, 1.0)
    assert second.run == f"{first.run}.2"


def test_functions_that_close_over_different_values_stand_side_by_side(toys: Path) -> None:
    def make(text: str) -> Callable[[Request], str]:
        return lambda _request: text

    def say(text: str, _request: Request) -> str:
        return text

    for models in (
        [make("1"), make("2")],
        [functools.partial(say, "1"), functools.partial(say, "2")],
    ):
        cards = evaluated(toys, tasks=kit.task(toys, n=3), models=models, forms=["text"])
        assert [card.score().value for card in cards] == [2 / 3, 1.0]


def test_two_functions_that_cannot_be_told_apart_are_refused(toys: Path) -> None:
    def make(held: object) -> Callable[[Request], str]:
        return lambda _request: str(held)

    with pytest.raises(UsageError, match="two models are the same as far as can be told"):
        evaluated(
            toys, tasks=kit.task(toys), models=[make(object()), make(object())], forms=["text"]
        )


def test_overrides_reach_a_plain_function_too(toys: Path) -> None:
    seeds: list[int] = []

    def f(request: Request) -> str:
        seeds.append(request.seed)
        return "1"

    kit.run(toys, tasks=kit.task(toys, n=1), model=f, forms="text", set={"generation.seed": 7})
    assert seeds == [7]
    with pytest.raises(UsageError, match="foo"):
        kit.run(toys, tasks=kit.task(toys, n=1), model=f, forms="text", set={"foo.bar": 2})


class Callable3:
    def __call__(self, request: Request) -> str:
        return "3"


@pytest.mark.parametrize("model", [functools.partial(grey), lambda _: "3", Callable3()])
def test_anything_that_can_be_called_will_do(toys: Path, model: Any) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=2), model=model, forms=["text"])
    assert card.model in ("function", "lambda")


@pytest.mark.parametrize("name", ["../../evil", "/etc/x", "UPPER", "a//b", ""])
def test_a_name_that_is_no_name_is_refused(toys: Path, name: str) -> None:
    if not name:  # none given: the function's own
        assert kit.run(toys, tasks=kit.task(toys), model=grey, forms=["text"], model_name="")
        return
    with pytest.raises(CardError, match="model"):
        kit.run(toys, tasks=kit.task(toys), model=grey, forms=["text"], model_name=name)
    assert not (toys / "out" / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"forms": []}, UsageError, "needs its answer forms"),
        ({"forms": ["picture"]}, CardError, "picture"),
        ({"forms": ["text"], "tasks": []}, UsageError, "no task given"),
        ({"forms": ["text"], "limit": 0}, CardError, "limit"),
        ({"forms": ["text"], "limits": 3}, CardError, "limits"),
        ({"forms": ["text"], "keep": "some"}, CardError, "keep"),
        ({"forms": ["text"], "samples": ["s999"]}, UsageError, "no sample 's999'"),
        ({"forms": ["text"], "tasks": "no/such"}, UsageError, "no/such"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_written(
    toys: Path, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        kit.run(toys, **{"tasks": kit.task(toys), "model": grey, **arguments})
    assert not (toys / "out" / "runs").exists()


def test_pairs_that_do_not_fit_are_listed_with_the_reason(tmp_path: Path) -> None:
    results = vgen_eval.evaluate(
        tasks="samples/*", model=grey, forms=["text"], bounds=False, output=str(tmp_path)
    )
    assert "samples/counting" in [card.task for card in results]
    skips = {skip.task: skip for skip in results.skipped}
    painted = {f"samples/{name}@standard" for name in ("depth", "normals", "referring", "semantic")}
    assert painted <= skips.keys()
    skip = skips["samples/referring@standard"]
    assert (skip.model, skip.exact) == ("grey", False)
    assert skip.reason == "model gives text; the protocol takes image, mask"
    assert results.exit_code() == 0


def test_a_pair_named_exactly_that_does_not_fit_is_exit_code_3(tmp_path: Path) -> None:
    results = vgen_eval.evaluate(
        tasks=["samples/counting", "samples/referring"], model=grey, forms=["text"], bounds=False,
        output=str(tmp_path),
    )  # fmt: skip
    assert len(results) == 1
    assert results.exit_code() == 3


def test_every_file_that_a_run_writes_is_strict_json(toys: Path) -> None:
    model = kit.model(toys, nothing=["s001"], refuse=["s002"], fail=["s003"], off=1)
    task = kit.task(toys, n=5, bad=["s004"])
    vgen_eval.evaluate(
        tasks=[task, "samples/counting"], models=[model, "classical"], output=str(toys / "out"),
        attempts=2, answer="text",
    )  # fmt: skip
    files = [p for p in (toys / "out").rglob("*") if p.suffix in (".json", ".jsonl")]
    assert len(files) >= 12
    for path in files:
        kit.lines(path) if path.suffix == ".jsonl" else kit.strict(path.read_text())


@pytest.mark.parametrize(("said", "status"), [(3, "ok"), (np.int64(3), "ok"), (True, "no_answer")])
def test_a_number_is_text_and_a_truth_value_is_none(toys: Path, said: Any, status: str) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=2), model=lambda _: said, forms=["text"])
    assert card.counts.statuses == {status: 2}


def named_digest(function: Any) -> Any:
    return function_card(function, name="f", forms=["text"]).options["code"]


class Weighted:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def __call__(self, request: Request) -> str:
        return str(self.weights)

    def answer(self, request: Request) -> str:
        return str(self.weights)


@pytest.mark.parametrize(
    ("one", "other"),
    [(np.zeros(3), np.ones(3)), (np.zeros(3), np.zeros((3, 1))), ([1, 2], [1, 3]), ({"a": 1}, {})],
)
def test_what_a_function_holds_is_part_of_it(one: Any, other: Any) -> None:
    def closed(held: Any) -> Callable[[Request], str]:
        return lambda _request: str(held)

    for make in (
        closed,
        Weighted,
        lambda held: Weighted(held).answer,
        lambda held: functools.partial(lambda _request, w: str(w), w=held),
        lambda held: functools.lru_cache(closed(held)),
    ):
        assert named_digest(make(one)) == named_digest(make(one))
        assert named_digest(make(one)) != named_digest(make(other))


def test_a_function_may_close_over_itself(toys: Path) -> None:
    def f(request: Request, n: int = 2) -> str:
        return f(request, n - 1) if n else "1"

    held: list[Any] = []
    held.append(held)
    assert kit.run(toys, tasks=kit.task(toys, n=2), model=f, forms="text").complete
    assert named_digest(lambda _request: held)


def test_what_is_neither_name_nor_function_is_refused(toys: Path) -> None:
    with pytest.raises(UsageError, match="a model is a name or a function, int given"):
        evaluated(toys, tasks=kit.task(toys), model=3, forms=["text"])
    cards = vgen_eval.evaluate(
        tasks=Path(kit.task(toys, n=1)), models=grey, forms="text", output=toys / "paths",
        bounds=False,
    )  # fmt: skip
    assert (toys / "paths" / cards[0].run).is_dir()


def test_a_named_pair_that_does_not_fit_is_an_error_where_nothing_else_runs(tmp_path: Path) -> None:
    with pytest.raises(NotRunnable, match="takes image, mask"):
        vgen_eval.evaluate(
            tasks="samples/referring", model=grey, forms=["depth_map"], output=str(tmp_path)
        )


def test_a_run_without_a_scored_answer_is_told_in_the_log(
    toys: Path, caplog: pytest.LogCaptureFixture
) -> None:
    card = kit.run(toys, model=lambda request: None, forms=["text"], tasks=kit.task(toys))
    assert card.counts.flags == {}
    assert "no answer could be scored: {'no_answer': 6}" in caplog.text
