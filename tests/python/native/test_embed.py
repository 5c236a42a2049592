"""A C++ program that finds the installed library, loads a model written by Python and predicts the same bits."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cmake_helpers import ROOT, build, configure, installed_library, run

import tanager

pytestmark = pytest.mark.cpp

PROGRAM = ROOT / "tests" / "embed"


def build_program(cmake_bin: Path, folder: Path, found_by: str) -> Path:
    """Configure and build tests/embed as a separate project, with a package that is found by the given option."""
    configure(cmake_bin, PROGRAM, folder, found_by)
    build(cmake_bin, folder)
    return folder / "embed"


@pytest.fixture(scope="module")
def wheel_program(cmake_bin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built against the library inside the installed Python package."""
    try:
        metadata.distribution("tanager")
    except metadata.PackageNotFoundError:
        pytest.skip("tanager is importable but not installed, so that there is no library beside it")
    found_by = f"-Dtanager_DIR={tanager.get_cmake_dir()}"
    return build_program(cmake_bin, tmp_path_factory.mktemp("wheel"), found_by)


@pytest.fixture(scope="module")
def prefix_program(cmake_bin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built against what ``cmake --install`` puts into an empty folder."""
    folder = tmp_path_factory.mktemp("prefix")
    configure(cmake_bin, ROOT, folder / "build", "-DTANAGER_BUILD_TESTS=OFF")
    # Only the install rules are tested, so a compiled library is reused.
    if library := installed_library():
        for part in library.parent.glob("libtanager*.a"):
            shutil.copy(part, folder / "build" / "cpp")
        shutil.copy(Path(sysconfig.get_path("scripts")) / "tanager-predict", folder / "build" / "cpp" / "programs")
    else:
        build(cmake_bin, folder / "build")
    run(cmake_bin / "cmake", "--install", folder / "build", "--prefix", folder / "installed")
    assert run(folder / "installed" / "bin" / "tanager-predict", "--version").split()[1] == tanager.__version__
    return build_program(cmake_bin, folder / "program", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}")


@pytest.fixture(scope="module", params=["wheel", "prefix"])
def program(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(f"{request.param}_program")
    return found


def make_table(n_rows: int, seed: int) -> pd.DataFrame:
    """Text, integers, booleans and continuous numbers with missing values; all depend on one hidden value."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(3, size=n_rows)
    noisy = np.where(rng.random((4, n_rows)) < 0.7, hidden, rng.integers(3, size=(4, n_rows)))
    table = pd.DataFrame(
        {
            "farbe": np.array(["rot", "grün", "青い 🦜"], dtype=object)[noisy[0]],
            "count": pd.array(noisy[1] * 1000 - 7, dtype="Int64"),
            "flag": pd.array(noisy[2] == 1, dtype="boolean"),
            "size": noisy[3] + rng.normal(size=n_rows) / 4,
            "noise": rng.normal(size=n_rows),
        }
    )
    for name in table.columns:
        table.loc[rng.random(n_rows) < 0.1, name] = None
    table["class"] = np.array(["no", "perhaps", "yes"])[hidden]
    return table


def as_text(value: object) -> str:
    """Return a value as the program reads it: numbers in the shortest form that reads back the same, gaps empty."""
    return "" if pd.isna(value) else str(value)


def predict_by_program(program: Path, model: Path, table: pd.DataFrame, folder: Path) -> np.ndarray:
    rows, out = folder / "rows.txt", folder / "posteriors.bin"
    lines = ["\t".join(as_text(value) for value in row) for row in table.astype(object).itertuples(index=False)]
    rows.write_bytes("".join(line + "\n" for line in lines).encode())
    classes = run(program, model, rows, out).splitlines()
    return np.frombuffer(out.read_bytes(), dtype="<f8").reshape(-1, len(classes))


def make_averages() -> tanager.AODEClassifier:
    return tanager.AODEClassifier(min_count=300)  # more than some values have, so rows differ in their models


def make_stubborn_average() -> tanager.TBMATANClassifier:
    return tanager.TBMATANClassifier(stubbornness=5, edge_beliefs={("farbe", "size"): 100.0, ("flag", "noise"): 0.0})


@pytest.mark.parametrize(
    "make",
    [
        tanager.NaiveBayesClassifier,
        tanager.TANClassifier,
        tanager.AODEClassifier,
        make_averages,
        tanager.TBMATANClassifier,
        make_stubborn_average,
    ],
)
def test_the_program_and_python_agree_in_every_bit(program: Path, make: Callable[[], object], tmp_path: Path) -> None:
    train, new = make_table(2000, seed=1), make_table(1000, seed=2).drop(columns="class")
    new.loc[0] = None
    new.loc[1, "farbe"] = "never seen"
    new.loc[2, "count"] = 12345
    new.loc[3, "size"] = 1e300
    clf = make().fit(train.drop(columns="class"), train["class"])
    clf.save(tmp_path / "model.tng")
    expected = clf.predict_proba(new)
    got = predict_by_program(program, tmp_path / "model.tng", new, tmp_path)
    assert len(np.unique(expected.round(6), axis=0)) > 100
    assert got.shape == expected.shape
    assert got.tobytes() == np.ascontiguousarray(expected, dtype="<f8").tobytes()


def test_class_names_are_those_of_python(program: Path, tmp_path: Path) -> None:
    train = make_table(100, seed=3)
    for labels in (["größe", "b", ""], [-3, 0, 2**40]):
        y = np.array(labels)[train["class"].map({"no": 0, "perhaps": 1, "yes": 2}).to_numpy()]
        clf = tanager.NaiveBayesClassifier().fit(train[["farbe"]], y)
        clf.save(tmp_path / "model.tng")
        (tmp_path / "rows.txt").write_bytes(b"rot\n")
        said = run(program, tmp_path / "model.tng", tmp_path / "rows.txt", tmp_path / "out.bin").split("\n")[:-1]
        assert said == [str(label) for label in clf.classes_.tolist()]


def test_a_broken_model_file_is_one_clear_sentence(program: Path, tmp_path: Path) -> None:
    train = make_table(100, seed=4)
    clf = tanager.NaiveBayesClassifier().fit(train.drop(columns="class"), train["class"])
    path = tmp_path / "model.tng"
    clf.save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    (tmp_path / "rows.txt").write_bytes(b"")
    command = [str(program), str(path), str(tmp_path / "rows.txt"), str(tmp_path / "out.bin")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"embed: cannot load the model file '{path}': its checksum does not match its content: it was damaged or changed\n"
    )
    assert not (tmp_path / "out.bin").exists()


def test_one_row_by_names(program: Path, tmp_path: Path) -> None:
    train = make_table(500, seed=5)
    clf = tanager.TANClassifier().fit(train.drop(columns="class"), train["class"])
    clf.save(tmp_path / "model.tng")
    said = run(program.with_name("one_row"), tmp_path / "model.tng", "farbe=青い 🦜", "size=1.25", "flag=True")
    row = pd.DataFrame({"farbe": ["青い 🦜"], "count": [None], "flag": [True], "size": [1.25], "noise": [np.nan]})
    expected = clf.predict_proba(row)[0]
    lines = [f"{name} {p:.17g}" for name, p in zip(clf.classes_, expected, strict=True)]
    assert said.splitlines() == [*lines, f"predicted: {clf.predict(row)[0]}"]
    command = [str(program.with_name("one_row")), str(tmp_path / "model.tng"), "moon=full"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (2, "one_row: the model has no feature named 'moon'\n")


@pytest.mark.parametrize("n_threads", [1, 4])
def test_threads_of_a_server_share_one_model(program: Path, n_threads: int, tmp_path: Path) -> None:
    train, new = make_table(500, seed=6), make_table(300, seed=7).drop(columns="class")
    clf = tanager.AODEClassifier().fit(train.drop(columns="class"), train["class"])
    clf.save(tmp_path / "model.tng")
    lines = ["\t".join(as_text(value) for value in row) for row in new.astype(object).itertuples(index=False)]
    lines.insert(100, "too short")
    command = [str(program.with_name("server")), str(tmp_path / "model.tng"), str(n_threads)]
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=True)
    expected = [f"{c} {p.max():.6f}" for c, p in zip(clf.predict(new), clf.predict_proba(new), strict=True)]
    assert done.stdout.splitlines() == [*expected[:100], "error: expected 5 values", *expected[100:]]
