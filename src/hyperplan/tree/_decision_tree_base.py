"""What the four trees share: parameters, checks of the data, growth, pruning, and walks of new rows.

Growth is greedy: at each node the split ``x_j <= s`` with the largest decrease ``(n_t / n) [phi(t) - (n_l / n_t)
phi(t_l) - (n_r / n_t) phi(t_r)]`` of the impurity phi, all n being (weighted) numbers of observations; it ends at pure
nodes and where a limit is reached.  An optimal tree is out of reach (NP-complete).
"""

import math
from numbers import Integral
from numbers import Real as RealNumber
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    UNUSED,
    ArrayLike,
    BaseEstimator,
    Bunch,
    Certificate,
    Choice,
    Int,
    Is,
    MultiOutputMixin,
    Null,
    OneOf,
    Real,
    Seed,
    check_design,
    check_finite,
    check_is_fitted,
    check_params,
    check_training,
    check_weight,
    clone,
    seed_from,
)
from hyperplan._trees.exact import Growth, grow, presort
from hyperplan._trees.exact_span import MAX_INT
from hyperplan._trees.nodes import impurity_decreases
from hyperplan._trees.pruning import pruned, pruning_path
from hyperplan.tree._categorical import CATEGORICAL_FEATURES, Table, read_table
from hyperplan.tree._categorical_tree import CategoricalTree, table_of
from hyperplan.tree._decision_tree_record import Tree
from hyperplan.tree._surrogates import SurrogateTree, find_surrogates


def fraction(*, closed):
    """Rule for a float (not an int) in (0, 1), or (0, 1] if `closed`."""
    end = "]" if closed else ")"

    def accepts(value):
        is_float = isinstance(value, RealNumber) and not isinstance(value, Integral)
        return is_float and value > 0.0 and (value <= 1.0 if closed else value < 1.0)

    return Is(accepts, f"a float in the range (0.0, 1.0{end}")


COMMON_PARAMS = {
    "splitter": Choice("best", "random"),
    "max_depth": OneOf(Int(ge=1), Null),
    "min_samples_split": OneOf(Int(ge=2), fraction(closed=True)),
    "min_samples_leaf": OneOf(Int(ge=1), fraction(closed=False)),
    "min_weight_fraction_leaf": Real(ge=0, le=0.5),
    "max_features": OneOf(Int(ge=1), fraction(closed=True), Choice("sqrt", "log2", None)),
    "random_state": Seed,
    "max_leaf_nodes": OneOf(Int(ge=2), Null),
    "min_impurity_decrease": Real(ge=0),
    "ccp_alpha": Real(ge=0),
    "monotonic_cst": OneOf(ArrayLike, Null),
    "categorical_features": CATEGORICAL_FEATURES,
    "surrogates": Int(ge=0),
}
FEATURE_COUNTS = {"sqrt": math.sqrt, "log2": math.log2}


class Prepared(NamedTuple):
    """Targets for the tree core, and the attributes that describe them."""

    targets: object
    attributes: dict


def checked_table(estimator, X, y):
    """X as float32 (NaN allowed where the estimator allows it), y as an array, infinities refused."""
    x_options = {"dtype": np.float32, "accept_sparse": "csc", "ensure_all_finite": False}
    y_options = {"ensure_2d": False, "dtype": None}
    with np.errstate(over="ignore"):  # what is too large for float32 is refused as infinite
        X, y, _ = check_training(estimator, X, y, validate_separately=(x_options, y_options))
    refuse_infinite(estimator, X)
    return X, y


def refuse_infinite(estimator, X):
    """scikit-learn's error for infinities, and for NaN unless the estimator allows them in dense tables."""
    if sp.issparse(X):
        return check_finite(estimator, X)
    with np.errstate(over="ignore", invalid="ignore"):
        plain = np.isfinite(np.sum(X))
    if not plain:
        check_finite(estimator, X, "allow-nan" if estimator.__sklearn_tags__().input_tags.allow_nan else True)
    return None


def feature_count(max_features, n_features) -> int:
    """Features to try at each node."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        return max(1, int(FEATURE_COUNTS[max_features](n_features)))
    return int(max_features) if isinstance(max_features, Integral) else max(1, int(max_features * n_features))


def row_count(number, n_rows) -> int:
    """A number of rows, given as such or as a share."""
    return int(number) if isinstance(number, Integral) else math.ceil(number * n_rows)


class BaseDecisionTree(MultiOutputMixin, BaseEstimator):
    """Growth, pruning and walks; the subclasses say what the targets are."""

    __metadata_request__fit = {"check_input": UNUSED}
    __metadata_request__predict = {"check_input": UNUSED}
    categorical_features, surrogates = None, 0

    def _fit(self, X, y, sample_weight, check_input):
        # 1 parameters
        check_params(self)
        seed = seed_from(self.random_state)
        # 2 data
        X, y, table = table_of(self, X, y)
        X, y = checked_table(self, X, y) if check_input and table is None else (X, np.asarray(y))
        y = y.reshape(-1, 1) if y.ndim == 1 else np.atleast_2d(y)
        self._check_target(y)
        if y.shape[0] != X.shape[0]:
            raise ValueError(f"Number of labels={y.shape[0]} does not match number of samples={X.shape[0]}")
        prepared = self._prepare(y, check_weight(sample_weight, X, allow_negative=True))
        growth = self._growth(X, prepared)._replace(n_values=None if table is None else table.n_values)
        # 3 maths
        nodes = grow(presort(as_columns(X)), prepared.targets, growth, seed=seed, own=True)
        if self.ccp_alpha > 0:
            nodes = pruned(nodes, self.ccp_alpha)
        # 4 attributes
        for name, value in prepared.attributes.items():
            setattr(self, name, value)
        self.n_features_in_ = X.shape[1]
        self.n_outputs_ = y.shape[1]
        self.max_features_ = growth.max_features
        self.categories_ = None if table is None else table.categories
        self.tree_ = self._record(nodes, X, prepared.targets, table)
        return self

    def _record(self, nodes, X, targets, table):
        """The nodes as users see them, with what replaces missing values."""
        if table is not None:
            if self.surrogates:
                raise ValueError("surrogates are for columns of numbers: leave categorical_features or surrogates out")
            return CategoricalTree(nodes, X.shape[1], targets.n_classes, table)
        tree = Tree(nodes, X.shape[1], targets.n_classes)
        if not self.surrogates or sp.issparse(X):  # a sparse matrix has no missing values
            return tree
        weight = targets.weight if targets.weight.shape[0] else None
        return SurrogateTree(tree, find_surrogates(nodes, X, weight, self.surrogates))

    def _growth(self, X, prepared) -> Growth:
        n, d = X.shape
        weight = prepared.targets.weight
        leaf = row_count(self.min_samples_leaf, n)
        return Growth(
            max_depth=MAX_INT if self.max_depth is None else self.max_depth,
            min_samples_split=max(2, row_count(self.min_samples_split, n), 2 * leaf),
            min_samples_leaf=leaf,
            min_weight_leaf=self.min_weight_fraction_leaf * (weight.sum() if weight.shape[0] else n),
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=feature_count(self.max_features, d),
            max_leaf_nodes=self.max_leaf_nodes or 0,
            random=self.splitter == "random",
            monotone=self._monotone(d, prepared.targets),
        )

    def _monotone(self, n_features, targets):
        """Checked monotone constraints, or None."""
        if self.monotonic_cst is None:
            return None
        if targets.n_classes.shape[0] > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        signs = np.asarray(self.monotonic_cst)
        if signs.shape[0] != n_features:
            raise ValueError(
                f"monotonic_cst has shape {signs.shape[0]} but the input data X has {n_features} features."
            )
        if not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {np.unique(signs)}")
        if targets.n_classes[0] > 2:
            raise ValueError("Monotonicity constraints are not supported with multiclass classification")
        return signs.astype(np.int8)

    def _checked_rows(self, X, check_input):
        check_is_fitted(self)
        if getattr(self, "categories_", None) is not None:
            return read_table(self, X, Table(self.categories_)).astype(np.float32)
        if not check_input:
            if X.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return X
        allow_nan = not sp.issparse(X) and self.__sklearn_tags__().input_tags.allow_nan
        finite = "allow-nan" if allow_nan else True
        with np.errstate(over="ignore"):
            return check_design(self, X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=finite)

    def apply(self, X, check_input=True):
        """Leaf of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            False: X is a float32 array or CSR matrix already.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Numbers of nodes.
        """
        X = self._checked_rows(X, check_input)
        return self.tree_.apply(X)

    def decision_path(self, X, check_input=True):
        """Nodes that each row passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        check_input : bool, default=True
            False: X is a float32 array or CSR matrix already.

        Returns
        -------
        path : sparse matrix of shape (n_samples, n_nodes)
            One where the row passes the node.
        """
        X = self._checked_rows(X, check_input)
        return self.tree_.decision_path(X)

    def get_depth(self):
        """Largest number of splits above a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self):
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def cost_complexity_pruning_path(self, X, y, sample_weight=None):
        """Prices of a leaf at which the pruned tree changes.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        path : Bunch
            `ccp_alphas` (from 0 up) and `impurities` (of the leaves of the subtree from there on).
        """
        model = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        return Bunch(**pruning_path(model.tree_.nodes)._asdict())

    @property
    def feature_importances_(self):
        """Impurity decrease that each feature brought, as shares of the total."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    @property
    def certificate_(self):
        """No split raised the weighted training impurity; what the root had is split into leaves and decreases."""
        check_is_fitted(self)
        nodes = self.tree_.nodes
        share = nodes.weighted_n_node_samples / nodes.weighted_n_node_samples[0]
        gains, leaves = impurity_decreases(nodes), nodes.children_left < 0
        root, left = float(nodes.impurity[0]), float((share * nodes.impurity)[leaves].sum())
        return Certificate(
            kind="impurity decomposition",
            guarantee=f"training impurity fell from {root:.4g} to {left:.4g} in {int((~leaves).sum())} splits, none of "
            "which raised it",
            value=max(0.0, -float(gains.min())) / root if root > 0 else 0.0,
            bound=1e-9,
            assumption="a concave impurity and positive weights; the tree is greedy, not the best of its size",
            reference="Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees, chapter 4",
            details={"root": root, "leaves": left, "decreases": float(gains.sum()), **self._training_error(leaves)},
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def as_columns(X):
    """Float32 array or CSC matrix."""
    if sp.issparse(X):
        return X.tocsc()
    return np.asarray(X, dtype=np.float32)
