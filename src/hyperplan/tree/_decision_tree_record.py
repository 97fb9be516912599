"""The fitted tree as users see it: one array per property of the nodes, and walks of rows through them."""

import numpy as np
import scipy.sparse as sp

from hyperplan._trees.nodes import Nodes, depths, importances, leaves_of, paths_of

ROWS_PER_BLOCK = 4096  # rows of a sparse matrix made dense at a time


class Tree:
    """A binary tree as arrays; node 0 is the root and children follow their parents.

    Attributes
    ----------
    node_count, capacity : int
        Number of nodes.
    n_leaves, max_depth : int
        Number of leaves, and the largest number of splits above one.
    n_features, n_outputs, max_n_classes : int
        Columns, outputs, and most classes of an output (1 for regression).
    n_classes : ndarray of shape (n_outputs,)
        Classes of each output.
    children_left, children_right : ndarray of shape (node_count,)
        Children, -1 for leaves.
    feature, threshold : ndarray of shape (node_count,)
        A row goes left where the float32 value of the feature is <= threshold; -2 for leaves.
    missing_go_to_left : ndarray of shape (node_count,)
        Where rows with a missing value go.
    impurity, n_node_samples, weighted_n_node_samples : ndarray of shape (node_count,)
        Impurity, rows and weight of the training rows in each node.
    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        Class shares, or means (medians).

    Examples
    --------
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 2.0]).tree_.threshold.tolist()
    [0.5, -2.0, -2.0]
    """

    def __init__(self, nodes: Nodes, n_features, n_classes):
        self.n_features = int(n_features)
        self.n_classes = np.asarray(n_classes, dtype=np.intp)
        self.n_outputs = self.n_classes.shape[0]
        self.max_n_classes = int(self.n_classes.max())
        self.node_count = self.capacity = nodes.feature.shape[0]
        self.value = nodes.value.reshape(self.node_count, self.n_outputs, self.max_n_classes)
        for name in Nodes._fields:
            if name != "value":
                setattr(self, name, getattr(nodes, name))
        self.max_depth = int(depths(nodes).max())

    @property
    def n_leaves(self):
        return int((self.children_left < 0).sum())

    @property
    def nodes(self) -> Nodes:
        """The arrays as the record that the tree functions take."""
        flat = self.value.reshape(self.node_count, -1)
        return Nodes(*(flat if name == "value" else getattr(self, name) for name in Nodes._fields))

    def __eq__(self, other):
        """Whether all arrays are equal."""
        return isinstance(other, Tree) and all(np.array_equal(a, b) for a, b in zip(self.nodes, other.nodes))

    __hash__ = None

    def apply(self, X):
        """Leaf of each row of a float32 array or CSR matrix."""
        return _by_rows(self._check(X), lambda part: leaves_of(self.nodes, part), np.intp)

    def predict(self, X):
        """Value of each row's leaf: shape (n, max_n_classes), or (n, n_outputs, max_n_classes)."""
        found = self.value.take(self.apply(X), axis=0)
        return found.reshape(found.shape[0], self.max_n_classes) if self.n_outputs == 1 else found

    def decision_path(self, X):
        """Nodes that each row passes: a CSR matrix of ones, shape (n, node_count)."""
        X = self._check(X)
        X = X.toarray() if sp.issparse(X) else X
        indptr, indices = paths_of(self.nodes, X)
        shape = (X.shape[0], self.node_count)
        return sp.csr_matrix((np.ones(indices.shape[0], dtype=np.intp), indices, indptr), shape=shape)

    def compute_feature_importances(self, normalize=True):
        """Impurity decrease brought by each feature."""
        return importances(self.nodes, self.n_features, normalize)

    def compute_node_depths(self):
        """Depth of each node, the root's being 1."""
        return depths(self.nodes) + 1

    def _check(self, X):
        if not isinstance(X, np.ndarray) and not sp.issparse(X):
            raise ValueError(f"X should be in np.ndarray format, got {type(X)}")
        if X.dtype != np.float32:
            raise ValueError(f"X.dtype should be np.float32, got {X.dtype}")
        return X


def _by_rows(X, walk, dtype):
    """`walk` on a dense array, or on blocks of rows of a sparse matrix made dense."""
    if not sp.issparse(X):
        return walk(X)
    X = X.tocsr()
    found = np.empty(X.shape[0], dtype=dtype)
    for start in range(0, X.shape[0], ROWS_PER_BLOCK):
        part = slice(start, start + ROWS_PER_BLOCK)
        found[part] = walk(X[part].toarray())
    return found
