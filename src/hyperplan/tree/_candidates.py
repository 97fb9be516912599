"""Single trees in the model competition."""

from hyperplan._base.candidate import Candidate, Range

SPACE = {
    "max_leaf_nodes": Range(4, 128, log=True, whole=True),
    "min_samples_leaf": Range(1, 60, log=True, whole=True),
}
DEFAULTS = {"max_leaf_nodes": 16, "min_samples_leaf": 5, "random_state": 0}
CANDIDATES = tuple(
    Candidate(f"tree.DecisionTree{kind}", task, "Decision tree", 20, "trees", (0.01, 0.3), DEFAULTS, SPACE)
    for kind, task in (("Classifier", "classification"), ("Regressor", "regression"))
)
