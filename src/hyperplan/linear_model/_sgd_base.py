"""What the stochastic gradient estimators share: parameters, starting points, the solve function, attributes.

    minimise   1/n sum_i s_i loss(y_i, <w, x_i> + b)  +  alpha (r |w|_1 + (1 - r)/2 |w|^2)

with row weights s_i and mixing r (0 for "l2", 1 for "l1", `l1_ratio` for "elasticnet").  See
`hyperplan._solvers.sgd` for the steps and the stopping rule.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    ConvergenceWarning,
    Int,
    Null,
    OneOf,
    Real,
    Seed,
    SparseCoefMixin,
    Status,
    check_params,
    check_weight,
    holdout_split,
    seed_from,
)
from hyperplan._core.parallel import thread_map
from hyperplan._core.rng import task_seeds
from hyperplan._solvers.sgd import (
    Gap,
    SgdPoint,
    SgdRun,
    as_rows,
    batch_certificate,
    duality_gap,
    row_numbers,
    sgd,
    sgd_certificate,
    sgd_rule,
)

DEFAULT_EPSILON = 0.1

COMMON_PARAMS = {
    "penalty": OneOf(Choice("l2", "l1", "elasticnet"), Null),
    "alpha": Real(ge=0),
    "l1_ratio": OneOf(Real(ge=0, le=1), Null),
    "fit_intercept": Bool,
    "max_iter": Int(ge=1),
    "tol": OneOf(Real(ge=0), Null),
    "shuffle": Bool,
    "verbose": OneOf(Int(ge=0), Bool),
    "random_state": Seed,
    "eta0": Real(gt=0),
    "early_stopping": Bool,
    "validation_fraction": Real(gt=0, lt=1),
    "n_iter_no_change": Int(ge=1),
    "warm_start": Bool,
}
SCHEDULE_PARAMS = {
    "epsilon": Real(ge=0),
    "learning_rate": Choice("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"),
    "power_t": Real(),
    "average": OneOf(Int(gt=0), Bool),
}


class Job(NamedTuple):
    """The data of one fit, checked: everything but the targets and the rule."""

    X: object
    weight: np.ndarray | None
    rows: np.ndarray
    holdout: np.ndarray
    n_epochs: int
    certify: bool
    verbose: bool


class Solved(NamedTuple):
    """One descent: its run, the coefficients to report (averaged ones if asked), how good they are."""

    run: SgdRun
    coef: np.ndarray
    intercept: float
    gap: Gap | None


def solve_job(job, y, rule, start, seed) -> Solved:
    """Descend for one target vector and certify the point that is reported."""
    report = print_epoch(rule) if job.verbose else None
    run = sgd(
        job.X, y, job.weight, rule, start,
        n_epochs=job.n_epochs, seed=seed, rows=job.rows, holdout=job.holdout, report=report,
    )  # fmt: skip
    averaged = rule.average > 0 and rule.average <= run.point.clock - 1.0
    coef = run.point.average_coef if averaged else run.point.coef
    intercept = run.point.average_intercept if averaged else run.point.intercept
    gap = None
    if job.certify and run.status != Status.DIVERGED:
        gap = duality_gap(job.X, y, job.weight, rule, coef, intercept, job.rows)
    return Solved(run, coef, intercept, gap)


def print_epoch(rule):
    """A reporter for `verbose`."""
    from hyperplan._solvers._sgd_kernels import CLOCK, INTERCEPT, LOSS, OBJECTIVE, SCALE, SCORE

    def report(epoch, state, coef):
        norm, nonzero = state[SCALE] * np.linalg.norm(coef), np.count_nonzero(coef)
        print(f"-- Epoch {epoch}")
        print(
            f"Norm: {norm:.2f}, NNZs: {nonzero}, Bias: {state[INTERCEPT]:.6f}, T: {int(state[CLOCK]) - 1}, "
            f"Avg. loss: {state[LOSS]:f}, Objective: {state[OBJECTIVE]:f}"
            + (f", Validation score: {state[SCORE]:f}" if state[SCORE] != 0 else "")
        )

    return report


class SgdEstimator(SparseCoefMixin, BaseEstimator):
    """Parameters, starting points and attributes of the stochastic gradient estimators."""

    _classify = False
    _nu = 0.0

    def _check_options(self, *, partial):
        check_params(self)
        if partial and self.early_stopping:
            raise ValueError("early_stopping should be False with partial_fit: hold rows out yourself")
        if self.learning_rate == "optimal" and self._strength() == 0:
            raise ValueError(
                "alpha must be > 0 since learning_rate is 'optimal'. "
                "alpha is used to compute the optimal learning rate."
            )
        if self.learning_rate in ("pa1", "pa2"):
            needed = "hinge" if self._classify else "epsilon_insensitive"
            if self.loss != needed:
                raise ValueError(f"Learning rate '{self.learning_rate}' only works with loss '{needed}'.")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet'")

    def _strength(self):
        return self.alpha

    def _rule(self, X, positive_weight=1.0, negative_weight=1.0):
        return sgd_rule(
            loss=self.loss,
            penalty=self.penalty,
            alpha=self._strength(),
            l1_ratio=self.l1_ratio,
            nu=self._nu,
            schedule=self.learning_rate,
            eta0=self.eta0,
            power_t=self.power_t,
            epsilon=self.epsilon,
            fit_intercept=self.fit_intercept,
            sparse=sp.issparse(X),
            positive_weight=positive_weight,
            negative_weight=negative_weight,
            average=self.average,
            shuffle=self.shuffle,
            classify=self._classify,
            tol=self.tol,
            patience=self.n_iter_no_change,
        )

    def _job(self, X, y, sample_weight, *, partial) -> Job:
        """Weights, held-out rows and the record of arrays for checked X."""
        weight = self._checked_weight(sample_weight, X)
        rows, holdout = np.arange(X.shape[0]), np.empty(0, dtype=np.intp)
        if self.early_stopping:
            rows, holdout = holdout_split(y, self.validation_fraction, self.random_state, stratify=self._classify)
            if weight is not None and not weight[holdout].any():
                raise ValueError(
                    "The sample weights for validation set are all zero, consider using a different random state."
                )
        return Job(
            as_rows(X),
            weight,
            row_numbers(rows),
            row_numbers(holdout),
            n_epochs=1 if partial else self.max_iter,
            certify=not partial,
            verbose=bool(self.verbose),
        )

    def _checked_weight(self, sample_weight, X):
        if sample_weight is not None and self.early_stopping and not np.any(sample_weight):
            return np.zeros(X.shape[0])  # the validation split reports this case in its own words
        return check_weight(sample_weight, X, allow_negative=True)

    def _starts(self, shape, coef_init, intercept_init, *, partial) -> list[SgdPoint]:
        """Where each of the descents begins: given, remembered (warm start, partial fit), or zero."""
        n_problems = shape[0]
        averages, average_intercepts, clock = np.zeros(shape), np.zeros(n_problems), 1.0
        if partial and hasattr(self, "coef_"):
            clock = self.t_
            coef, intercept = _dense(self.coef_), self._intercepts()
            if self.average and hasattr(self, "_average_coef"):
                coef, intercept = self._standard_coef, self._standard_intercept
                averages, average_intercepts = self._average_coef, self._average_intercept
        else:
            warm = self.warm_start and hasattr(self, "coef_")
            coef = coef_init if coef_init is not None else _dense(self.coef_) if warm else np.zeros(shape)
            coef, intercept = self._checked_start(shape, coef, intercept_init, warm)
        return [
            SgdPoint(*point, clock)
            for point in zip(
                np.reshape(coef, shape), np.ravel(intercept), np.reshape(averages, shape), np.ravel(average_intercepts),
                strict=True,
            )
        ]  # fmt: skip

    def _checked_start(self, shape, coef, intercept_init, warm):
        coef = np.asarray(coef, dtype=np.float64)
        coef = coef if shape[0] > 1 else coef.ravel()[None, :]
        if coef.shape != shape:
            raise ValueError(f"Provided coef_init does not match dataset: shape {coef.shape}, expected {shape}.")
        if intercept_init is None:
            intercept = self._intercepts() if warm else np.zeros(shape[0]) + self._zero_intercept()
        else:
            intercept = self._intercepts(np.asarray(intercept_init, dtype=np.float64))
        if intercept.shape not in ((shape[0],), () if shape[0] == 1 else (shape[0],)):
            raise ValueError(
                f"Provided intercept_init does not match dataset: shape {intercept.shape}, expected {(shape[0],)}."
            )
        return coef, intercept

    def _zero_intercept(self):
        return 0.0

    def _intercepts(self, given=None):
        """The intercepts of the descents from the stored (or given) attribute."""
        return np.asarray(self.intercept_ if given is None else given)

    def _solve_all(self, job, targets, rules, starts, n_jobs=None) -> list[Solved]:
        """One descent per rule; `targets(i)` makes the i-th target vector (only while it is needed)."""
        seeds = task_seeds(seed_from(self.random_state), len(rules))

        def one(i):
            return self._solve_one(job, targets(i), rules[i], starts[i], int(seeds[i]))

        solved = thread_map(one, range(len(rules)), 1 if job.verbose else n_jobs)
        if any(each.run.status == Status.DIVERGED for each in solved):
            epoch = max(each.run.n_iter for each in solved if each.run.status == Status.DIVERGED)
            raise ValueError(
                f"Floating-point under-/overflow occurred at epoch #{epoch}. "
                "Scaling input data with StandardScaler or MinMaxScaler might help."
            )
        return solved

    def _solve_one(self, job, y, rule, start, seed):
        return solve_job(job, y, rule, start, seed)

    def _certificate(self, solved, job, starts):
        if not job.certify:
            return batch_certificate()
        convex = job.weight is None or job.weight.min() >= 0
        gaps, runs = [each.gap for each in solved], [each.run for each in solved]
        return sgd_certificate(gaps, runs, self.tol, self.n_iter_no_change, convex)

    def _store(self, solved, job, starts, dtype, *, partial):
        """All attributes of a fit, in one block."""
        coef = self._shaped(np.array([each.coef for each in solved], dtype=dtype))
        old = getattr(self, "coef_", None)
        if partial and isinstance(old, np.ndarray) and old.dtype == dtype and old.flags.writeable and not self.average:
            old[...] = coef  # batches share one array, as long as its type stays
            coef = old
        self.coef_ = coef
        self._store_intercepts(np.array([each.intercept for each in solved], dtype=np.float64))
        self.n_iter_ = max(each.run.n_iter for each in solved)
        self.t_ = starts[0].clock + self.n_iter_ * job.X.n_rows
        self.certificate_ = self._certificate(solved, job, starts)
        for name in ("_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept"):
            self.__dict__.pop(name, None)
        if self.average:
            points = [each.run.point for each in solved]
            self._standard_coef = self._shaped(np.array([point.coef for point in points], dtype=dtype))
            self._standard_intercept = np.array([point.intercept for point in points])
            self._average_coef = self._shaped(np.array([point.average_coef for point in points], dtype=dtype))
            self._average_intercept = np.array([point.average_intercept for point in points])
        return self

    def _shaped(self, coef):
        return coef[0]

    def _store_intercepts(self, intercepts):
        self.intercept_ = intercepts

    def _warn(self, solved):
        """Say what a user should know about a finished `fit`."""
        if self.tol is not None and any(each.run.status == Status.MAX_ITER for each in solved):
            objective = max(each.run.objective for each in solved)
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the "
                f"fit. (The objective was {objective:.4g} in epoch {self.max_iter}, and still improved by more than "
                f"tol={self.tol} within the last {self.n_iter_no_change} epochs.)",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.power_t < 0:
            warnings.warn(
                "Negative values for `power_t` are deprecated in version 1.8 and will raise an error in 1.10. "
                "Use values in the range [0.0, inf) instead.",
                FutureWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _dense(coef):
    return coef.toarray() if sp.issparse(coef) else coef
