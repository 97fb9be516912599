"""What neighbours ask of scikit-learn: graphs whose rows are sorted by value, with its warning where they are not."""

from sklearn.neighbors import sort_graph_by_row_values

__all__ = ["sort_graph_by_row_values"]
