"""What theory can vouch for after a fit, as one small record."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Certificate:
    """A guarantee on a fit: ``value <= bound`` under `assumption`, proved in `reference`.

    Attributes
    ----------
    kind : str
        Short name, e.g. ``"duality gap"``, ``"optimality residual"``, ``"Novikoff bound"``.
    guarantee : str
        One sentence a student understands.
    value, bound : float
        The measured number and what it must not exceed.
    assumption : str
        What must be true for the guarantee ("" when nothing is assumed).
    reference : str
        Where it is proved.
    details : dict
        Further numbers (primal, dual, iterations...).

    Examples
    --------
    >>> from hyperplan._core.certificate import Certificate
    >>> c = Certificate("duality gap", "at most 1e-6 above the optimum", 3e-7, 1e-6)
    >>> c.holds
    True
    """

    kind: str
    guarantee: str
    value: float
    bound: float
    assumption: str = ""
    reference: str = ""
    details: dict = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the measured value respects the bound (False for NaN)."""
        return bool(self.value <= self.bound)

    def __str__(self):
        sign = "<=" if self.holds else ">"
        lines = [f"{self.kind}: {self.guarantee}", f"  measured {self.value:.6g} {sign} {self.bound:.6g}"]
        lines += [f"  {name}: {_short(value)}" for name, value in self.details.items()]
        lines += [f"  assuming {self.assumption}"] if self.assumption else []
        lines += [f"  reference: {self.reference}"] if self.reference else []
        return "\n".join(lines)


def _short(value):
    """Text of a detail; of many numbers (one per round, one per class) the ends and how many they are."""
    if isinstance(value, (str, dict)) or not hasattr(value, "__len__") or len(value) <= 6:
        return str(value)
    return f"{value[0]}, {value[1]}, ... {value[-1]} ({len(value)} values)"


def gap_certificate(primal, dual, tolerance, scale, *, reference="", assumption="", **details):
    """Certificate of a convex fit: the relative duality gap ``(primal - dual) / scale`` against `tolerance`."""
    relative = max(primal - dual, 0.0) / scale if scale > 0 else 0.0
    return Certificate(
        kind="duality gap",
        guarantee=f"the objective is at most {100 * relative:.2g} % of {scale:.4g} above its minimum",
        value=relative,
        bound=tolerance,
        assumption=assumption,
        reference=reference or "Boyd, Vandenberghe (2004), Convex Optimization, section 5.5",
        details={"primal": primal, "dual": dual, **details},
    )
