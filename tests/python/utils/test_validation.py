"""Checks of settings: one form of message, and nothing that merely looks like a number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tanager._utils.validation import (
    check_bool,
    check_choice,
    check_class_prior,
    check_int,
    check_number,
    check_optional_int,
)


@pytest.mark.parametrize("value", [1, np.int8(3), np.uint64(2**63), 10**30])
def test_integers(value: Any) -> None:
    checked = check_int(value, "k", minimum=1)
    assert type(checked) is int
    assert checked == value


@pytest.mark.parametrize("value", [0, True, 1.0, "1", None, np.array(1), math.nan])
def test_not_an_integer_from_one_on(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^k: expected an integer >= 1, got "):
        check_int(value, "k", minimum=1)


def test_ranges_of_integers() -> None:
    with pytest.raises(ValueError, match=r"^k: expected an integer from 1 to 2,000, got 2001$"):
        check_int(2001, "k", minimum=1, maximum=2000)
    with pytest.raises(ValueError, match=r"^k: expected an integer <= 3, got 4$"):
        check_int(4, "k", maximum=3)
    with pytest.raises(ValueError, match=r"^k: expected None or an integer >= 0, got -1$"):
        check_optional_int(-1, "k", minimum=0)
    assert check_optional_int(None, "k", minimum=0) is None
    assert check_optional_int(0, "k", minimum=0) == 0


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.25), Fraction(1, 3)])
def test_numbers(value: Any) -> None:
    checked = check_number(value, "noise", minimum=0, maximum=1)
    assert type(checked) is float
    assert checked == float(value)


@pytest.mark.parametrize("value", [True, "0.5", None, 1j, np.array(0.5)])
def test_not_a_number(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^noise: expected a number, got "):
        check_number(value, "noise")


def test_ranges_of_numbers() -> None:
    for value in (-0.1, 1.5, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^noise: expected a number from 0 to 1, got "):
            check_number(value, "noise", minimum=0, maximum=1)
    with pytest.raises(ValueError, match=r"^alpha: expected a finite number > 0, got 0.0$"):
        check_number(0.0, "alpha", above=0, finite=True)
    with pytest.raises(ValueError, match=r"^alpha: expected a finite number >= 0, got inf$"):
        check_number(math.inf, "alpha", minimum=0, finite=True)
    with pytest.raises(ValueError, match=r"^size: expected a number > 0 and <= 10, got 11$"):
        check_number(11, "size", above=0, maximum=10)
    with pytest.raises(ValueError, match=r"^size: expected a finite number, got one too large for a float$"):
        check_number(10**400, "size")
    assert check_number(math.inf, "alpha", minimum=0) == math.inf


def test_choices() -> None:
    assert check_choice("bic", "score", ("aic", "bic")) == "bic"
    for value in ("x", None, 1, ["bic"], np.array(["aic", "bic"])):
        with pytest.raises(ValueError, match=r"^score: expected one of 'aic', 'bic', got "):
            check_choice(value, "score", ("aic", "bic"))


def test_truth_values() -> None:
    assert check_bool(np.True_, "refit") is True
    with pytest.raises(TypeError, match=r"^refit: expected True or False, got 1$"):
        check_bool(1, "refit")


def test_class_priors() -> None:
    assert check_class_prior(None, 3) == []
    assert check_class_prior([0, 1 - 9e-9], 2) == [0, 1 - 9e-9]
    for value in ([0.5, 0.5 + 2e-8], [-0.5, 1.5], [math.nan, 1.0], [math.inf, 0.0]):
        with pytest.raises(ValueError, match=r"^class_prior: expected probabilities that sum to 1, got "):
            check_class_prior(value, 2)
    with pytest.raises(ValueError, match=r"^class_prior: expected 2 probabilities, one per class, got shape \(3,\)$"):
        check_class_prior([0.2, 0.3, 0.5], 2)
    with pytest.raises(ValueError, match=r"^class_prior: expected probabilities, got 'even'$"):
        check_class_prior("even", 2)
