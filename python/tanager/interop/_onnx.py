"""ONNX graphs of naive Bayes and one-dependence models.

Every feature is a separate input. Its value is converted to a code; unknown values get one more code that means missing.
Then logarithms of messages are passed up the trees of features: a feature adds the messages of its children, excludes the
values that were not observed, and sends its parent, for each of the parent's values and each class, the logarithm of the
sum over its own values. The order does not depend on which values are missing, so one fixed graph marginalizes missing
values exactly. Arrays are [classes, rows, values].
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._encoding.column_encoder import ColumnEncoder
from .._utils.files import write_bytes
from .._utils.optional import import_optional
from .._utils.text import shortened
from ..network import Network

#: Old versions, which older runtimes support; 17 is the last one whose reductions have axes as attributes.
_OPSETS = {"": 17, "ai.onnx.ml": 3}
_LOWEST = -1e300  # in place of minus infinity, to avoid NaN in differences


def onnx_model(network: Network) -> Any:
    """Return the ONNX model of a network."""
    onnx = import_optional("onnx", "to_onnx")
    structure = network._core.structure
    most = max((len(parents or ()) for parents in structure.parents), default=0)
    if structure.class_parents or most > 1:
        raise ValueError(
            "to_onnx supports naive Bayes and one-dependence models, in which the class has no parents and every feature at "
            f"most one besides the class, but {_reason(network)}"
        )
    return _Graph(onnx, network).model()


def _reason(network: Network) -> str:
    for name in [network.class_name, *network.features]:
        parents = [parent for parent in network.parents(name) if parent != network.class_name]
        if len(parents) > 1 or (name == network.class_name and parents):
            return f"{name!r} has the parents {shortened(', '.join(map(repr, parents)))}"
    raise AssertionError("a one-dependence model was rejected")


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, atomically."""
    write_bytes(path, model.SerializeToString())


class _Graph:
    def __init__(self, onnx: Any, network: Network):
        self._onnx = onnx
        self._network = network
        self._core: _core.Network = network._core
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []
        if "" in network.features:
            raise ValueError("a feature has an empty name, but inputs of ONNX must be named")
        self._mark = "_"  # prefix of internal names; no feature begins with it
        while any(name.startswith(self._mark) for name in network.features):
            self._mark += "_"

    # -- building blocks

    def _node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        output = f"{self._mark}{kind}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [output], domain=domain, **attributes))
        return output

    def _constant(self, values: Any, dtype: Any = np.float64) -> str:
        name = f"{self._mark}constant_{len(self._constants)}"
        self._constants[name] = self._onnx.numpy_helper.from_array(np.array(values, dtype=dtype), name)
        return name

    def _output(self, name: str) -> str:
        while name in self._network.features:
            name += "_"
        return name

    def _sum(self, terms: Sequence[str]) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self._node("Add", total, term)
        return total

    # -- the model

    def model(self) -> Any:
        messages: dict[int | None, list[str]] = {}
        for feature in reversed(self._core.order):
            parents = self._core.parents[feature]
            if parents is None:
                continue
            below = messages.get(feature, [])
            message = self._message(feature, below)
            if message is not None:
                messages.setdefault(parents[0] if parents else None, []).append(message)
        if not self._inputs:
            raise ValueError("to_onnx needs at least one feature with known values, got none")
        self._inputs.sort(key=lambda found: self._network.feature_names.index(found.name))
        with np.errstate(divide="ignore"):
            prior = self._constant(np.log(self._core.class_table).reshape(-1, 1, 1))
        joint = self._node("Add", self._sum(messages[None]), prior)
        joint = self._node("Transpose", self._node("Squeeze", joint, self._constant([2], np.int64)), perm=[1, 0])
        return self._finished(joint)

    def _message(self, feature: int, below: list[str]) -> str | None:
        """Return the message of a feature to its parent or the class: [classes, rows, values of the parent]."""
        size = self._core.cardinalities[feature]
        table = self._table(feature)
        code = self._code(feature, size)
        with np.errstate(divide="ignore"):
            logs = np.log(table)
        if not below:
            if code is None:
                return None
            # A missing leaf sums to one: its message is zero.
            rows = np.concatenate([logs, np.zeros((table.shape[0], 1, table.shape[2]))], axis=1)
            return self._node("Gather", self._constant(rows), code, axis=1)
        belief = self._sum(below)
        if code is not None:
            belief = self._node("Add", belief, self._evidence(code, size))
        highest = self._node("ReduceMax", belief, axes=[2], keepdims=1)
        highest = self._node("Max", highest, self._constant(_LOWEST))
        weights = self._node("Exp", self._node("Sub", belief, highest))
        sums = self._node("MatMul", weights, self._constant(table))
        return self._node("Add", self._node("Log", sums), highest)

    def _table(self, feature: int) -> npt.NDArray[np.float64]:
        """Return P(value | parent's value, class) as [classes, values, values of the parent]."""
        table = self._core.table(feature)
        if not self._core.structure.class_children[feature]:
            table = np.repeat(table[..., None], self._core.n_classes, axis=-1)
        if not self._core.parents[feature]:
            table = table[None]
        return np.ascontiguousarray(np.transpose(table, (2, 1, 0)))

    def _evidence(self, code: str, size: int) -> str:
        """Return 0 for possible values and minus infinity for others: [rows, values]."""
        column = self._node("Unsqueeze", code, self._constant([1], np.int64))
        same = self._node("Equal", column, self._constant(np.arange(size)[None], np.int64))
        missing = self._node("Equal", column, self._constant(size, np.int64))
        return self._node("Where", self._node("Or", same, missing), self._constant(0.0), self._constant(-np.inf))

    # -- from values to codes

    def _code(self, feature: int, size: int) -> str | None:
        """Create the input of a feature and return its codes: [rows]; None if no value of it is known."""
        name, column = self._network.feature_names[feature], self._network._encoder.columns[feature]
        labels: list[Any] = column.categories.tolist()
        kinds = {type(label) for label in labels}
        if column.cuts is not None:
            code = self._interval(self._input(name, "DOUBLE"), column, size)
        elif not labels:
            return None
        elif kinds == {str}:
            code = self._known(self._input(name, "STRING"), {"keys_strings": labels}, size)
        elif kinds <= {int, bool}:
            code = self._known(self._input(name, "INT64"), {"keys_int64s": [int(label) for label in labels]}, size)
        elif kinds <= {int, float}:
            code = self._number(self._input(name, "DOUBLE"), labels, size)
        else:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"{name!r} has values of the types {found}, but an input of ONNX has a single type")
        return self._node("Squeeze", code, self._constant([1], np.int64))

    def _input(self, name: str, kind: str) -> str:
        dtype = getattr(self._onnx.TensorProto, kind)
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, dtype, ["rows", 1]))
        return name

    def _known(self, values: str, keys: dict[str, list[Any]], size: int) -> str:
        codes = list(range(size))
        return self._node("LabelEncoder", values, domain="ai.onnx.ml", values_int64s=codes, default_int64=size, **keys)

    def _interval(self, values: str, column: ColumnEncoder, size: int) -> str:
        above = self._node("Greater", values, self._constant(np.array(column.cuts)[None]))
        counted = self._node("Cast", above, to=self._onnx.TensorProto.INT64)
        code = self._node("ReduceSum", counted, self._constant([1], np.int64), keepdims=1)
        return self._node("Where", self._node("IsNaN", values), self._constant(size, np.int64), code)

    def _number(self, values: str, labels: list[Any], size: int) -> str:
        same = self._node("Equal", values, self._constant(np.array(labels, dtype=np.float64)[None]))
        found = self._node("Cast", same, to=self._onnx.TensorProto.INT64)
        any_found = self._node("ReduceMax", found, axes=[1], keepdims=1)
        code = self._node("ArgMax", found, axis=1, keepdims=1)
        known = self._node("Cast", any_found, to=self._onnx.TensorProto.BOOL)
        return self._node("Where", known, code, self._constant(size, np.int64))

    # -- outputs

    def _finished(self, joint: str) -> Any:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        classes = self._network.classes
        dtype, labels = _class_labels(kinds, classes)
        label, probabilities = self._output("label"), self._output("probabilities")
        joint = self._node("Max", joint, self._constant(_LOWEST))  # rows of probability zero get equal probabilities
        best = self._node("ArgMax", joint, axis=1, keepdims=0)
        self._nodes.append(helper.make_node("Gather", [self._constant(labels, labels.dtype), best], [label], axis=0))
        highest = self._node("ReduceMax", joint, axes=[1], keepdims=1)
        weights = self._node("Exp", self._node("Sub", joint, highest))
        total = self._node("ReduceSum", weights, self._constant([1], np.int64), keepdims=1)
        self._nodes.append(helper.make_node("Div", [weights, total], [probabilities]))
        outputs = [
            helper.make_tensor_value_info(label, dtype, ["rows"]),
            helper.make_tensor_value_info(probabilities, kinds.DOUBLE, ["rows", len(classes)]),
        ]
        graph = helper.make_graph(self._nodes, "tanager", self._inputs, outputs, list(self._constants.values()))
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        model = helper.make_model(
            graph, opset_imports=opsets, producer_name="tanager", producer_version=_core.__version__, ir_version=8
        )
        self._onnx.checker.check_model(model)
        return model


def _class_labels(kinds: Any, classes: npt.NDArray[Any]) -> tuple[int, npt.NDArray[Any]]:
    labels = classes.tolist()
    found = {type(label) for label in labels}
    if found == {str}:
        return kinds.STRING, np.array(labels, dtype=object)
    if found == {bool}:
        return kinds.BOOL, np.array(labels, dtype=bool)
    if found == {int}:
        return kinds.INT64, np.array(labels, dtype=np.int64)
    if found == {float}:
        return kinds.DOUBLE, np.array(labels, dtype=np.float64)
    raise ValueError(
        f"the classes are of the types {', '.join(sorted(kind.__name__ for kind in found))}, but ONNX supports "
        "strings, integers, floats or booleans, all of the same type"
    )
