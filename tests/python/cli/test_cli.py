"""The command line as a user meets it."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest

import tanager as tg
from tanager.cli import main


def test_demo(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "out"), "--folds", "2", "--tables", "monks-1", "iris"]) == 0
    shown = capsys.readouterr().out
    assert "monks-1" in shown
    assert "CategoricalNB" in shown
    comparison = (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert "| monks-1 | 432 x 6 |" in comparison
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "On 144 rows: <bdi>the held-out third of monks-1</bdi>." in report
    assert str(tmp_path / "out" / "report.html") in shown
    data = tg.datasets.load("monks-1", as_frame=True)
    clf = tg.load(tmp_path / "out" / "monks-1.tng")
    with (tmp_path / "out" / "predictions.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["row", data.target_name, "predicted", *(f"P({c})" for c in clf.classes_)]
    np.testing.assert_allclose([[float(p) for p in row[3:]] for row in rows[1:]], clf.predict_proba(data.X), atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["demo", "--tables", "nonsense"], 2, "there is no dataset 'nonsense'"),
        (["demo", "--folds", "1"], 2, "at least 2 folds"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, monkeypatch, capsys, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_output_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--output", str(tmp_path / "file"), "--folds", "2", "--tables", "monks-1"]) == 1
    assert "file" in capsys.readouterr().err


def test_no_command_shows_the_help(capsys):
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_interrupts_end_with_130(monkeypatch, capsys):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("tanager.cli.tour.run_demo", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "tanager: interrupted\n"


def test_the_module_is_the_command():
    run = subprocess.run([sys.executable, "-m", "tanager"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "demo" in run.stdout


def test_help_waits_for_nothing_heavy():
    program = """
import sys
from tanager.cli import main
for command in ([], ["demo"], ["predict"], ["compare"], ["inspect"], ["report"], ["convert"]):
    assert main([*command, "--help"]) == 0
assert not {"sklearn", "scipy", "pyarrow", "rich"} & sys.modules.keys()
import tanager
for name in tanager.__all__:
    assert getattr(tanager, name) is not None and dir(tanager).count(name) == 1
assert tanager.TANClassifier is tanager.classifiers._shortcuts.TANClassifier
try:
    tanager.nothing
except AttributeError as error:
    assert str(error) == "module 'tanager' has no attribute 'nothing'"
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
