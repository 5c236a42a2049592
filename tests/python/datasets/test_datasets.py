from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets as sklearn_datasets

from tanager import datasets

# Rows, features and class counts as published.
PUBLISHED = {
    "balance-scale": (625, 4, {"L": 288, "B": 49, "R": 288}),
    "breast-cancer": (569, 30, {"malignant": 212, "benign": 357}),
    "corral": (128, 6, {0: 72, 1: 56}),
    "iris": (150, 4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
    "mofn-3-7-10": (1024, 10, {0: 232, 1: 792}),
    "monks-1": (432, 6, {0: 216, 1: 216}),
    "monks-2": (432, 6, {0: 290, 1: 142}),
    "monks-3": (432, 6, {0: 204, 1: 228}),
    "tic-tac-toe": (958, 9, {"positive": 626, "negative": 332}),
    "wine": (178, 13, {"class_0": 59, "class_1": 71, "class_2": 48}),
}
COMPLETE = ["balance-scale", "mofn-3-7-10", "monks-1", "monks-2", "monks-3", "tic-tac-toe"]
MAKERS = [datasets.make_corral, datasets.make_led7, datasets.make_mofn, datasets.make_waveform21]


def rows(X, y):
    return Counter(zip(map(tuple, np.asarray(X).astype(str).tolist()), np.asarray(y).astype(str).tolist(), strict=True))


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_and_class_counts(name):
    data = datasets.load(name)
    n_rows, n_features, classes = PUBLISHED[name]
    assert data.X.shape == (n_rows, n_features)
    assert len(data.feature_names) == n_features
    assert Counter(data.y.tolist()) == classes


@pytest.mark.parametrize("name", datasets.names())
def test_every_table(name):
    data, again, frame = datasets.load(name), datasets.load(name), datasets.load(name, as_frame=True)
    assert data.name == name
    assert len(data.X) == len(data.y)
    assert len(set(data.feature_names)) == data.X.shape[1]
    assert data.target_name not in data.feature_names
    assert data.description.endswith(".")
    assert name in repr(data)
    np.testing.assert_array_equal(data.X, again.X)
    assert not np.shares_memory(data.X, again.X)
    assert isinstance(frame.X, pd.DataFrame)
    assert list(frame.X.columns) == data.feature_names
    assert frame.y.name == data.target_name
    np.testing.assert_array_equal(frame.X.to_numpy().astype(data.X.dtype), data.X)
    np.testing.assert_array_equal(frame.y.to_numpy().astype(data.y.dtype), data.y)


@pytest.mark.parametrize("name", COMPLETE)
def test_complete_tables_repeat_nothing(name):
    data = datasets.load(name)
    assert len(np.unique(data.X, axis=0)) == len(data.X)


@pytest.mark.parametrize("name", ["balance-scale", "corral", "monks-1", "monks-2", "monks-3", "tic-tac-toe"])
def test_the_rows_are_those_of_the_published_file(name, shared):
    data = datasets.load(name)
    table = pd.read_csv(shared / "data" / f"{name}.csv", dtype=str)
    assert rows(data.X, data.y) == rows(table.iloc[:, :-1], table.iloc[:, -1])
    if name != "monks-3":  # there the file has no names
        assert data.feature_names == list(table.columns[:-1])


def test_the_published_mofn_ends_with_the_complete_table(shared):
    data = datasets.load("mofn-3-7-10")
    table = pd.read_csv(shared / "data" / "mofn-3-7-10.csv", dtype=str)
    assert rows(data.X, data.y) == rows(table.iloc[300:, :-1], table.iloc[300:, -1])
    assert data.feature_names == list(table.columns[:-1])


@pytest.mark.slow
def test_tic_tac_toe_is_all_games_played_to_their_end():
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    ends = set()

    def play(board, player):
        winner = next((board[a] for a, b, c in lines if board[a] == board[b] == board[c] != "b"), None)
        if winner or "b" not in board:
            ends.add((board, "positive" if winner == "x" else "negative"))
            return
        for i in range(9):
            if board[i] == "b":
                play((*board[:i], player, *board[i + 1 :]), "o" if player == "x" else "x")

    play(("b",) * 9, "x")
    data = datasets.load("tic-tac-toe")
    assert set(zip(map(tuple, data.X.tolist()), data.y.tolist(), strict=True)) == ends


def test_rules_of_the_complete_tables():
    balance = datasets.load("balance-scale")
    for (lw, ld, rw, rd), side in zip(balance.X.tolist(), balance.y, strict=True):
        assert side == ("L" if lw * ld > rw * rd else "R" if lw * ld < rw * rd else "B")
    corral = datasets.load("corral")
    for (a0, a1, b0, b1, _, _), y in zip(corral.X.tolist(), corral.y, strict=True):
        assert y == ((a0 and a1) or (b0 and b1))
    assert (corral.X[:, 5] == corral.y).mean() == 0.75
    assert (Counter(map(tuple, corral.X[:, :5].tolist())).most_common()[-1][1]) == 4
    mofn = datasets.load("mofn-3-7-10")
    np.testing.assert_array_equal(mofn.y, mofn.X[:, 2:9].sum(1) >= 3)


def test_led7():
    data = datasets.make_led7(4000, noise=0, random_state=3)
    for digit, lit in {0: "1110111", 1: "0010010", 4: "0111010", 7: "1010010", 8: "1111111"}.items():
        assert {"".join(map(str, row)) for row in data.X[data.y == digit].tolist()} == {lit}
    assert len(np.unique(data.X, axis=0)) == 10
    clean = {digit: data.X[data.y == digit][0] for digit in range(10)}
    noisy = datasets.make_led7(50_000, noise=0.1, random_state=4)
    failures = np.array([clean[y] for y in noisy.y]) != noisy.X
    np.testing.assert_allclose(failures.mean(0), 0.1, atol=0.007)  # five standard errors
    np.testing.assert_allclose(np.bincount(noisy.y) / 50_000, 0.1, atol=0.007)
    assert (datasets.make_led7(50, noise=1).X == 1 - datasets.make_led7(50, noise=0).X).all()


def test_led7_resembles_the_published_sample(shared):
    table = pd.read_csv(shared / "data" / "led7.csv")
    data = datasets.make_led7(100_000)
    ours = pd.DataFrame(data.X).groupby(data.y).mean().to_numpy()
    np.testing.assert_allclose(ours, table.groupby("class").mean().to_numpy(), atol=0.09)


def test_waveform21():
    data = datasets.make_waveform21(60_000, random_state=1)
    points = np.arange(1, 22)
    h = [np.maximum(6 - abs(points - top), 0) for top in (11, 15, 7)]
    for c, (a, b) in enumerate([(1, 2), (0, 2), (0, 1)]):
        part = data.X[data.y == c]
        assert abs(len(part) / 60_000 - 1 / 3) < 0.01
        np.testing.assert_allclose(part.mean(0), (h[a] + h[b]) / 2, atol=0.07)
        # Unit noise plus the spread of a uniform mixture of two heights.
        np.testing.assert_allclose(part.var(0), 1 + (h[a] - h[b]) ** 2 / 12, rtol=0.06)


def test_waveform21_resembles_the_published_sample(shared):
    table = pd.read_csv(shared / "data" / "waveform-21.csv")
    data = datasets.make_waveform21(60_000)
    ours = pd.DataFrame(data.X).groupby(data.y)
    theirs = table.groupby("class")
    np.testing.assert_allclose(ours.mean().to_numpy(), theirs.mean().to_numpy(), atol=0.2)
    np.testing.assert_allclose(ours.std().to_numpy(), theirs.std().to_numpy(), atol=0.2)


def test_make_mofn_and_make_corral():
    data = datasets.make_mofn(5000, m=2, n=3, n_bits=6, random_state=7)
    assert data.name == "mofn-2-3-6"
    np.testing.assert_array_equal(data.y, data.X[:, 2:5].sum(1) >= 2)
    np.testing.assert_allclose(data.X.mean(0), 0.5, atol=0.04)
    assert datasets.make_mofn().X.shape == (300, 10)
    corral = datasets.make_corral(20_000)
    np.testing.assert_array_equal(corral.y, (corral.X[:, 0] & corral.X[:, 1]) | (corral.X[:, 2] & corral.X[:, 3]))
    assert abs((corral.X[:, 5] == corral.y).mean() - 0.75) < 0.016
    np.testing.assert_allclose(corral.X[:, :5].mean(0), 0.5, atol=0.02)


@pytest.mark.parametrize("make", MAKERS)
def test_generators_follow_their_seed(make):
    first, same, other = make(200, random_state=5), make(200, random_state=5), make(200, random_state=6)
    np.testing.assert_array_equal(first.X, same.X)
    np.testing.assert_array_equal(first.y, same.y)
    assert not np.array_equal(first.X, other.X)
    frame = make(200, random_state=5, as_frame=True)
    np.testing.assert_array_equal(frame.X.to_numpy(), first.X)
    assert make(1).X.shape[0] == 1
    for n_rows in (0, -1, 2.5, True, "9"):
        with pytest.raises(ValueError, match="n_rows: expected an integer >= 1"):
            make(n_rows)


def test_scikit_learn_tables():
    iris = datasets.load("iris")
    bunch = sklearn_datasets.load_iris()
    np.testing.assert_array_equal(iris.X, bunch.data)
    np.testing.assert_array_equal(iris.y, bunch.target_names[bunch.target])
    digits = datasets.load("digits")
    assert digits.X.shape == (1797, 64)
    assert digits.y.dtype.kind == "i"


def test_invalid_input_is_rejected():
    with pytest.raises(ValueError, match=r"there is no dataset 'irises'; the datasets are balance-scale, .*, wine"):
        datasets.load("irises")
    with pytest.raises(ValueError, match=r"noise: expected a number from 0 to 1, got 1\.5"):
        datasets.make_led7(noise=1.5)
    with pytest.raises(ValueError, match="0 <= m <= n <= n_bits, got 4, 3, 10"):
        datasets.make_mofn(m=4, n=3)
