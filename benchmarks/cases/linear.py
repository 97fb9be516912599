"""Workloads of the linear family: preprocessing, linear models, linear support vector machines."""

import importlib

import numpy as np

from cases import _data, _peers, _quality
from cases._case import Case

THREADS = 2


def make(path, **options):
    """A builder for ``package.module.Class(**options)``; a callable option is asked for its value with the data."""

    def build(data):
        module, _, name = path.rpartition(".")
        values = {key: value(data) if callable(value) else value for key, value in options.items()}
        return getattr(importlib.import_module(module), name)(**values)

    return build


def same(path, *, peers=("sklearn", "sklearnex"), **options):
    """The same class and options in hyperplan and in libraries that share scikit-learn's names."""
    return {library: make(f"{library}.{path}", **options) for library in ("hyperplan", *peers)}


def sizes(small, medium, large, **common):
    """Rows and columns by size."""
    pairs = {"small": small, "medium": medium, "large": large}
    return {name: {"n": n, "d": d, **common} for name, (n, d) in pairs.items()}


def alpha(data):
    return data.alpha


def double_alpha(data):
    return 2 * data.alpha


def big_c(data):
    return data.C


TALL = sizes((2000, 20), (50_000, 100), (200_000, 100))
SQUAT = sizes((200, 500), (1000, 2500), (2000, 5000))
LASSO_WIDE = sizes((100, 500), (500, 5000), (1000, 20_000))
LASSO_TALL = sizes((1000, 50), (25_000, 200), (100_000, 200))
SVM = sizes((2000, 20), (25_000, 100), (100_000, 100))


def least_squares_cases():
    score = {"quality": _quality.r2, "lower_is_better": False, "generate": _data.regression}
    plain, ridge = same("linear_model.LinearRegression"), same("linear_model.Ridge", alpha=1.0)
    scipy = {"scipy": lambda data: _peers.scipy_least_squares()}
    one_pass = {"numpy-gram": lambda data: _peers.numpy_one_pass()}
    grid = {"alphas": tuple(10.0**k for k in range(-3, 4))}
    return {
        "ols_tall": Case(sizes=TALL, contenders={**plain, **scipy, **one_pass}, **score),
        "ols_wide": Case(sizes=SQUAT, contenders={**plain, **scipy}, **score),
        "ridge_tall": Case(sizes=TALL, contenders={**ridge, **one_pass}, **score),
        "ridge_wide": Case(sizes=SQUAT, contenders=ridge, **score),
        "ridge_cv": Case(
            sizes=sizes((1000, 20), (10_000, 100), (50_000, 100)),
            contenders=same("linear_model.RidgeCV", peers=("sklearn",), **grid),
            **score,
        ),
    }


def lasso_contenders(l1_ratio, penalty, gram):
    name = "Lasso" if l1_ratio == 1 else "ElasticNet"
    ratio = {} if l1_ratio == 1 else {"l1_ratio": l1_ratio}
    options = {"alpha": penalty, "tol": 1e-6, **ratio}
    path = f"linear_model.{name}"
    found = same(path, peers=("sklearn",), max_iter=20_000, **options)
    if gram:
        found["sklearn-gram"] = make(f"sklearn.{path}", precompute=True, max_iter=20_000, **options)
    found["celer"] = make(f"celer.{name}", **options)
    found["skglm"] = make(f"skglm.{name}", **{**options, "tol": 1e-5})
    found["glmnet"] = lambda data: _peers.Glmnet(penalty(data), l1_ratio)
    return found


def lasso_cases():
    cases = {}
    for name, l1_ratio, penalty in (("lasso", 1.0, alpha), ("enet", 0.5, double_alpha)):
        quality = _quality.squares(l1_ratio, 1.0 if l1_ratio == 1 else 2.0)
        for shape, size in (("wide", LASSO_WIDE), ("tall", LASSO_TALL)):
            contenders = lasso_contenders(l1_ratio, penalty, gram=shape == "tall")
            cases[f"{name}_{shape}"] = Case(_data.sparse_truth, size, contenders, quality, apply=None)
    for shape, size in (("wide", LASSO_WIDE), ("tall", LASSO_TALL)):
        contenders = {
            "hyperplan": lambda data: _peers.scikit_path("hyperplan", data.alphas, 1e-5),
            "sklearn": lambda data: _peers.scikit_path("sklearn", data.alphas, 1e-5),
            "celer": lambda data: _peers.celer_path(data.alphas, 1e-5),
            "skglm": lambda data: _peers.skglm_path(data.alphas, 1e-4),
            "glmnet": lambda data: _peers.glmnet_path(data.alphas, 1e-7),
        }
        cases[f"lasso_path_{shape}"] = Case(_data.sparse_truth, size, contenders, _quality.path, apply=None)
    # a path down to 1 % of its start, as glmnet has it for more columns than rows: at 0.1 % scikit-learn takes minutes
    eps = 1e-2
    folds = {"eps": eps, "cv": 5, "tol": 1e-5, "max_iter": 20_000, "n_jobs": THREADS}
    cases["lasso_cv"] = Case(
        _data.sparse_truth,
        sizes((100, 100), (500, 2000), (1000, 5000)),
        {
            **same("linear_model.LassoCV", peers=("sklearn",), **folds),
            # celer's own LassoCV does not start with scikit-learn >= 1.9
            "celer": lambda data: _peers.FoldedPath(lambda alphas: _peers.celer_path(alphas, 1e-5), eps, THREADS),
            "glmnet": lambda data: _peers.FoldedPath(lambda alphas: _peers.glmnet_path(alphas, 1e-9), eps, THREADS),
        },
        _quality.best_fold_error,
        apply=None,
        slack=1e-2,  # an error estimated on folds: far below its own uncertainty
    )
    return cases


def classification_cases():
    lr = "linear_model.LogisticRegression"
    snap = {"fit_intercept": True, "n_jobs": THREADS, "regularizer": lambda data: 1 / data.C}
    l1 = {"C": big_c, "l1_ratio": 1.0, "fit_intercept": False}
    mean_alpha = {"alpha": lambda data: 1 / (data.C * len(data.X))}
    return {
        "logreg_l2": Case(
            _data.two_classes,
            TALL,
            {
                **same(lr, C=big_c, max_iter=500),
                "sklearn-cholesky": make(f"sklearn.{lr}", C=big_c, solver="newton-cholesky"),
                "snapml": make("snapml.LogisticRegression", **snap),
                "snapml-tight": make("snapml.LogisticRegression", tol=1e-5, **snap),
            },
            _quality.margin("log"),
        ),
        "logreg_l1": Case(
            _data.two_classes,
            {
                "small": {"n": 300, "d": 300, "active": 20, "share": 0.05},
                "medium": {"n": 2000, "d": 2000, "active": 50, "share": 0.05},
                "large": {"n": 5000, "d": 5000, "active": 100, "share": 0.05},
            },
            {
                "hyperplan": make(f"hyperplan.{lr}", solver="liblinear", max_iter=500, **l1),
                "sklearn": make(f"sklearn.{lr}", solver="liblinear", max_iter=500, **l1),
                "celer": make("celer.LogisticRegression", C=big_c, tol=1e-5),
                "skglm": make("skglm.SparseLogisticRegression", fit_intercept=False, tol=1e-5, **mean_alpha),
                "glmnet": lambda data: _peers.Glmnet(1 / (data.C * len(data.X)), logistic=True, tol=1e-7),
                "snapml": make(
                    "snapml.LogisticRegression",
                    penalty="l1",
                    dual=False,
                    n_jobs=THREADS,
                    tol=1e-5,
                    regularizer=lambda data: 1 / data.C,
                ),
            },
            _quality.margin("log", "l1"),
        ),
        "softmax": Case(
            _data.images,
            {"small": {"n": 300}, "medium": {"n": 10_000}, "large": {"n": 70_000}},
            same(lr, max_iter=100),
            _quality.softmax,
            slack=5e-3,  # everyone stops at 100 iterations or before, at slightly different losses
        ),
        "sgd_log": Case(
            _data.two_classes,
            TALL,
            same(
                "linear_model.SGDClassifier",
                peers=("sklearn",),
                loss="log_loss",
                max_iter=5,
                tol=None,
                random_state=0,
                **mean_alpha,
            ),
            _quality.margin("log"),
            slack=1e-2,  # five passes in a random order leave a random distance to the optimum
        ),
    }


def text_like(rng, n, d, regression=False):
    """Rows of length 1 with about sixty words each, frequent words first, in CSR form; labels or a numeric target."""
    import scipy.sparse as sp

    m = n + n // 5
    share = 1.0 / (np.arange(d) + 10.0)
    lengths = rng.poisson(60, m) + 1
    rows = np.repeat(np.arange(m), lengths)
    words = rng.choice(d, rows.size, p=share / share.sum())
    counts = sp.csr_array((np.ones(rows.size), (rows, words)), shape=(m, d))
    X = sp.csr_matrix(sp.diags_array(1.0 / np.sqrt(counts.power(2).sum(axis=1))) @ counts)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # liblinear takes no others
    signal = X @ rng.standard_normal(d)
    target = signal / signal.std() + 0.5 * rng.standard_normal(m)
    return _data.parts(X, target if regression else (target > 0).astype(np.int64), n, C=1.0)


def text_target(rng, n, d):
    return text_like(rng, n, d, regression=True)


def small_svm_cases():
    """Where the time per call and sparse rows decide, not the arithmetic on tall dense data."""
    svc, svr = "svm.LinearSVC", "svm.LinearSVR"
    text = sizes((500, 2000), (2000, 8000), (20_000, 30_000))
    hinge = {"C": big_c, "loss": "hinge"}
    return {
        "linear_svm_sparse": Case(text_like, text, same(svc, peers=("sklearn",), **hinge), _quality.margin("hinge")),
        "linear_svm_small": Case(
            _data.two_classes,
            sizes((100, 4), (600, 500), (200, 2000)),
            same(svc, peers=("sklearn",), **hinge),
            _quality.margin("hinge"),
        ),
        "linear_svr_sparse": Case(
            text_target, text, same(svr, peers=("sklearn",), C=1.0, epsilon=0.1), _quality.tube(0.1, 1.0)
        ),
    }


def svm_cases():
    snap = {"fit_intercept": True, "n_jobs": THREADS, "regularizer": lambda data: 1 / data.C}
    svc, svr = "svm.LinearSVC", "svm.LinearSVR"
    tube = {"C": 0.01, "epsilon": 0.1, "max_iter": 20_000}  # at C = 1 liblinear is 1 % off after 30 s at the large size
    return {
        "linear_svm": Case(
            _data.two_classes,
            SVM,
            {
                **same(svc, peers=("sklearn",), C=big_c, dual=False),
                "sklearn-dual": make(f"sklearn.{svc}", C=big_c, dual=True),
                "snapml": make("snapml.SupportVectorMachine", loss="squared_hinge", **snap),
            },
            _quality.margin("squared hinge"),
        ),
        "linear_svm_hinge": Case(
            _data.two_classes,
            sizes((2000, 20), (10_000, 50), (50_000, 100)),
            {
                **same(svc, peers=("sklearn",), C=big_c, loss="hinge", max_iter=5000),
                "skglm": make("skglm.LinearSVC", C=big_c, tol=1e-4),
                "snapml": make("snapml.SupportVectorMachine", loss="hinge", **snap),
            },
            _quality.margin("hinge"),
        ),
        "linear_svr": Case(
            _data.standardised_regression,
            sizes((1000, 20), (10_000, 50), (50_000, 100)),
            same(svr, peers=("sklearn",), **tube),
            _quality.tube(0.1, tube["C"]),
        ),
    }


def robust_and_counting_cases():
    poisson, huber, quantile = "PoissonRegressor", "HuberRegressor", "QuantileRegressor"
    unpenalised = {"alpha": 0.0, "tol": 1e-6}
    return {
        "poisson": Case(
            _data.counts,
            TALL,
            {
                **same(f"linear_model.{poisson}", peers=("sklearn",), max_iter=1000, **unpenalised),
                "sklearn-cholesky": make(f"sklearn.linear_model.{poisson}", solver="newton-cholesky", **unpenalised),
                "statsmodels": lambda data: _peers.statsmodels_poisson(),
            },
            _quality.poisson,
            slack=1e-4,
        ),
        "huber": Case(
            _data.standardised_regression,
            sizes((1000, 20), (20_000, 50), (100_000, 100), tails=2),
            same(f"linear_model.{huber}", peers=("sklearn",), max_iter=1000),
            _quality.huber(1.35),
        ),
        "quantile": Case(
            _data.standardised_regression,
            sizes((300, 10), (5000, 20), (20_000, 50), tails=2),
            {
                **same(f"linear_model.{quantile}", peers=("sklearn",), alpha=0.0, quantile=0.8),
                "statsmodels": lambda data: _peers.statsmodels_quantile(0.8),
            },
            _quality.pinball(0.8),
        ),
    }


def preprocessing_cases():
    return {
        "standard_scaler": Case(
            _data.regression,
            sizes((2000, 20), (100_000, 50), (500_000, 50)),
            same("preprocessing.StandardScaler", peers=("sklearn",)),
            _quality.moments,
            apply="transform@X",
            slack=10.0,  # errors of rounding: any of them is as good
        )
    }


CASES = {
    **least_squares_cases(),
    **lasso_cases(),
    **classification_cases(),
    **svm_cases(),
    **small_svm_cases(),
    **robust_and_counting_cases(),
    **preprocessing_cases(),
}
