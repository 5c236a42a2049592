from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data, which is not part of the repository."""
    place = os.environ.get("TANAGER_SHARED")
    folder = Path(place) if place else Path(__file__).resolve().parents[3] / "shared"
    if not (folder / "data" / "MANIFEST.csv").is_file():
        pytest.skip(f"no reference data in {folder}; set TANAGER_SHARED to the folder that holds it")
    return folder
