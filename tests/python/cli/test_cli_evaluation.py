"""``tanager cv``, ``compare``, ``inspect`` and ``report``."""

from __future__ import annotations

import json
import re
import threading
import time

import numpy as np
import pandas as pd
import pytest

import tanager as tg
from tanager.cli.trials import run_with_limit
from tanager.evaluation import compare, cross_validate


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    path = tmp_path_factory.mktemp("table") / "squares.csv"
    data.X.assign(y=data.y).to_csv(path, index=False)
    return path


def test_cv_is_that_of_python(run, squares):
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    expected = cross_validate(tg.TANClassifier(), data.X, data.y, cv=4, random_state=3)
    arguments = ("cv", squares, "--class", "y", "--structure", "tan", "--folds", "4", "--seed", "3")
    found = json.loads(run.well(*arguments, "--json"))
    for score in ("accuracy", "log_loss"):
        assert [fold[score] for fold in found["folds"]] == expected[score].tolist()
        assert found["mean"][score] == expected.mean["TANClassifier"][score]
        assert found["std"][score] == expected.std["TANClassifier"][score]
    shown = run.well(*arguments)
    assert f"{expected.mean['TANClassifier']['accuracy']:.4f}" in shown
    assert len([line for line in shown.splitlines() if line.strip()[:1] in "1234" and line.strip()]) == 4


def test_compare_ranks_and_marks(run, squares):
    methods = ["naive", "tan", "aode", "kdb", "naive+em"]
    arguments = ("compare", squares, "--class", "y", "--folds", "5", "--seed", "1", "--methods", *methods)
    found = json.loads(run.well(*arguments, "--json"))
    assert sorted(row["method"] for row in found) == sorted(methods)
    accuracies = [row["accuracy"]["mean"] for row in found]
    assert accuracies == sorted(accuracies, reverse=True)

    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    classifiers = {name: tg.BayesNetClassifier(name) for name in ("naive", "tan", "kdb")}
    classifiers["aode"] = tg.AODEClassifier()
    result = cross_validate(classifiers, data.X, data.y, cv=5, random_state=1)
    best = found[0]["method"]
    assert best == max(result.mean, key=lambda name: result.mean[name]["accuracy"])
    for row in found[1:]:
        if row["method"] in classifiers:
            test = compare(result, "accuracy", baseline=best)[row["method"], best]
            assert row["accuracy"]["significantly_worse"] == (test.corrected_t_p < 0.05)
            assert row["accuracy"]["mean"] == result.mean[row["method"]]["accuracy"]
    parameters = {row["method"]: row["parameters"] for row in found}
    assert parameters["naive"] == tg.NaiveBayesClassifier().fit(data.X, data.y).network_.n_parameters
    by_log_loss = json.loads(run.well(*arguments, "--json", "--by", "log_loss"))
    scores = [row["log_loss"]["mean"] for row in by_log_loss]
    assert scores == sorted(scores)


def test_compare_fits_80_columns_and_names_what_failed(run, squares, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    methods = ("naive", "tan", "tan+wanbia", "naive+attribute-weighted")
    shown = run.well("compare", squares, "--class", "y", "--folds", "3", "--methods", *methods)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert "accuracy %" in lines[1]
    assert lines[3].startswith("tan ")
    assert {line.split()[0] for line in lines[4:6]} == {"naive+attribute-weighted", "naive"}
    (failed,) = [line for line in lines if line.startswith("tan+wanbia")]
    assert " failed: " in failed
    assert "▾" in shown


def test_narrow_terminals_cut_no_scores(run, squares, monkeypatch):
    commands = (
        ("compare", squares, "--class", "y", "--folds", "3", "--methods", "naive+attribute-weighted", "aode"),
        ("cv", squares, "--class", "y", "--folds", "3"),
    )
    for command in commands:
        tables = []
        for columns in ("40", "200"):
            monkeypatch.setenv("COLUMNS", columns)
            text = run.well(*command)
            assert "…" not in text
            lines = text.splitlines()
            line = next(i for i, line in enumerate(lines) if line.startswith("──"))
            # Seconds differ from run to run.
            tables.append([re.sub(r"[0-9.e-]{4,}| ", "", line) for line in lines[line + 1 : line + 3]])
        assert tables[0] == tables[1]


def test_compare_gives_up_what_lasts(run, squares, monkeypatch):
    def endless(self, *arguments):
        from tanager._utils.progress import stopping

        while not stopping.get().is_set():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(tg.AODEClassifier, "fit", endless)
    shown = run.well("compare", squares, "--class", "y", "--folds", "3", "--methods", "aode", "naive", "--limit", "2")
    assert "aode" in shown
    assert "stopped after 2 s (time limit)" in shown
    assert "\nnaive " in shown


def test_limited_work_ends_with_the_interrupt(monkeypatch):
    ended = threading.Event()

    def work():
        from tanager._utils.progress import stopping

        assert stopping.get().wait(30)
        ended.set()

    def interrupted(self, timeout=None):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_with_limit(work, None)
    assert ended.is_set()


def test_all_methods_fail(run, weather):
    done = run("compare", weather, "--class", "play", "--methods", "tan+wanbia", "--folds", "2")
    assert done.code == 2
    assert done.err == "tanager: no method could be evaluated\n"


def test_inspect(run, squares, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run.well("fit", squares, "--class", "y", "--structure", "tan-bic", "--with-counts", "-o", tmp_path / "m.tng")
    clf = tg.load(tmp_path / "m.tng")
    found = json.loads(run.well("inspect", tmp_path / "m.tng", "--json"))
    assert found["parameters"] == clf.network_.n_parameters
    assert [tuple(arc) for arc in found["arcs"]] == clf.network_.arcs
    assert found["file"]["format"] == 4
    assert found["file"]["with_counts"] is True
    assert found["settings"]["structure"] == "ChowLiu(score='bic')"
    assert [feature["cardinality"] for feature in found["features"]] == [3] * 9
    shown = run.well("inspect", tmp_path / "m.tng")
    assert f"{clf.network_.n_parameters} parameters" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    name = clf.network_.features[1]
    table = run.well("inspect", tmp_path / "m.tng", "--cpt", name)
    assert table.startswith(f"P({name} | ")
    values = json.loads(run.well("inspect", tmp_path / "m.tng", "--cpt", name, "--json"))["tables"][name]
    np.testing.assert_array_equal(values["values"], clf.network_.cpt(name).values)
    assert values["variables"] == list(clf.network_.cpt(name).names)


@pytest.mark.parametrize("structure", ["aode", "tbmatan"])
def test_inspect_averages(run, squares, tmp_path, structure):
    run.well("fit", squares, "--class", "y", "--structure", structure, "-o", tmp_path / "m.tng")
    clf = tg.load(tmp_path / "m.tng")
    found = json.loads(run.well("inspect", tmp_path / "m.tng", "--json"))
    if structure == "tbmatan":
        assert found["trees"]["probability"] == clf.posterior_.map_probability
        assert [tuple(edge[:2]) for edge in found["trees"]["most_probable_tree"]] == clf.posterior_.map_edges
    else:
        assert found["parameters"] == clf.n_parameters_
    assert "average" in run.well("inspect", tmp_path / "m.tng")
    assert "average" in run.well("report", tmp_path / "m.tng", "-o", "-")
    done = run("inspect", tmp_path / "m.tng", "--cpt", "y")
    assert (done.code, "no conditional probability tables" in done.err) == (2, True)


def test_labels_cannot_break_lines_or_steer_the_terminal(run, tmp_path):
    labels = ["two\nlines", "\x1b[31mred", "\u202eright to left", "a|b &lt;", ""]
    X = [[label, other] for label in labels for other in labels[:2]] * 3
    frame = pd.DataFrame(X, columns=["na\nme", "\x1b[1mb"])
    tg.NaiveBayesClassifier().fit(frame, [row[0] for row in X]).save(tmp_path / "m.tng")
    seen = [run.well("inspect", tmp_path / "m.tng"), run.well("report", tmp_path / "m.tng", "-o", "-")]
    seen += [run.well("inspect", tmp_path / "m.tng", "--cpt", name) for name in ("na\nme", "\x1b[1mb")]
    for text in seen:
        assert all(line.isprintable() for line in text.splitlines())
        assert "two\\nlines" in text.replace("\\\\", "\\")  # Markdown has two backslashes for one
    assert "a\\|b \\&lt;" in seen[1]
    assert [len(text.splitlines()) for text in seen[2:]] == [2 + len(labels)] * 2


def test_report(run, squares, tmp_path):
    run.well("fit", squares, "--class", "y", "--structure", "tan", "-o", tmp_path / "m.tng")
    run.well("report", tmp_path / "m.tng", "--data", squares, "-o", tmp_path / "r.md")
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    clf = tg.load(tmp_path / "m.tng")
    proba = clf.predict_proba(data.X)
    accuracy = clf.score(data.X, data.y)
    assert f"| accuracy | {accuracy:.4f} |" in text
    assert f" | {(data.y == 'positive').mean():.4f} |" in text
    assert f"| log loss (smaller is better) | {tg.evaluation.log_loss(data.y, proba, clf.classes_):.4f} |" in text
    assert f"| AUC | {tg.evaluation.auc(data.y, proba, clf.classes_):.4f} |" in text
    right = (clf.predict(data.X) == data.y) & (data.y == "negative")
    assert f"| negative | **{right.sum()}** |" in text
    curve = tg.evaluation.reliability(data.y, proba, clf.classes_)
    assert f"Expected calibration error {curve.calibration_error:.4f}" in text
    assert f"| {curve.n[0]} | {curve.predicted[0]:.3f} | {curve.observed[0]:.3f} |" in text
    assert "| top-left-square | 3 | b, o, x |" in text
    without = run.well("report", tmp_path / "m.tng", "-o", "-")
    assert "Scores" not in without
    assert "Tree-augmented naive Bayes (TAN), 9 features" in without


def test_report_counts_unknown_classes_as_wrong(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    (tmp_path / "new.csv").write_text("sky,wind,day,code,truth\nsun,3,1,007,yes\nsun,3,1,007,never\n")
    arguments = ("report", tmp_path / "m.tng", "--data", tmp_path / "new.csv", "--class", "truth")
    text = run.well(*arguments, "-o", "-")
    assert "1 rows have a class that the model does not know" in text
    assert "| accuracy | 0.5000 |" in text
    assert "| log loss (smaller is better) | inf |" in text


def test_report_as_html(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    assert run.well("report", tmp_path / "m.tng", "--data", weather) == f"{tmp_path / 'm.html'}\n"
    text = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "Model report: <bdi>play</bdi>" in text
    assert "Model file <bdi>m.tng</bdi>" in text
    assert "On 6 rows: " in text
    assert run.well("report", tmp_path / "m.tng", "--data", weather, "-o", tmp_path / "other.htm") == ""
    assert (tmp_path / "other.htm").read_text(encoding="utf-8") == text
    assert run.well("report", tmp_path / "m.tng", "--output-format", "markdown") == f"{tmp_path / 'm.md'}\n"
    assert (tmp_path / "m.md").read_text(encoding="utf-8").startswith("# ")
    html = run.well("report", "-", "-o", "-", "--output-format", "html", stdin=(tmp_path / "m.tng").read_bytes())
    assert html.startswith("<!DOCTYPE html>")
    assert "Model file" not in html
    assert run.well("report", "-", stdin=(tmp_path / "m.tng").read_bytes()).startswith("# standard input")


def test_a_report_never_replaces_what_it_reads(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    done = run("report", tmp_path / "model", "-o", tmp_path / "model")
    assert (done.code, "would overwrite the model" in done.err) == (2, True)
    rows = weather.read_bytes()
    done = run("report", tmp_path / "model", "--data", weather, "-o", weather)
    assert (done.code, f"would overwrite the data {weather}" in done.err) == (2, True)
    assert weather.read_bytes() == rows
    assert run.well("report", tmp_path / "model") == f"{tmp_path / 'model.html'}\n"
    assert (tmp_path / "model").read_bytes() == before
