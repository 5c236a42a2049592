"""Explanations as displayed: text, tables, HTML, plots."""

from __future__ import annotations

import numpy as np
import pytest
from hostile_labels import HOSTILE, Tags, hostile

import tanager as tg
from tanager.explain import _explanation


@pytest.fixture(scope="module")
def clf():
    data = tg.datasets.load("tic-tac-toe", as_frame=True)
    return tg.TANClassifier().fit(data.X, data.y)


@pytest.fixture(scope="module")
def rows():
    rows = tg.datasets.load("tic-tac-toe", as_frame=True).X[:30].copy()
    rows.iloc[0, [3, 5]] = None
    return rows


def test_text_shows_all_contributions_and_their_sum(clf, rows):
    explanation = clf.explain(rows[:1])
    lines = str(explanation).splitlines()
    assert lines[0] == f"row 0: class is negative with probability {clf.predict_proba(rows[:1])[0, 0]:.3g}"
    assert lines[1] == "log-odds of negative against positive:"
    numbers = [line.split()[-1] for line in lines[2:13]]
    assert numbers[8:10] == ["missing", "missing"]  # last, and without numbers
    assert {lines[10].split()[0], lines[11].split()[0]} == {rows.columns[3], rows.columns[5]}
    parts = [float(number) for number in numbers[:8]]
    assert abs(sum(parts) - float(numbers[10])) < 0.005
    assert float(numbers[10]) == pytest.approx(explanation.log_odds[0, 0], abs=5e-4)
    assert np.abs(parts[1:]).tolist() == sorted(np.abs(parts[1:]), reverse=True)
    other = explanation.to_text("positive")
    assert "log-odds of positive against negative:" in other
    assert other.splitlines()[12].split()[-1] == f"{explanation.log_odds[0, 1]:+.3f}"


# Old versions of matplotlib call new versions of their parser by old names.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_nearly_sure_is_not_called_sure():
    import matplotlib as mpl

    X, y = [["a"] * 4] * 40 + [["b"] * 4] * 40, ["yes"] * 40 + ["no"] * 40
    nearly = tg.NaiveBayesClassifier().fit(X, y).explain([["a"] * 4, ["a", "b", "b", "b"]])
    assert 0.9999 < nearly.probabilities[0].max() < 1
    assert str(nearly).splitlines()[0] == "row 0: class is yes with probability more than 0.999"
    with mpl.rc_context({"backend": "Agg"}):
        assert nearly[0].plot().get_title(loc="left").endswith("with probability more than 0.999")
    surely = tg.NaiveBayesClassifier(parameters="maximum-likelihood").fit(X, y).explain([["a"] * 4])
    assert str(surely).splitlines()[0] == "row 0: class is yes with probability 1"


def test_many_rows_are_shortened(clf, rows):
    explanation = clf.explain(rows)
    assert str(explanation).count("\nrow ") == 9
    assert str(explanation).endswith("... and 20 more rows")
    assert repr(explanation) == "<Explanation: 30 rows, 9 features, 2 classes>"
    assert repr(explanation[4]) == f"<Explanation: row 4, predicted {explanation.prediction[4]}, 9 features, 2 classes>"


def test_changes_of_rows_that_are_not_shown_are_not_looked_for(clf, rows, monkeypatch):
    looked_for = []

    def counting(coded, predicted, changeable):
        looked_for.append(coded.n_rows)
        return single_changes(coded, predicted, changeable)

    single_changes = _explanation.single_changes
    monkeypatch.setattr(_explanation, "single_changes", counting)
    explanation = clf.explain(rows)
    str(explanation)
    explanation._repr_html_()
    assert looked_for == [10, 10]


def test_frames_sum_to_the_log_odds(clf, rows):
    explanation = clf.explain(rows)
    frame = explanation.to_frame()
    assert list(frame.columns) == ["row", "class", "against", "feature", "value", "missing", "contribution"]
    assert len(frame) == 30 * 2 * 10
    sums = frame.groupby(["row", "class"])["contribution"].sum().to_numpy().reshape(30, 2)
    np.testing.assert_allclose(sums, explanation.log_odds, atol=1e-10)
    gone = frame[frame["missing"]]
    assert sorted(gone["feature"].unique()) == sorted([rows.columns[3], rows.columns[5]])
    assert gone["value"].isna().all()
    one = frame[(frame["row"] == 7) & (frame["class"] == "positive") & (frame["feature"] == rows.columns[2])].iloc[0]
    assert one["contribution"] == explanation.contributions[7, 2, 1]
    assert one["value"] == rows.iloc[7, 2]
    assert one["against"] == "negative"
    assert (frame.groupby(["row", "class"])["feature"].first() == "class").all()


def test_labels_cannot_break_text_or_html():
    X, y = hostile()
    clf = tg.TANClassifier().fit(X, y)
    explanation = clf.explain(X[:12].mask(X[:12] == HOSTILE[1]))
    text = str(explanation)
    assert "\u202e" not in text
    assert "'\\u202eright to left'" in text
    assert "'two\\nlines'" in text
    found = Tags(explanation._repr_html_())
    assert found.tags == {"div", "style", "b", "br", "table", "tr", "td", "i", "p"}
    assert any("</script><script>alert(1)</script>" in t for t in found.texts)
    assert "\u202e" not in "".join(found.texts)


# Old versions of matplotlib call new versions of their parser by old names.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_waterfalls(clf, rows):
    import matplotlib as mpl

    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        explanation = clf.explain(rows)[0]
        ax = explanation.plot()
        ax.figure.canvas.draw()
        labels = [tick.get_text() for tick in ax.get_yticklabels()]
        assert labels[0] == "prior"
        assert labels[-3:] == [f"{rows.columns[3]} missing", f"{rows.columns[5]} missing", "sum"]
        ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
        starts = [bar.get_x() for bar in ax.patches]
        np.testing.assert_allclose(starts[1:-1], ends[:-2], atol=1e-12)  # every bar begins where that before ends
        assert ends[-2] == pytest.approx(explanation.log_odds[0, 0], abs=1e-10)
        assert (starts[-1], ends[-1]) == (0, pytest.approx(explanation.log_odds[0, 0], abs=1e-10))
        own = explanation.plot(of="positive", max_features=2, ax=plt.subplots()[1])
        assert [tick.get_text() for tick in own.get_yticklabels()][3] == "5 other features"
        assert own.patches[-1].get_width() == pytest.approx(explanation.log_odds[0, 1], abs=1e-10)
        with pytest.raises(
            ValueError, match=r"explanation: expected a single row, such as explanation\[0\], got 30 rows"
        ):
            clf.explain(rows).plot()
        with pytest.raises(ValueError, match="max_features: expected an integer >= 1, got 0"):
            explanation.plot(max_features=0)
        plt.close("all")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_waterfalls_of_odd_models():
    import matplotlib as mpl

    with mpl.rc_context({"backend": "Agg"}):
        import matplotlib.pyplot as plt

        X, y = hostile()
        tg.TANClassifier().fit(X, y).explain(X[:1]).plot().figure.canvas.draw()
        sure = tg.BayesNetClassifier("naive", "maximum-likelihood").fit([["a"], ["b"], ["b"]], ["one", "two", "two"])
        ax = sure.explain([["a"]]).plot()
        ax.figure.canvas.draw()
        assert "+∞" in [text.get_text() for text in ax.texts]
        assert np.isfinite(ax.get_xlim()).all()
        plt.close("all")
