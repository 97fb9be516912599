"""Whether the tables of loaded models have the sizes that kernels take for granted: columns, classes, rows.

Most are stated as layouts (see `layout_problem`).
"""

import functools

import numpy as np

from hyperplan.persistence._checks_arrays import layout_problem, outside

LAYOUTS = {
    "naive_bayes._discrete.DiscreteNaiveBayes": (
        "class_count_: f c; class_log_prior_: f c; feature_count_: f c d; feature_log_prob_: f c d; feature_all_: f d"
    ),
    "naive_bayes._gaussian.GaussianNB": "class_count_: f c; class_prior_: f c; theta_: f c d; var_: f c d",
    "cluster._k_means_base.CentreModel": "cluster_centers_: f k d; _counts: f k",
    "discriminant_analysis._quadratic.QuadraticDiscriminantAnalysis": "means_: f c d; priors_: f c",
    "kernels._rbf_sampler.RBFSampler": "random_weights_: f d k; random_offset_: f k",
    "manifold._mds.MDS": "_fitted: f n d; embedding_: f n k",
    "manifold._umap.UMAP": "_raw_data: fs n d; embedding_: f n k; sigmas_: f n; rhos_: f n",
    "neighbors._nearest_centroid.NearestCentroid": "centroids_: f c d; deviations_: f c d; within_class_std_dev_: f d",
    "random_projection._random_projection._RandomProjection": "components_: fs k d; inverse_components_: f d k",
}


def _from_layout(text):
    return functools.partial(_layout, text=text)


def _layout(model, text):
    return layout_problem(model, text)


def _sorted_classes(model):
    """Labels of further rows are looked up by bisection."""
    classes = vars(model).get("classes_")
    if classes is None:
        return None
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 1:
        return "it has no classes"
    return None if (classes[1:] > classes[:-1]).all() else "its classes are not in order"


def _tables_problem(name, tables, n_classes, sizes):
    """A list of tables, one per column, with a line for each class and a place for each category (or more)."""
    if not isinstance(tables, list) or len(tables) != len(sizes):
        return f"{name} does not have a table for each column of categories"
    for table, size in zip(tables, sizes):
        if not isinstance(table, np.ndarray) or table.dtype.kind != "f" or table.ndim != 2:
            return f"{name} is not made of tables"
        if len(table) != n_classes or table.shape[1] < size:
            return f"a table of {name} has the wrong shape {table.shape}"
    return None


def _categorical_bayes(model):
    problem = layout_problem(model, "class_count_: f c; class_log_prior_: f c; n_categories_: i d")
    sizes = vars(model).get("n_categories_")
    if problem is not None or sizes is None:
        return problem
    if outside(sizes, 0, np.inf):
        return "a number of categories is negative"
    for name in ("category_count_", "feature_log_prob_"):
        tables = vars(model).get(name)
        problem = _tables_problem(name, tables, len(model.classes_), sizes)
        if problem is not None or any(table.shape[1] != size for table, size in zip(tables, sizes)):
            return problem or f"a table of {name} does not have the size that n_categories_ states"
    return None


def _mixed_bayes(model):
    layout = "class_count_: f c; class_prior_: f c; is_categorical_: b d; theta_: f c p; var_: f c p"
    problem, mask = layout_problem(model, layout), vars(model).get("is_categorical_")
    if problem is not None or mask is None:
        return problem
    moments, categories = model._moments, model.categories_
    shape = (len(model.classes_), int((~mask).sum()))
    if any(np.shape(part) != shape for part in (model.theta_, model.var_, *moments)):
        return "it does not have moments for each column of numbers"
    if len(categories) != mask.sum() or any(np.ndim(known) != 1 for known in categories):
        return "it does not have categories for each column of them"
    sizes = [len(known) for known in categories]
    return _tables_problem("category_log_prob_", model.category_log_prob_, shape[0], sizes) or _tables_problem(
        "category_count_", model.category_count_, shape[0], sizes
    )


def _factor_shape(kind, k, d):
    return {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}.get(kind)


def _mixture_problem(kind, weights, means, factors, d):
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in (weights, means, factors)):
        return "its parts are none"
    if means.ndim != 2 or means.shape[1] != d or weights.shape != means.shape[:1] or not means.size:
        return "its means have the wrong shape"
    if factors.shape != _factor_shape(kind, *means.shape):
        return "its precisions have the wrong shape"
    return None


def _mixture(model):
    if "means_" not in vars(model):
        return None
    parts = model.weights_, model.means_, model.precisions_cholesky_
    return _mixture_problem(model.covariance_type, *parts, model.n_features_in_)


def _mixtures(model):
    if "means_" not in vars(model):
        return None
    parts = model.weights_, model.means_, model.precisions_cholesky_
    if any(len(part) != len(model.classes_) for part in parts):
        return "it does not have a mixture for each class"
    problems = (_mixture_problem(model.covariance_type, *each, model.n_features_in_) for each in zip(*parts))
    return next((problem for problem in problems if problem is not None), None)


def _density_clusters(model):
    """Of precomputed distances there are no rows, only as many columns as there were rows."""
    is_table = not (isinstance(model.metric, str) and model.metric == "precomputed")
    rows = "components_: fibus m d; _others: fibus o d; _X: fibus n d;" if is_table else ""
    n = "n" if is_table else "d"
    return layout_problem(model, f"{rows} core_sample_indices_: i m; labels_: i {n}; core_distances_: f {n}")


def _spectral_clusters(model):
    rule = vars(model).get("_rule")
    if rule is not None and np.shape(rule.matrix)[-1:] != np.shape(vars(model).get("eigenvalues_")):
        return "its rule is for another number of coordinates"
    return layout_problem(model, "_fit_X: fs n d; embedding_: f n k; eigenvalues_: f k")


def _output_code(model):
    book = vars(model).get("code_book_")
    if book is not None and np.shape(book) != (len(model.classes_), len(model.estimators_)):
        return "its code book does not have a line for each class and a bit for each member"
    return None


SIZE_CHECKS = {
    **{f"hyperplan.{name}": _from_layout(text) for name, text in LAYOUTS.items()},
    "hyperplan.naive_bayes._common.NaiveBayesMixin": _sorted_classes,
    "hyperplan.naive_bayes._categorical.CategoricalNB": _categorical_bayes,
    "hyperplan.naive_bayes._mixed.MixedNB": _mixed_bayes,
    "hyperplan.mixture._gaussian_mixture.GaussianMixture": _mixture,
    "hyperplan.mixture._classifier.MixtureClassifier": _mixtures,
    "hyperplan.cluster._spectral.SpectralClustering": _spectral_clusters,
    "hyperplan.multiclass._output_code.OutputCodeClassifier": _output_code,
    "hyperplan.cluster._dbscan.DBSCAN": _density_clusters,
    "hyperplan.cluster._optics.OPTICS": _density_clusters,
}
