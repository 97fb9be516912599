"""A tree in the DOT language of Graphviz."""

import os
import tempfile

from hyperplan.tree._describe import DOT, HTML, LEAF, Palette, Style, described, node_lines


def export_graphviz(
    decision_tree,
    out_file=None,
    *,
    max_depth=None,
    feature_names=None,
    class_names=None,
    label="all",
    filled=False,
    leaves_parallel=False,
    impurity=True,
    node_ids=False,
    proportion=False,
    rotate=False,
    rounded=False,
    special_characters=False,
    precision=3,
    fontname="helvetica",
):
    """The tree as DOT source, for ``dot -Tsvg``.

    Parameters
    ----------
    decision_tree : fitted tree
        A classifier or regressor with a `tree_`.
    out_file : str, path, file or None
        Where to write; None returns the source instead.
    max_depth : int or None
        Deeper nodes are drawn as (...).
    feature_names, class_names : sequence of str, or None
        Names shown; ``class_names=True`` writes y[0], y[1]...
    label : {"all", "root", "none"}
        Which nodes carry the words "samples =", "value ="...
    filled, rounded, rotate, leaves_parallel : bool
        Fill by class or value; round the corners; grow to the right; put all leaves on one line.
    impurity, node_ids, proportion : bool
        Show the impurity; the number of the node; shares instead of weights.
    special_characters : bool
        HTML labels with subscripts and ≤.
    precision : int
        Digits after the point.
    fontname : str
        Font of the labels.

    Returns
    -------
    source : str or None
        None when written to `out_file`.

    Examples
    --------
    >>> from hyperplan.tree import DecisionTreeClassifier, export_graphviz
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> export_graphviz(model).splitlines()[0]
    'digraph Tree {'
    """
    names = [
        None if given is None or given is True else [_escaped(n) for n in given]
        for given in (feature_names, class_names)
    ]
    model = described(decision_tree, names[0], True if class_names is True else names[1])
    symbols = HTML if special_characters else DOT
    style = Style(label, impurity, node_ids, proportion, precision, symbols)
    colour = Palette(model) if filled else None
    quotes = ("<", ">") if special_characters else ('"', '"')
    lines = _head(filled, rounded, rotate, leaves_parallel, fontname)
    ranks = _add_nodes(lines, model, style, max_depth, colour, quotes, rotate)
    if leaves_parallel:
        lines += [f"{{rank=same ; {'; '.join(map(str, ranks[key]))}}} ;" for key in sorted(ranks, key=str)]
    source = "\n".join([*lines, "}"])
    if out_file is None:
        return source
    _write(source, out_file)
    return None


def _escaped(name):
    return name.replace('"', r"\"") if isinstance(name, str) else name


def _head(filled, rounded, rotate, leaves_parallel, fontname):
    styles = [word for word, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    look = f', style="{", ".join(styles)}", color="black"' if styles else ""
    lines = ["digraph Tree {", f'node [shape=box{look}, fontname="{fontname}"] ;']
    lines += ["graph [ranksep=equally, splines=polyline] ;"] if leaves_parallel else []
    lines += [f'edge [fontname="{fontname}"] ;']
    return lines + (["rankdir=LR ;"] if rotate else [])


def _add_nodes(lines, model, style, max_depth, colour, quotes, rotate):
    """Append nodes and edges in depth-first order; returns the nodes of each depth, leaves apart."""
    tree = model.tree
    ranks: dict = {}
    pending = [(0, None, 0)]
    while pending:
        node, parent, depth = pending.pop()
        cut = max_depth is not None and depth > max_depth
        is_leaf = tree.children_left[node] == LEAF
        ranks.setdefault("leaves" if is_leaf or cut else str(depth), []).append(node)
        if cut:
            text, fill = '"(...)"', "#C0C0C0"
        else:
            body = style.symbols["newline"].join(node_lines(model, node, style))
            text, fill = f"{quotes[0]}{body}{quotes[1]}", colour(node) if colour else ""
        lines.append(f"{node} [label={text}" + (f', fillcolor="{fill}"' if colour else "") + "] ;")
        if parent is not None:
            lines.append(f"{parent} -> {node}{_edge_label(tree, parent, node, cut, rotate)} ;")
        if not is_leaf and not cut:
            pending += [(int(child[node]), node, depth + 1) for child in (tree.children_right, tree.children_left)]
    return ranks


def _edge_label(tree, parent, node, cut, rotate):
    """The answers are written on the first two branches only."""
    if parent != 0 or cut:
        return ""
    left = node == tree.children_left[0]
    angle = 45 if left != rotate else -45
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{left}"]'


def _write(source, out_file):
    if hasattr(out_file, "write"):
        out_file.write(source)
        return
    path = os.fspath(out_file)
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path) or ".", delete=False, encoding="utf-8") as beside:
        beside.write(source)
    os.replace(beside.name, path)
