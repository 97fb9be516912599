"""Workloads of boosting by reweighting, and of classical gradient boosting with exact trees."""

from cases._case import Case
from cases._quality import r2
from cases.linear import same, sizes
from cases.trees import auc, tabular

STUMPS = sizes((2000, 10), (10_000, 20), (50_000, 20))
TREES = ((500, 10), (5000, 20), (20_000, 20))


def boosting(name, quality, table, **options):
    """The same class and options in hyperplan and in scikit-learn."""
    return Case(
        generate=tabular,
        sizes=table,
        contenders=same(f"ensemble.{name}", peers=("sklearn",), random_state=0, **options),
        quality=quality,
        lower_is_better=False,
        apply="predict" if quality is r2 else "predict_proba",
    )


CASES = {
    "adaboost": boosting("AdaBoostClassifier", auc, STUMPS, n_estimators=200),
    "gradient_boosting": boosting("GradientBoostingClassifier", auc, sizes(*TREES), n_estimators=100),
    "gradient_boosting_reg": boosting("GradientBoostingRegressor", r2, sizes(*TREES, numbers=True), n_estimators=100),
}
