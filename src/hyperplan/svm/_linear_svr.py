"""Linear support vector regression.

    minimise   1/2 |(w, v)|^2 + sum_i C_i * loss(y_i - x_i'w - b),   b = intercept_scaling * v

with C_i = C times sample weight and loss(r) = max(0, |r| - epsilon) or its square.  The weight v of the intercept is
penalised too; a larger `intercept_scaling` weakens that.  Stops when the duality gap is at most `tol` times the
objective.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    Int,
    LinearRegressorMixin,
    OneOf,
    Real,
    Seed,
    check_params,
)
from hyperplan._solvers.linear_svm import fit_band
from hyperplan.svm._linear_common import (
    COMMON_PARAMS,
    certify,
    check_formulation,
    check_rows,
    report,
    seed_of,
    warn_unless_certified,
)


class LinearSVR(LinearRegressorMixin, BaseEstimator):
    """Linear support vector regression with a duality certificate.

    Minimises ``1/2 |w|^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon)``, or with the square of the loss.  Absolute loss:
    an augmented Lagrangian or an interior-point method.  Squared loss: Newton's method on rows outside the tube.
    Sparse or wide data, and small C: coordinate descent on the dual of either.  Stops when the relative duality gap is
    at most `tol`.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half width of the tube without loss, in units of y.
    tol : float, default=1e-4
        Relative duality gap at which to stop.
    C : float, default=1.0
        Cost of leaving the tube: the larger, the weaker the penalty.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        Absolute or squared distance to the tube.
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    intercept_scaling : float, default=1.0
        The constant appended to each row for the intercept; its weight is penalised.
    dual : 'auto' or bool, default='auto'
        Kept for compatibility: the algorithm is chosen by the shape of the data.  Combinations that scikit-learn
        refuses are refused.
    verbose : int, default=0
        Print a line per fit.
    random_state : int, RandomState instance or None, default=None
        Order of the rows in dual coordinate descent; no other method is random.
    max_iter : int, default=1000
        Largest number of iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    intercept_ : ndarray of shape (1,), or 0.0 without intercept
        Constant of the prediction.
    n_iter_ : int
        Number of iterations.
    certificate_ : Certificate
        Primal, dual and relative gap.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Ho, Lin (2012), Large-scale linear support vector regression, JMLR 13.

    Examples
    --------
    >>> from hyperplan.svm import LinearSVR
    >>> model = LinearSVR(C=100.0, epsilon=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0])
    >>> float(model.predict([[1.5]])[0].round(1))
    3.0
    """

    _params = {
        "epsilon": Real(ge=0),
        **COMMON_PARAMS,
        "loss": Choice("epsilon_insensitive", "squared_epsilon_insensitive"),
        "fit_intercept": Bool,
        "dual": OneOf(Bool, Choice("auto")),
        "verbose": OneOf(Int(ge=0), Bool),
        "random_state": Seed,
    }

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Fit to rows and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of C for each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        check_formulation(self.loss, "l2", self.dual)
        data = check_rows(self, X, y, sample_weight, y_numeric=True)  # 2 data
        y = data.y.astype(np.float64, copy=False)
        cost = np.full(y.shape[0], float(self.C)) if data.weight is None else self.C * data.weight
        scale = float(self.intercept_scaling) if self.fit_intercept else 0.0
        outcome = fit_band(  # 3 maths
            data.X,
            y - self.epsilon,
            y + self.epsilon,
            cost,
            power=1 if self.loss == "epsilon_insensitive" else 2,
            scale=scale,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
        )
        certificate = certify([outcome], self.tol)
        if self.verbose:
            report(self, [outcome])
        warn_unless_certified(self, certificate)
        self.coef_ = outcome.weights[: data.X.shape[1]].copy()  # 4 attributes
        self.intercept_ = scale * outcome.weights[-1:] if self.fit_intercept else 0.0
        self.n_iter_ = int(outcome.n_iter)
        self.certificate_ = certificate
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
