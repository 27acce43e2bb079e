"""What a second run does: nothing again, only what is missing, and never another's answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kit
import msgspec
import pytest
import vgen_eval
from vgen_eval.engine.plan import Job, make_plan
from vgen_eval.engine.request import make_request, prepare, request_digest
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import UsageError
from vgen_eval.plugins import Catalog


def ids(numbers: list[int]) -> list[tuple[str, int]]:
    return [(f"s{number:03d}", 0) for number in numbers]


def evaluated(folder: Path, **arguments: Any) -> vgen_eval.Results:
    return vgen_eval.evaluate(output=str(folder / "out"), bounds=False, **arguments)


# --- nothing is done twice ----------------------------------------------------------------


def test_everything_answered_means_no_call_and_exit_code_0(toys: Path) -> None:
    arguments = {"tasks": kit.task(toys, n=3), "model": kit.model(toys)}
    first = evaluated(toys, **arguments)
    assert sorted(kit.asked()) == ids([0, 1, 2])
    again = evaluated(toys, **arguments)
    assert kit.asked() == []
    assert again.exit_code() == 0
    assert again[0].score("mae").value == 0.0
    assert kit.settled(toys, again[0]) == kit.settled(toys, first[0])


def test_a_model_that_cannot_be_loaded_is_not_needed_for_a_finished_run(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    arguments = {"tasks": kit.task(toys, n=3), "model": kit.model(toys)}
    kit.run(toys, **arguments)
    monkeypatch.setattr(toybench.parts.Teller, "load", lambda self: 1 / 0)
    assert kit.run(toys, **arguments).complete
    with pytest.raises(vgen_eval.VgenEvalError, match="cannot be loaded: ZeroDivisionError"):
        kit.run(toys, **arguments, attempts=2)


# --- another selection --------------------------------------------------------------------


def test_a_full_run_after_a_limited_one_reuses_its_answers_and_reports_all(toys: Path) -> None:
    arguments = {"tasks": kit.task(toys, n=5), "model": kit.model(toys)}
    small = kit.run(toys, limit=2, **arguments)
    first = [sample for sample, _ in kit.asked()]
    assert small.score().n == 2
    assert small.counts.expected == 2

    three = kit.run(toys, limit=3, **arguments)
    assert three.score().n == 3
    assert len(kit.asked()) == 1

    full = kit.run(toys, **arguments)
    assert full.score().n == 5
    assert len(kit.asked()) == 2
    assert len({small.run, three.run, full.run}) == 3
    cached = {p["sample"] for p in kit.predictions(toys, full) if "cached" in p["volatile"]}
    assert len(cached) == 3
    assert set(first) < cached
    hit = next(p for p in kit.predictions(toys, full) if p["sample"] == first[0])
    assert hit["volatile"] == {"cached": small.run, "tries": 0, "cost_usd": 0.0}
    assert full.volatile["reused"] == 3
    fresh_folder = toys / "elsewhere"
    assert kit.run(fresh_folder, **arguments).content_digest == full.content_digest


def test_another_sampling_seed_reuses_only_what_it_truly_selects(toys: Path) -> None:
    task, model = kit.task(toys, n=9), kit.model(toys)
    first = kit.run(toys, tasks=task, model=model, limit=4)
    chosen = {p["sample"] for p in kit.predictions(toys, first)}
    kit.asked()
    other_chosen = chosen
    seed = 0
    while other_chosen == chosen or not other_chosen & chosen:
        seed += 1
        folder = toys / f"look{seed}"
        card = kit.run(
            folder, tasks=task, model=model, limit=4, set={"protocol.sampling.seed": seed}
        )
        other_chosen = {p["sample"] for p in kit.predictions(folder, card)}
    kit.asked()
    other = kit.run(toys, tasks=task, model=model, limit=4, set={"protocol.sampling.seed": seed})
    lines = kit.predictions(toys, other)
    assert {p["sample"] for p in lines} == other_chosen
    assert {p["sample"] for p in lines if "cached" in p["volatile"]} == chosen & other_chosen
    assert {sample for sample, _ in kit.asked()} == other_chosen - chosen
    assert other.counts.expected == 4


def test_more_attempts_reuse_the_first_ones(toys: Path) -> None:
    task, model = kit.task(toys, n=4), kit.model(toys)
    kit.run(toys, tasks=task, model=model)
    kit.asked()
    kit.run(toys, tasks=task, model=model, attempts=3)
    assert sorted(kit.asked()) == [(f"s{n:03d}", a) for n in range(4) for a in (1, 2)]


def test_the_same_answers_in_another_protocol_are_reused(toys: Path) -> None:
    """Failure value, metrics and decoders come after the answer."""
    model = kit.model(toys)
    kit.run(toys, tasks=kit.task(toys, n=4), model=model)
    kit.asked()
    changed = {"failure_options": {"number": 7.0}, "metrics": [{"name": "toybench:middle"}]}
    card = kit.run(
        toys, tasks=kit.task(toys, n=4, protocol={**changed, "primary": "median"}), model=model
    )
    assert card.score("median").value == 0
    # the reader's options are the same, so pictures and prompts are
    assert kit.asked() == []


def test_failures_are_not_reused(toys: Path) -> None:
    task = kit.task(toys, n=4)
    model = kit.model(toys, refuse=["s001"], nothing=["s002"])
    kit.run(toys, tasks=task, model=model)
    kit.asked()
    kit.run(toys, tasks=task, model=model, attempts=2)
    assert {s for s, attempt in kit.asked() if attempt == 0} == {"s001", "s002"}


def test_an_altered_answer_is_not_reused(toys: Path) -> None:
    arguments = {
        "tasks": kit.task(toys, n=4, protocol={"answers": [kit.IMAGE]}),
        "model": kit.model(toys, card={"answers": ["image"]}),
    }
    small = kit.run(toys, limit=2, **arguments)
    victim, kept = kit.predictions(toys, small)
    file = kit.run_folder(toys, small) / "outputs" / victim["answer"]["file"]
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    kit.asked()
    full = kit.run(toys, **arguments)
    cached = [p["sample"] for p in kit.predictions(toys, full) if "cached" in p["volatile"]]
    assert cached == [kept["sample"]]
    assert full.score().value == 0


def test_a_fresh_run_stands_beside_and_asks_anew(toys: Path) -> None:
    arguments = {"tasks": kit.task(toys, n=4), "model": kit.model(toys)}
    first = kit.run(toys, **arguments)
    kit.asked()
    second = kit.run(toys, fresh=True, **arguments)
    third = kit.run(toys, fresh=True, **arguments)
    assert (second.run, third.run) == (f"{first.run}.2", f"{first.run}.3")
    assert len(kit.asked()) == 8
    assert first.content_digest == second.content_digest == third.content_digest
    assert kit.run(toys, **arguments).run == first.run


# --- what is kept -------------------------------------------------------------------------


@pytest.mark.parametrize(("keep", "left"), [("all", 4), ("failed", 1), ("none", 0)])
def test_keep_rules_which_answers_stay_and_never_the_scores(
    toys: Path, keep: str, left: int
) -> None:
    form = {**kit.IMAGE, "decoder": "toybench:odd_only"}
    arguments = {
        "tasks": kit.task(toys, n=4, protocol={"answers": [form]}),
        "model": kit.model(toys, card={"answers": ["image"]}),
    }
    card = kit.run(toys, keep=keep, **arguments)
    assert card.counts.statuses == {"ok": 3, "undecodable": 1}
    assert len(list((kit.run_folder(toys, card) / "outputs").iterdir())) == left
    kit.asked()
    again = kit.run(toys, keep=keep, **arguments)
    assert kit.asked() == []
    assert kit.settled(toys, again) == kit.settled(toys, card)


def test_answers_that_could_not_be_scored_stay_until_they_are(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    arguments = {
        "tasks": kit.task(toys, n=4, protocol={"answers": [kit.IMAGE]}),
        "model": kit.model(toys, card={"answers": ["image"]}),
        "keep": "none",
    }
    with monkeypatch.context() as patch:
        patch.setattr(toybench.parts.Error, "update", lambda self, *a: 1 / 0)
        broken = kit.run(toys, **arguments)
    assert broken.counts.statuses == {"error": 4}
    assert not broken.complete
    assert all("ZeroDivisionError" in score["reason"] for score in kit.scores(toys, broken))
    kit.asked()
    mended = kit.run(toys, **arguments)
    assert kit.asked() == []
    assert mended.complete
    assert mended.score().value == 0
    assert list((kit.run_folder(toys, mended) / "outputs").iterdir()) == []


# --- failed attempts ----------------------------------------------------------------------


def test_retrying_appends_lines_that_supersede(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import toybench.parts

    arguments = {
        "tasks": kit.task(toys, n=5),
        "model": kit.model(toys, fail=["s001", "s003"], refuse=["s004"]),
    }
    first = evaluated(toys, **arguments)
    assert first.exit_code() == 1
    assert first[0].counts.statuses == {"error": 2, "ok": 2, "refused": 1}
    kit.asked()
    assert evaluated(toys, **arguments).exit_code() == 1
    assert kit.asked() == []

    monkeypatch.setattr(toybench.parts.Teller, "failing", False)
    before = (kit.run_folder(toys, first[0]) / "predictions.jsonl").read_bytes()
    second = evaluated(toys, retry_failed=["error"], **arguments)
    assert sorted(kit.asked()) == ids([1, 3])
    after = (kit.run_folder(toys, first[0]) / "predictions.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 7
    assert second.exit_code() == 0
    assert second[0].counts.statuses == {"ok": 4, "refused": 1}
    untouched = kit.run(toys / "elsewhere", **arguments)
    assert untouched.content_digest == second[0].content_digest

    kit.asked()
    evaluated(toys, retry_failed=["refused"], **arguments)
    assert kit.asked() == ids([4])


def test_retry_failed_asks_again_for_answers_that_could_not_be_decoded(toys: Path) -> None:
    arguments = {"tasks": kit.task(toys, n=3), "model": kit.model(toys, mumble=["s001"])}
    first = evaluated(toys, **arguments)
    assert first[0].counts.statuses == {"ok": 2, "undecodable": 1}
    kit.asked()
    evaluated(toys, retry_failed=["refused"], **arguments)
    assert kit.asked() == []
    again = evaluated(toys, retry_failed=["undecodable"], **arguments)
    assert kit.asked() == ids([1])
    assert again[0].counts == first[0].counts
    assert again[0].content_digest == first[0].content_digest


def test_named_samples_and_a_limit_exclude_each_other(toys: Path) -> None:
    with pytest.raises(UsageError, match="--samples names the samples"):
        evaluated(toys, tasks=kit.task(toys, n=3), model=kit.model(toys), samples=["s000"], limit=2)


# --- identity of requests and runs --------------------------------------------------------


def job_of(toys: Path, settings: Mapping[str, Any], **more: Any) -> Job:
    read = Settings(**{"bounds": False, "output": str(toys / "out"), **settings}, **more)
    (job,) = make_plan(read, Catalog.discover()).jobs
    return job


def first_digest(job: Job, *, attempt: int = 0) -> str:
    prepared = prepare(job, job.task.dataset.load(job.items[0]))
    return request_digest(job.model.identity_digest(), make_request(job, prepared, attempt))


def test_a_request_is_known_by_all_that_can_change_its_answer(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine variants of one request: reordered keys share its digest, eight others do not."""
    import toybench.parts

    card = {
        "checkpoint": {"repo": "r", "revision": "r1"},
        "generation": {"temperature": 0.0, "max_tokens": 64, "seed": 0},
    }
    task = kit.task(toys)
    base = {"tasks": (task,), "models": (kit.model(toys, card=card),)}
    job = job_of(toys, base)
    digest = first_digest(job)

    reordered = {
        "generation": {"seed": 0, "max_tokens": 64, "temperature": 0.0},
        "checkpoint": {"revision": "r1", "repo": "r"},
    }
    same = job_of(toys, {**base, "models": (kit.model(toys, card=reordered),)})
    assert first_digest(same) == digest
    assert same.run_id == job.run_id

    other_model = kit.model(toys, name="teller2", card=card)
    variants = {
        "model": job_of(toys, {**base, "models": (other_model,)}),
        "revision": job_of(toys, base, set={"checkpoint.revision": "r2"}),
        "prompt": job_of(toys, base, prompt=("short",)),
        "image": job_of(toys, base, samples=("s001",)),
        "temperature": job_of(toys, base, set={"generation.temperature": 0.7}),
        "max_tokens": job_of(toys, base, set={"generation.max_tokens": 65}),
        "seed": job_of(toys, base, set={"generation.seed": 1}),
    }
    digests = {digest, first_digest(job, attempt=1), *map(first_digest, variants.values())}
    assert len(digests) == 9
    assert len({job.run_id, *(v.run_id for v in variants.values())}) == 8

    monkeypatch.setattr(toybench.parts.Number, "version", 2)
    newer = job_of(toys, base)
    assert first_digest(newer) == digest
    assert newer.run_id == job.run_id
    assert newer.score_digest != job.score_digest


def test_each_part_of_a_request_that_can_change_its_answer_counts_by_itself(toys: Path) -> None:
    job = job_of(toys, {"tasks": (kit.task(toys),), "models": (kit.model(toys),)})
    request = make_request(job, prepare(job, job.task.dataset.load(job.items[0])), 0)
    other = make_request(job, prepare(job, job.task.dataset.load(job.items[1])), 0)
    changes: list[dict[str, Any]] = [
        {"seed": 1}, {"attempt": 1}, {"prompt": "?"}, {"family": "f"}, {"form": "points"},
        {"images": other.images}, {"images": request.images * 2}, {"images": ()},
        {"choices": ("a",)}, {"choices": ("b", "a")}, {"choices": ("a", "b")},
        {"fields": {"query": "x"}}, {"settings": {"temperature": 0.5}}, {"sample": "another"},
    ]  # fmt: skip
    replace = msgspec.structs.replace
    found = {request_digest("m", replace(request, **change)) for change in changes}
    assert len(found | {request_digest("m", request), request_digest("n", request)}) == 16
    for same in ({"id": "x"}, {"ideal": "truth"}):
        assert request_digest("m", replace(request, **same)) == request_digest("m", request)


def test_a_new_decoder_scores_the_kept_answers_again_and_asks_no_model(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    arguments = {"tasks": kit.task(toys, n=4), "model": kit.model(toys)}
    first = kit.run(toys, **arguments)
    written = (kit.run_folder(toys, first) / "predictions.jsonl").read_bytes()
    kit.asked()
    monkeypatch.setattr(toybench.parts.Number, "version", 2)
    decode = toybench.parts.Number.decode

    def one_more(self: Any, answer: Any, scene: Any) -> Any:
        return vgen_eval.Prediction(value=decode(self, answer, scene).value + 1)

    monkeypatch.setattr(toybench.parts.Number, "decode", one_more)
    second = kit.run(toys, **arguments)
    assert kit.asked() == []
    assert second.run == first.run
    assert (kit.run_folder(toys, first) / "predictions.jsonl").read_bytes() == written
    assert (first.score().value, second.score().value) == (0.0, 1.0)
    assert len(list((kit.run_folder(toys, first) / "scores").glob("*.jsonl"))) == 2


def test_nothing_that_cannot_change_an_answer_makes_another_run(toys: Path) -> None:
    task = kit.task(toys)
    base = {"tasks": (task,), "models": (kit.model(toys),)}
    job = job_of(toys, base)
    priced = kit.model(toys, card={"price": {"per_image_usd": 0.04}, "title": "The same"})
    for same in (
        job_of(toys, {**base, "models": (priced,)}),
        job_of(toys, base, workers=7, batch_size=3, device="cpu", keep="none"),
        job_of(toys, base, limit=6),
        job_of(toys, base, limit=600),
    ):
        assert same.run_id == job.run_id
    assert job_of(toys, base, limit=5).run_id != job.run_id
    assert job_of(toys, base, attempts=2).run_id != job.run_id
    assert job_of(toys, base, set={"protocol.failure_options.number": 3.0}).run_id != job.run_id
