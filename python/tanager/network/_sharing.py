"""What a network can become: a classifier, a model file, a text that other tools read, a graph."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..classifiers._bayes_net import BayesNetClassifier
    from . import Network


class Shareable:
    """The methods of `Network` that lead out of it."""

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
        from .._encoding.schema import Schema
        from .._learning.contract import FittedModel
        from ..classifiers._bayes_net import BayesNetClassifier
        from ..structure import FixedStructure

        network = cast("Network", self)
        structure = FixedStructure(network.arcs, network.left_out or None, class_arcs="listed")
        clf = BayesNetClassifier(structure)
        schema = Schema(network._encoder.names, len(network.feature_names), network.class_name)
        clf._adopt(
            schema, network._encoder, network.classes, FittedModel(network._core, network._predictor, counts=None)
        )
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
        from .._utils.files import write_text
        from ..interop._variables import variables_of

        network = cast("Network", self)
        text: str = text_of(variables_of(network), network.class_name)
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
        from ..interop._pgmpy import networkx_graph

        return networkx_graph(cast("Network", self), strengths)

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
        from .._utils.files import write_text
        from ..interop._dot import dot_text

        text = dot_text(cast("Network", self), strengths)
        if path is None:
            return text
        write_text(path, text)
        return None
