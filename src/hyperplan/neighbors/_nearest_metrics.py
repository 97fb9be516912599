"""Which distances each way of searching takes, and how they are asked for."""

from hyperplan._math import distances
from hyperplan.metrics._distance_source import BOOLEAN, BY_SCIPY, RARE, SPARSE

BOXES = ("chebyshev", "cityblock", "euclidean", "infinity", "l1", "l2", "manhattan", "minkowski", "p")
TURNED = ("mahalanobis", "seuclidean")  # Minkowski distances after a linear map
SAME = {"sokalmichener": "rogerstanimoto"}  # another name for the same number

VALID_METRICS = {
    "ball_tree": sorted(
        {*BOXES, *TURNED, *BOOLEAN, *SAME, "braycurtis", "canberra", "hamming", "haversine", "pyfunc"} - {"yule"}
    ),
    "kd_tree": sorted(BOXES),
    "brute": sorted(
        {*distances.CODES, *BY_SCIPY, *RARE, *SAME, "cityblock", "l1", "l2", "precomputed"},
    ),
}
VALID_METRICS_SPARSE = {"ball_tree": [], "kd_tree": [], "brute": sorted({*SPARSE, "precomputed"})}
ALL_METRICS = sorted(set().union(*VALID_METRICS.values()))


def is_metric_object(metric) -> bool:
    """Whether this is an object such as scikit-learn's `DistanceMetric`, which measures whole tables."""
    return not isinstance(metric, str) and hasattr(metric, "pairwise")


def check_metric(metric, algorithm) -> None:
    """Raise a `ValueError` if that way of searching does not take the metric."""
    if callable(metric):
        if algorithm == "kd_tree":
            raise ValueError(
                f"kd_tree does not support callable metric '{metric}'"
                "Function call overhead will resultin very poor performance."
            )
        return
    if is_metric_object(metric):
        return
    if algorithm == "auto":
        algorithm = "ball_tree" if metric in VALID_METRICS["ball_tree"] else "brute"
    if metric not in VALID_METRICS.get(algorithm, VALID_METRICS["brute"]):
        raise ValueError(
            f"Metric '{metric}' not valid. Use sorted(hyperplan.neighbors.VALID_METRICS['{algorithm}']) to get valid "
            "options. Metric can also be a callable function."
        )


def effective_metric(metric, p, metric_params):
    """The name and the parameters that a metric comes down to: "minkowski" with p = 2 is "euclidean"."""
    options = dict(metric_params or {})
    if metric != "minkowski":
        return metric, options
    p, w = options.pop("p", p), options.pop("w", None)
    if w is None and p in (1, 2, float("inf")):
        return {1: "manhattan", 2: "euclidean"}.get(p, "chebyshev"), options
    return metric, {**options, "p": p, "w": w}
