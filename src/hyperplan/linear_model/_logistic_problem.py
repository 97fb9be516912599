"""What the constructor arguments of the logistic regressions mean: penalty, strengths, start, messages.

The objective of scikit-learn, ``C sum_i s_i loss_i + l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2``, divided by ``C S``
(S the sum of the weights) is the mean-scale objective of the solvers, with strengths ``1 / (C S)``.  The solver
"liblinear" also penalises the intercept, as the weight of a constant column `intercept_scaling`.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Certificate, ConvergenceWarning, Status, gap_certificate
from hyperplan._solvers.logistic import solve_binary
from hyperplan._solvers.logistic_recession import binary_recession, softmax_recession
from hyperplan._solvers.logistic_rows import LogisticResult, Penalty
from hyperplan._solvers.logistic_separation import describe
from hyperplan._solvers.softmax import solve_softmax

SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
SMALL_VALUES = 2**20  # float32 features up to this number are solved in float64: the copy costs nothing

JUDGED = (Status.CONVERGED, Status.MAX_ITER, Status.STALLED)  # ends after which separation is looked for

_FAILURES = {
    "lbfgs": "lbfgs failed to converge after {n} iteration(s): Increase the number of iterations",
    "newton-cg": "newton-cg failed to converge after {n} iteration(s): Increase the number of iterations",
    "liblinear": "Liblinear failed to converge, increase the number of iterations. Raise",
    "sag": "The max_iter was reached which means the coef_ did not converge after {n} passes. Increase it",
    "saga": "The max_iter was reached which means the coef_ did not converge after {n} passes. Increase it",
    "newton-cholesky": "Newton solver did not converge after {n} iterations. Increase the number of iterations",
}


class LogisticProblem(NamedTuple):
    """Everything a fit needs besides the data."""

    solver: str
    penalty: str | None
    C: float
    l1_ratio: float | None
    fit_intercept: bool
    intercept_scaling: float
    tol: float
    max_iter: int

    def strengths(self, total) -> Penalty:
        """Penalties on the mean scale for a sum of weights `total`."""
        ratio = {"l1": 1.0, "l2": 0.0, None: 0.0}.get(self.penalty, self.l1_ratio)
        strength = 0.0 if self.penalty is None else 1.0 / (self.C * total)
        l1, l2 = strength * ratio, strength * (1.0 - ratio)
        if self.solver == "liblinear" and self.fit_intercept:
            scale = float(self.intercept_scaling)
            return Penalty(l1, l2, l1 / scale, l2 / scale**2, True)
        return Penalty(l1, l2, 0.0, 0.0, bool(self.fit_intercept))


def check_solver(solver, penalty, dual):
    """Refuse the combinations scikit-learn refuses."""
    if solver not in ("liblinear", "saga") and penalty not in ("l2", None):
        raise ValueError(f"Solver {solver} supports only 'l2' or None penalties, got {penalty} penalty.")
    if solver != "liblinear" and dual:
        raise ValueError(f"Solver {solver} supports only dual=False, got dual={dual}")
    if penalty == "elasticnet" and solver != "saga":
        raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
    if solver == "liblinear" and penalty is None:
        raise ValueError("C=np.inf as well as penalty=None is not supported for the liblinear solver")


def check_liblinear(X, n_classes):
    """The limits of the solver called liblinear: two classes, moderate values."""
    if n_classes > 2:
        raise ValueError(
            "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use another "
            "solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest scheme. "
            "Only binary classification is supported. The type of the target is multiclass."
        )
    values = X.data if sp.issparse(X) else X
    if values.size and values.max() > 1e30:
        raise ValueError(
            "Using the 'liblinear' solver while X contains a maximum value > 1e30 results in a frozen fit. Please "
            "choose another solver or rescale the input X."
        )


def solve_logistic(problem, X, codes, n_classes, weight, theta=None, observe=None) -> LogisticResult:
    """Fit on checked arrays; theta has shape (1, d + 1) for two classes, (n_classes, d + 1) for more.

    Warns nobody: the status and the numbers of the result tell how it went.
    """
    weight = np.ones(X.shape[0]) if weight is None else weight
    if X.dtype == np.float32 and X.shape[0] * X.shape[1] <= SMALL_VALUES:
        X = X.astype(np.float64)
    options = {"tol": float(problem.tol), "max_iter": int(problem.max_iter)}
    strengths = problem.strengths(float(weight.sum()))
    if n_classes > 2:
        codes = codes.astype(np.intp, copy=False)
        found = solve_softmax(X, codes, weight, n_classes, strengths, theta=theta, observe=observe, **options)
        if problem.penalty is None and found.status in JUDGED:
            return _judged(found, softmax_recession(X, codes, weight, n_classes, found.theta, strengths.intercept))
        return found
    start = None if theta is None else theta[0]
    see = observe and (lambda iteration, x, value, residual: observe(iteration, x[None, :], value, residual))
    target = codes.astype(np.float64)
    found = solve_binary(X, target, weight, strengths, theta=start, observe=see, **options)
    if problem.penalty is None and found.status in JUDGED:
        found = _judged(found, binary_recession(X, target, weight, found.theta, strengths.intercept))
    return found._replace(theta=found.theta[None, :])


def _judged(found, separation):
    """The result with the direction of recession, when there is one."""
    if separation is None:
        return found
    direction, complete = separation
    return found._replace(recession=direction, separates=found.separates or complete)


def warm_start(coef, intercept, shape, fit_intercept):
    """The start ``[w_k, b_k]`` from fitted attributes, checked against the shape (rows, features) now needed."""
    coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef)
    if coef.shape != shape:
        raise ValueError(
            f"Initialization coef is of shape {coef.shape}, expected shape {shape}: with warm_start=True a second fit "
            "needs as many features and classes as the first"
        )
    bias = np.broadcast_to(np.asarray(intercept, dtype=np.float64), (shape[0],)) if fit_intercept else 0.0
    theta = np.zeros((shape[0], shape[1] + 1))
    theta[:, :-1], theta[:, -1] = coef, bias
    return theta


def certificate_of(result, problem) -> Certificate:
    """The duality gap when the dual point is good enough to show it, else the optimality residual."""
    details = {"iterations": result.n_iter, "gradient": result.residual, "status": result.status.name.lower()}
    if result.recession is not None:
        details["separation"] = "complete" if result.separates else "quasi-complete"
        details["diverging columns"] = diverging(result).tolist()
    tol = max(float(problem.tol), 1e-10)
    gap = result.objective - result.dual
    if np.isfinite(result.dual) and gap <= tol * abs(result.objective):
        return gap_certificate(
            result.objective,
            result.dual,
            tol,
            abs(result.objective),
            reference="Fenchel dual of logistic regression: Yu, Huang, Lin (2011), Machine Learning 85, section 2",
            **details,
        )
    return Certificate(
        kind="optimality residual",
        guarantee="no component of the (sub)gradient of the mean objective is larger",
        value=result.residual,
        bound=max(float(problem.tol), 1e-7),
        reference="Nocedal, Wright (2006), Numerical Optimization, theorem 2.2",
        details={"objective": result.objective, "gap": gap, **details},
    )


def diverging(result):
    """The features whose coefficients grow without end along the direction of recession."""
    return np.flatnonzero(np.any(result.recession[:, :-1] != 0.0, axis=0))


def _names_diverging(result, names):
    if result.recession is None:
        return ""
    columns = diverging(result)
    return f" Diverging: {describe(columns, names) if columns.size else 'the intercept'}."


def report(result, problem, names=None):
    """Turn a bad status into a warning with a number and advice."""
    if problem.penalty is None and result.recession is not None and not result.separates:
        warnings.warn(
            "Quasi-complete separation: a hyperplane has all rows on their own side or on itself, so that without a "
            "penalty some coefficients grow without end, and those returned only show where the solver stopped."
            f"{_names_diverging(result, names)} Use a finite C, for example C=1, or drop or merge these columns "
            f"(objective {result.objective:.3g} after {result.n_iter} iterations).",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif problem.penalty is None and result.separates:
        warnings.warn(
            "The fitted plane separates the classes without error: without a penalty there are no best coefficients, "
            "larger ones always fit better, and those returned only show where the solver stopped."
            f"{_names_diverging(result, names)} Use a finite C, for example C=1 "
            f"(objective {result.objective:.3g} after {result.n_iter} iterations).",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif result.status is Status.DIVERGED and problem.solver in ("sag", "saga"):
        raise ValueError(
            "Floating-point under-/overflow occurred at the start: the objective is not finite there. Scale the "
            "features, for example with StandardScaler or MinMaxScaler."
        )
    elif result.status is Status.DIVERGED:
        warnings.warn(
            "The objective is not finite: X holds values too large for floating point. Scale the features.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif not result.status.ok:
        head = _FAILURES[problem.solver].format(n=result.n_iter)
        warnings.warn(
            f"{head} (max_iter={problem.max_iter}) or scale the data: the largest violation of the optimality "
            f"conditions is {result.residual:.2g}, tol asks for {problem.tol:g}.",
            ConvergenceWarning,
            stacklevel=3,
        )
