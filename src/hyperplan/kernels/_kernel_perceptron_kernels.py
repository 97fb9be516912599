"""One block of rows of the kernel perceptron: mistakes made one after another, their effect on the rows that follow."""

from hyperplan._core.jit import kernel


@kernel
def visit_block(values, signs, active, clock, scores, steps, ages, mistakes):  # OUT: scores, steps, ages, mistakes
    """Visit the rows of a block in order; returns the number of visits so far.

    `scores[i, c]` comes as the score of row i in problem c before the block, and leaves as the score when it was
    visited.  A mistake is ``sign score <= 0``: then `steps[i, c]` becomes the sign, and `ages[i, c]` the sign times the
    number of visits before.
    """
    # values: (b, b) kernel values of the block; signs: (b, C) of -1 and +1; active: (C,) of 0 and 1; all C order
    b = values.shape[0]
    for i in range(b):
        for c in range(signs.shape[1]):
            if active[c] and signs[i, c] * scores[i, c] <= 0.0:
                steps[i, c] = signs[i, c]
                ages[i, c] = signs[i, c] * clock
                mistakes[c] += 1
                for j in range(i + 1, b):
                    scores[j, c] += signs[i, c] * values[i, j]
        clock += 1
    return clock
