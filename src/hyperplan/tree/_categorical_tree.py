"""A fitted tree whose nodes ask for sets of categories, and the checks of the tables it is fitted on."""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_design, check_training
from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees._categorical_kernels import categorical_leaves
from hyperplan._trees.oblique import paths_to
from hyperplan.tree._categorical import Table, categorical_mask, learn_table
from hyperplan.tree._decision_tree_record import Tree

ROWS_PER_TASK = 8192
MOST_NAMES = 6  # categories named in a question


class CategoricalTree(Tree):
    """A tree with questions like ``colour in {blue, red}``.

    Attributes
    ----------
    table : Table
        Sorted values of each categorical column.
    categories : ndarray of uint64, shape (node_count, n_words)
        Bit c of a node that asks for a categorical column: whether code c goes left.  The `threshold` of such a node is
        the number of categories that it sends left.
    """

    def __init__(self, nodes, n_features, n_classes, table: Table):
        super().__init__(nodes, n_features, n_classes)
        self.table, self.n_values = table, table.n_values

    def apply(self, X):
        """Leaf of each row of a float32 array of codes and numbers."""
        X = self._check(X)
        found, nodes = np.empty(X.shape[0], dtype=np.int64), self.nodes

        def task(part):
            categorical_leaves(X[part], nodes, self.n_values, found[part])

        thread_map(task, spans(X.shape[0], ROWS_PER_TASK))
        return found

    def decision_path(self, X):
        """Nodes that each row passes: a CSR matrix of ones, shape (n, node_count)."""
        indptr, indices = paths_to(self.nodes, self.apply(X))
        ones = np.ones(indices.shape[0], dtype=np.intp)
        return sp.csr_matrix((ones, indices, indptr), shape=(X.shape[0], self.node_count))

    def left_categories(self, node):
        """The known categories that go left at a node."""
        known = self.table.categories[int(self.feature[node])]
        bits = np.unpackbits(self.categories[node].view(np.uint8), bitorder="little")[: len(known)]
        return [item for item, bit in zip(known, bits) if bit]

    def question(self, node, name_of_column, digits):
        """The split in words: those for whom it is true go left."""
        column = int(self.feature[node])
        if self.n_values[column] == 0:
            return f"{name_of_column(column)} <= {float(self.threshold[node]):.{digits}f}"
        known, left = self.table.categories[column], self.left_categories(node)
        if 2 * len(left) > len(known):
            chosen = set(left)
            return f"{name_of_column(column)} not in {_listed([item for item in known if item not in chosen])}"
        return f"{name_of_column(column)} in {_listed(left)}"


def _listed(items):
    more = len(items) - MOST_NAMES
    return "{" + ", ".join(map(str, items[:MOST_NAMES])) + (f" and {more} more" if more > 0 else "") + "}"


def table_of(estimator, X, y):
    """``(float32 numbers, y, Table)`` of a training table with categorical columns; Table None without any."""
    mask = categorical_mask(X, estimator.categorical_features)
    if mask is None:
        return X, y, None
    if estimator.monotonic_cst is not None and np.any(np.asarray(estimator.monotonic_cst)[mask] != 0):
        raise ValueError("monotonic_cst must be 0 for categorical columns: their categories have no order")
    numbers, table = learn_table(estimator, X, mask)
    x_options = {"dtype": np.float32, "ensure_all_finite": "allow-nan", "accept_sparse": False}
    numbers, y, _ = check_training(
        estimator, numbers, y, validate_separately=(x_options, {"ensure_2d": False, "dtype": None})
    )
    check_design(estimator, X, reset=True, skip_check_array=True)  # the names of the columns
    return numbers, y, table
