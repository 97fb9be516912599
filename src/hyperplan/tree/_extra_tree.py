"""Extremely randomised trees: one threshold per candidate feature, drawn uniformly between its extremes in the node.

Everything else is as for the decision trees: the best of the drawn splits is taken.  Their use is in ensembles.
"""

from hyperplan.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor


class ExtraTreeClassifier(DecisionTreeClassifier):
    """Extremely randomised classification tree.

    At each node one threshold is drawn for each of `max_features` features; the best of them wins.

    Stopping rule: that of `DecisionTreeClassifier`.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio", "mantaras"}, default="gini"
        What to lower.
    splitter : {"random", "best"}, default="random"
        One random threshold per feature, or the best.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Features drawn at each node (more while all drawn ones are constant); None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of features and thresholds.
    max_leaf_nodes : int or None, default=None
        Grow best first up to so many leaves.
    min_impurity_decrease : float, default=0.0
        Least decrease of the impurity, weighted by the share of rows in the node.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes, one dict per output.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning.
    monotonic_cst : array-like of shape (n_features,) or None, default=None
        1: the share of the second class may only rise with the feature, -1: only fall, 0: no constraint (two classes).
    class_cost : dict, array-like or None, default=None
        Price of an error, as for `DecisionTreeClassifier`.

    Attributes
    ----------
    classes_, n_classes_, max_features_, n_features_in_, feature_names_in_, n_outputs_, tree_, feature_importances_
        As for `DecisionTreeClassifier`.
    certificate_ : Certificate
        That no split raised the training impurity.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from hyperplan.tree import ExtraTreeClassifier
    >>> model = ExtraTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.predict([[0.0], [3.0]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="random",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        class_cost=None,
    ):
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            class_weight=class_weight,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            class_cost=class_cost,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.splitter == "random"
        return tags


class ExtraTreeRegressor(DecisionTreeRegressor):
    """Extremely randomised regression tree.

    At each node one threshold is drawn for each of `max_features` features; the best of them wins.

    Stopping rule: that of `DecisionTreeRegressor`.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What to lower.
    splitter : {"random", "best"}, default="random"
        One random threshold per feature, or the best.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Features drawn at each node (more while all drawn ones are constant); None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of features and thresholds.
    min_impurity_decrease : float, default=0.0
        Least decrease of the criterion, weighted by the share of rows in the node.
    max_leaf_nodes : int or None, default=None
        Grow best first up to so many leaves.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning.
    monotonic_cst : array-like of shape (n_features,) or None, default=None
        1: predictions may only rise with the feature, -1: only fall, 0: no constraint.

    Attributes
    ----------
    max_features_, n_features_in_, feature_names_in_, n_outputs_, tree_, feature_importances_
        As for `DecisionTreeRegressor`.
    certificate_ : Certificate
        That no split raised the training criterion.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees.

    Examples
    --------
    >>> from hyperplan.tree import ExtraTreeRegressor
    >>> model = ExtraTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])
    >>> model.predict([[0.0], [3.0]]).tolist()
    [0.0, 3.0]
    """

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="random",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        random_state=None,
        min_impurity_decrease=0.0,
        max_leaf_nodes=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
    ):
        super().__init__(
            criterion=criterion,
            splitter=splitter,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            random_state=random_state,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.splitter == "random"
        return tags
