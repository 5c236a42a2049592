"""The experiments by name, in the order of the report: the module that runs each, and the module that writes its report."""

from __future__ import annotations

import importlib
from types import ModuleType

EXPERIMENTS = {
    "elr": ("elr.experiment", "elr.report"),
    "elr_curves": ("elr.curves", "elr.curves"),
    "elr_figures": ("elr.figures", "elr.figures"),
    "tbma": ("tbma.experiment", "tbma.experiment"),
    "tbma_accuracy": ("tbma.accuracy", "tbma.accuracy"),
    "mfe": ("mfe.experiment", "mfe.report"),
    "acll": ("acll.experiment", "acll.experiment"),
    "acll_trees": ("acll.trees", "acll.trees"),
    "bnc": ("bnclassify.experiment", "bnclassify.experiment"),
    "beyond": ("beyond.experiment", "beyond.report"),
}


def experiment(name: str) -> ModuleType:
    """Return the module that runs an experiment."""
    return importlib.import_module(f"experiments.{EXPERIMENTS[name][0]}")


def report(name: str) -> ModuleType:
    """Return the module that writes the report of an experiment."""
    return importlib.import_module(f"experiments.{EXPERIMENTS[name][1]}")
