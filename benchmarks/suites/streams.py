"""Parquet to model and Parquet to Parquet, compared with pyarrow reading and writing the same data.

The file is written to a temporary folder, row group by row group, and removed afterwards. Every measurement runs in a separate
process, because it includes the peak resident memory of interpreter and libraries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.machine import ONE_THREAD, ROOT
from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, print_columns
from benchmarks.harness.worker import child_environment

N_FEATURES = 20
N_VALUES = 4
NAMES = [f"f{i}" for i in range(N_FEATURES)]
ROW_GROUP = 500_000
#: Number of different row groups; further ones repeat them.
DISTINCT_GROUPS = 8


def parquet(report: Report, options: Options) -> None:
    """Parquet to model and Parquet to Parquet, in Python and on the command line."""
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="tanager-streams-") as folder:
        make_parquet(Path(folder) / "table.parquet", options.rows, options.kind)
        measure(report, Path(folder), options.rows, options.kind)


def make_parquet(path: Path, rows: int, kind: str) -> None:
    """Write a dataset whose features depend on the class and on the previous feature."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    groups = [_sample_group(seed, kind) for seed in range(min(DISTINCT_GROUPS, -(-rows // ROW_GROUP)))]
    with pq.ParquetWriter(path, groups[0].schema) as writer:
        for i, begin in enumerate(range(0, rows, ROW_GROUP)):
            table: pa.Table = groups[i % len(groups)]
            writer.write_table(table.slice(0, rows - begin), row_group_size=ROW_GROUP)


def _sample_group(seed: int, kind: str) -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=ROW_GROUP).astype(np.int8)
    words = pa.array(["north", "east", "south", "west"])
    columns, before = [], 2 * y
    for _ in range(N_FEATURES):
        drawn = rng.integers(N_VALUES, size=ROW_GROUP, dtype=np.int8)
        before = np.where(rng.random(ROW_GROUP) < 0.4, before, drawn)
        if kind in {"string", "dictionary"}:
            column = pa.DictionaryArray.from_arrays(pa.array(before), words)
            columns.append(column if kind == "dictionary" else column.cast(pa.string()))
        else:
            columns.append(pa.array(before.astype(kind)))
    return pa.Table.from_arrays([*columns, pa.array(y)], [*NAMES, "class"])


def measure(report: Report, folder: Path, rows: int, kind: str) -> None:
    """Run all tasks and compare them."""
    size = (folder / "table.parquet").stat().st_size
    report.begin(
        "streams", f"{rows:,} rows of {N_FEATURES} features ({kind}) and a class, {size / 1e6:,.0f} MB of Parquet"
    )
    found = {}
    lines = [("", "wall", "CPU", "rows/s", "peak memory", "in core and pyarrow")]
    for task, name in TASKS.items():
        answer = found[task] = _command(task, folder) if task in COMMANDS else _child([task, str(folder)], folder)
        share = f"{100 * answer['share']:.0f} %" if "share" in answer else ""
        lines.append(
            (
                name,
                f"{answer['wall']:.2f} s",
                f"{answer['cpu']:.2f} s",
                f"{rows / answer['wall']:,.0f}",
                f"{answer['peak'] / 1e6:.0f} MB",
                share,
            )
        )
    print_columns(lines, "lrrrrr")
    for task, floor in (("fit", "read"), ("tanager fit", "read"), ("predict", "copy"), ("tanager predict", "copy")):
        mine, theirs = found[task], found[floor]
        report.figure(f"{task}: wall time", mine["wall"] / theirs["wall"], f"x {floor}", at_most=4)
        report.figure(f"{task}: CPU time", mine["cpu"] / theirs["cpu"], f"x {floor}")
        report.figure(f"{task}: peak memory", mine["peak"] / 1e6, "MB", at_most=1000)
        if "share" in mine:
            report.figure(f"{task}: share inside core and pyarrow", 100 * mine["share"], "%", at_least=50)


TASKS = {
    "read": "pyarrow reads all columns",
    "fit": "TANClassifier().fit_stream",
    "tanager fit": "tanager fit, including the start of Python",
    "copy": "pyarrow reads the features, writes class and probabilities",
    "predict": "predict_stream, written to Parquet",
    "tanager predict": "tanager predict, including the start of Python",
}

#: The same tasks on the command line.
COMMANDS = {
    "tanager fit": "fit table.parquet --class class --structure tan --threads 2 --output command.tng",
    "tanager predict": "predict command.tng table.parquet --threads 2 --output command.parquet",
}


def _command(task: str, folder: Path) -> dict[str, Any]:
    """Run a command of the command line, and return its times and peak memory."""
    start = time.perf_counter()
    program = "import sys; from tanager.cli import main; sys.exit(main())"
    environment = {k: v for k, v in child_environment().items() if k not in ONE_THREAD}
    with subprocess.Popen(
        [sys.executable, "-c", program, *COMMANDS[task].split()], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    ) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{task} failed with exit code {child.returncode}")
    wall = time.perf_counter() - start
    # Profiling takes time itself, so it is a separate run.
    share = _child(["command", *COMMANDS[task].split()], folder)["share"]
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024, "share": share}


def _child(words: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a task of `stream_tasks` in the folder."""
    command = [sys.executable, "-m", "benchmarks.harness.stream_tasks", *words]
    # pyarrow uses OMP_NUM_THREADS threads; here it may use all cores.
    environment = {k: v for k, v in child_environment().items() if k not in ONE_THREAD}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


BENCHMARKS = {"parquet": parquet}
