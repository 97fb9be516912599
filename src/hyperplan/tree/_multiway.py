"""Multiway trees: ID3 and C4.5.

At each node the column whose split tells most about the class: one branch per category, or ``x <= s`` and ``x > s`` for
numbers.  With C the class and A the branch of a row, "gain" maximises ``I(A; C) = H(C) - H(C | A)`` (ID3),
"gain_ratio" ``I(A; C) / H(A)`` (C4.5) and "mantaras" minimises ``1 - I(A; C) / H(A, C)``.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    Choice,
    ClassifierMixin,
    Int,
    Is,
    Null,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    class_weighted,
    encode_labels,
)
from hyperplan._trees.multiway import CRITERIA, MultiwayNodes, Rule, answers, decreases, grow, impurities, pruned
from hyperplan.tree._categorical import CATEGORICAL_FEATURES, Table, categorical_mask, learn_table, read_table


class MultiwaySolution(NamedTuple):
    """Nodes, and what vouches for them."""

    nodes: MultiwayNodes
    certificate: Certificate


def solve_multiway(X, n_values, labels, weight, rule, confidence) -> MultiwaySolution:
    """Grow, and prune if `confidence` is not None; X is float64 of shape (n, d) with codes for categories."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    rows = np.flatnonzero(weight > 0)
    values = np.ascontiguousarray(X.T if rows.shape[0] == X.shape[0] else X[rows].T, dtype=np.float64)
    nodes = grow(values, n_values, labels.codes[rows], weight[rows], labels.classes.shape[0], rule)
    if confidence is not None:
        nodes = pruned(nodes, confidence)
    return MultiwaySolution(nodes, _certificate(nodes))


def _certificate(nodes):
    leaves = nodes.n_children == 0
    gains, bits = decreases(nodes), impurities(nodes)
    share = nodes.weight[leaves] / nodes.weight[leaves].sum()
    remaining = float(share @ bits[leaves])
    return Certificate(
        kind="entropy decomposition",
        guarantee=f"training entropy fell from {bits[0]:.4g} to {remaining:.4g} bits in {int((~leaves).sum())} splits, "
        "none of which raised it",
        value=max(0.0, -float(gains.min())),
        bound=1e-9,
        assumption="positive weights; the tree is greedy, not the best of its size",
        reference="Quinlan (1986), Induction of decision trees; Quinlan (1993), C4.5: programs for machine learning",
        details={
            "root": float(bits[0]),
            "leaves": remaining,
            "training error": float(share @ (1.0 - nodes.value[leaves].max(axis=1))),
        },
    )


class MultiwayTreeClassifier(ClassifierMixin, BaseEstimator):
    """Classification tree with one branch per category (ID3, C4.5).

    Stopping rule: a node is a leaf when it is pure, when `max_depth` or `min_samples_split` is reached, or when no
    column with two branches of weight `min_samples_leaf` tells anything about the class.

    Parameters
    ----------
    criterion : {"gain_ratio", "gain", "mantaras"}, default="gain_ratio"
        "gain": the information gain of ID3.  "gain_ratio": C4.5's; thresholds by gain, which then pays
        ``log2(N - 1) / n`` (N distinct values, n rows), and the best ratio of gain to split entropy among the columns
        with at least average gain.  "mantaras": De Mantaras' distance.
    categorical_features : "from_dtype", array-like of bool, int or str, or None, default="from_dtype"
        Which columns are categories: those with strings or of a categorical type; a mask; indices; names; none.
    max_depth : int or None, default=None
        Most splits above a leaf.
    min_samples_split : int, default=2
        Least weight of a node that may be split.
    min_samples_leaf : int, default=1
        Least weight of at least two branches of a split (of both, for a threshold).
    pruning : {"error"} or None, default=None
        "error": C4.5's pessimistic pruning; from the bottom up, a subtree becomes a leaf unless it is expected to make
        fewer errors, which is judged by the upper ends of binomial confidence intervals.
    confidence : float, default=0.25
        Level of these intervals; less prunes more.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    categories_ : list
        Sorted values of each categorical column, None for columns of numbers.
    tree_ : MultiwayNodes
        The nodes as arrays.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the entropy decrease that each column brought.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That no split raised the training entropy, and the training error.

    Notes
    -----
    A row whose value is missing goes down all branches, with fractions like their weights, in `fit` (down to a
    thousandth of a row) and in `predict`.  A category that a node never saw in training ends there, and is answered
    with the node's class shares.  Between equally good columns the first one wins; nothing is random.

    References
    ----------
    Quinlan (1986), Induction of decision trees.  Quinlan (1993), C4.5: programs for machine learning.  Quinlan (1996),
    Improved use of continuous attributes in C4.5.  De Mantaras (1991), A distance-based attribute selection measure for
    decision tree induction.

    Examples
    --------
    >>> from hyperplan.tree import MultiwayTreeClassifier
    >>> X = [["sun", 20.0], ["rain", 12.0], ["fog", 9.0], ["rain", 14.0]]
    >>> model = MultiwayTreeClassifier().fit(X, ["out", "in", "in", "in"])
    >>> print(model.to_text(feature_names=["sky", "warmth"]), end="")
    |--- sky = fog
    |   |--- class: in
    |--- sky = rain
    |   |--- class: in
    |--- sky = sun
    |   |--- class: out
    """

    _params = {
        "criterion": Choice(*CRITERIA),
        "categorical_features": CATEGORICAL_FEATURES,
        "max_depth": OneOf(Int(ge=1), Null),
        "min_samples_split": Int(ge=2),
        "min_samples_leaf": Int(ge=1),
        "pruning": Choice("error", None),
        "confidence": Real(gt=0, lt=1),
        "class_weight": OneOf(Choice("balanced", None), Is(lambda v: isinstance(v, dict), "an instance of 'dict'")),
    }

    def __init__(
        self,
        *,
        criterion="gain_ratio",
        categorical_features="from_dtype",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        pruning=None,
        confidence=0.25,
        class_weight=None,
    ):
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.pruning = pruning
        self.confidence = confidence
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, or a table with categories; NaN and None mark missing values.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of zero leaves the row out.

        Returns
        -------
        self : MultiwayTreeClassifier
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        rule = Rule(
            CRITERIA[self.criterion],
            np.inf if self.max_depth is None else self.max_depth,
            self.min_samples_split,
            self.min_samples_leaf,
        )
        # 2 data
        mask = categorical_mask(X, self.categorical_features) if _may_hold_categories(self, X) else None
        table = None
        numbers = X
        if mask is not None:
            numbers, table = learn_table(self, X, mask)
        options = {"dtype": np.float64, "ensure_all_finite": "allow-nan", "accept_sparse": False}
        data = check_training(self, numbers, y, sample_weight, **options)
        if mask is not None:
            check_design(self, X, reset=True, skip_check_array=True)
        labels = encode_labels(data.y, min_classes=1, estimator_name=type(self).__name__)
        weight = class_weighted(data.weight, self.class_weight, labels, data.y)
        table = Table([None] * data.X.shape[1]) if table is None else table
        # 3 maths
        confidence = self.confidence if self.pruning == "error" else None
        solution = solve_multiway(data.X, table.n_values, labels, weight, rule, confidence)
        # 4 attributes
        self.classes_ = labels.classes
        self.categories_ = table.categories
        self.tree_ = solution.nodes
        self.certificate_ = solution.certificate
        return self

    def _rows(self, X):
        check_is_fitted(self)
        if any(known is not None for known in self.categories_):
            return read_table(self, X, Table(self.categories_))
        return check_design(self, X, dtype=np.float64, accept_sparse=False, ensure_all_finite="allow-nan")

    def predict_proba(self, X):
        """Class shares of the leaves that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Shares.
        """
        rows = self._rows(X)
        return answers(self.tree_, rows)[0]

    def predict(self, X):
        """Class with the largest share (the first of equals).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        return self.classes_.take(self.predict_proba(X).argmax(axis=1))

    def apply(self, X):
        """Node in which (most of) each row ends.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
            Numbers of nodes.
        """
        rows = self._rows(X)
        return answers(self.tree_, rows)[1]

    def get_n_leaves(self):
        """Number of leaves."""
        check_is_fitted(self)
        return int((self.tree_.n_children == 0).sum())

    def get_depth(self):
        """Largest number of splits above a leaf."""
        check_is_fitted(self)
        nodes, depth = self.tree_, np.zeros(self.tree_.weight.shape[0], dtype=np.int64)
        for node in np.flatnonzero(nodes.n_children):
            first = nodes.first_child[node]
            depth[first : first + nodes.n_children[node]] = depth[node] + 1
        return int(depth.max())

    @property
    def feature_importances_(self):
        """Entropy decrease that each column brought, as shares of the total."""
        check_is_fitted(self)
        inner = self.tree_.n_children > 0
        found = np.bincount(
            self.tree_.feature[inner], weights=decreases(self.tree_)[inner], minlength=self.n_features_in_
        )
        return found / found.sum() if found.sum() > 0 else found.astype(np.float64)

    def to_text(self, *, feature_names=None, class_names=None, max_depth=10, spacing=3, decimals=2, show_weights=False):
        """The tree as an indented list of questions.

        Parameters
        ----------
        feature_names : sequence of str or None
            Names of the columns; None takes those seen in `fit`, else feature_0, feature_1...
        class_names : sequence of str or None
            Names of the classes in the order of `classes_`; None shows `classes_`.
        max_depth, spacing, decimals : int
            Deepest level shown, width of a level, digits after the point.
        show_weights : bool
            Write the class weights on each leaf.

        Returns
        -------
        report : str
        """
        check_is_fitted(self)
        names = feature_names if feature_names is not None else getattr(self, "feature_names_in_", None)
        names = [f"feature_{j}" for j in range(self.n_features_in_)] if names is None else [str(n) for n in names]
        if len(names) != self.n_features_in_:
            raise ValueError(f"feature_names must contain {self.n_features_in_} elements, got {len(names)}")
        classes = self.classes_ if class_names is None else class_names
        nodes, lines, pending = self.tree_, [], [("", 0, 0)]
        while pending:
            answer, node, depth = pending.pop()
            if answer:
                lines.append(f"{_indent(depth - 1, spacing)} {answer}")
            if nodes.n_children[node] == 0:
                shown = ", ".join(f"{w:.{decimals}f}" for w in nodes.value[node] * nodes.weight[node])
                shown = f"weights: [{shown}] " if show_weights else ""
                lines.append(f"{_indent(depth, spacing)} {shown}class: {classes[int(nodes.value[node].argmax())]}")
            elif depth > max_depth:
                lines.append(f"{_indent(depth, spacing)} truncated branch of {nodes.n_children[node]} answers")
            else:
                words = _branch_words(nodes, node, names, self.categories_, decimals)
                pending += [(text, child, depth + 1) for text, child in reversed(words)]
        return "\n".join(lines) + "\n"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _may_hold_categories(estimator, X):
    """Plain arrays of numbers need no look at each column."""
    wanted = estimator.categorical_features
    if wanted is None or not isinstance(wanted, str):
        return wanted is not None
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return True
    return not hasattr(X, "tocsr") and np.asarray(X).dtype.kind in "USO" and np.asarray(X).ndim == 2


def _indent(depth, spacing):
    return ("|" + " " * spacing) * depth + "|" + "-" * spacing


def _branch_words(nodes, node, names, categories, decimals):
    """``(answer, child)`` of each branch."""
    name, first = names[nodes.feature[node]], int(nodes.first_child[node])
    if nodes.table_start[node] < 0:
        threshold = f"{nodes.threshold[node]:.{decimals}f}"
        return [(f"{name} <= {threshold}", first), (f"{name} >  {threshold}", first + 1)]
    known, start = categories[nodes.feature[node]], int(nodes.table_start[node])
    children = nodes.table[start : start + len(known)]
    return [(f"{name} = {known[code]}", int(child)) for code, child in enumerate(children) if child >= 0]
