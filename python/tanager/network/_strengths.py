"""How strong the arcs of a network are, and what it says of each feature given the class; exact, where that is quick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._utils.typing import MISSING_CODE, Floats

if TYPE_CHECKING:
    from . import Network

#: Of inference for an overview, which must come at once.
_MOST_CLIQUE_CELLS = 2**18

#: Returns the joint distribution of the variables of some names, or None where it would take long.
Joint = Callable[[Sequence[str]], Floats | None]


def quick_joint(network: Network) -> Joint:
    """Return what answers for the joint distribution of any variables, as long as the tables it needs are small."""
    questions = _core.Queries(network._core, _MOST_CLIQUE_CELLS)
    nothing = np.full(len(network.feature_names), MISSING_CODE, dtype=np.uint16)
    place = {name: i for i, name in enumerate([*network.feature_names, network.class_name])}

    def joint(names: Sequence[str]) -> Floats | None:
        try:
            return questions.posterior(nothing, None, [place[name] for name in names])
        except ValueError:  # tables on the way to it, or itself, would be too large
            return None

    return joint


def arc_strength(network: Network, parent: str, child: str, joint: Joint | None = None) -> float:
    """Return I(parent; child | the child's other parents) in nats, under the network's own distribution.

    Parameters
    ----------
    network : Network
    parent, child : str
        The ends of an arc.
    joint : callable or None, default=None
        What gives the distribution of the parents; where it gives none, the strength is NaN. None takes all the time that
        it takes.
    """
    cpt = network.cpt(child)
    own = cpt.names.index(child)
    given = [name for name in cpt.names if name != child]
    before = network.posterior(None, given).values if joint is None else joint(given)
    if before is None:
        return float("nan")
    whole = before[..., None] * np.moveaxis(cpt.values, own, -1)
    whole = np.moveaxis(whole, given.index(parent), 0).reshape(
        cpt.values.shape[cpt.names.index(parent)], -1, whole.shape[-1]
    )
    rest = whole.sum(axis=(0, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = whole * rest / (whole.sum(axis=2, keepdims=True) * whole.sum(axis=0, keepdims=True))
        terms = np.where(whole > 0, whole * np.log(ratio), 0.0)
    return max(0.0, float(terms.sum()))


def given_class(network: Network, name: str, joint: Joint) -> Floats | None:
    """Return P(value | class) of a feature, a row per class, all else summed out; None where it would take long.

    Classes of probability zero have zeros.
    """
    together = joint([network.class_name, name])
    if together is None:
        return None
    share = together.sum(axis=1, keepdims=True)
    found: Floats = np.divide(together, share, out=np.zeros_like(together), where=share > 0)
    return found
