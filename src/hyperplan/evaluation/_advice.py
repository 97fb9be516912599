"""Which hyper-parameters to move, and which way: the advice tables of the course, one row per family of estimators.

Too stiff (under-fit) and too flexible (over-fit) are opposite ends of the same parameters; an unstable model needs
less freedom per sample or an average of several.  Embeddings have complaints of their own.  A move can be made on a
copy of the estimator, so that advice can be tried before it is given.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import clone

PROBLEMS = ("underfit", "overfit", "unstable", "local_detail", "global_view", "outliers", "separate_groups")
STRENGTHS = (1, 3)  # a moderate and a strong move


class Move(NamedTuple):
    """One parameter up or down: multiplied or divided by `factor`, once per unit of strength.

    `unset` stands for a value that means "no limit" or 0; `words` maps values that are no numbers; `tried` is False for
    moves that are said but not made in trials; `strongest` bounds what a trial may cost.
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

    def changed(self, value, strength=1):
        """The new value, or None if the parameter cannot go that way."""
        if isinstance(value, bool | tuple | list):
            return None
        if value is None or isinstance(value, str):
            if value in self.words:
                return self.words[value]
            if self.up or self.unset is None or value is not None:
                return None
        power = min(strength, self.strongest)
        if value is None or (value == 0 and self.up and self.unset is not None):
            start, power = self.unset, power - 1  # the first move sets it
        else:
            start = value
        moved = float(start) * self.factor ** (power if self.up else -power)
        if isinstance(start, int):
            return None if (moved := round(max(moved, self.least))) == value else moved
        moved = min(max(moved, self.least), self.most)
        return None if moved == value else moved


class Family(NamedTuple):
    """Estimators that are tuned alike: moves against each problem, and what else may be used instead."""

    names: tuple
    moves: dict
    instead: dict = {}
    memorises: bool = False  # a perfect training score is normal and says nothing


def _up(parameter, factor=2.0, **options):
    return Move(parameter, True, factor, **options)


def _down(parameter, factor=2.0, **options):
    return Move(parameter, False, factor, **options)


DEEPER = (_up("max_depth"), _up("max_leaf_nodes"), _down("min_samples_leaf", 3.0, least=1), _down("ccp_alpha", 10.0))
SHALLOWER = (
    _down("max_depth", unset=8, least=1),
    _down("max_leaf_nodes", least=2),
    _up("min_samples_leaf", 3.0),
    _up("ccp_alpha", 10.0),
)
MORE_COLUMNS = _up("max_features", 1.5, most=1.0, words={"sqrt": 1.0, "log2": "sqrt"})
FEWER_COLUMNS = _down("max_features", 1.5, words={None: "sqrt", "sqrt": "log2"})
SMALLER_SAMPLES = _down("max_samples", 1.5, unset=0.6)
MORE_MODELS = _up("n_estimators", 3.0, tried=False)
MORE_ROUNDS = (_up("n_estimators", strongest=1), _up("max_iter", strongest=1))
FEWER_ROUNDS = (_down("n_estimators", least=1), _down("max_iter", least=1))
POLYNOMIALS = ("PolynomialFeatures", "HistGradientBoosting")


def _pair(*stems):
    return tuple(f"{stem}{kind}" for stem in stems for kind in ("Classifier", "Regressor"))


FAMILIES = (
    Family(
        _pair("DecisionTree", "ExtraTree", "ObliqueTree", "MultiwayTree"),
        {"underfit": DEEPER, "overfit": SHALLOWER, "unstable": (*SHALLOWER, FEWER_COLUMNS)},
        {"unstable": ("RandomForest", "ExtraTrees"), "overfit": ("RandomForest",)},
    ),
    Family(
        _pair("RandomForest", "ExtraTrees"),
        {
            "underfit": (*DEEPER, MORE_COLUMNS),
            "overfit": (*SHALLOWER, FEWER_COLUMNS),
            "unstable": (FEWER_COLUMNS, SMALLER_SAMPLES, MORE_MODELS),
        },
        {"unstable": ("ExtraTrees",)},
        memorises=True,
    ),
    Family(
        _pair("Bagging"),
        {
            "underfit": (_up("max_samples", 1.5, most=1.0), _up("max_features", 1.5, most=1.0)),
            "overfit": (SMALLER_SAMPLES, _down("max_features", 1.5)),
            "unstable": (_down("max_features", 1.5), SMALLER_SAMPLES, MORE_MODELS),
        },
        memorises=True,
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
            "HuberRegressor",
            "QuantileRegressor",
            "KernelRidge",
            "MLPClassifier",
            "MLPRegressor",
        ),
        {
            "underfit": (_down("alpha", 10.0), _up("hidden_layer_sizes", tried=False)),
            "overfit": (_up("alpha", 10.0, unset=1e-3),),
            "unstable": (_up("alpha", 10.0, unset=1e-3),),
        },
        {"underfit": POLYNOMIALS},
    ),
    Family(
        ("LogisticRegression", "LinearSVC", "LinearSVR", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor"),
        {"underfit": (_up("C", 10.0),), "overfit": (_down("C", 10.0),), "unstable": (_down("C", 10.0),)},
        {"underfit": POLYNOMIALS},
    ),
    Family(
        ("LinearRegression", "OrdinaryLeastSquares"),
        {},
        {"underfit": POLYNOMIALS, "overfit": ("Ridge", "Lasso"), "unstable": ("Ridge",)},
    ),
    Family(
        ("RidgeCV", "RidgeClassifierCV", "LassoCV", "ElasticNetCV", "LogisticRegressionCV"),
        {},
        {"underfit": POLYNOMIALS},
    ),
    Family(
        ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"),
        {
            "underfit": (_up("C", 10.0), _up("gamma", 3.0)),
            "overfit": (_down("C", 10.0), _down("gamma", 3.0)),
            "unstable": (_down("C", 10.0), _down("gamma", 3.0)),
        },
    ),
    Family(
        ("KNeighborsClassifier", "KNeighborsRegressor"),
        {
            "underfit": (_down("n_neighbors", least=1),),
            "overfit": (_up("n_neighbors"),),
            "unstable": (_up("n_neighbors"),),
        },
        memorises=True,
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
UNKNOWN = Family((), {})
BY_NAME = {name: family for family in FAMILIES for name in family.names}


class Core(NamedTuple):
    """The estimator that learns, inside pipelines and searches, and the prefix of its parameters."""

    estimator: object
    prefix: str
    searched: bool

    @property
    def family(self) -> Family:
        """Its row in the tables."""
        names = (cls.__name__ for cls in type(self.estimator).__mro__)
        return next((BY_NAME[name] for name in names if name in BY_NAME), UNKNOWN)


def core_of(model, prefix="", searched=False) -> Core:
    """Look through pipelines (their last step), searches and transformed targets."""
    if hasattr(model, "steps") and model.steps:
        name, last = model.steps[-1]
        return core_of(last, f"{prefix}{name}__", searched)
    if hasattr(model, "param_grid") or hasattr(model, "param_distributions"):
        return core_of(getattr(model, "best_estimator_", model.estimator), f"{prefix}estimator__", True)
    if hasattr(model, "regressor") and hasattr(model, "transformer"):
        return core_of(model.regressor, f"{prefix}regressor__", searched)
    return Core(model, prefix, searched)


def advice(model, problem: str) -> list[str]:
    """advice(model, problem) -> list of moves, the most useful first

    Which parameters of an estimator to move against a problem, and which way.

    Parameters
    ----------
    model : estimator, pipeline or search
        What to tune; parameters are named as its `set_params` wants them.
    problem : {"underfit", "overfit", "unstable", "local_detail", "global_view", "outliers", "separate_groups"}
        Too stiff, too flexible, different with every sample; for embeddings: what the picture lacks.

    Returns
    -------
    moves : list of str
        An arrow up or down, the parameter and its present value; an arrow to the right names a tool to use instead or
        before.  Empty if nothing is known about the class.

    Examples
    --------
    >>> from hyperplan.ensemble import RandomForestClassifier
    >>> from hyperplan.evaluation import advice
    >>> advice(RandomForestClassifier(max_depth=3), "underfit")
    ['↑ max_depth (3)', '↑ max_features (sqrt)']
    """
    if problem not in PROBLEMS:
        raise ValueError(f"problem must be one of {', '.join(map(repr, PROBLEMS))}; got {problem!r}")
    core = core_of(model)
    values = core.estimator.get_params(deep=False) if hasattr(core.estimator, "get_params") else vars(core.estimator)
    moves = [move for move in core.family.moves.get(problem, ()) if _can(move, values)]
    said = [_say(move, values[move.parameter], core.prefix) for move in moves]
    return said + [f"→ {name}" for name in core.family.instead.get(problem, ())]


def _can(move, values):
    if move.parameter not in values:
        return False
    value = values[move.parameter]
    is_word = isinstance(value, str) and not move.words  # such as gamma="scale": said, though not tried
    return is_word or isinstance(value, tuple | list) or move.changed(value) is not None


def _say(move, value, prefix):
    return f"{'↑' if move.up else '↓'} {prefix}{move.parameter} ({_shown(value)})"


def _shown(value):
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def trials(model, problem: str) -> dict:
    """{label: copy of the model} with all moves against a problem made together, moderately and strongly."""
    core = core_of(model)
    if core.searched or not hasattr(core.estimator, "get_params"):
        return {}
    values, found = core.estimator.get_params(deep=False), {}
    for strength in STRENGTHS:
        changes = {}
        for move in core.family.moves.get(problem, ()):
            new = move.changed(values[move.parameter], strength) if move.tried and move.parameter in values else None
            if new is not None:
                changes[f"{core.prefix}{move.parameter}"] = new
        if changes:
            label = ", ".join(f"{name}={_shown(new)}" for name, new in changes.items())
            found[label] = clone(model).set_params(**changes)
    return found | _replacements(model, core, problem)


def _replacements(model, core, problem):
    """Least squares have nothing to move: a penalty chosen by cross-validation in their place."""
    if type(core.estimator).__name__ != "LinearRegression" or problem != "overfit":
        return {}
    from hyperplan.linear_model import RidgeCV

    ridge = RidgeCV(alphas=np.logspace(-3, 4, 15))
    return {"RidgeCV": clone(model).set_params(**{core.prefix.removesuffix("__"): ridge}) if core.prefix else ridge}
