"""Linear support vector classification.

    minimise   pen(w, v) + sum_i C_i * loss(s_i (x_i'w + b)),   b = intercept_scaling * v

with s_i = -1 or +1, C_i = C times sample and class weight, loss(m) = max(0, 1 - m) or its square, pen = 1/2 |(w, v)|^2
or |(w, v)|_1.  The weight v of the intercept is penalised too; a larger `intercept_scaling` weakens that.  With more
than two classes: one machine per class against the rest, or Crammer and Singer's joint problem

    minimise   1/2 sum_k |(w_k, v_k)|^2 + sum_i C_i max_k (1[k != y_i] + f_k(x_i) - f_{y_i}(x_i)).

Stops when the duality gap is at most `tol` times the objective.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    Int,
    Is,
    LinearClassifierMixin,
    Null,
    OneOf,
    Seed,
    SparseCoefMixin,
    check_params,
    class_weighted,
    encode_labels,
)
from hyperplan._core.parallel import thread_map
from hyperplan._solvers.linear_svm import classification_band, fit_band, fit_joint
from hyperplan.svm._linear_common import (
    COMMON_PARAMS,
    certify,
    check_formulation,
    check_rows,
    report,
    seed_of,
    warn_unless_certified,
)

TASK_VALUES = 10_000  # values of X from which one machine per class is worth a task


def one_against_rest(X, codes, n_classes, cost, factor, **options):
    """One outcome per class, or a single one (for the second class) when there are two.

    With more than two classes a class weight multiplies the cost of its own rows in its own machine; in the others
    they are part of the rest and count once.
    """

    def fit_class(positive):
        is_own = codes == positive
        low, high = classification_band(np.where(is_own, 1.0, -1.0))
        own_cost = cost * factor if n_classes == 2 else np.where(is_own, cost * factor, cost)
        return fit_band(X, low, high, own_cost, **options)

    positives = [1] if n_classes == 2 else range(n_classes)
    has_large_tasks = len(positives) > 1 and np.prod(X.shape) > TASK_VALUES
    outcomes = thread_map(fit_class, positives) if has_large_tasks else [fit_class(k) for k in positives]
    return outcomes, np.stack([outcome.weights for outcome in outcomes])


def joint(X, codes, n_classes, cost, factor, **options):
    """Crammer and Singer's machine; with two classes its two vectors are folded into their difference."""
    outcome = fit_joint(X, codes, cost * factor, n_classes, **options)
    weights = outcome.weights
    return [outcome], weights[1:] - weights[:1] if n_classes == 2 else weights


def balanced(class_weight, labels, weight):
    """'balanced' counts weighted rows; every other choice is left as it is."""
    if not isinstance(class_weight, str) or weight is None:
        return class_weight
    counts = np.bincount(labels.codes, weights=weight, minlength=labels.classes.size)
    with np.errstate(divide="ignore"):
        per_class = np.where(counts > 0, weight.sum() / (labels.classes.size * counts), 0.0)
    return dict(zip(labels.classes.tolist(), per_class.tolist()))


class LinearSVC(LinearClassifierMixin, SparseCoefMixin, BaseEstimator):
    """Linear support vector classification with a duality certificate.

    Minimises ``1/2 |w|^2 + C sum_i loss(s_i f(x_i))`` (or ``|w|_1`` in place of the first term).  Squared hinge:
    Newton's method on the rows inside the margin.  Hinge: an augmented Lagrangian or an interior-point method.  Sparse
    or wide data: coordinate descent on the dual of either.  The l1 penalty: proximal Newton steps on a working set,
    coordinate descent with exact steps on the support, or an interior-point method.  The algorithm is chosen by the
    shape of the data; it stops when the relative duality gap is at most `tol`.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default='l2'
        Norm of the penalty; 'l1' makes `coef_` sparse.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        Loss of a margin m: ``max(0, 1 - m)`` or its square.  'hinge' does not go with 'l1'.
    dual : 'auto' or bool, default='auto'
        Kept for compatibility: both formulations have the same solution, and the faster algorithm for the shape of
        the data runs.  Combinations that scikit-learn refuses are refused.
    tol : float, default=1e-4
        Relative duality gap at which to stop.  Most fits end far below it.
    C : float, default=1.0
        Cost of a margin violation: the larger, the weaker the penalty.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        One machine per class against the rest, or one joint problem (`loss`, `penalty` and `dual` then have no effect).
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    intercept_scaling : float, default=1
        The constant appended to each row for the intercept; its weight is penalised.
    class_weight : dict or 'balanced', default=None
        Factors of C per class; 'balanced' makes all classes weigh the same.  In one-against-rest machines of more
        than two classes the factor of a class acts on its own rows in its own machine, as in liblinear.
    verbose : int, default=0
        Print a line per fit.
    random_state : int, RandomState instance or None, default=None
        Order of the rows in dual coordinate descent; no other method is random.
    max_iter : int, default=1000
        Largest number of iterations (Newton steps, or passes of coordinate descent).

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,), or 0.0 without intercept
        Constants of the decision function.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    n_iter_ : int
        Largest number of iterations over the classes.
    certificate_ : Certificate
        Primal, dual and relative gap; with several classes the sums, and the worst relative gap.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Chapelle (2007), Training a support vector machine in the primal, Neural Computation 19(5).
    Fan, Chang, Hsieh, Wang, Lin (2008), LIBLINEAR, JMLR 9.

    Examples
    --------
    >>> from hyperplan.svm import LinearSVC
    >>> X = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> model = LinearSVC().fit(X, ["left", "left", "right", "right"])
    >>> model.predict([[0.5, 0.0], [3.5, 1.0]])
    array(['left', 'right'], dtype='<U5')
    >>> model.certificate_.holds
    True
    """

    _params = {
        "penalty": Choice("l1", "l2"),
        "loss": Choice("hinge", "squared_hinge"),
        "dual": OneOf(Bool, Choice("auto")),
        **COMMON_PARAMS,
        "multi_class": Choice("ovr", "crammer_singer"),
        "fit_intercept": Bool,
        "class_weight": OneOf(Null, Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Choice("balanced")),
        "verbose": OneOf(Int(ge=0), Bool),
        "random_state": Seed,
    }

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Fit to rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factor of C for each row.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        is_joint = self.multi_class == "crammer_singer"
        if not is_joint:
            check_formulation(self.loss, self.penalty, self.dual)
        data = check_rows(self, X, y, sample_weight)  # 2 data
        labels = encode_labels(data.y, estimator_name="This solver")
        class_weight = balanced(self.class_weight, labels, data.weight)
        factor = class_weighted(np.ones(data.X.shape[0]), class_weight, labels, data.y)
        cost = np.full(data.X.shape[0], float(self.C)) if data.weight is None else self.C * data.weight
        scale = float(self.intercept_scaling) if self.fit_intercept else 0.0
        options = {"scale": scale, "tol": self.tol, "max_iter": self.max_iter, "seed": seed_of(self.random_state)}
        if not is_joint:
            options |= {"power": 1 if self.loss == "hinge" else 2, "l1": self.penalty == "l1"}
        method = joint if is_joint else one_against_rest  # 3 maths
        outcomes, weights = method(data.X, labels.codes, labels.classes.size, cost, factor, **options)
        certificate = certify(outcomes, self.tol)
        if self.verbose:
            report(self, outcomes)
        warn_unless_certified(self, certificate)
        self.classes_ = labels.classes  # 4 attributes
        self.coef_ = weights[:, : data.X.shape[1]].copy()
        self.intercept_ = scale * weights[:, -1] if self.fit_intercept else 0.0
        self.n_iter_ = int(max(outcome.n_iter for outcome in outcomes))
        self.certificate_ = certificate
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
