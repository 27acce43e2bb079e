"""VGI-Bench: first frames, one prompt a task, rubrics, and a user's own solutions."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from vgen_eval.errors import BadSample, MissingData, VgenEvalError, nearest
from vgen_eval.imaging import Image
from vgen_eval.types import Item, Sample
from vgen_eval.video import load_av

from vgen_eval_plugins.datasets.release import parse_json
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample
from vgen_eval_plugins.datasets.vgi_rubrics import Rubric, find_rubric, parse_rubrics
from vgen_eval_plugins.video.vgi.records import VgiTruth
from vgen_eval_plugins.video.vgi.tasks import IMAGE_TASKS, LEVELS, TASKS, Task

__all__ = ["VgiBench", "VgiEntry", "choose_half"]

SUFFIX = {"image": "png", "text": "txt"}
"""Of a solution's file."""
_NAMES_OF_GT = {
    (False, False): "none", (True, False): "image", (False, True): "text", (True, True): "both",
}  # fmt: skip
"""By whether there is a picture, and whether there are words."""
ORACLE = "{prompt}\n\nThe right solution, to be shown: {answer}"


class VgiEntry(Entry, frozen=True):
    """An instance."""

    task: str = ""
    level: str = ""
    """lv1, lv2, lv3."""
    number: str = ""
    """As in its name: 001."""


class VgiBench(ReleaseReader[VgiEntry]):
    """`bench_data/<task>/`: `input_image/lvN/<task>_lvN_NNN.png`, `prompt/`, `judge_spec/`.

    Ids are the pictures' names. Fields that a prompt may name: `prompt`, the task's own; `answer`,
    the rubric's, empty where it has none; `oracle`, the prompt with the answer where there is one
    (tag `answer: yes`), else the prompt alone. Where solutions are wanted, tag `gt` says which of
    them the judge is shown of an instance. A task without a rubric file is judged by its
    prompt.
    """

    title = "VGI-Bench"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which instances, and what their judge is told."""

        output: Annotated[
            Literal["video", "image"],
            msgspec.Meta(description="image: the 16 tasks that a last picture answers."),
        ] = "video"
        fraction: Annotated[
            Literal["half", "full"],
            msgspec.Meta(description="half: of each task and level half of the instances."),
        ] = "full"
        seed: Annotated[
            int, msgspec.Meta(description="Which half: the paper's seed is not published.", ge=0)
        ] = 42
        tasks: Annotated[
            tuple[str, ...], msgspec.Meta(description="Only these; none: all of them.")
        ] = ()
        gt: Annotated[
            Literal["none", "image", "text", "both"],
            msgspec.Meta(
                description="Solutions for the judge, of the tasks that had them. They are not "
                "published: `gt_folder` has your own."
            ),
        ] = "none"
        gt_folder: Annotated[
            str,
            msgspec.Meta(
                description="Folder below the data set's: <task>/<id>.png and <task>/<id>.txt."
            ),
        ] = "gt"

        def __post_init__(self) -> None:
            for task in self.tasks:
                if task not in TASKS:
                    raise ValueError(f"no task '{task}'.{nearest(task, TASKS)}")
                if self.output == "image" and task not in IMAGE_TASKS:
                    raise ValueError(f"'{task}' is none of those that a picture answers")

    def __init__(self, options: Any, **where: Any) -> None:
        super().__init__(options, **where)
        self._rubrics: dict[str, Mapping[str, Any]] = {}

    def find_entries(self) -> Iterable[VgiEntry]:
        """By task, level and number; MissingData when a task's pictures are not there.

        MissingExtra where videos are wanted and none can be read.
        """
        if self.options.output == "video":
            load_av()
        entries = [entry for task in self._tasks for entry in self._find_instances(task)]
        if self.options.gt != "none" and all(e.item.tags["gt"] == "none" for e in entries):
            raise MissingData(
                f"{self.title}: {self._release.root / self.options.gt_folder} holds no solution of "
                "these tasks: <task>/<id>.png, <task>/<id>.txt",
                cure="set dataset option gt to none: solutions are not published",
            )
        if self.options.fraction == "full":
            return entries
        strata = defaultdict(list)
        for entry in entries:
            strata[entry.task, entry.level].append(entry.item.id)
        kept = {x for ids in strata.values() for x in choose_half(ids, self.options.seed)}
        return [entry for entry in entries if entry.item.id in kept]

    def read_entry(self, entry: VgiEntry) -> Sample:
        """First frame, prompt, and what the judge is told."""
        prompt = self._text(entry.files[1])
        if not prompt:
            raise BadSample(f"{self._release.root / entry.files[1]} is empty")
        rubric = self._rubric(entry)
        answer = "" if rubric is None else rubric.answer
        tiers = self._spec(entry.task, "_completeness_judge.txt")
        image, text = self._gt_files(entry.task, entry.item.id)
        truth = VgiTruth(
            task=entry.task,
            domain=TASKS[entry.task].domain,
            goal=prompt if rubric is None else rubric.goal,
            checklist=() if rubric is None else rubric.checklist,
            answer=answer,
            tiers=self._text(tiers) if self._release.has(tiers) else "",
            gt_text=self._text(text) if text else "",
            gt_image=Image(self._release.picture(image)) if image else None,
        )
        fields = {
            "prompt": prompt,
            "answer": answer,
            "oracle": ORACLE.format(prompt=prompt, answer=answer) if answer else prompt,
        }
        picture = self._release.picture(entry.files[0])
        return make_sample(entry.item, picture, truth, fields=fields)

    def mark_truth(self) -> str:
        """Of prompts, rubrics, tiers and solutions."""
        names = [name for entry in self._entries.values() for name in entry.files[1:]]
        for task in self._tasks:
            names += [
                self._spec(task.name, f"_judge_rubric_{task.name}.json"),
                self._spec(task.name, "_completeness_judge.txt"),
            ]
        return self._release.fingerprint(names)

    @property
    def _tasks(self) -> Sequence[Task]:
        known = IMAGE_TASKS if self.options.output == "image" else tuple(TASKS)
        chosen = [name for name in known if name in (self.options.tasks or known)]
        return [task for name, task in TASKS.items() if name in chosen]

    @property
    def _home(self) -> str:
        return "bench_data/" if self._release.has("bench_data") else ""

    def _spec(self, task: str, name: str) -> str:
        return f"{self._home}{task}/judge_spec/{name}"

    def _find_instances(self, task: Task) -> Iterator[VgiEntry]:
        folder = f"{self._home}{task.name}"
        found = self._release.scan(
            folder, f"input_image/lv[123]/{task.name}_lv[123]_*.png", told="input_image/lvN/*.png"
        )
        prompt = self._prompt_file(folder, task.name)
        pattern = re.compile(rf"{task.name}_(lv[123])_(\d+)\.png")
        for path in found:
            match = pattern.fullmatch(path.name)
            if match is None or match[1] != path.parent.name:
                continue
            name = f"{task.name}_{match[1]}_{match[2]}"
            entry = VgiEntry(
                item=Item(id=name, group=name),
                files=(
                    f"{folder}/input_image/{match[1]}/{path.name}", prompt,
                    *filter(None, self._gt_files(task.name, name)),
                ),
                task=task.name,
                level=match[1],
                number=match[2],
            )  # fmt: skip
            yield msgspec.structs.replace(
                entry, item=msgspec.structs.replace(entry.item, tags=self._tags(entry))
            )

    def _prompt_file(self, folder: str, task: str) -> str:
        kinds = ("image", "video") if self.options.output == "image" else ("video",)
        names = [f"{folder}/prompt/{kind}_gen_prompt/{task}.txt" for kind in kinds]
        return next((name for name in names if self._release.has(name)), names[-1])

    def _tags(self, entry: VgiEntry) -> Mapping[str, str]:
        task = TASKS[entry.task]
        level = LEVELS[entry.level]
        tags = {"task": task.name, "domain": task.domain, "level": level}
        tags["domain_level"] = f"{task.domain} {level}"  # as the paper tabulates
        tags.update(dict.fromkeys(task.skills, "yes"))
        try:
            rubric = self._rubric(entry)
        except VgenEvalError:  # told when the sample is loaded
            rubric = None
        if rubric is not None and rubric.answer:
            tags["answer"] = "yes"
        if self.options.gt != "none":
            image, text = self._gt_files(entry.task, entry.item.id)
            tags["gt"] = _NAMES_OF_GT[image is not None, text is not None]
        return tags

    def _gt_files(self, task: str, name: str) -> tuple[str | None, str | None]:
        """Picture and text of the solution: wanted, of a task that had them, and there."""
        wanted = self.options.gt
        shown = [kind for kind in TASKS[task].gt if wanted in (kind, "both")]
        stem = f"{self.options.gt_folder}/{task}/{name}"
        files = [f"{stem}.{SUFFIX[kind]}" if kind in shown else None for kind in SUFFIX]
        image, text = (name if name and self._release.has(name) else None for name in files)
        return image, text

    def _rubric(self, entry: VgiEntry) -> Rubric | None:
        """None: the task has no rubric file. BadSample: it has one, without this instance."""
        name = self._spec(entry.task, f"_judge_rubric_{entry.task}.json")
        if not self._release.has(name):
            return None
        try:
            entries = self._parsed(name)
            return find_rubric(entries, task=entry.task, level=entry.level, number=entry.number)
        except RecursionError:  # an entry's answer may be any JSON
            raise BadSample(f"{self._release.root / name}: it is nested too deep") from None
        except (ValueError, LookupError) as exc:
            raise BadSample(f"{self._release.root / name}: {exc}") from exc

    def _parsed(self, name: str) -> Mapping[str, Any]:
        if name not in self._rubrics:
            self._rubrics[name] = parse_json(self._release.read(name), parse_rubrics)
        return self._rubrics[name]

    def _text(self, name: str) -> str:
        try:
            return self._release.read(name).decode("utf-8-sig").strip()
        except UnicodeDecodeError as exc:
            raise BadSample(f"{self._release.root / name}: not UTF-8") from exc


def choose_half(ids: Sequence[str], seed: int) -> set[str]:
    """Half of them, rounded up: those whose digest with the seed comes first."""

    def rank(name: str) -> str:
        return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()

    return set(sorted(ids, key=rank)[: (len(ids) + 1) // 2])
