"""A task card made of a draft of somebody's data and another card's protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from vgen_eval.cards.digests import spelled
from vgen_eval.cards.scalars import resolve_plain
from vgen_eval.distributions import OWN, home_of
from vgen_eval.drafts import Draft
from vgen_eval.prompting import placeholders

if TYPE_CHECKING:
    from vgen_eval.engine.naming import TaskRef
    from vgen_eval.plugins import Catalog

__all__ = ["UNKNOWN", "component_home", "make_card", "write_yaml"]

UNKNOWN = "unknown: fill in"
"""What stands where a card must say something that nobody said."""

_OPTIONS = ("options", "encoder_options", "failure_options")


def make_card(
    like: TaskRef,
    draft: Draft,
    catalog: Catalog,
    *,
    name: str,
    reader: str,
    title: str,
    facts: Mapping[str, str],
) -> dict[str, Any]:
    """The card as plain data: `like`'s protocols over the draft's data.

    `facts`: licence, source, citation, as far as they are known.
    """
    protocols = {
        key: _home(spelled(body), like.distribution, catalog)
        for key, body in like.card.protocols.items()
    }
    defaults = _Defaults(like, catalog)
    for body in protocols.values():
        for answer in body["answers"]:
            form = answer["form"]
            if form in draft.prompts:
                answer["prompt"] = dict(draft.prompts[form])
            elif draft.fields is not None:
                _drop_prompts(answer, draft.fields, defaults)
            if form in draft.additions:
                known = defaults.of("decoder", answer)
                new = {k: v for k, v in draft.additions[form].items() if k in known}
                answer["options"] = {**new, **answer.get("options", {})}
        changed = _exchange(body, draft.exchanges, defaults) if draft.exchanges else {}
        if changed:
            said = ", ".join(f"{option} {value}" for option, value in changed.items())
            body["title"] = draft.exchanged_title or body.get("title", "")
            body["source"] = f"{body.get('source') or ''} Changed here: {said}.".lstrip()
    return {
        "task": name,
        "version": 1,
        "family": like.card.family,
        "title": title,
        "dataset": {
            "reader": reader,
            "options": dict(draft.options),
            "n": len(draft.lines),
            **{key: facts.get(key) or UNKNOWN for key in ("licence", "source", "citation")},
        },
        "default_protocol": like.protocol,
        "protocols": _replace(protocols, draft.replacements),
    }


def _replace(protocols: Any, replacements: Mapping[str, Any]) -> Any:
    """The protocols with the draft's values wherever a part has an option of that name."""
    if isinstance(protocols, list):
        return [_replace(entry, replacements) for entry in protocols]
    if not isinstance(protocols, dict):
        return protocols
    return {
        key: {name: replacements.get(name, value) for name, value in entry.items()}
        if key in _OPTIONS and isinstance(entry, dict)
        else _replace(entry, replacements)
        for key, entry in protocols.items()
    }


def _drop_prompts(answer: dict[str, Any], fields: Sequence[str], defaults: _Defaults) -> None:
    """Leaves out variants that name a field which the samples lack; never all of them."""
    if defaults.makes_fields(answer):
        return
    prompts = answer.get("prompt", {})
    kept = {name: text for name, text in prompts.items() if placeholders(text) <= set(fields)}
    if kept:
        answer["prompt"] = kept


def component_home(like: TaskRef) -> str:
    """The distribution that a card's plain names of components are looked up in first."""
    return home_of(like.distribution)


class _Defaults:
    """Options that decoders and encoders of a card have, with the values they have unsaid."""

    def __init__(self, like: TaskRef, catalog: Catalog) -> None:
        self._home = component_home(like)
        self._catalog = catalog

    def of(self, kind: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Option -> default of an answer's decoder or encoder."""
        options = self._find(kind, answer).Options
        return {field.name: field.default for field in msgspec.structs.fields(options)}

    def makes_fields(self, answer: Mapping[str, Any]) -> bool:
        """Do prompts have fields of the answer's decoder as well?"""
        return hasattr(self._find("decoder", answer), "fields")

    def _find(self, kind: str, answer: Mapping[str, Any]) -> Any:
        name = answer.get(kind) or answer["form"]
        return self._catalog.component(kind, name, home=self._home).obj


def _exchange(
    body: dict[str, Any], exchanges: Mapping[str, Mapping[Any, Any]], defaults: _Defaults
) -> dict[str, Any]:
    """Exchanges options of decoders and encoders in place; those that are new."""
    changed: dict[str, Any] = {}
    for answer in body["answers"]:
        for kind, key in (("decoder", "options"), ("encoder", "encoder_options")):
            given = answer.get(key, {})
            if kind == "encoder" and not given:
                continue  # it takes its decoder's
            has = defaults.of(kind, answer) | given
            new = {
                option: table[has[option]]
                for option, table in exchanges.items()
                if option in has and has[option] in table
            }
            if new:
                answer[key] = {**given, **new}
                changed |= new
    return changed


def _home(body: dict[str, Any], distribution: str, catalog: Catalog) -> dict[str, Any]:
    """A protocol with its parts named so that they mean the same in a card of nobody's."""
    if distribution in OWN:
        return body

    def qualified(kind: str, name: str) -> str:
        return catalog.component(kind, name, home=distribution).qualified

    for answer in body["answers"]:
        answer["decoder"] = qualified("decoder", answer.get("decoder") or answer["form"])
        if "encoder" in answer:
            answer["encoder"] = qualified("encoder", answer["encoder"])
    for metric in body["metrics"]:
        metric["name"] = qualified("metric", metric["name"])
    if body["failure_value"] != "skip":
        body["failure_value"] = qualified("decoder", body["failure_value"])
    return body


class _Dumper(yaml.SafeDumper):
    """Writes what our reader reads: no anchors, and quotes where YAML 1.2 sees no text."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _write_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    try:
        plain = resolve_plain(text) == text
    except ValueError:
        plain = False
    style = None if plain else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def write_yaml(card: Mapping[str, Any], *, head: str) -> str:
    """The card as YAML, under a comment of one line."""
    body = yaml.dump(dict(card), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return f"# {head}\n{body}"
