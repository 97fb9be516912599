"""Ridge regression with the penalty chosen by cross-validation.

Objective: that of `Ridge`, for the alpha among `alphas` with the best score on rows that the fit has not seen.
"""

import warnings
from numbers import Real as RealNumber
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Choice,
    ClassifierMixin,
    GridSearchCV,
    Int,
    Is,
    LinearRegressorMixin,
    MetadataRouter,
    MethodMapping,
    MultiOutputMixin,
    Null,
    OneOf,
    Real,
    RegressorMixin,
    check_cv,
    check_finite,
    check_params,
    check_scoring,
    check_training,
    get_config,
    get_scorer,
    get_scorer_names,
    is_classifier,
    process_routing,
)
from hyperplan.linear_model._ridge import Ridge, ridge_attributes, ridge_certificate
from hyperplan.linear_model._ridge_folds import direct_solve_pays, fold_scores
from hyperplan.linear_model._ridge_loo import decompose, final_fit, leave_one_out, mean_squared_errors
from hyperplan.linear_model._ridge_solvers import RidgeFit

ERRORS_AT_ONCE = 1 << 24  # leave-one-out errors held at a time when a scorer looks at them

RIDGE_CV_PARAMS = {
    "alphas": OneOf(ArrayLike, Real(gt=0)),
    "fit_intercept": Bool,
    "scoring": Is(
        lambda v: v is None or callable(v) or (isinstance(v, str) and v in get_scorer_names()),
        "a str among the names of scorers, a callable or None",
    ),
    "cv": OneOf(
        Int(ge=2),
        Is(lambda v: hasattr(v, "split") and not isinstance(v, str), "a splitter"),
        Is(lambda v: hasattr(v, "__iter__") and not isinstance(v, str), "an iterable of (train, test) rows"),
        Null,
    ),
    "gcv_mode": Choice("auto", "svd", "eigen", None),
    "store_cv_results": Bool,
    "alpha_per_target": Bool,
}


class LooChoice(NamedTuple):
    """The penalties that leave-one-out prefers, their scores, the fit, and the stored errors or predictions."""

    alpha: object  # a number, or one per target
    score: object
    fit: RidgeFit
    results: np.ndarray | None  # (n, k, n_alphas)


def choose_by_leave_one_out(X, Y, weight, center, alphas, *, score=None, by_svd=False, per_target=False, store=False):
    """Best of `alphas` by exact leave-one-out; `score` maps predictions (n, k) to a number or to one per target.

    Without `score` it is minus the mean (weighted) squared error.  Returns None when X is not finite.
    """
    spectrum = decompose(X, Y, weight, center, by_svd)
    if not spectrum.finite:
        return None
    results = np.empty((*Y.shape, len(alphas))) if store else None
    common = (X, Y, weight, center)
    if score is None and not store:
        squares = mean_squared_errors(spectrum, *common, alphas)
        scores = -squares.T if per_target else -squares.mean(axis=0)
    else:
        scores = []
        size = max(1, ERRORS_AT_ONCE // max(Y.size, 1))
        for begin in range(0, len(alphas), size):
            errors = leave_one_out(spectrum, *common, alphas[begin : begin + size])
            for a in range(errors.shape[2]):
                values, one = _scored(errors[:, :, a], Y, weight, score, per_target)
                scores.append(one)
                if store:
                    results[:, :, begin + a] = values
        scores = np.array(scores)
    best = _first_best(scores)
    alpha = np.asarray(alphas)[best]
    top = scores[best, np.arange(scores.shape[1])] if scores.ndim == 2 else scores[best]
    return LooChoice(alpha, top, final_fit(spectrum, *common, alpha), results)


def _scored(errors, Y, weight, score, per_target):
    """What is stored for one penalty, and its score."""
    if score is not None:
        predictions = Y - errors
        return predictions, score(predictions)
    squares = errors**2 if weight is None else weight[:, None] * errors**2
    return squares, -squares.mean(axis=0) if per_target else -squares.mean()


def _first_best(scores):
    """Position of the largest score (of each column); the first of equals, and no NaN while there is a number."""
    return np.where(np.isnan(scores), -np.inf, scores).argmax(axis=0)


def checked_alphas(alphas, zero_allowed):
    """Penalties as a list of floats, with errors that name the wrong one."""
    values = [alphas] if np.ndim(alphas) == 0 else list(alphas)
    for index, alpha in enumerate(values):
        name = "alphas" if len(values) == 1 else f"alphas[{index}]"
        if not isinstance(alpha, RealNumber):
            raise TypeError(f"{name} must be an instance of float, not {type(alpha).__name__}.")
        if alpha < 0 or (alpha == 0 and not zero_allowed):
            raise ValueError(f"{name} == {alpha}, must be {'>=' if zero_allowed else '>'} 0.0.")
    return [float(alpha) for alpha in values]


class _Known(RegressorMixin, BaseEstimator):
    """Hands predictions to a scorer."""

    def predict(self, predictions):
        return predictions


class _KnownScores(ClassifierMixin, BaseEstimator):
    """Hands decision values to a scorer."""

    def __init__(self, n_classes=2):
        self.classes_ = np.arange(n_classes)

    def decision_function(self, scores):
        return scores

    def predict(self, scores):
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


class CrossValidatedRidge:
    """What `RidgeCV` and `RidgeClassifierCV` share."""

    _default_scorer = "r2"
    _searched = Ridge

    def _fit_choice(self, X, y, Y, weight, dtype, params, sample_weight):
        """Choose the penalty and set the attributes; `Y` (n, k) are the numeric targets, `y` those of the search."""
        alphas = checked_alphas(self.alphas, self.cv is not None)
        if self.cv is None:
            return self._fit_leave_one_out(X, y, Y, weight, dtype, alphas, params, sample_weight)
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name, False):
                raise ValueError(f"cv!=None and {name}=True are incompatible")
        model = self._searched(fit_intercept=self.fit_intercept)
        scores = None
        plain = not get_config()["enable_metadata_routing"] and (weight is None or self.scoring is None)
        if plain and direct_solve_pays(X):
            splits = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
            scores = fold_scores(self, model, X, y, weight, alphas, splits, self._scorer())
        if scores is None:
            best, self.best_score_ = self._search(model, X, y, weight, alphas, params)
        else:
            winner = int(_first_best(scores))
            self.best_score_ = scores[winner]
            best = model.set_params(alpha=alphas[winner]).fit(X, y, sample_weight=weight)
        self.coef_, self.intercept_ = best.coef_, best.intercept_
        self.alpha_ = best.alpha
        self.certificate_ = best.certificate_
        return self

    def _search(self, model, X, y, weight, alphas, params):
        """scikit-learn's grid search, which knows about metadata routing: the best model and its score."""
        if get_config()["enable_metadata_routing"]:
            model.set_fit_request(sample_weight=True)
        search = GridSearchCV(model, {"alpha": alphas}, cv=self.cv, scoring=self._scorer())
        search.fit(X, y, **({} if weight is None else {"sample_weight": weight}), **params)
        return search.best_estimator_, search.best_score_

    def _fit_leave_one_out(self, X, y, Y, weight, dtype, alphas, params, sample_weight):
        per_target = getattr(self, "alpha_per_target", False) and Y.shape[1] > 1
        score = None if self.scoring is None else self._score_of(Y, y.ndim, per_target, params, sample_weight)
        chosen = choose_by_leave_one_out(
            X,
            Y,
            weight,
            bool(self.fit_intercept),
            alphas,
            score=score,
            by_svd=_wants_svd(X, getattr(self, "gcv_mode", None)),
            per_target=per_target,
            store=self.store_cv_results,
        )
        if chosen is None:
            check_finite(self, X)
            raise ValueError("X or y holds values whose squares overflow: scale them, for example by StandardScaler")
        self.coef_, self.intercept_ = ridge_attributes(chosen.fit, y.ndim, dtype, self.fit_intercept)
        self.alpha_, self.best_score_ = chosen.alpha, chosen.score
        self.certificate_ = ridge_certificate(chosen.fit, 0.0)
        if self.store_cv_results:
            results = chosen.results.astype(dtype, copy=False)
            self.cv_results_ = results[:, 0] if y.ndim == 1 else results
        elif hasattr(self, "cv_results_"):
            del self.cv_results_
        return self

    def _score_of(self, Y, y_ndim, per_target, params, sample_weight):
        """Predictions (n, k) -> score, through scikit-learn's scorers."""
        scorer = self._scorer()
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            options = process_routing(self, "fit", **options, **params).scorer.score
        if is_classifier(self):
            codes = (Y[:, 0] > 0).astype(np.intp) if Y.shape[1] == 1 else Y.argmax(axis=1)
            judge = _KnownScores(max(2, Y.shape[1]))
            return lambda p: scorer(judge, p[:, 0] if p.shape[1] == 1 else p, codes, **options)
        judge = _Known()
        if per_target:
            return lambda p: [scorer(judge, p[:, k], Y[:, k], **options) for k in range(Y.shape[1])]
        if y_ndim == 1:
            return lambda p: scorer(judge, p[:, 0], Y[:, 0], **options)
        return lambda p: scorer(judge, p, Y, **options)

    def _scorer(self):
        if get_config()["enable_metadata_routing"] and self.scoring is None:
            return get_scorer(self._default_scorer).set_score_request(sample_weight=True)
        return check_scoring(estimator=self, scoring=self.scoring, allow_none=True)

    def _require_routing(self, params):
        if params and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.fit is only supported with "
                f"enable_metadata_routing=True (scikit-learn's set_config). Extra parameters: {set(params)}"
            )

    def get_metadata_routing(self):
        """Where fit parameters go: to the scorer and to the splitter.

        Returns
        -------
        routing : MetadataRouter
            Routing of scikit-learn.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(scorer=self._scorer(), method_mapping=MethodMapping().add(caller="fit", callee="score"))
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _wants_svd(X, mode):
    if mode != "svd" or not sp.issparse(X):
        return mode == "svd"
    warnings.warn(
        "The 'svd' mode is not supported for sparse X, using 'eigen' instead; scikit-learn 1.11 raises an error here. "
        "Use the default or gcv_mode='eigen'.",
        FutureWarning,
        stacklevel=4,
    )
    return False


def float_type(X):
    """The floating type that X has before it is checked, or float64."""
    dtype = getattr(X, "dtype", None)
    return dtype if getattr(dtype, "kind", None) == "f" else np.dtype(np.float64)


class RidgeCV(MultiOutputMixin, CrossValidatedRidge, LinearRegressorMixin, BaseEstimator):
    """Ridge regression with the penalty chosen by cross-validation.

    By default exact leave-one-out for all penalties from one eigendecomposition of the Gram matrix of the shorter
    side and one further pass over X.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Penalties to try; positive (0 is allowed with `cv`).
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    scoring : str, callable or None, default=None
        Scorer; None is minus the mean squared error for leave-one-out, R2 with `cv`.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out; otherwise as in scikit-learn.
    gcv_mode : {'auto', 'svd', 'eigen'}, default='auto'
        'svd' replaces the eigendecomposition of a tall dense X by singular values, which keeps more digits when X is
        ill-conditioned and alpha tiny; 'auto' is 'eigen'.
    store_cv_results : bool, default=False
        Keep squared errors (or predictions, with `scoring`) of every row and penalty; leave-one-out only.
    alpha_per_target : bool, default=False
        Choose one penalty per target; leave-one-out only.

    Attributes
    ----------
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        With ``store_cv_results=True``.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    alpha_ : float or ndarray of shape (n_targets,)
        The chosen penalty.
    best_score_ : float or ndarray of shape (n_targets,)
        Its score.
    certificate_ : Certificate
        Gradient of the objective at the solution, relative to its scale.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Golub, Heath and Wahba (1979), Generalized cross-validation, Technometrics 21.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import RidgeCV
    >>> X = np.arange(6.0)[:, None]
    >>> RidgeCV(alphas=[0.01, 100.0]).fit(X, 2 * X[:, 0] + 1).alpha_
    np.float64(0.01)
    """

    _params = RIDGE_CV_PARAMS

    def __init__(
        self,
        alphas=(0.1, 1.0, 10.0),
        *,
        fit_intercept=True,
        scoring=None,
        cv=None,
        gcv_mode=None,
        store_cv_results=False,
        alpha_per_target=False,
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def fit(self, X, y, sample_weight=None, **params):
        """Choose the penalty and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows.
        **params : dict
            Parameters for the scorer and the splitter, with scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)
        self._require_routing(params)
        dtype = float_type(X)
        X, y, weight = check_training(
            self, X, y, sample_weight, ensure_all_finite=False, multi_output=True, y_numeric=True
        )
        Y = y.astype(np.float64, copy=False).reshape(X.shape[0], -1)
        return self._fit_choice(X, y, Y, weight, dtype, params, weight)
