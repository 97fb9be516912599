"""Logistic regression with C and l1_ratio chosen by cross-validation.

For every fold and l1_ratio the path of `_logistic.LogisticRegression` fits over the grid of C, each started at the
previous one.  The rows held out have weight 0, so that no fold copies the data.
"""

import numbers
import warnings

import numpy as np

from hyperplan._base import (
    UNUSED,
    ArrayLike,
    Bool,
    Bunch,
    Choice,
    Int,
    Is,
    MetadataRouter,
    MethodMapping,
    Null,
    OneOf,
    Status,
    check_cv,
    check_params,
    check_training,
    encode_labels,
    get_config,
    process_routing,
)
from hyperplan._base.labels import weights_by_class
from hyperplan._base.scoring import get_scorer, get_scorer_names, score_with_labels
from hyperplan._core.parallel import thread_limit, thread_map
from hyperplan.linear_model._logistic import _DEPRECATED, LogisticRegression, _attributes, _warn
from hyperplan.linear_model._logistic_problem import (
    LogisticProblem,
    certificate_of,
    check_liblinear,
    check_solver,
    report,
    solve_logistic,
)


class LogisticRegressionCV(LogisticRegression):
    """Logistic regression with `C` and `l1_ratio` chosen by cross-validation.

    Every pair (C, l1_ratio) is fitted on each fold's training rows (objective and stopping rule: see
    `LogisticRegression`) and scored on its test rows; the pair with the best mean score is fitted on all rows.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C, or how many on a logarithmic grid from 1e-4 to 1e4.
    l1_ratios : array-like of float, default=None
        Values of l1_ratio; None means l2 only (deprecated as in scikit-learn, use ``(0,)``).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    cv : int, splitter or iterable, default=None
        Folds; None means 5 stratified ones.
    dual : bool, default=False
        Accepted for ``solver="liblinear"``.
    penalty : {'l1', 'l2', 'elasticnet'}, default='deprecated'
        Deprecated as in scikit-learn: use `l1_ratios`.
    scoring : str, callable or None, default=None
        Score to maximise; None means accuracy.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        See `LogisticRegression`.
    tol : float, default=1e-4
        Tolerance of the stopping rule.
    max_iter : int, default=100
        Largest number of steps per fit.
    class_weight : dict or 'balanced', default=None
        Weights by class label; 'balanced' is computed on all rows.
    n_jobs : int, default=None
        Threads over folds; None means all cores.
    verbose : int, default=0
        Print a line per fold when positive.
    refit : bool, default=True
        Fit the best pair on all rows; otherwise average the best coefficients of the folds.
    intercept_scaling : float, default=1
        See `LogisticRegression`.
    random_state : int, RandomState instance, default=None
        Accepted for compatibility: the solvers use no random numbers.
    use_legacy_attributes : bool, default=True
        Shapes of the attributes of scikit-learn before 1.10 (dicts by class); False gives plain arrays.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, is_separable_, certificate_
        See `LogisticRegression` (without `refit` the certificate is the worst of the folds).
    Cs_, l1_ratios_ : ndarray
        The grid.
    C_, l1_ratio_ : float, or ndarray of shape (n_classes,) with legacy attributes
        The choice.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs), or dict by class
        Scores of the folds.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_dof), or dict by class
        Coefficients of the folds, the intercept last.
    n_iter_ : ndarray of shape (n_folds, n_l1_ratios, n_cs), or (1, n_folds, n_cs[, n_l1_ratios])
        Numbers of steps.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import LogisticRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    >>> model = LogisticRegressionCV(
    ...     Cs=5, l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False
    ... ).fit(X, y)
    >>> model.C_
    1.0
    >>> model.scores_.shape
    (5, 1, 5)
    """

    __metadata_request__score = {"sample_weight": UNUSED}
    _params = {
        **{
            name: rule
            for name, rule in LogisticRegression._params.items()
            if name not in ("C", "warm_start", "l1_ratio")
        },
        "Cs": OneOf(Int(ge=1), ArrayLike),
        "l1_ratios": OneOf(ArrayLike, Choice("warn", None)),
        "cv": OneOf(
            Int(ge=2), Null, Is(lambda v: hasattr(v, "split") or hasattr(v, "__iter__"), "a splitter or an iterable")
        ),
        "scoring": OneOf(
            Is(lambda v: isinstance(v, str) and v in get_scorer_names(), "a str naming a scorer"),
            Is(callable, "a callable"),
            Choice("warn", None),
        ),
        "refit": Bool,
        "penalty": Choice("l1", "l2", "elasticnet", "deprecated"),
        "use_legacy_attributes": OneOf(Bool, Choice("warn")),
    }

    def __init__(
        self,
        *,
        Cs=10,
        l1_ratios="warn",
        fit_intercept=True,
        cv=None,
        dual=False,
        penalty="deprecated",
        scoring="warn",
        solver="lbfgs",
        tol=1e-4,
        max_iter=100,
        class_weight=None,
        n_jobs=None,
        verbose=0,
        refit=True,
        intercept_scaling=1.0,
        random_state=None,
        use_legacy_attributes="warn",
    ):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.solver = solver
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    def fit(self, X, y, sample_weight=None, **params):
        """Choose C and l1_ratio, and fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        **params : dict
            Metadata for the splitter and the scorer (metadata routing must be enabled).

        Returns
        -------
        self
            Fitted estimator.
        """
        # 1. parameters
        _refuse_metadata(params, "fit")
        check_params(self)
        penalty, ratios, legacy = self._choices()
        # 2. data
        X, y, weight = check_training(
            self,
            X,
            y,
            sample_weight,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            accept_large_sparse=self.solver not in ("liblinear", "sag", "saga"),
        )
        labels = encode_labels(y, estimator_name="This solver")
        if self.solver == "liblinear":
            check_liblinear(X, labels.classes.shape[0])
        self._check_class_weight(labels)
        rows_weight = weights_by_class(weight, self.class_weight, labels, y)
        routed = self._routed("fit", sample_weight, params)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **routed.splitter.split))
        # 3. maths
        Cs = np.logspace(-4, 4, self.Cs) if isinstance(self.Cs, numbers.Integral) else np.asarray(self.Cs)
        problem = LogisticProblem(
            self.solver, penalty, 1.0, None, self.fit_intercept, self.intercept_scaling, self.tol, self.max_iter
        )
        paths = self._paths(problem, X, labels, rows_weight, folds, ratios, Cs)
        scores = self._scores(paths, X, y, labels.classes, weight, folds, routed.scorer.score)
        chosen = self._choose(problem, paths, scores, X, labels, rows_weight, ratios, Cs)
        # 4. attributes
        self.Cs_, self.l1_ratios_ = Cs, np.asarray(ratios)
        self.__dict__.update(_attributes(chosen.theta, labels.classes, np.float64))
        self.is_separable_, self.certificate_ = chosen.separates, chosen.certificate
        self._fitted_problem, self._statistics = chosen.problem, None
        self.__dict__.update(self._grid_attributes(paths, scores, chosen, labels.classes, legacy))
        return self

    def _choices(self):
        """(penalty, l1_ratios to try, legacy attributes?) with scikit-learn's deprecation warnings."""
        ratios = self.l1_ratios
        if isinstance(ratios, str):
            ratios = None
            _warn(
                "The default value for l1_ratios will change from None to (0.0,) in version 1.10. From version 1.10 "
                "onwards, only array-like with values in [0, 1] will be allowed, None will be forbidden. To avoid this "
                "warning, explicitly set a value, e.g. l1_ratios=(0,).",
                FutureWarning,
            )
        penalty = self.penalty
        if penalty == "deprecated":
            if self.l1_ratios is None:
                _warn(
                    "'l1_ratios=None' was deprecated in version 1.8 and will trigger an error in 1.10. Use an "
                    "array-like with values in [0, 1] instead.",
                    FutureWarning,
                )
            flat = np.asarray([0.0] if ratios is None else ratios)
            penalty = "l2" if np.all(flat == 0) else "l1" if np.all(flat == 1) else "elasticnet"
        else:
            _warn(_DEPRECATED.format(ratio="l1_ratios"), FutureWarning)
        if isinstance(self.scoring, str) and self.scoring == "warn":
            _warn(
                "The default value of the parameter 'scoring' will change from None, i.e. accuracy, to 'neg_log_loss' "
                "in version 1.11. To silence this warning, explicitly set the scoring parameter: "
                "scoring='neg_log_loss' for the new, scoring='accuracy' or scoring=None for the old default.",
                FutureWarning,
            )
        legacy = self.use_legacy_attributes
        if isinstance(legacy, str):
            legacy = True
            _warn(
                f"The fitted attributes of {type(self).__name__} will be simplified in scikit-learn 1.10. Set "
                "`use_legacy_attributes=False` for the new ones now, or True to keep the old ones and silence this "
                "warning. The default value of use_legacy_attributes will change from True to False in 1.10.",
                FutureWarning,
            )
        check_solver(self.solver, penalty, self.dual)
        return penalty, self._ratio_grid(penalty, ratios), bool(legacy)

    def _ratio_grid(self, penalty, ratios):
        if penalty == "elasticnet":
            valid = ratios is not None and len(ratios) > 0
            if not valid or any(not isinstance(r, numbers.Number) or not 0 <= r <= 1 for r in ratios):
                raise ValueError(
                    f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={ratios!r})"
                )
        elif ratios is not None and self.penalty != "deprecated":
            _warn(f"l1_ratios parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})")
        return [None] if ratios is None else list(ratios)

    def _check_class_weight(self, labels):
        if isinstance(self.class_weight, dict) and not set(self.class_weight) <= set(labels.classes.tolist()):
            raise ValueError(
                f"The given class_weight dict must have the class labels as keys; classes={labels.classes} but "
                f"key={self.class_weight.keys()}"
            )

    def _paths(self, problem, X, labels, weight, folds, ratios, Cs):
        """Results [fold][ratio][C]; the rows of a fold's test set have weight 0."""
        weight = np.ones(X.shape[0]) if weight is None else weight
        n_classes = labels.classes.shape[0]

        def task(item):
            (train, _), ratio = item
            repeats = np.bincount(np.arange(X.shape[0])[train], minlength=X.shape[0])
            inside, theta, path = weight * repeats, None, []
            for C in Cs:
                at = problem._replace(C=C, l1_ratio=ratio, penalty=None if np.isinf(C) else problem.penalty)
                path.append(solve_logistic(at, X, labels.codes, n_classes, inside, theta))
                theta = None if self.solver == "liblinear" else path[-1].theta
            return path

        items = [(fold, ratio) for fold in folds for ratio in ratios]
        flat = thread_map(task, items, self.n_jobs) if X.shape[0] < 5000 else [self._alone(task, i) for i in items]
        for path in flat:
            for C, result in zip(Cs, path, strict=True):
                if not result.status.ok:
                    report(result, problem._replace(C=C))
        return [flat[i : i + len(ratios)] for i in range(0, len(flat), len(ratios))]

    def _alone(self, task, item):
        """One large fit at a time, with threads inside."""
        if self.n_jobs is None or self.n_jobs < 1:
            return task(item)
        with thread_limit(self.n_jobs):
            return task(item)

    def _scores(self, paths, X, y, classes, weight, folds, score_params):
        """Scores of shape (folds, ratios, Cs), computed in this order."""
        scorer = None if self.scoring is None or self.scoring == "warn" else get_scorer(self.scoring)
        model = LogisticRegression(solver=self.solver)
        model.n_features_in_ = X.shape[1]
        scores = []
        for fold, (_, test) in zip(paths, folds, strict=True):
            X_test, y_test = X[test], y[test]
            kept = {k: v[test] if _is_per_row(v, X.shape[0]) else v for k, v in (score_params or {}).items()}
            inside = None if weight is None else weight[test]
            for path in fold:
                for result in path:
                    model.__dict__.update(_attributes(result.theta, classes, np.float64))
                    if scorer is None:
                        scores.append(model.score(X_test, y_test, sample_weight=inside))
                    else:
                        scores.append(score_with_labels(scorer, model, X_test, y_test, classes, kept))
            if self.verbose:
                print(
                    f"fold {len(scores) // (len(fold) * len(fold[0]))}: best score {max(scores[-len(fold[0]) :]):.6g}"
                )
        return np.reshape(scores, (len(folds), len(paths[0]), len(paths[0][0])))

    def _choose(self, problem, paths, scores, X, labels, weight, ratios, Cs):
        """The coefficients to keep: theta, C, l1_ratio, certificate."""
        by_c = scores.transpose(0, 2, 1)  # ties go to the first C, then the first ratio
        n_classes = labels.classes.shape[0]
        if self.refit:
            best_c, best_ratio = np.unravel_index(by_c.sum(axis=0).argmax(), by_c.shape[1:])
            C, ratio = Cs[best_c], ratios[best_ratio]
            at = problem._replace(C=C, l1_ratio=ratio, penalty=None if np.isinf(C) else problem.penalty)
            start = np.mean([fold[best_ratio][best_c].theta for fold in paths], axis=0)
            start = None if self.solver == "liblinear" else start
            result = solve_logistic(at, X, labels.codes, n_classes, weight, start)
            report(result, at, getattr(self, "feature_names_in_", None))
            theta, results = result.theta, [result]
        else:
            places = [np.unravel_index(fold.argmax(), fold.shape) for fold in by_c]
            results = [fold[r][c] for fold, (c, r) in zip(paths, places, strict=True)]
            theta = np.mean([result.theta for result in results], axis=0)
            C = np.mean([Cs[c] for c, _ in places])
            mixed = problem.penalty == "elasticnet"
            ratio = np.mean([ratios[r] for _, r in places]) if mixed else 0.0
            at = problem._replace(C=C, l1_ratio=ratio)
        certificate = max((certificate_of(r, at) for r in results), key=lambda c: c.value / c.bound)
        separates = all(result.separates for result in results)
        finite = all(result.status is not Status.DIVERGED for result in results)
        return Bunch(theta=theta, C=C, ratio=ratio, problem=at, certificate=certificate, separates=separates and finite)

    def _grid_attributes(self, paths, scores, chosen, classes, legacy):
        """scores_, coefs_paths_, n_iter_, C_, l1_ratio_ in the shapes asked for."""
        width = self.n_features_in_ + int(self.fit_intercept)
        coefs = np.array([[[result.theta[:, :width] for result in path] for path in fold] for fold in paths])
        n_iter = np.array([[[result.n_iter for result in path] for path in fold] for fold in paths], dtype=np.int32)
        plain = self.l1_ratios is None or isinstance(self.l1_ratios, str)
        if not legacy:
            ratio = (1.0 if self.penalty == "l1" else 0.0) if plain else float(chosen.ratio)
            found = {"C_": float(chosen.C), "l1_ratio_": ratio}
            return found | {"scores_": scores, "coefs_paths_": coefs, "n_iter_": n_iter}
        keys = classes if classes.shape[0] > 2 else classes[1:]
        by_class = coefs.transpose(3, 0, 2, 1, 4)  # class, fold, C, ratio, coefficient
        table, steps = scores.transpose(0, 2, 1), n_iter.transpose(0, 2, 1)[None]
        if plain:
            by_class, table, steps = by_class[:, :, :, 0], table[:, :, 0], steps[..., 0]
        return {
            "C_": np.full(len(keys), chosen.C),
            "l1_ratio_": np.array([chosen.ratio] * len(keys)),
            "scores_": {key: table.copy() for key in keys},
            "coefs_paths_": dict(zip(keys, by_class, strict=True)),
            "n_iter_": steps,
        }

    def score(self, X, y, *positional, sample_weight=None, **score_params):
        """Score by the `scoring` option.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            True labels.
        *positional : array-like
            `sample_weight` as a positional argument (deprecated).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        **score_params : dict
            Metadata for the scorer (metadata routing must be enabled).

        Returns
        -------
        score : float
            Score of the predictions.
        """
        _refuse_metadata(score_params, "score")
        if positional:
            warnings.warn("Pass sample_weight as a keyword argument.", FutureWarning, stacklevel=2)
            (sample_weight,) = positional
        if sample_weight is not None:
            score_params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            score_params = process_routing(self, "score", **score_params).scorer.score
        return self._get_scorer()(self, X, y, **score_params)

    def _routed(self, method, sample_weight, params):
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, method, sample_weight=sample_weight, **params)
        weight = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        return Bunch(splitter=Bunch(split={}), scorer=Bunch(score={**params, **weight}))

    def _get_scorer(self):
        accuracy = self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "warn")
        return get_scorer("accuracy" if accuracy else self.scoring)

    def get_metadata_routing(self):
        """Where metadata goes: `sample_weight` to the fit, the rest to the splitter and the scorer.

        Returns
        -------
        routing : MetadataRouter
            Routing information.
        """
        fit_split = MethodMapping().add(caller="fit", callee="split")
        scores = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=self.cv, method_mapping=fit_split).add(
            scorer=self._get_scorer(), method_mapping=scores
        )


def _refuse_metadata(params, method):
    if params and not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"Passing extra keyword arguments {sorted(params)} to LogisticRegressionCV.{method} is only supported if "
            "enable_metadata_routing=True, which you can set using `sklearn.set_config`."
        )


def _is_per_row(value, n_rows):
    return hasattr(value, "__len__") and not isinstance(value, str) and np.shape(value)[:1] == (n_rows,)
