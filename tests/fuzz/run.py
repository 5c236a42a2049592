"""Run the fuzz targets for as long as wanted: python tests/fuzz/run.py --minutes 30 [TARGET ...].

Builds those in C++ with clang, address and undefined-behavior sanitizers into build/fuzz, keeps what each has found worth
keeping in build/fuzz/corpus, and prints per target the executions, the covered edges and when the last new one came.
Those in Python run with atheris, libFuzzer for Python, if it is installed, and otherwise without counting edges.
An input that fails is left in build/fuzz/failures; run the target on that file to see it again. Exits with 1 if any failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "fuzz"
IN_PYTHON = sorted(path.stem.removeprefix("fuzz_") for path in SOURCES.glob("fuzz_*.py"))
TARGETS = [*sorted(path.stem.removeprefix("fuzz_") for path in SOURCES.glob("fuzz_*.cpp")), *IN_PYTHON]


@dataclass
class Result:
    """What one run of a target came to."""

    target: str
    executions: int
    edges: int
    last_new_edge: float
    seconds: float
    failed: bool


def build(targets: list[str], folder: Path, plain: bool) -> None:
    if not targets:
        return
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "cmake"
    ninja = ("-G", "Ninja") if shutil.which("ninja") else ()
    options = ("-DCMAKE_CXX_COMPILER=clang++", "-DTANAGER_BUILD_FUZZERS=ON", "-DTANAGER_BUILD_PROGRAMS=OFF")
    coverage = " -fsanitize-coverage=inline-8bit-counters,pc-table" if plain else ""
    options += ("-DTANAGER_SANITIZE=address,undefined",) if plain else ()
    options += ("-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1{coverage}", *ninja)
    subprocess.run([cmake, "-S", ROOT, "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    names = [f"fuzz_{target}" for target in targets]
    subprocess.run([cmake, "--build", folder, "--parallel", str(os.cpu_count()), "--target", *names], check=True)


def fuzz(target: str, seconds: float, folder: Path, plain: bool) -> Result:
    is_python = target in IN_PYTHON
    source = (SOURCES / f"fuzz_{target}{'.py' if is_python else '.cpp'}").read_text()
    longest = int(re.search(r"(?:kMaxLength|MAX_LENGTH) = ([0-9'_]+)", source)[1].replace("'", ""))
    corpus, seeds = BUILD / "corpus" / target, SOURCES / "seeds" / target
    failures = BUILD / "failures"
    corpus.mkdir(parents=True, exist_ok=True)
    failures.mkdir(parents=True, exist_ok=True)
    # Leaks are looked for at the end: after every input it would take most of the time.
    limits = (
        "-timeout=20",
        "-detect_leaks=0",
        "-rss_limit_mb=2048",
        "-malloc_limit_mb=1024",
        "-len_control=0",
        f"-max_len={longest}",
    )
    program = [sys.executable, SOURCES / f"fuzz_{target}.py"] if is_python else [folder / f"tests/fuzz/fuzz_{target}"]
    command = [*program, *limits, f"-max_total_time={seconds:.0f}"]
    command += ["-entropic=0"] if plain else []  # weighing inputs by what they cover takes longer than running them
    command += ["-print_final_stats=1", f"-artifact_prefix={failures}/{target}-", corpus]
    command += [seeds] if seeds.is_dir() else []
    environment = os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "allocator_may_return_null=1"}

    start, edges, executions, last = time.monotonic(), 0, 0, 0.0
    with (BUILD / f"{target}.log").open("w") as log:
        running = subprocess.Popen(
            command, env=environment, stdout=log, stderr=subprocess.PIPE, text=True, errors="replace"
        )
        for line in running.stderr:
            log.write(line)
            if match := re.match(r"#(\d+)\s.* cov: (\d+)", line):
                executions = int(match[1])
                if int(match[2]) > edges:
                    edges, last = int(match[2]), time.monotonic() - start
            elif match := re.match(r"stat::number_of_executed_units:\s*(\d+)", line):
                executions = int(match[1])
        failed = running.wait() != 0
    return Result(target, executions, edges, last, time.monotonic() - start, failed)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the fuzz targets.")
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"one or more of {', '.join(TARGETS)}; default all"
    )
    parser.add_argument("--minutes", type=float, default=1, help="minutes per target (default 1)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="targets to run at a time (default: one per core)"
    )
    parser.add_argument(
        "--plain",
        action="store_true",
        help="do not trace comparisons, which helps with formats alone: numbers take half the time (in build/fuzz-plain)",
    )
    arguments = parser.parse_args()
    targets = arguments.targets or TARGETS
    if unknown := set(targets) - set(TARGETS):
        parser.error(f"unknown target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    folder = ROOT / "build" / "fuzz-plain" if arguments.plain else BUILD
    build([target for target in targets if target not in IN_PYTHON], folder, arguments.plain)
    print(f"{'target':<20}{'executions':>12}{'edges':>8}{'last new edge':>16}{'run':>9}", flush=True)
    failed = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(lambda target: fuzz(target, 60 * arguments.minutes, folder, arguments.plain), targets):
            note = f"  FAILED: see {(BUILD / result.target).relative_to(ROOT)}.log" if result.failed else ""
            times = f"{result.last_new_edge:>14.0f} s{result.seconds:>7.0f} s"
            print(f"{result.target:<20}{result.executions:>12,}{result.edges:>8,}{times}{note}", flush=True)
            failed += [result.target] if result.failed else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
