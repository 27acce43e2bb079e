"""What several folders of tests share."""

from __future__ import annotations

import pytest
from cleanroom import CleanRoom
from hypothesis import HealthCheck, settings

# how fast examples are made and run says something of the machine alone, which others may share
settings.register_profile(
    "shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("shared machine")


@pytest.fixture(scope="session")
def clean_room(tmp_path_factory: pytest.TempPathFactory) -> CleanRoom:
    """An environment with vgen-eval's wheel, made once."""
    return CleanRoom(tmp_path_factory.mktemp("clean_room"))
