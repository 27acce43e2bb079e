"""Every row, each script in a process of its own: python tests/performance [ROW ...]."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROWS = (
    "startup", "overhead", "memory", "append", "overlap", "decoding", "maps", "scoring",
    "intervals", "viewer", "others",
)  # fmt: skip


def main() -> None:
    rows = sys.argv[1:] or ROWS
    unknown = [row for row in rows if row not in ROWS]
    if unknown:
        raise SystemExit(f"no row '{unknown[0]}': {', '.join(ROWS)}")
    scripts = [str(Path(__file__).with_name(f"{row}.py")) for row in rows]
    ended = [subprocess.run([sys.executable, script], check=False) for script in scripts]
    raise SystemExit(max(abs(done.returncode) for done in ended))


if __name__ == "__main__":
    main()
