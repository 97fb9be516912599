"""A tree in words: an indented report, and one if/then rule per leaf."""

import numbers

import numpy as np

from hyperplan._base import check_is_fitted, is_classifier
from hyperplan.tree._describe import LEAF


def export_text(
    decision_tree, *, feature_names=None, class_names=None, max_depth=10, spacing=3, decimals=2, show_weights=False
):
    """The tree as an indented list of questions.

    Parameters
    ----------
    decision_tree : fitted tree
        A classifier or regressor with a `tree_`.
    feature_names : sequence of str or None
        Names of the columns; None takes those seen in `fit`, else feature_0, feature_1...
    class_names : sequence of str or None
        Names of the classes in the order of `classes_`; None shows `classes_`.
    max_depth : int
        Branches below this depth are summed up in one line.
    spacing : int
        Width of one level of indentation.
    decimals : int
        Digits after the point.
    show_weights : bool
        Write the class weights on each leaf.

    Returns
    -------
    report : str

    Examples
    --------
    >>> from hyperplan.tree import DecisionTreeClassifier, export_text
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> print(export_text(model, feature_names=["size"]), end="")
    |--- size <= 1.50
    |   |--- class: a
    |--- size >  1.50
    |   |--- class: b
    """
    check_is_fitted(decision_tree)
    for name, value, least in (("max_depth", max_depth, 0), ("spacing", spacing, 1), ("decimals", decimals, 0)):
        if not isinstance(value, numbers.Integral) or value < least:
            raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    if hasattr(decision_tree, "to_text"):  # more than two branches
        options = {"max_depth": max_depth, "spacing": spacing, "decimals": decimals, "show_weights": show_weights}
        return decision_tree.to_text(feature_names=feature_names, class_names=class_names, **options)
    names = column_names(decision_tree, feature_names)
    classes = _class_names(decision_tree, class_names)
    tree = decision_tree.tree_
    lines = []
    pending = [("", 0, 0)]  # the answer that leads to a node, the node, its depth
    while pending:  # an explicit stack: a tree may be deeper than Python's recursion limit
        answer, node, depth = pending.pop()
        if answer:
            lines.append(f"{_indent(depth - 1, spacing)} {answer}")
        if tree.children_left[node] == LEAF:
            lines.append(
                f"{_indent(depth, spacing)} {_leaf_words(decision_tree, node, classes, decimals, show_weights)}"
            )
        elif depth > max_depth:
            lines.append(f"{_indent(depth, spacing)} truncated branch of depth {_depth_below(tree, node)}")
        else:
            yes, no = split_words(tree, node, names, decimals)
            pending.append((no, int(tree.children_right[node]), depth + 1))
            pending.append((yes, int(tree.children_left[node]), depth + 1))
    return "\n".join(lines) + "\n"


def rules(decision_tree, *, feature_names=None, class_names=None, decimals=3):
    """One rule per leaf: the interval of each column on the way down, merged, and what it predicts.

    Parameters
    ----------
    decision_tree : fitted tree
        A classifier or regressor with a `tree_`.
    feature_names, class_names : sequence of str or None
        As in `export_text`.
    decimals : int
        Digits after the point.

    Returns
    -------
    rules : list of str
        From the leaf with the most training rows to the one with the fewest.

    Examples
    --------
    >>> from hyperplan.tree import DecisionTreeClassifier, rules
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "a"])
    >>> for rule in rules(model, feature_names=["size"]):
    ...     print(rule)
    if 0.5 < size <= 2.5 then b (2 rows, share 1.000)
    if size <= 0.5 then a (1 row, share 1.000)
    if size > 2.5 then a (1 row, share 1.000)
    """
    check_is_fitted(decision_tree)
    names, classes = column_names(decision_tree, feature_names), _class_names(decision_tree, class_names)
    tree = decision_tree.tree_
    found, pending = [], [(0, {}, ())]
    while pending:
        node, bounds, others = pending.pop()
        if tree.children_left[node] == LEAF:
            conditions = [_interval(names[c], low, high, decimals) for c, (low, high) in bounds.items()] + list(others)
            found.append((-int(tree.n_node_samples[node]), len(found), node, conditions))
            continue
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if hasattr(tree, "question"):
            yes, no = split_words(tree, node, names, decimals)
            pending += [(right, bounds, (*others, no)), (left, bounds, (*others, yes))]
            continue
        column, threshold = int(tree.feature[node]), float(tree.threshold[node])
        low, high = bounds.get(column, (-np.inf, np.inf))
        below, above = {**bounds, column: (low, min(high, threshold))}, {**bounds, column: (max(low, threshold), high)}
        pending += [(right, above, others), (left, below, others)]
    return [_rule(decision_tree, node, conditions, classes, decimals) for *_, node, conditions in sorted(found)]


def column_names(estimator, given):
    """Names of the columns: given, seen in `fit`, or numbered."""
    n_features = estimator.tree_.n_features
    if given is not None:
        if len(given) != n_features:
            raise ValueError(f"feature_names must contain {n_features} elements, got {len(given)}")
        return [str(name) for name in given]
    seen = getattr(estimator, "feature_names_in_", None)
    return [f"feature_{j}" for j in range(n_features)] if seen is None else [str(name) for name in seen]


def split_words(tree, node, names, decimals):
    """Both answers at a split, the left one first."""
    if hasattr(tree, "question"):
        yes = tree.question(node, lambda column: names[column], decimals)
        return yes, f"not ({yes})"
    name, threshold = names[tree.feature[node]], float(tree.threshold[node])
    return f"{name} <= {threshold:.{decimals}f}", f"{name} >  {threshold:.{decimals}f}"


def _indent(depth, spacing):
    return ("|" + " " * spacing) * depth + "|" + "-" * spacing


def _class_names(estimator, given):
    if not is_classifier(estimator):
        return None
    if given is not None and estimator.tree_.n_outputs == 1 and len(given) != len(estimator.classes_):
        raise ValueError(
            "When `class_names` is an array, it should contain as many items as `decision_tree.classes_`. Got "
            f"{len(given)} while the tree was fitted with {len(estimator.classes_)} classes."
        )
    return estimator.classes_ if given is None else given


def _leaf_words(estimator, node, classes, decimals, show_weights):
    tree = estimator.tree_
    value = np.asarray(tree.value[node])
    if classes is None:
        return f"value: [{', '.join(f'{v:.{decimals}f}' for v in value[:, 0])}]"
    if tree.n_outputs > 1:
        return f"class: [{', '.join(str(classes[k][np.argmax(row)]) for k, row in enumerate(value))}]"
    weights = value[0] * tree.weighted_n_node_samples[node]
    shown = f"weights: [{', '.join(f'{w:.{decimals}f}' for w in weights)}] " if show_weights else ""
    return f"{shown}class: {classes[int(np.argmax(value[0]))]}"


def _depth_below(tree, node):
    """Levels from a node down to its deepest leaf, itself included."""
    deepest, pending = 1, [(node, 1)]
    while pending:
        at, depth = pending.pop()
        deepest = max(deepest, depth)
        if tree.children_left[at] != LEAF:
            pending += [(tree.children_left[at], depth + 1), (tree.children_right[at], depth + 1)]
    return deepest


def _interval(name, low, high, decimals):
    shown = [f"{float(np.round(bound, decimals)):g}" for bound in (low, high)]
    if low == -np.inf:
        return f"{name} <= {shown[1]}"
    return f"{name} > {shown[0]}" if high == np.inf else f"{shown[0]} < {name} <= {shown[1]}"


def _rule(estimator, node, conditions, classes, decimals):
    tree = estimator.tree_
    value, rows = np.asarray(tree.value[node]), int(tree.n_node_samples[node])
    count = f"{rows} row{'' if rows == 1 else 's'}"
    condition = "if " + " and ".join(conditions) if conditions else "always"
    if classes is None:
        outcome = ", ".join(f"{v:.{decimals}f}" for v in value[:, 0])
        return f"{condition} then {outcome} ({count})"
    if tree.n_outputs > 1:
        outcome = ", ".join(str(classes[k][np.argmax(row)]) for k, row in enumerate(value))
        return f"{condition} then {outcome} ({count})"
    winner = int(np.argmax(value[0]))
    share = value[0][winner] / value[0].sum()
    return f"{condition} then {classes[winner]} ({count}, share {share:.{decimals}f})"
