"""Cross-validation, scores and statistical comparison of classifiers."""

from __future__ import annotations

from .._utils.public import set_public_path
from ._comparison import Comparison, PairedTest, compare
from ._cross_validate import cross_validate
from ._curves import Reliability, RocCurve, reliability, roc_curve
from ._learning_curve import LearningCurve, learning_curve
from ._relative_entropy import conditional_relative_entropy, observed_class_proba
from ._result import CrossValidation
from ._scoring import accuracy, auc, conditional_log_likelihood, log_loss

__all__ = [
    "Comparison",
    "CrossValidation",
    "LearningCurve",
    "PairedTest",
    "Reliability",
    "RocCurve",
    "accuracy",
    "auc",
    "compare",
    "conditional_log_likelihood",
    "conditional_relative_entropy",
    "cross_validate",
    "learning_curve",
    "log_loss",
    "observed_class_proba",
    "reliability",
    "roc_curve",
]

set_public_path(__name__, globals())
