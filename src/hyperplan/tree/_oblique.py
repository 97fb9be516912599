"""Oblique trees: splits ``<w, x> <= s`` with directions from discriminant analysis, ridge regression or by lot.

A greedy tree like CART: at each node, of all thresholds of all proposed directions, the one that lowers the impurity
most (the impurities are those of the decision trees).  Directions: `hyperplan._trees.oblique`.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    Int,
    Is,
    Real,
    check_consistent_length,
    check_params,
    check_training,
    check_weight,
    column_or_1d,
    seed_from,
)
from hyperplan._trees.oblique import (
    DIRECTIONS,
    FIRST_DIRECTION,
    ObliqueNodes,
    Proposal,
    grow_oblique,
    oblique_importances,
    oblique_leaves_of,
    paths_to,
)
from hyperplan._trees.pruning import pruned
from hyperplan.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from hyperplan.tree._decision_tree_base import refuse_infinite
from hyperplan.tree._decision_tree_record import Tree

SHARED = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "random_state",
    "min_impurity_decrease",
    "ccp_alpha",
)
EVERY = np.iinfo(np.int32).max  # directions are tried at each node
LARGEST_WORDS = 4  # columns named in a question


def _are_directions(value):
    names = [value] if isinstance(value, str) else value
    try:
        return len(names) > 0 and all(name in DIRECTIONS for name in names)
    except TypeError:
        return False


OWN_PARAMS = {
    "directions": Is(_are_directions, f"one or several of {', '.join(map(repr, sorted(DIRECTIONS)))}"),
    "n_random": Int(ge=1),
    "alpha": Real(gt=0),
}


class ObliqueTree(Tree):
    """A tree whose nodes ask for columns or for directions.

    Attributes
    ----------
    weights : ndarray of shape (n_directions, n_features)
        Directions of length 1; node i with ``feature[i] == -3 - k`` asks ``<weights[k], x> <= threshold[i]``.
    """

    def __init__(self, tree: ObliqueNodes, n_features, n_classes, scale):
        super().__init__(tree.nodes, n_features, n_classes)
        self.weights, self.scale = tree.weights, scale

    @property
    def oblique(self) -> ObliqueNodes:
        """The arrays as a record."""
        return ObliqueNodes(self.nodes, self.weights)

    def __eq__(self, other):
        """Whether all arrays are equal."""
        return super().__eq__(other) and np.array_equal(self.weights, other.weights)

    __hash__ = None

    def apply(self, X):
        """Leaf of each row of a float32 array."""
        return oblique_leaves_of(self.oblique, _dense(self._check(X)))

    def decision_path(self, X):
        """Nodes that each row passes: a CSR matrix of ones, shape (n, node_count)."""
        indptr, indices = paths_to(self.nodes, self.apply(X))
        ones = np.ones(indices.shape[0], dtype=np.intp)
        return sp.csr_matrix((ones, indices, indptr), shape=(X.shape[0], self.node_count))

    def compute_feature_importances(self, normalize=True):
        """Impurity decrease brought by each column; directions share theirs out by ``|w_j|`` times deviation."""
        return oblique_importances(self.oblique, self.scale, normalize)

    def question(self, node, name_of_column, digits):
        """The split in words: those for whom it is true go left."""
        feature, threshold = int(self.feature[node]), float(self.threshold[node])
        if feature >= 0:
            return f"{name_of_column(feature)} <= {threshold:.{digits}f}"
        weights = self.weights[FIRST_DIRECTION - feature]
        used = np.argsort(-np.abs(weights * self.scale), kind="stable")[:LARGEST_WORDS]
        used = [int(j) for j in sorted(used) if weights[j] != 0.0]
        words = " + ".join(f"{weights[j]:.{digits}f} {name_of_column(j)}" for j in used).replace("+ -", "- ")
        rest = int(np.count_nonzero(weights)) - len(used)
        return f"{words}{f' + {rest} more' if rest else ''} <= {threshold:.{digits}f}"


def _dense(X):
    return X.toarray() if sp.issparse(X) else X


class _ObliqueMixin:
    """Growth with directions; what these trees do not have is switched off."""

    splitter, max_features, max_leaf_nodes, monotonic_cst = "best", None, None, None

    def fit(self, X, y, sample_weight=None, check_input=True):
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; a sparse matrix is made dense.
        y : array-like of shape (n_samples,) or, for numbers, (n_samples, n_outputs)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of zero leaves the row out.
        check_input : bool, default=True
            False: X is a finite float32 array and y an array already.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        names = (self.directions,) if isinstance(self.directions, str) else tuple(self.directions)
        proposal = Proposal(names, float(self.alpha), int(self.n_random), seed_from(self.random_state) >> 16)
        # 2 data
        if check_input:
            x_options = {"dtype": np.float32, "accept_sparse": ["csr", "csc"], "ensure_all_finite": False}
            X, y, _ = check_training(self, X, y, validate_separately=(x_options, {"ensure_2d": False, "dtype": None}))
            refuse_infinite(self, X)
        X, y = _dense(X), np.asarray(y)
        y = self._checked_outputs(X, y)
        prepared = self._prepare(y, check_weight(sample_weight, X))
        growth = self._growth(X, prepared)._replace(max_features=EVERY)
        # 3 maths
        grown = grow_oblique(X, prepared.targets, growth, proposal)
        if self.ccp_alpha > 0:
            grown = grown._replace(nodes=pruned(grown.nodes, self.ccp_alpha))
        # 4 attributes
        for name, value in prepared.attributes.items():
            setattr(self, name, value)
        self.n_features_in_, self.n_outputs_, self.max_features_ = X.shape[1], y.shape[1], X.shape[1]
        scale = X.std(axis=0, dtype=np.float64)
        self.tree_ = ObliqueTree(grown, X.shape[1], prepared.targets.n_classes, scale)
        return self

    def _checked_outputs(self, X, y):
        """Targets of shape (n, n_outputs)."""
        check_consistent_length(X, y)
        y = y.reshape(-1, 1) if y.ndim == 1 else y
        self._check_target(y)
        return y

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


class ObliqueTreeClassifier(_ObliqueMixin, DecisionTreeClassifier):
    """Classification tree with splits along any direction.

    Stopping rule: that of `DecisionTreeClassifier`, without a limit on the number of leaves.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification", "gain_ratio", "mantaras"}, default="gini"
        What to lower.
    directions : str or sequence of {"axis", "lda", "ridge", "random"}, default=("axis", "lda")
        What is proposed at each node: the columns, linear discriminants of each class against the others, ridge
        regressions of the class indicators, normal coefficients.  In the columns of the node, standardised.
    n_random : int, default=10
        Random directions per node.
    alpha : float, default=0.001
        What is added to the unit variances of the columns in "lda" and "ridge".
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, ccp_alpha
        Limits, as in `DecisionTreeClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random directions and of the choice between equally good splits.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    class_cost : dict, array-like or None, default=None
        Price of an error, as in `DecisionTreeClassifier`.

    Attributes
    ----------
    classes_, n_classes_, n_features_in_, n_outputs_, feature_names_in_
        As in `DecisionTreeClassifier`.
    tree_ : ObliqueTree
        The nodes as arrays, with the directions in `weights`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the impurity decrease; a direction shares its own out by the sizes of its coefficients.
    certificate_ : Certificate
        That no split raised the training impurity.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees, section 5.2.  Menze, Kelm, Splitthoff,
    Koethe, Hamprecht (2011), On oblique random forests.

    Examples
    --------
    >>> from hyperplan.tree import ObliqueTreeClassifier
    >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]
    >>> model = ObliqueTreeClassifier(directions="lda").fit(X, [0, 1, 1, 0, 0, 1])
    >>> model.get_n_leaves(), model.predict([[0.2, 0.2], [3.0, 1.0]]).tolist()
    (2, [0, 1])
    """

    _params = {
        **{name: DecisionTreeClassifier._params[name] for name in (*SHARED, "class_weight")},
        **OWN_PARAMS,
    }

    def __init__(
        self,
        *,
        criterion="gini",
        directions=("axis", "lda"),
        n_random=10,
        alpha=1e-3,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        random_state=None,
        min_impurity_decrease=0.0,
        class_weight=None,
        ccp_alpha=0.0,
        class_cost=None,
    ):
        self.criterion = criterion
        self.directions = directions
        self.n_random = n_random
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.class_cost = class_cost

    def _checked_outputs(self, X, y):
        return super()._checked_outputs(X, column_or_1d(y, warn=True))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags


class ObliqueTreeRegressor(_ObliqueMixin, DecisionTreeRegressor):
    """Regression tree with splits along any direction.

    Stopping rule: that of `DecisionTreeRegressor`, without a limit on the number of leaves.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        What to lower.
    directions : str or sequence of {"axis", "ridge", "random"}, default=("axis", "ridge")
        What is proposed at each node: the columns, the ridge regression of each output, normal coefficients.  In the
        columns of the node, standardised.  "lda" means "ridge" here.
    n_random : int, default=10
        Random directions per node.
    alpha : float, default=0.001
        What "ridge" adds to the unit variances of the columns.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, ccp_alpha
        Limits, as in `DecisionTreeRegressor`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random directions and of the choice between equally good splits.

    Attributes
    ----------
    n_features_in_, n_outputs_, feature_names_in_
        As in `DecisionTreeRegressor`.
    tree_ : ObliqueTree
        The nodes as arrays, with the directions in `weights`.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease; a direction shares its own out by the sizes of its coefficients.
    certificate_ : Certificate
        That no split raised the training impurity.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees, section 5.2.

    Examples
    --------
    >>> from hyperplan.tree import ObliqueTreeRegressor
    >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]
    >>> ObliqueTreeRegressor(directions="ridge", max_depth=1).fit(X, [0, 1, 1, 0, 0, 1]).predict([[3.0, 0.5]]).tolist()
    [1.0]
    """

    _params = {**{name: DecisionTreeRegressor._params[name] for name in SHARED}, **OWN_PARAMS}

    def __init__(
        self,
        *,
        criterion="squared_error",
        directions=("axis", "ridge"),
        n_random=10,
        alpha=1e-3,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        random_state=None,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
    ):
        self.criterion = criterion
        self.directions = directions
        self.n_random = n_random
        self.alpha = alpha
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
