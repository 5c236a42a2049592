"""What was learned: structure and tables, to read and to judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder, encode_labels, read_table, warn_unseen
from .._encoding.merging import positions_among
from .._utils.optional import import_pandas
from .._utils.text import display_label, distinct_labels
from .._utils.typing import Floats
from .._utils.validation import check_max_cells
from ._comparison import NetworkComparison, compare_networks
from ._labeled import aligned, look_up
from ._late_predictor import LatePredictor
from ._queries import Distribution, Questions, naming_features
from ._sharing import Shareable
from ._summary import NetworkSummary, network_html, one_line, table_html

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class ConditionalTable:
    """Probabilities of a variable for every configuration of its parents.

    Attributes
    ----------
    variable : str
        The variable the distribution is of.
    names : tuple of str
        What each axis of `values` stands for: feature parents, the variable itself, the class if it is a parent.
    labels : tuple of list
        The values along each axis.
    values : ndarray
        The probabilities; they sum to one along the variable's axis.
    """

    variable: str
    names: tuple[str, ...]
    labels: tuple[list[Any], ...]
    values: Floats

    def __getitem__(self, key: Mapping[str, Any]) -> float | Floats:
        """Look up by labels, such as ``table[{"safety": "high", "class": "acc"}]``; axes not named are kept."""
        if not isinstance(key, Mapping):
            raise TypeError(f"a table is looked up by a dict of names and labels, but a {type(key).__name__} came")
        return look_up(self.values, self.names, self.labels, key, f"the table of {self.variable!r}")

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row per configuration of the parents and a column per value."""
        pd = import_pandas()
        axis = self.names.index(self.variable)
        values = np.moveaxis(self.values, axis, -1)
        others = [i for i in range(len(self.names)) if i != axis]
        columns = pd.Index(self.labels[axis], name=self.variable, tupleize_cols=False)
        if not others:
            return pd.DataFrame(values[None, :], columns=columns)
        rows = pd.MultiIndex.from_product([self.labels[i] for i in others], names=[self.names[i] for i in others])
        return pd.DataFrame(values.reshape(len(rows), -1), index=rows, columns=columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype) if copy is not False else np.asarray(self.values, dtype=dtype)

    def _repr_html_(self) -> str:
        return table_html(self)

    def __repr__(self) -> str:
        axis = self.names.index(self.variable)
        given = [display_label(name) for name in self.names if name != self.variable]
        head = f"P({display_label(self.variable)}{' | ' + ', '.join(given) if given else ''})"
        values = np.moveaxis(self.values, axis, -1).reshape(-1, len(self.labels[axis]))
        if values.size > 200:
            return f"{head}: {values.shape[0]} distributions over {values.shape[1]} values"
        others = [distinct_labels(labels) for i, labels in enumerate(self.labels) if i != axis]
        lines = [[*given, *distinct_labels(self.labels[axis])]]
        for index, row in zip(np.ndindex(*map(len, others)), values, strict=True):
            lines.append([*(o[i] for o, i in zip(others, index, strict=True)), *(f"{p:.4g}" for p in row)])
        return f"{head}\n{aligned(lines)}"


class Network(Shareable):
    """A Bayesian network classifier: immutable, readable, comparable.

    Made by fitting a classifier (``clf.network_``). Names are those of the training columns ("x0", "x1", ... if it had
    none) and of the class ("class" unless y had a name).
    """

    def __init__(
        self, core: _core.Network, predictor: LatePredictor, encoder: Encoder, feature_names: list[str],
        class_name: str, classes: npt.NDArray[Any],
    ):  # fmt: skip
        self._core = core
        self._predictor = predictor
        self._asked: Questions | None = None
        self._encoder = encoder
        self.feature_names = list(feature_names)
        self._position = {name: i for i, name in enumerate(feature_names)}
        self.class_name = class_name
        self.classes = classes

    @cached_property
    def _parents(self) -> list[list[int] | None]:
        return self._core.parents

    @cached_property
    def _class_children(self) -> list[bool]:
        return self._core.structure.class_children

    @cached_property
    def _class_parents(self) -> list[int]:
        return self._core.structure.class_parents

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """All arcs as (parent, child), those to and from the class first."""
        names, c = self.feature_names, self.class_name
        to_class = [(names[p], c) for p in self._class_parents]
        from_class = [(c, name) for name, child in zip(names, self._class_children, strict=True) if child]
        return to_class + from_class + self.feature_arcs

    @property
    def features(self) -> list[str]:
        """The features that the network has: all columns but those that its learner left out."""
        return [name for name, parents in zip(self.feature_names, self._parents, strict=True) if parents is not None]

    @property
    def left_out(self) -> list[str]:
        """The columns that the network does without."""
        return [name for name, parents in zip(self.feature_names, self._parents, strict=True) if parents is None]

    @property
    def feature_arcs(self) -> list[tuple[str, str]]:
        """The arcs between features as (parent, child), in the order of the children."""
        names = self.feature_names
        return [(names[p], names[child]) for child, parents in enumerate(self._parents) for p in parents or ()]

    @property
    def families(self) -> dict[str, list[str]]:
        """The parents of every variable, those of the class last."""
        return {name: self.parents(name) for name in [*self.features, self.class_name]}

    def parents(self, name: str) -> list[str]:
        """Return the names of a variable's parents, the class last if it is one of them.

        Parameters
        ----------
        name : str
            A feature of the network, or the class.
        """
        if name == self.class_name:
            return [self.feature_names[p] for p in self._class_parents]
        position, parents = self._feature_parents(name)
        of_class = [self.class_name] if self._class_children[position] else []
        return [*(self.feature_names[p] for p in parents), *of_class]

    @property
    def markov_blanket(self) -> list[str]:
        """The features that the class depends on given all others: its parents, its children and their parents."""
        found = set(self._class_parents)
        for child, parents in enumerate(self._parents):
            if self._class_children[child]:
                found.update([child, *(parents or ())])
        return [name for position, name in enumerate(self.feature_names) if position in found]

    def cpt(self, name: str) -> ConditionalTable:
        """Return the conditional probability table of a feature or of the class, with its labels.

        Parameters
        ----------
        name : str
            A feature of the network, or the class.
        """
        if name == self.class_name:
            features, of_class, table = self._class_parents, True, self._core.class_table
        else:
            position, parents = self._feature_parents(name)
            features, of_class, table = [*parents, position], self._class_children[position], self._core.table(position)
        names = [self.feature_names[f] for f in features]
        labels = [self._encoder.columns[f].labels() for f in features]
        if of_class:
            names.append(self.class_name)
            labels.append(self.classes.tolist())
        return ConditionalTable(name, tuple(names), tuple(labels), table)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self._core.n_parameters

    @property
    def is_naive(self) -> bool:
        """Whether the class is a parent of every feature, and there are no other arcs."""
        return self._core.is_naive

    @property
    def is_tan(self) -> bool:
        """Whether the class is a parent of every feature, and one tree spans all features."""
        return self._core.is_tan

    @property
    def is_one_dependence(self) -> bool:
        """Whether the class is a parent of every feature, and none has more than one feature parent."""
        return self._core.is_one_dependence

    @property
    def is_semi_naive(self) -> bool:
        """Whether the class is a parent of every feature, and these form fully connected groups without arcs between."""
        return self._core.is_semi_naive

    def log_likelihood(self, X: Any, y: Any) -> float:
        """Return ln P(X, y), summed over the rows; missing cells are summed out.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of the training table.
        y : array-like of shape (n_rows,)
            Their classes.
        """
        joint, codes = self._log_joint(X, y, "log_joint")
        return float(joint[np.arange(len(codes)), codes].sum())

    def conditional_log_likelihood(self, X: Any, y: Any) -> float:
        """Return ln P(y | X), summed over the rows; missing cells are summed out.

        Parameters
        ----------
        X, y
            As in `log_likelihood`.
        """
        posterior, codes = self._log_joint(X, y, "log_posterior")
        return float(posterior[np.arange(len(codes)), codes].sum())

    def aic(self, X: Any, y: Any) -> float:
        """Return the log-likelihood less the number of parameters; larger is better.

        Parameters
        ----------
        X, y
            As in `log_likelihood`.
        """
        return self.log_likelihood(X, y) - self.n_parameters

    def bic(self, X: Any, y: Any) -> float:
        """Return the log-likelihood less half the number of parameters times ln(rows); larger is better.

        Parameters
        ----------
        X, y
            As in `log_likelihood`.
        """
        return self.log_likelihood(X, y) - 0.5 * self.n_parameters * float(np.log(read_table(X).n_rows))

    def posterior(
        self, evidence: Mapping[str, Any] | None = None, query: str | Sequence[str] | None = None
    ) -> Distribution:
        """Return the distribution of variables given what is known of others, exactly.

        Parameters
        ----------
        evidence : dict, default=None
            What is known: labels by name, of features and of the class; a number for a feature that was cut into
            intervals. None and NaN mean that nothing is known.
        query : str or list of str, default=None
            A variable, or several for their joint distribution; None is the class.

        Returns
        -------
        Distribution
            Labeled probabilities: ``values``, ``labels``, ``names``, ``p["label"]``, ``p.to_dict()``, ``p.to_series()``.

        Examples
        --------
        >>> import tanager as tg
        >>> X = [["sun", "dry"], ["sun", "dry"], ["rain", "wet"], ["rain", "dry"]]
        >>> network = tg.TANClassifier().fit(X, ["play", "play", "stay", "stay"]).network_
        >>> network.posterior({"x0": "sun"})
        P(class)
        class
         play    0.75
         stay    0.25
        >>> network.posterior({"class": "stay"}, ["x0", "x1"])
        P(x0, x1)
          x0   x1
        rain  dry  0.375
        rain  wet  0.375
         sun  dry  0.125
         sun  wet  0.125
        """
        return self._questions.posterior(evidence, query)

    def log_probability(self, evidence: Mapping[str, Any]) -> float:
        """Return ln P(evidence), everything else summed out; minus infinity if it is impossible.

        Parameters
        ----------
        evidence : dict
            As in `posterior`.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> round(network.log_probability({"x0": "a"}), 6)  # one half
        -0.693147
        """
        return self._questions.log_probability(evidence)

    def most_probable(self, evidence: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the most probable values of all variables together that agree with what is known.

        This is one case, the most probable explanation: the most probable value of each variable alone may differ. Of
        several equally probable cases it is the one with the first class, then the first value of the first feature, and
        so on.

        Parameters
        ----------
        evidence : dict, default=None
            As in `posterior`.

        Returns
        -------
        dict
            The label of every variable, evidence included.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> network.most_probable({"class": 1})
        {'x0': 'b', 'class': 1}
        """
        return self._questions.most_probable(evidence)

    def sample(
        self, n: int, random_state: Any = None, evidence: Mapping[str, Any] | None = None
    ) -> pd.DataFrame | dict[str, npt.NDArray[Any]]:
        """Draw cases from the network, or from what it says given evidence; exactly in both cases.

        Parameters
        ----------
        n : int
            How many.
        random_state : int, RandomState instance or None, default=None
            The seed.
        evidence : dict, default=None
            As in `posterior`: all cases agree with it, and no draw is thrown away for that.

        Returns
        -------
        DataFrame or dict of ndarray
            A column for every feature of the network, and one for the class: a pandas frame, or a dict of arrays where
            pandas is not installed. Features that were cut are given by their intervals.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> network.sample(3, random_state=0, evidence={"class": 0})["class"].tolist()
        [0, 0, 0]
        """
        drawn = self._questions.sample(n, evidence, random_state, threads=1)
        try:
            import pandas as pd
        except ImportError:
            return drawn
        return pd.DataFrame(drawn)

    @property
    def max_cells(self) -> int:
        """The limit of exact inference, in cells of about 24 bytes; 2**24 unless another is set.

        Queries and predictions of rows with missing values that need more are refused with a `ValueError` that says how
        many they need. Setting it to more, at most 2**32 - 1, changes no answer. It also holds for predictions of the
        classifier that the network belongs to. Model files do not keep it; pickles of classifiers do.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> network.max_cells = 2**26
        """
        return self._predictor.max_cells

    @max_cells.setter
    def max_cells(self, value: int) -> None:
        self._predictor.max_cells = check_max_cells(value)

    @property
    def _questions(self) -> Questions:
        made = self._asked
        if made is None or made.max_cells != self.max_cells:
            made = self._asked = Questions(
                self._core, self._encoder.columns, self.feature_names, self.left_out, self.class_name, self.classes,
                self.max_cells,
            )  # fmt: skip
        return made

    def _log_joint(self, X: Any, y: Any, output: str) -> tuple[Floats, npt.NDArray[Any]]:
        table = read_table(X)
        if table.n_features != len(self.feature_names):
            raise ValueError(f"X has {table.n_features} features, but the network has {len(self.feature_names)}")
        if table.names is not None and self._encoder.names is not None and table.names != self._encoder.names:
            raise ValueError(f"X must have the columns {self._encoder.names} in this order, but has {table.names}")
        known, codes = encode_labels(y, self.classes)
        if len(codes) != table.n_rows:
            raise ValueError(f"X has {table.n_rows} rows, but y has {len(codes)}")
        codes = positions_among(known, self.classes)[codes]  # a network that was read has them in any order
        columns, strange = self._encoder.encode_new(table)
        if strange:
            warn_unseen(strange)
        with naming_features(self.feature_names):
            return self._predictor.predict(columns, table.n_rows, output), codes

    def _feature_parents(self, name: str) -> tuple[int, list[int]]:
        position = self._position.get(name, -1)
        parents = self._parents[position] if position >= 0 else None
        if parents is None:
            raise KeyError(f"the network has no variable {name!r}; its features are {', '.join(self.features)}")
        return position, parents

    def summary(self) -> NetworkSummary:
        """Return the network at a glance: its kind, and values, parents, parameters and information of every feature.

        Returns
        -------
        NetworkSummary
            Text when printed, HTML in notebooks; ``to_frame()``.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> tg.BayesNetClassifier("tan-bic").fit(data.X, data.y).network_.summary()
        one-dependence, 6 features, 2 classes, 1 arc between features, 31 parameters
        P(class): 0 (0.5), 1 (0.5)
        feature       values  parameters  information  parents
        jacket_color       4           6       0.2013  class
        head_shape         3           4       0.0000  class
        body_shape         3          12       0.0000  head_shape, class
        is_smiling         2           2       0.0000  class
        holding            3           4       0.0000  class
        has_tie            2           2       0.0000  class
        """
        return NetworkSummary(self)

    def compare(self, other: Network) -> NetworkComparison:
        """Compare the structure with that of another network.

        Parameters
        ----------
        other : Network
            A network of any features; those of the same name are compared.

        Returns
        -------
        NetworkComparison
            The arcs of both, of one, and those turned; features; the structural Hamming distance; whether they are equivalent.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> tree = tg.TANClassifier().fit(data.X, data.y).network_
        >>> tree.compare(tg.BayesNetClassifier("tan-bic").fit(data.X, data.y).network_)
        7 arcs in both, 0 turned, 4 only in the first, 0 only in the second; structural Hamming distance 4
        only in the first: head_shape → is_smiling, head_shape → holding, head_shape → jacket_color, head_shape → has_tie
        """
        if not isinstance(other, Network):
            raise TypeError(f"a network is compared with another, but a {type(other).__name__} came")
        return compare_networks(self, other)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the network; see `tanager.plotting.plot_network`.

        Parameters
        ----------
        ax, **options
            As there.
        """
        from ..plotting import plot_network

        return plot_network(self, ax, **options)

    def __repr__(self) -> str:
        return f"<Network: {one_line(self)}>"

    def _repr_html_(self) -> str:
        return network_html(self)
