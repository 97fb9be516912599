"""What a workload is."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace


@dataclass(frozen=True)
class Case:
    """One workload: data of three sizes, who runs on them, and how good the outcome is.

    Attributes
    ----------
    generate : callable
        ``generate(rng, **size)`` returns a dict of arrays and numbers: X, y, and Xt, yt where there is a test part.
    sizes : dict
        Arguments of `generate` for "small" (also the data of the first call), "medium" and "large".
    contenders : dict
        Name -> ``build(data)``, which imports what it needs and returns an object with `fit` (and `predict`, or
        whatever `apply` names).  The first is ours.
    quality : callable
        ``quality(model, data, output)`` returns a dict of numbers; the first one decides who counts as equal.
    lower_is_better : bool
        Direction of that first number.
    apply : str or None
        Method to time after the fit, on Xt if there is one, else on X.
    slack : float
        How much worse (relative) than the best a contender may be and still count as equal.
    """

    generate: Callable
    sizes: dict[str, dict]
    contenders: dict[str, Callable[[SimpleNamespace], object]]
    quality: Callable
    lower_is_better: bool = True
    apply: str | None = "predict"
    slack: float = 1e-3
