"""Naive Bayes in the model competition."""

from hyperplan._base.candidate import Candidate, Range

CANDIDATES = (
    Candidate(
        "naive_bayes.MixedNB",
        "classification",
        "Naive Bayes",
        14,
        "native",
        (0.01, 0.05),
        {},
        {"alpha": Range(0.1, 30.0, log=True), "var_smoothing": Range(1e-9, 1e-1, log=True)},
    ),
)
