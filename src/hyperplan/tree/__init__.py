"""Decision trees: exact, multiway and oblique, with words and pictures."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.tree._decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
    from hyperplan.tree._export_graphviz import export_graphviz
    from hyperplan.tree._export_text import export_text, rules
    from hyperplan.tree._extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
    from hyperplan.tree._multiway import MultiwayTreeClassifier
    from hyperplan.tree._oblique import ObliqueTreeClassifier, ObliqueTreeRegressor
    from hyperplan.tree._plot_tree import plot_tree
    from hyperplan.tree._surrogates import add_surrogates

__getattr__, __dir__, __all__ = lazy_names(__name__)
