"""tanager-predict, the program without Python: the same answers as Python gives, and what it says when it cannot."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from native_program import Run

import tanager
from tanager.cli import main
from tanager.structure import FixedStructure

MISSING = ["", "?", "#N/A", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"]


def make_table(n_rows: int, seed: int) -> pd.DataFrame:
    """Columns of all kinds with gaps, whose labels try a CSV reader; all depend on one hidden value."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(3, size=n_rows)
    noisy = np.where(rng.random((7, n_rows)) < 0.7, hidden, rng.integers(3, size=(7, n_rows)))
    texts = np.array(['say "hi", twice\r\n', "grün 🦜", "a label of more than sixteen bytes"], dtype=object)
    table = pd.DataFrame(
        {
            "te,xt": texts[noisy[0]],
            "count": pd.array(noisy[1] * 2**40 - 7, dtype="Int64"),
            'fl"ag': pd.array(noisy[2] == 1, dtype="boolean"),
            "size\n": noisy[3] + rng.normal(size=n_rows) / 4,
            "level": np.array([0.5, 1.0, 1e300])[noisy[4]],
            "tiny": np.array(list("abc"), dtype=object)[noisy[5]],
            "many": pd.array(rng.integers(300, size=n_rows), dtype="Int64"),
        }
    )
    for name in table.columns:
        table.loc[rng.random(n_rows) < 0.1, name] = None
    table["class"] = np.array(["no, never", "", "yes"], dtype=object)[hidden]
    return table


def to_csv(table: pd.DataFrame, rng: np.random.Generator, delimiter: str = ",", end: str = "\n") -> str:
    """Write a table as others might: its cells at random in quotes or not, gaps as any marker, empty lines between."""

    def cell(value: Any) -> str:
        text = str(rng.choice(MISSING)) if pd.isna(value) else str(value)
        if rng.random() < 0.2 or any(c in text for c in (delimiter, '"', "\n", "\r")):
            return '"' + text.replace('"', '""') + '"'
        return text

    rows = [list(table.columns), *table.astype(object).itertuples(index=False)]
    lines = [delimiter.join(map(cell, row)) + end * int(rng.integers(1, 3)) for row in rows]
    return "".join(lines).removesuffix(end)


def read(data: bytes, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter, strict=True)
    return header, rows


def labels(classes: np.ndarray) -> list[str]:
    """Return classes as the program writes them."""
    return [
        json.dumps(c) if isinstance(c, bool) else f"{c:g}" if isinstance(c, float) else str(c) for c in classes.tolist()
    ]


def check_answers(clf: Any, table: pd.DataFrame, data: bytes, delimiter: str = ",") -> None:
    header, rows = read(data, delimiter)
    names = labels(clf.classes_)
    assert header == ["predicted", *(f"P({name})" for name in names)]
    got = np.array([[float(cell) for cell in row[1:]] for row in rows]).reshape(-1, len(names))
    assert got.tobytes() == np.ascontiguousarray(clf.predict_proba(table)).tobytes()
    assert [row[0] for row in rows] == labels(clf.predict(table))


def command_answers(folder: Path, text: str, *options: str) -> bytes:
    """Return what ``tanager predict`` writes."""
    (folder / "new.csv").write_bytes(text.encode())
    names = [str(folder / name) for name in ("model.tng", "new.csv", "answers.csv")]
    assert main(["predict", *names[:2], "--output", names[2], *options]) == 0
    return (folder / "answers.csv").read_bytes()


def as_general() -> tanager.BayesNetClassifier:
    """Return a network in which features have several parents, and the class one."""
    arcs = [
        ("te,xt", "class"),
        ("class", 'fl"ag'),
        ("count", 'fl"ag'),
        ("class", "size\n"),
        ("tiny", "size\n"),
        ("level", "tiny"),
    ]
    return tanager.BayesNetClassifier(structure=FixedStructure(arcs, class_arcs="listed"))


KINDS: dict[str, Callable[[], Any]] = {
    "naive": tanager.NaiveBayesClassifier,
    "tan": tanager.TANClassifier,
    "kdb": tanager.KDBClassifier,
    "aode": tanager.AODEClassifier,
    "tbmatan": lambda: tanager.TBMATANClassifier(max_assignments=16),
    "general": as_general,
}


@pytest.mark.filterwarnings("ignore::tanager.EstimateWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_the_program_gives_the_bits_of_python(kind: str, run: Run, tmp_path: Path) -> None:
    train, new = make_table(600, seed=1), make_table(200, seed=2).drop(columns="class")
    new.loc[0] = None
    new.loc[1, "te,xt"] = "never seen"
    new.loc[2, "count"] = 12345
    new.loc[3, "size\n"] = -np.inf
    new.loc[4, "many"] = 10**15
    clf = KINDS[kind]().fit(train.drop(columns="class"), train["class"])
    clf.save(tmp_path / "model.tng")
    text = to_csv(new.sample(frac=1.0, axis=1, random_state=1), np.random.default_rng(3))
    done = run("model.tng", "-", text=text)
    assert (done.returncode, done.stderr) == (0, b"")
    check_answers(clf, new, done.stdout)
    assert command_answers(tmp_path, text) == done.stdout


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "tab"])
def test_the_many_ways_to_write_a_table_mean_the_same(end: str, delimiter: str, run: Run, tmp_path: Path) -> None:
    train, new = make_table(300, seed=4), make_table(50, seed=5).drop(columns="class")
    clf = tanager.TANClassifier().fit(train.drop(columns="class"), train["class"])
    clf.save(tmp_path / "model.tng")
    character = "\t" if delimiter == "tab" else delimiter
    text = "\ufeff" + to_csv(new, np.random.default_rng(6), character, end)
    done = run("model.tng", "--delimiter", delimiter, text=text)
    assert (done.returncode, done.stderr) == (0, b"")
    check_answers(clf, new, done.stdout, character)
    assert command_answers(tmp_path, text, "--delimiter", character) == done.stdout


def test_large_tables_keep_their_order_on_any_number_of_threads(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    hidden = rng.integers(2, size=60_000)
    X = pd.DataFrame(
        {f"f{j}": np.where(rng.random(60_000) < 0.6, hidden, rng.integers(4, size=60_000)) for j in range(8)}
    )
    clf = tanager.TANClassifier().fit(X[:5000], hidden[:5000])
    clf.save(tmp_path / "model.tng")
    X.assign(id=np.arange(60_000)).to_csv(tmp_path / "table.csv", index=False)
    results = [run("model.tng", "table.csv", "--keep", "id", "--threads", n).stdout for n in (1, 2, 5)]
    assert results[0] == results[1] == results[2]
    text = (tmp_path / "table.csv").read_text()
    assert command_answers(tmp_path, text, "--keep", "id", "--memory", "1M") == results[0]
    header, rows = read(results[0])
    assert header == ["id", "predicted", "P(0)", "P(1)"]
    assert [int(row[0]) for row in rows] == list(range(60_000))
    got = np.array([[float(cell) for cell in row[2:]] for row in rows])
    assert got.tobytes() == clf.predict_proba(X).tobytes()
    assert [int(row[1]) for row in rows] == clf.predict(X).tolist()


@pytest.mark.slow
def test_the_command_in_python_gives_the_same_answers(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("rich")
    pytest.importorskip("pyarrow")
    train, new = make_table(600, seed=8), make_table(400, seed=9)
    new.loc[0] = None
    new.loc[1, "tiny"] = "never seen"
    tanager.TANClassifier().fit(train.drop(columns="class"), train["class"]).save(tmp_path / "model.tng")
    text = to_csv(new, np.random.default_rng(10)).encode()
    command = [sys.executable, "-m", "tanager", "predict", "model.tng", "-", "--keep", "te,xt", "many"]
    done = subprocess.run(command, input=text, capture_output=True, check=True, cwd=tmp_path)
    header, rows = read(done.stdout)
    own_header, own_rows = read(run("model.tng", "-", "--keep", "te,xt", "--keep", "many", text=text).stdout)
    assert header == own_header == ["te,xt", "many", "predicted", "P()", "P(no, never)", "P(yes)"]
    assert len(rows) == len(own_rows) == 400
    assert [row[:3] for row in rows] == [row[:3] for row in own_rows]
    assert [list(map(float, row[3:])) for row in rows] == [list(map(float, row[3:])) for row in own_rows]


@pytest.mark.parametrize("classes", [[False, True], [-3, 2**40], [1.0, 3e20], ["é,\n", '"']])
def test_classes_of_every_kind(classes: list[Any], run: Run, tmp_path: Path) -> None:
    X = pd.DataFrame({"a": ["x", "y", "x", "y", "x"]})
    clf = tanager.NaiveBayesClassifier().fit(X, np.array(classes)[[0, 1, 0, 1, 1]])
    clf.save(tmp_path / "model.tng")
    check_answers(clf, X, run("model.tng", text="a\nx\ny\nx\ny\nx\n").stdout)


TABLE = 'wet,note,sky,wind\ntrue,"a, ""b""",sun,4\nFALSE,,hail, +1e1 \nTrue,NA,rain,?\n'


@pytest.mark.usefixtures("model")
def test_columns_to_keep_come_first_as_they_were(run: Run) -> None:
    done = run("model.tng", "-", "--keep", "note", "--keep=wind", "--no-probabilities", "--missing", "?", text=TABLE)
    assert done.stdout.decode() == 'note,wind,predicted\n"a, ""b""",4,play\n, +1e1 ,play\nNA,?,stay\n'
    header, rows = read(run("model.tng", "--keep-all", "--missing", "?", text=TABLE).stdout)
    assert header == ["wet", "note", "sky", "wind", "predicted", "P(play)", "P(stay)"]
    assert [row[:4] for row in rows] == read(TABLE.encode())[1]


@pytest.mark.usefixtures("model")
def test_markers_replace_the_usual_ones(run: Run) -> None:
    table = "sky,wind,wet\nsun,{},true\n"
    usual = {run("model.tng", text=table.format(marker)).stdout for marker in MISSING}
    assert usual == {run("model.tng", "--missing", "-9", text=table.format("-9")).stdout}
    assert usual != {run("model.tng", text=table.format("-9")).stdout}
    assert run("model.tng", "--missing", "-9", text=table.format("NA")).returncode == 2


def test_an_empty_class_is_still_a_row(run: Run, tmp_path: Path) -> None:
    tanager.NaiveBayesClassifier().fit(pd.DataFrame({"a": ["x", "y"]}), ["", "b"]).save(tmp_path / "model.tng")
    done = run("model.tng", "--no-probabilities", text="a\nx\ny\n")
    assert done.stdout == b'predicted\n""\nb\n'


def test_unseen_categories_are_what_the_model_says(run: Run, tmp_path: Path) -> None:
    X = pd.DataFrame({"sky": ["sun", "rain"]})
    for unseen in ("missing", "error"):
        tanager.NaiveBayesClassifier(unseen=unseen).fit(X, ["a", "b"]).save(tmp_path / f"{unseen}.tng")
    text = "sky\nsun\n\nhail\n"
    said = b"tanager-predict: line 4 of the table: column 'sky' contains the unknown category 'hail'\n"
    assert run("missing.tng", text=text).returncode == 0
    assert run("error.tng", "--unseen", "missing", text=text).returncode == 0
    for done in (run("error.tng", text=text), run("missing.tng", "--unseen=error", text=text)):
        assert (done.returncode, done.stderr) == (2, said)


BAD_TABLES = {
    "": "the table is empty: expected a header with column names",
    "\n\n": "the table is empty: expected a header with column names",
    "sky,wet\nsun,true\n": "the table lacks the column 'wind' of the model",
    "a\nsun\n": "the table lacks the columns 'sky', 'wind', 'wet' of the model",
    "sky,wind,wet,sky\n": "the table has duplicate columns named 'sky'",
    "sky,wind,wet\nsun,1,true\nsun,1\n": "line 3 of the table: expected 3 fields as in the header, got 2",
    'sky,wind,wet\n"a\nb",1,true\nsun,x1,true\n': "line 4 of the table: column 'wind' must be numeric, but contains 'x1'",
    'sky,wind,wet\nsun,1,true\n\n"sun,1,true\nsun,1,true\n': "line 4 of the table: unclosed quote",
    'sky,wind,wet\n"su"n,1,true\n': "line 2 of the table: text after a closing quote; double a quote that is "
    "part of the value",
    'sky,"wi"nd,wet\n': "line 1 of the table: text after a closing quote; double a quote that is part of the value",
}


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("table", BAD_TABLES)
def test_a_bad_table_is_one_sentence(table: str, run: Run, tmp_path: Path) -> None:
    done = run("model.tng", "-", "--output", "out.csv", text=table)
    assert (done.returncode, done.stderr.decode()) == (2, f"tanager-predict: {BAD_TABLES[table]}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["model.tng"]


NO_CSV = {
    b"\x1f\x8b\x08": "a gzip-compressed file; decompress it",
    b"PAR1\x15": "a Parquet file; use 'tanager predict'",
    b"\xff\xff\xff\xff\x10": "an Arrow stream",
    "sky,wind,wet\n".encode("utf-16"): "text in another encoding than UTF-8",
}


@pytest.mark.usefixtures("model")
def test_invalid_csv_is_reported(run: Run) -> None:
    for table, what in NO_CSV.items():
        said = f"tanager-predict: expected CSV, got {what}"
        assert run("model.tng", text=table).stderr.decode().startswith(said)
    done = run("model.tng", "-o", "out.csv", text=b"sky,wind,wet\nsun,1,true\nbrumeux \xe9t\xe9,1,true\n")
    said = "tanager-predict: line 3 of the table: column 'sky' is not UTF-8 text\n"
    assert (done.returncode, done.stderr.decode()) == (2, said)


@pytest.mark.usefixtures("model")
def test_errors_far_into_a_file_name_their_line(run: Run) -> None:
    rows = ["sun,1,true"] * 100_000
    rows[77_777] = "sun,wind,true"
    rows[88_888] = "sun"
    done = run("model.tng", text="sky,wind,wet\n" + "\n".join(rows))
    assert done.returncode == 2
    assert b"line 77779 of the table: column 'wind' must be numeric, but contains 'wind'" in done.stderr


BAD_COMMANDS = {
    (): "expected a model file",
    ("model.tng", "a", "b"): "expected a model file and a table, got also 'b'",
    ("model.tng", "--threads", "x"): "--threads: expected an integer from 0 (one per CPU) to 1024, got 'x'",
    ("model.tng", "--threads"): "--threads requires a value",
    ("model.tng", "--keep-all=1"): "--keep-all takes no value, got '1'",
    (
        "model.tng",
        "--delimiter",
        "ab",
    ): "--delimiter: expected 'tab' or one ASCII character other than a quote or line end, got 'ab'",
    ("model.tng", "--unseen", "x"): "--unseen: expected 'missing' or 'error', got 'x'",
    ("model.tng", "--fast"): "unknown option '--fast'",
}


@pytest.mark.parametrize("arguments", BAD_COMMANDS)
def test_a_bad_command_line_is_one_sentence(arguments: tuple[str, ...], run: Run) -> None:
    done = run(*arguments)
    said = f"tanager-predict: {BAD_COMMANDS[arguments]}; see tanager-predict --help\n"
    assert (done.returncode, done.stderr.decode(), done.stdout) == (2, said, b"")


@pytest.mark.usefixtures("model")
def test_what_cannot_be_read_or_written_is_one_sentence(run: Run, tmp_path: Path) -> None:
    for table, why in (("absent.csv", "No such file or directory"), (".", "Is a directory")):
        done = run("model.tng", table)
        said = f"tanager-predict: cannot read the table '{table}': {why}\n"
        assert (done.returncode, done.stderr.decode()) == (2, said)  # as in Python
    done = run("model.tng", "-", "-o", "absent/out.csv", text=TABLE)
    assert (done.returncode, done.stderr) == (
        1,
        b"tanager-predict: cannot write 'absent/out.csv': the folder 'absent' does not exist\n",
    )
    done = run("model.tng", "--missing=?", "-o", "/dev/full", text=TABLE)
    assert (done.returncode, done.stderr) == (
        1,
        b"tanager-predict: cannot write '/dev/full': No space left on device\n",
    )
    with Path("/dev/full").open("wb") as full:
        command = [*run("--version").args[:1], "model.tng", "--missing=?"]
        full_out = subprocess.run(
            command, input=TABLE.encode(), stdout=full, stderr=subprocess.PIPE, check=False, cwd=tmp_path
        )
    assert (full_out.returncode, full_out.stderr) == (
        1,
        b"tanager-predict: cannot write standard output: No space left on device\n",
    )
    done = run("model.tng", "-o", "./model.tng", text=TABLE)
    said = "tanager-predict: the output './model.tng' would overwrite the model; choose another name\n"
    assert (done.returncode, done.stderr.decode()) == (2, said)
    (tmp_path / "broken.tng").write_bytes((tmp_path / "model.tng").read_bytes()[:-1])
    done = run("broken.tng", text=TABLE)
    assert done.returncode == 2
    assert done.stderr.startswith(b"tanager-predict: cannot load the model file 'broken.tng': ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.tng", "model.tng"]


@pytest.mark.usefixtures("model")
def test_a_column_of_the_result_cannot_be_kept_twice(run: Run) -> None:
    done = run("model.tng", "--keep", "P(play)", text="sky,wind,wet,P(play)\n")
    assert done.returncode == 2
    assert (
        done.stderr
        == b"tanager-predict: cannot keep the column 'P(play)': the predictions have a column of that name\n"
    )
    done = run("model.tng", "--keep", "moon", text="sky,wind,wet\n")
    assert done.stderr == b"tanager-predict: --keep: the table has no column 'moon'\n"
    assert run("model.tng", "--keep", "P(play)", "--no-probabilities", text="sky,wind,wet,P(play)\n").returncode == 0


@pytest.mark.usefixtures("model")
def test_output_replaces_a_file_as_a_whole(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("before", encoding="utf-8")
    out.chmod(0o640)
    assert run("model.tng", "-o", "out.csv", text="sky,wind,wet\nsun,x,true\n").returncode == 2
    assert out.read_text(encoding="utf-8") == "before"
    assert run("model.tng", "-o", "out.csv", text="sky,wind,wet\n").returncode == 0
    assert out.read_text(encoding="utf-8") == "predicted,P(play),P(stay)\n"
    assert out.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.tng", "out.csv"]


def start(program: Path, *arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    """Start the program with signals as a terminal would set them."""

    def restore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    return subprocess.Popen(
        [str(program), *arguments],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        cwd=cwd,
        preexec_fn=restore,  # noqa: PLW1509
    )


def test_a_file_that_must_not_grow_leaves_nothing(run: Run, tmp_path: Path) -> None:
    table = make_table(400, 1)
    tanager.NaiveBayesClassifier().fit(table, np.arange(400) % 2).save(tmp_path / "model.tng")
    table.to_csv(tmp_path / "table.csv", index=False)
    before = sorted(tmp_path.iterdir())
    limit = (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    done = run(
        "model.tng", "table.csv", "-o", "out.csv", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert (done.returncode, done.stderr) == (1, b"tanager-predict: cannot write 'out.csv': File too large\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_interruption_leaves_no_file(number: signal.Signals, code: int, program: Path, tmp_path: Path) -> None:
    process = start(program, "model.tng", "-", "-o", "out.csv", cwd=tmp_path)
    assert process.stdin
    process.stdin.write(b"sky,wind,wet\nsun,1,true\n")
    process.stdin.flush()
    for _ in range(6000):
        if len(list(tmp_path.iterdir())) == 2:
            break
        time.sleep(0.01)
    assert len(list(tmp_path.iterdir())) == 2  # the model and the unfinished output
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert said == (b"tanager-predict: interrupted\n" if code == 130 else b"")
    assert [path.name for path in tmp_path.iterdir()] == ["model.tng"]


@pytest.mark.usefixtures("model")
def test_a_closed_pipe_ends_it_quietly(program: Path, tmp_path: Path) -> None:
    process = start(program, "model.tng", cwd=tmp_path)
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    _, said = process.communicate(b"sky,wind,wet\n" + b"sun,1,true\n" * 200_000, timeout=60)
    assert (process.returncode, said) == (-signal.SIGPIPE, b"")


def test_help_and_version(run: Run) -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert all(len(line) <= 80 for line in text.splitlines())
    names = ("output", "keep ", "keep-all", "no-probabilities", "missing", "unseen", "delimiter", "threads")
    for name in names:
        assert f"--{name}" in text
    assert f"'' {' '.join(MISSING[1:])}\n" in text
    assert run("--version").stdout.decode() == f"tanager-predict {tanager.__version__}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_table(program: Path, model: Any, tmp_path: Path) -> None:
    process = start(program, "model.tng", "-", "-o", os.devnull, "--threads", "2", cwd=tmp_path)
    assert process.stdin
    chunk = b"sun,1.25,true\nrain,20,false\n" * 20_000
    process.stdin.write(b"sky,wind,wet\n" + chunk * 40)  # 22 MB
    peak = next(
        line for line in Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines() if "VmHWM" in line
    )
    process.communicate()
    assert process.returncode == 0
    assert int(peak.split()[1]) < 40_000
