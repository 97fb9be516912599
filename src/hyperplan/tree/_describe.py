"""What is written on a node: names of columns and classes, the question it asks, its numbers, its colour."""

import colorsys
from typing import NamedTuple

import numpy as np

from hyperplan._base import BaseEstimator, check_is_fitted, is_classifier

LEAF = -1  # a node without children has this as its left child


class Style(NamedTuple):
    """How a node's lines are put into words; `symbols` depends on the medium (screen, DOT, HTML labels in DOT)."""

    label: str  # "all", "root" or "none": where the words before the numbers stand
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    symbols: dict


PLAIN = {"number": "#", "open": "[", "close": "]", "below": "<=", "newline": "\n"}
DOT = {**PLAIN, "newline": "\\n"}
HTML = {"number": "&#35;", "open": "<SUB>", "close": "</SUB>", "below": "&le;", "newline": "<br/>"}


class Described(NamedTuple):
    """A fitted tree with the names its nodes are described by."""

    tree: object
    criterion: str
    classifier: bool
    n_classes: int  # of the first output; 1 for regression
    features: list | None
    classes: object  # names, True for y[0], y[1]..., or None for no class line


def described(estimator, feature_names, class_names) -> Described:
    """Check the estimator and the names."""
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(f"{estimator!r} is not an estimator instance: pass the fitted tree itself, not its `tree_`.")
    check_is_fitted(estimator)
    tree = estimator.tree_
    features = None if feature_names is None else list(feature_names)
    if features is not None and not all(isinstance(name, str) for name in features):
        raise ValueError("All feature names must be strings.")
    if features is not None and len(features) != tree.n_features:
        raise ValueError(
            f"Length of feature_names, {len(features)} does not match number of features, {tree.n_features}"
        )
    classes = class_names if class_names is None or class_names is True else list(class_names)
    criterion = estimator.criterion if isinstance(estimator.criterion, str) else "impurity"
    n_classes = int(np.atleast_1d(tree.n_classes)[0])
    return Described(tree, criterion, is_classifier(estimator), n_classes, features, classes)


def feature_name(model: Described, column, symbols) -> str:
    """The given name of a column, or x[3]."""
    if model.features is not None:
        return model.features[column]
    return f"x{symbols['open']}{column}{symbols['close']}"


def question(model: Described, node, style: Style) -> str:
    """What decides between the children: those for whom it is true go left."""
    tree = model.tree
    if own := getattr(tree, "question", None):  # trees with more than thresholds word their splits themselves
        return own(node, lambda column: feature_name(model, column, style.symbols), style.precision)
    name = feature_name(model, tree.feature[node], style.symbols)
    return f"{name} {style.symbols['below']} {round(float(tree.threshold[node]), style.precision)}"


def node_lines(model: Described, node, style: Style) -> list[str]:
    """The lines of a node's box, top to bottom."""
    tree = model.tree
    worded = style.label == "all" or (style.label == "root" and node == 0)
    lines = []

    def add(words, value):
        lines.append(f"{words} = {value}" if worded else str(value))

    if style.node_ids:
        lines.append(f"{'node ' if worded else ''}{style.symbols['number']}{node}")
    if tree.children_left[node] != LEAF:
        lines.append(question(model, node, style))
    if style.impurity:
        add(model.criterion, round(float(tree.impurity[node]), style.precision))
    samples = int(tree.n_node_samples[node])
    share = 100.0 * samples / float(tree.n_node_samples[0])
    add("samples", f"{round(share, 1)}%" if style.proportion else samples)
    add("value", value_text(model, node, style))
    if model.classes is not None and model.n_classes > 1 and tree.n_outputs == 1:
        add("class", class_name(model, node, style.symbols))
    return lines


def class_name(model: Described, node, symbols) -> str:
    """The most frequent class of a node."""
    winner = int(np.argmax(model.tree.value[node][0]))
    if model.classes is True:
        return f"y{symbols['open']}{winner}{symbols['close']}"
    return model.classes[winner]


def value_text(model: Described, node, style: Style) -> str:
    """Class weights (shares with `proportion`) or the predicted number; one bracket per output."""
    value = np.asarray(model.tree.value[node], dtype=float)
    if model.n_classes > 1 and not style.proportion:
        value = value * model.tree.weighted_n_node_samples[node]
        rounded = np.round(value, 10)  # share x weight: 3.0000000000000004 is three
        value = rounded if np.all(rounded == np.floor(rounded)) else value
    whole = model.n_classes > 1 and not style.proportion and np.all(value == np.floor(value))
    rows = [[str(int(v)) if whole else str(float(np.round(v, style.precision))) for v in row] for row in value]
    if model.tree.n_outputs == 1:
        return rows[0][0] if len(rows[0]) == 1 else f"[{', '.join(rows[0])}]"
    return f"[{style.symbols['newline'].join('[' + ', '.join(row) + ']' for row in rows)}]"


class Palette:
    """Fill colours: hue by class and strength by margin; by value for regression; by purity for several outputs."""

    def __init__(self, model: Described):
        self._model, tree = model, model.tree
        self._hues = [_hue_colour(k, model.n_classes) for k in range(model.n_classes)]
        self._scale = None
        if tree.n_outputs > 1:
            self._scale = -np.asarray(tree.impurity)
        elif model.n_classes == 1 and len(np.unique(tree.value)) > 1:
            self._scale = np.asarray(tree.value).reshape(-1)

    def __call__(self, node) -> str:
        if self._scale is not None:
            low, high = self._scale.min(), self._scale.max()
            return _mixed(self._hues[0], (self._scale[node] - low) / (high - low) if high > low else 0.0)
        shares = np.asarray(self._model.tree.value[node][0])
        if len(shares) == 1:
            return _mixed(self._hues[0], 0.0)
        second, first = np.sort(shares / shares.sum())[-2:]
        return _mixed(self._hues[int(np.argmax(shares))], (first - second) / (1 - second) if second < 1 else 0.0)


def _hue_colour(k, n):
    """The k-th of n hues, evenly spaced from orange."""
    rgb = colorsys.hsv_to_rgb((25 / 360 + k / n) % 1.0, 0.75, 0.9)
    return tuple(int(255 * part) for part in rgb)


def _mixed(colour, strength) -> str:
    """`colour` over white."""
    parts = (round(strength * part + (1 - strength) * 255) for part in colour)
    return "#" + "".join(f"{part:02x}" for part in parts)
