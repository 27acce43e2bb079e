"""What several folders of tests share."""

from __future__ import annotations

import pytest
from cleanroom import CleanRoom


@pytest.fixture(scope="session")
def clean_room(tmp_path_factory: pytest.TempPathFactory) -> CleanRoom:
    """An environment with vgen-eval's wheel, made once."""
    return CleanRoom(tmp_path_factory.mktemp("clean_room"))
