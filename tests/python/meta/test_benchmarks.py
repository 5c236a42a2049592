"""The command of the benchmarks: names, and the comparison of two runs. What they measure is not run here."""

from __future__ import annotations

import json
import sys

import pytest
from paths import ROOT

sys.path.insert(0, str(ROOT))

from benchmarks import suites
from benchmarks.harness import comparison
from benchmarks.harness.report import Report, Row
from benchmarks.harness.timing import Timing


def test_names_stand_for_benchmarks():
    known = suites.benchmarks()
    assert set(suites.select(["all"])) == set(known) - set(suites.LEFT_OUT)
    for group in suites.GROUPS:
        assert len(suites.select([group])) > 3
    assert list(suites.select(["search"], ["threads", "chess"])) == ["structure.threads", "structure.chess"]
    assert list(suites.select(["encoding", "predict.tan"])) == ["encoding.strings", "predict.tan"]
    with pytest.raises(ValueError, match="got sepeed"):
        suites.select(["sepeed"])
    with pytest.raises(ValueError, match="got wide"):
        suites.select(["speed"], ["wide"])


def test_stored_results_can_be_compared():
    stored = list((ROOT / "benchmarks" / "results").glob("*.json"))
    assert stored
    for file in stored:
        assert comparison.read(file)
        assert json.loads(file.read_text(encoding="utf-8"))["machine"]["date"] == file.name[:10]


def run(seconds: float, ratio: float, note: float) -> Report:
    report = Report({})
    report.begin("fit", "a table")
    report.table("fit", [Row("tanager", Timing(seconds, seconds)), Row("other", Timing(1.0, 1.0))])
    report.figure("times faster", ratio, "x", at_least=10)
    report.figure("share", note, "%")  # more may be better or worse
    return report


@pytest.mark.parametrize(
    ("seconds", "ratio", "worse"), [(1.04, 19.5, 0), (1.2, 19.5, 1), (0.5, 15.0, 1), (1.2, 15.0, 2)]
)
def test_what_is_worse_is_reported(tmp_path, capsys, seconds, ratio, worse):
    run(1.0, 20.0, 5).save(tmp_path / "before.json")
    (tmp_path / "after").mkdir()
    for i in (1, 2):  # the best of several runs counts
        run(i * seconds, ratio / i, 50).save(tmp_path / "after" / f"{i}.json")
    assert comparison.compare(tmp_path / "before.json", tmp_path / "after", 0.05) == min(worse, 1)
    shown = capsys.readouterr().out
    assert shown.count("WORSE") == worse
    assert f"{worse} of 3 are worse" in shown


def test_runs_that_have_nothing_in_common(tmp_path):
    run(1.0, 20.0, 5).save(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"tables": [], "figures": []}', encoding="utf-8")
    with pytest.raises(ValueError, match="expected results of the same benchmarks"):
        comparison.compare(tmp_path / "a.json", tmp_path / "b.json", 0.05)
    with pytest.raises(FileNotFoundError, match="expected files of --json"):
        comparison.read(ROOT / "benchmarks" / "peers")
