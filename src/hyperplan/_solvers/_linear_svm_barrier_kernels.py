"""Kernels of the interior-point method for the absolute band loss.

`state` is a `Barrier`: arrays of shape (sides, rows) with one entry per finite end of a band.  alpha in (0, cost)
is the multiplier, room = cost - alpha; slack > 0 belongs to alpha, miss > 0 to room, and
slack - miss = sign * score - end always holds.  d_alpha, d_slack, d_miss are the latest Newton direction.
"""

from hyperplan._core.jit import fast_kernel, kernel


@kernel
def barrier_start(scores, sign, end, cost, width, state):  # state OUT: alpha, room, slack, miss near the central path
    for k in range(sign.shape[0]):
        for i in range(scores.shape[0]):
            short = end[k, i] - sign[k, i] * scores[i]
            miss = max(short, 0.0) + width
            slack = miss - short
            state.miss[k, i] = miss
            state.slack[k, i] = slack
            state.alpha[k, i] = cost[i] * miss / (miss + slack)
            state.room[k, i] = cost[i] * slack / (miss + slack)


@kernel
def barrier_system(sign, state, tau, second_order, weight, pull):  # weight, pull OUT: diagonal and right-hand side
    weight[:] = 0.0
    pull[:] = 0.0
    for k in range(sign.shape[0]):
        for i in range(weight.shape[0]):
            alpha, room = state.alpha[k, i], state.room[k, i]
            slack, miss = state.slack[k, i], state.miss[k, i]
            diagonal = 1.0 / (slack / alpha + miss / room)
            shift_slack = tau - second_order * state.d_alpha[k, i] * state.d_slack[k, i]
            shift_miss = tau + second_order * state.d_alpha[k, i] * state.d_miss[k, i]
            wish = shift_slack / alpha - slack - shift_miss / room + miss
            weight[i] += diagonal
            pull[i] += sign[k, i] * (alpha + diagonal * wish)


@kernel
def barrier_direction(sign, state, tau, second_order, move):  # state OUT: d_alpha, d_slack, d_miss
    """Newton direction once the change of the scores is known; returns the longest step that stays inside."""
    longest = 1e300
    for k in range(sign.shape[0]):
        for i in range(move.shape[0]):
            alpha, room = state.alpha[k, i], state.room[k, i]
            slack, miss = state.slack[k, i], state.miss[k, i]
            shift_slack = tau - second_order * state.d_alpha[k, i] * state.d_slack[k, i]
            shift_miss = tau + second_order * state.d_alpha[k, i] * state.d_miss[k, i]
            wish = shift_slack / alpha - slack - shift_miss / room + miss
            d_alpha = (wish - sign[k, i] * move[i]) / (slack / alpha + miss / room)
            d_miss = (shift_miss + miss * d_alpha) / room - miss
            d_slack = sign[k, i] * move[i] + d_miss
            state.d_alpha[k, i] = d_alpha
            state.d_miss[k, i] = d_miss
            state.d_slack[k, i] = d_slack
            if d_alpha < 0.0:
                longest = min(longest, -alpha / d_alpha)
            elif d_alpha > 0.0:
                longest = min(longest, room / d_alpha)
            if d_slack < 0.0:
                longest = min(longest, -slack / d_slack)
            if d_miss < 0.0:
                longest = min(longest, -miss / d_miss)
    return longest


@fast_kernel
def barrier_products(state, step):
    """Sum of the complementary products after a step of the given length."""
    total = 0.0
    for k in range(state.alpha.shape[0]):
        for i in range(state.alpha.shape[1]):
            alpha = state.alpha[k, i] + step * state.d_alpha[k, i]
            room = state.room[k, i] - step * state.d_alpha[k, i]
            total += alpha * (state.slack[k, i] + step * state.d_slack[k, i])
            total += room * (state.miss[k, i] + step * state.d_miss[k, i])
    return total


@kernel
def barrier_advance(state, sign, step, pull):  # state, pull OUT: the point after the step, its dual point
    pull[:] = 0.0
    for k in range(sign.shape[0]):
        for i in range(pull.shape[0]):
            state.alpha[k, i] += step * state.d_alpha[k, i]
            state.room[k, i] -= step * state.d_alpha[k, i]
            state.slack[k, i] += step * state.d_slack[k, i]
            state.miss[k, i] += step * state.d_miss[k, i]
            pull[i] += sign[k, i] * state.alpha[k, i]
