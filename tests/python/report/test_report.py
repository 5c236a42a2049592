"""Reports as files: what is in them, for every kind of classifier, whatever the labels are."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import tanager as tg
from tanager._report import inference
from tanager._report.numbers import packed, packed_counts
from tanager.evaluation._held_out import most_probable

HOSTILE = [
    *(
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "\"quoted\" 'twice' `thrice`",
        "a & b &amp; c",
    ),
    *("right \u202eot tfel", "lines\nand\u2028more", "__proto__", "constructor", "{{script}}", "]]>-->", "x" * 500),
]
CLASSIFIERS = {
    "naive": tg.NaiveBayesClassifier,
    "TAN": tg.TANClassifier,
    "forest": lambda: tg.BayesNetClassifier("tan-bic"),
    "KDB": tg.KDBClassifier,
    "general": lambda: tg.BayesNetClassifier("three-phase"),
    "weights": lambda: tg.NaiveBayesClassifier(parameters="attribute-weighted"),
    "left out": lambda: tg.BayesNetClassifier(tg.structure.FixedStructure([], leave_out=["x2"])),
    "AODE": tg.AODEClassifier,
    "TBMATAN": tg.TBMATANClassifier,
}


def table(n_rows=120, seed=1, labels=("a", "b", "c")):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n_rows)
    codes = (y[:, None] + random.integers(0, 2, (n_rows, 4))) % len(labels)
    return np.array(labels, dtype=object)[codes], np.array(["no", "yes"])[y]


def data_of(text):
    """What the page's scripts read."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def unpacked(numbers):
    """The numbers that a page reads from a text or two."""
    if isinstance(numbers, str):
        return np.frombuffer(base64.b64decode(numbers), "<f8")
    distinct, places = map(base64.b64decode, numbers)
    distinct = np.frombuffer(distinct, "<f8")
    return distinct[np.frombuffer(places, "<u1" if len(distinct) <= 256 else "<u2")]


def written(clf, folder, *rows):
    clf.report(folder / "report.html", *rows)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_has_one(name, tmp_path):
    X, y = table()
    clf = CLASSIFIERS[name]().fit(X, y)
    text = written(clf, tmp_path, X, y)
    found = data_of(text)
    assert found["classes"] == ["no", "yes"]
    assert [feature["name"] for feature in found["features"]] == ["x0", "x1", "x2", "x3"]
    in_model = [0, 1, 3] if name == "left out" else [0, 1, 2, 3]
    assert sorted(found["model"]["order"]) == in_model
    assert bool(found["tableNote"]) == (name in {"AODE", "TBMATAN"})
    assert sorted(node["id"] for node in found["drawing"]["nodes"]) == [*in_model, 4]
    assert 'Training data</span><span class="value">120' in text
    assert f"{clf.score(X, y):.4f}" in text
    assert len(text.encode()) < 200_000
    if hasattr(clf, "network_"):
        drawn = {(arc["from"], arc["to"]) for arc in found["drawing"]["arcs"]}
        names = ["x0", "x1", "x2", "x3", "class"]
        assert {(names[a], names[b]) for a, b in drawn} == set(clf.network_.arcs)
        for f in in_model:
            np.testing.assert_array_equal(
                unpacked(found["tables"][f]["values"]), clf.network_._core.table(f).reshape(-1)
            )


def test_the_same_model_gives_the_same_bytes_also_after_loading(tmp_path):
    X, y = table()
    clf = tg.TBMATANClassifier().fit(X, y)
    first = written(clf, tmp_path, X, y)
    assert written(clf, tmp_path, X, y) == first
    clf.save(tmp_path / "model.tng")
    assert written(tg.load(tmp_path / "model.tng"), tmp_path, X, y) == first


def test_a_model_without_counts_has_one_too(tmp_path):
    X, y = table()
    tg.TANClassifier().fit(X, y).save(tmp_path / "model.tng")
    text = written(tg.load(tmp_path / "model.tng"), tmp_path)
    assert "Training data" not in text
    assert 'id="scores"' not in text


def test_nothing_is_loaded_and_only_its_own_script_may_run(tmp_path):
    text = written(tg.TANClassifier().fit(*table()), tmp_path)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.search(r"\s(?:src|style|on\w+)=", re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL))
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; ")
    for tag in ("script", "style"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("make", [tg.TANClassifier, tg.AODEClassifier, tg.TBMATANClassifier])
def test_hostile_labels_are_text(make, tmp_path):
    random = np.random.default_rng(0)
    columns = [name.replace("\n", " ") + "?" for name in HOSTILE]
    X = pd.DataFrame({name: random.choice(np.array(HOSTILE, dtype=object), 60) for name in columns})
    y = pd.Series(random.choice(np.array(HOSTILE[:4], dtype=object), 60), name="<script>alert(2)</script>")
    text = written(make().fit(X, y), tmp_path, X, y)
    outside = re.sub(r"<(script|style)\b[^>]*>.*?</\1>", "", text, flags=re.DOTALL)
    assert len(re.findall(r"<script\b", text)) == len(re.findall(r"</script>", text)) == 2
    assert "<img" not in text
    assert "alert(1)" in html.unescape(outside)  # it is shown
    assert not re.search("[\u2028\u202e]", text)
    found = data_of(text)
    assert HOSTILE[0] in found["features"][0]["labels"]
    assert "'right \\u202eot tfel'" in found["features"][0]["labels"]


def test_labels_that_look_alike_are_distinguished(tmp_path):
    X = np.array([[1, "a"], ["1", "b"], [1, "'a'"], ["1", "a\nb"]] * 5, dtype=object)
    y = np.array([1, "1", "1", 1] * 5, dtype=object)
    text = written(tg.TANClassifier().fit(X, y), tmp_path, X, y)
    found = data_of(text)
    assert sorted(found["classes"]) == sorted(found["features"][0]["labels"]) == ["'1'", "1"]
    assert sorted(found["features"][1]["labels"]) == ["'a'", "'a\\nb'", "a", "b"]
    for label in ("1", "&#x27;1&#x27;"):
        assert f"<td><bdi>{label}</bdi></td>" in text  # the classes of the card
        assert f'<th scope="row"><bdi>{label}</bdi></th>' in text  # of the confusions
        assert re.search(rf"<td><bdi>x0</bdi></td>.*?<bdi>{label}</bdi>", text)


def test_large_models_say_why_they_have_no_panel(tmp_path, monkeypatch):
    X, y = table()
    monkeypatch.setattr(inference, "MAX_ENTRIES", 40)
    found = data_of(written(tg.TANClassifier().fit(X, y), tmp_path))
    assert found["model"] == {"absent": "The model has 62 table entries, more than the limit of 40."}
    assert [node["id"] for node in found["drawing"]["nodes"]]
    monkeypatch.setattr(inference, "MAX_ENTRIES", 10**6)
    monkeypatch.setattr(inference, "MAX_OPERATIONS", 10)
    for make in (tg.TANClassifier, tg.AODEClassifier, tg.TBMATANClassifier):
        reason = data_of(written(make().fit(X, y), tmp_path))["model"]["absent"]
        assert re.fullmatch(r"A prediction would take \S+ operations, more than the limit of 10\.", reason)


def test_many_features_are_not_drawn(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (20, 600))
    found = data_of(written(tg.NaiveBayesClassifier().fit(X, X[:, 0]), tmp_path))
    assert found["drawing"]["absent"] == "The network is not plotted: it has 600 features, more than the limit of 249."
    assert found["model"]["absent"] == "The model has 600 features, more than the limit of 500."


def test_features_of_many_values_keep_a_page_small(tmp_path):
    X = np.array([[f"customer {i}", "ab"[i % 2]] for i in range(25_000)], dtype=object)
    text = written(tg.NaiveBayesClassifier().fit(X, X[:, 1]), tmp_path)
    found = data_of(text)
    assert found["model"]["absent"].startswith("The features have 25,002 values in total, more than the limit of")
    assert (found["features"][0]["nValues"], found["features"][0]["labels"]) == (25_000, [])
    assert found["tables"][0]["values"] is None
    assert found["features"][1]["labels"] == ["a", "b"]
    assert len(text) < 100_000


def test_priors_that_only_mpmath_can_handle(tmp_path):
    X, y = table(30)
    with pytest.warns(tg.FallbackWarning):
        clf = tg.TBMATANClassifier(equivalent_sample_size=1e-200).fit(X[:, :2], y)
    assert "more precision" in data_of(written(clf, tmp_path))["model"]["absent"]


def test_scores_have_intervals(tmp_path):
    X, y = table(400)
    clf = tg.NaiveBayesClassifier().fit(X[:200], y[:200])
    text = written(clf, tmp_path, X[200:], y[200:])
    p, n, z = clf.score(X[200:], y[200:]), 200, 1.959963984540054
    center, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = (center - half) / (1 + z**2 / n), (center + half) / (1 + z**2 / n)
    assert f"{low:.4f} to {high:.4f}" in text
    losses = -np.log(clf.predict_proba(X[200:])[np.arange(200), (y[200:] == "yes").astype(int)])
    half = z * losses.std(ddof=1) / np.sqrt(200)
    assert f"{losses.mean() - half:.4f} to {losses.mean() + half:.4f}" in text
    curve = tg.evaluation.reliability(y[200:], clf.predict_proba(X[200:]), clf.classes_)
    assert f'<span class="value">{curve.calibration_error:.4f}</span>' in text
    assert f"Reliability diagram, expected calibration error {curve.calibration_error:.3f}" in text
    assert all(
        f"observed {share:.3f} ({low:.3f} to " in text for share, low in zip(curve.observed, curve.low, strict=True)
    )
    assert "true \\ predicted" in text


def test_predict_decides_near_ties():
    X, y = [["a"], ["b"]] * 20, ["no", "yes"] * 20
    clf = tg.NaiveBayesClassifier().fit(X, y)
    tied = np.full((40, 2), 0.5)  # as if the posterior probabilities were too close to decide
    assert clf.classes_[most_probable(clf, X, tied)].tolist() == clf.predict(X).tolist() == y


def test_scores_of_rows_that_are_hard_to_evaluate(tmp_path):
    X, y = table()
    clf = tg.NaiveBayesClassifier().fit(X, y)
    text = written(clf, tmp_path, X[:3], ["no", "perhaps", "never"])
    assert "2 rows of classes that the model does not know" in text
    assert "∞" in text
    assert "undefined" in written(clf, tmp_path, X[:1], y[:1])  # the area under a curve of one class


def test_one_class_and_one_value(tmp_path):
    clf = tg.TANClassifier().fit([["a", "b"], ["a", "b"]], ["only", "only"])
    assert data_of(written(clf, tmp_path))["classes"] == ["only"]


@pytest.mark.parametrize("weights", [None, "fractions"])
def test_counts_are_kept_to_the_last_bit(weights, tmp_path):
    X, y = table()
    weights = None if weights is None else np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    clf = tg.TBMATANClassifier().fit(X, y, sample_weight=weights)
    model = data_of(written(clf, tmp_path))["model"]
    assert model["whole"] == (weights is None)
    cells = clf.counts_.pair(0, 1)
    assert model["pairs"][0] == (packed_counts(cells) if weights is None else packed(cells))


def test_counts_as_bytes():
    coded = base64.b64decode(packed_counts(np.array([5.0, 0, 0, 0, 300, 0, 127, 128])))
    assert list(coded) == [5, 0, 2, 300 & 127 | 128, 2, 0, 0, 127, 128, 1]


@pytest.mark.parametrize("n_distinct", [3, 300, 1000])
def test_numbers_are_kept_to_the_last_bit(n_distinct):
    values = np.random.default_rng(1).uniform(size=n_distinct)[np.arange(1000) % n_distinct]
    values[:3] = 0.0, -0.0, np.nextafter(1.0, 0.0)
    found = unpacked(packed(values))
    assert found.tobytes() == values.tobytes()
    assert isinstance(packed(values), str) == (n_distinct == 1000)


def test_elimination_takes_a_tree_from_its_leaves():
    order, cells = inference.elimination([[0], [0, 1], [1, 2], [1, 3]], [2, 3, 4, 5])
    assert order == [0, 2, 1, 3]
    assert cells == 2 * 3 + 4 * 3 + 3 * 5 + 5


def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path):
    X, y = table()
    path = tmp_path / "report.html"
    with pytest.raises(NotFittedError, match="not fitted"):
        tg.TANClassifier().report(path)
    clf = tg.TANClassifier().fit(X, y)
    for rows, message in (
        ((X, None), "expected both or neither"),
        ((None, y), "expected both or neither"),
        ((X, y[:5]), "X has 120 rows, but y has 5"),
        ((X[:, :2], y), "features"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.report(path, *rows)
    with pytest.raises(FileNotFoundError):
        clf.report(tmp_path / "none" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_report_replaces_the_old_one_only_when_it_is_whole(tmp_path, monkeypatch):
    clf = tg.TANClassifier().fit(*table())
    before = written(clf, tmp_path)

    def broken(*_):
        raise RuntimeError("half way")

    monkeypatch.setattr("tanager._report.features_html", broken)
    with pytest.raises(RuntimeError, match="half way"):
        clf.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_strengths_that_would_take_long_are_left_out(tmp_path):
    random = np.random.default_rng(0)
    arcs = [(int(parent), child) for child in range(1, 40) for parent in random.permutation(child)[:4]]
    X, y = random.integers(0, 3, (50, 40)), random.integers(0, 2, 50)
    clf = tg.BayesNetClassifier(tg.structure.FixedStructure(arcs)).fit(X, y)
    drawn = [arc for arc in data_of(written(clf, tmp_path))["drawing"]["arcs"] if arc["kind"] == "arc"]
    assert len(drawn) == len(arcs)
    at_once = [arc["to"] for arc in drawn if arc["value"] is not None]
    assert {1, 2, 3} <= set(at_once) < set(range(1, 40))  # those with few ancestors


def points_on(path):
    """Points on a path of vertical lines and cubic curves."""
    points, (x, y) = [], (0.0, 0.0)
    for command, text in re.findall(r"([MVC])([^MVC]*)", path):
        numbers = [float(number) for number in text.split()]
        if command == "M":
            x, y = numbers
            continue
        to_x, to_y = (x, numbers[0]) if command == "V" else numbers[4:]
        inner = [x, y, to_x, to_y] if command == "V" else numbers[:4]
        for t in np.linspace(0, 1, 50):
            weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
            points.append(
                (np.dot(weights, [x, inner[0], inner[2], to_x]), np.dot(weights, [y, inner[1], inner[3], to_y]))
            )
        x, y = to_x, to_y
    return points


@pytest.mark.parametrize("n_features", [1, 6, 30])
def test_arcs_of_naive_bayes_run_behind_no_node(n_features, tmp_path):
    """Or they would look like arcs between features."""
    random = np.random.default_rng(0)
    clf = tg.NaiveBayesClassifier().fit(random.integers(0, 3, (60, n_features)), random.integers(0, 2, 60))
    drawing = data_of(written(clf, tmp_path))["drawing"]
    assert [(arc["from"], arc["to"]) for arc in drawing["arcs"]] == [(n_features, f) for f in range(n_features)]
    for arc in drawing["arcs"]:
        for x, y in points_on(arc["path"]):
            behind = [
                node["id"]
                for node in drawing["nodes"]
                if abs(x - node["x"]) < node["width"] / 2 - 0.2 and abs(y - node["y"]) < node["height"] / 2 - 0.2
            ]
            assert behind == []
