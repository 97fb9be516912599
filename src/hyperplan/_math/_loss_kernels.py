"""Losses by integer code: value, slope and curvature in the score f, one branch each.

y, f, weight and outputs are contiguous float64; scores of several classes are C-ordered (n, K).  Three groups share
a change of variable: margin losses see m = y f (y = +1 or -1), residual losses r = f - y, target losses y and f.
"""

import math

from hyperplan._core.jit import kernel

ZERO_ONE, LOGISTIC, HINGE, SQUARED_HINGE, HALF_SQUARED_HINGE, MODIFIED_HUBER, EXPONENTIAL, PERCEPTRON = range(8)
SQUARED, SQUARED_FULL, GAUSSIAN, EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE, HUBER, QUANTILE = range(20, 27)
LOG_LOSS, POISSON, GAMMA, TWEEDIE = range(40, 44)


@kernel
def softplus(z):
    """log(1 + e^z) without overflow."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@kernel
def sigmoid_scalar(z):
    """1 / (1 + e^-z), accurate in both tails."""
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    e = math.exp(z)
    return e / (1.0 + e)


@kernel
def margin_value(code, m):
    if code == LOGISTIC:
        return softplus(-m)
    if code == HINGE:
        return max(1.0 - m, 0.0)
    if code == SQUARED_HINGE:
        return max(1.0 - m, 0.0) ** 2
    if code == HALF_SQUARED_HINGE:
        return 0.5 * max(1.0 - m, 0.0) ** 2
    if code == MODIFIED_HUBER:
        return -4.0 * m if m < -1.0 else max(1.0 - m, 0.0) ** 2
    if code == EXPONENTIAL:
        return math.exp(-m)
    if code == PERCEPTRON:
        return max(-m, 0.0)
    return 1.0 if m <= 0.0 else 0.0  # ZERO_ONE


@kernel
def margin_slope(code, m):
    """d loss / d m; at a kink the subgradient of least size, but -1 for the perceptron at m = 0 (a mistake)."""
    if code == LOGISTIC:
        return -sigmoid_scalar(-m)
    if code == HINGE:
        return -1.0 if m < 1.0 else 0.0
    if code == SQUARED_HINGE:
        return -2.0 * max(1.0 - m, 0.0)
    if code == HALF_SQUARED_HINGE:
        return -max(1.0 - m, 0.0)
    if code == MODIFIED_HUBER:
        return -4.0 if m < -1.0 else -2.0 * max(1.0 - m, 0.0)
    if code == EXPONENTIAL:
        return -math.exp(-m)
    if code == PERCEPTRON:
        return -1.0 if m <= 0.0 else 0.0
    return 0.0  # ZERO_ONE


@kernel
def margin_curvature(code, m):
    if code == LOGISTIC:
        return sigmoid_scalar(m) * sigmoid_scalar(-m)
    if code == SQUARED_HINGE:
        return 2.0 if m < 1.0 else 0.0
    if code == HALF_SQUARED_HINGE:
        return 1.0 if m < 1.0 else 0.0
    if code == MODIFIED_HUBER:
        return 2.0 if -1.0 <= m < 1.0 else 0.0
    if code == EXPONENTIAL:
        return math.exp(-m)
    return 0.0


@kernel
def residual_value(code, parameter, r):
    if code == SQUARED:
        return 0.5 * r * r
    if code == SQUARED_FULL:
        return r * r
    if code == GAUSSIAN:
        return 0.5 * math.log(2.0 * math.pi * parameter * parameter) + 0.5 * (r / parameter) ** 2
    if code == EPSILON_INSENSITIVE:
        return max(abs(r) - parameter, 0.0)
    if code == SQUARED_EPSILON_INSENSITIVE:
        return max(abs(r) - parameter, 0.0) ** 2
    if code == HUBER:
        size = abs(r)
        return 0.5 * r * r if size <= parameter else parameter * (size - 0.5 * parameter)
    return (1.0 - parameter) * r if r > 0.0 else -parameter * r  # QUANTILE


@kernel
def residual_slope(code, parameter, r):
    """d loss / d r, which is d loss / d f; 0 at a kink where 0 is a subgradient."""
    if code == SQUARED:
        return r
    if code == SQUARED_FULL:
        return 2.0 * r
    if code == GAUSSIAN:
        return r / (parameter * parameter)
    if code == EPSILON_INSENSITIVE:
        return math.copysign(1.0, r) if abs(r) > parameter else 0.0
    if code == SQUARED_EPSILON_INSENSITIVE:
        return math.copysign(2.0 * max(abs(r) - parameter, 0.0), r)
    if code == HUBER:
        return max(-parameter, min(parameter, r))
    return (1.0 - parameter) if r > 0.0 else (-parameter if r < 0.0 else 0.0)  # QUANTILE


@kernel
def residual_curvature(code, parameter, r):
    if code == SQUARED:
        return 1.0
    if code == SQUARED_FULL:
        return 2.0
    if code == GAUSSIAN:
        return 1.0 / (parameter * parameter)
    if code == SQUARED_EPSILON_INSENSITIVE:
        return 2.0 if abs(r) > parameter else 0.0
    if code == HUBER:
        return 1.0 if abs(r) <= parameter else 0.0
    return 0.0


@kernel
def target_value(code, power, y, f):
    """Half deviances (never negative) with mean e^f, and the log-loss with mean sigma(f).

    For Tweedie powers above 2 the sum is factored so that overflow gives inf, never inf - inf.
    """
    if code == LOG_LOSS:
        return softplus(f) - y * f if f < 0.0 else softplus(-f) + (1.0 - y) * f
    if code == POISSON or (code == TWEEDIE and power == 1.0):
        return math.exp(f) - y * f + (y * math.log(y) - y if y > 0.0 else 0.0)
    if code == GAMMA or (code == TWEEDIE and power == 2.0):
        return y * math.exp(-f) + f - 1.0 - math.log(y)
    if power == 0.0:
        return 0.5 * (y - math.exp(f)) ** 2
    constant = y ** (2.0 - power) / ((1.0 - power) * (2.0 - power)) if y > 0.0 else 0.0
    if power > 2.0:
        return constant + math.exp((2.0 - power) * f) * (y * math.exp(-f) / (power - 1.0) - 1.0 / (power - 2.0))
    pull = y * math.exp((1.0 - power) * f) / (power - 1.0) if y > 0.0 else 0.0
    return constant + pull + math.exp((2.0 - power) * f) / (2.0 - power)


@kernel
def target_slope(code, power, y, f):
    if code == LOG_LOSS:
        return sigmoid_scalar(f) - y
    if code == POISSON or (code == TWEEDIE and power == 1.0):
        return math.exp(f) - y
    if code == GAMMA or (code == TWEEDIE and power == 2.0):
        return 1.0 - y * math.exp(-f)
    if power == 0.0:
        return math.exp(f) * (math.exp(f) - y)
    if power > 2.0:
        return math.exp((2.0 - power) * f) * (1.0 - y * math.exp(-f))
    pull = y * math.exp((1.0 - power) * f) if y > 0.0 else 0.0
    return math.exp((2.0 - power) * f) - pull


@kernel
def target_curvature(code, power, y, f):
    if code == LOG_LOSS:
        return sigmoid_scalar(f) * sigmoid_scalar(-f)
    if code == POISSON or (code == TWEEDIE and power == 1.0):
        return math.exp(f)
    if code == GAMMA or (code == TWEEDIE and power == 2.0):
        return y * math.exp(-f)
    if power == 0.0:
        return math.exp(f) * (2.0 * math.exp(f) - y)
    if power > 2.0:
        return math.exp((2.0 - power) * f) * ((power - 1.0) * y * math.exp(-f) - (power - 2.0))
    pull = (power - 1.0) * y * math.exp((1.0 - power) * f) if y > 0.0 else 0.0
    return (2.0 - power) * math.exp((2.0 - power) * f) + pull


@kernel
def loss_value(code, parameter, y, f):
    """One value, for any code."""
    if code < SQUARED:
        return margin_value(code, y * f)
    if code < LOG_LOSS:
        return residual_value(code, parameter, f - y)
    return target_value(code, parameter, y, f)


@kernel
def loss_slope(code, parameter, y, f):
    """d loss / d f, for any code."""
    if code < SQUARED:
        return y * margin_slope(code, y * f)
    if code < LOG_LOSS:
        return residual_slope(code, parameter, f - y)
    return target_slope(code, parameter, y, f)


@kernel
def loss_curvature(code, parameter, y, f):
    """d^2 loss / d f^2, for any code (0 where the loss is piecewise linear)."""
    if code < SQUARED:
        return margin_curvature(code, y * f)
    if code < LOG_LOSS:
        return residual_curvature(code, parameter, f - y)
    return target_curvature(code, parameter, y, f)


@kernel
def fill_values(code, parameter, y, f, out):  # OUT: out
    for i in range(y.shape[0]):
        out[i] = loss_value(code, parameter, y[i], f[i])


@kernel
def fill_slopes(code, parameter, y, f, out):  # OUT: out
    for i in range(y.shape[0]):
        out[i] = loss_slope(code, parameter, y[i], f[i])


@kernel
def fill_curvatures(code, parameter, y, f, out):  # OUT: out
    for i in range(y.shape[0]):
        out[i] = loss_curvature(code, parameter, y[i], f[i])


@kernel
def weighted_loss(code, parameter, y, f, weight, slope):  # OUT: slope
    """Sum of weight * loss; `slope` receives weight * d loss / d f: one pass serves a gradient step."""
    total = 0.0
    for i in range(y.shape[0]):
        if weight[i] != 0.0:
            total += weight[i] * loss_value(code, parameter, y[i], f[i])
            slope[i] = weight[i] * loss_slope(code, parameter, y[i], f[i])
        else:
            slope[i] = 0.0
    return total


@kernel
def softmax_nll(codes, scores, weight, slope):  # OUT: slope
    """Sum of weight * (log sum_k e^{f_k} - f_y); `slope` receives weight * (softmax - one-hot)."""
    total = 0.0
    for i in range(scores.shape[0]):
        top = scores[i, 0]
        for k in range(1, scores.shape[1]):
            top = max(top, scores[i, k])
        mass = 0.0
        for k in range(scores.shape[1]):
            slope[i, k] = math.exp(scores[i, k] - top)
            mass += slope[i, k]
        total += weight[i] * (math.log(mass) + top - scores[i, codes[i]])
        for k in range(scores.shape[1]):
            slope[i, k] *= weight[i] / mass
        slope[i, codes[i]] -= weight[i]
    return total
