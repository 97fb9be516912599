"""Scores in order, each with one bit that says whether its row is positive.

The bits of a float64, read as an integer, are ordered like the number once the sign is flipped.  Rows are dealt to
groups of neighbouring keys; inside a group the distance from the group's first key needs at most 63 bits, so that
shifted by one it leaves room for the label: one sort of plain integers then orders scores and labels together.
"""

import numpy as np

from hyperplan._core.jit import inner_kernel, view_kernel

SIGN = 1 << 63


@inner_kernel
def ordered(bits):
    """The bits of a number as an integer of the same order."""
    sign = np.uint64(SIGN)
    negative = np.uint64(0) - (bits >> np.uint64(63))
    return bits ^ (negative | sign)


@view_kernel
def to_ordered(bits, ends):  # OUT: bits, ends
    """Replace bits by keys, and store the smallest and the largest."""
    # bits: (n,) uint64, bits of float64 numbers without -0.0; ends: (2,) uint64
    low, high = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)
    for i in range(bits.shape[0]):
        key = ordered(bits[i])
        bits[i] = key
        low = min(low, key)
        high = max(high, key)
    ends[0], ends[1] = low, high


@view_kernel
def count_bins(keys, low, shift, counts):  # OUT: counts
    # counts: (bins,) int64, one per value of (key - low) >> shift
    for i in range(keys.shape[0]):
        counts[(keys[i] - low) >> shift] += 1


@view_kernel
def deal_labels(keys, positive, low, shift, group_of, bases, places, packed):  # OUT: places, packed
    """Put 2 (key - first key of its group) + label of each row into its group's part of `packed`."""
    # positive: (n,) uint8; group_of: (bins,) int64; bases: (groups,) uint64; places: (groups,) int64, where to go on
    for i in range(keys.shape[0]):
        group = group_of[(keys[i] - low) >> shift]
        packed[places[group]] = (keys[i] - bases[group]) << np.uint64(1) | np.uint64(positive[i])
        places[group] += 1


@view_kernel
def deal_rows(keys, first_row, low, shift, group_of, places, dealt, rows):  # OUT: places, dealt, rows
    """Put each key and its row number into its group's part."""
    for i in range(keys.shape[0]):
        group = group_of[(keys[i] - low) >> shift]
        place = places[group]
        dealt[place], rows[place] = keys[i], first_row + i
        places[group] = place + 1


@view_kernel
def concordance(packed, totals):  # OUT: totals
    """Of one sorted group: positives, negatives, and 2 * (pairs in the right order) + (pairs tied)."""
    # packed: (n,) uint64, ascending; totals: (3,) int64
    wins, negatives, positives = np.int64(0), np.int64(0), np.int64(0)
    tied_positives, tied_negatives = np.int64(0), np.int64(0)
    previous = np.uint64(0)
    for i in range(packed.shape[0]):
        value = packed[i] >> np.uint64(1)
        label = np.int64(packed[i] & np.uint64(1))
        if value != previous:
            wins += tied_positives * (2 * negatives + tied_negatives)
            positives += tied_positives
            negatives += tied_negatives
            tied_positives, tied_negatives = np.int64(0), np.int64(0)
            previous = value
        tied_positives += label
        tied_negatives += 1 - label
    wins += tied_positives * (2 * negatives + tied_negatives)
    totals[0], totals[1], totals[2] = positives + tied_positives, negatives + tied_negatives, wins


@view_kernel
def count_blocks(packed, totals):  # OUT: totals
    """Of one sorted group: positives, negatives, distinct scores."""
    positives, distinct = np.int64(0), np.int64(0)
    for i in range(packed.shape[0]):
        positives += np.int64(packed[i] & np.uint64(1))
        if i == 0 or packed[i] >> np.uint64(1) != packed[i - 1] >> np.uint64(1):
            distinct += 1
    totals[0], totals[1], totals[2] = positives, packed.shape[0] - positives, distinct


@view_kernel
def list_blocks(packed, base, positives, negatives, false_positives, true_positives, bits):
    """Of one sorted group, from its largest score down: what lies at or above each distinct score."""
    # positives, negatives: those of the groups above; OUT: the last three, (distinct,) float64, float64, uint64
    place, sign = 0, np.uint64(SIGN)
    for j in range(packed.shape[0]):
        i = packed.shape[0] - 1 - j
        label = np.int64(packed[i] & np.uint64(1))
        positives += label
        negatives += 1 - label
        if i == 0 or packed[i] >> np.uint64(1) != packed[i - 1] >> np.uint64(1):
            key = (packed[i] >> np.uint64(1)) + base
            false_positives[place], true_positives[place] = negatives, positives
            bits[place] = key ^ sign if key >= sign else ~key
            place += 1


@view_kernel
def list_weighted_blocks(keys, positive, weight, order, false_positives, true_positives, bits):
    """Sums of weights at or above each distinct score; `order` runs from the smallest score.  Returns their number."""
    # keys: (n,) uint64 in ascending order; positive, weight: by row; OUT: the last three
    place, sign = 0, np.uint64(SIGN)
    above, below = 0.0, 0.0
    for j in range(keys.shape[0]):
        i = keys.shape[0] - 1 - j
        row = order[i]
        if positive[row]:
            above += weight[row]
        else:
            below += weight[row]
        if i == 0 or keys[i] != keys[i - 1]:
            false_positives[place], true_positives[place] = below, above
            bits[place] = keys[i] ^ sign if keys[i] >= sign else ~keys[i]
            place += 1
    return place
