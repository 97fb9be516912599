"""Evaluation that can be defended: intervals, comparisons, ties, diagnoses."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.evaluation._adjust import adjust_p_values
    from hyperplan.evaluation._advice import advice
    from hyperplan.evaluation._bayesian_correlated_t import Posterior, bayesian_correlated_t
    from hyperplan.evaluation._bias_variance import BiasVariance, bias_variance
    from hyperplan.evaluation._binomial_interval import binomial_interval
    from hyperplan.evaluation._bootstrap_632 import Bootstrap632, bootstrap_632
    from hyperplan.evaluation._bootstrap_bias_corrected import BiasCorrected, bootstrap_bias_corrected
    from hyperplan.evaluation._bootstrap_interval import bootstrap_interval
    from hyperplan.evaluation._compare_models import Difference, compare_models
    from hyperplan.evaluation._corrected_t import corrected_standard_error, corrected_t_interval, corrected_t_test
    from hyperplan.evaluation._curve import Curve
    from hyperplan.evaluation._delong import DeLong, delong, delong_interval
    from hyperplan.evaluation._diagnose import diagnose
    from hyperplan.evaluation._diagnose_record import Diagnosis
    from hyperplan.evaluation._diagnose_scores import diagnose_scores
    from hyperplan.evaluation._five_by_two import FiveByTwo, five_by_two, five_by_two_test
    from hyperplan.evaluation._interval import Interval
    from hyperplan.evaluation._learning_curve import learning_curve
    from hyperplan.evaluation._mcnemar import McNemar, mcnemar
    from hyperplan.evaluation._nested_cross_validation import NestedScores, nested_cross_validation
    from hyperplan.evaluation._one_standard_error import Choice, one_standard_error
    from hyperplan.evaluation._permutation_importance import Importances, permutation_importance
    from hyperplan.evaluation._score_models import SplitScores, score_models
    from hyperplan.evaluation._tied_groups import Group, tied_groups
    from hyperplan.evaluation._validation_curve import validation_curve

__getattr__, __dir__, __all__ = lazy_names(__name__)
