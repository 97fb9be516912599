"""Mutual information that two random labellings share on average (permutation model)."""

import numpy as np
from scipy.special import gammaln

from hyperplan._core.parallel import spans, thread_map
from hyperplan.metrics._expected_information_kernels import expected_terms

PAIRS = 1 << 12  # classes times clusters in a task


def expected_information(classes, clusters) -> float:
    """Mean mutual information over all labellings with these sizes of classes and clusters.

    >>> import numpy as np
    >>> round(expected_information(np.array([2, 2]), np.array([2, 2])), 4)
    0.231
    """
    n = int(classes.sum())
    log_factorial = gammaln(np.arange(1.0, n + 2.0))
    terms = np.empty(classes.shape[0])

    def run(span):
        expected_terms(classes[span], clusters, log_factorial, terms[span])

    thread_map(run, spans(classes.shape[0], max(1, PAIRS // clusters.shape[0])))
    return float(terms.sum())


def expected_mutual_information(contingency, n_samples):
    """The same, of a table of counts.

    Parameters
    ----------
    contingency : {ndarray, sparse matrix} of shape (n_classes, n_clusters)
        Counts; only their sums over rows and columns matter.
    n_samples : int
        Their total.

    Returns
    -------
    emi : float
        In nats.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.metrics.cluster import expected_mutual_information
    >>> round(expected_mutual_information(np.array([[2, 0], [0, 2]]), 4), 4)
    0.231
    """
    classes, clusters = (np.ravel(contingency.sum(axis=axis)).astype(np.int64, copy=False) for axis in (1, 0))
    if classes.sum() != n_samples:
        raise ValueError(f"the counts add up to {classes.sum()}, not to n_samples={n_samples}")
    if classes.shape[0] == 1 or clusters.shape[0] == 1:
        return 0.0
    return expected_information(classes, clusters)
