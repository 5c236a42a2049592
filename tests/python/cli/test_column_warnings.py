"""Columns that are not what they are taken for: ``tanager fit`` says so, once, and goes on."""

from __future__ import annotations

import pytest

from tanager.cli.column_warnings import column_warning


def labels(n, form):
    return [form.format(i) for i in range(n)]


@pytest.mark.parametrize(
    ("values", "n_rows", "part"),
    [
        (labels(60, "C{:05}"), 100, "60 distinct values in 100 rows"),
        (list(range(60)), 100, "60 distinct values in 100 rows"),
        ([*labels(60, "{}.25"), "k.A.", "unknown"], 1000, "numbers but also 'k.A.', 'unknown', so its 62 values"),
        ([*labels(300, "{}"), *"abcd"], 1000, "numbers but also 'a', 'b', 'c' and 1 more"),
        (labels(60, "{},25"), 1000, "numbers with a decimal comma"),
        (labels(28, "2024-01-{:02}"), 1000, "28 dates"),
        (labels(28, "{}.1.2024"), 1000, "28 dates"),
        (list(range(60)), 1000, "60 distinct integers"),
    ],
)
def test_what_is_strange_is_said(values, n_rows, part):
    doubt = column_warning("x", values, n_rows)
    assert part in doubt
    assert doubt.startswith("column 'x' ")


@pytest.mark.parametrize(
    ("values", "n_rows"),
    [
        (labels(20, "C{:05}"), 20),  # few values are worth a table
        (labels(60, "C{:05}"), 1000),
        (list(range(50)), 1000),
        (labels(60, "{:03}"), 1000),
        ([*labels(30, "{}"), *labels(30, "word {}")], 1000),
    ],
)
def test_what_is_not_is_not(values, n_rows):
    assert column_warning("x", values, n_rows) == ""


@pytest.fixture
def table(tmp_path):
    rows = [f"C{i:03},{i % 7}.5,{'x' if i % 3 else 'y'},{'yes' if i % 2 else 'no'}" for i in range(60)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["Kunden-ID,Größe in Metern über dem Boden,kind,class", *rows]) + "\n", encoding="utf-8")
    return path


def test_fit_says_it_and_goes_on(run, table, tmp_path):
    done = run("fit", table, "--class", "class", "-o", tmp_path / "m.tng")
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert done.err.startswith("tanager: warning: column 'Kunden-ID' looks like an ID (60 distinct values in 60 rows)")
    run.well("fit", table, "--class", "class", "--ignore", "Kunden-ID", "-o", tmp_path / "m.tng")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_inspect_shows_names_beside_long_lists_of_values(run, table, tmp_path, monkeypatch, width):
    run("fit", table, "--class", "class", "--structure", "tan", "-o", tmp_path / "m.tng")
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run.well("inspect", tmp_path / "m.tng").splitlines()
    shown = next(line for line in lines if line.startswith("Kunden-ID"))
    assert " 60 " in shown
    assert "C000" in shown
    assert shown.rstrip().endswith("class")
    assert max(map(len, lines)) <= width
