"""A tree drawn with matplotlib.

Boxes never overlap: each leaf has a column of its own, and the font is as large as the tightest pair of neighbours on a
level allows.
"""

import itertools

from hyperplan._texts.extras import required
from hyperplan.tree._describe import LEAF, PLAIN, Palette, Style, described, node_lines

CUT = "\n  (...)  \n"
ROOM = 0.92  # share of the distance between two neighbours that their boxes may fill
LEVEL_ROOM = 0.7  # the same between two levels, where the edges must stay visible
PAD = 0.3  # between text and border, in units of the font
BRIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue, to the eye
DARK = 140  # brightness below which white letters read better
SMALLEST, LARGEST = 1.0, 14.0  # font sizes in points


def plot_tree(
    decision_tree,
    *,
    max_depth=None,
    feature_names=None,
    class_names=None,
    label="all",
    filled=False,
    impurity=True,
    node_ids=False,
    proportion=False,
    rounded=False,
    precision=3,
    ax=None,
    fontsize=None,
):
    """Draw a fitted tree.

    Parameters
    ----------
    decision_tree : fitted tree
        A classifier or regressor with a `tree_`.
    max_depth : int or None
        Deeper nodes are drawn as (...).
    feature_names, class_names : sequence of str, or None
        Names shown; ``class_names=True`` writes y[0], y[1]...
    label : {"all", "root", "none"}
        Which nodes carry the words "samples =", "value ="...
    filled, rounded : bool
        Fill by class or value; round the corners.
    impurity, node_ids, proportion : bool
        Show the impurity; the number of the node; shares instead of weights.
    precision : int
        Digits after the point.
    ax : matplotlib axes or None
        Where to draw (cleared first); None uses the current axes.
    fontsize : float or None
        None chooses the largest that fits.

    Returns
    -------
    annotations : list
        The boxes and the two answers below the root, in depth-first order.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from hyperplan.tree import DecisionTreeClassifier, plot_tree
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> len(plot_tree(model))  # three boxes, "True" and "False"
    5
    """
    model = described(decision_tree, feature_names, class_names)
    style = Style(label, impurity, node_ids, proportion, precision, PLAIN)
    plt = required("matplotlib.pyplot")
    ax = plt.gca() if ax is None else ax
    ax.clear()
    ax.set_axis_off()
    order, where, parents, depth = _layout(model.tree, max_depth)
    across, down = max(x for x, _ in where.values()) + 1, depth + 1
    boxes = _Boxes(ax, Palette(model) if filled else None, rounded, fontsize)
    for node in order:
        column, level = where[node]
        at = ((column + 0.5) / across, 1 - (level + 0.5) / down)
        is_cut = max_depth is not None and level > max_depth
        boxes.add(CUT if is_cut else "\n".join(node_lines(model, node, style)), at, level, node, is_cut)
        if (parent := parents[node]) is not None:
            boxes.connect(parent, node)
            if parent == 0 and not is_cut:
                boxes.add_answer(0, node, node == model.tree.children_left[0])
    if fontsize is None:
        boxes.fit_font(1 / down)
    return boxes.artists


def _layout(tree, max_depth):
    """Depth-first order, (column, level) of each node drawn, parents, and the deepest level.

    Leaves take the columns 0, 1, 2... from left to right; a parent stands in the middle of its children.
    """
    order, where, parents = [], {}, {0: None}
    level, pending = {0: 0}, [0]
    while pending:
        node = pending.pop()
        order.append(node)
        if tree.children_left[node] == LEAF or (max_depth is not None and level[node] > max_depth):
            continue
        for child in (int(tree.children_right[node]), int(tree.children_left[node])):
            parents[child], level[child] = node, level[node] + 1
            pending.append(child)
    columns = 0
    for node in order:
        if not any(parents.get(int(child)) == node for child in (tree.children_left[node],) if child != LEAF):
            where[node] = (float(columns), level[node])
            columns += 1
    for node in reversed(order):
        if node not in where:
            left, right = (where[int(child[node])][0] for child in (tree.children_left, tree.children_right))
            where[node] = ((left + right) / 2, level[node])
    return order, where, parents, max(level.values())


class _Boxes:
    """The annotations of one drawing, and the font that fits them."""

    def __init__(self, ax, colour, rounded, fontsize):
        self.artists, self._boxes, self._levels = [], {}, {}
        self._ax, self._colour, self._fontsize = ax, colour, fontsize or LARGEST
        self._shape = f"{'round' if rounded else 'square'},pad={PAD}"

    def add(self, text, at, level, node, is_cut):
        fill = "#C0C0C0" if is_cut else self._colour(node) if self._colour else "white"
        look = {"boxstyle": self._shape, "fc": fill, "ec": "0.2"}
        dark = fill.startswith("#") and _brightness(fill) < DARK
        box = self._note(text, at, ha="center", va="center", bbox=look, zorder=100, color="white" if dark else "black")
        self._boxes[node] = box
        self._levels.setdefault(level, []).append(box)

    def connect(self, parent, child):
        """A line behind the boxes, from centre to centre."""
        (x0, y0), (x1, y1) = (self._boxes[node].get_position() for node in (parent, child))
        self._ax.plot([x0, x1], [y0, y1], color="0.4", linewidth=1, transform=self._ax.transAxes, zorder=1)

    def add_answer(self, parent, child, yes):
        """True or False beside the edge that leads there."""
        (x0, y0), (x1, y1) = (self._boxes[node].get_position() for node in (parent, child))
        words, side = ("True  ", "right") if yes else ("  False", "left")
        self._note(words, ((x0 + x1) / 2, (y0 + y1) / 2), ha=side, va="bottom", zorder=2)

    def _note(self, text, at, **look):
        place = {"xycoords": "axes fraction", "textcoords": "axes fraction"}
        note = self._ax.annotate(text, at, xytext=at, fontsize=self._fontsize, **place, **look)
        self.artists.append(note)
        return note

    def fit_font(self, level_height):
        """Shrink the font until neighbours on a level, and levels, keep apart."""
        renderer = self._ax.figure.canvas.get_renderer()
        frame = self._ax.get_window_extent(renderer)
        padding = 2 * PAD * renderer.points_to_pixels(self._fontsize)
        share = 1.0
        for boxes in self._levels.values():
            extents = [box.get_window_extent(renderer) for box in boxes]
            widths = [extent.width + padding for extent in extents]
            centres = [frame.width * box.get_position()[0] for box in boxes]
            order = sorted(range(len(boxes)), key=centres.__getitem__)
            for i, j in itertools.pairwise(order):
                share = min(share, ROOM * (centres[j] - centres[i]) / ((widths[i] + widths[j]) / 2))
            highest = max(extent.height + padding for extent in extents)
            share = min(share, LEVEL_ROOM * frame.height * level_height / highest)
        for artist in self.artists:
            artist.set_fontsize(max(SMALLEST, self._fontsize * share))


def _brightness(colour):
    """Of a colour written #rrggbb, from 0 to 255."""
    return sum(share * part for share, part in zip(BRIGHTNESS, bytes.fromhex(colour[1:])))
