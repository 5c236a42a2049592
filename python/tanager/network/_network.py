"""What was learned: structure and tables, to read and to judge."""

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
    """Predicts as `_core.Predictor` does; its tables are made for the first rows, for many a fit is never asked.

    Parameters
    ----------
    network : _core.Network
    made : _core.AnyPredictor or None, default=None
        The predictor of the network, if there is one already.
    """

    def __init__(self, network: _core.Network, made: _core.AnyPredictor | None = None):
        self._network = network
        self._made = made
        self._max_cells = MAX_CELLS

    @property
    def max_cells(self) -> int:
        """What rows with missing values may need."""
        return self._max_cells

    @max_cells.setter
    def max_cells(self, value: int) -> None:
        if value != self._max_cells:
            self._max_cells, self._made = value, None

    @property
    def _predictor(self) -> _core.AnyPredictor:
        made = self._made
        if made is None:
            made = self._made = _core.Predictor(self._network, self._max_cells)
        return made

    def predict(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, output: str, threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """Return one number per row and class."""
        return self._predictor.predict(columns, n_rows, output, threads)

    def predict_classes(
        self, columns: Sequence[npt.NDArray[Any]], n_rows: int, threads: int = 1
    ) -> npt.NDArray[np.uint32]:
        """Return the most probable class of every row."""
        return self._predictor.predict_classes(columns, n_rows, threads)


class Network:
    """A Bayesian network classifier: immutable, readable, comparable.

    Made by fitting a classifier (``clf.network_``). Names are those of the training columns ("x0", "x1", ... if it had
    none) and of the class ("class" unless y had a name).
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
        return self._queries.posterior(evidence, query)

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
        return self._queries.log_probability(evidence)

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
        return self._queries.most_probable(evidence)

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
        drawn = self._queries.sample(n, evidence, random_state, threads=1)
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
    def _queries(self) -> NetworkQueries:
        made = self._cached_queries
        if made is None or made.max_cells != self.max_cells:
            made = self._cached_queries = NetworkQueries(
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

    def to_classifier(self) -> BayesNetClassifier:
        """Return a fitted classifier that predicts with this network.

        Its structure learner is ``FixedStructure`` with the arcs of this network, so that a clone of it learns tables of
        the same structure from other rows.

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
        """Write a model file that `tanager.load` and C++ programs read: that of `to_classifier`.

        Parameters
        ----------
        path : str or path
            The file, written whole or not at all.
        """
        self.to_classifier().save(path)

    def to_bif(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the network as BIF, the text format that most tools of the field read.

        Every probability has as many digits as it takes to read back the same number. Names and labels that BIF cannot
        hold are written as texts like them, with the originals in ``property`` lines: other tools skip those, and
        `tanager.interop.read_bif` restores all exactly, types of labels, cut points and the class included. Features that
        the network leaves out are not written.

        Parameters
        ----------
        path : str or path or None, default=None
            Where to, whole or not at all; None returns the text.

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

        return self._written(bif_text, path)

    def to_xmlbif(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the network as XMLBIF 0.3; see `to_bif`.

        Parameters
        ----------
        path : str or path or None, default=None
            Where to, whole or not at all; None returns the text.
        """
        from ..interop._bif_writer import xmlbif_text

        return self._written(xmlbif_text, path)

    def _written(self, text_of: Any, path: str | os.PathLike[str] | None) -> str | None:
        from ..interop._variables import variables_of

        text: str = text_of(variables_of(self), self.class_name)
        if path is None:
            return text
        write_text(path, text)
        return None

    def to_networkx(self, *, strengths: bool = False) -> Any:
        """Return a ``networkx.DiGraph`` with a node for every variable and an edge for every arc.

        Nodes have the attributes ``kind`` ("feature" or "class"), ``labels`` and ``table`` (as of ``cpt``); the graph has
        ``class_name``.

        Parameters
        ----------
        strengths : bool, default=False
            Whether edges have the attribute ``strength``: the mutual information of parent and child given the child's
            other parents, in nats, under the network's own distribution.

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
        """Write the graph as DOT, the text that Graphviz draws.

        Names are quoted, so that whatever is in them is shown as it is; what cannot be printed is shown as in Python.

        Parameters
        ----------
        path : str or path or None, default=None
            Where to, whole or not at all; None returns the text.
        strengths : bool, default=False
            Whether arcs have a thickness, and a tooltip that tells their strength as in `to_networkx`.

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

        text = dot_text(self, strengths)
        if path is None:
            return text
        write_text(path, text)
        return None

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
        return self.summary()._repr_html_()
