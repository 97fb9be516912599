"""Nearest neighbours in the model competition."""

from hyperplan._base.candidate import Candidate, Range

SPACE = {"n_neighbors": Range(3, 80, log=True, whole=True), "weights": ("uniform", "distance"), "p": (1, 2)}
CANDIDATES = tuple(
    Candidate(
        f"neighbors.KNeighbors{kind}",
        task,
        "Nearest neighbours",
        40,
        "linear",
        (0.01, 0.5),
        {"n_neighbors": 15, "weights": "distance"},
        SPACE,
        most_rows=20_000,
    )
    for kind, task in (("Classifier", "classification"), ("Regressor", "regression"))
)
