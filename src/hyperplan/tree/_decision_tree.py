"""Decision trees for classes and for numbers.

Impurities phi of a node with class shares p: Gini ``1 - sum p_k^2``, entropy ``-sum p_k log2 p_k``, misclassification
``1 - max p_k``; with costs ``c(i, j)`` of answering j where i is true, ``sum c(i, j) p_i p_j`` and
``min_j sum_i c(i, j) p_i``.  For numbers: the mean squared error around the mean, the mean absolute error around the
median, or the mean of ``y log(y / mean)`` (half the Poisson deviance).  All but the last are for one or more outputs.
"""

import warnings

import numpy as np

from hyperplan._base import (
    Choice,
    ClassifierMixin,
    Is,
    OneOf,
    RegressorMixin,
    check_classification_targets,
    compute_sample_weight,
)
from hyperplan._trees.criteria import CLASSIFICATION, REGRESSION, class_targets, real_targets
from hyperplan.tree._class_labels import cost_matrix, encoded
from hyperplan.tree._decision_tree_base import COMMON_PARAMS, BaseDecisionTree, Prepared

COST_CRITERIA = ("gini", "misclassification")
FRIEDMAN = (
    'Value `"friedman_mse"` for `criterion` is deprecated and will be removed in 1.11. It maps to `"squared_error"` as '
    'both were always equivalent. Use `criterion="squared_error"` to remove this warning.'
)


class DecisionTreeClassifier(ClassifierMixin, BaseDecisionTree):
    """Classification tree (CART), grown with exact thresholds.

    At each node the split ``x_j <= s`` that lowers the impurity most; leaves answer with their class shares.

    Stopping rule: a node is a leaf when it is pure, when a limit (`max_depth`, `min_samples_split`,
    `max_leaf_nodes`) is reached, or when no split leaves enough rows or weight on both sides and lowers the impurity
    enough.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio", "mantaras"}, default="gini"
        What to lower.  "gain_ratio" is C4.5's: thresholds by information gain minus ``log2(N - 1) / n`` (N distinct
        values, n rows), then the feature with the best ratio of gain to split entropy among those with at least average
        gain; "mantaras" minimises De Mantaras' distance between split and classes.
    splitter : {"best", "random"}, default="best"
        The best threshold of each feature, or one drawn uniformly between its extremes in the node.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features drawn at each node (more while all drawn ones are constant); None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of these draws, of random thresholds and of the order in which features are tried, which decides between
        splits that are equally good.
    max_leaf_nodes : int or None, default=None
        Grow best first: the leaf whose split lowers the impurity most is split next, until there are so many leaves.
    min_impurity_decrease : float, default=0.0
        Least decrease of the impurity, weighted by the share of rows in the node.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of the classes, one dict per output.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning: the smallest tree with the least ``impurity + ccp_alpha * leaves``.
    monotonic_cst : array-like of shape (n_features,) or None, default=None
        1: the share of the second class may only rise with the feature, -1: only fall, 0: no constraint (two classes).
    class_cost : dict, array-like or None, default=None
        Price of an error: by true class (dict or vector), or as a matrix ``cost[true, answered]``.  It enters the
        impurity ("gini" and "misclassification") and `predict`, which gives the cheapest answer; `predict_proba` keeps
        the shares.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default=None
        Columns of categories (any values): a mask, indices, names, or those with strings or of a categorical type.
        They are split into two sets of categories, and need no encoding.
    surrogates : int, default=0
        Most stand-ins of a split, asked where its column is missing at prediction: thresholds of other columns that
        send most training rows the same way (`add_surrogates`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of ndarrays
        Labels, per output if there are several.
    n_classes_ : int or ndarray of int
        Number of labels, per output if there are several.
    max_features_ : int
        Features tried at each node.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    n_outputs_ : int
        Number of outputs.
    categories_ : list or None
        Sorted values of each categorical column, None for columns of numbers; None without categorical columns.
    tree_ : Tree
        The nodes as arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the impurity decrease that each feature brought; high for features with many values, see permutation
        importance for the remedy.
    certificate_ : Certificate
        That no split raised the training impurity; how the root's impurity decomposes, and the training error.

    Notes
    -----
    Values are compared as float32.  Missing values (NaN) go to the side that lowers the impurity more; where a node saw
    none in training, to the larger child.  A sparse X is accepted; its sorted columns take 8 bytes per entry, zeros
    included.

    Categories are ordered by the share of the second class in the node and cut in two, which finds the best of all sets
    for two classes and a concave impurity (Breiman et al. 1984).  With more classes they are ordered along the
    first principal component of their class shares (Coppersmith, Hong, Hosking 1999), which is not always the best.  A
    category that a node never saw in training goes to the larger child.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees.  Quinlan (1996), Improved use of
    continuous attributes in C4.5.  De Mantaras (1991), A distance-based attribute selection measure for decision tree
    induction.

    Examples
    --------
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.predict([[1.4], [1.6]]).tolist(), model.tree_.threshold[0].item()
    (['a', 'b'], 1.5)
    """

    _params = {
        **COMMON_PARAMS,
        "criterion": Choice(*CLASSIFICATION),
        "class_weight": OneOf(
            Choice("balanced", None), Is(lambda v: isinstance(v, dict | list), "an instance of 'dict' or 'list'")
        ),
    }

    def __init__(
        self,
        *,
        criterion="gini",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        monotonic_cst=None,
        class_cost=None,
        categorical_features=None,
        surrogates=0,
    ):
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.class_cost = class_cost
        self.categorical_features = categorical_features
        self.surrogates = surrogates

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN marks missing values (dense X only).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of zero leaves the row out.
        check_input : bool, default=True
            False: X is a finite float32 array or CSC matrix and y an array already.

        Returns
        -------
        self : DecisionTreeClassifier
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight, check_input)

    def _check_target(self, y):
        check_classification_targets(y)

    def _prepare(self, y, weight) -> Prepared:
        classes, codes = encoded(y)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        cost = self._cost(classes)
        counts = [len(labels) for labels in classes]
        targets = class_targets(codes, counts, criterion=self.criterion, weight=weight, cost=cost)
        several = len(classes) > 1
        names = {
            "classes_": classes if several else classes[0],
            "n_classes_": np.array(counts, dtype=np.intp) if several else counts[0],
        }
        return Prepared(targets, names)

    def _cost(self, classes):
        if self.class_cost is None:
            return None
        if len(classes) > 1:
            raise ValueError(f"class_cost is for one output, y has {len(classes)}")
        if self.criterion not in COST_CRITERIA:
            raise ValueError(
                f"class_cost works with criterion 'gini' or 'misclassification', got {self.criterion!r}: use one of "
                "them, or class_weight"
            )
        return cost_matrix(self.class_cost, list(classes[0]))

    def _training_error(self, leaves):
        """Share of the training weight that the leaves' most frequent classes get wrong, per output."""
        weight = self.tree_.weighted_n_node_samples[leaves]
        wrong = (weight[:, None] * (1.0 - self.tree_.value[leaves].max(axis=2))).sum(axis=0) / weight.sum()
        return {"training error": float(wrong.mean())}

    def predict(self, X, check_input=True):
        """Most frequent class of each row's leaf (the first of equals), or the cheapest answer with `class_cost`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            False: X is a float32 array or CSR matrix already.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels.
        """
        X = self._checked_rows(X, check_input)
        shares = self.tree_.predict(X)
        if self.n_outputs_ == 1:
            if self.class_cost is not None:
                return self.classes_.take((shares @ self._cost([self.classes_])).argmin(axis=1))
            return self.classes_.take(shares.argmax(axis=1), axis=0)
        found = np.zeros((shares.shape[0], self.n_outputs_), dtype=self.classes_[0].dtype)
        for k in range(self.n_outputs_):
            found[:, k] = self.classes_[k].take(shares[:, k].argmax(axis=1), axis=0)
        return found

    def predict_proba(self, X, check_input=True):
        """Class shares of each row's leaf.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            False: X is a float32 array or CSR matrix already.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or a list of such arrays, one per output
            Shares.
        """
        X = self._checked_rows(X, check_input)
        shares = self.tree_.predict(X)
        if self.n_outputs_ == 1:
            return shares[:, : self.n_classes_]
        return [shares[:, k, : self.n_classes_[k]] for k in range(self.n_outputs_)]

    def predict_log_proba(self, X):
        """Logarithms of the class shares (-inf for classes that a leaf never saw).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or a list of such arrays, one per output
            Logarithms.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(each) for each in shares]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags


class DecisionTreeRegressor(RegressorMixin, BaseDecisionTree):
    """Regression tree (CART), grown with exact thresholds.

    At each node the split ``x_j <= s`` that lowers the criterion most; leaves answer with their mean (median for the
    absolute error).  The prediction is piecewise constant and never leaves the range of the training targets.

    Stopping rule: a node is a leaf when its targets are equal, when a limit (`max_depth`, `min_samples_split`,
    `max_leaf_nodes`) is reached, or when no split leaves enough rows or weight on both sides and lowers the criterion
    enough.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What to lower.  "friedman_mse" is the same as "squared_error" and deprecated.
    splitter : {"best", "random"}, default="best"
        The best threshold of each feature, or one drawn uniformly between its extremes in the node.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features drawn at each node (more while all drawn ones are constant); None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of these draws, of random thresholds and of the order in which features are tried, which decides between
        splits that are equally good.
    max_leaf_nodes : int or None, default=None
        Grow best first: the leaf whose split lowers the criterion most is split next, until there are so many leaves.
    min_impurity_decrease : float, default=0.0
        Least decrease of the criterion, weighted by the share of rows in the node.
    ccp_alpha : float, default=0.0
        Price of a leaf in cost-complexity pruning: the smallest tree with the least ``impurity + ccp_alpha * leaves``.
    monotonic_cst : array-like of shape (n_features,) or None, default=None
        1: predictions may only rise with the feature, -1: only fall, 0: no constraint.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default=None
        Columns of categories (any values): a mask, indices, names, or those with strings or of a categorical type.
        They are split into two sets of categories, and need no encoding.
    surrogates : int, default=0
        Most stand-ins of a split, asked where its column is missing at prediction: thresholds of other columns that
        send most training rows the same way (`add_surrogates`).

    Attributes
    ----------
    max_features_ : int
        Features tried at each node.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    n_outputs_ : int
        Number of outputs.
    categories_ : list or None
        Sorted values of each categorical column, None for columns of numbers; None without categorical columns.
    tree_ : Tree
        The nodes as arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease of the criterion that each feature brought.
    certificate_ : Certificate
        That no split raised the training criterion, with the decomposition of the root's.

    Notes
    -----
    Values are compared as float32.  Missing values (NaN) go to the side that lowers the criterion more; where a node
    saw none in training, to the larger child.  A sparse X is accepted; its sorted columns take 8 bytes per entry, zeros
    included.

    Categories are ordered by their mean target in the node and cut in two, which finds the best of all sets for the
    squared error and for Poisson (Breiman et al. 1984), and a good one for the absolute error; with several
    outputs they are ordered along the first principal component of their means.  A category that a node never saw in
    training goes to the larger child.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees.

    Examples
    --------
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 10.0, 12.0])
    >>> model.predict([[1.4], [1.6], [100.0]]).tolist()
    [1.0, 11.0, 11.0]
    """

    _params = {**COMMON_PARAMS, "criterion": Choice(*(name for name in REGRESSION if name != "friedman_mse"))}

    def __init__(
        self,
        *,
        criterion="squared_error",
        splitter="best",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=None,
        random_state=None,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        monotonic_cst=None,
        categorical_features=None,
        surrogates=0,
    ):
        if isinstance(criterion, str) and criterion == "friedman_mse":
            criterion = "squared_error"
            warnings.warn(FRIEDMAN, FutureWarning, stacklevel=2)
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.surrogates = surrogates

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN marks missing values (dense X only).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers; not negative, and not all zero, for "poisson".
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of zero leaves the row out.
        check_input : bool, default=True
            False: X is a finite float32 array or CSC matrix and y an array already.

        Returns
        -------
        self : DecisionTreeRegressor
            Fitted estimator.
        """
        return self._fit(X, y, sample_weight, check_input)

    def _check_target(self, y):
        if self.criterion == "poisson":
            if (y < 0).any():
                row = int(np.flatnonzero((y < 0).any(axis=1))[0])
                raise ValueError(
                    "Some value(s) of y are negative which is not allowed for Poisson regression. "
                    f"The first is in row {row}."
                )
            if y.sum() <= 0:
                raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")

    def _prepare(self, y, weight) -> Prepared:
        y = np.ascontiguousarray(y, dtype=np.float64)
        return Prepared(real_targets(y, criterion=self.criterion, weight=weight), {})

    def _training_error(self, leaves):
        """The criterion on the training rows is what the leaves have left."""
        return {}

    def predict(self, X, check_input=True):
        """Value of each row's leaf.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            False: X is a float32 array or CSR matrix already.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Means, or medians.
        """
        X = self._checked_rows(X, check_input)
        found = self.tree_.predict(X)
        return found[:, 0] if self.n_outputs_ == 1 else found[:, :, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
