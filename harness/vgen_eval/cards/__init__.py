"""Cards: YAML files of tasks, models and suites, read into validated, frozen records.

Names are resolved when they are first used, so that a list of cards loads no more than it needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vgen_eval.cards.check import check_card
    from vgen_eval.cards.check_setting import check_setting
    from vgen_eval.cards.digests import card_digest, identity, identity_digest
    from vgen_eval.cards.heads import CardHead, read_head
    from vgen_eval.cards.load import LoadedCard, load_card
    from vgen_eval.cards.overrides import override, parse_setting
    from vgen_eval.cards.protocols import protocol
    from vgen_eval.cards.schema import json_schema
    from vgen_eval.cards.walk import convert

__all__ = [
    "CardHead",
    "LoadedCard",
    "card_digest",
    "check_card",
    "check_setting",
    "convert",
    "identity",
    "identity_digest",
    "json_schema",
    "load_card",
    "override",
    "parse_setting",
    "protocol",
    "read_head",
]

_HOMES = {
    "CardHead": "heads",
    "LoadedCard": "load",
    "card_digest": "digests",
    "check_card": "check",
    "check_setting": "check_setting",
    "convert": "walk",
    "identity": "digests",
    "identity_digest": "digests",
    "json_schema": "schema",
    "load_card": "load",
    "override": "overrides",
    "parse_setting": "overrides",
    "protocol": "protocols",
    "read_head": "heads",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
