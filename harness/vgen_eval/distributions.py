"""Distributions that cards and components come from, and names with and without them."""

from __future__ import annotations

__all__ = ["HOME", "IMPORTED", "LOCAL", "OWN", "bare_name", "home_of", "name_with"]

HOME = "vgen-eval"
"""The distribution whose names a bare name means first."""
LOCAL = "local"
"""What stands for the distribution of card files and of plain functions."""
IMPORTED = "predictions"
"""The same of predictions made elsewhere: a name of theirs is never an installed model's."""
OWN = (HOME, LOCAL)
"""What comes from these goes by its bare name."""


def home_of(distribution: str) -> str:
    """The distribution whose components a card's bare names mean."""
    return HOME if distribution == LOCAL else distribution


def name_with(distribution: str, name: str, *, between: str = ":") -> str:
    """`name`, its distribution before it where that is not one of `OWN`."""
    return name if distribution in OWN else f"{distribution}{between}{name}"


def bare_name(qualified: str) -> str:
    """The name of `distribution:name`, whole where the distribution is not one of `OWN`."""
    distribution, _, bare = qualified.partition(":")
    return bare if bare and distribution in OWN else qualified
