"""Settings of learners by names such as ``parameters__alpha``, whether a learner was given as an object or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..discretize import resolve_discretizer

if TYPE_CHECKING:
    from typing_extensions import Self


class NestedSettings:
    """`set_params` of all classifiers."""

    def set_params(self, **params: Any) -> Self:
        """Set settings, those of learners by names such as ``parameters__alpha``.

        A learner that was given by name, or not at all, becomes an object first, so that its settings can be searched over.

        Parameters
        ----------
        **params
            Settings by name.

        Returns
        -------
        self
        """
        nested = {name: value for name, value in params.items() if "__" in name}
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})  # type: ignore[misc]
        resolvers = self._resolvers()
        for owner in {name.partition("__")[0] for name in nested} & resolvers.keys():
            if getattr(self, owner) is None or isinstance(getattr(self, owner), str):
                setattr(self, owner, resolvers[owner](getattr(self, owner)))
            if getattr(self, owner) is None:
                name = next(name for name in nested if name.startswith(f"{owner}__"))
                raise ValueError(f"{name} cannot be set, since {owner} is None")
        super().set_params(**nested)  # type: ignore[misc]  # of scikit-learn
        return self

    def _resolvers(self) -> dict[str, Callable[[Any], Any]]:
        """Return the settings that hold other objects, and what makes these of a name or None."""
        return {"discretizer": resolve_discretizer}
