"""ONNX models of classifiers: the same predictions in onnxruntime; skipped where it or onnx is not installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tanager as tg
from tanager import interop
from tanager import structure as st


@pytest.fixture
def runtime() -> Any:
    pytest.importorskip("onnx", reason="onnx is not installed")
    return pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def make_table(n_rows: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of strings, integers, booleans, float categories and numbers to cut, all related."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)

    def noisy(size: int) -> np.ndarray:
        return (y + rng.integers(size, size=n_rows) * (rng.random(n_rows) < 0.4)) % size

    frame = pd.DataFrame(
        {
            "sky, above": np.array(["sun", "", "ü"], dtype=object)[noisy(3)],
            "label": noisy(4) * 10 - 5,
            "_flag": noisy(2) == 1,
            "grade": np.array([0.1, 0.25, 1e-9])[noisy(3)],
            "size": y + rng.normal(size=n_rows),
            "weight": rng.normal(size=n_rows) * 3,
        }
    )
    return frame, np.array(["no", "yes", "may be"])[y]


SETTINGS = {"discretizer": tg.EqualFrequencyDiscretizer(4), "numeric_features": ["size", "weight"]}
#: A chain, in which messages pass through several features, and a feature that does not depend on the class.
CHAIN = [("class", c) for c in ("sky, above", "label", "_flag", "grade", "size")]
CHAIN += [("sky, above", "label"), ("label", "_flag"), ("_flag", "grade"), ("label", "size"), ("size", "weight")]
MODELS = {
    "naive": lambda: tg.NaiveBayesClassifier(**SETTINGS),
    "tan": lambda: tg.TANClassifier(**SETTINGS),
    "forest": lambda: tg.BayesNetClassifier("tan-bic", **SETTINGS),
    "chain": lambda: tg.BayesNetClassifier(st.FixedStructure(CHAIN, class_arcs="listed"), **SETTINGS),
    "likely": lambda: tg.BayesNetClassifier("tan", "maximum-likelihood", **SETTINGS),
    "less": lambda: tg.BayesNetClassifier(st.FixedStructure([("size", "label")], leave_out=["grade"]), **SETTINGS),
}


def feeds(session: Any, X: pd.DataFrame) -> dict[str, np.ndarray]:
    """Convert data into inputs of the declared types; missing values as in each type."""
    found = {}
    for wanted in session.get_inputs():
        column = X[[wanted.name]].astype(object)
        missing = column.isna().to_numpy()
        if wanted.type == "tensor(string)":
            found[wanted.name] = np.where(missing, "no such category", column.to_numpy())
        elif wanted.type == "tensor(int64)":
            found[wanted.name] = np.where(missing, 999, column.to_numpy()).astype(np.int64)
        else:
            assert wanted.type == "tensor(double)"
            found[wanted.name] = column.to_numpy().astype(np.float64)
    return found


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_predictions_are_the_same(name: str, missing: float, runtime: Any, tmp_path: Path) -> None:
    X, y = make_table()
    clf = MODELS[name]().fit(X, y)
    path = tmp_path / "model.onnx"
    interop.to_onnx(clf, path)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rows, _ = make_table(100, seed=1)
    rows = rows.astype(object).mask(np.random.default_rng(2).random(rows.shape) < missing)
    if missing:
        rows.iloc[0] = None
    label, probabilities = session.run(None, feeds(session, rows))
    typed = rows.astype({"size": float, "weight": float, "grade": float})
    expected = clf.predict_proba(typed)
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-12)
    sure = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-9
    np.testing.assert_array_equal(label[sure], clf.predict(typed)[sure])
    assert [o.name for o in session.get_outputs()] == ["label_", "probabilities"]
    assert "grade" not in [i.name for i in session.get_inputs()] or name != "less"


@pytest.mark.parametrize("classes", [[0, 1], [True, False], [1.0, 2.0], ["a", "b"]])
def test_classes_keep_their_type(classes: list[Any], runtime: Any) -> None:
    clf = tg.NaiveBayesClassifier(numeric_features=[]).fit([["u"], ["v"]] * 5, classes * 5)
    model = interop.to_onnx(clf.network_)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    label = session.run(["label"], {"x0": np.array([["u"], ["v"]], dtype=object)})[0]
    assert label.tolist() == classes
    assert label.dtype == np.array(classes, dtype=object if classes[0] == "a" else None).dtype


def test_rows_that_no_class_allows(runtime: Any) -> None:
    X, y = np.array([[0, 0], [0, 1], [1, 1]] * 3 + [[1, 1]]), [0, 0, 1] * 3 + [1]
    clf = tg.BayesNetClassifier("tan", "maximum-likelihood").fit(X, y)
    session = runtime.InferenceSession(interop.to_onnx(clf).SerializeToString(), providers=["CPUExecutionProvider"])
    rows = np.array([[1, 0], [0, 0], [1, 1], [9, 0], [9, 9]])
    label, probabilities = session.run(None, {"x0": rows[:, :1], "x1": rows[:, 1:]})
    np.testing.assert_allclose(probabilities, clf.predict_proba(rows), rtol=0, atol=1e-12)
    assert label.tolist() == clf.predict(rows).tolist()


def test_many_features_do_not_underflow(runtime: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    X = np.where(rng.random((60, 600)) < 0.9, y[:, None], 1 - y[:, None])
    clf = tg.TANClassifier().fit(X, y)
    session = runtime.InferenceSession(interop.to_onnx(clf).SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {f"x{i}": X[:5, i : i + 1] for i in range(600)}
    np.testing.assert_allclose(session.run(["probabilities"], inputs)[0], clf.predict_proba(X[:5]), rtol=0, atol=1e-12)


def test_models_that_are_too_general() -> None:
    X, y = make_table()
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(ValueError, match=r"at most one besides the class, but '.*' has the parents '.*', '.*'"):
        interop.to_onnx(tg.KDBClassifier(k=2, **SETTINGS).fit(X, y))
    backwards = st.FixedStructure([("label", "class")], class_arcs="listed")
    with pytest.raises(ValueError, match="but 'class' has the parents 'label'"):
        interop.to_onnx(tg.BayesNetClassifier(backwards, **SETTINGS).fit(X, y))
    mixed = pd.DataFrame({"m": ["a", 1] * 5})
    with pytest.raises(
        ValueError, match="'m' has values of the types int, str, but an input of ONNX has a single type"
    ):
        interop.to_onnx(tg.NaiveBayesClassifier().fit(mixed, [0, 1] * 5))
    with pytest.raises(ValueError, match="a feature has an empty name"):
        interop.to_onnx(tg.NaiveBayesClassifier().fit(pd.DataFrame({"": ["a", "b"]}), [0, 1]))


def test_what_is_no_network() -> None:
    with pytest.raises(TypeError, match="model: expected a classifier of tanager or a Network, got dict"):
        interop.to_onnx({})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="AODEClassifier averages over many"):
        interop.to_onnx(tg.AODEClassifier().fit([["a"], ["b"]], [0, 1]))


def test_onnx_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"to_onnx needs onnx; install it with: pip install 'tanager\[onnx\]'"):
        interop.to_onnx(tg.NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1]))
