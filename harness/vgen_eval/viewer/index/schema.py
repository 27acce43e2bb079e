"""Tables of the index.

runs     one row a run that lists show, be it readable or not
    key        `key_of(path)`; path: below the results folder
    task       task@protocol, "" where it is not known
    row        JSON of the RunRow, its state as the last refresh found it
    known      JSON of `known.Known`: stamps of the files it was made of, how far the journals were
               read, names of the values, which of them is the primary, directions, counts
    version    drawn by lot at each change of its samples: what was reckoned of them holds no longer

samples  one row a sample that a run asked for, in the run's order (`at`)
    key, id, grp       `key_of(id)`, id, group
    tags, flags        `,"name":"value",` and `,"flag",`: JSON strings between commas, so that
                       instr() finds a whole one and nothing else
    status, reason     of its attempts, see SampleRow
    score              mean over attempts of the primary; NULL where there is none
    vals               the means of all values: little-endian float64 in the order of `names`,
                       NaN for none; shorter where names came later
    parts              its attempts, MessagePack of `parts.Part`: their lines' places with them
    seq                number of its latest line, counted over the lines that were read

A file of another LAYOUT is made anew. Rows are found by (run, at) and, over all runs, by key.
"""

from __future__ import annotations

__all__ = ["CREATE", "LAYOUT", "OURS"]

LAYOUT = 3
"""SQLite's user_version."""
OURS = 0x7667_6576
"""SQLite's application_id: a file without it is another program's."""

CREATE = (
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        path TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        row BLOB NOT NULL,
        known BLOB NOT NULL,
        version INTEGER NOT NULL
    )""",
    """CREATE TABLE samples (
        run INTEGER NOT NULL,
        at INTEGER NOT NULL,
        key TEXT NOT NULL,
        id TEXT NOT NULL,
        grp TEXT NOT NULL,
        tags TEXT NOT NULL,
        flags TEXT NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL,
        score REAL,
        vals BLOB NOT NULL,
        parts BLOB NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (run, at)
    ) WITHOUT ROWID""",
    "CREATE INDEX samples_by_key ON samples (key, run)",
)
