"""Options under which histogram boosting does what its ancestors do by default: `like`, with the table of names."""

import math

from hyperplan._base import ClassifierMixin

CATBOOST_RATE = 0.03  # for an unknown number of rows
CATBOOST_RULES = {True: (0.427, -7.525, 0.917), False: (0.158, -4.287, 0.813)}  # (a, b, c), by "is a classifier"

PRESETS = {
    "xgboost": {
        "learning_rate": 0.3,
        "growth": "level",
        "max_depth": 6,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "min_hessian": 1.0,
        "l2_regularization": 1.0,
    },
    "lightgbm": {
        "learning_rate": 0.1,
        "growth": "leaf",
        "max_leaf_nodes": 31,
        "min_samples_leaf": 20,
        "min_hessian": 1e-3,
        "l2_regularization": 0.0,
    },
    "catboost": {
        "max_iter": 1000,
        "growth": "oblivious",
        "max_depth": 6,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "min_hessian": 0.0,
        "l2_regularization": 3.0,
        "max_bins": 254,
        "subsample": 0.8,
        "sampling": "mvs",
        "categorical_encoding": "ordered",
        "unseen_category": "prior",
    },
}


def catboost_learning_rate(n_samples, max_iter=1000, classifier=True) -> float:
    """CatBoost's learning rate when none is given: ``min(0.5, exp(a log(n) + b) (max_iter / 1000)^-c)``.

    The constants are those of a logistic loss (`classifier`) or of squared errors, without a validation set.

    >>> from hyperplan.ensemble._hist_presets import catboost_learning_rate
    >>> round(catboost_learning_rate(1000), 3), round(catboost_learning_rate(1000, 100, classifier=False), 3)
    (0.01, 0.266)
    """
    a, b, c = CATBOOST_RULES[bool(classifier)]
    return min(0.5, math.exp(a * math.log(n_samples) + b) * (max_iter / 1000) ** -c)


def preset(ancestor, kind, n_samples, overrides) -> dict:
    """Parameters for the class `kind`; those that it does not have are left out."""
    if ancestor not in PRESETS:
        raise ValueError(f"like() knows {', '.join(map(repr, PRESETS))}, got {ancestor!r}.")
    options = {name: value for name, value in PRESETS[ancestor].items() if name in kind._params}
    options = {**options, "early_stopping": False, **overrides}
    if ancestor == "catboost" and "learning_rate" not in overrides:
        rate = CATBOOST_RATE
        if n_samples is not None:
            rate = catboost_learning_rate(n_samples, options["max_iter"], issubclass(kind, ClassifierMixin))
        options["learning_rate"] = rate
    return options


class PresetsMixin:
    """Gives an estimator `like`."""

    @classmethod
    def like(cls, ancestor, *, n_samples=None, **overrides):
        """An estimator whose options give what another library does when none is set.

        Parameters
        ----------
        ancestor : {'xgboost', 'lightgbm', 'catboost'}
            The library.
        n_samples : int, default=None
            Number of training rows, from which CatBoost derives its learning rate (0.03 if it is not known here).
        **overrides
            Parameters of the estimator, which replace those of the preset.

        Returns
        -------
        estimator : object
            Not fitted.

        Notes
        -----
        What the options are called there, and their values:

        =====================  =========================  ===========================  ==========================
        here                   XGBoost                    LightGBM                     CatBoost
        =====================  =========================  ===========================  ==========================
        max_iter               n_estimators 100           n_estimators 100             iterations 1000
        learning_rate          eta 0.3                    learning_rate 0.1            learning_rate, by a rule
        growth                 grow_policy: 'level'       'leaf'                       grow_policy: 'oblivious'
        max_depth              max_depth 6                max_depth: None              depth 6
        max_leaf_nodes         max_leaves: None           num_leaves 31                None
        min_samples_leaf       1                          min_child_samples 20         min_data_in_leaf 1
        min_hessian            min_child_weight 1         min_sum_hessian_in_leaf      0
                                                          0.001
        l2_regularization      lambda 1                   lambda_l2 0                  l2_leaf_reg 3
        leaf_cost              gamma / 2: 0               min_gain_to_split / 2: 0     0
        max_bins               max_bin 256: 255           max_bin 255                  border_count 254
        subsample              subsample 1                bagging_fraction 1           subsample 0.8
        sampling               None                       None                         bootstrap_type: 'mvs'
        categorical_encoding   'native'                   'native'                     'ordered'
        unseen_category        'missing'                  'missing'                    'prior'
        early_stopping         False                      False                        False
        =====================  =========================  ===========================  ==========================

        What no option expresses: XGBoost doubles the second derivatives for three classes and more (halve
        `learning_rate`, `l2_regularization` and `min_hessian` to have the same), LightGBM multiplies them by
        K / (K - 1).  LightGBM penalises splits of categories (cat_l2, cat_smooth), merges bins of fewer than three rows
        and estimates numbers of rows by sums of second derivatives.  CatBoost adds noise to its scores
        (random_strength), measures them by a cosine, starts logistic losses at 0, takes up to ten Newton steps for
        each of their leaves, cuts statistics of categories into 15 even bins and combines categories of several
        columns.

        CatBoost's learning rate for n rows and m rounds is ``min(0.5, exp(a log(n) + b) (m / 1000)^-c)`` with
        (a, b, c) = (0.427, -7.525, 0.917) for classifiers and (0.158, -4.287, 0.813) for regressors.

        Examples
        --------
        >>> from hyperplan.ensemble import HistGradientBoostingClassifier
        >>> model = HistGradientBoostingClassifier.like("xgboost", max_iter=50)
        >>> model.growth, model.max_depth, model.learning_rate, model.max_iter
        ('level', 6, 0.3, 50)
        """
        return cls(**preset(ancestor, cls, n_samples, overrides))
