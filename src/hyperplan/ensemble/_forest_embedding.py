"""Rows as the leaves they fall into, in trees grown at random.

Each of m trees is grown on targets drawn uniformly: its splits know nothing of y, only where the rows are.  A row
becomes m ones among zeros, one per tree at its leaf: rows that fall into the same leaves are near each other, and a
linear model on top is a piecewise constant one.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Bool, TransformerMixin, check_is_fitted, check_random_state
from hyperplan._trees import forest_walk
from hyperplan.ensemble._forest_base import FOREST_PARAMS, BaseForest
from hyperplan.tree import ExtraTreeRegressor

OWN_PARAMS = (
    "n_estimators",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "n_jobs",
    "random_state",
    "verbose",
    "warm_start",
)


class RandomTreesEmbedding(TransformerMixin, BaseForest):
    """Rows as indicators of their leaves in random trees (unsupervised).

    Stopping rule: `n_estimators` trees; within a tree, the limits below.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees: ones in each transformed row.
    max_depth : int or None, default=5
        Most splits above a leaf, so at most ``2**max_depth`` columns per tree; None: one row per leaf.
    min_samples_split : int or float, default=2
        Fewest rows (or share of all rows) of a node that may be split.
    min_samples_leaf : int or float, default=1
        Fewest rows (or share) of a leaf.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the total weight in a leaf.
    max_leaf_nodes : int or None, default=None
        Grow best first up to so many leaves.
    min_impurity_decrease : float, default=0.0
        Least decrease of the variance of the random targets, weighted by the share of rows in the node.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse matrix.
    n_jobs : int or None, default=None
        Threads; None or -1: all cores.  The trees do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the targets, features and thresholds.  Tree t is the same for any number of trees and threads.
    verbose : int, default=0
        Above 1: a line for each tree.
    warm_start : bool, default=False
        Keep the trees of the previous fit and add to them.

    Attributes
    ----------
    estimators_ : list of ExtraTreeRegressor
        The trees (made when first asked for).
    estimator_ : ExtraTreeRegressor
        Template of the trees.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    n_outputs_ : int
        Always 1.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the decrease of the variance of the random targets that each feature brought.
    estimators_samples_ : list of ndarrays
        Rows of each tree: all.
    certificate_ : Certificate
        Variance of the average of the trees' predictions, as for other forests.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees, Machine Learning 63.  Moosmann, Triggs, Jurie (2006),
    Fast discriminative visual codebooks using randomized clustering forests, NIPS.

    Examples
    --------
    >>> from hyperplan.ensemble import RandomTreesEmbedding
    >>> X = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    >>> found = RandomTreesEmbedding(5, max_depth=1, random_state=0).fit_transform(X)
    >>> found.toarray().sum(axis=1).tolist()
    [5.0, 5.0, 5.0, 5.0, 5.0]
    """

    _tree_class = ExtraTreeRegressor
    _random = True
    _params = {**{name: FOREST_PARAMS[name] for name in OWN_PARAMS}, "sparse_output": Bool}
    criterion, max_features, bootstrap, oob_score = "squared_error", 1, False, False
    ccp_alpha, max_samples, monotonic_cst = 0.0, None, None

    def __init__(
        self,
        n_estimators=100,
        *,
        max_depth=5,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        sparse_output=True,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
    ):
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(self, X, y=None, sample_weight=None):
        """Grow the trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : ignored
            There for pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of zero leaves the row out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit_forest(X, None, sample_weight)

    def _checked(self, X, y, sample_weight):
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        targets = check_random_state(self.random_state).uniform(size=shape[0] if shape else 0)
        return super()._checked(X, targets, sample_weight)

    def _encoded(self, y, weight):
        return np.ascontiguousarray(y, dtype=np.float64), {}, weight

    def transform(self, X):
        """Indicators of the leaves of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : sparse matrix or ndarray of shape (n_samples, n_leaves)
            One where the row is in the leaf; the leaves of the trees stand side by side.
        """
        numbers = forest_walk.leaf_numbers(self._walk_of(), self._rows(X), self.n_jobs)
        n, n_trees = numbers.shape
        starts = np.arange(0, n * n_trees + 1, n_trees)
        found = sp.csr_matrix(
            (np.ones(n * n_trees), numbers.ravel(), starts), shape=(n, int(self._walk.first_leaf[-1]))
        )
        return found if self.sparse_output else found.toarray()

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`: tree and number of the leaf in it.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used; checked to have as many entries as there are features.

        Returns
        -------
        names : ndarray of str objects
            ``randomtreesembedding_<tree>_<leaf>``.
        """
        check_is_fitted(self)
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(input_features)}"
            )
        leaves = [np.flatnonzero(nodes.children_left < 0) for nodes in self._nodes()]
        names = [f"randomtreesembedding_{tree}_{leaf}" for tree, found in enumerate(leaves) for leaf in found]
        return np.asarray(names, dtype=object)
