"""``tanager convert`` with networks of other tools."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import Standard
from paths import DATA

import tanager as tg


@pytest.mark.parametrize("ending", ["bif", "xml", "xmlbif", "bifxml"])
def test_there_and_back(ending: str, run: Standard, tmp_path: Path) -> None:
    data = tg.datasets.load("monks-1", as_frame=True)
    clf = tg.TANClassifier().fit(data.X, data.y)
    clf.save(tmp_path / "model.tng", with_counts=True)
    run.well("convert", tmp_path / "model.tng", tmp_path / f"model.{ending}")
    run.well("convert", tmp_path / f"model.{ending}", tmp_path / "again.tng")
    again = tg.load(tmp_path / "again.tng")
    np.testing.assert_array_equal(again.predict_proba(data.X), clf.predict_proba(data.X))
    run.well("convert", tmp_path / f"model.{ending}", tmp_path / "other.bif")
    assert (tmp_path / "other.bif").read_text() == clf.network_.to_bif()


def test_a_published_network(run: Standard, tmp_path: Path) -> None:
    run.well("convert", DATA / "asia.bif", tmp_path / "asia.tng", "--class", "lung_cancer")
    network = tg.load(tmp_path / "asia.tng").network_
    assert network.posterior({"xray": "yes"})["yes"] == pytest.approx(0.48871140132, abs=1e-12)


def test_what_cannot_be_converted(run: Standard, tmp_path: Path) -> None:
    tg.AODEClassifier().fit([["a"], ["b"]], [0, 1]).save(tmp_path / "aode.tng")
    tg.NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1]).save(tmp_path / "naive.tng")
    (tmp_path / "bad.bif").write_text("network {")
    asia = DATA / "asia.bif"
    for arguments, message in [
        ([asia, "x.tng"], "--class: required to select the class"),
        ([asia, "x.tng", "--class", "nobody"], "--class: expected one of the variables 'asia'"),
        ([asia, "x.csv", "--class", "xray"], "cannot convert the network"),
        ([tmp_path / "aode.tng", "x.bif"], "contains an average of many networks"),
        ([tmp_path / "naive.tng", "x.bif", "--class", "y"], "expected --class 'class'"),
        ([tmp_path / "bad.bif", "x.tng"], "bad.bif, line 1: expected 'property'"),
        ([tmp_path / "absent.bif", "x.tng"], "absent.bif"),
        (["x.onnx", "x.tng"], "cannot read x.onnx: ONNX is supported as an output format only"),
    ]:
        done = run("convert", *arguments)
        assert done.code in {1, 2}
        assert message in done.err
        assert done.err.count("\n") == 1
    assert not Path("x.tng").exists()


def test_onnx(run: Standard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tg.NaiveBayesClassifier().fit([["a"], ["b"]], [0, 1]).save(tmp_path / "naive.tng")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnx", None)
        assert "pip install 'tanager[onnx]'" in run("convert", tmp_path / "naive.tng", tmp_path / "naive.onnx").err
    assert not (tmp_path / "naive.onnx").exists()
    pytest.importorskip("onnx", reason="onnx is not installed")
    run.well("convert", tmp_path / "naive.tng", tmp_path / "naive.onnx")
    assert (tmp_path / "naive.onnx").stat().st_size > 100
