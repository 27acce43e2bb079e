"""The contract that plugins are held to, for their authors' own tests.

    from vgen_eval.testing import assert_conforms

    def test_my_plugin_keeps_to_the_contract():
        assert_conforms("acme-editor")

`vgen-eval check plugin acme-editor` says the same on the command line. Everything runs on the CPU,
each subject in a process of its own: what exits, hangs or prints is a finding.
"""

from __future__ import annotations

from vgen_eval.conformance import Check, Conformance
from vgen_eval.testing.runner import assert_conforms, check_plugin

__all__ = ["Check", "Conformance", "assert_conforms", "check_plugin"]
