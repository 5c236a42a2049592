"""A pandas DataFrame of strings: the cost of encoding, compared with pandas' factorize on the same columns."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from benchmarks.harness.options import Options
from benchmarks.harness.report import Report, Row
from benchmarks.harness.timing import race
from benchmarks.harness.workloads import STRINGS, Workload, sample, words
from benchmarks.peers import make


def strings(report: Report, options: Options) -> None:
    """Encoding for fit and for predict, in both ways pandas stores strings."""
    if importlib.util.find_spec("pandas") is None:
        report.begin("strings", "skipped: pandas is not installed")
        return
    work = options.size(STRINGS)
    report.begin("strings", f"a pandas DataFrame, {work}, one thread")
    frame, y = string_frame(work)
    stored = {"str": frame, "object": frame.astype(object)}
    if frame.dtypes.iloc[0] == object:  # the default of older pandas
        del stored["str"]
    for storage, table in stored.items():
        _measure(report, storage, table, y, options.repeats)


def string_frame(work: Workload) -> tuple[Any, Any]:
    """Return the workload as a DataFrame of strings, with string labels."""
    import pandas as pd

    X, y = sample(work)
    names = words(work.values)
    return pd.DataFrame({f"f{i}": names[X[:, i]] for i in range(work.features)}), np.array(["no", "yes"])[y]


def _measure(report: Report, storage: str, frame: Any, y: Any, repeats: int) -> None:
    import pandas as pd

    from tanager._encoding.encoder import EncodingSettings, encode_labels, learn_encoding, read_table

    labels, codes = encode_labels(y)
    model: Any = make("tanager", "naive_bayes").fit(frame, y)

    def learn() -> object:
        settings = EncodingSettings(discretizer=None)
        return learn_encoding(read_table(frame), settings, y_codes=codes, n_classes=len(labels), weights=None)

    times = race(
        {
            "learn the categories and encode": learn,
            "encode with known categories": lambda: model._encoder.encode(read_table(frame), "missing", 1),
            "pandas.factorize of every column": lambda: [pd.factorize(frame[name]) for name in frame.columns],
            "fit, labels and all": lambda: model.fit(frame, y),
            "predict_proba": lambda: model.predict_proba(frame),
        },
        repeats,
    )
    report.table(f"strings stored as {storage}", [Row(name, timing) for name, timing in times.items()])
    own = times["pandas.factorize of every column"].cpu
    for what, key in (("for fit", "learn the categories and encode"), ("for predict", "encode with known categories")):
        ratio = times[key].cpu / own
        report.figure(f"encoding {what}, times pandas.factorize ({storage})", ratio, "x", at_most=2)
    share = times["learn the categories and encode"].cpu / times["fit, labels and all"].cpu
    report.figure(f"share of encoding in fit ({storage})", 100 * share, "%")
    share = times["encode with known categories"].cpu / times["predict_proba"].cpu
    report.figure(f"share of encoding in predict_proba ({storage})", 100 * share, "%")


BENCHMARKS = {"strings": strings}
