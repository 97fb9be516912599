"""Features that are hardly ever away from their most frequent bin together, merged into one column."""

import numpy as np

from hyperplan._core.jit import kernel, view_kernel
from hyperplan._trees._binning_kernels import WIDTH


@kernel
def find_usual(words, step, usual, shares):  # OUT: usual, shares
    """The most frequent bin of each feature (the first of equal ones) and its share, in every step-th row."""
    counts = np.empty((WIDTH, 256), np.int64)
    for unit in range(words.shape[0]):
        counts[:] = 0
        for i in range(0, words.shape[1], step):
            word = words[unit, i]
            for j in range(WIDTH):
                counts[j, (word >> np.uint32(8 * j)) & np.uint32(255)] += 1
        for f in range(unit * WIDTH, min(unit * WIDTH + WIDTH, usual.shape[0])):
            best = 0
            for b in range(256):
                if counts[f - unit * WIDTH, b] > counts[f - unit * WIDTH, best]:
                    best = b
            usual[f] = best
            shares[f] = counts[f - unit * WIDTH, best] / (1 + (words.shape[1] - 1) // step)


@kernel
def mark_rows(words, shift, usual, mask):  # OUT: mask
    """Bit i of `mask` (uint64 words) tells whether row i is outside the bin `usual`; returns how many rows are."""
    n, total = words.shape[0], 0
    for w in range(mask.shape[0]):
        bits = np.uint64(0)
        for i in range(w * 64, min(w * 64 + 64, n)):
            outside = np.uint64(((words[i] >> shift) & np.uint32(255)) != usual)
            bits |= outside << np.uint64(i & 63)
            total += np.int64(outside)
        mask[w] = bits
    return total


@kernel
def count_bits(bits):
    """Ones among 64 bits, by sums of neighbours."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def common_rows(a, b, limit):
    """Rows marked in both masks; stops counting beyond `limit`."""
    total = 0
    for w in range(a.shape[0]):
        total += count_bits(a[w] & b[w])
        if total > limit:
            break
    return total


@kernel
def color_features(masks, order, codes, room, max_conflicts, color):  # OUT: masks, color
    """Give each feature, in `order`, the first colour whose features it meets in few rows; returns how many there are.

    codes: number of bins without the usual one; features of one colour have at most `room` together and meet in at most
    `max_conflicts` rows.  The mask of a colour's first feature grows to that of the colour.
    """
    first = np.empty(order.shape[0], np.int64)
    used, conflicts = np.empty(order.shape[0], np.int64), np.empty(order.shape[0], np.int64)
    n_colors = 0
    for feature in order:
        color[feature] = -1
        for c in range(n_colors):
            if used[c] + codes[feature] > room:
                continue
            met = common_rows(masks[first[c]], masks[feature], max_conflicts - conflicts[c])
            if conflicts[c] + met <= max_conflicts:
                color[feature] = c
                used[c] += codes[feature]
                conflicts[c] += met
                for w in range(masks.shape[1]):
                    masks[first[c], w] |= masks[feature, w]
                break
        if color[feature] < 0:
            color[feature] = n_colors
            first[n_colors], used[n_colors], conflicts[n_colors] = feature, codes[feature], 0
            n_colors += 1
    return n_colors


@kernel
def add_member(words, shift, usual, offset, codes):  # OUT: words, codes
    """Write a feature's unusual bins into the column `codes` (uint8), from `offset` on.

    A row that another feature has taken already is put back into the usual bin, in `words` too.
    """
    byte = np.uint32(255)
    for i in range(words.shape[0]):
        b = np.int64((words[i] >> shift) & byte)
        if b != usual:
            if codes[i] == 0:
                codes[i] = offset + b - np.int64(b > usual)
            else:
                words[i] = (words[i] & ~np.uint32(byte << shift)) | np.uint32(np.uint32(usual) << shift)


@kernel
def add_column(codes, shift, words):  # OUT: words
    for i in range(words.shape[0]):
        words[i] |= np.uint32(codes[i]) << shift


@view_kernel
def unbundle(column, total, offset, usual, n_bins, hist):  # OUT: hist
    """Histogram of one feature from that of its column; what is missing from `total` is in the usual bin."""
    rest = total
    for b in range(n_bins):
        if b != usual:
            hist[b] = column[offset + b - np.int64(b > usual)]
            rest -= hist[b]
    hist[usual] = rest
