"""Benchmark datasets generated from their published definitions, without files or network access.

`load` returns a dataset by name. Complete datasets (every board, every combination of attributes) have the same rows as the
published files; samples of a generator are drawn by functions ``make_*`` with a seed. scikit-learn's iris, wine, digits and
breast cancer datasets are available as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from ._utils.optional import import_optional
from ._utils.validation import check_int, check_number

__all__ = ["Dataset", "load", "make_corral", "make_led7", "make_mofn", "make_waveform21", "names"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and classes of a dataset.

    Attributes
    ----------
    name : str
        Its name in `load`.
    X : ndarray of shape (n_rows, n_features), or DataFrame
        Strings or integers for categorical features, floats for numeric features.
    y : ndarray of shape (n_rows,), or Series
        The class of every row.
    feature_names : list of str
        Names of the features.
    target_name : str
        Name of the class.
    description : str
        Content and source.
    """

    name: str
    X: Any
    y: Any
    feature_names: list[str]
    target_name: str
    description: str

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        n_classes = len(np.unique(np.asarray(self.y)))
        return f"<Dataset {self.name}: {n_rows} rows, {n_features} features, {n_classes} classes>"


def names() -> list[str]:
    """Return the names of all datasets for `load`."""
    return sorted(_LOADERS)


def load(name: str, *, as_frame: bool = False) -> Dataset:
    """Return a dataset by name.

    Parameters
    ----------
    name : str
        One of `names`.
    as_frame : bool, default=False
        Whether X and y are a pandas DataFrame and Series instead of NumPy arrays.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load("tic-tac-toe")
    <Dataset tic-tac-toe: 958 rows, 9 features, 2 classes>
    """
    if name not in _LOADERS:
        raise ValueError(f"there is no dataset {name!r}; the datasets are {', '.join(names())}")
    return _finished(_LOADERS[name](), as_frame)


# ---------------------------------------------------------------------------------------------- generators


def make_led7(n_rows: int = 3200, noise: float = 0.1, random_state: Any = 0, *, as_frame: bool = False) -> Dataset:
    """Generate digits of a seven-segment display with random errors.

    Parameters
    ----------
    n_rows : int, default=3200
        Number of digits; all ten are equally likely.
    noise : float, default=0.1
        Probability that a segment is inverted, independently of the others.
    random_state : int, RandomState instance or None, default=0
        Seed or generator.
    as_frame : bool, default=False
        As in `load`.

    Returns
    -------
    Dataset

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone. Classification and Regression Trees. Wadsworth, 1984, 43-49.
    """
    random = check_random_state(random_state)
    y = random.randint(10, size=check_int(n_rows, "n_rows", minimum=1))
    flipped = random.uniform(size=(n_rows, 7)) < check_number(noise, "noise", minimum=0, maximum=1)
    segments = np.array([[int(lit) for lit in digit] for digit in _SEGMENTS])
    description = (
        f"{n_rows} digits on a seven-segment display, each segment inverted with probability {noise:g}; segments from top "
        "to bottom and left to right. Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984."
    )
    X = segments[y] ^ flipped
    return _finished(Dataset("led7", X, y, [f"segment-{i}" for i in range(1, 8)], "digit", description), as_frame)


def make_waveform21(n_rows: int = 5000, random_state: Any = 0, *, as_frame: bool = False) -> Dataset:
    """Generate waveforms: random mixtures of two of three triangular waves, with normal noise at each of 21 points.

    Parameters
    ----------
    n_rows : int, default=5000
        Number of waveforms; all three classes are equally likely.
    random_state : int, RandomState instance or None, default=0
        Seed or generator.
    as_frame : bool, default=False
        As in `load`.

    Returns
    -------
    Dataset

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone. Classification and Regression Trees. Wadsworth, 1984, 49-55.
    """
    random = check_random_state(random_state)
    points = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(points - np.array([[11], [15], [7]])), 0)
    mixed = np.array([[1, 2], [0, 2], [0, 1]])  # class i mixes the waves other than i, as in the published sample
    y = random.randint(3, size=check_int(n_rows, "n_rows", minimum=1))
    share = random.uniform(size=(n_rows, 1))
    X = share * waves[mixed[y, 0]] + (1 - share) * waves[mixed[y, 1]] + random.standard_normal((n_rows, 21))
    description = (
        f"{n_rows} mixtures of two of three triangular waves with unit normal noise, measured at 21 points. Breiman, "
        "Friedman, Olshen and Stone, Classification and Regression Trees, 1984."
    )
    return _finished(Dataset("waveform-21", X, y, [f"x{i}" for i in points], "waveform", description), as_frame)


def make_mofn(
    n_rows: int = 300, m: int = 3, n: int = 7, n_bits: int = 10, random_state: Any = 0, *, as_frame: bool = False
) -> Dataset:
    """Generate random bits; the class is whether at least m of n relevant bits are set.

    Parameters
    ----------
    n_rows : int, default=300
        Number of rows; all bits are independent and fair.
    m, n, n_bits : int, default=3, 7, 10
        Number of bits that must be set, of relevant bits, and of all bits. The relevant bits are in the middle.
    random_state : int, RandomState instance or None, default=0
        Seed or generator.
    as_frame : bool, default=False
        As in `load`.

    Returns
    -------
    Dataset
    """
    if not 0 <= m <= n <= n_bits:
        raise ValueError(f"m, n, n_bits: expected 0 <= m <= n <= n_bits, got {m}, {n}, {n_bits}")
    X = check_random_state(random_state).randint(2, size=(check_int(n_rows, "n_rows", minimum=1), n_bits))
    return _finished(_mofn(X, m, n, f"{n_rows} random rows"), as_frame)


def make_corral(n_rows: int = 1000, random_state: Any = 0, *, as_frame: bool = False) -> Dataset:
    """Generate rows of corral: five fair bits, and a sixth that agrees with the class in three of four rows.

    Parameters
    ----------
    n_rows : int, default=1000
        Number of rows.
    random_state : int, RandomState instance or None, default=0
        Seed or generator.
    as_frame : bool, default=False
        As in `load`.

    Returns
    -------
    Dataset

    References
    ----------
    G. John, R. Kohavi and K. Pfleger. Irrelevant features and the subset selection problem. ICML 1994, 121-129.
    """
    random = check_random_state(random_state)
    bits = random.randint(2, size=(check_int(n_rows, "n_rows", minimum=1), 5))
    return _finished(_corral(bits, random.uniform(size=n_rows) < 0.75, f"{n_rows} random rows"), as_frame)


# ---------------------------------------------------------------------------------------------- complete tables

# For each digit, which segments are lit: top, upper left, upper right, middle, lower left, lower right, bottom.
_SEGMENTS = (
    *("1110111", "0010010", "1011101", "1011011", "0111010"),
    *("1101011", "1101111", "1010010", "1111111", "1111011"),
)


def _all_settings(*values: Any) -> npt.NDArray[Any]:
    """Return all combinations of the values of the columns; the last column changes fastest."""
    return np.array(list(product(*values)))


def _tic_tac_toe() -> Dataset:
    boards = _all_settings(*["xob"] * 9)
    rows = np.arange(9).reshape(3, 3)
    lines = [*rows, *rows.T, rows.diagonal(), rows[:, ::-1].diagonal()]
    x_wins, o_wins = (np.any([(boards[:, line] == who).all(1) for line in lines], axis=0) for who in "xo")
    lead = (boards == "x").sum(1) - (boards == "o").sum(1)
    # X moves first, so the winner made the last move: X is one ahead when X wins, level when O wins. Two lines of the winner
    # always cross, on at most five marks, so one last move can have completed both: every such board can be reached.
    x_final = x_wins & ~o_wins & (lead == 1)
    o_final = o_wins & ~x_wins & (lead == 0)
    drawn = ~x_wins & ~o_wins & (lead == 1) & (boards != "b").all(1)
    chosen = np.concatenate([np.flatnonzero(group) for group in (x_final, o_final, drawn)])  # the published order
    where = [f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")]
    return Dataset(
        "tic-tac-toe",
        boards[chosen],
        np.where(x_final[chosen], "positive", "negative"),
        where,
        "class",
        "All 958 final boards of tic-tac-toe in which x moved first; positive if x has three in a row, b is blank. "
        "D. Aha, Incremental constructive induction: an instance-based approach, 1991.",
    )


def _balance_scale() -> Dataset:
    X = _all_settings(*[range(1, 6)] * 4)
    tilt = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    return Dataset(
        "balance-scale",
        X,
        np.array(["B", "L", "R"])[np.sign(tilt)],
        ["left-weight", "left-distance", "right-weight", "right-distance"],
        "class",
        "All 625 settings of two weights and their distances from 1 to 5: does the scale tip to the left, to the right, or "
        "balance? R. Siegler, Three aspects of cognitive development, 1976.",
    )


def _monks(problem: int) -> Dataset:
    X = _all_settings(range(1, 4), range(1, 4), range(1, 3), range(1, 4), range(1, 5), range(1, 3))
    head, body, _, holding, jacket, _ = X.T
    rules = {
        1: ((head == body) | (jacket == 1), "head and body have the same shape, or the jacket is red"),
        2: ((X == 1).sum(1) == 2, "exactly two attributes have their first value"),
        3: (
            ((jacket == 3) & (holding == 1)) | ((jacket != 4) & (body != 3)),
            "the jacket is green and the robot holds a sword, or the jacket is not blue and the body not octagonal",
        ),
    }
    positive, rule = rules[problem]
    return Dataset(
        f"monks-{problem}",
        X,
        positive.astype(np.int64),
        ["head_shape", "body_shape", "is_smiling", "holding", "jacket_color", "has_tie"],
        "class",
        f"All 432 robots of the monk's problems; class 1 if {rule}. This is the complete, noise-free table on which the "
        "problems are tested. The published training rows are a random subset, with 5% of the labels wrong in the third "
        "problem, and cannot be generated from a definition. S. Thrun and others, The MONK's problems, 1991.",
    )


def _corral(bits: npt.NDArray[Any], agrees: npt.NDArray[np.bool_], rows: str) -> Dataset:
    a0, a1, b0, b1 = bits[:, :4].T
    y = (a0 & a1) | (b0 & b1)
    return Dataset(
        "corral",
        np.column_stack([bits, np.where(agrees, y, 1 - y)]),
        y,
        ["A0", "A1", "B0", "B1", "Irrelevant", "Correlated"],
        "class",
        f"{rows} of the concept (A0 and A1) or (B0 and B1), with an irrelevant bit and one that agrees with the class in "
        "three of four rows. John, Kohavi and Pfleger, Irrelevant features and the subset selection problem, 1994.",
    )


def _complete_corral() -> Dataset:
    bits = np.tile(_all_settings(*[range(2)] * 5), (4, 1))
    return _corral(bits, np.arange(len(bits)) < 96, "All 32 settings of five bits, each four times,")


def _mofn(X: npt.NDArray[Any], m: int, n: int, rows: str) -> Dataset:
    n_bits = X.shape[1]
    first = (n_bits - n + 1) // 2
    relevant = X[:, first : first + n]
    return Dataset(
        f"mofn-{m}-{n}-{n_bits}",
        X,
        (relevant.sum(1) >= m).astype(np.int64),
        [f"Bit-{i}" for i in range(n_bits)],
        "class",
        f"{rows} of {n_bits} bits; class 1 if at least {m} of the {n} bits from Bit-{first} on are set, the others are "
        "irrelevant.",
    )


def _complete_mofn() -> Dataset:
    table = _mofn(_all_settings(*[range(2)] * 10), 3, 7, "All 1,024 settings")
    more = (
        " The published file has 300 random training rows before the complete table for testing; make_mofn generates such rows. "
        "MLC++ artificial data, R. Kohavi and others, 1994."
    )
    return Dataset(table.name, table.X, table.y, table.feature_names, table.target_name, table.description + more)


def _from_scikit_learn(name: str, loader: str, target_name: str) -> Callable[[], Dataset]:
    def load_it() -> Dataset:
        from sklearn import datasets

        bunch = getattr(datasets, loader)()
        labels = np.asarray(bunch.target_names)
        title = next(line for line in bunch.DESCR.splitlines() if line.strip() and not line.startswith(".."))
        return Dataset(
            name,
            bunch.data,
            labels[bunch.target],
            [str(feature) for feature in bunch.feature_names],
            target_name,
            f"{title.strip()}, as returned by scikit-learn's {loader}.",
        )

    return load_it


_LOADERS: dict[str, Callable[[], Dataset]] = {
    "balance-scale": _balance_scale,
    "breast-cancer": _from_scikit_learn("breast-cancer", "load_breast_cancer", "diagnosis"),
    "corral": _complete_corral,
    "digits": _from_scikit_learn("digits", "load_digits", "digit"),
    "iris": _from_scikit_learn("iris", "load_iris", "species"),
    "led7": make_led7,
    "mofn-3-7-10": _complete_mofn,
    "monks-1": lambda: _monks(1),
    "monks-2": lambda: _monks(2),
    "monks-3": lambda: _monks(3),
    "tic-tac-toe": _tic_tac_toe,
    "waveform-21": make_waveform21,
    "wine": _from_scikit_learn("wine", "load_wine", "cultivar"),
}


# ---------------------------------------------------------------------------------------------- helpers


def _finished(data: Dataset, as_frame: bool) -> Dataset:
    if not as_frame:
        return data
    pd = import_optional("pandas", "as_frame=True")
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    series = pd.Series(data.y, name=data.target_name)
    return Dataset(data.name, frame, series, data.feature_names, data.target_name, data.description)
