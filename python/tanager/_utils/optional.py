"""pandas, for those who ask for frames."""

from __future__ import annotations

from typing import Any


def import_pandas(what: str = "to_frame") -> Any:
    """Return pandas, or say that `what` needs it: nothing else of the package does."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: run 'pip install pandas'") from error
    return pd
