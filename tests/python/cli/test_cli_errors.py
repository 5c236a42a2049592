"""What goes wrong has its sentence and its exit code, and leaves no file behind."""

from __future__ import annotations

import argparse
import gc
import gzip
import os
import resource
import sys
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import tanager as tg
from tanager.cli import COMMANDS, build_parser, main


@pytest.fixture
def model(run, weather, tmp_path):
    run.well("fit", weather, "--class", "play", "-o", tmp_path / "m.tng")
    return tmp_path / "m.tng"


def one_sentence(done, code, *parts):
    assert done.code == code
    assert done.err.startswith("tanager")
    assert done.err.count("\n") == 1
    for part in parts:
        assert part in done.err


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv", "--class", "play", "-o", "x"], "file not found: none.csv"),
        (
            ["fit", "weather.csv", "--class", "nothing", "-o", "x"],
            "weather.csv has no column 'nothing' (--class); its columns are sky",
        ),
        (["fit", "weather.csv", "--class", "play", "--ignore", "id", "-o", "x"], "no column 'id' (--ignore)"),
        (["fit", "weather.csv", "--class", "play", "--weight", "w", "-o", "x"], "no column 'w' (--weight)"),
        (["fit", "weather.csv", "--class", "play", "--weight", "sky", "-o", "x"], "column 'sky'"),
        (["fit", "weather.csv", "--class", "play", "--numeric", "sky", "-o", "x"], "column 'sky'"),
        (["fit", "weather.csv", "--class", "play", "--numeric", "id", "-o", "x"], "--numeric: 'id' is not a feature"),
        (["fit", "weather.csv", "--class", "sky", "-o", "x"], "the class 'sky' is missing in row 4"),
        (
            ["fit", "weather.csv", "--class", "sky", "--structure", "pc", "-o", "x"],
            "the class 'sky' is missing in row 4",
        ),
        (["fit", "empty.csv", "--class", "play", "-o", "x"], "empty.csv is empty"),
        (["fit", "header.csv", "--class", "b", "-o", "x"], "header.csv has no rows"),
        (["fit", "ragged.csv", "--class", "b", "-o", "x"], "cannot read ragged.csv: CSV parse error"),
        (["fit", "twice.csv", "--class", "b", "-o", "x"], "duplicate columns named 'a'"),
        (
            ["fit", "wide.csv", "--class", "b", "-o", "x"],
            "expected at most 32,768 columns, but wide.csv has about 50,001",
        ),
        (["fit", "binary.csv", "--class", "b", "-o", "x"], "cannot read binary.csv"),
        (["fit", "false.parquet", "--class", "b", "-o", "x"], "false.parquet is not a Parquet file"),
        (["fit", "cut.parquet", "--class", "b", "-o", "x"], "cannot read cut.parquet"),
        (["fit", "m.tng", "--class", "b", "-o", "x"], "expected data, but m.tng is a model file"),
        (["fit", "folder", "--class", "b", "-o", "x"], "contains no CSV, Parquet or Arrow files"),
        (["fit", "mixed", "--class", "b", "-o", "x"], "have different columns: "),
        (["fit", "weather.csv", "--class", "play", "--set", "k=3", "-o", "x"], "unknown setting 'k'"),
        (
            ["fit", "weather.csv", "--class", "play", "--set", "structure.k=3", "-o", "x"],
            "unknown setting 'structure.k'; the structure has no settings",
        ),
        (["fit", "weather.csv", "--class", "play", "--set", "alpha", "-o", "x"], "NAME=VALUE"),
        (["fit", "weather.csv", "--class", "play", "--set", "parameters.alpha=-1", "-o", "x"], "alpha"),
        (
            ["fit", "weather.csv", "--class", "play", "--structure", "aode", "--parameters", "elr", "-o", "x"],
            "--parameters cannot be combined with --structure aode",
        ),
        (["predict", "weather.csv", "weather.csv", "-o", "x.csv"], "weather.csv"),
        (["predict", "none.tng", "weather.csv", "-o", "x.csv"], "none.tng"),
        (
            ["predict", "m.tng", "header.csv", "-o", "x.csv"],
            "lacks the columns 'sky', 'wind', 'day', 'code' of the model",
        ),
        (["predict", "m.tng", "words.csv", "-o", "x.csv"], "strong"),
        (["predict", "m.tng", "weather.csv", "--keep", "id", "-o", "x.csv"], "no column 'id' (--keep)"),
        (["predict", "m.tng", "weather.csv", "-o", "x.xyz"], "cannot determine the format of"),
        (["predict", "m.tng", "weather.csv", "-o", "x.tng"], "cannot write predictions to the model file 'x.tng'"),
        (["predict", "m.tng", "weather.csv", "-o", "./m.tng", "--output-format", "csv"], "would overwrite the model"),
        (["predict", "m.tng", "weather.csv", "--max-cells", "2.5"], "expected an integer >= 1, got '2.5'"),
        (["fit", "weather.csv", "--class", "play", "-o", "./weather.csv"], "would overwrite the training data"),
        (["predict", "-", "-"], "not both"),
        (["inspect", "cut.tng"], "cut.tng"),
        (["inspect", "m.tng", "--cpt", "nothing"], "no variable 'nothing'"),
        (["convert", "weather.csv", "x.tng"], "train one with 'tanager fit'"),
        (["convert", "m.tng", "x.csv"], "cannot convert the model file m.tng to x.csv"),
        (["convert", "weather.csv", "x.csv", "--ignore", "id"], "no column 'id'"),
        (["compare", "weather.csv", "--class", "play", "--methods", "nonsense"], "unknown structure 'nonsense'"),
        (["compare", "weather.csv", "--class", "play", "--methods", "tan+x"], "unknown parameters 'x'"),
        (["cv", "weather.csv", "--class", "play", "--folds", "100"], "100"),
        (["compare", "weather.csv", "--class", "play", "--limit", "-1"], "--limit: expected a number > 0, got '-1'"),
        (["compare", "weather.csv", "--class", "play", "--limit", "x"], "--limit: expected a number > 0, got 'x'"),
        (["report", "m.tng", "--data", "header.csv"], "no column 'play'"),
    ],
)
def test_bad_input_is_one_sentence(run, model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n")
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    (tmp_path / "wide.csv").write_text("," * 50_000 + "\n")
    (tmp_path / "binary.csv").write_bytes(b"a,b\n\xff\xfe\x00,1\n")
    (tmp_path / "words.csv").write_text("sky,wind,day,code\nsun,strong,1,007\n")
    (tmp_path / "false.parquet").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), "cut.parquet")
    for name, source in (("cut.parquet", "cut.parquet"), ("cut.tng", "m.tng")):
        (tmp_path / name).write_bytes((tmp_path / source).read_bytes()[:-9])
    (tmp_path / "folder").mkdir()
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "mixed" / "b.csv").write_text("a,c\n1,2\n")
    before = files(tmp_path)
    one_sentence(run(*arguments), 2, message)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"a,b\n\xff,1\n", 2, "column 'a' is not UTF-8 text"),
        (b"\xff\xfea\0,\0b\0\n\0", 2, "it is not UTF-8 text"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:12], 1, "Compressed file ended"),
        (gzip.compress(b"", mtime=0)[:10] + b"\xff" * 90, 1, "Error -3"),
        (b'a,b\n1,2\n"' + b"long" * 100_000, 2, "a row is longer than 64 kB; check for an unclosed quote"),
    ],
)
def test_bytes_that_are_no_table(run, tmp_path, content, code, message):
    (tmp_path / "data.csv").write_bytes(content)
    done = run("fit", tmp_path / "data.csv", "--class", "b", "-o", tmp_path / "x", "--memory", "1M")
    one_sentence(done, code, message)
    assert files(tmp_path) == ["data.csv"]


def test_values_that_csv_cannot_hold(run, model, weather, tmp_path):
    table = csv.read_csv(weather, convert_options=csv.ConvertOptions(column_types={"code": pa.string()}))
    pq.write_table(table.append_column("tags", pa.array([["a"]] * len(table))), tmp_path / "data.parquet")
    before = files(tmp_path)
    for command in ("predict", model), ("convert",):
        output = ["-o", tmp_path / "x.csv"] if "predict" in command else [tmp_path / "x.csv"]
        keep = ["--keep", "tags"] if "predict" in command else []
        done = run(*command, tmp_path / "data.parquet", *output, *keep)
        one_sentence(done, 2, "CSV does not support the list<", "values of column 'tags'")
    assert files(tmp_path) == before


@pytest.mark.parametrize("values", [[["a"]], [{"a": 1}]])
def test_columns_that_no_model_takes(run, model, tmp_path, monkeypatch, values):
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", dropped.append)
    pq.write_table(pa.table({"sky": values, "wind": [1.0], "day": [1], "code": ["007"]}), tmp_path / "new.parquet")
    before = files(tmp_path)
    for name in ("x.csv.gz", "x.parquet", "x.arrow"):
        done = run("predict", model, tmp_path / "new.parquet", "-o", tmp_path / name)
        one_sentence(done, 2, "column 'sky' contains", "expected strings, categories, booleans")
    gc.collect()
    assert dropped == []  # as by a Parquet writer that is closed after its file
    assert files(tmp_path) == before


def test_numbers_are_read_alike_whether_kept_or_not(run, model, tmp_path):
    for cell in ("strong", "\u00a03", "1,5"):
        (tmp_path / "new.csv").write_text(f'sky,wind,day,code\nsun,"{cell}",1,007\n', encoding="utf-8")
        for keep in ([], ["--keep", "wind"]):
            done = run("predict", model, tmp_path / "new.csv", *keep)
            one_sentence(
                done, 2, f"column 'wind' must be numeric, but contains '{cell}'; if that means a missing value"
            )


@pytest.mark.parametrize(("mark", "shown"), [(";", "';'"), ("\t", r"'\t'"), ("|", "'|'")])
def test_another_delimiter_is_suggested(run, model, weather, tmp_path, mark, shown):
    table = weather.read_text(encoding="utf-8").replace('"hail, heavy"', "hail").replace(",", mark)
    (tmp_path / "other.csv").write_text(table, encoding="utf-8")
    hint = f"; if columns are separated by {shown}, use --delimiter {shown}"
    one_sentence(run("fit", tmp_path / "other.csv", "--class", "play", "-o", tmp_path / "x"), 2, "(--class)", hint)
    one_sentence(run("predict", model, tmp_path / "other.csv"), 2, "other.csv lacks the columns", hint)
    run.well("predict", model, tmp_path / "other.csv", "--delimiter", mark)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "a.csv", "--class", "y", "-o", "m", "--threads", "0"],
        ["fit", "a.csv", "--class", "y", "-o", "m", "--memory", "much"],
        ["fit", "a.csv", "--class", "y", "-o", "m", "--structure", "nonsense"],
        ["fit", "a.csv", "--class", "y", "-o", "m", "--delimiter", "ab"],
        ["nonsense"],
    ],
)
def test_wrong_options_are_one_sentence(run, arguments):
    one_sentence(run(*arguments), 2, "--help")


def test_folders_that_cannot_be_written_to(run, weather, model, tmp_path):
    (tmp_path / "file").write_text("")
    for name, reason in (("none/x", "no such file"), ("file/x", "not a directory"), ("", "is a directory")):
        output = f"{tmp_path}/{name}"
        one_sentence(run("fit", weather, "--class", "play", "-o", output), 1, f"cannot write {output}", reason)
        one_sentence(run("predict", model, weather, "-o", output, "--output-format", "csv"), 1, "cannot write ")
        one_sentence(run("convert", weather, output, "--output-format", "csv"), 1, "cannot write ")
        one_sentence(run("report", model, "-o", output), 1, "cannot write ")
    assert files(tmp_path) == ["file", "m.tng", "weather.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_folders_without_permission(run, weather, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    one_sentence(run("fit", weather, "--class", "play", "-o", tmp_path / "locked" / "x"), 1, "permission denied")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full disk to try")  # noqa: PTH110
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "arrow-stream"])
def test_full_disks(run, weather, model, form):
    one_sentence(
        run("predict", model, weather, "-o", "/dev/full", "--output-format", form),
        1,
        "cannot write /dev/full: no space left",
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full disk to try")  # noqa: PTH110
def test_full_disks_of_models_and_reports(run, weather, model):
    one_sentence(run("fit", weather, "--class", "play", "-o", "/dev/full"), 1, "no space left")
    one_sentence(run("report", model, "-o", "/dev/full"), 1, "no space left")


@contextmanager
def files_of_at_most(size):
    """Let no file become larger, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("form", ["csv", "arrow"])
def test_disks_that_fill_up_on_the_way_leave_the_old_file(run, model, weather, tmp_path, form):
    rows = weather.read_text().splitlines()
    (tmp_path / "many.csv").write_text("\n".join([rows[0], *rows[1:] * 5000]) + "\n")
    (tmp_path / "p.out").write_text("old")
    with files_of_at_most(20_000):
        done = run("predict", model, tmp_path / "many.csv", "-o", tmp_path / "p.out", "--output-format", form)
    one_sentence(done, 1, f"cannot write {tmp_path / 'p.out'}: file too large")
    assert (tmp_path / "p.out").read_text() == "old"
    assert files(tmp_path) == ["m.tng", "many.csv", "p.out", "weather.csv"]


def test_a_search_that_is_interrupted_saves_nothing(run, weather, tmp_path, monkeypatch):
    real = tg.BayesNetClassifier.fit

    def fit(self, *arguments):
        real(self, *arguments)
        self.search_trace_ = argparse.Namespace(stopped="interrupted")
        return self

    monkeypatch.setattr(tg.BayesNetClassifier, "fit", fit)
    done = run(
        "fit", weather, "--class", "play", "--structure", "hill-climb", "--set", "structure.cv=2", "-o", tmp_path / "m"
    )
    one_sentence(done, 130, "interrupted")
    assert files(tmp_path) == ["weather.csv"]


def test_a_reader_that_has_seen_enough_ends_it_quietly(model, weather, monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert main(["predict", str(model), str(weather)]) == 1
    assert capsys.readouterr().err == ""


def test_closed_standard_streams(model, weather, tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        assert main(["predict", str(model), "-", "-o", str(tmp_path / "p.csv")]) == 1
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["predict", str(model), str(weather)]) == 1
        assert main(["predict", str(model), str(weather), "-o", str(tmp_path / "p.csv")]) == 0
    said = "tanager: cannot read standard input: it is closed\ntanager: cannot write standard output: it is closed\n"
    assert capsys.readouterr().err == said


def test_absent_packages_are_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "tanager.cli.tables.csv_reader", raising=False)
    monkeypatch.delitem(sys.modules, "tanager.cli.tables.training", raising=False)
    done = run("fit", "a.csv", "--class", "y", "-o", "m")
    one_sentence(done, 1, "pyarrow is required to read files: pip install 'tanager[cli]'")


def test_internal_errors_are_one_sentence_too(run, model, monkeypatch):
    def broken(*_arguments):
        raise RuntimeError("what\nis this")

    monkeypatch.setattr("tanager.cli.model_facts.facts", broken)
    one_sentence(run("inspect", model), 1, "internal error (RuntimeError): what is this; set TANAGER_DEBUG=1")


def test_every_option_of_every_command_is_explained():
    parser = build_parser()
    (commands,) = [a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    assert list(commands) == list(COMMANDS)
    for name, command in commands.items():
        assert command.description, name
        assert "examples:\n  tanager " in command.epilog, name
        for action in command._actions:
            assert action.help, (name, action.dest)
            assert action.help != argparse.SUPPRESS
        long = [line for line in f"{command.description}\n{command.epilog}".splitlines() if len(line) > 80]
        assert long == [], name


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(command, capsys):
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert f"usage: tanager {command}" in shown.out


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n    {command} " in shown for command in COMMANDS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tanager {tg.__version__}\n"
