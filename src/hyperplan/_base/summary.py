"""Tables of coefficients with standard errors, tests and intervals, as statistics packages print them.

Under the model's assumptions ``(coef_j - 0) / se_j`` follows a standard normal law (maximum likelihood, large
samples) or Student's law with `df` degrees of freedom (Gaussian errors); the table shows that ratio, the
probability of one at least as large by chance, and the interval ``coef_j -+ quantile * se_j``.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from hyperplan._texts.extras import required


@dataclass(frozen=True)
class CoefficientSummary:
    """Coefficients, standard errors, tests and confidence intervals.

    Attributes
    ----------
    names : list of str
        One name per coefficient.
    coef, standard_error, statistic, p_value : ndarray of shape (n_coefficients,)
        Estimates, their standard errors, ``coef / standard_error`` and two-sided p-values.
    interval : ndarray of shape (n_coefficients, 2)
        Ends of the confidence intervals of the coefficients.
    df : float or None
        Degrees of freedom of the t tests; None for normal (z) tests.
    level : float
        Confidence level of the intervals.
    odds : bool
        Whether ``exp(coef)`` and its interval are shown too.
    title : str
        First line of the printed table.
    extra : dict
        Numbers printed above the table (n, R2, log-likelihood, ...).
    """

    names: list
    coef: np.ndarray
    standard_error: np.ndarray
    statistic: np.ndarray
    p_value: np.ndarray
    interval: np.ndarray
    df: float | None = None
    level: float = 0.95
    odds: bool = False
    title: str = ""
    extra: dict = field(default_factory=dict)

    @property
    def odds_ratio(self):
        """``exp(coef)``: the factor on the odds per unit of the feature."""
        with np.errstate(over="ignore"):
            return np.exp(self.coef)

    @property
    def odds_interval(self):
        """Ends of the intervals of `odds_ratio`, of shape (n_coefficients, 2)."""
        with np.errstate(over="ignore"):
            return np.exp(self.interval)

    def columns(self) -> dict:
        """Column name -> array, in the order of the printed table."""
        law = "z" if self.df is None else "t"
        low, high = f"[{(1 - self.level) / 2:.6g}", f"{(1 + self.level) / 2:.6g}]"
        table = {
            "coef": self.coef,
            "std err": self.standard_error,
            law: self.statistic,
            f"P>|{law}|": self.p_value,
            low: self.interval[:, 0],
            high: self.interval[:, 1],
        }
        if self.odds:
            ends = self.odds_interval
            table |= {"odds ratio": self.odds_ratio, f"odds {low}": ends[:, 0], f"odds {high}": ends[:, 1]}
        return table

    def frame(self):
        """The table as a pandas DataFrame, one row per coefficient.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``coef``, ``std err``, ``t`` or ``z``, ``P>|t|`` or ``P>|z|``, the ends of the interval and,
            for odds, the odds ratio and the ends of its interval.
        """
        pd = required("pandas")
        return pd.DataFrame(self.columns(), index=list(self.names))

    def __str__(self):
        table = self.columns()
        cells = [["", *table]]
        for j, name in enumerate(self.names):
            cells.append([str(name), *(_cell(column, values[j]) for column, values in table.items())])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            row[0].ljust(widths[0])
            + "".join(f"  {text:>{width}}" for text, width in zip(row[1:], widths[1:], strict=True))
            for row in cells
        ]
        width = max(map(len, lines))
        head = [self.title] if self.title else []
        head += _header_lines(self.extra, width)
        rule = "-" * width
        return "\n".join([*head, "=" * width, lines[0], rule, *lines[1:], "=" * width])

    __repr__ = __str__

    def _repr_html_(self):
        head = "".join(f"<p>{line}</p>" for line in ([self.title] if self.title else []))
        return head + self.frame()._repr_html_()


def coefficient_summary(
    names, coef, covariance_or_se, *, df=None, title="", level=0.95, odds=False, extra=None
) -> CoefficientSummary:
    """Tests and intervals of coefficients from their covariance matrix or standard errors.

    Parameters
    ----------
    names : sequence of str
        One name per coefficient.
    coef : array-like of shape (n_coefficients,)
        Estimates.
    covariance_or_se : array-like of shape (n_coefficients,) or (n_coefficients, n_coefficients)
        Standard errors, or the covariance matrix they are the diagonal's square roots of.
    df : float, default=None
        Degrees of freedom of t tests; None for normal (z) tests.
    title : str, default=""
        First line of the printed table.
    level : float, default=0.95
        Confidence level of the intervals.
    odds : bool, default=False
        Show ``exp(coef)`` and its interval too.
    extra : dict, default=None
        Numbers to print above the table.

    Returns
    -------
    summary : CoefficientSummary
        The table: ``print(summary)`` or ``summary.frame()``.

    Examples
    --------
    >>> from hyperplan._base.summary import coefficient_summary
    >>> print(coefficient_summary(["age"], [2.0], [1.0], title="Demo", extra={"n": 12}))
    Demo
    n: 12
    ==================================================
           coef  std err      z  P>|z|  [0.025  0.975]
    --------------------------------------------------
    age  2.0000   1.0000  2.000  0.046  0.0400  3.9600
    ==================================================
    """
    coef = np.asarray(coef, dtype=np.float64).ravel()
    spread = np.asarray(covariance_or_se, dtype=np.float64)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1 (for example 0.95), got {level!r}")
    if len(names) != coef.shape[0] or spread.shape not in ((coef.size,), (coef.size, coef.size)):
        raise ValueError(
            f"{coef.size} coefficients need as many names and standard errors (or a square covariance), "
            f"got {len(names)} names and an array of shape {spread.shape}"
        )
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(np.diagonal(spread)) if spread.ndim == 2 else spread
        statistic = coef / error
        tail = -np.abs(statistic)
        p_value = 2 * (ndtr(tail) if df is None else stdtr(df, tail))
        quantile = ndtri((1 + level) / 2) if df is None else stdtrit(df, (1 + level) / 2)
        interval = np.stack([coef - quantile * error, coef + quantile * error], axis=1)
    return CoefficientSummary(
        list(names), coef, error, statistic, p_value, interval, df, level, odds, title, dict(extra or {})
    )


def _cell(column, value):
    """Three decimals for tests, four for estimates; scientific notation where fixed digits would hide the value."""
    digits = 3 if column in ("t", "z") or column.startswith("P>") else 4
    if not np.isfinite(value):
        return str(float(value))
    if column.startswith("P>"):
        return f"{value:.{digits}f}"
    small_or_large = value != 0 and not 10.0 ** (1 - digits) <= abs(value) < 1e7
    return f"{value:.{digits}e}" if small_or_large else f"{value:.{digits}f}"


def _header_lines(extra, width):
    """The extra numbers two per line, aligned."""
    items = [
        f"{name}: {value if isinstance(value, str | int) else format(value, '.6g')}" for name, value in extra.items()
    ]
    half = max(width // 2, max(map(len, items[::2]), default=0) + 2)
    pairs = [items[i : i + 2] for i in range(0, len(items), 2)]
    return [(left.ljust(half) + right[0]) if right else left for left, *right in pairs]
