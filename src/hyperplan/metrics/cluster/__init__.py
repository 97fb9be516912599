"""Scores of clusterings, under the names of scikit-learn's `metrics.cluster`."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.metrics._contingency import contingency_matrix, pair_confusion_matrix
    from hyperplan.metrics._dispersion import calinski_harabasz_score, davies_bouldin_score
    from hyperplan.metrics._expected_information import expected_mutual_information
    from hyperplan.metrics._mutual_information import (
        adjusted_mutual_info_score,
        completeness_score,
        homogeneity_completeness_v_measure,
        homogeneity_score,
        mutual_info_score,
        normalized_mutual_info_score,
        v_measure_score,
    )
    from hyperplan.metrics._rand import adjusted_rand_score, fowlkes_mallows_score, rand_score
    from hyperplan.metrics._silhouette import silhouette_samples, silhouette_score

__getattr__, __dir__, __all__ = lazy_names(__name__)
