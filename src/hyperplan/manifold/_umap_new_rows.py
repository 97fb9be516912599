"""New rows in a layout that does not move.

A row that is equal to one of the fit gets its place; one that is nearer to it than the next row of the fit comes near
that place, in proportion.  Others begin at the mean of their neighbours and are moved each for itself.
"""

import numpy as np

from hyperplan._base import check_random_state
from hyperplan.manifold import _umap_graph as graphs
from hyperplan.manifold._umap_layout import NEW_EPOCHS, place_new

NEW_RATE = 0.25  # learning rate of new rows, in that of the fit


def placed(model, X) -> np.ndarray:
    """Places of the rows of X in the layout of a fitted `UMAP`; NaN for rows without any neighbour."""
    count, n, embedding = model.n_neighbors_, model._raw_data.shape[0], model.embedding_
    found = graphs.search_new(model._raw_data, X, min(count, n), model.metric, model.metric_kwds or {}, model.n_jobs)
    nearest, gaps = found.rows[:, 0], found.distances[:, 0]
    found = graphs.cut_far(found, model.metric, model.disconnection_distance)
    found = found._replace(distances=np.where(np.isnan(embedding[found.rows, 0]), np.inf, found.distances))
    connectivity = max(0.0, model.local_connectivity - 1.0)
    A, _, _ = graphs.one_sided(found, n, max(count, 2), connectivity, model.n_jobs)
    n_epochs = NEW_EPOCHS if model.n_epochs is None else int(model.n_epochs) // 3
    rate = NEW_RATE * float(model.learning_rate)
    seed = int(check_random_state(model.transform_seed).randint(2**31 - 1))
    base = np.where(np.isnan(embedding), np.float32(0.0), embedding)
    places = place_new(A, base, n_epochs, rate, model._forces(), seed, model.n_jobs)
    places[np.diff(A.indptr) == 0] = np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(gaps > 0.0, np.minimum(gaps / model.rhos_[nearest], 1.0), 0.0).astype(np.float32)[:, None]
    close = embedding[nearest]
    return np.where(share == 0.0, close, np.where(share < 1.0, share * places + (1.0 - share) * close, places))
