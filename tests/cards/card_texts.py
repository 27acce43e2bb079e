"""Small sound cards, as text, that the tests of this folder start from."""

from __future__ import annotations

TASK = """\
task: depth/rooms
version: 1
family: depth
title: How far things are
dataset: {reader: rooms, root: rooms, options: {split: val}, licence: CC0, source: a, citation: b}
protocols:
  paper:
    answers:
      - {form: image, prompt: {mid: 'Paint {what}'}, decoder: luma, options: {gain: 2}}
      - {form: depth_map}
    metrics: [{name: depth_error, options: {fit: depth_lsq}}]
    primary: abs_rel
    failure_value: flat
    seed: per_sample
  short:
    extends: paper
    seed: fixed
    metrics: [{name: depth_error}]
default_protocol: paper
"""

MODEL = """\
model: acme/editor
title: An editor
adapter: painter
answers: [image, text]
options: {steps: 4}
generation: {seed: 3, dtype: bfloat16}
licence: Apache-2.0
"""

SUITE = """\
suite: rooms
title: Two ways to see a room
tasks: [depth/rooms, depth/rooms@short]
"""
