"""Decision trees."""

from hyperplan.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from hyperplan.tree._export_graphviz import export_graphviz
from hyperplan.tree._export_text import export_text, rules
from hyperplan.tree._extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from hyperplan.tree._multiway import MultiwayTreeClassifier
from hyperplan.tree._oblique import ObliqueTreeClassifier, ObliqueTreeRegressor
from hyperplan.tree._plot_tree import plot_tree
from hyperplan.tree._surrogates import add_surrogates

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "MultiwayTreeClassifier",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "add_surrogates",
    "export_graphviz",
    "export_text",
    "plot_tree",
    "rules",
]
