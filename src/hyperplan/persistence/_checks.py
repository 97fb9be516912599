"""Whether numbers that compiled code trusts fit together.

Kernels walk through trees without looking at bounds.  A file made to harm could hold a tree whose children lie outside
its arrays, or that never ends: such objects are refused when they are loaded.
"""

import functools

import numpy as np

from hyperplan._base.plumbing import FROZEN

NODES, TREE = "hyperplan._trees.nodes.Nodes", "hyperplan.tree._decision_tree_record.Tree"
BINNED_TREE, BIN_MAP = "hyperplan._trees.boosting_grower.Tree", "hyperplan._trees.binning.BinMap"
MULTIWAY = "hyperplan._trees.multiway.MultiwayNodes"
BASE_TREE = "hyperplan.tree._decision_tree_base.BaseDecisionTree"
MAX_FROZEN = 100  # frozen estimators one inside the other
LEAST_DIRECTION = -3  # `feature` of an oblique split by direction 0; -4 by direction 1...


def problem_of(thing) -> str | None:
    """What is wrong with an object, in words; None if nothing is."""
    return next((problem for check in _checks_of(type(thing)) if (problem := check(thing)) is not None), None)


@functools.cache
def _checks_of(kind):
    """The checks of a class and of its bases, those of the bases first."""
    names = [_full_name(cls) for cls in reversed(kind.__mro__)]
    return [CHECKS[name] for name in names if name in CHECKS]


def _full_name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


def _are(things, *names):
    """Whether all things are of (a class below) one of these classes: records and trees are checked as such."""
    return all(any(_full_name(cls) in names for cls in kind.__mro__) for kind in {type(thing) for thing in things})


def _arrays_problem(owner, layout):
    """``layout``: name to (kinds of dtype, shape), where a size of None is any."""
    for name, (kinds, shape) in layout.items():
        array = getattr(owner, name, None)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds or array.ndim != len(shape):
            return f"{name} is not the array it should be"
        if any(wanted is not None and size != wanted for size, wanted in zip(array.shape, shape)):
            return f"{name} has the wrong shape {array.shape}"
    return None


def _children_problem(left, right):
    """Every node but the root is the child of exactly one node before it."""
    inner = np.flatnonzero(left >= 0)
    children = np.concatenate([left[inner], right[inner]])
    if (children <= np.tile(inner, 2)).any() or not np.array_equal(np.sort(children), np.arange(1, left.shape[0])):
        return "the children of its nodes do not form a tree"
    return None


def _outside(index, least, n):
    return index.size > 0 and (index.min() < least or index.max() >= n)


def _nodes(nodes):
    n = len(nodes.feature) if isinstance(nodes.feature, np.ndarray) else -1
    if n < 1:
        return "there is no node"
    ints = dict.fromkeys(("children_left", "children_right", "feature", "n_node_samples"), ("i", (n,)))
    reals = dict.fromkeys(("threshold", "impurity", "weighted_n_node_samples"), ("f", (n,)))
    others = {"missing_go_to_left": ("ub", (n,)), "categories": ("u", (None, None))}
    return _arrays_problem(nodes, {**ints, **reals, **others}) or _children_problem(
        nodes.children_left, nodes.children_right
    )


def _record_nodes(nodes):
    return _nodes(nodes) or _arrays_problem(nodes, {"value": ("f", (len(nodes.feature), None))})


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
    if _outside(asked[~is_direction], 0, tree.n_features) or _outside(
        LEAST_DIRECTION - asked[is_direction], 0, n_directions
    ):
        return "a split asks for a column that there is not"
    return _arrays_problem(tree, {"value": ("f", (tree.node_count, tree.n_outputs, tree.max_n_classes))})


def _oblique_tree(tree):
    return _arrays_problem(tree, {"weights": ("f", (None, tree.n_features))})


def _categorical_tree(tree):
    layout = {"n_values": ("i", (tree.n_features,)), "categories": ("u", (tree.node_count, None))}
    problem = _arrays_problem(tree, layout)
    if problem is None and 64 * tree.categories.shape[1] <= tree.n_values.max(initial=-1):
        return "its sets of categories are too small"
    return problem


def _surrogate_tree(tree):
    shape = (tree.node_count, None)
    layout = {"feature": ("i", shape), "threshold": ("f", shape), "reversed": ("ub", shape)}
    problem = _arrays_problem(tree.surrogates, layout)
    if problem is not None:
        return problem
    if len({getattr(tree.surrogates, name).shape for name in layout}) > 1:
        return "its surrogates have different lengths"
    return (
        "a surrogate asks for a column that there is not"
        if _outside(tree.surrogates.feature, -1, tree.n_features)
        else None
    )


def _tree_estimator(estimator):
    tree = vars(estimator).get("tree_")
    if tree is not None and not _are([tree], TREE):
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
    if not _are(trees, NODES):
        return "a tree is none"
    if any(_outside(nodes.feature[nodes.children_left >= 0], 0, d) for nodes in trees):
        return "a split asks for a column that there is not"
    return "its trees have different outputs" if len({nodes.value.shape[1] for nodes in trees}) > 1 else None


def _are_distinct(things):
    """Whether no object stands there twice: a small file could otherwise hold a forest without end."""
    return len({id(thing) for thing in things}) == len(things)


def _gradient_boosting(boosting):
    members = vars(boosting).get("estimators_")
    if members is None:
        return None
    if not _are([members], "numpy.ndarray") or not _are(members.ravel(), BASE_TREE):
        return "its trees are none"
    if not _are_distinct(members.ravel()) or not _are_distinct([each.tree_ for each in members.ravel()]):
        return "a tree stands in it twice"
    if any(each.n_features_in_ != boosting.n_features_in_ for each in members.ravel()):
        return "a tree was grown on another number of columns"
    return None


def _ada_boost(boosting):
    if not _are_distinct(vars(boosting).get("estimators_", ())):
        return "a learner stands in it twice"
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
    problem = _arrays_problem(tree, layout) or _children_problem(tree.left, tree.right)
    return problem or ("a bin is out of range" if _outside(tree.bin[tree.left >= 0], 0, 256) else None)


def _bin_map(bins):
    d = len(bins.n_bins) if isinstance(bins.n_bins, np.ndarray) else -1
    layout = {"n_bins": ("i", (d,)), "limits": ("f", (d,)), "categorical": ("u", (d,)), "edges": ("f", (d, 256))}
    problem = _arrays_problem(bins, layout)
    if problem is None and (type(bins.missing_bin) is not int or not 0 <= bins.missing_bin < 256):
        return "the bin of missing values is out of range"
    return problem


def _binned_model(model):
    trees = list({id(tree): tree for stage in model.trees for tree in stage}.values())
    if not _are(trees, BINNED_TREE) or not _are([model.bin_map], BIN_MAP):
        return "a tree is none"
    if any(_outside(tree.feature[tree.left >= 0], 0, len(model.bin_map.n_bins)) for tree in trees):
        return "a split asks for a column that there is not"
    if any(len(stage) != model.loss.n_outputs for stage in model.trees):
        return "a round does not have a tree for each output"
    return _arrays_problem(model, {"baseline": ("f", (model.loss.n_outputs,))})


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
    problem = _arrays_problem(nodes, layout)
    if problem is not None:
        return problem
    inner = np.flatnonzero(nodes.n_children > 0)
    first, last = nodes.first_child[inner], nodes.first_child[inner] + nodes.n_children[inner]
    order = np.argsort(first)
    chain = np.concatenate([[1], last[order]])  # each block of children starts where another ends
    if (first <= inner).any() or not np.array_equal(chain[:-1], first[order]) or chain[-1] != n:
        return "the children of its nodes do not form a tree"
    asked = nodes.feature[inner]
    if _outside(asked, 0, len(nodes.n_values)):
        return "a split asks for a column that there is not"
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
    if nodes is not None and not _are([nodes], MULTIWAY):
        return "its tree is none"
    if nodes is not None and len(nodes.n_values) != estimator.n_features_in_:
        return "its tree was grown on another number of columns"
    return None


def _frozen(frozen):
    inner = frozen
    for _ in range(MAX_FROZEN):
        inner = vars(inner)["estimator"]
        if not _are([inner], FROZEN):
            return None
    return "there is no estimator that is frozen"


def _scaler(scaler):
    for name in ("mean_", "scale_", "var_"):
        values = vars(scaler).get(name)
        if values is not None and np.shape(values) != (scaler.n_features_in_,):
            return f"{name} does not have one number per column"
    return None


CHECKS = {
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
