"""Candidates that misbehave on more than a few rows; workers import this module by its name."""

import os
import signal
import time

from hyperplan._base import BaseEstimator
from hyperplan._base.candidate import Candidate
from hyperplan.compete import ConstantClassifier

FEW = 60


class Failing(ConstantClassifier):
    """Raises."""

    def fit(self, X, y):
        """Raise."""
        raise ValueError("a column I cannot stand")


class Hanging(ConstantClassifier):
    """Never ends."""

    def fit(self, X, y):
        """Sleep, unless it is only asked to load its kernels."""
        if len(y) > FEW:
            time.sleep(3600)
        return super().fit(X, y)


class Crashing(ConstantClassifier):
    """Takes its process along."""

    def fit(self, X, y):
        """End the process as a fault in compiled code would."""
        if len(y) > FEW:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


class CrashingAtOnce(ConstantClassifier):
    """Takes its process along even when it is only asked to load its kernels."""

    def fit(self, X, y):
        """End the process."""
        os.kill(os.getpid(), signal.SIGKILL)


class Undefined(BaseEstimator):
    """Answers with what is no number."""

    def fit(self, X, y):
        """Learn nothing."""
        self.classes_ = [0, 1]
        return self

    def predict_proba(self, X):
        """No numbers."""
        import numpy as np

        return np.full((X.shape[0], 2), np.nan)


class Bad(Candidate):
    """A candidate whose class is in this module."""

    def build(self, settings):
        """The estimator."""
        return globals()[self.name]()


BAD = [
    Bad(f"bad.{name}", "classification", name, 5 + k, "linear", (10.0, 0.0))
    for k, name in enumerate(("Failing", "Hanging", "Crashing", "Undefined", "CrashingAtOnce"))
]
