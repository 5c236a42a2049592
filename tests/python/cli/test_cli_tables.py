"""Tables of every format on the command line: types, missing values, folders, standard input and output."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_helpers import WEATHER
from pyarrow import csv, ipc

import tanager as tg


def as_table(path):
    return pq.read_table(path)


@pytest.fixture
def formats(weather, run, tmp_path):
    """The same table in every format."""
    names = {form: tmp_path / f"all.{form}" for form in ("csv", "csv.gz", "parquet", "arrow", "arrows", "tsv")}
    for form, path in names.items():
        run.well("convert", weather, path, *(["--delimiter", ","] if form == "tsv" else []))
    names["tsv"].write_text(WEATHER.replace(", ", ";").replace(",", "\t").replace('"hail;heavy"', '"hail, heavy"'))
    return names


def test_types_are_those_of_the_whole_column(run, weather, tmp_path):
    run.well("convert", weather, tmp_path / "a.parquet")
    table = as_table(tmp_path / "a.parquet")
    assert [str(field.type) for field in table.schema] == ["string", "double", "int64", "string", "string"]
    assert table.column("sky").to_pylist()[3] is None
    assert table.column("code").to_pylist()[0] == "007"
    assert table.column("wind").to_pylist()[2] == 14.0


def test_a_late_fraction_or_word_makes_the_whole_column_so(run, tmp_path):
    n = 200_000  # several blocks of the smallest memory
    whole = [str(i % 7) for i in range(n)]
    lines = [f"{v},{v},{v},1" for v in whole[:-1]] + ["0.5,word,-3,+1"]
    (tmp_path / "a.csv").write_text("f,s,i,p\n" + "\n".join(lines) + "\n")
    run.well("convert", tmp_path / "a.csv", tmp_path / "a.parquet", "--memory", "1M")
    table = as_table(tmp_path / "a.parquet")
    assert [str(field.type) for field in table.schema] == ["double", "string", "int64", "double"]
    assert table.num_rows == n
    assert table.column("s").to_pylist()[:3] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], "int64"),
        (["1", "", "?"], "int64"),
        (["9223372036854775807", "1"], "int64"),
        (["9223372036854775808", "1"], "double"),
        (["-0", "1"], "double"),
        (["01", "2"], "string"),
        (["1e5", ".5"], "double"),
        (["1", "x"], "string"),
        (["", "NA"], "string"),
        (["true", "false"], "string"),
    ],
)
def test_kinds_of_cells(run, tmp_path, cells, kind):
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{cell},x\n" for cell in cells))
    run.well("convert", tmp_path / "a.csv", tmp_path / "a.parquet")
    assert str(as_table(tmp_path / "a.parquet").schema.field("a").type) == kind


def test_every_format_gives_the_same_model_and_predictions(run, formats, tmp_path):
    models, answers = set(), set()
    for form, path in formats.items():
        model = tmp_path / f"{form}.tng"
        run.well("fit", path, "--class", "play", "--structure", "tan", "-o", model)
        models.add(model.read_bytes())
        answers.add(
            run.well("predict", model, path, "--output-format", "csv", *(["--delimiter", "\t"] * (form == "tsv")))
        )
    assert len(models) == 1
    assert len({answer.replace("\t", ",") for answer in answers}) == 1


def test_the_model_is_that_of_python(run, weather, tmp_path):
    run.well(
        "fit", weather, "--class", "play", "--structure", "tan", "--set", "parameters.alpha=0.5", "-o", tmp_path / "m"
    )
    clf = tg.load(tmp_path / "m")
    table = csv.read_csv(
        io.BytesIO(WEATHER.encode()),
        convert_options=csv.ConvertOptions(
            null_values=["?"], strings_can_be_null=True, column_types={"code": pa.string(), "wind": pa.float64()}
        ),
    )
    expected = tg.BayesNetClassifier("tan", tg.parameters.Dirichlet(0.5)).fit(
        table.drop_columns(["play"]), table.column("play")
    )
    X = table.drop_columns(["play"])
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))
    assert clf.network_.class_name == "play"
    assert clf.n_jobs is None


def test_folders_and_standard_input(run, weather, tmp_path):
    lines = WEATHER.splitlines(keepends=True)
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "b.csv").write_text(lines[0] + "".join(lines[4:]))
    (folder / "a.csv").write_text("".join(lines[:4]))
    (folder / "_SUCCESS").write_text("")
    arguments = ("--class", "play", "--structure", "tan", "-o")
    run.well("fit", weather, *arguments, tmp_path / "1")
    run.well("fit", folder, *arguments, tmp_path / "2")
    run.well("fit", "-", *arguments, tmp_path / "3", stdin=WEATHER.encode())
    run.well("fit", "-", *arguments, tmp_path / "4", stdin=gzip.compress(WEATHER.encode()))
    model = run("fit", weather, *arguments, "-").out
    assert {(tmp_path / name).read_bytes() for name in "1234"} == {model}
    expected = run.well("predict", tmp_path / "1", weather)
    assert run.well("predict", tmp_path / "1", folder) == expected
    assert run.well("predict", tmp_path / "1", "-", stdin=WEATHER.encode()) == expected
    assert run.well("predict", tmp_path / "1", "-", stdin=gzip.compress(WEATHER.encode())) == expected
    assert run.well("predict", "-", weather, stdin=model) == expected


def test_arrow_streams_through_standard_input_and_output(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    stream = run("convert", weather, "-", "--output-format", "arrow-stream").out
    answers = ipc.open_stream(run("predict", tmp_path / "m.tng", "-", "--keep", "code", stdin=stream).out).read_all()
    assert answers.column_names == ["code", "predicted", "P(no)", "P(yes)"]
    assert answers.column("code").to_pylist()[0] == "007"
    run.well("fit", "-", "--class", "play", "-o", tmp_path / "n.tng", stdin=stream)
    assert (tmp_path / "n.tng").read_bytes() == (tmp_path / "m.tng").read_bytes()


def test_text_to_text_keeps_every_cell(run, weather):
    assert run.well("convert", weather, "-") == WEATHER
    assert (
        run.well("convert", weather, "-", "--ignore", "wind", "day", "code", "play").splitlines()[-1] == '"hail, heavy"'
    )


def test_csv_is_quoted_only_where_needed(run, tmp_path):
    table = pa.table({'a"b': ["x,y", 'say "no"', "two\nlines", None, ""], "n": [1.5, 1.0, 1e-7, None, 0.1]})
    pq.write_table(table, tmp_path / "a.parquet")
    text = run.well("convert", tmp_path / "a.parquet", "-")
    assert text.startswith('"a""b",n\n"x,y",1.5\n"say ""no""",1\n"two\nlines",')
    read = csv.read_csv(
        io.BytesIO(text.encode()),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(strings_can_be_null=False),
    )
    assert read.column('a"b').to_pylist() == ["x,y", 'say "no"', "two\nlines", "", ""]
    assert read.column("n").to_pylist() == table.column("n").to_pylist()


def test_options_of_csv_files(run, tmp_path):
    (tmp_path / "a.csv").write_text("1;a;-\n2;b;yes\n1;-;no\n")
    run.well("convert", tmp_path / "a.csv", tmp_path / "a.parquet", "--delimiter", ";", "--no-header", "--missing", "-")
    assert as_table(tmp_path / "a.parquet").to_pydict() == {
        "x0": [1, 2, 1],
        "x1": ["a", "b", None],
        "x2": [None, "yes", "no"],
    }
    run.well("convert", tmp_path / "a.csv", tmp_path / "b.parquet", "--delimiter", ";", "--no-header", "--text", "x0")
    assert as_table(tmp_path / "b.parquet").column("x0").to_pylist() == ["1", "2", "1"]


def test_model_files_are_rewritten(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "--with-counts", "-o", tmp_path / "m.tng")
    run.well("convert", tmp_path / "m.tng", tmp_path / "n.tng")
    assert (tmp_path / "m.tng").read_bytes() == (tmp_path / "n.tng").read_bytes()
    run.well("convert", tmp_path / "m.tng", tmp_path / "n.tng", "--without-counts")
    assert tg.load(tmp_path / "n.tng").counts_ is None
    assert tg.load(tmp_path / "m.tng").counts_ is not None
