"""Judged answers: asked once, kept, replayed on resume and re-score, paid apart, never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kit
import pytest
from vgen_eval.engine.evaluate import evaluate
from vgen_eval.engine.rescore import rescore
from vgen_eval.errors import BrokenPlugin, CardError, NotRunnable, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.card import ResultCard

HONEST = [
    {"question": "vote/*", "words": f"said in '{number}.0'", "reply": str(number)}
    for number in range(10)
]


def judged_task(folder: Path, *, clerk: str = "clerk", name: str = "judged", **options: Any) -> str:
    answer = {
        **kit.PROTOCOL["answers"][0],  # type: ignore[index]
        "judge": {"name": "toybench:votes", "model": "scripted", "options": options},
    }
    return kit.task(folder, name=name, protocol={"answers": [answer]}, n=4)


def clerk(folder: Path, rules: list[dict[str, Any]], *, name: str = "clerk", **card: Any) -> str:
    """The card of a scripted judge."""
    path = folder / f"{name}.yaml"
    record = {
        "model": name, "adapter": "scripted", "role": "judge", "answers": ["text"],
        "licence": "CC0-1.0", "options": {"rules": rules}, **card,
    }  # fmt: skip
    path.write_text(json.dumps(record))
    return str(path)


def run(folder: Path, rules: list[dict[str, Any]], *, judge: Any = None, **more: Any) -> ResultCard:
    options = more.pop("options", {})
    return kit.run(
        folder, tasks=judged_task(folder, **options), model=kit.model(folder),
        judge=clerk(folder, rules, **(judge or {})), **more,
    )  # fmt: skip


def transcript(folder: Path, card: ResultCard) -> list[dict[str, Any]]:
    """Every reply, by sample: attempts are judged side by side."""
    found = kit.lines(kit.run_folder(folder, card) / "judgements.jsonl")
    return sorted(found, key=lambda line: line["sample"])


def scores(folder: Path, card: ResultCard) -> list[dict[str, Any]]:
    return sorted(kit.scores(folder, card), key=lambda line: line["sample"])


def test_a_judge_measures_what_the_decoder_gives_and_every_reply_is_written_down(toys):
    card = run(toys, HONEST)
    assert card.complete
    assert card.score().value == 0.0
    replies = transcript(toys, card)
    assert len(replies) == 4 * 3
    first = replies[0]
    assert first["question"] == "vote/0"
    assert first["round"] == 0
    assert first["reply"] == "0"
    assert first["asked"][0] == "What number is said in '0.0'?"
    assert set(first["asked"][1]) == {"image", "size"}
    score = scores(toys, card)[0]
    assert score["flags"] == ["round", "judged"]
    assert score["prediction"] == {"answer": {"number": 0.0}, "votes": [0.0, 0.0, 0.0]}


def test_the_result_card_says_who_judged_how_and_what_it_took(toys):
    card = run(toys, HONEST)
    judge = card.protocol_info["judge"]
    assert judge["name"] == "toybench:votes"
    assert judge["options"] == {"rounds": 3, "re_asks": 1, "doubt": False, "behaviour": ""}
    assert judge["model"] == "local:clerk"
    assert judge["role"] == "judge"
    assert len(judge["prompts"]) == 64
    assert card.volatile["judge"]["calls"] == 12
    assert card.volatile["calls"] == 4


def test_the_majority_of_rounds_decides_and_an_unreadable_reply_is_asked_for_again(toys):
    rules = [
        {"question": "vote/1", "reply": "hm"},
        {"question": "vote/1?1", "reply": "9"},
        {"question": "vote/2", "reply": None},
        *HONEST,
    ]
    card = run(toys, rules, options={"rounds": 3})
    by_question = {(r["sample"], r["question"]): r for r in transcript(toys, card)}
    assert by_question["s003", "vote/2"]["reason"] == "no words"
    assert ("s003", "vote/2?1") in by_question
    assert scores(toys, card)[3]["prediction"]["votes"] == [3.0, 9.0, 3.0]


def test_a_judge_that_cannot_be_read_is_no_score_and_an_incomplete_card(toys):
    card = run(toys, [{"sample": "s002", "reply": "I cannot say"}, *HONEST])
    assert not card.complete
    assert card.counts.statuses["judge_error"] == 1
    assert card.counts.infrastructure == 1
    assert card.score().value == 0.0
    assert card.score().n == 3
    assert scores(toys, card)[2]["reason"] == "no vote can be read"


def test_a_call_that_fails_is_asked_again_by_the_next_run_and_nothing_else_is(toys):
    some = [rule for rule in HONEST if "'3.0'" not in str(rule["words"])]
    card = run(toys, some)
    assert card.counts.statuses["judge_error"] == 1
    assert "no rule replies to sample 's003'" in scores(toys, card)[3]["reason"]
    before = transcript(toys, card)
    kit.asked()
    again = run(toys, some)
    assert transcript(toys, again) == before
    assert kit.asked() == []


def test_an_unreadable_judge_is_asked_anew_when_that_is_wanted(toys):
    rules = [{"sample": "s002", "reply": "hm"}, *HONEST]
    first = run(toys, rules)
    count = len(transcript(toys, first))
    assert len(transcript(toys, run(toys, rules))) == count
    run(toys, rules, retry_failed=("judge_error",))
    assert len(transcript(toys, first)) == count + 6


def test_the_same_command_asks_nothing_again(toys):
    first = run(toys, HONEST)
    lines = transcript(toys, first)
    kit.asked()
    second = run(toys, HONEST)
    assert second.content_digest == first.content_digest
    assert transcript(toys, second) == lines
    assert kit.asked() == []


def test_scores_are_made_again_from_the_transcript_alone(toys):
    first = run(toys, HONEST)
    lines = transcript(toys, first)
    card = rescore(kit.run_folder(toys, first), Catalog.discover())
    assert card is not None
    assert card.content_digest == first.content_digest
    assert transcript(toys, first) == lines


def test_a_judge_that_asks_something_new_leaves_the_scores_as_they_were(toys, monkeypatch):
    first = run(toys, HONEST)
    monkeypatch.setattr("toybench.jury.PROMPT", "Which number is {answer}?")
    before = scores(toys, first)
    with pytest.raises(NotRunnable, match="has no reply to what the judge asks today"):
        rescore(kit.run_folder(toys, first), Catalog.discover())
    assert scores(toys, first) == before


def test_another_judge_makes_another_run_from_the_same_answers(toys):
    first = run(toys, HONEST)
    kit.asked()
    second = run(toys, [{"question": "vote/*", "reply": "7"}])
    assert second.run != first.run
    assert second.score().value == 5.5
    assert kit.asked() == []


def test_a_judge_without_its_key_ends_the_run_before_anything_is_generated(toys, monkeypatch):
    monkeypatch.delenv("CLERK_KEY", raising=False)
    with pytest.raises(NotRunnable, match="its judge, clerk: CLERK_KEY is not set"):
        run(toys, HONEST, judge={"needs": {"key_env": "CLERK_KEY"}})
    assert kit.asked() == []


def test_a_judge_that_is_not_there_ends_the_run_before_anything_is_generated(toys):
    with pytest.raises(UsageError, match="judge 'nobody': no model 'nobody'"):
        kit.run(toys, tasks=judged_task(toys), model=kit.model(toys), judge="nobody")
    assert kit.asked() == []


def test_a_judge_has_to_write(toys):
    path = clerk(toys, HONEST, answers=["image"])
    with pytest.raises(UsageError, match="gives no words of its own"):
        kit.run(toys, tasks=judged_task(toys), model=kit.model(toys), judge=path)


def test_settings_of_the_judge_are_set_apart_from_those_of_the_model(toys):
    card = run(toys, HONEST, set={"judge.generation.temperature": 0, "generation.seed": 3})
    assert card.protocol_info["judge"]["generation"] == {"temperature": 0}
    assert card.model_info["generation"] == {"seed": 3}


def test_no_ceiling_runs_beside_a_judged_answer_but_it_may_be_asked_for(toys):
    results = evaluate(
        tasks=judged_task(toys), models=[kit.model(toys), "oracle"], output=str(toys / "out"),
        judge=clerk(toys, HONEST),
    )  # fmt: skip
    assert [card.ceiling for card in results] == [None, None]
    assert [card.score().value for card in results] == [0.0, 0.0]


def test_a_failure_of_the_model_is_scored_without_asking_the_judge(toys):
    path = kit.model(toys, nothing=["s001"])
    card = kit.run(toys, tasks=judged_task(toys), model=path, judge=clerk(toys, HONEST))
    assert card.complete
    assert card.counts.statuses["no_answer"] == 1
    assert "s001" not in {line["sample"] for line in transcript(toys, card)}
    assert scores(toys, card)[1]["substitute"] is True


def test_among_all_tasks_one_whose_judge_has_no_key_is_skipped_with_the_reason(toys, monkeypatch):
    monkeypatch.delenv("CLERK_KEY", raising=False)
    judge = clerk(toys, HONEST, needs={"key_env": "CLERK_KEY"})
    results = evaluate(
        tasks=["samples/*"], model=lambda request: "3", forms=["text"], model_name="teller",
        judge=judge, output=str(toys / "out"), limit=1, bounds=False,
    )  # fmt: skip
    assert "samples/counting" in {card.task for card in results}
    (skip,) = [skip for skip in results.skipped if skip.task.startswith("samples/description")]
    assert "its judge, clerk: CLERK_KEY is not set" in skip.reason
    assert not skip.exact
    assert results.exit_code() == 0


def test_a_reply_that_was_changed_is_taken_as_missing(toys, caplog):
    first = run(toys, HONEST)
    path = kit.run_folder(toys, first) / "judgements.jsonl"
    path.write_text(path.read_text().replace('"reply":"2"', '"reply":"9"'))
    with pytest.raises(NotRunnable, match="has no reply to what the judge asks today"):
        rescore(kit.run_folder(toys, first), Catalog.discover())
    assert "a reply that was changed is taken as missing: s002, vote/0" in caplog.text
    (kit.run_folder(toys, first) / "scores").rename(toys / "away")
    again = run(toys, HONEST)
    assert again.score().value == 0.0
    assert again.content_digest == first.content_digest


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("raise", "the judge raised ZeroDivisionError"),
        ("exit", "the judge raised SystemExit"),
        ("nothing", "the judge gave NoneType, no Prediction"),
        ("twice", "the judge asks 'vote/0' twice"),
        ("forever", "the judge does not end: 0 questions"),
        ("recursion", "the judge raised RecursionError"),
    ],
)
def test_whatever_a_way_of_judging_does_costs_its_attempt_alone(toys, behaviour, reason):
    card = run(toys, HONEST, options={"behaviour": behaviour})
    assert card.counts.statuses == {"judge_error": 1, "ok": 3}
    assert scores(toys, card)[1]["reason"].startswith(reason)


def test_a_reply_nested_too_deeply_is_unreadable_and_asked_for_again(toys, monkeypatch):
    import toybench.jury

    plain = toybench.jury._number

    def deep(text: str) -> float:
        return deep(text) if text == "2" else plain(text)

    monkeypatch.setattr(toybench.jury, "_number", deep)
    card = run(toys, HONEST, options={"rounds": 1})
    assert card.counts.statuses == {"judge_error": 1, "ok": 3}
    assert len(transcript(toys, card)) == 5


def test_a_ceiling_judges_nothing(toys):
    with pytest.raises(UsageError, match="judge 'oracle' gives no words of its own"):
        kit.run(toys, tasks=judged_task(toys), model=kit.model(toys), judge="oracle")


def test_a_record_without_its_judge_is_damaged(toys):
    first = run(toys, HONEST)
    path = kit.run_folder(toys, first) / "run.json"
    record = json.loads(path.read_text())
    del record["judge"]
    path.write_text(json.dumps(record))
    with pytest.raises(NotRunnable, match="damaged: 'judge' is missing"):
        rescore(path.parent, Catalog.discover())


def test_prompts_that_are_no_mapping_are_the_plugins_fault(toys, monkeypatch):
    monkeypatch.setattr("toybench.jury.Votes.prompts", lambda self: ["vote"])
    with pytest.raises(BrokenPlugin, match="prompts\\(\\) gives name -> text, list seen"):
        run(toys, HONEST)


def test_the_card_for_people_names_the_judge(toys):
    card = run(toys, HONEST)
    text = (kit.run_folder(toys, card) / "result_card.md").read_text()
    assert "- judged by local:clerk: toybench:votes (rounds 3, re_asks 1, doubt False" in text
    assert "- ceiling: not run" not in text


def test_a_scripted_judge_is_its_rules_wherever_they_lie(toys):
    first = run(toys, HONEST)
    kit.asked()
    elsewhere = toys / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "rules.json").write_text(json.dumps(HONEST))
    path = clerk(elsewhere, [], options={"file": "rules.json"})
    again = kit.run(toys, tasks=judged_task(toys), model=kit.model(toys), judge=path)
    assert again.run == first.run


def test_a_judge_that_cannot_go_on_is_named_and_so_is_what_mends_it(toys, monkeypatch):
    from vgen_eval_plugins.models.scripted import Scripted

    def gone(self: Scripted, requests: Any) -> Any:
        raise NotRunnable("nobody answers", cure="start it, or name another: -M base_url=...")

    monkeypatch.setattr(Scripted, "generate", gone)
    with pytest.raises(NotRunnable, match="judge clerk: nobody answers") as caught:
        run(toys, HONEST)
    assert caught.value.cure == "start it, or name another: --set judge.options.base_url=..."


def test_a_sample_whose_name_has_brackets_is_meant_by_its_name():
    from vgen_eval.types import Request
    from vgen_eval_plugins.models.scripted import Rule, Scripted, ScriptedOptions

    rules = (
        Rule(reply="1", sample="img [1].png"),
        Rule(reply="2", question="vote/[01]"),
        Rule(reply="3", sample="img*"),
    )
    model = Scripted(ScriptedOptions(rules=rules))
    asked = [
        Request(
            id=sample, sample=sample, attempt=0, family="f", form="text", prompt="", images=(),
            fields={"question": question},
        )
        for sample, question in (("img [1].png", "vote/2"), ("x", "vote/1"), ("img 2", "vote/2"))
    ]  # fmt: skip
    assert [output.answer for output in model.generate(asked)] == ["1", "2", "3"]


def test_a_rule_that_is_no_pattern_is_told_with_its_card_before_anything_is_asked(toys):
    with pytest.raises(CardError, match=r"clerk: options\.rules\[0\]: words 'a\('"):
        run(toys, [{"reply": "1", "words": "a("}])
    assert not kit.asked()


def test_a_judge_that_nothing_asks_for_is_told(toys):
    from vgen_eval.engine.plan import make_plan
    from vgen_eval.engine.settings import Settings

    plain = kit.task(toys)
    asked = Settings(
        tasks=(plain,), models=(kit.model(toys),), judge=clerk(toys, HONEST), output=str(toys)
    )
    plan = make_plan(asked, Catalog.discover())
    assert "no answer of these runs is judged: --judge has nothing to do" in plan.notices
