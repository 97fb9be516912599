"""Naive Bayes classifiers: closed forms of one pass over the rows."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.naive_bayes._categorical import CategoricalNB
    from hyperplan.naive_bayes._discrete import BernoulliNB, ComplementNB, MultinomialNB
    from hyperplan.naive_bayes._gaussian import GaussianNB
    from hyperplan.naive_bayes._mixed import MixedNB

__getattr__, __dir__, __all__ = lazy_names(__name__)
