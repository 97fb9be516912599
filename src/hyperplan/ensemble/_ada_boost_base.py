"""What boosting by reweighting shares: copies of the weak learner, checks of rows, scores of the stages."""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Int,
    Is,
    MetaEstimatorMixin,
    Null,
    OneOf,
    Real,
    Seed,
    check_design,
    check_is_fitted,
    clone,
    is_classifier,
)

MAX_SEED = np.iinfo(np.int32).max
WEAK_LEARNER = OneOf(
    Is(
        lambda value: all(callable(getattr(value, method, None)) for method in ("fit", "predict")),
        "an object implementing 'fit' and 'predict'",
    ),
    Null,
)


def with_seeds(estimator, random_state):
    """Set every `random_state` among the estimator's parameters, nested ones too, in the order of their names."""
    names = [name for name in sorted(estimator.get_params(deep=True)) if name.split("__")[-1] == "random_state"]
    if names:
        estimator.set_params(**{name: random_state.randint(MAX_SEED) for name in names})
    return estimator


def fresh_copy(estimator, random_state):
    """Unfitted copy of the weak learner with seeds of its own."""
    return with_seeds(clone(estimator), random_state)


class BaseAdaBoost(MetaEstimatorMixin, BaseEstimator):
    """A sequence of weak learners, each fitted to the weights that its forerunners left."""

    _params = {
        "estimator": WEAK_LEARNER,
        "n_estimators": Int(ge=1),
        "learning_rate": Real(gt=0),
        "random_state": Seed,
    }

    def __len__(self):
        """Return the number of weak learners."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return one of the weak learners."""
        return self.estimators_[index]

    def __iter__(self):
        """Go through the weak learners."""
        return iter(self.estimators_)

    def _check_rows(self, X):
        return check_design(self, X, dtype=None, ensure_2d=True, allow_nd=True)

    def staged_score(self, X, y, sample_weight=None):
        """Score (accuracy, or R2) after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Yields
        ------
        score : float
            Score of the first rounds.
        """
        from hyperplan._base import accuracy_score, r2_score

        score = accuracy_score if is_classifier(self) else r2_score
        for prediction in self.staged_predict(self._check_rows(X)):
            yield score(y, prediction, sample_weight=sample_weight)

    @property
    def feature_importances_(self):
        """Mean importances of the weak learners, by their weights."""
        if not getattr(self, "estimators_", None):
            raise ValueError("Estimator not fitted, call `fit` before `feature_importances_`.")
        check_is_fitted(self)
        weights = self.estimator_weights_[: len(self.estimators_)]
        try:
            total = sum(w * model.feature_importances_ for w, model in zip(weights, self.estimators_))
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a feature_importances_ attribute"
            ) from error
        return total / self.estimator_weights_.sum()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
