"""The advice tables of the course: which parameters make each family of estimators more flexible, simpler, steadier.

Too stiff (under-fit) and too flexible (over-fit) are opposite ends of the same parameters; an unstable model needs
less freedom per sample or an average of several.  Embeddings have complaints of their own.
"""

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

PROBLEMS = ("underfit", "overfit", "unstable", "local_detail", "global_view", "outliers", "separate_groups")


class Move(NamedTuple):
    """One parameter up or down: multiplied or divided by `factor`, once per unit of strength.

    `unset` stands for a value that means "no limit" or 0; `words` maps values that are no numbers; `tried` is False for
    moves that are said but not made in trials; `strongest` bounds what a trial may cost; `unless` names a parameter and
    values of it with which the move has no effect.
    """

    parameter: str
    up: bool
    factor: float = 2.0
    unset: float | None = None
    least: float = 0.0
    most: float = float("inf")
    words: dict = {}
    tried: bool = True
    strongest: int = 3
    unless: tuple = ("", ())

    def changed(self, value, strength=1):
        """The new value, or None if the parameter cannot go that way."""
        if isinstance(value, bool | tuple | list):
            return None
        if value is None or isinstance(value, str):
            if value in self.words:
                return self.words[value]
            if self.up or self.unset is None or value is not None:
                return None
        elif value < 0:  # some libraries write "no limit" so
            return None
        power = min(strength, self.strongest)
        endless = value is None or (value == float("inf") and not self.up)
        if (endless or (value == 0 and self.up)) and self.unset is not None:
            start, power = self.unset, power - 1  # the first move sets it
        else:
            start = value
        moved = float(start) * self.factor ** (power if self.up else -power)
        if isinstance(start, Integral):
            moved = round(max(moved, self.least, 1.0))
        else:
            moved = min(max(moved, self.least), self.most)
        wrong_way = value is not None and (moved <= value if self.up else moved >= value)
        return None if wrong_way else moved


def never(values):
    """Training rows are not learnt by heart by design."""
    return False


class Family(NamedTuple):
    """Estimators that are tuned alike: moves against each problem, and what else may be used instead."""

    names: tuple
    moves: dict
    instead: dict = {}
    memorises: Callable = never  # whether, with these parameters, a perfect training score is normal


def _up(parameter, factor=2.0, **options):
    return Move(parameter, True, factor, **options)


def _down(parameter, factor=2.0, **options):
    return Move(parameter, False, factor, **options)


def _pair(*stems):
    return tuple(f"{stem}{kind}" for stem in stems for kind in ("Classifier", "Regressor"))


def _opposites(flexible, simple, **more) -> dict:
    """Moves of a family whose unstable members want the same as over-fitted ones."""
    return {"underfit": flexible, "overfit": simple, "unstable": simple, **more}


DEEPER = (_up("max_depth"), _up("max_leaf_nodes"), _down("min_samples_leaf", 3.0, least=1), _down("ccp_alpha", 10.0))
SHALLOWER = (
    _down("max_depth", unset=8, least=1),
    _down("max_leaf_nodes", least=2),
    _up("min_samples_leaf", 3.0),
    _up("ccp_alpha", 10.0, unset=0.001, tried=False),  # in units of the criterion, which a trial does not know
)
PRUNING = Move("pruning", True, words={None: "error"})
MORE_COLUMNS = _up("max_features", 1.5, most=1.0, words={"sqrt": 1.0, "log2": "sqrt"})
FEWER_COLUMNS = _down("max_features", 1.5, words={None: "sqrt", "sqrt": "log2"})
SMALLER_SAMPLES = _down("max_samples", 1.5, unset=0.6, unless=("bootstrap", (False,)))
MORE_MODELS = _up("n_estimators", 3.0, tried=False)
MORE_ROUNDS = (_up("n_estimators", strongest=1), _up("max_iter", strongest=1))
FEWER_ROUNDS = (_down("n_estimators", least=1), _down("max_iter", least=1))
NO_PENALTY = ("penalty", (None,))
ADD_PENALTY = Move("penalty", True, words={None: "l2"})
WITHOUT_SHAPE = ("kernel", ("linear",))
WITHOUT_DEGREE = ("kernel", ("linear", "rbf", "sigmoid", "precomputed"))
# what else to use; two names that end alike for classes and numbers are completed when they are said
CURVED = ("PolynomialFeatures", "HistGradientBoosting*")
ANYTHING = {"underfit": ("HistGradientBoosting*",), "overfit": ("RandomForest*",), "unstable": ("Bagging*",)}

FAMILIES = (
    Family(
        _pair("DecisionTree", "ExtraTree", "ObliqueTree", "MultiwayTree"),
        {"underfit": DEEPER, "overfit": (*SHALLOWER, PRUNING), "unstable": (*SHALLOWER, PRUNING, FEWER_COLUMNS)},
        {
            "underfit": ("HistGradientBoosting*",),
            "overfit": ("RandomForest*",),
            "unstable": ("RandomForest*", "ExtraTrees*"),
        },
    ),
    Family(
        _pair("RandomForest", "ExtraTrees"),
        {
            "underfit": (*DEEPER, MORE_COLUMNS),
            "overfit": (*SHALLOWER, FEWER_COLUMNS),
            "unstable": (FEWER_COLUMNS, SMALLER_SAMPLES, MORE_MODELS),
        },
        {"underfit": ("HistGradientBoosting*",), "unstable": ("ExtraTrees*",)},
        memorises=lambda values: True,
    ),
    Family(
        _pair("Bagging"),
        {
            "underfit": (_up("max_samples", 1.5, most=1.0), _up("max_features", 1.5, most=1.0)),
            "overfit": (SMALLER_SAMPLES, _down("max_features", 1.5, strongest=1)),
            "unstable": (_down("max_features", 1.5), SMALLER_SAMPLES, MORE_MODELS),
        },
        {"underfit": ("HistGradientBoosting*",), "unstable": ("ExtraTrees*",)},
        memorises=lambda values: True,
    ),
    Family(
        (*_pair("GradientBoosting", "HistGradientBoosting", "AdaBoost"), "HistGradientBoostingRanker"),
        {
            "underfit": (
                *MORE_ROUNDS,
                _up("learning_rate", most=1.0, strongest=2),
                *DEEPER[:3],
                _down("l2_regularization", 10.0),
            ),
            "overfit": (
                *FEWER_ROUNDS,
                _down("max_depth", least=1),
                _down("max_leaf_nodes", least=2),
                _up("min_samples_leaf", 3.0),
                _up("l2_regularization", 10.0, unset=1.0),
                _down("learning_rate", 3.0, tried=False),
                _down("subsample", 1.5, tried=False),
            ),
            "unstable": (
                _down("learning_rate", 3.0, tried=False),
                _down("subsample", 1.5),
                _down("max_features", 1.5),
                _up("min_samples_leaf", 3.0),
                MORE_MODELS,
            ),
        },
    ),
    Family(
        tuple(f"{kind}{part}" for kind in ("LGBM", "XGB", "CatBoost") for part in ("Classifier", "Regressor")),
        {
            "underfit": (
                *MORE_ROUNDS,
                _up("learning_rate", most=1.0, strongest=2),
                _up("num_leaves"),
                _up("max_depth"),
                _up("depth", 1.5),
                _down("min_child_samples", 3.0, least=1),
                _down("reg_lambda", 10.0),
                _down("l2_leaf_reg", 10.0),
            ),
            "overfit": (
                *FEWER_ROUNDS,
                _down("num_leaves", least=2),
                _down("max_depth", least=1),
                _down("depth", 1.5, least=1),
                _up("min_child_samples", 3.0),
                _up("reg_lambda", 10.0, unset=1.0),
                _up("l2_leaf_reg", 10.0),
                _down("learning_rate", 3.0, tried=False),
                _down("subsample", 1.5, tried=False),
            ),
            "unstable": (
                _down("learning_rate", 3.0, tried=False),
                _down("subsample", 1.5),
                _down("colsample_bytree", 1.5),
                _up("min_child_samples", 3.0),
                MORE_MODELS,
            ),
        },
    ),
    Family(
        (
            "Ridge",
            "RidgeClassifier",
            "Lasso",
            "ElasticNet",
            "MultiTaskLasso",
            "MultiTaskElasticNet",
            "SGDClassifier",
            "SGDRegressor",
            "Perceptron",
            "PoissonRegressor",
            "GammaRegressor",
            "TweedieRegressor",
            "GeneralizedLinearRegressor",
            "HuberRegressor",
            "QuantileRegressor",
            "OrdinalRegression",
            "ProbitRegression",
            "KernelRidge",
            "MLPClassifier",
            "MLPRegressor",
        ),
        _opposites(
            (_down("alpha", 10.0, unless=NO_PENALTY), _up("hidden_layer_sizes", tried=False)),
            (
                _up("alpha", 10.0, unset=1e-3, unless=NO_PENALTY),
                ADD_PENALTY,
                _down("hidden_layer_sizes", tried=False),
            ),
        ),
        {"underfit": CURVED},
    ),
    Family(
        ("LogisticRegression", "LinearSVC", "LinearSVR", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor"),
        _opposites(
            (_up("C", 10.0, unless=NO_PENALTY),),
            (_down("C", 10.0, unset=1.0, unless=NO_PENALTY), ADD_PENALTY),
        ),
        {"underfit": CURVED},
    ),
    Family(
        ("BestSubset",),
        _opposites(
            (_up("n_features_to_select"), _down("alpha", 10.0)),
            (_down("n_features_to_select", least=1), _up("alpha", 10.0, tried=False)),
        ),
        {"underfit": CURVED, "overfit": ("Ridge",), "unstable": ("Ridge",)},
    ),
    Family(
        ("LinearRegression",),
        {},
        {"underfit": CURVED, "overfit": ("Ridge", "Lasso"), "unstable": ("Ridge",)},
    ),
    Family(
        (
            "RidgeCV",
            "RidgeClassifierCV",
            "LassoCV",
            "ElasticNetCV",
            "MultiTaskLassoCV",
            "MultiTaskElasticNetCV",
            "LogisticRegressionCV",
        ),
        {},  # they choose their penalty themselves
        {"underfit": CURVED, "overfit": ("RandomForest*",), "unstable": ("Bagging*",)},
    ),
    Family(
        ("SVC", "SVR", "OneClassSVM"),
        _opposites(
            (_up("C", 10.0), _up("gamma", 3.0, unless=WITHOUT_SHAPE), _up("degree", 1.5, unless=WITHOUT_DEGREE)),
            (
                _down("C", 10.0),
                _down("gamma", 3.0, unless=WITHOUT_SHAPE),
                _down("degree", 1.5, least=1, unless=WITHOUT_DEGREE),
            ),
        ),
    ),
    Family(
        ("NuSVC", "NuSVR"),
        _opposites(
            (_down("nu"), _up("gamma", 3.0, unless=WITHOUT_SHAPE)),
            (_up("nu", most=0.9, tried=False), _down("gamma", 3.0, unless=WITHOUT_SHAPE)),
        ),
    ),
    Family(
        ("KNeighborsClassifier", "KNeighborsRegressor"),
        _opposites((_down("n_neighbors", least=1),), (_up("n_neighbors"),)),
        memorises=lambda values: values.get("weights") != "uniform",
    ),
    Family(
        ("GaussianNB", "MultinomialNB", "BernoulliNB", "ComplementNB", "QuadraticDiscriminantAnalysis"),
        _opposites(
            (_down("var_smoothing", 100.0, least=1e-9), _down("alpha", 10.0), _down("reg_param", 10.0)),
            (_up("var_smoothing", 1e3), _up("alpha", 10.0), _up("reg_param", 3.0, unset=0.1, most=1.0)),
        ),
    ),
    Family(
        ("PolynomialFeatures", "SplineTransformer", "KBinsDiscretizer"),
        _opposites(
            (_up("degree", 1.5, strongest=1), _up("n_knots"), _up("n_bins")),
            (_down("degree", 1.5, least=1), _down("n_knots", least=2), _down("n_bins", least=2)),
        ),
    ),
    Family(
        ("PCA", "TruncatedSVD", "Nystroem", "RBFSampler", "SelectKBest", "SelectPercentile"),
        _opposites(
            tuple(_up(name, 1.5, strongest=1) for name in ("n_components", "k", "percentile")),
            tuple(_down(name, 1.5, least=1) for name in ("n_components", "k", "percentile")),
        ),
    ),
    Family(
        ("UMAP", "Isomap", "LocallyLinearEmbedding", "SpectralEmbedding", "TSNE"),
        {
            "local_detail": (_down("n_neighbors", least=2), _down("perplexity")),
            "global_view": (_up("n_neighbors"), _up("perplexity")),
            "outliers": (_down("set_op_mix_ratio"),),
            "separate_groups": (_down("min_dist"), _up("n_epochs"), _up("n_iter"), _up("max_iter")),
        },
    ),
)
BY_NAME = {name: family for family in FAMILIES for name in family.names}


def family_of(estimator) -> Family | None:
    """The row of the tables for an estimator or one of its base classes."""
    names = (cls.__name__ for cls in type(estimator).__mro__)
    return next((BY_NAME[name] for name in names if name in BY_NAME), None)
