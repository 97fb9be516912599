"""Logistic regression.

    min over w, b   C sum_i s_i log(1 + exp(-y_i (x_i w + b))) + l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2

with y_i = -1, 1 for two classes; for more the loss is ``log sum_k exp(x_i w_k + b_k) - x_i w_c - b_c`` with c the
class of row i.  The solvers and their stopping rules are described in `_solvers/logistic.py` and `softmax.py`.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, log_softmax, softmax

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    Int,
    Is,
    Jobs,
    LinearClassifierMixin,
    Null,
    OneOf,
    Real,
    Seed,
    SparseCoefMixin,
    Status,
    check_finite,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._base.callbacks import CallbackSupportMixin, FitTask, with_callbacks
from hyperplan._base.labels import weights_by_class
from hyperplan.linear_model._logistic_problem import (
    SOLVERS,
    LogisticProblem,
    certificate_of,
    check_liblinear,
    check_solver,
    report,
    solve_logistic,
    warm_start,
)
from hyperplan.linear_model._logistic_summary import fit_statistics, is_cheap, logistic_summary

_DEPRECATED = (
    "'penalty' was deprecated in version 1.8 and will be removed in 1.10. To avoid this warning, leave 'penalty' set "
    "to its default value and use {ratio} instead: {ratio}=0 for l2, 1 for l1, between 0 and 1 for elastic net, and an "
    "infinite C for no penalty."
)


class LogisticRegression(LinearClassifierMixin, SparseCoefMixin, CallbackSupportMixin, BaseEstimator):
    """Logistic regression for two or more classes, with l2, l1, elastic-net or no penalty.

    Minimises ``C sum_i s_i loss_i + l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2`` with ``loss_i`` the negative log of the
    probability of the class of row i (logistic for two classes, softmax for more).  The intercept is not penalised,
    except with ``solver="liblinear"``.

    Stopping rule: on the objective divided by ``C sum_i s_i`` no component of the gradient exceeds `tol`; Newton
    steps go on (two at most) until the relative duality gap is below `tol` too.  With an l1 part, the violation of the
    optimality conditions is at most `tol` times the largest gradient at zero, and so is the relative duality gap.

    Parameters
    ----------
    penalty : {'l1', 'l2', 'elasticnet', None}, default='deprecated'
        Deprecated as in scikit-learn: use `l1_ratio` and `C`.
    C : float, default=1.0
        Inverse strength of the penalty; ``np.inf`` means no penalty.
    l1_ratio : float, default=0.0
        0 is the l2 penalty, 1 the lasso, values between them the elastic net.
    dual : bool, default=False
        Accepted for ``solver="liblinear"`` with l2 penalty; the result is the same.
    tol : float, default=1e-4
        Tolerance of the stopping rule.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1
        The constant column whose penalised weight is the intercept with ``solver="liblinear"``.
    class_weight : dict or 'balanced', default=None
        Weights by class label; 'balanced' gives every class the same total weight.
    random_state : int, RandomState instance, default=None
        Accepted for compatibility: the solvers use no random numbers.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        The names select what scikit-learn supports under them (liblinear: two classes, penalised intercept; l1:
        liblinear and saga; elastic net: saga); the algorithm is chosen by the shape of the data.
    max_iter : int, default=100
        Largest number of steps.
    verbose : int, default=0
        Print a line per step when positive.
    warm_start : bool, default=False
        Start from the previous solution (not with liblinear).
    n_jobs : int, default=None
        Deprecated as in scikit-learn, without effect; see `hyperplan.thread_limit`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts (zeros without intercept).
    n_iter_ : ndarray of shape (1,)
        Number of steps.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has names.
    is_separable_ : bool
        Whether the fitted planes put every training row (with positive weight) on its own side: then no finite
        coefficients are best without a penalty.
    certificate_ : Certificate
        The relative duality gap; without penalty, or where the dual point is too coarse, the largest component of
        the gradient.  Without penalty its details tell complete or quasi-complete separation and the columns whose
        coefficients diverge (found by a linear programme).

    References
    ----------
    Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import LogisticRegression
    >>> X = np.array([[-2.0], [-1.0], [0.0], [0.5], [1.0], [2.0]])
    >>> model = LogisticRegression().fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.predict([[-1.5], [1.5]])
    array([0, 1])
    >>> model.predict_proba([[0.0]]).round(2)
    array([[0.52, 0.48]])
    >>> model.certificate_.holds
    True
    """

    _params = {
        "penalty": Choice("l1", "l2", "elasticnet", "deprecated", None),
        "C": Real(gt=0),
        "l1_ratio": OneOf(Real(ge=0, le=1), Null),
        "dual": Bool,
        "tol": Real(ge=0),
        "fit_intercept": Bool,
        "intercept_scaling": Real(gt=0),
        "class_weight": OneOf(Choice("balanced", None), Is(lambda v: isinstance(v, dict), "an instance of 'dict'")),
        "random_state": Seed,
        "solver": Choice(*SOLVERS),
        "max_iter": Int(ge=0),
        "verbose": OneOf(Int(ge=0), Bool),
        "warm_start": Bool,
        "n_jobs": Jobs,
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def set_callbacks(self, *callbacks):
        """Set scikit-learn callbacks (1.9 and later): progress bars, monitors, early stopping.

        Parameters
        ----------
        *callbacks : callback instances
            The callbacks.

        Returns
        -------
        self
            The estimator.
        """
        if self.solver != "lbfgs":
            warnings.warn(
                f"Callbacks are only supported in {type(self).__name__} for solver='lbfgs'. This estimator has "
                f"solver='{self.solver}', callbacks will be ignored during the solving of the regression.",
                stacklevel=2,
            )
        return super().set_callbacks(*callbacks)

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
            Fitted estimator.
        """
        # 1. parameters
        check_params(self)
        problem = self._problem()
        # 2. data
        X, y, labels, weight = self._checked(X, y, sample_weight)
        n_classes = labels.classes.shape[0]
        if problem.solver == "liblinear":
            check_liblinear(X, n_classes)
        rows = 1 if n_classes == 2 else n_classes
        start = None
        if self.warm_start and problem.solver != "liblinear" and hasattr(self, "coef_"):
            start = warm_start(self.coef_, self.intercept_, (rows, X.shape[1]), self.fit_intercept)
        # 3. maths
        dtype = np.float64 if problem.solver == "liblinear" else X.dtype
        attributes = lambda theta: _attributes(theta, labels.classes, dtype)  # noqa: E731
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        task = FitTask(self, X, y, metadata, self.max_iter, attributes, self.solver == "lbfgs")
        task.begin(np.zeros((rows, X.shape[1] + 1)) if start is None else start)
        result = solve_logistic(problem, X, labels.codes, n_classes, weight, start, _observer(task, self.verbose))
        if result.status is Status.DIVERGED:
            check_finite(self, X)
        task.end(result.theta)
        report(result, problem, getattr(self, "feature_names_in_", None))
        statistics = None
        if is_cheap(X.shape[0], result.theta):
            statistics = fit_statistics(problem, X, labels.codes, n_classes, weight, result.theta, result.state)
        # 4. attributes
        self.__dict__.update(attributes(result.theta))
        self.n_iter_ = np.array([result.n_iter], dtype=np.int32)
        self.is_separable_ = result.separates
        self.certificate_ = certificate_of(result, problem)
        self._fitted_problem, self._statistics = problem, statistics
        return self

    def _checked(self, X, y, sample_weight):
        """Checked X, y, labels, and the weights of rows times those of classes."""
        defer = isinstance(X, np.ndarray) and X.size > 2**16  # NaN and infinities show in the first pass
        X, y, weight = check_training(
            self,
            X,
            y,
            sample_weight,
            accept_sparse="csr",
            order="C",
            accept_large_sparse=self.solver not in ("liblinear", "sag", "saga"),
            ensure_all_finite=not defer,
        )
        labels = encode_labels(y, estimator_name="This solver")
        return X, y, labels, weights_by_class(weight, self.class_weight, labels, y)

    def _problem(self):
        """The penalty meant by `penalty`, `l1_ratio` and `C`, with scikit-learn's warnings."""
        penalty, ratio = self.penalty, self.l1_ratio
        if penalty == "deprecated":
            penalty = {0: "l2", None: "l2", 1: "l1"}.get(ratio, "elasticnet")
            if ratio is None:
                _warn(
                    "'l1_ratio=None' was deprecated in version 1.8 and will trigger an error in 1.10. Use "
                    "0<=l1_ratio<=1 instead.",
                    FutureWarning,
                )
            if np.isinf(self.C):
                penalty = None
        else:
            _warn(_DEPRECATED.format(ratio="l1_ratio"), FutureWarning)
        check_solver(self.solver, penalty, self.dual)
        if penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
            _warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})")
        if (self.penalty == "l2" and ratio != 0) or (self.penalty == "l1" and ratio != 1):
            _warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={ratio}. penalty is deprecated. Please use "
                "l1_ratio only."
            )
        if penalty == "elasticnet" and ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        if self.penalty is None and self.C != 1.0:
            _warn("Setting penalty=None will ignore the C and l1_ratio parameters")
        if self.n_jobs is not None:
            _warn(
                "'n_jobs' has no effect since 1.8 and will be removed in 1.10. You provided "
                f"'n_jobs={self.n_jobs}', please leave it unspecified.",
                FutureWarning,
            )
        strengths = (np.inf if self.penalty is None else self.C, ratio, self.fit_intercept, self.intercept_scaling)
        unpenalised = penalty is None or np.isinf(strengths[0])
        return LogisticProblem(self.solver, None if unpenalised else penalty, *strengths, self.tol, self.max_iter)

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self.decision_function(X)
        return np.stack([expit(-scores), expit(scores)], axis=1) if scores.ndim == 1 else softmax(scores, axis=1)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities of the classes, finite also where a probability rounds to 0 or 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
        return log_softmax(scores, axis=1)

    def summary(self, X=None, y=None, sample_weight=None, *, level=0.95):
        """Coefficients with standard errors, z tests, confidence intervals and odds ratios.

        Parameters
        ----------
        X, y, sample_weight : array-like, default=None
            The training data; needed only after fits so large that the information matrix was not kept.
        level : float, default=0.95
            Confidence level.

        Returns
        -------
        summary : CoefficientSummary
            ``print(summary)`` or ``summary.frame()``; `extra` holds log-likelihoods, pseudo R2, AIC and BIC.
        """
        check_is_fitted(self)
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        theta = np.column_stack([coef, np.broadcast_to(self.intercept_, (coef.shape[0],))]).astype(np.float64)
        statistics = self._statistics
        if X is not None:
            X, y, labels, weight = self._checked(X, y, sample_weight)
            fixed = (labels.codes, labels.classes.shape[0], weight, theta)
            statistics = fit_statistics(self._fitted_problem, X, *fixed)
        elif statistics is None:
            raise ValueError(
                "This fit was too large to keep its information matrix: call summary(X, y) with the training data."
            )
        return logistic_summary(self, self._fitted_problem, statistics, theta, level)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.solver == "liblinear":
            tags.classifier_tags.multi_class = False
        return tags


def _warn(message, category=UserWarning):
    warnings.warn(message, category, stacklevel=4)


def _attributes(theta, classes, dtype):
    """Fitted attributes from ``theta = [w_k, b_k]``."""
    return {
        "coef_": np.ascontiguousarray(theta[:, :-1], dtype=dtype),
        "intercept_": np.array(theta[:, -1], dtype=dtype),
        "classes_": classes,
    }


def _observer(task, verbose):
    """What the solver calls after each step; None when nobody listens."""
    if not verbose and not task.reports:
        return None

    def observe(iteration, theta, objective, residual):
        if verbose:
            print(f"iteration {iteration}: objective {objective:.10g}, largest violation {residual:.3g}")
        return task(theta)

    return observe
