"""A run's scores by the tags of its samples, also by those that all its samples share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import Score
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.axes import ALL
from vgen_eval.store.run import RunStore

__all__ = ["Tagged", "no_tag", "read_tagged", "tags_to_show"]


class Tagged(msgspec.Struct, frozen=True):
    """What is known of the tags of one run's samples."""

    subsets: Mapping[str, str]
    """tag=value -> tag, of all subsets that the card has but that of all samples."""
    shared: Mapping[str, str]
    """tag -> value, of each tag that is the same on all samples: cards have no subset of it."""

    def scores(self, scores: Iterable[Score], tags: Sequence[str]) -> list[Score]:
        """Those of all samples and of the subsets of these tags.

        One over all samples is that of each tag that all of them share, too.
        """
        found = []
        for score in scores:
            if score.subset == ALL:
                found.append(score)
                found += [
                    msgspec.structs.replace(score, subset=f"{tag}={self.shared[tag]}")
                    for tag in tags
                    if tag in self.shared
                ]
            elif self.subsets.get(score.subset) in tags:
                found.append(score)
        return found

    def has(self, tags: Sequence[str]) -> bool:
        """Has any of its samples any of these tags?"""
        return any(tag in self.shared or tag in self.subsets.values() for tag in tags)


def read_tagged(run: Run) -> Tagged:
    """From the card, and the samples as the run wrote them down; without these the card alone."""
    items = RunStore(run.path).samples() or ()
    contents: dict[str, list[str]] = {}
    for item in items:
        for tag, content in item.tags.items():
            contents.setdefault(tag, []).append(content)
    subsets = dict.fromkeys(s.subset for s in run.card.scores if s.subset != ALL)
    longest = sorted(contents, key=len, reverse=True)
    return Tagged(
        subsets={subset: _tag_of(subset, longest) for subset in subsets},
        shared={
            tag: values[0]
            for tag, values in contents.items()
            if len(values) == len(items) and len(set(values)) == 1
        },
    )


def _tag_of(subset: str, longest_first: Iterable[str]) -> str:
    """The tag of tag=value: a known one, as both may have a = in them, else what is before it."""
    known = (tag for tag in longest_first if subset.startswith(f"{tag}="))
    return next(known, subset.partition("=")[0])


def tags_to_show(tagged: Iterable[Tagged], wanted: str | None) -> list[str]:
    """The tag that is wanted; of None those with subsets, or those shared where there are none."""
    if wanted is not None:
        return [wanted]
    tagged = list(tagged)
    subsets = dict.fromkeys(tag for one in tagged for tag in one.subsets.values())
    return list(subsets or dict.fromkeys(tag for one in tagged for tag in one.shared))


def no_tag(tagged: Iterable[Tagged], wanted: str) -> UsageError:
    """Why there is nothing to show by that tag, with the nearest that there is."""
    known = sorted({tag for one in tagged for tag in (*one.subsets.values(), *one.shared)})
    if not known:
        return UsageError("no run here has samples with tags", cure="lay the table out by task")
    return UsageError(
        f"no run here has the tag '{wanted}'.{nearest(wanted, known)}",
        cure=f"they have: {', '.join(known)}",
    )
