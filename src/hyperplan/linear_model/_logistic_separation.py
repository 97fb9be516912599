"""What the probit and ordinal regressions say about classes that a hyperplane separates."""

import dataclasses
import warnings

import numpy as np

from hyperplan._base import ConvergenceWarning, Status
from hyperplan._solvers.logistic_separation import describe, recession_direction
from hyperplan.linear_model._glm_base import warn_of_status

GROWN = 3.0  # margins beyond this may grow for ever: normal probabilities of 0.001 and less


def is_suspect(alpha, status, margins):
    """Whether a fit without penalty shows growth: separated by its own test, not converged, or large margins."""
    if alpha > 0 or status is Status.DIVERGED:
        return False
    return not status.ok or bool(np.max(margins, initial=0.0) > GROWN)


def report_separation(estimator, solution, conditions, margins):
    """The certificate, with what diverges; warns of separation or else of a bad status.

    `conditions` is None when there is no suspicion; columns beyond the features are intercepts or thresholds.
    """
    found = None if conditions is None else recession_direction(conditions, margins)
    if found is None:
        warn_of_status(estimator, solution)
        return solution.certificate
    kind = "complete" if found.complete else "quasi-complete"
    columns = np.flatnonzero(found.direction[: estimator.n_features_in_])
    names = describe(columns, getattr(estimator, "feature_names_in_", None)) if columns.size else "the constant terms"
    word = "separable" if found.complete else "quasi-separable"
    warnings.warn(
        f"{type(estimator).__name__}: the classes are {word} by a hyperplane ({kind} separation), so that the "
        f"likelihood has no maximum and coefficients grow without end; stopped after {solution.n_iter} iterations. "
        f"Diverging: {names}. Set a penalty (alpha > 0) to get a finite optimum, or drop or merge these columns.",
        ConvergenceWarning,
        stacklevel=3,
    )
    details = {**solution.certificate.details, "separation": kind, "diverging columns": columns.tolist()}
    return dataclasses.replace(solution.certificate, details=details)
