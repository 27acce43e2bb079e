"""What others build on, as one JSON document: names, hooks, card fields, options, versions.

python tests/house/public_api.py > tests/house/public_api.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click
import msgspec
import vgen_eval
from vgen_eval import errors, types
from vgen_eval.cards import records
from vgen_eval.cli import VERBS, cli
from vgen_eval.engine.settings import Settings
from vgen_eval.hookspecs import HOOKS
from vgen_eval.results.build import RUN_SCHEMA
from vgen_eval.results.card import SCHEMA_VERSION, Bound, Counts, ResultCard, Score
from vgen_eval.statistics import Interval

__all__ = ["snapshot"]


def _fields(record: type[msgspec.Struct]) -> dict[str, str]:
    """Field -> required, or its default."""
    described = {}
    for field in msgspec.structs.fields(record):
        if field.required:
            described[field.name] = "required"
        elif field.default is not msgspec.NODEFAULT:
            described[field.name] = str(msgspec.to_builtins(field.default))
        else:
            assert callable(field.default_factory)
            described[field.name] = str(msgspec.to_builtins(field.default_factory()))
    return described


def _options(verb: str) -> list[str]:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    names = [name for p in command.params for name in (*p.opts, *p.secondary_opts)]
    return sorted(names)


def snapshot() -> dict[str, Any]:
    """The public surface."""
    cards = {name: getattr(records, name) for name in records.__all__}
    structs = (types.Item, types.Sample, types.Request, types.Output, types.Usage, types.Scene,
               types.Prediction, types.Value)  # fmt: skip
    return {
        "names": vgen_eval.__all__,
        "hooks": dict(HOOKS),
        "forms": list(types.FORMS),
        "statuses": dict(types.STATUS_GROUP),
        "records": {kind.__name__: list(kind.__struct_fields__) for kind in structs},
        "cards": {name: _fields(card) for name, card in cards.items()},
        "settings": _fields(Settings),
        "result_card": {
            kind.__name__: list(kind.__struct_fields__)
            for kind in (ResultCard, Score, Counts, Bound, Interval)
        },
        "verbs": {verb: _options(verb) for verb in VERBS},
        "exit_codes": {
            name: getattr(errors, name).exit_code
            for name in errors.__all__
            if isinstance(getattr(errors, name), type)
            and issubclass(getattr(errors, name), errors.VgenEvalError)
        },
        "schemas": {"result_card": SCHEMA_VERSION, "run": RUN_SCHEMA},
    }


if __name__ == "__main__":
    json.dump(snapshot(), sys.stdout, indent=1)
    sys.stdout.write("\n")
