"""The trees of every fitted tree model in one form: what is added up, over which rows, from which constant."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_is_fitted
from hyperplan._core.arrays import kernel_view
from hyperplan._core.memory import require_memory
from hyperplan._trees._boosting_predict_kernels import bin_block
from hyperplan._trees.shap import ShapTrees, TreeArrays, join
from hyperplan.ensemble._forest_base import BaseForest
from hyperplan.ensemble._gradient_boosting_base import BaseGradientBoosting
from hyperplan.ensemble._hist_base import HistGradientBoosting
from hyperplan.ensemble._hist_input import apply_columns
from hyperplan.tree._decision_tree_base import BaseDecisionTree

MODELS = (
    "decision trees, random forests, extra trees, gradient boosting and histogram gradient boosting are explained "
    "by their trees"
)


class Reading(NamedTuple):
    """A model as a sum: `constant` (by output) plus the `trees`."""

    trees: ShapTrees
    constant: np.ndarray  # (n_outputs,)
    shape: tuple  # of one answer: () for a number
    n_jobs: int | None
    rows: Callable  # X -> Rows


class Rows(NamedTuple):
    """Checked rows: `read(slice)` gives them as the trees' nodes want them, C-ordered float32."""

    n: int
    read: Callable
    start: np.ndarray | None = None  # (n, n_outputs): what the model adds for each row beside its trees


def is_readable(model) -> bool:
    """Whether `read_model` knows the kind of model; oblique splits ask for many features at once."""
    return isinstance(model, tuple(READERS)) and not hasattr(getattr(model, "tree_", None), "weights")


def read_model(model) -> Reading:
    """The trees of a fitted model, by its kind."""
    if not is_readable(model):
        raise TypeError(f"{type(model).__name__} has no trees that can be read: {MODELS}")
    check_is_fitted(model)
    return next(reader for kind, reader in READERS.items() if isinstance(model, kind))(model)


def _exact(nodes, value, n_values=None, others=()) -> TreeArrays:
    """Nodes of a tree that splits values (float32) or sets of categories."""
    inner, n_nodes = nodes.children_left >= 0, nodes.feature.shape[0]
    by_set = n_values is not None and nodes.categories.shape[0] == n_nodes
    return TreeArrays(
        left=nodes.children_left,
        right=nodes.children_right,
        feature=np.where(inner, nodes.feature, 0),
        threshold=nodes.threshold,
        missing_left=nodes.missing_go_to_left,
        n_codes=np.where(inner, n_values[nodes.feature], 0) if by_set else np.zeros(n_nodes, dtype=np.int64),
        codes=nodes.categories if by_set else np.zeros((n_nodes, 0), dtype=np.uint64),
        cover=nodes.weighted_n_node_samples,
        value=value,
        others=others,
    )


def _float_rows(X, start=None) -> Rows:
    """Rows of a float32 array or CSR matrix."""
    sparse = sp.issparse(X)
    X = X.tocsr() if sparse else kernel_view(X)

    def read(part):
        return np.ascontiguousarray(X[part].toarray() if sparse else X[part], dtype=np.float32)

    return Rows(X.shape[0], read, start)


def _answer_shape(n_outputs, n_classes):
    """() for a number, (n_classes,) for shares, and the outputs before them if there are several."""
    most = () if n_classes is None else (int(np.max(n_classes)),)
    return most if n_outputs == 1 else (int(n_outputs), *most)


def _read_tree(model) -> Reading:
    tree = model.tree_
    nodes, surrogates = tree.nodes, getattr(tree, "surrogates", None)
    others = () if surrogates is None else tuple(surrogates[:3])
    trees = join([_exact(nodes, nodes.value, getattr(tree, "n_values", None), others)], [0])
    shape = _answer_shape(model.n_outputs_, getattr(model, "n_classes_", None))
    constant = np.zeros(nodes.value.shape[1])
    return Reading(trees, constant, shape, None, lambda X: _float_rows(model._checked_rows(X, True)))


def _read_forest(model) -> Reading:
    grown = list(model._nodes())
    trees = join([_exact(nodes, nodes.value / len(grown)) for nodes in grown], [0] * len(grown))
    shape = _answer_shape(model.n_outputs_, getattr(model, "n_classes_", None))
    constant = np.zeros(grown[0].value.shape[1])
    return Reading(trees, constant, shape, model.n_jobs, lambda X: _float_rows(model._rows(X)))


def _read_stages(model) -> Reading:
    width = model.n_trees_per_iteration_
    grown = [tree.tree_.nodes for tree in model.estimators_.ravel()]
    values = [model.learning_rate * nodes.value for nodes in grown]
    trees = join([_exact(*pair) for pair in zip(grown, values)], np.arange(len(grown)) % width)

    def rows(X):
        X = model._checked_rows(X)
        return _float_rows(X, model._first_raw(model.init_, X, model._loss, width))

    return Reading(trees, np.zeros(width), () if width == 1 else (width,), None, rows)


def _binned(tree, bin_map, sets, n_words) -> TreeArrays:
    """Nodes of a tree that splits bins, or, where several columns stand for one feature, its categories."""
    inner = tree.left >= 0
    column = np.where(inner, tree.feature, 0)
    words = tree.chosen.astype(np.uint64)
    codes = np.zeros((column.shape[0], n_words), dtype=np.uint64)
    codes[:, :4] = words[:, 0::2] | (words[:, 1::2] << np.uint64(32))
    feature, n_codes = column.copy(), np.where(inner & (bin_map.categorical[column] != 0), bin_map.missing_bin, 0)
    for node in np.flatnonzero(inner & np.isin(column, list(sets))):
        feature[node], numbers = sets[column[node]]
        n_codes[node] = numbers.shape[0] - 1
        chosen = np.zeros(64 * n_words, dtype=np.uint8)
        chosen[: numbers.shape[0]] = numbers <= bin_map.edges[column[node], tree.bin[node]]
        codes[node] = np.packbits(chosen, bitorder="little").view("<u8")
    return TreeArrays(
        left=tree.left,
        right=tree.right,
        feature=feature,
        threshold=tree.bin,
        missing_left=tree.missing_left,
        n_codes=n_codes,
        codes=codes,
        cover=tree.count,
        value=tree.value[:, None],
    )


def _category_sets(columns):
    """By encoded column, where several stand for one feature: the feature, and the number of each of its categories.

    A split of such a column is one of categories, those with numbers up to the threshold: features stay the players.
    """
    if columns.feature_of_columns() is None:
        return {}
    statistics, found = columns.statistics, {}
    for position, (feature, table) in enumerate(zip(statistics.features, statistics.tables)):
        for output in range(table.shape[1]):
            found[statistics.place(columns.is_categorical.shape[0], position, output)] = feature, table[:, output]
    return found


def _read_histogram(model) -> Reading:
    fitted = model._model
    bins, width, columns = fitted.bin_map, fitted.loss.n_outputs, fitted.columns
    sets = _category_sets(columns)
    n_words = max([4, *(numbers.shape[0] // 64 + 1 for _, numbers in sets.values())])
    require_memory(8 * n_words * _node_count(fitted.trees), "sets of categories", "explain fewer trees")
    grown = [_binned(tree, bins, sets, n_words) for trees in fitted.trees for tree in trees]
    by_code = sorted({int(feature) for feature, _ in sets.values()})
    columns = columns._replace(statistics=None) if sets else columns

    def rows(X):
        X = kernel_view(apply_columns(model, X, columns))
        d = X.shape[1]
        every = np.arange(d)
        numbers = bins.categorical[:d] == 0

        def read(part):
            found = np.zeros((d, part.stop - part.start), dtype=np.uint8)
            bin_block(X, every, bins.edges, bins.limits, bins.missing_bin, part.start, part.stop, found)
            values = found.T.astype(np.float32, order="C")
            values[(values == bins.missing_bin) & numbers] = np.nan
            values[:, by_code] = X[part][:, by_code]
            return values

        return Rows(X.shape[0], read)

    constant = np.array(fitted.baseline, dtype=np.float64).reshape(width)
    return Reading(join(grown, np.arange(len(grown)) % width), constant, () if width == 1 else (width,), None, rows)


def _node_count(rounds):
    return sum(tree.left.shape[0] for trees in rounds for tree in trees)


READERS = {
    BaseDecisionTree: _read_tree,
    BaseForest: _read_forest,
    BaseGradientBoosting: _read_stages,
    HistGradientBoosting: _read_histogram,
}
