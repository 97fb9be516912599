"""What the contract tests share: every estimator, data that suits it, and its fitted state as bytes."""

import inspect
import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan import testing
from hyperplan._base import is_classifier, is_regressor

ESTIMATORS = {name: cls for name, cls in testing.all_estimators(composite=True)}

# A tight fit, so that two ways to the same optimum end at the same place.  Only what an estimator knows is passed.
TIGHT = {"tol": 1e-10, "max_iter": 20_000, "random_state": 0, "cv": 3, "n_estimators": 8}
FAST = {"random_state": 0, "cv": 4, "n_estimators": 8}
BOOSTING_ROUNDS = {"max_iter": 10}  # there, max_iter is the number of trees


def build(name, **wanted):
    """An estimator with those of the wanted options that it has; small ensembles, so always cheap."""
    cls = ESTIMATORS[name]
    wanted = {**wanted, **BOOSTING_ROUNDS} if name.startswith("HistGradientBoosting") and wanted else wanted
    known = inspect.signature(cls.__init__).parameters
    return testing.construct(cls, **{option: value for option, value in wanted.items() if option in known})


def data(name, n=120, d=6, seed=0):
    """Training data: labels or grades for classifiers and rankers, positive targets for regressors (some want them),
    pairs for multi-task."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ np.linspace(1.0, -1.0, d) + 0.7 * rng.normal(size=n)
    model = build(name)
    X = suited(model.__sklearn_tags__().input_tags, X)
    if is_classifier(model) or wants_labels(model):
        return X, np.digitize(score, [0.0]).astype(np.intp)
    if model.__sklearn_tags__().estimator_type == "ranker":
        return X, np.digitize(score, [0.0, 1.0])
    target = np.exp(0.3 * score)
    tags = model.__sklearn_tags__().target_tags
    return X, target if tags.single_output or not is_regressor(model) else np.column_stack([target, target[::-1]])


def suited(tags, X):
    """Rows of the kind that an estimator asks for: categories as whole numbers, counts and the like without a sign."""
    if not tags.positive_only:
        return X
    return (X > 0).astype(X.dtype) + (X > 1) if tags.categorical else np.abs(X)


def wants_labels(model):
    """Whether something that is no classifier learns from labels: a learnt metric."""
    tags = model.__sklearn_tags__()
    return tags.target_tags.required and tags.estimator_type is None


def fit(model, X, y, **options):
    """Fit in silence: convergence is judged by the certificate, not by the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **options)


def output(model, X):
    """What a fitted model answers for rows: scores where there are some, else predictions, else the transform."""
    for method in ("decision_function", "predict", "transform", "score_samples"):
        if hasattr(model, method):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values = getattr(model, method)(X)
            return np.asarray(values.toarray() if sp.issparse(values) else values)
    if hasattr(model, "kneighbors"):  # searches, and detectors of outliers among the rows of the fit
        return model.kneighbors(X)[0]
    raise AssertionError(f"{model} answers nothing")


def fitted_state(model):
    """Every fitted number of an estimator as bytes, by attribute name."""
    state = {}
    for name, value in sorted(vars(model).items()):
        if name.endswith("_") and not name.startswith("_"):
            state.update(_bytes(name, value))
    return state


def _bytes(name, value):
    if hasattr(value, "get_params"):  # a member of an ensemble
        return {f"{name}.{key}": item for key, item in fitted_state(value).items()}
    if sp.issparse(value):
        return {name: value.tocsr().toarray().tobytes()}
    if isinstance(value, dict):
        return {k: v for key, item in value.items() for k, v in _bytes(f"{name}[{key}]", item).items()}
    if isinstance(value, list | tuple):
        return {k: v for i, item in enumerate(value) for k, v in _bytes(f"{name}[{i}]", item).items()}
    if isinstance(value, np.ndarray | np.generic | float | int | bool):
        return {name: np.asarray(value).tobytes() if np.asarray(value).dtype != object else repr(value).encode()}
    return {}
