"""Linear models in the model competition."""

from hyperplan._base.candidate import Candidate, Range

STRENGTH = Range(1e-4, 1e2, log=True)
CANDIDATES = (
    Candidate(
        "linear_model.LogisticRegression",
        "classification",
        "Logistic regression",
        10,
        "linear",
        (0.02, 0.3),
        {"max_iter": 300},
        {"C": Range(1e-3, 1e2, log=True)},
        effort=2.0,
    ),
    Candidate(
        "linear_model.Ridge", "regression", "Ridge regression", 10, "linear", (0.01, 0.05), {}, {"alpha": STRENGTH}
    ),
    Candidate(
        "linear_model.ElasticNet",
        "regression",
        "Elastic net",
        11,
        "linear",
        (0.01, 0.1),
        {"alpha": 0.01, "l1_ratio": 0.9, "max_iter": 2000},
        {"alpha": Range(1e-4, 1.0, log=True), "l1_ratio": (0.1, 0.5, 0.9, 1.0)},
    ),
    Candidate(
        "linear_model.HuberRegressor",
        "regression",
        "Huber regression",
        12,
        "linear",
        (0.02, 0.3),
        {"max_iter": 300},
        {"alpha": Range(1e-5, 1.0, log=True), "epsilon": Range(1.05, 3.0)},
    ),
)
