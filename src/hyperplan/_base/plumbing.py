"""scikit-learn's classes around a model (pipelines, encoders, splitters, searches), by their public names.

A table and no discovery: what stands here may be written to a model file and read from one.  Classes are imported when
they are asked for.
"""

import importlib

import sklearn

PLUMBING = {
    "sklearn.compose": ("ColumnTransformer", "TransformedTargetRegressor", "make_column_selector"),
    "sklearn.dummy": ("DummyClassifier", "DummyRegressor"),
    "sklearn.feature_selection": (
        "GenericUnivariateSelect",
        "SelectFdr",
        "SelectFpr",
        "SelectFromModel",
        "SelectFwe",
        "SelectKBest",
        "SelectPercentile",
        "VarianceThreshold",
    ),
    "sklearn.frozen": ("FrozenEstimator",),
    "sklearn.impute": ("KNNImputer", "MissingIndicator", "SimpleImputer"),
    "sklearn.model_selection": (
        "FixedThresholdClassifier",
        "GridSearchCV",
        "GroupKFold",
        "GroupShuffleSplit",
        "KFold",
        "LeaveOneGroupOut",
        "LeaveOneOut",
        "PredefinedSplit",
        "RandomizedSearchCV",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
        "TimeSeriesSplit",
    ),
    "sklearn.multiclass": ("OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"),
    "sklearn.multioutput": ("MultiOutputClassifier", "MultiOutputRegressor"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "KernelCenterer",
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MultiLabelBinarizer",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "SplineTransformer",
        "StandardScaler",
        "TargetEncoder",
    ),
}
SKLEARN_VERSION = sklearn.__version__
SCORE_FUNCTIONS = ("chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression", "r_regression")
FROZEN = "sklearn.frozen._frozen.FrozenEstimator"  # by the file it stands in: passes on what it does not have itself
OWN_SCORE = "sklearn.metrics.own_score"  # our name for the private class of scorers that call the model's own `score`


def plumbing_class(name):
    """The class of a public name such as "sklearn.pipeline.Pipeline"; None for names that are not in the table."""
    if name == OWN_SCORE:
        return _own_score_class()
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute, None) if attribute in PLUMBING.get(module, ()) else None


def plumbing_name(cls: type) -> str | None:
    """The public name of a class of the table; None for others."""
    for module, names in PLUMBING.items():
        if cls.__name__ in names and getattr(importlib.import_module(module), cls.__name__, None) is cls:
            return f"{module}.{cls.__name__}"
    return OWN_SCORE if cls.__module__.startswith("sklearn.metrics") and cls is _own_score_class() else None


def _own_score_class():
    from sklearn.dummy import DummyRegressor
    from sklearn.metrics import check_scoring

    return type(check_scoring(DummyRegressor()))


def score_function(name):
    """A function of `sklearn.feature_selection` that rates columns, by its name; None for other names."""
    return getattr(importlib.import_module("sklearn.feature_selection"), name) if name in SCORE_FUNCTIONS else None


def scorer_name(scorer):
    """The name by which scikit-learn gives out an equal scorer; None without one."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return next((name for name in get_scorer_names() if _same(get_scorer(name), scorer)), None)


def scorer_named(name):
    """scikit-learn's scorer of this name; None without one."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return get_scorer(name) if name in get_scorer_names() else None


def _same(one, other):
    return type(one) is type(other) and vars(one) == vars(other)
