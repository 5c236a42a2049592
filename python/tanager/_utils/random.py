"""Seeds of everything that draws at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils import check_random_state

from .validation import is_integer

#: A seed, or what draws one: most ways to say ``cv`` need none, and then nothing is drawn.
Seed = int | Callable[[], int]

_LARGEST_SEED = 2**64 - 1


def resolve_seed(random_state: Any) -> Seed:
    """Return a whole number as it is; otherwise what draws a seed, as scikit-learn does."""
    if is_integer(random_state):
        if not 0 <= random_state <= _LARGEST_SEED:
            raise ValueError(f"random_state must be between 0 and 2^64 - 1, but is {random_state}")
        return int(random_state)
    return lambda: int(check_random_state(random_state).randint(2**31 - 1))
