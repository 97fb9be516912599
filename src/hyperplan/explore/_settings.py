"""Every choice of an exploration in one record."""

from dataclasses import dataclass, field

from hyperplan.compete._settings import CheckedSettings


@dataclass(frozen=True)
class ExploreSettings(CheckedSettings):
    """Every choice of an exploration; what is None is guessed from the table.

    Parameters
    ----------
    table : str, default=None
        File.
    time : float, default=60
        Budget in seconds.
    out : str, default="hyperplan-explore"
        Folder of the results.
    lang : {"en", "fr"}, default="en"
    seed : int, default=0
    n_jobs : int, default=None
        Threads; None or -1 means all cores.
    drop : sequence of str, default=()
        Columns that distances do not see.
    colour : str, default=None
        Column that colours the maps; it may be one of those left out.
    columns : dict, default={}
        Kind of a column, where the guess is wrong.
    formats, missing, spellings : dict, default={}
        How values of a column are written, which of them stand for a missing one, and which are spellings of one;
        as in `Settings`.

    Examples
    --------
    >>> from hyperplan.explore import ExploreSettings
    >>> ExploreSettings(drop=["name"]).drop
    ('name',)
    """

    table: str | None = None
    time: float = 60.0
    out: str = "hyperplan-explore"
    lang: str = "en"
    seed: int = 0
    n_jobs: int | None = None
    drop: tuple[str, ...] = ()
    colour: str | None = None
    columns: dict = field(default_factory=dict)
    formats: dict = field(default_factory=dict)
    missing: dict = field(default_factory=dict)
    spellings: dict = field(default_factory=dict)
    reading: dict = field(default_factory=dict)

    head = "head_explore"
