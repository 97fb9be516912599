"""The rounds of AdaBoost: the course's discrete one, SAMME, real, gentle and LogitBoost.

All keep weights w of the rows (they sum to 1) and answers h of weak learners, and lower a mean loss of ``F = sum f_t``:

    variant    round                                                                          loss of F
    discrete   eps = sum w 1{h != y},  alpha = 1/2 log((1 - eps) / eps),  f = alpha h         exp(-y F)
    samme      the same for K classes: alpha = log((1 - eps) / eps) + log(K - 1)              exp(-Y'F / K)
    real       p = class shares of the learner,  f = 1/2 log(p / (1 - p))                     exp(-y F)
    gentle     f = weighted least squares fit of y                                            exp(-y F)
    logit      f = 1/2 fit of (y* - p) / (p (1 - p)) by weights p (1 - p)                     log(1 + exp(-2 y F))

Weights are multiplied by ``exp(-y f)`` and divided by their sum Z_t (logit: p (1 - p) anew).  Since each wrong row has
``exp(-y F) >= 1``, the training error is at most ``prod Z_t``; for `discrete`, ``Z_t = 2 sqrt(eps (1 - eps))
<= exp(-2 (1/2 - eps)^2)``.  With K classes a wrong majority gives at most half of the votes to the true class, so that
the same holds with ``Z_t = (1 - eps) exp(-alpha / 2) + eps exp(alpha / 2)``.
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._base import Certificate
from hyperplan.ensemble import _ada_boost_kernels as passes

LEAST_WEIGHT = np.finfo(np.float64).eps
LARGEST_RESPONSE = 4.0  # LogitBoost: larger working responses are cut
REFERENCE = "Freund, Schapire (1997), A decision-theoretic generalization of on-line learning, theorem 6"
REAL_REFERENCE = "Schapire, Singer (1999), Improved boosting algorithms using confidence-rated predictions, theorem 1"


class Problem(NamedTuple):
    """Class numbers, weights at the start (sum 1) and the settings of the rounds."""

    codes: np.ndarray
    initial: np.ndarray
    n_classes: int
    n_rounds: int
    learning_rate: float


class Rounds(NamedTuple):
    """What the rounds left: models, their weights in the sum and weighted errors, Z of each, training error, loss."""

    models: list
    weights: np.ndarray
    errors: np.ndarray
    factors: np.ndarray
    training_error: float
    loss: float
    overflow: int = -1  # round in which the weights became infinite


def vote_rounds(problem, learner, random_state, halved) -> Rounds:
    """Discrete AdaBoost (`halved`: alpha with the factor 1/2, a perfect learner stands alone) and SAMME."""
    codes, K, rate = problem.codes, problem.n_classes, problem.learning_rate
    weight = problem.initial.copy()
    votes = np.zeros((codes.shape[0], K))
    models, alphas, errors, overflow = [], [], [], -1
    for t in range(problem.n_rounds):
        passes.scale_up_to(weight, problem.initial, 1.0, LEAST_WEIGHT)
        model, answers = learner.classes(weight, random_state)
        missed, total = passes.missed_weight(codes, answers, weight)
        error = missed / total
        if error <= 0.0:
            if halved:
                models, alphas, errors = [], [], []
                votes[:] = 0.0
            models, alphas, errors = [*models, model], [*alphas, 1.0], [*errors, 0.0]
            passes.cast_votes(answers, 1.0, votes)
            break
        if error >= 1.0 - 1.0 / K:
            if not models:
                raise ValueError(
                    "BaseClassifier in AdaBoostClassifier ensemble is worse than random, ensemble can not be fit. "
                    f"Its weighted error is {error:.3g} on {K} classes."
                )
            break
        alpha = rate * (math.log((1.0 - error) / error) + math.log(K - 1.0))
        models.append(model)
        alphas.append(alpha)
        errors.append(error)
        passes.cast_votes(answers, alpha, votes)
        if t == problem.n_rounds - 1:
            break
        total = passes.raise_missed(codes, answers, alpha, weight)
        if not math.isfinite(total):
            overflow = t
            break
        if total <= 0.0:
            break
        passes.scale_up_to(weight, problem.initial, total, 0.0)
    alphas, errors = np.array(alphas), np.array(errors)
    with np.errstate(over="ignore"):
        factors = (1.0 - errors) * np.exp(-0.5 * alphas) + errors * np.exp(0.5 * alphas)
    return _closed_votes(problem, models, alphas, errors, factors, votes, halved, overflow)


def _closed_votes(problem, models, alphas, errors, factors, votes, halved, overflow) -> Rounds:
    rows = np.arange(problem.codes.shape[0])
    wrong = votes.argmax(axis=1) != problem.codes
    own = votes[rows, problem.codes]
    with np.errstate(over="ignore"):
        loss = float(problem.initial @ np.exp(0.5 * alphas.sum() - own))
    perfect = bool(errors.size and errors[-1] == 0.0)
    weights = 0.5 * alphas if halved and not perfect else alphas
    return Rounds(models, weights, errors, factors, float(problem.initial @ wrong), loss, overflow)


def real_rounds(problem, learner, random_state) -> Rounds:
    """Real AdaBoost; with K classes SAMME.R."""
    codes, K, rate = problem.codes, problem.n_classes, problem.learning_rate
    weight, rows = problem.initial.copy(), np.arange(codes.shape[0])
    scores = np.zeros((codes.shape[0], K))
    models, errors, factors = [], [], []
    for _ in range(problem.n_rounds):
        passes.scale_up_to(weight, problem.initial, 1.0, LEAST_WEIGHT)
        model, shares = learner.shares(weight, random_state)
        missed, total = passes.missed_weight(codes, shares.argmax(axis=1).astype(np.int32), weight)
        step = rate * centred_logs(shares, codes.shape[0])
        scores += step
        models.append(model)
        errors.append(missed / total)
        after = weight * np.exp(-step[rows, codes] / (K - 1))
        factors.append(after.sum() / total)
        if errors[-1] <= 0.0:
            break
        weight = after / after.sum()
    wrong = scores.argmax(axis=1) != codes
    with np.errstate(over="ignore"):
        loss = float(problem.initial @ np.exp(-scores[rows, codes] / (K - 1)))
    weights = np.full(len(models), rate)
    return Rounds(models, weights, np.array(errors), np.array(factors), float(problem.initial @ wrong), loss)


def centred_logs(shares, n_rows):
    """``(K - 1) (log p_k - mean log p)``; for two classes ``+-1/2 log(p_1 / p_0)``.

    Shares below one in `n_rows`, the number of training rows, count as that: a pure leaf is not infinitely sure.
    """
    logs = np.log(np.maximum(shares, 1.0 / max(n_rows, 2)))
    return (logs.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True))


def gentle_rounds(problem, learner, random_state) -> Rounds:
    """Gentle AdaBoost: a least squares fit of the labels -1 and 1 in each round."""
    signs = 2.0 * problem.codes - 1.0
    weight, scores = problem.initial.copy(), np.zeros(signs.shape[0])
    models, errors, factors = [], [], []
    for _ in range(problem.n_rounds):
        passes.scale_up_to(weight, problem.initial, 1.0, LEAST_WEIGHT)
        model, fitted = learner.numbers(signs, weight, random_state)
        missed, before = passes.missed_weight(problem.codes, (fitted > 0).astype(np.int32), weight)
        step = problem.learning_rate * fitted
        scores += step
        total = passes.lower_by_margin(signs, step, weight)
        models.append(model)
        errors.append(missed / before)
        factors.append(total / before)
        if missed <= 0.0 or not 0.0 < total < math.inf:
            break
        weight /= total
    with np.errstate(over="ignore"):
        loss = float(problem.initial @ np.exp(-signs * scores))
    return _closed_sum(problem, models, errors, factors, scores, loss, problem.learning_rate)


def logit_rounds(problem, learner, random_state) -> Rounds:
    """LogitBoost: a Newton step of the log-loss in each round."""
    signs = 2.0 * problem.codes - 1.0
    scores, response, weight = np.zeros(signs.shape[0]), np.empty(signs.shape[0]), np.empty(signs.shape[0])
    models, errors, factors = [], [], []
    loss, rate = math.log(2.0), 0.5 * problem.learning_rate
    for _ in range(problem.n_rounds):
        passes.working_response(signs, scores, problem.initial, LARGEST_RESPONSE, response, weight)
        weight /= weight.sum()
        model, fitted = learner.numbers(response, weight, random_state)
        missed, total = passes.missed_weight(problem.codes, (fitted > 0).astype(np.int32), weight)
        scores += rate * fitted
        before, loss = loss, passes.logistic_loss(signs, scores, problem.initial)
        models.append(model)
        errors.append(missed / total)
        factors.append(loss / before)
        if missed <= 0.0:
            break
    return _closed_sum(problem, models, errors, factors, scores, loss, rate)


def _closed_sum(problem, models, errors, factors, scores, loss, rate) -> Rounds:
    wrong = (scores > 0) != problem.codes
    weights = np.full(len(models), rate)
    return Rounds(models, weights, np.array(errors), np.array(factors), float(problem.initial @ wrong), loss)


def samme_rounds(problem, learner, random_state) -> Rounds:
    return vote_rounds(problem, learner, random_state, halved=False)


def discrete_rounds(problem, learner, random_state) -> Rounds:
    return vote_rounds(problem, learner, random_state, halved=True)


VARIANTS = {
    "samme": samme_rounds,
    "discrete": discrete_rounds,
    "real": real_rounds,
    "gentle": gentle_rounds,
    "logit": logit_rounds,
}
TWO_CLASSES = ("discrete", "gentle", "logit")


def boosting_certificate(rounds, variant, n_classes, learning_rate) -> Certificate:
    """Training error against the product of the Z_t, or against the log-loss in bits for LogitBoost."""
    details = {"errors": rounds.errors, "factors": rounds.factors, "loss": rounds.loss}
    if variant == "logit":
        return Certificate(
            kind="log-loss bound",
            guarantee="the training error is at most the mean of log2(1 + exp(-2 y F))",
            value=rounds.training_error,
            bound=rounds.loss / math.log(2.0),
            reference="Friedman, Hastie, Tibshirani (2000), Additive logistic regression, section 4",
            details=details,
        )
    with np.errstate(divide="ignore"):
        product = float(np.exp(np.log(rounds.factors).sum()))
    if variant == "real" and n_classes > 2:
        return Certificate(
            kind="exponential loss",
            guarantee="the rounds did not raise the exponential loss, which starts at 1",
            value=product,
            bound=1.0,
            reference="Zhu, Zou, Rosset, Hastie (2009), Multi-class AdaBoost",
            details={**details, "training error": rounds.training_error},
        )
    if variant in ("samme", "discrete") and n_classes == 2 and learning_rate == 1.0:
        details["edge bound"] = float(np.exp(-2.0 * ((0.5 - rounds.errors) ** 2).sum()))
    return Certificate(
        kind="product bound",
        guarantee=f"the training error is at most the product of the {len(rounds.models)} factors Z_t",
        value=rounds.training_error,
        bound=product * (1.0 + 1e-9),  # weights are kept above 2e-16, which moves the product by less
        reference=REAL_REFERENCE if variant in ("real", "gentle") else REFERENCE,
        details={**details, "product": product},
    )
