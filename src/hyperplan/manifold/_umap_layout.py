"""Stochastic gradient descent of a layout, the same for any number of threads.

An edge of weight w pulls in a share ``w / max w`` of the epochs, and for each pull a few random rows push.  Rows are
put in an order in which neighbours are near each other, and cut into spans; a task moves the rows of one span
(`_umap_layout_kernels`).  The spans depend on the number of rows alone, and small tables are one span: then each step
sees all steps before it, as in the reference implementation without threads.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import curve_fit

from hyperplan._core.certificate import Certificate
from hyperplan._core.parallel import spans, split_map, thread_map
from hyperplan.manifold import _umap_layout_kernels as k

SPAN, MOST_SPANS = 1024, 64  # rows of a span, at least, and how many spans there are, at most
FULL = 2.0**32
TASK_ROWS = 1024
PAIRS = 16  # random pairs per row that estimate a loss
NEW_EPOCHS = 100  # of rows that are placed into a layout, unless the number is given


class Forces(NamedTuple):
    """What pulls and pushes: the curve ``1 / (1 + a s^b)`` of the squared distance s, and how often rows push."""

    a: float
    b: float
    repulsion: float
    n_pushes: int

    def numbers(self, rate):
        """As the kernels want them."""
        return np.array([rate, self.a, self.b, self.repulsion], np.float32)


class Losses(NamedTuple):
    """Per row: what the steps descend on average, and the cross-entropy of all pairs of rows."""

    sampled: float
    cross_entropy: float


def find_ab_params(spread=1.0, min_dist=0.1):
    """The a and b for which ``1 / (1 + a x^(2b))`` is nearest to 1 up to `min_dist` and an exponential beyond.

    Parameters
    ----------
    spread : float
        Scale of the exponential.
    min_dist : float
        Distance up to which rows count as together.

    Returns
    -------
    a, b : float
        Least squares on 300 points of [0, 3 spread].

    Examples
    --------
    >>> from hyperplan.manifold._umap_layout import find_ab_params
    >>> [round(value, 3) for value in find_ab_params(1.0, 0.1)]
    [1.577, 0.895]
    """
    x = np.linspace(0.0, 3.0 * spread, 300)
    wanted = np.where(x < min_dist, 1.0, np.exp(-(x - min_dist) / spread))
    (a, b), _ = curve_fit(lambda x, a, b: 1.0 / (1.0 + a * x ** (2.0 * b)), x, wanted)
    return float(a), float(b)


def _mover(n_components):
    return {2: k.move_2, 3: k.move_3}.get(n_components, k.move_any)


def optimise(graph, Y, n_epochs, learning_rate, forces: Forces, seed, n_jobs=None):
    """The layout after `n_epochs` epochs that start from Y (float32), whose rows are those of a symmetric graph."""
    n, n_components = Y.shape
    order = _order(Y)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    starts, tails, steps = _reordered(graph, order, place, n_epochs)
    Y = np.ascontiguousarray(Y[order])
    before, move, parts = np.empty_like(Y), _mover(n_components), _parts(n)
    key = np.uint32(seed & 0xFFFFFFFF)
    for epoch in range(1, n_epochs + 1):
        before[:] = Y
        rate, now = forces.numbers(learning_rate * (1.0 - (epoch - 1.0) / n_epochs)), np.uint32(epoch)

        def run(part, now=now, rate=rate):
            args = starts, tails, steps, before, part.start, part.stop, now, rate, forces.n_pushes, key, True
            move(*args, Y)

        split_map(run, parts, n_jobs)
    return Y[place]


def _parts(n):
    """Spans of rows."""
    return spans(n, max(SPAN, -(-n // MOST_SPANS)))


def _order(Y):
    """Rows sorted into strips along the first axis, and along the second within a strip: spans become patches."""
    n, n_parts = Y.shape[0], len(_parts(Y.shape[0]))
    if n_parts == 1:
        return np.arange(n)
    strip = np.empty(n, np.int64)
    n_strips = max(1, round(n_parts**0.5)) if Y.shape[1] > 1 else 1
    strip[np.argsort(Y[:, 0], kind="stable")] = np.arange(n) * n_strips // n
    return np.lexsort((Y[:, min(1, Y.shape[1] - 1)], strip))


def _reordered(graph, order, place, n_epochs):
    """The edges in another order of the rows, without those too weak to pull once."""
    counts = np.diff(graph.indptr)[order]
    begins = np.concatenate([[0], np.cumsum(counts)])
    source = np.arange(begins[-1]) + np.repeat(graph.indptr[:-1][order].astype(np.int64) - begins[:-1], counts)
    share = graph.data[source].astype(np.float64)
    share /= max(share.max(initial=0.0), np.finfo(np.float32).tiny)
    kept = share * max(n_epochs, 1) >= 1.0
    starts = np.concatenate([[0], np.cumsum(kept)])[begins]
    steps = np.minimum(share[kept] * FULL, FULL - 1.0).astype(np.uint32)
    return starts, place[graph.indices[source[kept]]].astype(np.int32), steps


def place_new(A, embedding, n_epochs, learning_rate, forces: Forces, seed, n_jobs=None):
    """Places of new rows, whose weights with the rows of an embedding are those of A.

    Each row starts at the mean of its neighbours and moves alone: it does not matter which rows come with it.
    """
    sums = np.maximum(A.sum(axis=1, dtype=np.float64), np.finfo(np.float32).tiny)
    Y = ((A @ embedding.astype(np.float64)) / sums[:, None]).astype(np.float32)
    base = np.ascontiguousarray(embedding, dtype=np.float32)
    largest = np.repeat(A.max(axis=1).toarray().ravel(), np.diff(A.indptr)).astype(np.float64)
    steps = np.minimum(A.data / largest * FULL, FULL - 1.0).astype(np.uint32)
    starts, tails, move = A.indptr.astype(np.int64), A.indices.astype(np.int32), _mover(embedding.shape[1])
    key = np.uint32(seed & 0xFFFFFFFF)

    def run(part):
        for epoch in range(1, n_epochs + 1):
            numbers = forces.numbers(learning_rate * (1.0 - (epoch - 1.0) / n_epochs))
            args = starts, tails, steps, base, part.start, part.stop, np.uint32(epoch), numbers, forces.n_pushes, key
            move(*args, False, Y)

    thread_map(run, spans(A.shape[0], TASK_ROWS), n_jobs)
    return Y


def losses(graph, Y, forces: Forces, n_jobs=None) -> Losses:
    """Losses of a layout; pairs that are no edges are estimated from some at random, always the same."""
    n = Y.shape[0]
    starts, tails, numbers = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), forces.numbers(0.0)
    Y = np.ascontiguousarray(Y, dtype=np.float32)

    def run(part):
        totals = np.zeros(6)
        k.add_losses(starts, tails, graph.data, Y, part.start, part.stop, numbers, PAIRS, np.uint32(0), totals)
        return totals

    pull, apart, edges, far, weighted, count = sum(thread_map(run, spans(n, TASK_ROWS), n_jobs), np.zeros(6))
    scale = n * (n - 1.0) / max(count, 1.0)
    push = forces.repulsion * forces.n_pushes / (2.0 * n) * weighted * scale
    return Losses((pull + push) / n, (pull + apart + far * scale - edges) / (2.0 * n))


def layout_certificate(graph, start, places, forces: Forces, n_epochs, recall, n_jobs=None) -> Certificate:
    """What the steps have lowered: both losses, at the start (`_umap_init.Start`) and at the end."""
    before, after = losses(graph, start.places, forces, n_jobs), losses(graph, places, forces, n_jobs)
    details = {
        "cross_entropy_before": before.cross_entropy,
        "cross_entropy": after.cross_entropy,
        "connected_components": start.n_pieces,
        "epochs": n_epochs,
        "a": forces.a,
        "b": forces.b,
    }
    if start.n_pieces > 1:
        details["between_components"] = "the graph has several pieces: distances between them mean nothing"
    if recall is not None:
        details["neighbours_found"] = recall
    return Certificate(
        kind="layout loss",
        guarantee="the steps have lowered the loss that they descend on average; it is not convex, and another "
        "seed or start may end lower",
        value=after.sampled,
        bound=before.sampled,
        assumption="pairs that are no edges are like those of the sample",
        reference="Damrich, Hamprecht (2021), On UMAP's true loss function, NeurIPS",
        details=details,
    )
