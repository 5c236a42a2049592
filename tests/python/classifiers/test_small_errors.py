"""Small things that users stumbled over: settings of default learners, hints, options that do not exist."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import tanager as tg
from tanager.cli.commands.compare import METHODS


def table():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (90, 4))
    return X, (X[:, 0] + (rng.random(90) < 0.2)) % 3


@pytest.mark.parametrize(
    ("clf", "name", "values"),
    [
        (tg.TANClassifier(), "parameters__alpha", [0.1, 2.0]),
        (tg.NaiveBayesClassifier(parameters="dirichlet"), "parameters__alpha", [0.1, 2.0]),
        (tg.BayesNetClassifier("kdb"), "structure__k", [1, 2]),
        (tg.KDBClassifier(discretizer="equal-width"), "discretizer__n_bins", [2, 4]),
    ],
)
def test_settings_of_learners_that_were_named_or_left_out(clf, name, values):
    X, y = table()
    search = GridSearchCV(clf, {name: values}, cv=3).fit(X, y)
    assert search.best_params_[name] in values
    owner, _, setting = name.partition("__")
    found = clone(clf).set_params(**{name: values[0]})
    assert getattr(getattr(found, owner), setting) == values[0]
    assert repr(getattr(clf, owner)) == repr(getattr(clone(clf), owner))  # the original is as it was


def test_settings_that_there_are_not():
    assert tg.BayesNetClassifier().set_params(parameters="elr", parameters__max_iter=3).parameters.max_iter == 3
    for clf, name in (
        (tg.TANClassifier(), "parameters__beta"),
        (tg.TANClassifier(), "nothing__k"),
        (tg.TANClassifier(), "beta"),
    ):
        with pytest.raises(ValueError, match="Invalid parameter"):
            clf.set_params(**{name: 1})
    with pytest.raises(ValueError, match="discretizer__n_bins cannot be set, since discretizer is None"):
        tg.TANClassifier(discretizer=None).set_params(discretizer__n_bins=3)


def test_options_that_do_not_exist_are_named(run):
    done = run("fit", "x.csv", "--target", "y")
    assert done.code == 2
    assert done.err.startswith("tanager fit: unknown option --target; the following arguments are required: ")
    assert "no option" not in run("fit", "x.csv", "--clas", "y").err  # abbreviations are


def test_help_lists_where_the_cpp_library_is(run):
    shown = run("--help").out.decode()
    assert "--cmake-dir" in shown
    assert "--include" in shown
    assert run.well("--cmake-dir").strip() == tg.get_cmake_dir()
    assert run.well("--include").strip() == tg.get_include()


# Old versions of matplotlib call new versions of their parser by old names.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_curves_of_several_classifiers_need_two_classes():
    X, y = table()
    clf = tg.TANClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"expected classifiers with two classes, got 3"):
        tg.plotting.plot_roc({"TAN": clf}, X, y)
    with pytest.raises(ValueError, match=r"of: required with 3 classes; expected one of 0, 1, 2"):
        tg.evaluation.roc_curve(y, clf.predict_proba(X), clf.classes_)


def test_compare_tries_the_method_that_ranks_first():
    assert "tan-bic+elr" in METHODS


@pytest.mark.parametrize("form", ["csv", "arrow-stream"])
def test_nothing_is_written_before_the_first_rows_are_predicted(run, tmp_path, form):
    clf = tg.NaiveBayesClassifier(unseen="error").fit([["a"], ["b"]], [0, 1])
    clf.save(tmp_path / "m.tng")
    (tmp_path / "new.csv").write_text("x0\nz\n")
    done = run("predict", tmp_path / "m.tng", tmp_path / "new.csv", "--output-format", form)
    assert done.code == 2
    assert done.out == b""
    (tmp_path / "new.csv").write_text("x0\n")
    done = run("predict", tmp_path / "m.tng", tmp_path / "new.csv", "--output-format", form)
    assert done.code == 0
    assert done.out.startswith(b"predicted,P(0),P(1)\n" if form == "csv" else b"\xff\xff\xff\xff")
