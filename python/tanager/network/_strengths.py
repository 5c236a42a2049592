"""Strengths of arcs and distributions of features given the class; exact, as long as that is fast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._utils.typing import MISSING_CODE, Floats

if TYPE_CHECKING:
    from . import Network

#: Limit of inference for overviews, which must not take long.
_MAX_CELLS = 2**18

#: Returns the joint distribution of variables by name; None if it would take long.
Joint = Callable[[Sequence[str]], Floats | None]


def quick_joint(network: Network) -> Joint:
    """Return a function for joint distributions of variables of a network that only computes with small tables."""
    queries = _core.Queries(network._core, _MAX_CELLS)
    no_evidence = np.full(len(network.feature_names), MISSING_CODE, dtype=np.uint16)
    position = {name: i for i, name in enumerate([*network.feature_names, network.class_name])}

    def joint(names: Sequence[str]) -> Floats | None:
        try:
            return queries.posterior(no_evidence, None, [position[name] for name in names])
        except ValueError:  # a table of the inference, or the result, would be too large
            return None

    return joint


def arc_strength(network: Network, parent: str, child: str, joint: Joint | None = None) -> float:
    """Return I(parent; child | other parents of the child) in nats, under the distribution of the network.

    Parameters
    ----------
    network : Network
    parent, child : str
        The ends of an arc.
    joint : callable or None, default=None
        Returns the joint distribution of the parents; if it returns None, the strength is NaN. By default it is computed
        however long it takes.
    """
    cpt = network.cpt(child)
    own = cpt.names.index(child)
    given = [name for name in cpt.names if name != child]
    parents = network.posterior(None, given).values if joint is None else joint(given)
    if parents is None:
        return float("nan")
    family = parents[..., None] * np.moveaxis(cpt.values, own, -1)
    # Axes: the parent, the other parents together, the child.
    family = np.moveaxis(family, given.index(parent), 0).reshape(
        cpt.values.shape[cpt.names.index(parent)], -1, family.shape[-1]
    )
    others = family.sum(axis=(0, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = family * others / (family.sum(axis=2, keepdims=True) * family.sum(axis=0, keepdims=True))
        terms = np.where(family > 0, family * np.log(ratio), 0.0)
    return max(0.0, float(terms.sum()))


def given_class(network: Network, name: str, joint: Joint) -> Floats | None:
    """Return P(value | class) of a feature, one row per class; None if it would take long.

    Classes of probability zero have zeros.
    """
    together = joint([network.class_name, name])
    if together is None:
        return None
    share = together.sum(axis=1, keepdims=True)
    conditional: Floats = np.divide(together, share, out=np.zeros_like(together), where=share > 0)
    return conditional
