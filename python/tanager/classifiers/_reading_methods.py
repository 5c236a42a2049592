"""What fitted classifiers offer to people who want to understand them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    from ..explain import Explanation


class ReadingMethods:
    """Explanations of predictions, and the model below scikit-learn's picture of the estimator in notebooks."""

    def explain(
        self,
        X: Any,
        *,
        against: Any = None,
        order: Sequence[str] | None = None,
        changeable: Sequence[str] | None = None,
        max_pairs: int = 100_000,
    ) -> Explanation:
        """Explain predictions, exactly: what every feature contributes, and what would change them.

        The log-odds of a class are ln P(class | row) - ln P(rival | row), where the rival is the most probable other class:
        above zero for the class that is predicted, and below for all others. By the chain rule they are a sum: what the class
        has before anything is known, and what each feature adds when it becomes known after those before it,
        ln P(value | values before, class) - ln P(value | values before, rival). A missing cell is summed out and adds nothing.

        Parents come before their children. In an augmented naive Bayes (naive Bayes, TAN, KDB, ...) what a feature adds is
        then the ratio of two cells of its own table, where its parents are known, whatever the order otherwise. In other networks
        the features next to the class, its Markov blanket, come first: if all of them are known, the others add nothing.
        Averages over models (AODE, TBMATAN) take the order of the columns.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As in ``predict``.
        against : class label or None, default=None
            The rival of all other classes; its own is the most probable other one. None takes that for every class.
        order : list of str or None, default=None
            The names of all features of the model in the order in which they become known, in place of that above.
        changeable : list of str or None, default=None
            The features that ``changes`` and ``flips`` may change; None means all.
        max_pairs : int, default=100000
            How many pairs of changes ``flips`` tries for a row: all, or where they are more, those of the changes that are
            strongest alone. Zero tries no pairs.

        Returns
        -------
        Explanation

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> clf = tg.TANClassifier().fit(data.X, data.y)
        >>> print(clf.explain(data.X[:1]))
        row 0: class is 1 with probability 0.999
        log-odds of 1 against 0:
          class         prior   0.000
          body_shape    1      +3.892
          jacket_color  1      +3.611
          head_shape    1       0.000
          is_smiling    1       0.000
          holding       1       0.000
          has_tie       1       0.000
          sum                  +7.503
        strongest counterfactual values:
          head_shape: 1 → 2 (log-odds +2.565)
          body_shape: 1 → 2 (log-odds +2.565)
          jacket_color: 1 → 2 (log-odds +3.238)
        smallest change that flips the prediction:
          head_shape → 2 and jacket_color → 2: then 0 with probability 0.846
        """
        from ..explain._explanation import explain_rows

        return explain_rows(self, X, against, order, changeable, max_pairs)  # type: ignore[arg-type]

    def report(self, path: str | os.PathLike[str], X: Any = None, y: Any = None) -> None:
        """Write a report on the model: one HTML file that needs nothing else and opens in any browser.

        It holds a model card, the network as a drawing to move about in, with the table of every node that is picked, and a panel
        in which one picks what is known of a case and watches probabilities and contributions (as of `explain`) change: exact
        inference in the page. Models of more than 1,000,000 numbers, or that would take more than a second or two for an answer, have no
        such panel, and the page says so. The same model always gives the same file.

        Parameters
        ----------
        path : str or path
            Where to, whole or not at all; the usual ending is ``.html``.
        X, y : table and classes, default=None
            Rows to judge the model by, best such that it was not learned from: scores with intervals, the confusion matrix and
            calibration are then shown, too. Classes that the model does not know count as wrong.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import tanager as tg
        >>> data = tg.datasets.load("tic-tac-toe", as_frame=True)
        >>> clf = tg.TANClassifier().fit(data.X[::2], data.y[::2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tic-tac-toe.html")
        ...     clf.report(path, data.X[1::2], data.y[1::2])
        ...     path.read_text(encoding="utf-8")[:15]
        '<!DOCTYPE html>'
        """
        from .._report import write_report

        write_report(self, path, X, y)  # type: ignore[arg-type]

    def _count_estimates(self, columns: list[npt.NDArray[Any]], n_rows: int) -> int:  # noqa: ARG002
        """Count the rows of which predictions are only estimated."""
        return 0

    def _repr_html_inner(self) -> str:
        # Both ways into scikit-learn's picture end in text that can be added to; where it is switched off, neither is asked.
        return f"{super()._repr_html_inner()}{self._model_html()}"  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._model_html()
        return bundle

    def _model_html(self) -> str:
        """Return what was learned as HTML, or nothing."""
        network = self.__dict__.get("network_")
        return "" if network is None else str(network._repr_html_())
