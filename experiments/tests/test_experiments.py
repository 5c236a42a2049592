"""The runner of the experiments: cache, random numbers, paired tests and the report."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.harness import tables
from experiments import code, runner, style
from experiments.__main__ import REPORT, main
from experiments.acll import experiment as acll
from experiments.acll import trees as acll_trees
from experiments.bnclassify import experiment as bnc
from experiments.elr import experiment as elr
from experiments.elr import figures as elr_figures
from experiments.elr import report as elr_report
from experiments.elr.printed import TABLE_V
from experiments.lines import LINES
from experiments.page import Page, markdown
from experiments.paired import compare, corrected_p, ranks
from experiments.plan import Plan
from experiments.runner import Cache, Part, Results, Row

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _own_style():
    """Keep the style of these figures from affecting other tests."""
    with pytest.importorskip("matplotlib").rc_context():
        yield


def small_parts() -> list[Part]:
    """Return three fast parts that need no dataset."""
    return [
        Part("elr_figures", data, ("OFE",), (0, 1), missing=0.0, settings=(("rows", 12),))
        for data in ("agreement 0.8", "equal 3", "chain")
    ]


def values(results: Results) -> list[tuple[str, Row]]:
    return [(part.data, row) for part, row in results.rows]


def test_results_are_cached_and_do_not_depend_on_order_or_processes(tmp_path, monkeypatch) -> None:
    parts = small_parts()
    plan = Plan(tmp_path / "none.csv")
    first, failed = runner.run(parts, Cache(tmp_path / "a"), plan, jobs=2)
    assert failed == []
    assert len(first.rows) == 2 * (5 + 4 + 3)  # samples, methods of every distribution
    alone = Results()
    for part in reversed(parts):
        alone.add(part, runner.work_on(part)[0])
    assert sorted(values(first)) == sorted(values(alone))
    # Another run reads everything from the cache and starts no process.
    monkeypatch.setattr(runner, "ProcessPoolExecutor", None)
    again, _ = runner.run(parts, Cache(tmp_path / "a"), plan, jobs=1)
    assert values(again) == values(first)


def test_a_failed_part_is_reported_and_the_others_are_kept(tmp_path, capfd) -> None:
    good, bad = small_parts()[0], Part("elr_figures", "equal x", ("OFE",), settings=(("rows", 12),))
    results, failed = runner.run([bad, good], Cache(tmp_path), Plan(tmp_path / "none.csv"), jobs=1)
    assert len(failed) == 1
    assert "equal x" in failed[0]
    assert {part.data for part, _ in results.rows} == {good.data}
    assert "ValueError" in capfd.readouterr().err


def test_other_goldens_repeat_their_tests(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TANAGER_SHARED", str(tmp_path))
    without = bnc.digest_of_code()
    (tmp_path / "goldens").mkdir()
    (tmp_path / "goldens" / "car.json").write_text("{}")
    found = bnc.digest_of_code()
    (tmp_path / "goldens" / "car.json").write_text("[]")
    assert len({without, found, bnc.digest_of_code()}) == 3


def test_the_key_depends_on_settings_data_and_version(tmp_path, monkeypatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.csv").write_text("a,c\n1,x\n", encoding="utf-8")
    (tmp_path / "data" / "schema.json").write_text(json.dumps({"t": {"numeric": []}}), encoding="utf-8")
    monkeypatch.setenv("TANAGER_SHARED", str(tmp_path))
    part = Part("elr_figures", "t", ("m",), sources=("t",))
    keys = {part.key()}
    for change in ({"methods": ("n",)}, {"splits": (1,)}, {"fraction": 0.5}, {"missing": 0.1}, {"seed": 1}):
        keys.add(replace(part, **change).key())
    monkeypatch.setattr(elr_figures, "VERSION", -1)
    keys.add(part.key())
    monkeypatch.undo()
    monkeypatch.setenv("TANAGER_SHARED", str(tmp_path))
    (tmp_path / "data" / "t.csv").write_text("a,c\n2,x\n", encoding="utf-8")
    runner.digest.cache_clear()
    keys.add(part.key())
    runner.digest.cache_clear()
    assert len(keys) == 8


def test_random_numbers_depend_on_experiment_dataset_seed_and_split() -> None:
    part = Part("elr", "vote", ("NB+OFE",))
    same = replace(part, methods=("TAN+OFE",), missing=0.25, fraction=0.5)
    others = [replace(part, data="car"), replace(part, seed=1), replace(part, experiment="mfe")]
    first = part.random(3).random(4)
    assert np.array_equal(first, same.random(3).random(4))
    assert not any(np.array_equal(first, other.random(3).random(4)) for other in others)
    assert not np.array_equal(first, part.random(4).random(4))


def test_the_folds_of_acll_depend_on_the_seed(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    table = (rng.choice(list("ACGT"), (60, 3)), np.array(["0", "1"] * 30))
    monkeypatch.setattr(acll, "table_of", lambda *_: table)

    def held_out(seed: int) -> list[float]:
        part = Part("acll", acll.TWO, seed=seed)
        return [value for _, measure, _, value in acll.work(part) if measure == acll.HELD_OUT]

    assert held_out(1) == held_out(1)
    assert held_out(1) != held_out(2)


def test_results_are_saved_as_tidy_csv(tmp_path) -> None:
    results = Results()
    results.add(Part("x", "t", fraction=0.5), [Row("m", "error", 1, 0.25), Row("m", "error", 0, 0.5)])
    results.save(tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines[0] == dict(zip(runner.COLUMNS, ("x", "t", "m", "1", "0.5", "0.0", "error", "0.25"), strict=True))
    assert results.values("t", "m", "error", fraction=0.5).tolist() == [0.5, 0.25]  # in the order of splits
    assert len(results.values("t", "m", "error")) == 0


@pytest.mark.filterwarnings("ignore:Sample size too small:UserWarning")  # older versions of SciPy
def test_paired_tests() -> None:
    first = np.array([1.0, 2.0, 3.0, 4.0, 6.0])
    second = np.array([1.0, 1.0, 2.5, 4.5, 3.0])
    found = compare(first, second)
    assert (found.wins, found.ties, found.losses) == (3, 1, 1)
    assert found.mean == pytest.approx(0.8)
    # d = 0, 1, 0.5, -0.5, 3: t = 0.8 / (1.35093 / sqrt(5)); ranks of 1, 0.5, -0.5, 3 are 3, 1.5, 1.5, 4
    assert found.interval == pytest.approx(2.776445 * 1.350926 / 5**0.5, rel=1e-5)
    assert found.p_greater == pytest.approx(0.1280, abs=2e-4)
    assert found.p_two_sided == pytest.approx(2 * found.p_greater)
    assert found.z == pytest.approx((8.5 - 5) / (4 * 5 * 9 / 24 - 6 / 48) ** 0.5)
    assert found.p_signed_rank == pytest.approx(0.0987, abs=2e-4)
    assert compare(second, first).z == pytest.approx(-found.z)
    # Differences that are equal up to rounding are ties: all have rank 2, and the sum of positive ones is 4.
    rounded = compare(np.array([0.3, 0.4, 0.1]), np.array([0.2, 0.3, 0.2]))
    assert (rounded.z, rounded.wins) == (pytest.approx((4 - 3) / (3 * 4 * 7 / 24 - 24 / 48) ** 0.5), 2)


@pytest.mark.filterwarnings("ignore:Sample size too small:UserWarning")
def test_paired_tests_without_spread() -> None:
    same = np.array([1.0, 2.0])
    assert compare(same, same + 1e-12).p_two_sided == 1
    assert compare(same, same + 1e-12).z == 0
    assert compare(same + 1, same).p_greater == 0
    assert compare(same, same + 1).p_less == 0


def test_the_published_accuracies_give_the_published_p_values() -> None:
    # Its one-sided p-values follow from its accuracies, except for two arrows.
    for first, second, arrow in (
        ("TAN+OFE", "TAN+ELR", "↑ 0.12"),
        ("GBN+OFE", "GBN+ELR", "↑ 0.2"),
        ("NB+ELR", "GBN+OFE", "← 0.028"),
    ):
        assert elr_report.arrow_of(elr_report.tested_in_print(0.0, first, second)) == arrow
    for first in ("NB+EM", "NB+APN"):
        assert TABLE_V[first]["GBN+EM"] == "^ 0.04"
        assert elr_report.arrow_of(elr_report.tested_in_print(elr.MISSING, first, "GBN+EM")).startswith("← 0.04")


def test_general_networks_with_missing_values_have_nearly_all_datasets(monkeypatch) -> None:
    monkeypatch.setattr(tables, "schema", lambda _: {})
    found = {part.data for part in elr.parts(False, 0) if part.missing and part.methods[0].startswith("GBN")}
    assert len(found) == 22


def test_p_values_are_corrected_for_shared_training_rows() -> None:
    difference = np.array([1.0, 2.0, 0.0, 3.0])
    # t = 1.5 / (1.290994 * sqrt(1/4 + 1/3)) = 1.5213, three degrees of freedom
    assert corrected_p(difference, 4) == pytest.approx(0.2255, abs=2e-4)
    assert corrected_p(difference, 4) > compare(difference, np.zeros(4)).p_two_sided
    assert corrected_p(np.zeros(4), 4) == 1
    assert corrected_p(np.ones(4), 4) == 0


def test_ranks_and_the_critical_difference() -> None:
    # Demsar (2006) has q = 2.343 for three methods at 5 %.
    scores = {
        "a": np.array([3.0, 3.0, 3.0, 2.0]),
        "b": np.array([2.0, 2.0, 1.0, 2.0]),
        "c": np.array([1.0, 1.0, 2.0, 1.0]),
    }
    found = ranks(scores, higher_is_better=True)
    assert found.mean == {"a": pytest.approx(4.5 / 4), "b": pytest.approx(8.5 / 4), "c": pytest.approx(11 / 4)}
    assert found.critical == pytest.approx(2.343 * (3 * 4 / (6 * 4)) ** 0.5, rel=1e-3)
    assert ranks(scores, higher_is_better=False).mean["c"] == pytest.approx(5 / 4)
    # Sums of the same numbers in a different order are ties.
    rounded = {"a": np.array([0.1 + 0.2 + 0.3] * 4), "b": np.array([0.3 + 0.2 + 0.1] * 4), "c": np.zeros(4)}
    assert rounded["a"][0] != rounded["b"][0]
    assert ranks(rounded, higher_is_better=True).mean == {"a": 1.5, "b": 1.5, "c": 3}


def test_the_plan_uses_measured_times(tmp_path) -> None:
    parts = [Part("bnc", "t", splits=(k, k + 1)) for k in (0, 2)]
    cache = Cache(tmp_path)
    cache.path = lambda part: tmp_path / f"{part.splits[0]}.json"
    cache.write(parts[0], [], 3.0)
    Plan(tmp_path / "s.csv").measure(parts, cache)
    plan = Plan(tmp_path / "s.csv")
    assert [plan.seconds(part) for part in parts] == [3.0, 3.0]
    assert plan.seconds(Part("bnc", "other")) == 1.5  # the mean of its experiment
    assert plan.elapsed([*parts, parts[0]], jobs=2) == 6.0


def test_a_quick_run_evaluates_only_claims_marked_always() -> None:
    page = Page(quick=True)
    page.claim("ELR, figure 8", "w", "1", "2", False, "r")
    page.claim("ELR, figure 8", "w", "1", "2", False, "r", always=True)
    assert [claim.met for claim in page.claims] == [None, False]
    assert [claim.reason for claim in page.claims] == ["a quick run", "r"]
    with pytest.raises(ValueError, match="rows of 2 cells"):
        markdown(("a", "b"), [("1",)], "lr")


def test_an_interrupted_run_continues(tmp_path, monkeypatch) -> None:
    parts, plan = small_parts(), Plan(tmp_path / "none.csv")
    whole, _ = runner.run(parts, Cache(tmp_path / "whole"), plan, jobs=1)
    work_on, calls = runner.work_on, []

    def interrupted(part):
        calls.append(part)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return work_on(part)

    monkeypatch.setattr(runner, "work_on", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.run(parts, Cache(tmp_path / "interrupted"), plan, jobs=1)
    done = list((tmp_path / "interrupted").rglob("*.json"))
    assert len(done) == 1
    times = done[0].stat().st_mtime_ns
    monkeypatch.undo()
    rest, failed = runner.run(parts, Cache(tmp_path / "interrupted"), plan, jobs=1)
    assert failed == []
    assert values(rest) == values(whole)
    assert done[0].stat().st_mtime_ns == times  # the finished part was not repeated


@pytest.mark.parametrize("content", ["", '{"rows": [[', "[]", '{"seconds": 1}', '{"rows": 3, "seconds": 1}'])
def test_damaged_cache_files_are_ignored(tmp_path, content) -> None:
    part, cache = small_parts()[0], Cache(tmp_path)
    cache.write(part, [Row("m", "error", 0, 1.0)], 1.0)
    assert cache.read(part) == ([Row("m", "error", 0, 1.0)], 1.0)
    cache.path(part).write_text(content, encoding="utf-8")
    assert cache.read(part) is None


def test_parts_of_other_code_are_counted_and_repeated_on_request(tmp_path, monkeypatch, capfd) -> None:
    part, cache, plan = small_parts()[0], Cache(tmp_path), Plan(tmp_path / "none.csv")
    runner.run([part], cache, plan, jobs=1)
    content = json.loads(cache.path(part).read_text(encoding="utf-8"))
    assert content["code"] == code.digest_of_code("elr_figures")
    content["code"], content["rows"][0][3] = "other", -1.0
    cache.path(part).write_text(json.dumps(content), encoding="utf-8")
    results, _ = runner.run([part], cache, plan, jobs=1)
    assert (results.n_older, results.n_parts) == (1, 1)
    assert results.rows[0][1].value == -1
    assert "1 were computed by other code" in capfd.readouterr().err
    results, _ = runner.run([part], cache, plan, jobs=1, fresh=True)
    assert results.n_older == 0
    assert results.rows[0][1].value >= 0
    assert not cache.is_older(part)


def test_other_versions_of_libraries_count_as_other_code(monkeypatch) -> None:
    assert f"numpy {np.__version__}" in code.versions()
    own = code.digest_of_code("beyond")
    monkeypatch.setattr(code, "versions", lambda: "numpy 0")
    assert code.digest_of_code("beyond") != own


def test_the_code_hash_ignores_docstrings_and_reports(tmp_path) -> None:
    names = {path.stem for path in code.sources_of("elr")}
    assert {"experiment", "printed", "tables"} <= names
    assert not names & {"report", "page", "runner"}
    assert "truths" in {path.stem for path in code.sources_of("elr_figures")}
    texts = ['"""One."""\nA = 1  # one\n', '"""Two."""\nA = 1\n', '"""One."""\nA = 2\n']
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.py").write_text(text, encoding="utf-8")
    one, two, three = (code.meaning(tmp_path / f"{k}.py") for k in range(3))
    assert one == two
    assert one != three
    assert code.digest_of_code("elr") != code.digest_of_code("mfe")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("seconds", [0.01, 1.0])  # workers start; workers work
def test_ctrl_c_ends_a_run_at_once_and_names_how_to_continue(tmp_path, seconds) -> None:
    script = (
        "import signal, sys\nfrom experiments import runner, __main__ as command\n"
        "from experiments.plan import Plan\n"
        "parts = [runner.Part('elr_figures', 'chain', ('OFE',), tuple(range(99999)), settings=(('rows', n),)) for n in (10, 20)]\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells disable it for background processes
        "    command.follow = lambda options: runner.run(parts, runner.Cache(runner.Path(sys.argv[1])), Plan(), 2)\n"
        "    sys.exit(command.main(['bnc']))\n"
    )
    (tmp_path / "long.py").write_text(script, encoding="utf-8")
    known = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, str(tmp_path / "long.py"), str(tmp_path / "cache")]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "PYTHONPATH": known}
    )
    with process:
        try:
            assert process.stderr is not None
            assert "2 parts" in process.stderr.readline()  # then workers start
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGINT)
            _, rest = process.communicate(timeout=20)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "run the same command to continue" in rest
    assert "Traceback" not in rest


def test_errors_are_reported_before_anything_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TANAGER_DATA", "")
    write_datasets(tmp_path / "data", ["car", "vote"], 0)
    (tmp_path / "file").write_text("", encoding="utf-8")
    start = ["bnc", "--quick", "--data", str(tmp_path / "data"), "--cache", str(tmp_path / "cache")]
    wrong = {
        r"expected datasets of car, goldens, vote, got cra": ["--only", "cra"],
        r"cannot write .*results\.csv": ["--cache", str(tmp_path / "file" / "cache")],
        r"cannot write .*r\.md": ["--report", str(tmp_path / "file" / "r.md")],
    }
    for message, more in wrong.items():
        with pytest.raises(SystemExit, match=message):
            main([*start, *more])
    with pytest.raises(SystemExit, match="2"):
        main([*start, "--jobs", "0"])
    assert not list(tmp_path.rglob("*.json*"))[1:]  # except schema.json
    (tmp_path / "data" / "schema.json").write_text('{"car": {}}', encoding="utf-8")
    with pytest.raises(SystemExit, match="expected the numeric columns of car"):
        main([*start, "--only", "car", "--jobs", "1"])
    (tmp_path / "data" / "schema.json").write_text('{"car": ', encoding="utf-8")
    with pytest.raises(SystemExit, match="expected JSON in"):
        main([*start, "--only", "car", "--jobs", "1"])
    monkeypatch.setenv("TANAGER_DATA", str(tmp_path / "none"))
    with pytest.raises(SystemExit, match=r"expected datasets and their schema\.json in .*none"):
        main(["elr", "--quick", "--cache", str(tmp_path / "cache")])


def test_a_quick_run_leaves_the_report_alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("experiments.__main__.EXPERIMENTS", {"elr_figures": ("elr.figures", "elr.figures")})
    monkeypatch.setattr(elr_figures, "parts", lambda quick, seed: [])
    before = REPORT.read_bytes()
    assert main(["all", "--quick", "--cache", str(tmp_path)]) == 0
    assert REPORT.read_bytes() == before
    assert "A quick run" in (tmp_path / "reproduction.md").read_text(encoding="utf-8")


def write_datasets(folder: Path, names: Sequence[str], seed: int) -> None:
    """Write small datasets of these names, with a schema like that of the published ones."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    schema = {}
    for name in names:
        cells = rng.choice(["a", "b", "c"], (60, 4))
        lines = [",".join((*row, "yes" if row[0] == row[1] else "no")) for row in cells]
        (folder / f"{name}.csv").write_text("\n".join(["f,g,h,i,class", *lines, ""]), encoding="utf-8")
        nominal = {feature: ["a", "b", "c"] for feature in "fghi"}
        schema[name] = {"numeric": [], "nominal": nominal, "class": ["no", "yes"]}
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")


def test_data_names_another_folder_of_datasets(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TANAGER_DATA", "")  # restore what the command sets
    found = []
    for seed, folder in enumerate(("first", "second")):
        write_datasets(tmp_path / folder, ["car", "vote"], seed)
        out = tmp_path / f"{folder}.csv"
        command = ["bnc", "--quick", "--only", "car", "--jobs", "1", "--cache", str(tmp_path / "cache")]
        assert main([*command, "--data", str(tmp_path / folder), "--csv", str(out)]) == 0
        found.append(out.read_text(encoding="utf-8"))
        runner.digest.cache_clear()
    with (tmp_path / "first.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "kdb 2" and row["measure"] == "accuracy"]
    assert len(rows) == 10  # folds
    assert {row["data"] for row in rows} == {"car"}
    assert found[0] != found[1]  # other datasets of the same name are not read from the cache
    with pytest.raises(SystemExit, match=r"expected a folder with datasets and their schema\.json"):
        main(["bnc", "--data", str(tmp_path)])
    for experiment, message in (
        ("beyond", r"expected the dataset .*adult\.csv"),
        ("elr", r"expected the dataset .* in .*schema\.json, got car, vote"),
    ):
        with pytest.raises(SystemExit, match=message):
            main([experiment, "--data", str(tmp_path / "first"), "--cache", str(tmp_path / "cache")])


def test_a_result_is_met_if_all_its_claims_are() -> None:
    page = Page(quick=False)
    page.claim("ELR, figure 8", "one", "1", "1", True)
    page.claim("ELR, figure 8", "two", "1", "2", None, "beyond the paper")
    assert page.verdict("ELR, figure 8") == "met"
    page.claim("ELR, figure 8", "three", "1", "3", False, "since it is so")
    assert page.verdict("ELR, figure 8") == "**1 of 2**"
    assert page.verdict("bnclassify") == "not evaluated"
    text = "\n".join(page.claims_of("ELR, figure 8", "What it says."))
    assert "| two   | 1     | 2    | reported (1)    |" in text
    assert "- (2) since it is so." in text
    assert "three " in page.lines_table(LINES)[2 + list(LINES).index("ELR, figure 8")]
    with pytest.raises(ValueError, match="expected a key of LINES or MORE"):
        page.claim("no such line", "", "", "", True)


def test_the_first_of_equally_good_iterations() -> None:
    errors = [[0.2, 0.1, 0.1], [0.2, 0.1, 0.3], [0.0, 0.1, 0.2], [0.3, 0.2, 0.1], [0.1 + 1e-15, 0.1, 0.1]]
    assert elr_figures.first_of_equal(errors) == 1  # of 1, 1, 0, 2, 0
    part = Part("elr_figures", "equal 4", elr_figures.methods("equal 4", 0.0), (2,), settings=(("rows", 400),))
    found = {method: value for method, _, _, value in elr_figures.work(part)}
    assert tuple(found) == ("OFE", elr_figures.ELR, elr_figures.FIRST, elr_figures.OWN)
    assert (
        found[elr_figures.ELR] < found[elr_figures.FIRST]
    )  # four of five folds do not distinguish the first from the others
    assert elr_figures.FIRST not in elr_figures.methods("equal 4", 0.5)


def test_claims_are_evaluated_with_the_papers_stopping_rule() -> None:
    rule = elr.learner("ELR", short=False)
    assert (rule.tune_by, rule.tune_rule) == ("error", "median")
    assert elr.learner("ELR", short=True).max_iter == elr.SHORT["max_iter"]
    assert elr.learner(elr.LIKELIHOOD, short=False).tune_by == "cll"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # old versions of matplotlib with a new parser
def test_a_method_looks_the_same_in_every_panel() -> None:
    pytest.importorskip("matplotlib")
    figure, axes = style.panels(2)
    values = np.array([[1.0, 2.0], [2.0, 4.0]])
    style.curves(axes[0], (1, 2), {"OFE": values, "ELR": values}, looks=elr_figures.LOOKS)
    style.curves(axes[1], (1, 2), {"APN": values, "EM": values, "ELR": values}, looks=elr_figures.LOOKS)
    colors = [{c.get_label(): c[0].get_color() for c in panel.containers} for panel in axes]
    assert colors[0]["ELR"] == colors[1]["ELR"]
    assert len(set(colors[1].values())) == 3
    figure.clear()
    for data, missing in (("equal 4", 0.0), ("equal 4", 0.5), ("agreement 1", 0.0), ("agreement 1", 0.2)):
        found = [elr_figures.LOOKS[method] for method in elr_figures.methods(data, missing)]
        assert len(set(found)) == len(found)


def test_all_rooted_trees() -> None:
    # Cayley: n to the power of n - 1.
    assert [len(set(acll_trees.rooted_trees(n))) for n in (1, 2, 3, 4)] == [1, 2, 9, 64]
