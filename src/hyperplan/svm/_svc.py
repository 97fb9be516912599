"""Support vector classification with kernels.

    minimise   1/2 |w|^2 + sum_i C_i max(0, 1 - s_i f(x_i)),   f(x) = <w, phi(x)> + b

with s_i = -1 or +1 and C_i = C times sample and class weight, through the dual: f(x) = sum_i beta_i k(x_i, x) + b with
0 <= s_i beta_i <= C_i and sum_i beta_i = 0.  `NuSVC` sets the share of margin errors in place of C.  With more than two
classes: one machine per pair, and votes.  Stops when no pair of coefficients violates the optimality conditions by more
than `tol`.
"""

from hyperplan._base import Real
from hyperplan._solvers.kernel_svm_problems import solve_classification, solve_nu_classification
from hyperplan.svm._kernel_classifier import KernelClassifier, pairs_of


class SVC(KernelClassifier):
    """Support vector classification with a kernel.

    Minimises ``1/2 |w|^2 + C sum_i max(0, 1 - s_i f(x_i))`` in feature space.  Pair steps with second-order choice on
    the dual: all in one kernel up to 2000 rows, beyond on working sets of about a thousand rows whose kernel values are
    one matrix product in single precision.  Stops when the optimality conditions hold up to `tol`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin violation; infinity asks for a separation without errors and raises where there is none.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        Kernel; a callable gets two tables and returns the matrix of values (`hyperplan.kernels` has some).
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of 'rbf', 'poly' and 'sigmoid': ``1 / (n_features * X.var())``, ``1 / n_features``, or a number.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether to set rows aside that have been settled for a while (more than 2000 rows).
    probability : bool, default=False
        Whether to fit probabilities, from five further fits on parts of the rows.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Megabytes for kernel rows (more than 2000 rows); at least two working sets are kept.
    class_weight : dict or 'balanced', default=None
        Factors of C per class; 'balanced' makes all classes weigh the same.
    verbose : bool, default=False
        Print a line per fit.
    max_iter : int, default=-1
        Largest number of pair steps per machine; -1 for ten million or a hundred per row.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Scores per class or per pair of classes; with two classes there is one score.
    break_ties : bool, default=False
        Whether equal votes are decided by the scores (slower), else by the order of the classes.
    random_state : int, RandomState instance or None, default=None
        Order of the rows for `probability`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors, by class.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Support vectors; empty for 'precomputed' and callable kernels.
    n_support_ : ndarray of shape (n_classes,)
        Numbers of support vectors per class.
    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_support)
        Coefficients of the support vectors: row j - 1 for class i < j and row i for class j in the pair (i, j).
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Constants of the pairs.
    coef_ : {ndarray, sparse matrix} of shape (n_pairs, n_features)
        Weights of the columns, for the linear kernel.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    class_weight_ : ndarray of shape (n_classes,)
        Factors of C.
    n_iter_ : ndarray of shape (n_pairs,)
        Pair steps of each machine.
    fit_status_ : int
        0 when all machines converged, else 1.
    shape_fit_ : tuple of int
        Shape of X.
    probA_, probB_ : ndarray of shape (n_pairs,)
        Slopes and constants (zero) of the sigmoids; empty without probabilities.
    certificate_ : Certificate
        Largest violation; primal, dual, gap, free and bound vectors, margin ``1 / |w|``.
    compression_bound_ : float
        Upper bound on the error rate, with 95 % confidence, from the number of support vectors alone.  Holds for a
        kernel and parameters chosen without these rows ('scale' looks at them).
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Fan, Chen, Lin (2005), Working set selection using second order information for training SVM, JMLR 6.
    Joachims (1999), Making large-scale SVM learning practical.
    Chang, Lin (2011), LIBSVM, ACM TIST 2(3).

    Examples
    --------
    >>> from hyperplan.svm import SVC
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> model = SVC(C=10.0, gamma=1.0).fit(X, ["same", "same", "other", "other"])
    >>> model.predict([[0.1, 0.1], [0.9, 0.1]]).tolist()
    ['same', 'other']
    >>> model.certificate_.holds
    True
    """

    _params = {"C": Real(gt=0), **KernelClassifier._params}

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _solve(self, source, signs, weight):
        return solve_classification(source, signs, self.C * weight, **self._solver_options())


class NuSVC(KernelClassifier):
    """Support vector classification with a bound on the share of margin errors.

    The solution of `SVC` for a C that is found with it: at most a share `nu` of the rows has a margin below 1, and at
    least a share `nu` are support vectors.  Same algorithm, with one constraint per class.

    Parameters
    ----------
    nu : float, default=0.5
        Share of margin errors and of support vectors, above 0 and at most twice the share of the smaller class.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'} or callable, default='rbf'
        Kernel, as in `SVC`.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of 'rbf', 'poly' and 'sigmoid'.
    coef0 : float, default=0.0
        Constant of 'poly' and 'sigmoid'.
    shrinking : bool, default=True
        Whether to set rows aside that have been settled for a while.
    probability : bool, default=False
        Whether to fit probabilities, from five further fits on parts of the rows.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Megabytes for kernel rows.
    class_weight : dict or 'balanced', default=None
        Without effect, as in scikit-learn: there is no C to multiply.
    verbose : bool, default=False
        Print a line per fit.
    max_iter : int, default=-1
        Largest number of pair steps per machine; -1 for ten million or a hundred per row.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Scores per class or per pair of classes.
    break_ties : bool, default=False
        Whether equal votes are decided by the scores.
    random_state : int, RandomState instance or None, default=None
        Order of the rows for `probability`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_ : ndarray
        As in `SVC`.
    classes_, class_weight_, n_iter_, fit_status_, shape_fit_, probA_, probB_ : ndarray
        As in `SVC`.
    certificate_ : Certificate
        Largest violation; primal, dual and gap of the `SVC` problem with the same solution.
    compression_bound_ : float
        Upper bound on the error rate from the number of support vectors.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Schoelkopf, Smola, Williamson, Bartlett (2000), New support vector algorithms, Neural Computation 12.

    Examples
    --------
    >>> from hyperplan.svm import NuSVC
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]]
    >>> NuSVC().fit(X, [1, 1, 2, 2]).predict([[-0.8, -1.0]]).tolist()
    [1]
    """

    _params = {"nu": Real(gt=0, le=1), **KernelClassifier._params}
    _weighs_classes = False

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=False,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _check_members(self, members, weight):
        totals = [weight[rows].sum() for rows in members]
        for i, j in pairs_of(len(members)):
            smaller = min(totals[i], totals[j])
            if 0.5 * self.nu * (totals[i] + totals[j]) > smaller:
                largest = 2.0 * smaller / (totals[i] + totals[j])
                raise ValueError(
                    f"specified nu is infeasible: for classes {i} and {j} (in sorted order) nu can be at most "
                    f"{largest:.6g}, twice the share of the smaller class; got nu={self.nu}."
                )

    def _solve(self, source, signs, weight):
        nu = min(self.nu, 2.0 * min(weight[signs > 0].sum(), weight[signs < 0].sum()) / weight.sum())
        return solve_nu_classification(source, signs, weight, nu, **self._solver_options())
