"""``explore``: a table without a question in, what it is like out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperplan._base.finding import SEVERITIES
from hyperplan._core.compiling import compile_watch
from hyperplan._core.parallel import effective_n_jobs, thread_limit
from hyperplan._texts.extras import required
from hyperplan.compete import _columns_told
from hyperplan.compete._audit_sample import Patience, draw_rows
from hyperplan.compete._columns import Column
from hyperplan.compete._errors import KindsOfColumns
from hyperplan.compete._frames import as_frame
from hyperplan.compete._interrupt import CtrlC
from hyperplan.compete._parameters import with_settings
from hyperplan.compete._preparation import USED
from hyperplan.compete._settings import check_names
from hyperplan.compete._table_memory import require_table_memory
from hyperplan.compete._tables import table_hash
from hyperplan.explore._clock import Clock
from hyperplan.explore._contest import Contest, placed, run_contest
from hyperplan.explore._describe import columns_like_groups, describe
from hyperplan.explore._document import make_document
from hyperplan.explore._errors import ExploreError
from hyperplan.explore._exploration import Exploration
from hyperplan.explore._findings import audit_table, groups_findings
from hyperplan.explore._judge import coded
from hyperplan.explore._limits import arena_size, columns_within
from hyperplan.explore._maps import draw_maps, local_dimension
from hyperplan.explore._methods import methods as all_methods
from hyperplan.explore._null import Reference
from hyperplan.explore._outliers import expected_share, outlier_factors, strangest
from hyperplan.explore._settings import ExploreSettings
from hyperplan.explore._space import Space

FEWEST_ROWS = 10
COLOURS = (2, 8)  # categories of a column that colours maps unasked
CHUNK = 20_000  # rows given to groups at a time
AUDIT_END = 0.6  # share of the budget after which no check begins; to load Python takes 3 s of it


@dataclass
class Found:
    """All that an exploration found, before it is put into a document."""

    settings: ExploreSettings
    frame: object
    columns: tuple
    findings: list
    space: Space
    arena: np.ndarray
    contest: Contest
    labels: np.ndarray
    maps: list
    absent_maps: list
    local_dimension: float | None
    factors: np.ndarray
    factors_learnt_on: int
    expected: float | None
    strangest: list
    differences: list
    described: list
    undescribed: int
    like_groups: list
    colour: Column | None
    unseen: int = 0  # columns that there is no time to look at


@with_settings(ExploreSettings)
def explore(
    table: Any,
    *,
    time: float = 60.0,
    lang: str = "en",
    seed: int = 0,
    n_jobs: int | None = None,
    drop: Sequence[str] = (),
    colour: str | None = None,
    columns: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    missing: Mapping[str, Sequence] | None = None,
    spellings: Mapping[str, Mapping] | None = None,
    reading: Mapping[str, str | bool] | None = None,
    settings: ExploreSettings | None = None,
    methods: Sequence[str] | None = None,
    report: Callable[..., object] | None = None,
    title: str = "table",
    spent: float = 0.0,
) -> Exploration:
    """Look at a table without a question: maps, dimension, groups if there are any, rows that stand out.

    The budget counts from the call.  What has to be compiled because it is not in the kernel cache yet is no part of
    it: the clock stands still meanwhile (``hyperplan warmup`` compiles beforehand).  Ctrl-C ends the search, and the
    answer rests on what was finished.

    Parameters
    ----------
    table : DataFrame, array or path
        Anything that `hyperplan.compete.read_table` reads.
    time : float, default=60
        Budget in seconds.
    lang : {"en", "fr"}, default="en"
        Language of report and answer.
    seed : int, default=0
        Same seed, same samples and starts.
    n_jobs : int, default=None
        Threads; None or -1 means all cores.
    drop : sequence of str, default=()
        Columns that distances do not see.
    colour : str, default=None
        Column that colours the maps; it may be one of those left out.
    columns : dict, default=None
        Kind of a column, where the guess is wrong: ``{"zip": "category"}``.
    formats, missing, spellings : dict, default=None
        How values of a column are written, which of them stand for a missing one, and which are spellings of one.
    reading : dict, default=None
        How a delimited text is written, where the guess is wrong: `hyperplan.compete.read_table`.
    settings : ExploreSettings, default=None
        All of these in one record; parameters that are given beside it win.
    methods : list of str, default=None
        Clustering methods that take part, of "k_means", "dbscan", "mixture", "spectral", "optics"; None means all.
    report : callable, default=None
        Told of progress: ``report(phase=..., ...)``.
    title : str, default="table"
        What the report calls the table.
    spent : float, default=0.0
        Seconds of the budget that are gone already, such as for reading the table.

    Returns
    -------
    exploration : Exploration
        With ``labels``, ``coordinates``, ``table()``, ``predict(rows)``, ``report(path)``, ``save(folder)``.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.explore import explore
    >>> rng = np.random.default_rng(0)
    >>> corners = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    >>> points = corners[np.arange(90) % 3] + rng.normal(size=(90, 2))
    >>> result = explore(points, time=20, methods=["mixture"])
    >>> np.bincount(result.labels)[1:].tolist()
    [30, 30, 30]
    """
    assert settings is not None  # made of the parameters above
    return run_exploration(table, settings, methods, report, title, spent)


def run_exploration(table, settings, methods, report, title: str, spent: float, read=None) -> Exploration:
    """What `explore` does, with its parameters; columns that were `read` before are not read again."""
    listed = all_methods(methods)
    ctrl_c, tell = CtrlC(), report or (lambda **event: None)
    with thread_limit(effective_n_jobs(settings.n_jobs)), ctrl_c:
        clock, compiled = Clock(settings.time, spent, ctrl_c), compile_watch.seconds
        required("pandas")
        frame = as_frame(table, settings.reading)
        require_table_memory([frame])
        tell(phase="auditing")
        columns, used = read or read_columns(frame, settings)
        seen = frame if len(columns) == frame.shape[1] else frame[[column.name for column in columns]]
        kept, unseen = [c for c in columns if c.name not in settings.drop], frame.shape[1] - len(columns)
        findings = audit_table(seen, kept, settings.seed, Patience(clock.deadline(AUDIT_END)), unseen)
        tell(phase="guessed", columns=columns, used=used, shape=frame.shape, findings=findings)
        found = _find(seen, settings, columns, used, findings, listed, clock, tell)
        found.unseen = unseen
        spending = {"seconds": clock.used, "compiling": compile_watch.seconds - compiled}
        spending |= {"jobs": effective_n_jobs(None), "was_interrupted": clock.is_stopped}
        return Exploration(found, make_document(found, title, table_hash(frame), spending))


def read_columns(frame, settings: ExploreSettings) -> tuple[tuple, tuple]:
    """The columns of a table (of very many, some), and those that count; an `ExploreError` if they are not enough."""
    names = [str(name) for name in frame.columns]
    check_names(settings, names)
    if len(frame) < FEWEST_ROWS:
        raise ExploreError("too_few_rows", count=len(frame), needed=FEWEST_ROWS)
    places = columns_within(names, settings)
    seen = frame if len(places) == len(names) else frame.iloc[:, places]
    columns = _columns_told.read_columns(seen, settings)
    used = tuple(column for column in columns if column.kind in USED and column.name not in settings.drop)
    if not used:
        raise ExploreError("no_columns", columns=KindsOfColumns((c.name, c.kind) for c in columns[:20]))
    return columns, used


def _find(frame, settings, columns, used, findings, listed, clock, tell) -> Found:
    """Everything, in the order of its worth: groups, maps, outliers, words about the groups."""
    seed = settings.seed
    tell(phase="measuring")
    space = Space(frame, used, seed, settings.time)
    points = space.points(frame)
    arena = draw_rows(len(points), arena_size(settings.time), seed)
    if np.ptp(points[arena], axis=0).max(initial=0.0) == 0.0:
        raise ExploreError("one_point")
    reference = Reference(space, space.typed(frame.iloc[arena]), seed)
    contest = run_contest(points[arena], reference, listed, seed, clock, tell)
    labels = group_all(points, arena, contest)
    maps, absent = draw_maps(points, seed, clock, tell)
    tell(phase="finishing")
    factors, learnt_on, expected = np.full(len(points), np.nan), 0, None
    if not clock.is_stopped:
        factors, learnt_on = outlier_factors(points, seed, clock)
        expected = expected_share(reference, seed, clock) if learnt_on else None
    differences: list = []
    described: list = []
    alike: list = []
    undescribed = 0
    if contest.chosen:
        differences, described, undescribed = describe(frame, columns, labels, seed, clock)
        alike = columns_like_groups(frame, columns, {column.name for column in used}, labels, clock)
    findings = sorted([*findings, *groups_findings(alike)], key=lambda found: SEVERITIES.index(found.severity))
    return Found(
        settings, frame, columns, findings, space, arena, contest, labels, maps, absent,
        None if clock.is_stopped else local_dimension(points[arena]), factors, learnt_on, expected,
        strangest(frame, space, points, factors, labels * bool(contest.chosen), seed), differences, described,
        undescribed, alike, colour_column(columns, settings, differences),
    )  # fmt: skip


def group_all(points, arena, contest: Contest) -> np.ndarray:
    """Groups of all rows: those that were learnt on keep theirs, the others are given to one; all 1 for no groups."""
    chosen = contest.chosen
    labels = np.ones(len(points), dtype=np.intp)
    if chosen is None:
        return labels
    others = np.setdiff1d(np.arange(len(points)), arena, assume_unique=True)
    for start in range(0, len(others), CHUNK):
        rows = others[start : start + CHUNK]
        labels[rows] = coded(placed(chosen.model, points[rows]), chosen.codes)
    labels[arena] = np.asarray(chosen.labels)
    return labels


def colour_column(columns, settings: ExploreSettings, differences) -> Column | None:
    """The column that colours maps: as asked; else the category that the groups explain best; else what there is."""
    by_name = {column.name: column for column in columns}
    if settings.colour is not None:
        return by_name[settings.colour]
    suited = [column for column in columns if column.kind == "category" and COLOURS[0] <= column.distinct <= COLOURS[1]]
    order = {item["name"]: place for place, item in enumerate(differences)}
    if suited:
        return min(suited, key=lambda column: order.get(column.name, len(order)))
    usual = [by_name[item["name"]] for item in differences] or [c for c in columns if c.kind in ("number", "date")]
    return usual[0] if usual else None
