"""``tanager predict``: answers of every kind of model, on every kind of column."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_helpers import WEATHER

import tanager as tg


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("structure", ["naive", "tan", "aode", "tbmatan", "three-phase"])
def test_answers_are_those_of_python(run, tmp_path, structure):
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    data.X.assign(y=data.y).to_csv(tmp_path / "t.csv", index=False)
    run.well("fit", tmp_path / "t.csv", "--class", "y", "--structure", structure, "-o", tmp_path / "m.tng")
    clf = tg.load(tmp_path / "m.tng")
    rows = rows_of(run.well("predict", tmp_path / "m.tng", tmp_path / "t.csv", "--keep", "y"))
    assert rows[0] == ["y", "predicted", "P(negative)", "P(positive)"]
    assert [row[0] for row in rows[1:]] == data.y.tolist()
    assert [row[1] for row in rows[1:]] == clf.predict(data.X).tolist()
    np.testing.assert_array_equal([[float(p) for p in row[2:]] for row in rows[1:]], clf.predict_proba(data.X))


def test_columns_are_found_by_name_and_kept_unchanged(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    expected = run.well("predict", tmp_path / "m.tng", weather)
    moved = tmp_path / "moved.csv"
    moved.write_text(
        "".join(",".join([f"id{i}", *reversed(row)]) + "\n" for i, row in enumerate(rows_of(WEATHER)[:-1])), "utf-8"
    )
    assert run.well("predict", tmp_path / "m.tng", moved) == "".join(expected.splitlines(keepends=True)[:-1])
    everything = rows_of(run.well("predict", tmp_path / "m.tng", weather, "--keep", "all"))
    assert [row[:5] for row in everything] == rows_of(WEATHER)
    some = rows_of(run.well("predict", tmp_path / "m.tng", weather, "--keep", "wind", "sky", "--without-probabilities"))
    assert some[0] == ["wind", "sky", "predicted"]
    assert [row[:2] for row in some] == [[row[1], row[0]] for row in rows_of(WEATHER)]


def test_typed_output(run, weather, tmp_path):
    run.well("fit", weather, "--class", "day", "--ignore", "play", "-o", tmp_path / "m.tng")
    run.well("convert", weather, tmp_path / "w.parquet")
    run.well(
        "predict", tmp_path / "m.tng", tmp_path / "w.parquet", "--keep", "day", "wind", "-o", tmp_path / "p.parquet"
    )
    table = pq.read_table(tmp_path / "p.parquet")
    assert [(f.name, str(f.type)) for f in table.schema] == [
        ("day", "int64"),
        ("wind", "double"),
        ("predicted", "int64"),
        *((f"P({day})", "double") for day in (1, 2, 3)),
    ]
    sums = sum(np.asarray(table.column(f"P({day})")) for day in (1, 2, 3))
    np.testing.assert_allclose(sums, 1)


@pytest.mark.parametrize(
    ("labels", "columns"),
    [
        # The same values as a model knows them, and as files may have them.
        (
            [1, 2, 3],
            [["1", "2", "3"], ["1.0", "2.0", "3.0"], pa.array([1.0, 2.0, 3.0]), pa.array([1, 2, 3], pa.uint8())],
        ),
        (["1", "2", "3"], [["1", "2", "3"], pa.array([1, 2, 3]), pa.array(["1", "2", "3"]).dictionary_encode()]),
        (["01", "2", "3"], [["01", "2", "3"]]),
        ([True, False, True], [["true", "false", "True"], pa.array([True, False, True])]),
        ([0.5, 1.5, 2.0], [["0.5", "1.50", "2"], pa.array([0.5, 1.5, 2.0])]),
    ],
)
def test_cells_find_their_labels(run, tmp_path, labels, columns):
    y = ["a", "b", "c"]
    X = pa.table({"x": labels * 20})
    clf = tg.NaiveBayesClassifier(discretizer=None).fit(X, y * 20)
    clf.save(tmp_path / "m.tng")
    expected = clf.predict_proba(pa.table({"x": labels}))
    assert len(np.unique(expected, axis=0)) > 1
    for i, column in enumerate(columns):
        path = tmp_path / (f"{i}.csv" if isinstance(column, list) else f"{i}.parquet")
        if isinstance(column, list):
            path.write_text("x\n" + "\n".join(column) + "\n")
        else:
            pq.write_table(pa.table({"x": column}), path)
        rows = rows_of(run.well("predict", tmp_path / "m.tng", path, "--output-format", "csv"))
        np.testing.assert_array_equal([[float(p) for p in row[1:]] for row in rows[1:]], expected, err_msg=str(column))


def test_missing_and_unknown_cells_are_summed_out(run, weather, tmp_path):
    run.well(
        "fit", weather, "--class", "play", "--numeric", "wind", "--discretizer", "equal-width", "-o", tmp_path / "m.tng"
    )
    clf = tg.load(tmp_path / "m.tng")
    (tmp_path / "new.csv").write_text("sky,wind,day,code\n?,,x,\nfog,NA,99,7\n", "utf-8")
    done = run("predict", tmp_path / "m.tng", tmp_path / "new.csv")
    assert done.err.startswith("tanager: warning: every value of column 'day' is unseen")
    rows = rows_of(done.out.decode())
    nothing = pa.table({name: pa.nulls(1, pa.string()) for name in ("sky", "wind", "day", "code")})
    expected = clf.predict_proba(nothing)[0]
    np.testing.assert_array_equal([[float(p) for p in row[1:]] for row in rows[1:]], [expected, expected])


def test_unknown_values_are_rejected_if_the_model_requires_it(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "--set", "unseen=error", "-o", tmp_path / "m.tng")
    for cells in ("fog,1,1,007", "sun,1,99,007", "sun,1,x,007"):
        (tmp_path / "new.csv").write_text(f"sky,wind,day,code\nsun,1,1,007\n{cells}\n", "utf-8")
        done = run("predict", tmp_path / "m.tng", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
        assert done.code == 2
        assert "contains the unknown category" in done.err
        assert not (tmp_path / "p.csv").exists()
    (tmp_path / "new.csv").write_text("sky,wind,day,code\n?,1,,NA\n", "utf-8")
    run.well("predict", tmp_path / "m.tng", tmp_path / "new.csv")


def test_a_label_that_looks_missing_is_reported(run, tmp_path):
    tg.NaiveBayesClassifier().fit(pa.table({"x": ["NA", "b"]}), [0, 1]).save(tmp_path / "m.tng")
    (tmp_path / "new.csv").write_text("x\nNA\n")
    done = run("predict", tmp_path / "m.tng", tmp_path / "new.csv")
    assert done.code == 0
    assert "'NA' is a category of 'x' in the model, but is read as missing" in done.err
    assert run("predict", tmp_path / "m.tng", tmp_path / "new.csv", "--missing", "?").err == ""


def test_models_without_names_take_columns_by_position(run, tmp_path):
    X = np.array([["a", "x"], ["b", "y"], ["a", "y"]])
    tg.NaiveBayesClassifier().fit(X, ["p", "q", "q"]).save(tmp_path / "m.tng")
    (tmp_path / "new.csv").write_text("id,u,v\n1,a,x\n2,b,y\n")
    rows = rows_of(run.well("predict", tmp_path / "m.tng", tmp_path / "new.csv", "--ignore", "id"))
    assert [row[0] for row in rows] == ["predicted", "p", "q"]
    done = run("predict", tmp_path / "m.tng", tmp_path / "new.csv")
    assert (done.code, "expected its 2 columns in order" in done.err) == (2, True)


def test_no_rows_give_a_header_only(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    (tmp_path / "empty.csv").write_text(WEATHER.splitlines()[0] + "\n")
    assert run.well("predict", tmp_path / "m.tng", tmp_path / "empty.csv") == "predicted,P(no),P(yes)\n"


def test_the_last_line_needs_no_end(run, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\nx,1\nz,2")
    run.well("fit", tmp_path / "a.csv", "--class", "y", "-o", tmp_path / "m")
    assert run.well("predict", tmp_path / "m", "-", stdin=b"a") == "predicted,P(1),P(2)\n"
    assert run.well("predict", tmp_path / "m", "-", stdin=b"a\nx").count("\n") == 2
    run.well("fit", "-", "--no-header", "--class", "x1", "-o", tmp_path / "one", stdin=b"x,1")
    done = run("fit", "-", "--class", "y", "-o", tmp_path / "none", stdin=b"a,y")
    assert (done.code, done.err) == (2, "tanager: standard input has no rows\n")


def test_rows_are_predicted_in_slices_where_classes_are_many(run, weather, tmp_path, monkeypatch):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    expected = run.well("predict", tmp_path / "m.tng", weather, "--keep", "all")
    for most in (1, 4, 7):
        monkeypatch.setattr("tanager.cli.tables.predictions.MAX_PROBABILITIES", most)
        assert run.well("predict", tmp_path / "m.tng", weather, "--keep", "all") == expected


def test_a_long_class_label_takes_no_memory_per_row(run, tmp_path):
    rows = "".join(f"{i % 7},p{i % 3}\n" for i in range(20_000))  # ties, too, which are looked at again
    (tmp_path / "t.csv").write_text(f"a,c\n1,{'x' * 500_000}\n{rows}")
    run.well("fit", tmp_path / "t.csv", "--class", "c", "-o", tmp_path / "m.tng")
    run.well(
        "predict", tmp_path / "m.tng", tmp_path / "t.csv", "-o", tmp_path / "p.csv"
    )  # 40 GB as an array of strings
    assert (tmp_path / "p.csv").read_text().count("\n") == 20_002


@pytest.mark.slow
def test_many_rows_go_through_in_bounded_memory(tmp_path):
    n = 300_000
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    clf = tg.TANClassifier().fit(data.X, data.y)
    clf.save(tmp_path / "m.tng")
    text = data.X.to_csv(index=False)
    header, _, lines = text.partition("\n")
    program = f"""
import resource, sys
from tanager.cli import main
import tanager.cli.commands.predict, tanager.cli.tables.model_rows, pyarrow.csv
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
code = main(["predict", {str(tmp_path / "m.tng")!r}, "-", "--memory", "16M", "--threads", "1"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr)
sys.exit(code)
"""
    copies = -(-n // len(data.X))
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=(header + "\n" + lines * copies).encode(),
        capture_output=True,
        check=True,
    )
    answers = done.stdout.splitlines()
    assert len(answers) == copies * len(data.X) + 1
    assert answers[1] == answers[1 + (copies - 1) * len(data.X)]
    assert [line.split(b",")[0].decode() for line in answers[1:100]] == clf.predict(data.X)[:99].tolist()
    # The rows as text alone would take 5 MB, as an array of doubles 20 MB, the answers 13 MB; the unit is kilobytes.
    assert int(done.stderr) < 60_000
