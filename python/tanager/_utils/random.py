"""Seeds from scikit-learn's ``random_state``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils import check_random_state

from .validation import is_integer

#: A seed, or a function that draws one. Most values of ``cv`` need no seed, and then none is drawn.
Seed = int | Callable[[], int]

_MAX_SEED = 2**64 - 1


def resolve_seed(random_state: Any) -> Seed:
    """Return an integer unchanged; for anything else a function that draws a seed, as scikit-learn does."""
    if is_integer(random_state):
        if not 0 <= random_state <= _MAX_SEED:
            raise ValueError(f"random_state: expected an integer from 0 to 2^64 - 1, got {random_state}")
        return int(random_state)
    return lambda: int(check_random_state(random_state).randint(2**31 - 1))


def draw_seed(random_state: Any) -> int:
    """Return the seed that ``random_state`` stands for, drawing from a generator where it is one."""
    seed = resolve_seed(random_state)
    return seed() if callable(seed) else seed
