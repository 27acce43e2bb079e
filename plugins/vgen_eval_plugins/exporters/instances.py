"""The lines of an Every Eval Ever record: one for each attempt that has a number of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from vgen_eval import jsonio
from vgen_eval.exporting import Attempt, KeptRun
from vgen_eval.prompting import fill, placeholders
from vgen_eval.secrets import redact
from vgen_eval.types import Value

from vgen_eval_plugins.exporters.correctness import Rule, rule_of
from vgen_eval_plugins.exporters.naming import details, scrub, text_of
from vgen_eval_plugins.exporters.record_parts import SCHEMA, evaluation_name, result_id

__all__ = ["Instances"]


UNFILLED = "the prompt's template: the run does not keep what stood for {}"


class Instances:
    """The lines of one run, by its primary metric."""

    def __init__(
        self, run: KeptRun, record: Mapping[str, Any], *, name: str, threshold: float | None
    ) -> None:
        self._run = run
        self._primary: Value = next(v for v in run.values if v.name == run.card.primary)
        self._rule: Rule = rule_of(self._primary, threshold)
        score = run.card.score()
        self._head = {
            "schema_version": SCHEMA,
            "evaluation_id": record["evaluation_id"],
            "model_id": record["model_info"]["id"],
            "evaluation_name": evaluation_name(run.card, score),
            "evaluation_result_id": result_id(name, score),
        }
        template = run.card.protocol_info.get("prompt_text") or ""
        self._fields = sorted(placeholders(template))
        self._prompt = scrub(template if self._fields else fill(template, {}))
        self.count = 0
        """Lines written so far."""
        self.without = 0
        """Attempts that have no number, passed over so far."""

    def any(self) -> bool:
        """Is there a line at all?"""
        return any(self._number(attempt) is not None for attempt in self._run.attempts())

    def parts(self) -> Iterator[bytes]:
        """The lines, each with its newline."""
        for attempt in self._run.attempts():
            number = self._number(attempt)
            if number is None:
                self.without += 1
                continue
            self.count += 1
            yield jsonio.dumps(self._line(attempt, number)) + b"\n"

    def _number(self, attempt: Attempt) -> float | None:
        return attempt.values.get(self._primary.of)

    def _line(self, attempt: Attempt, number: float) -> dict[str, Any]:
        card, item = self._run.card, attempt.item
        pictures = [f"sha256:{digest}" for digest in attempt.seen]
        data = str(card.dataset_info.get("fingerprint", ""))[:16]
        asked = "\n".join([*pictures, self._prompt])
        truth = f"truth of {card.task}#{item.id} in data {data}"
        line = {
            **self._head,
            "sample_id": item.id,
            "sample_hash": hashlib.sha256(f"{asked}{truth}".encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {"raw": asked, "reference": [truth]},
            "output": self._output(attempt),
            "answer_attribution": [self._attribution(attempt)],
            "evaluation": {
                "score": number,
                "is_correct": not attempt.substitute and self._rule.holds(number),
            },
            "performance": _performance(attempt.took),
            "metadata": self._metadata(attempt),
        }
        if attempt.status != "ok":
            reason = f": {scrub(attempt.reason)}" if attempt.reason else ""
            line["error"] = f"{attempt.status}{reason}"
        usage = _token_usage(attempt.took)
        return line | {"token_usage": usage} if usage else line

    def _output(self, attempt: Attempt) -> dict[str, Any]:
        """The answer itself where it is text, else its digest, and the file that holds it."""
        answer, thinking = attempt.answer, attempt.took.get("thinking")
        raw = []
        if answer is not None and "value" in answer:
            raw = [redact(text_of(answer["value"]))]
        elif answer is not None:
            raw = [f"sha256:{answer['sha256']}" + (f" {attempt.kept}" if attempt.kept else "")]
        traces = {"reasoning_trace": [redact(thinking)]} if isinstance(thinking, str) else {}
        return {"raw": raw, **traces}

    def _attribution(self, attempt: Attempt) -> dict[str, Any]:
        protocol = self._run.card.protocol_info
        part = protocol.get("failure_value") if attempt.substitute else protocol.get("decoder")
        method = part if isinstance(part, Mapping) else {"name": part or "unknown"}
        version = f" version {method['version']}" if "version" in method else ""
        what = "failure value" if attempt.substitute else "decoder"
        return {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": text_of(scrub(attempt.prediction)),
            "extraction_method": f"{what} {method['name']}{version}",
            "is_terminal": True,
        }

    def _metadata(self, attempt: Attempt) -> dict[str, str]:
        answer = attempt.answer
        media = None
        if answer is not None and "file" in answer:
            media = {**answer, "file": attempt.kept, "form": self._run.card.answer}
        return details(
            {
                "group": attempt.item.group,
                "attempt": attempt.attempt,
                "status": attempt.status,
                "flags": " ".join(attempt.flags) or None,
                "scored_as_failure": attempt.substitute,
                "is_correct_rule": self._rule.text,
                "input_raw": UNFILLED.format(", ".join(self._fields)) if self._fields else None,
                "media": media,
                "values": dict(attempt.values),
                **{f"tag.{name}": text for name, text in attempt.item.tags.items()},
            }
        )


def _performance(took: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds of the call as milliseconds, where it was a call of one request."""
    seconds = took.get("seconds")
    alone = took.get("batch", 1) == 1 and "cached" not in took
    told = {"tries": took.get("tries"), "cost_usd": took.get("cost_usd")}
    performance: dict[str, Any] = {"additional_details": details(told)}
    if isinstance(seconds, (int, float)) and alone:
        performance["latency_ms"] = 1000.0 * seconds
    return performance


def _token_usage(took: Mapping[str, Any]) -> dict[str, int] | None:
    """Tokens read and written; None unless the service told both."""
    read, written = took.get("input_tokens"), took.get("output_tokens")
    if not isinstance(read, int) or not isinstance(written, int):
        return None
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    more = {
        "input_tokens_cache_read": took.get("cached_tokens"),
        "input_tokens_cache_write": took.get("cache_write_tokens"),
        "reasoning_tokens": took.get("thinking_tokens"),
    }
    return usage | {key: count for key, count in more.items() if isinstance(count, int)}
