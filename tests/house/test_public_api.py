"""The public surface changes only on purpose: the stored snapshot is part of the change."""

from __future__ import annotations

import json
from pathlib import Path

import vgen_eval
from public_api import snapshot

STORED = Path(__file__).with_name("public_api.json")


def test_the_public_surface_is_as_stored() -> None:
    # after adding an optional field: python tests/house/public_api.py > .../public_api.json
    assert json.loads(json.dumps(snapshot())) == json.loads(STORED.read_text(encoding="utf-8"))


def test_every_public_name_can_be_had() -> None:
    for name in vgen_eval.__all__:
        assert getattr(vgen_eval, name) is not None
    assert set(dir(vgen_eval)) == set(vgen_eval.__all__)


def test_help_can_be_read_of_every_public_name() -> None:
    import pydoc

    for name in set(vgen_eval.__all__) - {"__version__", "hookimpl"}:
        assert name in pydoc.plain(pydoc.render_doc(getattr(vgen_eval, name)))
