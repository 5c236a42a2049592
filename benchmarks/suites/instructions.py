"""How many instructions the searches execute, counted by valgrind's callgrind: a figure that other load cannot change.

The program `search_program` reads a coded table and runs one search in the core. Only that call is counted, not the
reading of the table. Valgrind offers AVX2 but not AVX-512, so that is the path it counts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks import tables
from benchmarks.harness import find_program
from benchmarks.options import Options
from benchmarks.report import Report
from benchmarks.searches import table_for

#: What the program can run, as it is named there.
METHODS = {
    "TAN-HC": "hill-climb-symmetric",
    "TAN-HC, both directions": "hill-climb",
    "TAN-HCSP": "super-parent",
    "BSEJ": "backward-join",
    "FSSJ": "forward-join",
    "wrapper k-DB": "k-db",
}


def instructions(report: Report, options: Options) -> None:
    """Millions of instructions of every search on both tables."""
    for name in ("chess", "letter"):
        table = table_for(report, options, "instructions", name)
        if table is None:
            continue
        try:
            counts = _count_all(options.programs, table)
        except OSError as error:
            print(f"  left out: {error}")
            return
        for what, count in counts.items():
            report.figure(f"{what}, {name}, in the core", count / 1e6, "million instructions")


def _count_all(programs: Path | None, table: tables.CodedTable) -> dict[str, int]:
    program = find_program(programs, "search_program")
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise FileNotFoundError("valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.txt"
        write_table(table, path)
        return {what: _count(valgrind, [str(program), str(path), method]) for what, method in METHODS.items()}


def _count(valgrind: str, command: list[str]) -> int:
    """Instructions inside the function `measured` of the program, and whatever it calls."""
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured*"]
    done = subprocess.run([valgrind, *options, *command], capture_output=True, text=True, check=False)
    found = re.search(r"Collected\s*:\s*(\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise OSError(f"{' '.join(command)} failed under valgrind: {done.stderr.strip().splitlines()[-1]}")
    return int(found[1])


def write_table(table: tables.CodedTable, path: Path) -> None:
    """Write what search_program reads: the sizes, then every column with its number of values, the class last."""
    rows, features = table.X.shape
    columns = [[int(column.max()) + 1, *column.tolist()] for column in (*table.X.T, table.y)]
    lines = [" ".join(map(str, numbers)) for numbers in ([rows, features], *columns)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
