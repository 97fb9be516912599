"""What a family tells the model competition about one of its estimators."""

import importlib
from collections.abc import Mapping
from typing import NamedTuple

TASKS = ("classification", "regression")
PREPARATIONS = ("linear", "trees", "native", "pairs")


class Range(NamedTuple):
    """Numbers between two ends, drawn evenly on a linear or logarithmic scale; integers when `whole`."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def draw(self, share: float):
        """The number at a share in [0, 1) of the way from `low` to `high`."""
        value = self.low * (self.high / self.low) ** share if self.log else self.low + share * (self.high - self.low)
        return round(value) if self.whole else float(value)


class Candidate(NamedTuple):
    """One entry of the competition; families list theirs as ``CANDIDATES`` in a module ``_candidates``.

    Attributes
    ----------
    path : str
        Where the class is, below `hyperplan`: ``"linear_model.Ridge"``.
    task : {"classification", "regression"}
        What it answers.
    label : str
        Short name for people.
    simplicity : int
        Rank: of two models that are equally good, the one with the smaller number is the simpler one.  0 is a constant,
        10 a few coefficients, 20 one small tree, 30 many coefficients, 50 a forest, 70 boosting, 90 a mixture.
    preparation : {"linear", "trees", "native", "pairs"}
        How columns become numbers: imputed, scaled and one-hot; missing values kept and categories as few columns;
        missing values kept and categories as codes that the estimator splits itself; the same with a further column
        for each pair of columns that have many categories.
    seconds : tuple of two floats
        Cost model of a fit on one thread: seconds of its own, and seconds for a million cells.
    defaults : mapping
        Settings of the first try.
    space : mapping
        What the search may change: a `Range` or a tuple of values for each setting.
    uses_unlabelled : bool
        Whether rows without a target help.
    portfolio : tuple of mappings
        Settings that do well on many tables, the most useful first: tried before any are drawn from the space.
    rounds : tuple of str and int, or None
        For a model that grows round by round and can stop early: the setting that counts the rounds, and how many a
        search may reach.  After a long search such models answer as a committee.
    effort : float
        How many times longer a fit takes in a search, and with the settings it finds, than one with the defaults.
    most_rows : int or None
        Rows beyond which it does not enter, because its time grows faster than the table.
    most_columns : int or None
        Columns of the prepared table beyond which it does not enter, for the same reason.
    members : tuple of (Candidate, int)
        For a mixture: who answers together, and how many settings each tries; who is named twice counts twice.
    """

    path: str
    task: str
    label: str
    simplicity: int
    preparation: str
    seconds: tuple[float, float]
    defaults: Mapping = {}
    space: Mapping = {}
    uses_unlabelled: bool = False
    portfolio: tuple[Mapping, ...] = ()
    rounds: tuple[str, int] | None = None
    effort: float = 1.0
    most_rows: int | None = None
    most_columns: int | None = None
    members: tuple = ()

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.path.rpartition(".")[2]

    @property
    def family(self) -> str:
        """The package that the class is in."""
        return self.path.partition(".")[0]

    def named_members(self) -> dict:
        """Name -> (candidate, number of tries) of each member of a mixture, once."""
        return {member.name: (member, n_tries) for member, n_tries in self.members}

    def build(self, settings: Mapping):
        """An estimator with the defaults and these settings."""
        cls = getattr(importlib.import_module(f"hyperplan.{self.family}"), self.name)
        return cls(**{**self.defaults, **settings})

    def predicted_seconds(self, n_rows: int, n_columns: int) -> float:
        """What one fit will cost, roughly."""
        return self.seconds[0] + self.seconds[1] * n_rows * n_columns / 1e6
