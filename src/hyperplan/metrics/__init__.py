"""Metrics: pure functions of true and predicted values, with weights."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan._base.scoring import make_scorer
    from hyperplan.metrics._absolute_errors import (
        max_error,
        mean_absolute_error,
        mean_absolute_percentage_error,
        median_absolute_error,
    )
    from hyperplan.metrics._accuracy import (
        accuracy_score,
        balanced_accuracy_score,
        balanced_error_rate,
        hamming_loss,
        zero_one_loss,
    )
    from hyperplan.metrics._agreement import class_likelihood_ratios, cohen_kappa_score, matthews_corrcoef
    from hyperplan.metrics._calibration import calibration_curve, expected_calibration_error
    from hyperplan.metrics._classification_report import classification_report
    from hyperplan.metrics._confusion import confusion_matrix, multilabel_confusion_matrix
    from hyperplan.metrics._contingency import pair_confusion_matrix
    from hyperplan.metrics._density import coverage_score, mean_negative_log_density
    from hyperplan.metrics._deviances import (
        d2_tweedie_score,
        mean_gamma_deviance,
        mean_poisson_deviance,
        mean_tweedie_deviance,
    )
    from hyperplan.metrics._dispersion import calinski_harabasz_score, davies_bouldin_score
    from hyperplan.metrics._embedding import elbow, explained_variance_ratio, residual_variance, stress
    from hyperplan.metrics._explained_share import explained_variance_score, r2_score
    from hyperplan.metrics._gain import dcg_score, ndcg_score
    from hyperplan.metrics._hinge import hinge_loss
    from hyperplan.metrics._label_ranking import (
        coverage_error,
        label_ranking_average_precision_score,
        label_ranking_loss,
    )
    from hyperplan.metrics._metric_axioms import MetricAxioms, metric_axioms
    from hyperplan.metrics._mutual_information import (
        adjusted_mutual_info_score,
        completeness_score,
        homogeneity_completeness_v_measure,
        homogeneity_score,
        mutual_info_score,
        normalized_mutual_info_score,
        v_measure_score,
    )
    from hyperplan.metrics._named_distances import euclidean_distances, nan_euclidean_distances
    from hyperplan.metrics._neighbourhood import continuity, trustworthiness
    from hyperplan.metrics._pairwise_distances import (
        pairwise_distances,
        pairwise_distances_argmin,
        pairwise_distances_argmin_min,
        pairwise_distances_chunked,
    )
    from hyperplan.metrics._pinball import d2_absolute_error_score, d2_pinball_score, mean_pinball_loss
    from hyperplan.metrics._precision_recall import (
        f1_score,
        false_discovery_proportion,
        fbeta_score,
        jaccard_score,
        precision_recall_fscore_support,
        precision_score,
        recall_score,
    )
    from hyperplan.metrics._precision_recall_curve import (
        average_precision_score,
        interpolated_precision,
        precision_recall_curve,
    )
    from hyperplan.metrics._precision_recall_gain import auprg_score, precision_recall_gain_curve
    from hyperplan.metrics._probability import brier_score_loss, d2_brier_score, d2_log_loss_score, log_loss
    from hyperplan.metrics._rand import adjusted_rand_score, fowlkes_mallows_score, rand_score
    from hyperplan.metrics._roc import auc, det_curve, roc_auc_score, roc_curve
    from hyperplan.metrics._scorers import check_scoring, get_scorer, get_scorer_names
    from hyperplan.metrics._silhouette import silhouette_samples, silhouette_score
    from hyperplan.metrics._squared_errors import (
        mean_squared_error,
        mean_squared_log_error,
        root_mean_squared_error,
        root_mean_squared_log_error,
    )
    from hyperplan.metrics._thresholds import confusion_matrix_at_thresholds, metric_at_thresholds
    from hyperplan.metrics._top_k import top_k_accuracy_score

__getattr__, __dir__, __all__ = lazy_names(__name__)
