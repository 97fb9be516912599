"""What neighbours say together: weights, votes and means."""

import numpy as np

from hyperplan._base import Choice, Is, Null, OneOf
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.space_tree import Lists
from hyperplan.neighbors import _nearest_vote_kernels as k

WEIGHTS = OneOf(Choice("uniform", "distance"), Is(callable, "a callable"), Null)
QUERIES = 8192  # of one task
NO_WEIGHTS = np.empty(0)


def as_lists(distances, rows) -> Lists:
    """Neighbours as lists of equal lengths."""
    starts = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int64)
    return Lists(starts, rows.ravel(), distances.ravel())


def inverse_distances(lists: Lists):
    """1 / distance; a query that meets points of the table listens to these alone."""
    weights = np.empty(lists.distances.shape)
    k.invert_lists(lists.starts, np.ascontiguousarray(lists.distances, dtype=np.float64), weights)
    return weights


def votes_of(codes, n_classes, lists: Lists, weights=NO_WEIGHTS, n_jobs=None):
    """Weight of each class among the neighbours of each query."""
    votes = np.zeros((len(lists.starts) - 1, n_classes))

    def run(part):
        k.add_votes(codes, lists.starts[part.start : part.stop + 1], lists.rows, weights, votes[part])

    codes = np.ascontiguousarray(codes, dtype=np.int64)
    thread_map(run, spans(votes.shape[0], QUERIES), n_jobs)
    return votes


def means_of(y, lists: Lists, weights=NO_WEIGHTS, n_jobs=None):
    """Mean of the targets over the neighbours of each query, in the shape of y; NaN where there are none."""
    columns = np.ascontiguousarray(np.reshape(y, (len(y), -1)), dtype=np.float64)
    means = np.zeros((len(lists.starts) - 1, columns.shape[1]))

    def run(part):
        k.average(columns, lists.starts[part.start : part.stop + 1], lists.rows, weights, means[part])

    thread_map(run, spans(means.shape[0], QUERIES), n_jobs)
    return means[:, 0] if np.ndim(y) == 1 else means


def check_some_weight(lists: Lists, weights):
    """A query all of whose neighbours have no weight has no answer."""
    lengths = np.diff(lists.starts)
    heavy = np.concatenate([[0], np.cumsum(weights != 0)])
    if ((np.diff(heavy[lists.starts]) == 0) & (lengths > 0)).any():
        raise ValueError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you "
            "are using a user-defined function."
        )
