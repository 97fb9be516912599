"""Whether trees of loaded objects are trees: kernels walk through them without looking at bounds.

A file made to harm could hold a tree whose children lie outside its arrays, or that never ends.
"""

import numpy as np

from hyperplan._base.plumbing import FROZEN
from hyperplan.persistence._checks_arrays import are, arrays_problem, outside

NODES, TREE = "hyperplan._trees.nodes.Nodes", "hyperplan.tree._decision_tree_record.Tree"
BINNED_TREE, BIN_MAP = "hyperplan._trees.boosting_grower.Tree", "hyperplan._trees.binning.BinMap"
MULTIWAY = "hyperplan._trees.multiway.MultiwayNodes"
BASE_TREE = "hyperplan.tree._decision_tree_base.BaseDecisionTree"
MAX_FROZEN = 100  # frozen estimators one inside the other
LEAST_DIRECTION = -3  # `feature` of an oblique split by direction 0; -4 by direction 1...


def _children_problem(left, right):
    """Every node but the root is the child of exactly one node before it."""
    inner = np.flatnonzero(left >= 0)
    children = np.concatenate([left[inner], right[inner]])
    if (children <= np.tile(inner, 2)).any() or not np.array_equal(np.sort(children), np.arange(1, left.shape[0])):
        return "the children of its nodes do not form a tree"
    return None


def _nodes(nodes):
    n = len(nodes.feature) if isinstance(nodes.feature, np.ndarray) else -1
    if n < 1:
        return "there is no node"
    ints = dict.fromkeys(("children_left", "children_right", "feature", "n_node_samples"), ("i", (n,)))
    reals = dict.fromkeys(("threshold", "impurity", "weighted_n_node_samples"), ("f", (n,)))
    others = {"missing_go_to_left": ("ub", (n,)), "categories": ("u", (None, None))}
    return arrays_problem(nodes, {**ints, **reals, **others}) or _children_problem(
        nodes.children_left, nodes.children_right
    )


def _record_nodes(nodes):
    return _nodes(nodes) or arrays_problem(nodes, {"value": ("f", (len(nodes.feature), None))})


def _tree(tree):
    problem = _nodes(tree)
    if problem is not None:
        return problem
    if type(tree.n_features) is not int or type(tree.node_count) is not int or tree.node_count != len(tree.feature):
        return "its sizes are not numbers"
    weights = getattr(tree, "weights", None)
    n_directions = len(weights) if isinstance(weights, np.ndarray) else 0
    asked = tree.feature[tree.children_left >= 0]
    is_direction = asked <= LEAST_DIRECTION
    if outside(asked[~is_direction], 0, tree.n_features) or outside(
        LEAST_DIRECTION - asked[is_direction], 0, n_directions
    ):
        return "a split asks for a column that there is not"
    return arrays_problem(tree, {"value": ("f", (tree.node_count, tree.n_outputs, tree.max_n_classes))})


def _oblique_tree(tree):
    return arrays_problem(tree, {"weights": ("f", (None, tree.n_features))})


def _categorical_tree(tree):
    layout = {"n_values": ("i", (tree.n_features,)), "categories": ("u", (tree.node_count, None))}
    problem = arrays_problem(tree, layout)
    if problem is None and 64 * tree.categories.shape[1] <= tree.n_values.max(initial=-1):
        return "its sets of categories are too small"
    return problem


def _surrogate_tree(tree):
    shape = (tree.node_count, None)
    layout = {"feature": ("i", shape), "threshold": ("f", shape), "reversed": ("ub", shape)}
    problem = arrays_problem(tree.surrogates, layout)
    if problem is not None:
        return problem
    if len({getattr(tree.surrogates, name).shape for name in layout}) > 1:
        return "its surrogates have different lengths"
    return (
        "a surrogate asks for a column that there is not"
        if outside(tree.surrogates.feature, -1, tree.n_features)
        else None
    )


def _tree_estimator(estimator):
    tree = vars(estimator).get("tree_")
    if tree is not None and not are([tree], TREE):
        return "its tree is none"
    if tree is not None and tree.n_features != estimator.n_features_in_:
        return "its tree was grown on another number of columns"
    return None


def _forest(forest):
    trees, d = vars(forest).get("_trees"), vars(forest).get("n_features_in_")
    if trees is None:
        return None
    if not isinstance(trees, list) or not trees or not _are_distinct(trees):
        return "it has no trees, or one twice"
    if not are(trees, NODES):
        return "a tree is none"
    if _share_numbers(trees):
        return "two trees have the same numbers"
    if any(outside(nodes.feature[nodes.children_left >= 0], 0, d) for nodes in trees):
        return "a split asks for a column that there is not"
    if len({nodes.value.shape[1] for nodes in trees}) > 1:
        return "its trees have different outputs"
    return _training_rows(forest)


def _training_rows(forest):
    """Forests that know quantiles keep their rows."""
    if vars(forest).get("_training") is None:
        return None
    (rows, y), draw = forest._training, forest._draw
    shape = (draw.n_rows, forest.n_features_in_)
    if np.shape(rows) != shape and getattr(rows, "shape", None) != shape:
        return "its rows have the wrong shape"
    if not isinstance(y, np.ndarray) or y.ndim != 2 or len(y) != draw.n_rows or not y.size:
        return "it does not have a target for each row"
    return None if draw.weight is None or np.shape(draw.weight) == shape[:1] else "rows have no weight"


def _are_distinct(things):
    """Whether no object stands there twice: a small file could otherwise hold a forest without end."""
    return len({id(thing) for thing in things}) == len(things)


def _share_numbers(trees):
    """Whether trees share arrays: what is packed for walks has them once per tree, and would have no end either."""
    return not all(_are_distinct([getattr(tree, name) for tree in trees]) for name in ("feature", "threshold", "value"))


def _gradient_boosting(boosting):
    members = vars(boosting).get("estimators_")
    if members is None:
        return None
    if not are([members], "numpy.ndarray") or not are(members.ravel(), BASE_TREE):
        return "its trees are none"
    if not _are_distinct(members.ravel()) or not _are_distinct([each.tree_ for each in members.ravel()]):
        return "a tree stands in it twice"
    if _share_numbers([each.tree_ for each in members.ravel()]):
        return "two trees have the same numbers"
    if any(each.n_features_in_ != boosting.n_features_in_ for each in members.ravel()):
        return "a tree was grown on another number of columns"
    if members.ndim != 2 or members.shape[1] != boosting.n_trees_per_iteration_:
        return "a round does not have a tree for each output"
    return None


def _ada_boost(boosting):
    learners = vars(boosting).get("estimators_", ())
    if not _are_distinct(learners):
        return "a learner stands in it twice"
    trees = [each.tree_ for each in learners if are([each], BASE_TREE)]
    if not _are_distinct(trees) or _share_numbers(trees):
        return "two learners have the same numbers"
    for member in vars(boosting).get("estimators_", ()):
        if getattr(member, "n_features_in_", None) != getattr(boosting, "n_features_in_", None):
            return "a learner was fitted on another number of columns"
    return None


def _binned_tree(tree):
    n = len(tree.left) if isinstance(tree.left, np.ndarray) else -1
    if n < 1:
        return "there is no node"
    layout = dict.fromkeys(("feature", "bin", "left", "right"), ("i", (n,)))
    layout |= {"missing_left": ("ub", (n,)), "chosen": ("u", (n, 8)), "value": ("f", (n,))}
    problem = arrays_problem(tree, layout) or _children_problem(tree.left, tree.right)
    return problem or ("a bin is out of range" if outside(tree.bin[tree.left >= 0], 0, 256) else None)


def _bin_map(bins):
    d = len(bins.n_bins) if isinstance(bins.n_bins, np.ndarray) else -1
    layout = {"n_bins": ("i", (d,)), "limits": ("f", (d,)), "categorical": ("u", (d,)), "edges": ("f", (d, 256))}
    problem = arrays_problem(bins, layout)
    if problem is None and (type(bins.missing_bin) is not int or not 0 <= bins.missing_bin < 256):
        return "the bin of missing values is out of range"
    return problem


def _binned_model(model):
    trees = list({id(tree): tree for stage in model.trees for tree in stage}.values())
    if not are(trees, BINNED_TREE) or not are([model.bin_map], BIN_MAP):
        return "a tree is none"
    if any(outside(tree.feature[tree.left >= 0], 0, len(model.bin_map.n_bins)) for tree in trees):
        return "a split asks for a column that there is not"
    if any(len(stage) != model.loss.n_outputs for stage in model.trees):
        return "a round does not have a tree for each output"
    return arrays_problem(model, {"baseline": ("f", (model.loss.n_outputs,))})


def _hist_boosting(boosting):
    model = vars(boosting).get("_model")
    if model is None:
        return None
    statistics = model.columns.statistics
    columns = boosting.n_features_in_ if statistics is None else len(statistics.source)
    return None if columns == len(model.bin_map.n_bins) else "it was fitted on another number of columns"


def _multiway(nodes):
    n = len(nodes.first_child) if isinstance(nodes.first_child, np.ndarray) else -1
    if n < 1:
        return "there is no node"
    layout = dict.fromkeys(("first_child", "n_children", "feature", "table_start", "n_rows"), ("i", (n,)))
    layout |= dict.fromkeys(("threshold", "share", "weight"), ("f", (n,)))
    layout |= {"value": ("f", (n, None)), "table": ("i", (None,)), "n_values": ("i", (None,))}
    problem = arrays_problem(nodes, layout)
    if problem is not None:
        return problem
    inner = np.flatnonzero(nodes.n_children > 0)
    first, last = nodes.first_child[inner], nodes.first_child[inner] + nodes.n_children[inner]
    order = np.argsort(first)
    chain = np.concatenate([[1], last[order]])  # each block of children starts where another ends
    if (first <= inner).any() or not np.array_equal(chain[:-1], first[order]) or chain[-1] != n:
        return "the children of its nodes do not form a tree"
    asked = nodes.feature[inner]
    if outside(asked, 0, len(nodes.n_values)):
        return "a split asks for a column that there is not"
    sizes = nodes.n_values[asked[nodes.table_start[inner] >= 0]]
    if outside(sizes, 0, len(nodes.table) + 1) or sizes.sum() > len(nodes.table):  # no entry serves two nodes
        return "a category leads out of the tree"
    for node, low, high, column in zip(inner, first, last, asked):
        start, size = nodes.table_start[node], nodes.n_values[column]
        codes = nodes.table[start : start + size] if start >= 0 else nodes.table[:0]
        if start >= 0 and (len(codes) != size or ((codes != -1) & ((codes < low) | (codes >= high))).any()):
            return "a category leads out of the tree"
        if start < 0 and high - low < 2:
            return "a threshold has fewer than two sides"
    return None


def _multiway_estimator(estimator):
    nodes = vars(estimator).get("tree_")
    if nodes is not None and not are([nodes], MULTIWAY):
        return "its tree is none"
    if nodes is not None and len(nodes.n_values) != estimator.n_features_in_:
        return "its tree was grown on another number of columns"
    return None


def _frozen(frozen):
    inner = frozen
    for _ in range(MAX_FROZEN):
        inner = vars(inner)["estimator"]
        if not are([inner], FROZEN):
            return None
    return "there is no estimator that is frozen"


def _scaler(scaler):
    for name in ("mean_", "scale_", "var_"):
        values = vars(scaler).get(name)
        if values is not None and np.shape(values) != (scaler.n_features_in_,):
            return f"{name} does not have one number per column"
    return None


TREE_CHECKS = {
    NODES: _record_nodes,
    TREE: _tree,
    BINNED_TREE: _binned_tree,
    BIN_MAP: _bin_map,
    MULTIWAY: _multiway,
    "hyperplan.tree._oblique.ObliqueTree": _oblique_tree,
    "hyperplan.tree._categorical_tree.CategoricalTree": _categorical_tree,
    "hyperplan.tree._surrogates.SurrogateTree": _surrogate_tree,
    BASE_TREE: _tree_estimator,
    "hyperplan.tree._multiway.MultiwayTreeClassifier": _multiway_estimator,
    "hyperplan.ensemble._forest_base.BaseForest": _forest,
    "hyperplan.ensemble._gradient_boosting_base.BaseGradientBoosting": _gradient_boosting,
    "hyperplan.ensemble._ada_boost_base.BaseAdaBoost": _ada_boost,
    "hyperplan.ensemble._hist_base.Model": _binned_model,
    "hyperplan.ensemble._hist_base.HistGradientBoosting": _hist_boosting,
    "hyperplan.preprocessing._standard_scaler.StandardScaler": _scaler,
    FROZEN: _frozen,
}
