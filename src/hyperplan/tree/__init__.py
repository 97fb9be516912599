"""Decision trees."""

from hyperplan.tree._export_graphviz import export_graphviz
from hyperplan.tree._export_text import export_text, rules
from hyperplan.tree._plot_tree import plot_tree

__all__ = ["export_graphviz", "export_text", "plot_tree", "rules"]
