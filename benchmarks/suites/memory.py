"""Peak memory of fit beyond its input, in a fresh process for each contender."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, print_columns
from benchmarks.harness.worker import run_child
from benchmarks.harness.workloads import NAIVE_BAYES
from benchmarks.peers import peers_for


def memory(report: Report, options: Options) -> None:
    """Increase of the resident memory during fit, in units of the encoded data (one byte per value)."""
    # One dataset for both models, large enough to make a few megabytes of the interpreter negligible.
    work = NAIVE_BAYES if not options.quick else NAIVE_BAYES.with_rows(200_000)
    encoded = work.rows * (work.features + 1)
    report.begin("memory", f"fit on {work} in a fresh process; the encoded data has {encoded / 1e6:.0f} MB")
    lines = [("", "", "beyond the input", "/ encoded data", "")]
    for model, title in (("naive_bayes", "naive Bayes"), ("tan", "TAN")):
        fast = {name: peer.name for name, peer in peers_for(model).items() if not peer.slow}
        for who, name in {"tanager": "tanager", **fast}.items():
            answers, why = run_child("peak_memory", {"who": who, "model": model, "work": asdict(work)}, 120)
            extra = answers[0]["extra"] if answers else None
            if extra is None:
                why = why or "this system does not report it"
                lines.append((title, name, "n/a", "n/a", why))
            else:
                lines.append((title, name, f"{extra / 1e6:.1f} MB", f"{extra / encoded:.2f} x", ""))
            if who == "tanager":
                value = None if extra is None else extra / encoded
                report.figure(f"{title}, fit's memory beyond its input", value, "x table", at_most=1.5, remark=why)
    print_columns(lines, "llrrl")


BENCHMARKS = {"fit": memory}
