"""Drafts of tasks about looks: scores, questions with options, questions with free answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.drafts import Draft, DraftRequest, FaultyData
from vgen_eval.errors import Problem, UsageError

from vgen_eval_plugins.files import Folder
from vgen_eval_plugins.manifest.draft import find_images
from vgen_eval_plugins.manifest.finding import Found
from vgen_eval_plugins.manifest.quality_cells import (
    COLUMNS,
    Fault,
    find_option_columns,
    number_in,
    read_options,
    read_text,
    read_texts,
)
from vgen_eval_plugins.manifest.questions import faults_of_choice, find_right
from vgen_eval_plugins.manifest.row_files import Once, find_table, look_up, names_of
from vgen_eval_plugins.manifest.tables import choose_columns, read_rows
from vgen_eval_plugins.quality.perception.targets import letter_options

__all__ = ["draft_quality"]

MOST_PROBLEMS = 1000
CURE = (
    "a CSV or JSONL file has a row a picture, with the columns id,score - or a row a question: "
    "id,question,A,B,answer or, without options, id,question,answer"
)


class _Kind(msgspec.Struct, frozen=True):
    """One kind of truth about looks."""

    target: str
    like: str
    """The task whose protocols fit."""
    columns: tuple[str, ...]
    fields: tuple[str, ...] = ()
    """What prompts may name."""


KINDS: Mapping[str, _Kind] = {
    "quality": _Kind("score", "samples/quality", ("score",)),
    "option": _Kind(
        "choice", "samples/perception", ("question", "options", "answer"), ("question", "options")
    ),
    "answer": _Kind("answer", "samples/answers", ("question", "answer"), ("question",)),
}
"""What metrics measure -> the kind."""


def draft_quality(request: DraftRequest, folder: Folder) -> Draft:
    """Scores or questions from a table; UsageError, or FaultyData with every faulty row."""
    images, guessed, refused = find_images(request, folder)
    path = find_table(request, folder, guessed)
    if path is None:
        raise UsageError(
            f"{folder.path} has no table of scores or questions", cure=f"--queries FILE: {CURE}"
        )
    sheet = _Sheet(path, said=request.hints.get("query"))
    kind = KINDS[sheet.find_kind(request.measures)]
    rows = _Rows(images, sheet, kind)
    for number, row in sheet.rows:
        rows.add(number, row)
    left_out = (*refused, *rows.left_out, *rows.without_row())
    if rows.problems:
        raise FaultyData(rows.problems, left_out)
    draft = Draft(
        options={"target": kind.target},
        lines=tuple(rows.lines),
        like=kind.like,
        fields=kind.fields,
        guessed=(*guessed, *sheet.unused),
        left_out=left_out,
    )
    if kind.target != "score" or not rows.lines:
        return draft
    return _scored(draft, sheet.columns["score"], is_low=bool(request.hints.get("lower_is_better")))


def _scored(draft: Draft, column: str, *, is_low: bool) -> Draft:
    """The draft with what its scores are, and what looks odd about them."""
    scores = [line["score"] for line in draft.lines]
    better = "lower" if is_low else "higher"
    told = f"scores: column '{column}', {min(scores):g} to {max(scores):g}, {better} is better"
    doubts = []
    if column.strip().lower() == "dmos" and not is_low:
        doubts.append("is a higher DMOS better here? Where it is worse: --lower-is-better")
    if len(set(scores)) == 1:
        doubts.append(f"all scores are {scores[0]:g}: nothing can be ranked")
    return msgspec.structs.replace(
        draft,
        options={**draft.options, **({"score": {"better": "low"}} if is_low else {})},
        guessed=(*draft.guessed, told),
        doubts=tuple(doubts),
    )


class _Sheet:
    """A table, and which of its columns says what."""

    def __init__(self, path: Path, *, said: str | None) -> None:
        """`said`: the question of every row that has none."""
        self.path = path
        self.said = said
        self.rows = read_rows(path)
        self.columns, unused = choose_columns(path, self.rows, COLUMNS)
        self.letters = () if "options" in self.columns else find_option_columns(unused)
        left = [column for column in unused if column not in self.letters]
        self.unused = [f"columns of {path.name} passed over: {', '.join(left)}"] if left else []

    def find_kind(self, measures: str | None) -> str:
        """The kind that protocols measure, else the one that the columns tell; UsageError."""
        if measures is not None:
            if measures not in KINDS:
                raise UsageError(
                    f"no draft of a truth can be made that is a {measures}",
                    cure=f"--like {' or '.join(kind.like for kind in KINDS.values())}",
                )
            self._refuse_without(KINDS[measures].columns)
            return measures
        asks = "options" if self._has("options") else "answer"
        found = [name for name, told in (
            ("quality", self._has("score")),
            ("option", asks == "options"),
            ("answer", asks == "answer" and self._has("question") and self._has("answer")),
        ) if told]  # fmt: skip
        if len(found) > 1:
            raise UsageError(
                f"{self.path} has scores and questions: which are meant?",
                cure=" or ".join(f"--like {KINDS[name].like}" for name in found),
            )
        if not found:
            seen = dict.fromkeys(key for _, row in self.rows for key in row)
            raise UsageError(
                f"{self.path} has neither scores nor questions with answers; its columns are: "
                f"{', '.join(seen)}",
                cure=CURE,
            )
        self._refuse_without(KINDS[found[0]].columns)
        return found[0]

    def _has(self, column: str) -> bool:
        if column == "options" and self.letters:
            return True
        return column in self.columns or (column == "question" and self.said is not None)

    def _refuse_without(self, columns: Sequence[str]) -> None:
        missing = [f"'{column}'" for column in columns if not self._has(column)]
        if missing:
            raise UsageError(f"{self.path}: no column {' and no column '.join(missing)}", cure=CURE)

    def cell(self, row: Mapping[str, Any], column: str) -> Any:
        """What a row has in a column of ours; None for nothing."""
        value = row.get(self.columns[column]) if column in self.columns else None
        return None if isinstance(value, str) and not value.strip() else value

    def options(self, row: Mapping[str, Any]) -> list[str]:
        """The options of a row; Fault for what are none."""
        if self.letters:
            return read_options([row.get(letter) for letter in self.letters], names=self.letters)
        value = self.cell(row, "options")
        return [] if value is None else read_texts("options", value)


class _Rows:
    """Makes lines of rows: finds each row's picture, and notes every fault."""

    def __init__(self, images: Found, sheet: _Sheet, kind: _Kind) -> None:
        self._images = images
        self._by_name = names_of(images)
        self._sheet = sheet
        self._kind = kind
        self._once = Once()
        self._first: dict[str, int] = {}
        self.lines: list[dict[str, Any]] = []
        self.left_out: list[str] = []
        self.problems: list[Problem] = []

    def add(self, number: int, row: Mapping[str, Any]) -> None:
        """A line of the row, or the reason why there is none."""
        where = f"{self._sheet.path.name}:{number}"
        try:
            names = {
                key: read_text(key, value)
                for key in ("image", "id", "group")
                if (value := self._sheet.cell(row, key)) is not None
            }
        except Fault as exc:
            self._note(number, exc)
            return
        name = names.get("image") or names.get("id") or ""
        image = look_up(self._by_name, name)
        if image is None:
            self.left_out.append(f"{where}: no picture '{name}'")
            return
        twice = self._first.setdefault(image, number)
        wanted = "score" if self._kind.target == "score" else "answer"
        if self._sheet.cell(row, wanted) is None:
            self.left_out.append(f"{where}: no {wanted} for '{name}'")
            return
        try:
            truth = self._truths[self._kind.target](self, row)
            if self._kind.target == "score" and twice != number:
                raise Fault("image", f"the picture '{image}' has a score in line {twice} too")
        except Fault as exc:
            self._note(number, exc)
            return
        stem = self._images.stem(image)
        line = {"id": self._once(names.get("id", stem)), "group": names.get("group", stem)}
        self.lines.append({**line, "image": image, **truth})

    def _score(self, row: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {"score": number_in("score", self._sheet.cell(row, "score"))}
        part = self._sheet.cell(row, "part")
        return made if part is None else {**made, "part": read_text("part", part)}

    def _choice(self, row: Mapping[str, Any]) -> dict[str, Any]:
        question, options = self._question(row), self._sheet.options(row)
        answer = read_text("answer", self._sheet.cell(row, "answer"))
        for field, what in faults_of_choice(options, answer, needed=True):
            raise Fault("answer" if field == "choice" else field, what)
        right = find_right(answer, options) or ""
        # by its text: a letter may be the text of another option
        text = letter_options(options)[right]
        return {"question": question, "options": options, "choice": text}

    def _answer(self, row: Mapping[str, Any]) -> dict[str, Any]:
        question = self._question(row)
        texts = read_texts("answer", self._sheet.cell(row, "answer"))
        return {"question": question, "answer": texts if len(texts) > 1 else texts[0]}

    def _question(self, row: Mapping[str, Any]) -> str:
        value = self._sheet.cell(row, "question")
        if value is None and self._sheet.said is None:
            raise Fault("question", 'no question; --query "text" is one for all')
        return self._sheet.said or "" if value is None else read_text("question", value)

    _truths: Mapping[str, Callable[[_Rows, Mapping[str, Any]], dict[str, Any]]] = {
        "score": _score, "choice": _choice, "answer": _answer,
    }  # fmt: skip

    def _note(self, number: int, fault: Fault) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            column = self._sheet.columns.get(fault.column, fault.column)
            problem = Problem(fault.what, file=str(self._sheet.path), line=number, path=column)
            self.problems.append(problem)

    def without_row(self) -> list[str]:
        """Pictures that no row is about."""
        table = self._sheet.path.name
        return [f"{n}: no row in {table}" for n in self._images.names if n not in self._first]
