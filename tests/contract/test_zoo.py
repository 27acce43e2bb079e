"""Each bad plugin is caught by the check that is there for it, and by no other."""

from __future__ import annotations

import pytest
from animals import ANIMALS
from contractkit import Make
from vgen_eval.testing import check_plugin


@pytest.mark.parametrize("name", ANIMALS)
def test_the_plugin_that(name: str, toy: Make) -> None:
    animal = ANIMALS[name]
    dist = toy(animal.file, animal.old, animal.new)
    timeout_s = 2.0 if "not done" in animal.says else 30.0
    record = check_plugin(dist, only=animal.only, timeout_s=timeout_s)
    failed = {check.check: check for check in record.failures}
    assert set(failed) == {animal.caught}, [f"{c.id}: {c.detail}" for c in record.failures]
    assert animal.says in failed[animal.caught].detail
    assert animal.cure in failed[animal.caught].cure
    assert failed[animal.caught].cure
