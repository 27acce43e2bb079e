"""`python -m vgen_eval.cli` is `vgen-eval`."""

from __future__ import annotations

import sys

from vgen_eval.cli import main

if __name__ == "__main__":
    sys.exit(main())
