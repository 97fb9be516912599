"""Forests for classification: random forests and extremely randomised trees.

The average of class shares over deep trees that differ by their rows, features and thresholds; see `_forest_base`.
"""

from hyperplan.ensemble._forest_answers import ForestClassifier
from hyperplan.ensemble._forest_base import SPLITTER
from hyperplan.tree import DecisionTreeClassifier, ExtraTreeClassifier


class RandomForestClassifier(ForestClassifier):
    """Random forest for classification.

    Each tree is grown deep on a bootstrap sample of the rows and tries `max_features` features, drawn anew at each
    node; the forest averages the class shares of the trees.

    Stopping rule: `n_estimators` trees; within a tree, pure nodes and the limits below.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees; more never overfit, they only lower the second term of the variance.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        What a split lowers.
    max_depth : int or None, default=None
        Most splits above a leaf; None: until leaves are pure (deep trees have little bias, which averaging keeps).
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the tree's total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Features drawn at each node (more while all drawn ones are constant); None: all.
    max_leaf_nodes : int or None, default=None
        Grow best first up to so many leaves.
    min_impurity_decrease : float, default=0.0
        Least decrease of the criterion, weighted by the share of rows in the node.
    bootstrap : bool, default=True
        Grow each tree on rows drawn with replacement (in proportion to the weights); False: on all rows.
    oob_score : bool or callable, default=False
        Judge the forest by the rows that trees did not see: accuracy, or
        ``callable(y, y_pred)``.
    n_jobs : int or None, default=None
        Threads; None or -1: all cores.  The trees do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn rows, features and thresholds.  Tree t is the same for any number of trees and threads.
    verbose : int, default=0
        Above 1: a line for each tree.
    warm_start : bool, default=False
        Keep the trees of the previous fit and add to them.
    class_weight : {"balanced", "balanced_subsample"}, dict, list of dict or None, default=None
        Weights of the classes, one dict per output; "balanced": inversely proportional to their frequencies, in all
        rows or in each tree's sample.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning of each tree.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a number, a share, or None for as many as there are.
    monotonic_cst : array-like of shape (n_features,) or None, default=None
        1: predictions may only rise with the feature, -1: only fall, 0: no constraint.
    splitter : {"auto", "exact", "histogram"}, default="auto"
        Thresholds: between all values of a column ("exact"), or between at most 255 bins by quantiles ("histogram",
        faster on many rows).  "auto": exact up to 20 000 rows.

    Attributes
    ----------
    estimators_ : list of DecisionTreeClassifier
        The trees (made when first asked for).
    estimator_ : DecisionTreeClassifier
        Template of the trees.
    classes_ : ndarray of shape (n_classes,) or list of ndarrays
        Labels, per output if there are several.
    n_classes_ : int or list of int
        Number of labels, per output if there are several.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease of the criterion that each feature brought, averaged over the trees.
    oob_score_ : float
        Score on out-of-bag rows, with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or (n_samples, n_classes, n_outputs)
        Class shares from the trees that did not see a row; zeros where all did.
    estimators_samples_ : list of ndarrays
        Rows that each tree drew.
    certificate_ : Certificate
        Variance of the average as the decomposition rho sigma^2 + (1 - rho) sigma^2 / m says; rho is the correlation
        of the trees' predictions over training rows.

    Notes
    -----
    Values are compared as float32.  Missing values (NaN) go to a side that is learned at each node.  They, monotone
    constraints, `max_leaf_nodes`, and several outputs with the entropy or with more than 64 classes in all are grown by
    the exact core, which is slower.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45.  Hastie, Tibshirani, Friedman (2009), The Elements of
    Statistical Learning, chapter 15.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import RandomForestClassifier
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, np.repeat([0, 1], 20))
    >>> model.predict([[3.0], [36.0]]).tolist()
    [0, 1]
    """

    _tree_class = DecisionTreeClassifier
    _params = {**ForestClassifier._params, "splitter": SPLITTER}

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        splitter="auto",
    ):
        self.criterion = criterion
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classification.

    At each node one threshold is drawn for each of `max_features` features and the best of them wins; the forest
    averages the class shares of the trees.  Less variance than a random forest, a little more bias.

    Stopping rule: `n_estimators` trees; within a tree, pure nodes and the limits below.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees; more never overfit, they only lower the second term of the variance.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        What a split lowers.
    max_depth : int or None, default=None
        Most splits above a leaf; None: until leaves are pure (deep trees have little bias, which averaging keeps).
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the tree's total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Features drawn at each node (more while all drawn ones are constant); None: all.
    max_leaf_nodes : int or None, default=None
        Grow best first up to so many leaves.
    min_impurity_decrease : float, default=0.0
        Least decrease of the criterion, weighted by the share of rows in the node.
    bootstrap : bool, default=False
        Grow each tree on rows drawn with replacement (in proportion to the weights); False: on all rows.
    oob_score : bool or callable, default=False
        Judge the forest by the rows that trees did not see: accuracy, or
        ``callable(y, y_pred)``.
    n_jobs : int or None, default=None
        Threads; None or -1: all cores.  The trees do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn rows, features and thresholds.  Tree t is the same for any number of trees and threads.
    verbose : int, default=0
        Above 1: a line for each tree.
    warm_start : bool, default=False
        Keep the trees of the previous fit and add to them.
    class_weight : {"balanced", "balanced_subsample"}, dict, list of dict or None, default=None
        Weights of the classes, one dict per output; "balanced": inversely proportional to their frequencies, in all
        rows or in each tree's sample.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning of each tree.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a number, a share, or None for as many as there are.
    monotonic_cst : array-like of shape (n_features,) or None, default=None
        1: predictions may only rise with the feature, -1: only fall, 0: no constraint.

    Attributes
    ----------
    estimators_ : list of ExtraTreeClassifier
        The trees (made when first asked for).
    estimator_ : ExtraTreeClassifier
        Template of the trees.
    classes_ : ndarray of shape (n_classes,) or list of ndarrays
        Labels, per output if there are several.
    n_classes_ : int or list of int
        Number of labels, per output if there are several.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    n_outputs_ : int
        Number of outputs.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease of the criterion that each feature brought, averaged over the trees.
    oob_score_ : float
        Score on out-of-bag rows, with `oob_score`.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes) or (n_samples, n_classes, n_outputs)
        Class shares from the trees that did not see a row; zeros where all did.
    estimators_samples_ : list of ndarrays
        Rows that each tree drew.
    certificate_ : Certificate
        Variance of the average as the decomposition rho sigma^2 + (1 - rho) sigma^2 / m says; rho is the correlation
        of the trees' predictions over training rows.

    Notes
    -----
    Values are compared as float32.  Missing values (NaN) go to a side that is drawn at each node.  They, monotone
    constraints, `max_leaf_nodes`, and several outputs with the entropy or with more than 64 classes in all are grown by
    the exact core, which is slower.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees, Machine Learning 63.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import ExtraTreesClassifier
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = ExtraTreesClassifier(20, random_state=0).fit(X, np.repeat([0, 1], 20))
    >>> model.predict([[3.0], [36.0]]).tolist()
    [0, 1]
    """

    _tree_class = ExtraTreeClassifier
    _random = True

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=False,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
    ):
        self.criterion = criterion
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
