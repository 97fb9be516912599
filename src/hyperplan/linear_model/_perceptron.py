"""The perceptron: on each mistake ``y (<w, x> + b) <= 0`` a step ``w <- w + eta0 y x, b <- b + eta0 y``.

There is no objective whose minimum is the answer: the perceptron loss ``(-m)_+`` of the margin m is zero for w = 0 on
any data, which is why a mistake is counted with <=.  On linearly separable rows the steps end after at most
``(R / gamma)^2`` mistakes (Novikoff); otherwise they never end, and the variants "pocket" (the weights with the
least training error so far) and "averaged" (the mean of all weights) report something steadier than the last weights.
"""

import numpy as np

from hyperplan._base import (
    Choice,
    Is,
    Jobs,
    OneOf,
    Real,
    check_array,
    check_consistent_length,
    column_or_1d,
    encode_labels,
    seed_from,
)
from hyperplan._solvers.perceptron import (
    PerceptronResult,
    novikoff,
    novikoff_certificate,
    pocket,
    textbook_perceptron,
)
from hyperplan._solvers.sgd import batch_certificate
from hyperplan.linear_model._sgd_base import COMMON_PARAMS, Solved, solve_job
from hyperplan.linear_model._sgd_classifier import SgdClassifierBase

ORDERS = ("cyclic", "shuffle", "random_mistake")


def update_weight(weight, x, y, rho=1.0):
    """One perceptron step: the new weights after seeing row x with label y = -1 or +1.

    Parameters
    ----------
    weight, x : array-like of shape (n_features,)
        Weights and row; append a constant 1 to the row for an intercept.
    y : {-1, 1}
        Label.
    rho : float, default=1.0
        Step size.

    Returns
    -------
    weight : ndarray of shape (n_features,)
        ``weight + rho y x`` if ``y <weight, x> <= 0``, else a copy of `weight`.

    Examples
    --------
    >>> from hyperplan.linear_model import update_weight
    >>> update_weight([0.0, 0.0], [1.0, 2.0], -1).tolist()
    [-1.0, -2.0]
    """
    weight, x = np.array(weight, dtype=np.float64), np.asarray(x, dtype=np.float64)
    return weight + rho * y * x if y * (weight @ x) <= 0 else weight


def perceptron(X, y, epoch=1000, *, rho=1.0, order="cyclic", random_state=None):
    """The textbook perceptron, with a constant feature for the intercept and weights that start at zero.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Two labels; the larger one counts as +1.
    epoch : int, default=1000
        Most passes over the rows; stops after a pass without a mistake.
    rho : float, default=1.0
        Step size (from zero weights it only scales the result).
    order : {"cyclic", "shuffle", "random_mistake"}, default="cyclic"
        Rows in turn, in a new random order each pass, or each step on a row drawn among the misclassified ones
        (Rosenblatt's stochastic version; at most ``epoch * n_samples`` steps).
    random_state : int, RandomState instance or None, default=None
        Seed of the random orders.

    Returns
    -------
    result : PerceptronResult
        `weight` (the intercept last), `n_mistakes`, `n_epochs`, `converged`.

    Examples
    --------
    >>> from hyperplan.linear_model import perceptron
    >>> gate = perceptron([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> gate.converged, gate.weight.tolist()
    (True, [3.0, 2.0, -4.0])
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, got {order!r}")
    if epoch < 1 or rho <= 0:
        raise ValueError(f"epoch must be at least 1 and rho positive, got epoch={epoch} and rho={rho}")
    X = check_array(X, dtype=np.float64)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    labels = encode_labels(y, estimator_name="perceptron")
    if labels.classes.shape[0] != 2:
        raise ValueError(f"perceptron separates two classes, got {labels.classes.shape[0]}: {labels.classes}")
    signs = np.where(labels.codes == 1, 1.0, -1.0)
    table = np.column_stack([X, np.ones(X.shape[0])])
    seed = 0 if order == "cyclic" else seed_from(random_state)
    return textbook_perceptron(table, signs, epoch=int(epoch), rho=rho, order=order, seed=seed)


class Perceptron(SgdClassifierBase):
    """Linear classifier that learns from its mistakes.

    A row is a mistake when ``y (<w, x> + b) <= 0``; then ``w += eta0 y x`` and ``b += eta0 y``.  More than two
    classes: one perceptron per class against the others.

    Stopping rule: an epoch without a mistake (further epochs would change nothing), or the perceptron loss averaged
    over an epoch has not improved on its best by `tol` for `n_iter_no_change` epochs; at most `max_iter` epochs.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default=None
        Penalty added to the perceptron loss.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of the l1 penalty, for "elasticnet".
    fit_intercept : bool, default=True
        Whether to fit b.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=1e-3
        Least improvement of the loss that counts; None: stop only after a clean epoch or `max_iter`.
    shuffle : bool, default=True
        New random order in each epoch.
    verbose : int, default=0
        Print a line per epoch.
    eta0 : float, default=1.0
        Step size (without penalty and from zero weights it only scales the result).
    n_jobs : int or None, default=None
        Threads for the classes; the result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders.
    early_stopping : bool, default=False
        Stop on the accuracy on held-out rows.
    validation_fraction : float, default=0.1
        Share of rows held out.
    n_iter_no_change : int, default=5
        Epochs without improvement before stopping.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; they multiply the steps.
    warm_start : bool, default=False
        Start `fit` from the previous solution.
    variant : {"vanilla", "pocket", "averaged"}, default="vanilla"
        Report the last weights, those with the least training error seen (needs ``penalty=None`` and no early
        stopping), or the mean over all steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : int
        Epochs (the most over classes).
    n_mistakes_ : int
        Mistakes during training, over all epochs and classes.
    t_ : float
        Rows visited plus one.
    certificate_ : Certificate
        Novikoff's bound: mistakes against ``(R / gamma)^2``, gamma being the margin of the best separator found.
        Where the theorem says nothing (no separator, weights, penalty, warm start) its bound is nan.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Rosenblatt (1958), The perceptron.  Novikoff (1962), On convergence proofs on perceptrons.  Gallant (1990),
    Perceptron-based learning algorithms.  Freund, Schapire (1999), Large margin classification using the perceptron
    algorithm.

    Examples
    --------
    >>> from hyperplan.linear_model import Perceptron
    >>> model = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1])
    >>> model.predict([[0, 0], [1, 0]]).tolist(), model.certificate_.holds
    ([0, 1], True)
    """

    loss, learning_rate, power_t, epsilon = "perceptron", "constant", 0.5, 0.1

    _params = {
        **COMMON_PARAMS,
        "l1_ratio": Real(ge=0, le=1),
        "n_jobs": Jobs,
        "class_weight": OneOf(Choice("balanced", None), Is(lambda v: isinstance(v, dict), "an instance of 'dict'")),
        "variant": Choice("vanilla", "pocket", "averaged"),
    }

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        variant="vanilla",
    ):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.variant = variant

    @property
    def average(self):
        """Whether the mean weights are reported."""
        return self.variant == "averaged"

    def _check_options(self, *, partial):
        super()._check_options(partial=partial)
        if self.variant == "pocket" and (self.penalty is not None or self.early_stopping):
            raise ValueError(
                "variant='pocket' keeps the weights with the fewest training errors: use it with penalty=None and "
                f"early_stopping=False, got penalty={self.penalty!r} and early_stopping={self.early_stopping}"
            )

    def _rule(self, X, positive_weight=1.0, negative_weight=1.0):
        rule = super()._rule(X, positive_weight, negative_weight)
        return rule._replace(stop_clean=self.penalty is None)

    def _solve_one(self, job, y, rule, start, seed):
        if self.variant == "pocket":
            run = pocket(job.X, y, job.weight, rule, start, n_epochs=job.n_epochs, seed=seed, rows=job.rows)
            solved = Solved(run, run.point.coef, run.point.intercept, None)
        else:
            solved = solve_job(job._replace(certify=False), y, rule, start, seed)
        if not job.certify:
            return solved
        return solved._replace(gap=novikoff(job.X, y, rule, solved.run, job.rows))

    def _certificate(self, solved, job, starts):
        if not job.certify:
            return batch_certificate()
        reasons = {
            "a penalty shrinks the weights": self.penalty is not None,
            "weights scale the steps": job.weight is not None or self.class_weight is not None,
            "the weights did not start at zero": any(start.coef.any() or start.intercept for start in starts),
        }
        excuse = ", ".join(reason for reason, applies in reasons.items() if applies)
        return novikoff_certificate([each.gap for each in solved], excuse)

    def _store(self, solved, job, starts, dtype, *, partial):
        super()._store(solved, job, starts, dtype, partial=partial)
        before = self.n_mistakes_ if partial and hasattr(self, "n_mistakes_") else 0
        self.n_mistakes_ = before + sum(each.run.n_updates for each in solved)
        return self


__all__ = ["Perceptron", "PerceptronResult", "perceptron", "update_weight"]
