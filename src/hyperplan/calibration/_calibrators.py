"""From scores to probabilities: a sigmoid, an increasing function, or one temperature for all classes.

    sigmoid      P(+1 | s) = 1 / (1 + exp(A s + B))              (Platt 2000; two parameters)
    isotonic     P(+1 | s) = f(s), f increasing                  (Zadrozny, Elkan 2002; as many as there are steps)
    temperature  P(k | z) = exp(beta z_k) / sum_l exp(beta z_l)  (Guo, Pleiss, Sun, Weinberger 2017; one parameter)

The first two minimise the log loss and the squared loss of each class against the rest, the third the log loss of all.
"""

import math

import numpy as np
from scipy.special import expit

from hyperplan._base import BaseEstimator, Certificate, column_or_1d
from hyperplan._math.isotonic import isotonic
from hyperplan._math.platt import platt

TINY = 1e-12  # added to probabilities before the logarithm
LARGEST_LOG = 10.0  # beta is between exp(-10) and exp(10)
MAX_STEPS, STEP = 200, 1e-11  # of beta, relative
NEAR = 1e-6  # relative distance at which the slope must have changed its sign


class SigmoidCalibrator(BaseEstimator):
    """Platt's sigmoid of one score."""

    def fit(self, scores, positive, weight=None):
        """Fit to scores of rows that are positive or not."""
        found = platt(column_or_1d(scores), column_or_1d(positive).astype(bool), weight)
        self.a_, self.b_, self.n_iter_, self.certificate_ = (
            found.slope,
            found.intercept,
            found.n_iter,
            found.certificate,
        )
        return self

    def predict(self, scores):
        """Probabilities of the positive class."""
        return expit(-(self.a_ * np.asarray(scores, dtype=np.float64) + self.b_))


class IsotonicCalibrator(BaseEstimator):
    """An increasing function of one score, constant beyond the scores of the fit."""

    def fit(self, scores, positive, weight=None):
        """Fit to scores of rows that are positive or not."""
        found = isotonic(column_or_1d(scores), column_or_1d(positive).astype(np.float64), weight)
        self.X_thresholds_, self.y_thresholds_, self.certificate_ = found
        return self

    def predict(self, scores):
        """Probabilities of the positive class."""
        return np.interp(np.asarray(scores, dtype=np.float64), self.X_thresholds_, self.y_thresholds_)


class TemperatureCalibrator(BaseEstimator):
    """One inverse temperature ``beta`` for the scores of all classes; the most probable class stays the same."""

    def fit(self, logits, codes, weight=None):
        """Fit to scores (n, K) of rows with classes 0, ..., K - 1."""
        weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64)
        logits = np.asarray(logits, dtype=np.float64)
        excess = logits - logits[np.arange(len(codes)), codes][:, None]  # the true class has 0
        self.beta_, self.n_iter_, gap = _root(lambda beta: _derivatives(excess, weight, beta))
        self.certificate_ = _gap_of_temperature(self.beta_, gap / max(float(weight.sum()), 1e-300), self.n_iter_)
        return self

    def predict(self, logits):
        """Probabilities of the classes."""
        shifted = self.beta_ * np.asarray(logits, dtype=np.float64)
        shifted = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)


def _root(derivatives):
    """Minimum of a convex function by its derivatives: Newton's steps, halving (in logarithms) where they go too far.

    Returns the place, the steps, and the most that convexity lets the function fall below its value there.
    """
    low, high = math.exp(-LARGEST_LOG), math.exp(LARGEST_LOG)
    beta, (slope, curvature) = 1.0, derivatives(1.0)
    if slope == 0.0:
        return beta, 0, 0.0
    end = low if slope > 0.0 else high
    if derivatives(end)[0] * slope > 0.0:  # still the same direction: the minimum is beyond
        return end, 0, 0.0
    n_iter = 0
    while n_iter < MAX_STEPS:
        n_iter += 1
        low, high = (low, beta) if slope > 0.0 else (beta, high)
        newton = beta - slope / curvature if curvature > 0.0 else math.inf
        previous, beta = beta, newton if low < newton < high else math.sqrt(low * high)
        slope, curvature = derivatives(beta)
        if slope == 0.0 or abs(beta - previous) <= STEP * beta:
            break
    left, right = max(low, beta * (1.0 - NEAR)), min(high, beta * (1.0 + NEAR))
    low = left if derivatives(left)[0] <= 0.0 else low
    high = right if derivatives(right)[0] >= 0.0 else high
    return beta, n_iter, abs(slope) * (high - low)


def _derivatives(excess, weight, beta):
    """First and second derivative of ``sum_i w_i log sum_k exp(beta excess_ik)`` in beta: means and variances."""
    powers = beta * excess
    powers = np.exp(powers - powers.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    mean = (powers * excess).sum(axis=1)
    variance = (powers * (excess - mean[:, None]) ** 2).sum(axis=1)
    return float(weight @ mean), float(weight @ variance)


def _gap_of_temperature(beta, gap, n_iter):
    """Convexity: the loss at the minimum is at least that of the tangent, within the bracket."""
    return Certificate(
        kind="gap to the tangent",
        guarantee=f"the mean log loss at beta = {beta:.4g} is at most {gap:.2g} above its minimum",
        value=gap,
        bound=1e-8,
        reference="Boyd, Vandenberghe (2004), Convex Optimization, section 3.1.3",
        details={"iterations": n_iter, "temperature": 1.0 / beta},
    )
