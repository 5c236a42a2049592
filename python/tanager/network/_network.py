"""Bayesian networks: structure, conditional probability tables, likelihoods and exact queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.encoder import Encoder, encode_labels, read_table, warn_unseen
from .._encoding.merging import positions_among
from .._encoding.schema import Schema
from .._learning.contract import FittedModel
from .._learning.names import naming_features
from .._utils.files import write_text
from .._utils.text import join_names
from .._utils.typing import Floats
from .._utils.validation import MAX_CELLS, check_max_cells
from ..structure import FixedStructure
from ._comparison import NetworkComparison, compare_networks
from ._queries import NetworkQueries
from ._summary import NetworkSummary, one_line
from ._tables import ConditionalTable, Distribution

if TYPE_CHECKING:
    import pandas as pd

    from ..classifiers._bayes_net import BayesNetClassifier


class LazyPredictor:
    """A `_core.NetworkPredictor` that is built on first use: many fitted models never predict.

    Parameters
    ----------
    network : _core.Network
    predictor : _core.Predictor or None, default=None
        The predictor of the network, if it exists already.
    """

    def __init__(self, network: _core.Network, predictor: _core.Predictor | None = None):
        self._network = network
        self._built = predictor
        self._max_cells = MAX_CELLS

    @property
    def max_cells(self) -> int:
        """The limit of exact inference for rows with missing values; see `Network.max_cells`."""
        return self._max_cells

    @max_cells.setter
    def max_cells(self, value: int) -> None:
        if value != self._max_cells:
            self._max_cells, self._built = value, None

    @property
    def _predictor(self) -> _core.Predictor:
        predictor = self._built
        if predictor is None:
            predictor = self._built = _core.NetworkPredictor(self._network, self._max_cells)
        return predictor

    def predict(self, columns: Sequence[npt.NDArray[Any]], n_rows: int, output: str, threads: int = 1) -> Floats:
        """Return one number per row and class."""
        return self._predictor.predict(columns, n_rows, output, threads)

    def predict_classes(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, threads: int = 1
    ) -> npt.NDArray[np.uint32]:
        """Return the most probable class of each row."""
        return self._predictor.predict_classes(columns, n_rows, threads)


class Network:
    """An immutable Bayesian network: structure, conditional probability tables and exact queries.

    Fitted classifiers have one (``clf.network_``). Variables have the names of the training columns ("x0", "x1", ... if
    there are none) and of the class ("class" unless y has a name).
    """

    def __init__(
        self, core: _core.Network, predictor: LazyPredictor, encoder: Encoder, feature_names: list[str],
        class_name: str, classes: npt.NDArray[Any],
    ):  # fmt: skip
        self._core = core
        self._predictor = predictor
        self._cached_queries: NetworkQueries | None = None
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
        """All arcs as (parent, child), starting with those to and from the class."""
        names, c = self.feature_names, self.class_name
        to_class = [(names[p], c) for p in self._class_parents]
        from_class = [(c, name) for name, child in zip(names, self._class_children, strict=True) if child]
        return to_class + from_class + self.feature_arcs

    @property
    def features(self) -> list[str]:
        """The features of the network: all columns that are not left out by its learner."""
        return [name for name, parents in zip(self.feature_names, self._parents, strict=True) if parents is not None]

    @property
    def left_out(self) -> list[str]:
        """The columns that are not in the network."""
        return [name for name, parents in zip(self.feature_names, self._parents, strict=True) if parents is None]

    @property
    def feature_arcs(self) -> list[tuple[str, str]]:
        """The arcs between features as (parent, child), in the order of the children."""
        names = self.feature_names
        return [(names[p], names[child]) for child, parents in enumerate(self._parents) for p in parents or ()]

    @property
    def families(self) -> dict[str, list[str]]:
        """The parents of each variable; the class is the last variable."""
        return {name: self.parents(name) for name in [*self.features, self.class_name]}

    def parents(self, name: str) -> list[str]:
        """Return the names of a variable's parents, with the class last.

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
        """The features that the class depends on given all others: its parents, its children and their other parents."""
        blanket = set(self._class_parents)
        for child, parents in enumerate(self._parents):
            if self._class_children[child]:
                blanket.update([child, *(parents or ())])
        return [name for position, name in enumerate(self.feature_names) if position in blanket]

    def cpt(self, name: str) -> ConditionalTable:
        """Return the conditional probability table (CPT) of a feature or of the class.

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
        """Whether this is naive Bayes: the class is a parent of every feature, and there are no other arcs."""
        return self._core.is_naive

    @property
    def is_tan(self) -> bool:
        """Whether this is tree-augmented naive Bayes: naive Bayes with a tree that spans all features."""
        return self._core.is_tan

    @property
    def is_one_dependence(self) -> bool:
        """Whether the class is a parent of every feature, and every feature has at most one feature parent."""
        return self._core.is_one_dependence

    @property
    def is_semi_naive(self) -> bool:
        """Whether this is semi-naive Bayes: the features form fully connected groups, with no arcs between groups."""
        return self._core.is_semi_naive

    def log_likelihood(self, X: Any, y: Any) -> float:
        """Return the joint log-likelihood ln P(X, y), summed over the rows; missing values are marginalized out.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Data with the columns of the training data.
        y : array-like of shape (n_rows,)
            Their classes.
        """
        joint, codes = self._log_joint(X, y, "log_joint")
        return float(joint[np.arange(len(codes)), codes].sum())

    def conditional_log_likelihood(self, X: Any, y: Any) -> float:
        """Return the conditional log-likelihood ln P(y | X), summed over the rows; missing values are marginalized out.

        Parameters
        ----------
        X, y
            As in `log_likelihood`.
        """
        posterior, codes = self._log_joint(X, y, "log_posterior")
        return float(posterior[np.arange(len(codes)), codes].sum())

    def aic(self, X: Any, y: Any) -> float:
        """Return the AIC score, larger is better: the log-likelihood minus the number of parameters.

        This is -1/2 times the AIC of most textbooks, as in bnlearn and bnclassify.

        Parameters
        ----------
        X, y
            As in `log_likelihood`.
        """
        return self.log_likelihood(X, y) - self.n_parameters

    def bic(self, X: Any, y: Any) -> float:
        """Return the BIC score, larger is better: the log-likelihood minus ln(n_rows) / 2 per parameter.

        This is -1/2 times the BIC of most textbooks, as in bnlearn and bnclassify.

        Parameters
        ----------
        X, y
            As in `log_likelihood`.
        """
        return self.log_likelihood(X, y) - 0.5 * self.n_parameters * float(np.log(read_table(X).n_rows))

    def posterior(
        self, evidence: Mapping[str, Any] | None = None, query: str | Sequence[str] | None = None
    ) -> Distribution:
        """Return the exact posterior distribution of variables given evidence.

        Parameters
        ----------
        evidence : dict, default=None
            Observed labels by name, of features and of the class; for a discretized feature, a number or the label of a
            bin. None and NaN mean that a variable is not observed.
        query : str or list of str, default=None
            A variable, or several for their joint distribution; None means the class.

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
        return self._queries.posterior(evidence, query)

    def log_probability(self, evidence: Mapping[str, Any]) -> float:
        """Return ln P(evidence), with all other variables marginalized out; minus infinity if it is impossible.

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
        return self._queries.log_probability(evidence)

    def most_probable(self, evidence: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the most probable explanation (MPE): the most probable joint values of all variables given evidence.

        They may differ from the most probable value of each single variable. Ties go to the first class, then to the first
        value of the first feature, and so on.

        Parameters
        ----------
        evidence : dict, default=None
            As in `posterior`.

        Returns
        -------
        dict
            The label of each variable, including the evidence.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> network.most_probable({"class": 1})
        {'x0': 'b', 'class': 1}
        """
        return self._queries.most_probable(evidence)

    def sample(
        self, n: int, random_state: Any = None, evidence: Mapping[str, Any] | None = None
    ) -> pd.DataFrame | dict[str, npt.NDArray[Any]]:
        """Draw samples from the network, or from its exact distribution given evidence.

        Parameters
        ----------
        n : int
            Number of samples.
        random_state : int, RandomState instance or None, default=None
            Seed or generator.
        evidence : dict, default=None
            As in `posterior`. All samples agree with it; none are drawn and rejected.

        Returns
        -------
        DataFrame or dict of ndarray
            One column per feature of the network and one for the class: a pandas DataFrame, or a dict of arrays if pandas is
            not installed. Discretized features have the labels of their bins.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> network.sample(3, random_state=0, evidence={"class": 0})["class"].tolist()
        [0, 0, 0]
        """
        drawn = self._queries.sample(n, evidence, random_state, threads=1)
        try:
            import pandas as pd
        except ImportError:
            return drawn
        return pd.DataFrame(drawn)

    @property
    def max_cells(self) -> int:
        """The limit of exact inference, in cells of about 24 bytes; default 2**24, maximum 2**32 - 1.

        Queries, and predictions of rows with missing values, that need more cells raise a `ValueError` with the number of
        cells. A higher limit does not change results. The limit also applies to predictions of the classifier that the
        network belongs to. It is stored in pickles of classifiers, but not in model files.

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
    def _queries(self) -> NetworkQueries:
        queries = self._cached_queries
        if queries is None or queries.max_cells != self.max_cells:
            queries = self._cached_queries = NetworkQueries(
                self._core, self._encoder.columns, self.feature_names, self.left_out, self.class_name, self.classes,
                self.max_cells,
            )  # fmt: skip
        return queries

    def _log_joint(self, X: Any, y: Any, output: str) -> tuple[Floats, npt.NDArray[Any]]:
        table = read_table(X)
        if table.n_features != len(self.feature_names):
            raise ValueError(f"X: expected {len(self.feature_names)} features, got {table.n_features}")
        if table.names is not None and self._encoder.names is not None and table.names != self._encoder.names:
            raise ValueError(f"X: expected the columns {self._encoder.names} in this order, got {table.names}")
        known, codes = encode_labels(y, self.classes)
        if len(codes) != table.n_rows:
            raise ValueError(f"X and y: expected the same number of rows, got {table.n_rows} and {len(codes)}")
        codes = positions_among(known, self.classes)[codes]  # the classes of an imported network have any order
        columns, unseen = self._encoder.encode_new(table)
        if unseen:
            warn_unseen(unseen)
        with naming_features(self.feature_names):
            return self._predictor.predict(columns, table.n_rows, output), codes

    def _feature_parents(self, name: str) -> tuple[int, list[int]]:
        position = self._position.get(name, -1)
        parents = self._parents[position] if position >= 0 else None
        if parents is None:
            raise KeyError(f"the network has no variable {name!r}; its features are {join_names(self.features)}")
        return position, parents

    def summary(self) -> NetworkSummary:
        """Return a summary: the kind of network, and the values, parents, parameters and information of each feature.

        Returns
        -------
        NetworkSummary
            Prints as text, shows as HTML in notebooks, and has ``to_frame()``.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> tg.BayesNetClassifier("tan-bic").fit(data.X, data.y).network_.summary()
        forest-augmented naive Bayes, 6 features, 2 classes, 1 arc between features, 31 parameters
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
            A network with any features; those with the same name are compared.

        Returns
        -------
        NetworkComparison
            Arcs in both networks, in one of them and reversed, features, structural Hamming distance, equivalence.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> tree = tg.TANClassifier().fit(data.X, data.y).network_
        >>> tree.compare(tg.BayesNetClassifier("tan-bic").fit(data.X, data.y).network_)
        7 arcs in both, 0 reversed, 4 only in the first, 0 only in the second; structural Hamming distance 4
        only in the first: head_shape → is_smiling, head_shape → holding, head_shape → jacket_color, head_shape → has_tie
        """
        if not isinstance(other, Network):
            raise TypeError(f"compare: expected a Network, got {type(other).__name__}")
        return compare_networks(self, other)

    def to_classifier(self) -> BayesNetClassifier:
        """Return a fitted classifier that predicts with this network.

        Its structure learner is ``FixedStructure`` with the arcs of this network, so fitting a clone re-estimates only the
        parameters.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1", as_frame=True)
        >>> network = tg.interop.read_bif(tg.TANClassifier().fit(data.X, data.y).network_.to_bif())
        >>> network.to_classifier().score(data.X, data.y)
        1.0
        """
        from ..classifiers._bayes_net import BayesNetClassifier

        structure = FixedStructure(self.arcs, self.left_out or None, class_arcs="listed")
        clf = BayesNetClassifier(structure)
        schema = Schema(self._encoder.names, len(self.feature_names), self.class_name)
        clf._adopt(schema, self._encoder, self.classes, FittedModel(self._core, self._predictor, counts=None))
        return clf

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file for `tanager.load` and C++ programs, the same as that of `to_classifier`.

        Parameters
        ----------
        path : str or path
            The file; it is written atomically.
        """
        self.to_classifier().save(path)

    def to_bif(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the network as BIF, the text format that most Bayesian network tools read.

        Probabilities are written with enough digits to be read back exactly. Names and labels that BIF cannot represent are
        replaced by similar identifiers, with the originals in ``property`` lines: other tools ignore these, and
        `tanager.interop.read_bif` restores everything exactly, including label types, cut points and the class. Features
        that are left out of the network are not written.

        Parameters
        ----------
        path : str or path or None, default=None
            The file, written atomically; None returns the text.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> print(network.to_bif())
        network tanager {
        }
        variable x0 {
          type discrete [ 2 ] { a, b };
        }
        variable class {
          type discrete [ 2 ] { 0, 1 };
          property tanager_labels = int:0,int:1 ;
          property tanager_role = class ;
        }
        probability ( x0 | class ) {
          (0) 0.75, 0.25;
          (1) 0.25, 0.75;
        }
        probability ( class ) {
          table 0.5, 0.5;
        }
        <BLANKLINE>
        """
        from ..interop._bif_writer import bif_text
        from ..interop._variables import variables_of

        return _write_or_return(bif_text(variables_of(self), self.class_name), path)

    def to_xmlbif(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the network as XMLBIF 0.3; see `to_bif`.

        Parameters
        ----------
        path : str or path or None, default=None
            The file, written atomically; None returns the text.
        """
        from ..interop._bif_writer import xmlbif_text
        from ..interop._variables import variables_of

        return _write_or_return(xmlbif_text(variables_of(self), self.class_name), path)

    def to_networkx(self, *, strengths: bool = False) -> Any:
        """Return a ``networkx.DiGraph`` with one node per variable and one edge per arc.

        Nodes have the attributes ``kind`` ("feature" or "class"), ``labels`` and ``table`` (the values of ``cpt``); the graph
        has ``class_name``.

        Parameters
        ----------
        strengths : bool, default=False
            Whether edges have the attribute ``strength``: the mutual information of parent and child given the child's
            other parents, in nats, under the distribution of the network.

        Examples
        --------
        >>> import tanager as tg
        >>> data = tg.datasets.load("monks-1")
        >>> graph = tg.TANClassifier().fit(data.X, data.y).network_.to_networkx()  # doctest: +SKIP
        >>> graph.nodes["class"]["labels"]  # doctest: +SKIP
        [0, 1]
        """
        from ..interop._networkx import networkx_graph

        return networkx_graph(self, strengths)

    def to_dot(self, path: str | os.PathLike[str] | None = None, *, strengths: bool = False) -> str | None:
        """Write the graph as DOT, the format of Graphviz.

        Names are quoted, so they are shown unchanged; unprintable characters are escaped as in Python.

        Parameters
        ----------
        path : str or path or None, default=None
            The file, written atomically; None returns the text.
        strengths : bool, default=False
            Whether arcs have a width and a tooltip that show their strength, as in `to_networkx`.

        Examples
        --------
        >>> import tanager as tg
        >>> network = tg.NaiveBayesClassifier().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).network_
        >>> print(network.to_dot())
        digraph tanager {
          node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];
          edge [color="#215a9e"];
          "class" [fillcolor="#215a9e", fontcolor=white];
          "x0";
          "class" -> "x0";
        }
        <BLANKLINE>
        """
        from ..interop._dot import dot_text

        return _write_or_return(dot_text(self, strengths), path)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the network; see `tanager.plotting.plot_network`.

        Parameters
        ----------
        ax, **options
            As in `plot_network`.
        """
        from ..plotting import plot_network

        return plot_network(self, ax, **options)

    def __repr__(self) -> str:
        return f"<Network: {one_line(self)}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _write_or_return(text: str, path: str | os.PathLike[str] | None) -> str | None:
    if path is None:
        return text
    write_text(path, text)
    return None
