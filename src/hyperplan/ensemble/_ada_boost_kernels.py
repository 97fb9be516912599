"""Passes over the rows between two rounds of AdaBoost.  No X here; weights are a vector, answers are class numbers
(-1: a class that the training labels do not have)."""

import math

from hyperplan._core.jit import kernel


@kernel
def missed_weight(codes, answers, weight):
    """Weight of the wrong answers, and of all."""
    missed, total = 0.0, 0.0
    for i in range(weight.shape[0]):
        total += weight[i]
        if answers[i] != codes[i]:
            missed += weight[i]
    return missed, total


@kernel
def cast_votes(answers, amount, votes):  # OUT: votes, shape (n_rows, n_classes)
    for i in range(votes.shape[0]):
        if answers[i] >= 0:
            votes[i, answers[i]] += amount


@kernel
def raise_missed(codes, answers, log_factor, weight):  # OUT: weight; returns the new sum
    """Multiply the weights of wrong answers by ``exp(log_factor)``, even where the factor alone is infinite."""
    plain, total = log_factor < 700.0, 0.0
    factor = math.exp(log_factor) if plain else 0.0
    for i in range(weight.shape[0]):
        if answers[i] != codes[i] and weight[i] > 0.0:
            weight[i] = weight[i] * factor if plain else math.exp(math.log(weight[i]) + log_factor)
        total += weight[i]
    return total


@kernel
def scale_up_to(weight, initial, divisor, least):  # OUT: weight
    """Divide; weights that were positive at the start stay at `least` or above."""
    for i in range(weight.shape[0]):
        weight[i] = max(weight[i] / divisor, least) if initial[i] > 0.0 else 0.0


@kernel
def lower_by_margin(signs, scores, weight):  # OUT: weight; returns the new sum
    """Multiply by ``exp(-y f)``, y = signs."""
    total = 0.0
    for i in range(weight.shape[0]):
        weight[i] *= math.exp(-signs[i] * scores[i])
        total += weight[i]
    return total


@kernel
def working_response(signs, scores, initial, largest, response, weight):  # OUT: response, weight
    """LogitBoost: z = (y* - p) / (p (1 - p)) cut at +-largest, and weights p (1 - p), with p = 1 / (1 + exp(-2 F))."""
    for i in range(signs.shape[0]):
        margin = signs[i] * scores[i]
        wrong = 1.0 / (1.0 + math.exp(2.0 * margin)) if margin < 300.0 else 0.0  # probability of the other class
        response[i] = signs[i] * min(1.0 / max(1.0 - wrong, 1e-300), largest)
        weight[i] = initial[i] * max(wrong * (1.0 - wrong), 1e-15)


@kernel
def logistic_loss(signs, scores, initial):
    """Weighted mean of ``log(1 + exp(-2 y F))``; `initial` sums to one."""
    total = 0.0
    for i in range(signs.shape[0]):
        a = -2.0 * signs[i] * scores[i]
        total += initial[i] * (max(a, 0.0) + math.log1p(math.exp(-abs(a))))
    return total
