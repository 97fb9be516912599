"""The rules of growth as kernels read and make them; here, so that the kernel cache follows a change of them."""

from typing import NamedTuple


class Rules(NamedTuple):
    """`GrowthOptions` as kernels want them: numbers only, sums and gains in quantised units."""

    min_samples: int
    max_leaves: int
    max_depth: int
    order: int  # 0 best first, 1 breadth first, 2 smallest first (any order will do without a limit; few histograms)
    min_hessian: float
    l2: float
    min_gain: float
    category_support: float
    category_smoothing: float
    feature_share: float
    hessian_counts: int  # 1: every row's hessian is one unit, so that hessian sums are numbers of rows
    safe_hessian: float  # sides with so much hessian have `min_samples` rows for sure
    direct_rows: int  # nodes with at most so many rows keep no histograms
