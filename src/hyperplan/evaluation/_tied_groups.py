"""Groups of models that the data cannot tell apart.

The rule: the model with the best mean leads group A, and every model that is not "worse" than this leader
(`compare_models`: tied, or equivalent) belongs to A.  Of the models that are left, the best mean leads group B, and
so on.

"Not distinguishable" is no equivalence relation: a may be tied with b and b with c while a beats c.  The rule therefore
never compares two followers.  A letter says one thing only: *not shown to be worse than the leader of this group*.
Every model has exactly one letter, the letters do not depend on the order of the models, and group A holds the truly
best model with a chance of at least `level` (see `compare_models`).  A model whose scores vary a lot may stand in
group A below a steadier model of group B.

References
----------
Hsu (1996), Multiple comparisons: theory and methods, chapter 4 (comparisons with the best).
"""

from typing import NamedTuple

from hyperplan.evaluation._checks import score_table
from hyperplan.evaluation._compare_models import compare_models


class Group(NamedTuple):
    """A letter, the model that leads it, and all its models, best mean first."""

    letter: str
    leader: object
    models: tuple

    def __str__(self):
        return f"{self.letter}: {', '.join(map(str, self.models))}"


def tied_groups(
    scores,
    test_share: float,
    *,
    rope: float = 0.0,
    level: float = 0.95,
    correction: str = "holm",
    greater_is_better: bool = True,
) -> list[Group]:
    """tied_groups(scores, test_share, *, rope=0.0, level=0.95, correction="holm", greater_is_better=True)
    -> list of Group(letter, leader, models), best group first

    Models that are not worse than the leader of their group; see the rule in the module's text.

    Parameters
    ----------
    scores, test_share, rope, level, correction, greater_is_better
        As in `compare_models`.

    Examples
    --------
    >>> from hyperplan.evaluation import tied_groups
    >>> scores = {"mean": [0.0, 0.01, 0.0, 0.0], "ridge": [0.8, 0.7, 0.75, 0.7], "lasso": [0.78, 0.71, 0.74, 0.70]}
    >>> for group in tied_groups(scores, 1 / 3):
    ...     print(group)
    A: ridge, lasso
    B: mean
    """
    names, table = score_table(scores)
    sign = 1 if greater_is_better else -1
    means = dict(zip(names, sign * table.mean(axis=0)))
    left = sorted(names, key=lambda name: (-means[name], str(name)))
    columns = dict(zip(names, table.T))
    options = {"rope": rope, "level": level, "correction": correction, "greater_is_better": greater_is_better}
    groups: list[Group] = []
    while left:
        leader = left[0]
        rows = compare_models({name: columns[name] for name in left}, test_share, reference=leader, **options)
        worse = {row.model for row in rows if row.verdict == "worse"}
        groups.append(Group(_letter(len(groups)), leader, tuple(name for name in left if name not in worse)))
        left = [name for name in left if name in worse]
    return groups


def _letter(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
