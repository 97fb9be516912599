"""Kernel support vector machines in the model competition."""

from hyperplan._base.candidate import Candidate, Range

WIDTHS = {"C": Range(0.03, 100.0, log=True), "gamma": Range(1e-3, 1.0, log=True)}
CANDIDATES = (
    Candidate(
        "svm.SVC",
        "classification",
        "Support vectors",
        45,
        "linear",
        (0.05, 3.0),
        {"probability": True, "random_state": 0},
        WIDTHS,
        most_rows=5_000,  # probabilities take six fits
    ),
    Candidate("svm.SVR", "regression", "Support vectors", 45, "linear", (0.05, 2.0), {}, WIDTHS, most_rows=10_000),
)
