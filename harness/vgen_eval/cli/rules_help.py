"""What --help says of the rules by which figures and reports choose samples."""

from __future__ import annotations

__all__ = ["RULES"]

RULES = """\b
RUN is a model's name, the id of a run or its start, or a folder.
A and B are names of models, METRIC is a value of single samples or primary.

\b
Rules:
  median:METRIC        nearest the median
  top:METRIC[:q=.9]    the best; with q none worse than that quantile
  worst:METRIC         the worst
  METRIC<=VALUE        also <, >, >=, =; by id
  advantage:A-B        where A is ahead of B, the farthest first;
                       :above-median where A is at its median or better,
                       :metric=METRIC by another value than the primary
  best-of:A            the best of one model
  decides[:METRIC]     where the runs lie farthest apart
  random:SEED          drawn
  ids:ID,ID            named
METRIC@MODEL is of another run than the first; :per-tag=TAG after a rule that
ranks takes one sample a value of the tag. Without a rule: decides of several
runs, worst:primary of one, or of runs that are equal; random:0 where no value
is of single samples.
"""
