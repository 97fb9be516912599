"""Kernels of generalised linear models: loss, gradient and curvature of one row in its score eta.

No kernel here sees X: panels of rows are multiplied by BLAS, the kernels work on the scores (contiguous float64).
A loss is half the unit deviance up to a term free of eta.  The codes are those of `hyperplan._solvers.glm`:

    family  0 Tweedie (power 0 Gaussian, 1 Poisson, 2 gamma, 3 inverse Gaussian), 1 binomial
    link    0 identity, 1 log, 2 logit, 3 probit, 4 inverse, 5 complementary log-log
"""

import math

import numpy as np

from hyperplan._core.jit import kernel

_HALF_LOG_TWO_PI = 0.9189385332046727
_SQRT_HALF = 0.7071067811865476
_TAIL = -6.0  # below, the continued fraction of the Mills ratio is exact to rounding in 40 terms


@kernel
def mills_ratio_tail(x):
    """``(1 - Phi(x)) / phi(x)`` for x >= 6 by Laplace's continued fraction, evaluated from the bottom."""
    tail = x
    for k in range(40, 0, -1):
        tail = x + k / tail
    return 1.0 / tail


@kernel
def log_normal_cdf(z):
    """``log Phi(z)`` without underflow."""
    if z > _TAIL:
        return math.log1p(-0.5 * math.erfc(z * _SQRT_HALF)) if z > 0.0 else math.log(0.5 * math.erfc(-z * _SQRT_HALF))
    return -0.5 * z * z - _HALF_LOG_TWO_PI + math.log(mills_ratio_tail(-z))


@kernel
def inverse_mills(z):
    """``phi(z) / Phi(z)``, about -z far to the left."""
    if z > _TAIL:
        return math.exp(-0.5 * z * z - _HALF_LOG_TWO_PI) / (0.5 * math.erfc(-z * _SQRT_HALF))
    return 1.0 / mills_ratio_tail(-z)


@kernel
def softplus(z):
    """``log(1 + exp(z))`` without overflow."""
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))


@kernel
def sigmoid(z):
    """``1 / (1 + exp(-z))`` without overflow."""
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    e = math.exp(z)
    return e / (1.0 + e)


@kernel
def tweedie_mean_loss(power, y, mu):
    """Half the unit deviance as a function of the mean, without the terms in y alone."""
    if power == 0.0:
        return 0.5 * (mu - y) * (mu - y)
    if power == 1.0:
        return mu - (y * math.log(mu) if y != 0.0 else 0.0)
    if power == 2.0:
        return math.log(mu) + y / mu
    return mu ** (2.0 - power) / (2.0 - power) - y * mu ** (1.0 - power) / (1.0 - power)


@kernel
def tweedie_log_row(power, y, eta):
    """Tweedie loss under the log link: (loss, d loss, d2 loss, Fisher curvature)."""
    if power == 1.0:
        mu = math.exp(eta)
        return mu - y * eta, mu - y, mu, mu
    if power == 2.0:
        ratio = y * math.exp(-eta)
        return eta + ratio, 1.0 - ratio, ratio, 1.0
    if power == 0.0:
        mu = math.exp(eta)
        return 0.5 * (mu - y) * (mu - y), (mu - y) * mu, mu * (2.0 * mu - y), mu * mu
    a, b = math.exp((1.0 - power) * eta), math.exp((2.0 - power) * eta)
    loss = b / (2.0 - power) - y * a / (1.0 - power)
    return loss, b - y * a, (2.0 - power) * b - (1.0 - power) * y * a, b


@kernel
def tweedie_row(link, power, y, eta):
    """Tweedie loss under any link; a mean outside the domain has an infinite loss."""
    if link == 1:
        return tweedie_log_row(power, y, eta)
    if link == 0:
        if power == 0.0:
            return 0.5 * (eta - y) * (eta - y), eta - y, 1.0, 1.0
        mu, d1, d2 = eta, 1.0, 0.0
    else:
        mu = 1.0 / eta
        d1, d2 = -mu * mu, 2.0 * mu * mu * mu
    if not (mu > 0.0 and mu < np.inf) and not (power == 0.0 and eta != 0.0):
        return np.inf, 0.0, 0.0, 0.0
    variance = mu**power
    fisher = d1 * d1 / variance
    excess = (mu - y) / variance
    observed = fisher + excess * d2 - power * excess * d1 * d1 / mu
    return tweedie_mean_loss(power, y, mu), excess * d1, observed, fisher


@kernel
def binomial_row(link, y, eta):
    """Log loss of a proportion y in [0, 1] under the logit, probit or complementary log-log link."""
    if link == 2:
        p, q = sigmoid(eta), sigmoid(-eta)
        loss = y * softplus(-eta) + (1.0 - y) * softplus(eta) if y != 0.0 else softplus(eta)
        return loss, (1.0 - y) * p - y * q, p * q, p * q
    if link == 3:
        up, down = inverse_mills(eta), inverse_mills(-eta)
        loss = 0.0
        if y != 0.0:
            loss -= y * log_normal_cdf(eta)
        if y != 1.0:
            loss -= (1.0 - y) * log_normal_cdf(-eta)
        observed = y * up * (up + eta) + (1.0 - y) * down * (down - eta)
        return loss, (1.0 - y) * down - y * up, observed, up * down
    rate = math.exp(eta)
    share = 1.0 if eta < -37.0 else (rate / math.expm1(rate) if rate < 700.0 else 0.0)
    loss = (1.0 - y) * rate if y != 1.0 else 0.0
    if y != 0.0:
        loss -= y * (eta if eta < -37.0 else math.log(-math.expm1(-rate)))
    observed = y * share * (rate + share - 1.0) + ((1.0 - y) * rate if y != 1.0 else 0.0)
    return loss, ((1.0 - y) * rate if y != 1.0 else 0.0) - y * share, observed, rate * share


@kernel
def family_row(family, link, power, y, eta):
    """(loss, first derivative, second derivative, Fisher curvature) of one row in its score."""
    if family == 0:
        return tweedie_row(link, power, y, eta)
    return binomial_row(link, y, eta)


@kernel
def glm_rows(family, link, fisher_only, power, y, weight, eta, slope, curvature, sums):
    # X is not seen: eta, y, weight are contiguous float64 of one panel
    """Weighted loss, derivative and non-negative curvature of each row.

    The curvature is the observed one where it is positive (Newton), else Fisher's (scoring), which always is.
    """
    # OUT slope (n,), curvature (n,), sums (3,) = loss, sum of slopes, sum of curvatures
    loss = total_slope = total_curvature = 0.0
    for i in range(y.shape[0]):
        s = weight[i]
        if s == 0.0:
            slope[i] = 0.0
            curvature[i] = 0.0
            continue
        value, first, second, fisher = family_row(family, link, power, y[i], eta[i])
        h = fisher if fisher_only or second <= 0.0 else second
        loss += s * value
        slope[i] = s * first
        curvature[i] = s * h
        total_slope += s * first
        total_curvature += s * h
    sums[0] = loss
    sums[1] = total_slope
    sums[2] = total_curvature


@kernel
def glm_mean(family, link, eta, mean):
    # X is not seen
    """Inverse link of each score."""
    # OUT mean (n,)
    for i in range(eta.shape[0]):
        z = eta[i]
        if link == 0:
            mean[i] = z
        elif link == 1:
            mean[i] = math.exp(z)
        elif link == 2:
            mean[i] = sigmoid(z)
        elif link == 3:
            mean[i] = 0.5 * math.erfc(-z * _SQRT_HALF)
        elif link == 4:
            mean[i] = 1.0 / z
        else:
            mean[i] = -math.expm1(-math.exp(z))


@kernel
def saturated_loss(family, power, y):
    """The least value of the loss of a row over all means: half the deviance is loss minus this."""
    if family == 1:
        if y <= 0.0 or y >= 1.0:
            return 0.0
        return -y * math.log(y) - (1.0 - y) * math.log(1.0 - y)
    if power == 0.0:
        return 0.0
    if power == 1.0:
        return y - y * math.log(y) if y > 0.0 else 0.0
    if power == 2.0:
        return math.log(y) + 1.0
    if y <= 0.0:  # power < 0 has positive means: a negative y is best met by a mean of zero
        return 0.0
    return y ** (2.0 - power) / ((2.0 - power) * (power - 1.0))


@kernel
def glm_totals(family, link, power, y, weight, eta, totals):
    # X is not seen
    """Deviance and Pearson's chi-square of a fit."""
    # OUT totals (2,)
    deviance = pearson = 0.0
    for i in range(y.shape[0]):
        s = weight[i]
        if s == 0.0:
            continue
        value, first, _, fisher = family_row(family, link, power, y[i], eta[i])
        deviance += 2.0 * s * (value - saturated_loss(family, power, y[i]))
        if fisher > 0.0:  # (y - mu)^2 / V(mu) = slope^2 / Fisher curvature, whatever the link
            pearson += s * first * first / fisher
    totals[0] = deviance
    totals[1] = pearson


@kernel
def ordinal_logit_row(upper, lower):
    """-log(F(upper) - F(lower)), its two derivatives and (aa, bb, ab) curvatures, F logistic; ends may be infinite."""
    loss = ga = gb = aa = bb = ab = 0.0
    if upper < np.inf:
        p = sigmoid(upper)
        loss += softplus(-upper)
        ga -= 1.0 - p if upper < 0.0 else sigmoid(-upper)
        aa += p * sigmoid(-upper)
    if lower > -np.inf:
        p = sigmoid(lower)
        loss += softplus(lower)
        gb += p
        bb += p * sigmoid(-lower)
        if upper < np.inf:
            width = upper - lower
            if not width > 0.0:
                return np.inf, 0.0, 0.0, 0.0, 0.0, 0.0
            shrink = -math.expm1(-width)  # 1 - exp(-width)
            loss -= math.log(shrink)
            pull = math.exp(-width) / shrink
            twist = pull / shrink
            ga -= pull
            gb += pull
            aa += twist
            bb += twist
            ab -= twist
    return loss, ga, gb, aa, bb, ab


@kernel
def ordinal_probit_row(upper, lower):
    """As `ordinal_logit_row` with F the normal distribution function."""
    if upper == np.inf:
        m = inverse_mills(-lower)
        return -log_normal_cdf(-lower), 0.0, m, 0.0, m * (m - lower), 0.0
    if lower == -np.inf:
        m = inverse_mills(upper)
        return -log_normal_cdf(upper), -m, 0.0, m * (m + upper), 0.0, 0.0
    if not upper > lower:
        return np.inf, 0.0, 0.0, 0.0, 0.0, 0.0
    if upper + lower > 0.0:  # the left tail keeps its digits: mirror
        top, bottom = log_normal_cdf(-lower), log_normal_cdf(-upper)
    else:
        top, bottom = log_normal_cdf(upper), log_normal_cdf(lower)
    log_p = top + math.log(-math.expm1(bottom - top))
    at_upper = math.exp(-0.5 * upper * upper - _HALF_LOG_TWO_PI - log_p)
    at_lower = math.exp(-0.5 * lower * lower - _HALF_LOG_TWO_PI - log_p)
    aa = at_upper * (at_upper + upper)
    bb = at_lower * (at_lower - lower)
    return -log_p, -at_upper, at_lower, aa, bb, -at_upper * at_lower


@kernel
def ordinal_rows(link, codes, weight, eta, thresholds, slope, curvature, cross, gradient, block, sums):
    # X is not seen: one panel of scores, contiguous float64
    """Cumulative-link loss of each row in (score, thresholds): P(y <= k) = F(thresholds[k] - eta)."""
    # OUT slope (n,), curvature (n,), cross (n, K-1); added up: gradient (K-1,), block (K-1, K-1), sums (1,)
    last = thresholds.shape[0]
    for i in range(codes.shape[0]):
        for k in range(last):
            cross[i, k] = 0.0
        s = weight[i]
        k = codes[i]
        upper = thresholds[k] - eta[i] if k < last else np.inf
        lower = thresholds[k - 1] - eta[i] if k > 0 else -np.inf
        if link == 2:
            loss, ga, gb, aa, bb, ab = ordinal_logit_row(upper, lower)
        else:
            loss, ga, gb, aa, bb, ab = ordinal_probit_row(upper, lower)
        if s == 0.0:
            slope[i] = curvature[i] = 0.0
            continue
        sums[0] += s * loss
        slope[i] = -s * (ga + gb)
        curvature[i] = s * max(aa + 2.0 * ab + bb, 0.0)
        if k < last:
            gradient[k] += s * ga
            cross[i, k] = -s * (aa + ab)
            block[k, k] += s * aa
        if k > 0:
            gradient[k - 1] += s * gb
            cross[i, k - 1] = -s * (bb + ab)
            block[k - 1, k - 1] += s * bb
            if k < last:
                block[k - 1, k] += s * ab
                block[k, k - 1] += s * ab


@kernel
def huber_rows(epsilon, scale, majorise, y, weight, eta, slope, curvature, cross, gradient, block, sums):
    # X is not seen: one panel of scores, contiguous float64
    """Huber's loss with its scale: scale * (1 + H(r / scale)), in (score, intercept, scale).

    With `majorise` the curvature of an outlier is that of the parabola above its loss (reweighted least squares),
    else the true one, zero.
    """
    # OUT slope (n,), curvature (n,), cross (n, 2); added up: gradient (2,), block (2, 2), sums (1,)
    bound = epsilon * scale
    for i in range(y.shape[0]):
        s = weight[i]
        r = y[i] - eta[i]
        if abs(r) > bound:
            value = 2.0 * epsilon * abs(r) + scale * (1.0 - epsilon * epsilon)
            slope[i] = -2.0 * s * epsilon if r > 0.0 else 2.0 * s * epsilon
            in_scale = 1.0 - epsilon * epsilon
            ratio = 0.0
            h = 2.0 * s * epsilon / abs(r) if majorise else 0.0
        else:
            ratio = r / scale
            value = scale + r * ratio
            slope[i] = -2.0 * s * ratio
            in_scale = 1.0 - ratio * ratio
            h = 2.0 * s / scale
        sums[0] += s * value
        curvature[i] = h
        cross[i, 0] = h
        cross[i, 1] = h * ratio
        gradient[0] += slope[i]
        gradient[1] += s * in_scale
        block[0, 0] += h
        block[0, 1] += h * ratio
        block[1, 0] += h * ratio
        block[1, 1] += h * ratio * ratio
