"""A small exact ray caster: pictures whose depth, normals and objects are known in closed form."""

from __future__ import annotations
