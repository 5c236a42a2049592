"""tanager-predict where there is much of something: empty lines before the header, cells of exact inference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from native_program import Run

import tanager
from tanager.cli import main
from tanager.structure import FixedStructure


def test_the_limit_of_exact_inference_can_be_set(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(6, size=(300, 5)).astype(str), columns=list("abcxy"))
    arcs = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]
    clf = tanager.BayesNetClassifier(FixedStructure(arcs)).fit(frame, frame["x"] + frame["y"] > "33")
    clf.save(tmp_path / "model.tng")
    frame.loc[0, ["a", "b", "c"]] = ""
    frame.to_csv(tmp_path / "table.csv", index=False)
    expected = run("model.tng", "table.csv")
    assert expected.returncode == 0
    done = run("model.tng", "table.csv", "--max-cells", "155")
    assert done.returncode == 2
    said = "takes 156 cells, but max_cells allows 155"
    assert said in done.stderr.decode()
    assert run("model.tng", "table.csv", "--max-cells=156").stdout == expected.stdout
    assert "--max-cells N" in run("--help").stdout.decode()
    for wrong in ("0", "-1", "x", "4294967296", "1.5"):
        done = run("model.tng", "table.csv", "--max-cells", wrong)
        assert f"--max-cells: expected an integer from 1 to 4294967295, got '{wrong}'" in done.stderr.decode()
    command = ["predict", str(tmp_path / "model.tng"), str(tmp_path / "table.csv"), "-o", str(tmp_path / "out.csv")]
    assert main([*command, "--max-cells", "156"]) == 0
    assert main([*command, "--max-cells", "155"]) != 0
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_any_number_of_empty_lines_may_precede_the_header(run: Run, line_end: str) -> None:
    table = line_end.join(["sky,wind,wet", "sun,1,true", "rain,2,false", ""])
    expected = run("model.tng", text=table)
    assert expected.returncode == 0
    empty = 700_000  # more than two blocks
    found = run("model.tng", text=line_end * empty + table)
    assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, b"")
    done = run("model.tng", text=line_end * empty + table + "sun,x,true" + line_end)
    assert f"line {empty + 4:d} of the table: column 'wind' must be numeric" in done.stderr.decode()
    done = run("model.tng", text=line_end * empty)
    assert done.stderr.decode().startswith("tanager-predict: the table is empty")
