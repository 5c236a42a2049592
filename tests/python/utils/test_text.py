"""Labels, names and tables as text."""

from __future__ import annotations

from tanager._utils.text import display_label, distinct_labels, html_label, join_names, plural, text_table


def test_labels() -> None:
    assert display_label("low") == "low"
    assert display_label("a\nb") == r"'a\nb'"
    assert display_label(" ") == "' '"
    assert distinct_labels([1, "1", 2]) == ["1", "'1'", "2"]
    assert html_label("<b>") == "&lt;b&gt;"


def test_names() -> None:
    assert join_names([]) == ""
    assert join_names(["a", 1]) == "'a', 1"
    assert join_names(range(12), most=2) == "0, 1, ... (12 in all)"
    assert [plural(n, "class") for n in (0, 1, 2000)] == ["0 classes", "1 class", "2,000 classes"]


def test_tables() -> None:
    rows = [["", "score"], ["naive Bayes", "1"], ["TAN", "10"]]
    assert text_table(rows, left=1) == "             score\nnaive Bayes      1\nTAN             10"
    assert text_table(rows) == "             score\nnaive Bayes      1\n        TAN     10"
    assert text_table([["a", ""], ["b", ""]], left=2) == "a\nb"
