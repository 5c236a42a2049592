"""How much of a CSV file has been read, as bars show it."""

from __future__ import annotations

import gzip
import io
import sys

import pytest

from tanager.cli.tables.csv_reader import CODED_TEXT, CsvSource
from tanager.cli.terminal import rows_bar

N_ROWS = 200_000


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress") / "long.csv"
    path.write_text("number,word\n" + "".join(f"{i},some text {i % 7}\n" for i in range(N_ROWS)))
    return path


def shares_of(source, read):
    """Read all rows, and return the share of rows read, and the reported share, after every batch."""
    told = []
    read(source, lambda rows, share: told.append((rows, share)))
    done = 0
    for rows, share in told:
        done += rows
        yield done / N_ROWS, share


def look(source, tell):
    source.widen({"number": "nothing", "word": "nothing"}, tell)


def read(source, tell):
    for _ in source.read({"number": CODED_TEXT, "word": CODED_TEXT}, tell):
        pass


def open_csv(path):
    return CsvSource(str(path), delimiter=None, missing=[""], header=True, memory=1 << 20)


@pytest.mark.parametrize("first", [look, read])
def test_shares_are_those_of_the_rows(table, first):
    source = open_csv(table)
    found = list(shares_of(source, first))
    assert len(found) > 20
    for expected, share in found:
        assert share == pytest.approx(expected, abs=0.05)
    for expected, share in shares_of(source, read):  # by then the number of rows is known
        assert share == expected


def test_compressed_files_report_shares_in_the_second_pass(table, tmp_path):
    path = tmp_path / "long.csv.gz"
    path.write_bytes(gzip.compress(table.read_bytes(), 1))
    source = open_csv(path)
    assert {share for _, share in shares_of(source, look)} == {None}
    for expected, share in shares_of(source, read):
        assert share == expected


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_show_the_time_left_where_it_is_known(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with rows_bar("finding types") as tell:
        tell(1000, None)
    assert "1,000 rows" in shown.getvalue()
    assert "left" not in shown.getvalue()
    with rows_bar("learning") as tell:
        tell(1000, 0.5)
    assert "0:00:00 left" in shown.getvalue()
