"""The runner of the papers' experiments: what is kept, what random numbers depend on, tests of differences, the page."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.papers import elr_figures, runner
from benchmarks.papers.page import Page, markdown
from benchmarks.papers.paired import compare, ranks
from benchmarks.papers.plan import Plan
from benchmarks.papers.runner import Cache, Part, Results, Row


def small_parts() -> list[Part]:
    """Three parts that need no table and hardly any time."""
    return [
        Part("elr_figures", data, ("OFE",), (0, 1), missing=0.0, settings=(("rows", 12),))
        for data in ("agreement 0.8", "equal 3", "chain")
    ]


def values(results: Results) -> list[tuple[str, Row]]:
    return [(part.data, row) for part, row in results.rows]


def test_results_depend_neither_on_the_order_nor_on_the_processes_and_are_kept(tmp_path, monkeypatch) -> None:
    parts = small_parts()
    plan = Plan(tmp_path / "none.csv")
    first, failed = runner.run(parts, Cache(tmp_path / "a"), plan, jobs=2)
    assert failed == []
    assert len(first.rows) == 3 * 2 * 3  # distributions, draws, methods
    alone = Results()
    for part in reversed(parts):
        alone.add(part, runner.work_on(part)[0])
    assert sorted(values(first)) == sorted(values(alone))
    # Another run finds everything, and starts no process.
    monkeypatch.setattr(runner, "ProcessPoolExecutor", None)
    again, _ = runner.run(parts, Cache(tmp_path / "a"), plan, jobs=1)
    assert values(again) == values(first)


def test_a_part_that_fails_is_told_and_the_others_are_kept(tmp_path, capfd) -> None:
    good, bad = small_parts()[0], Part("elr_figures", "equal x", ("OFE",), settings=(("rows", 12),))
    results, failed = runner.run([bad, good], Cache(tmp_path), Plan(tmp_path / "none.csv"), jobs=1)
    assert len(failed) == 1
    assert "equal x" in failed[0]
    assert {part.data for part, _ in results.rows} == {good.data}
    assert "ValueError" in capfd.readouterr().err


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


def test_random_numbers_are_those_of_experiment_table_seed_and_split() -> None:
    part = Part("elr", "vote", ("NB+OFE",))
    same = replace(part, methods=("TAN+OFE",), missing=0.25, fraction=0.5)
    others = [replace(part, data="car"), replace(part, seed=1), replace(part, experiment="mfe")]
    first = part.random(3).random(4)
    assert np.array_equal(first, same.random(3).random(4))
    assert not any(np.array_equal(first, other.random(3).random(4)) for other in others)
    assert not np.array_equal(first, part.random(4).random(4))


def test_results_are_one_tidy_table(tmp_path) -> None:
    results = Results()
    results.add(Part("x", "t", fraction=0.5), [Row("m", "error", 1, 0.25), Row("m", "error", 0, 0.5)])
    results.save(tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines[0] == dict(zip(runner.COLUMNS, ("x", "t", "m", "1", "0.5", "0.0", "error", "0.25"), strict=True))
    assert results.values("t", "m", "error", fraction=0.5).tolist() == [0.5, 0.25]  # in the order of splits
    assert len(results.values("t", "m", "error")) == 0


@pytest.mark.filterwarnings("ignore:Sample size too small:UserWarning")  # of older versions of SciPy
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


@pytest.mark.filterwarnings("ignore:Sample size too small:UserWarning")
def test_paired_tests_without_spread() -> None:
    same = np.array([1.0, 2.0])
    assert compare(same, same + 1e-12).p_two_sided == 1
    assert compare(same, same + 1e-12).z == 0
    assert compare(same + 1, same).p_greater == 0
    assert compare(same, same + 1).p_less == 0


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


def test_the_plan_is_what_was_measured(tmp_path) -> None:
    parts = [Part("x", "t", splits=(k, k + 1)) for k in (0, 2)]
    cache = Cache(tmp_path)
    cache.path = lambda part: tmp_path / f"{part.splits[0]}.json"  # such an experiment has no module
    cache.write(parts[0], [], 3.0)
    Plan(tmp_path / "s.csv").measure(parts, cache)
    plan = Plan(tmp_path / "s.csv")
    assert [plan.seconds(part) for part in parts] == [3.0, 3.0]
    assert plan.seconds(Part("x", "other")) == 1.5  # the mean of its experiment
    assert plan.elapsed([*parts, parts[0]], jobs=2) == 6.0


def test_a_quick_run_judges_only_what_needs_no_size() -> None:
    page = Page(quick=True)
    page.claim("l", "w", "1", "2", False, "r")
    page.claim("l", "w", "1", "2", False, "r", always=True)
    assert [claim.met for claim in page.claims] == [None, False]
    assert [claim.reason for claim in page.claims] == ["a quick run", "r"]
    with pytest.raises(ValueError, match="rows of 2 cells"):
        markdown(("a", "b"), [("1",)], "lr")
