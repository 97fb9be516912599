"""The experiments of F. Payette's thesis on RISIMAP and Isostretch (2004), one after the other."""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import hyperplan
from hyperplan.reproduce import _experiments as run
from hyperplan.reproduce import _maps as maps
from hyperplan.reproduce._figures import draw
from hyperplan.reproduce._page import write_page
from hyperplan.reproduce._plan import FULL
from hyperplan.reproduce._store import Store, key_of
from hyperplan.reproduce._tables import SOURCES, data_folder, load, swiss_roll

TUNED = ((15, 10), (15, 15), (15, 30))
TUNED_ARCENE = ((19, 30), (19, 100))
SUBMITTED = (19, 187)  # neighbours and dimensions of the entry in the challenge


class Experiment(NamedTuple):
    """What it is called, the table it needs, its number of ticks, and how it is made."""

    name: str
    needs: str
    ticks: Callable
    make: Callable


class Outcome(NamedTuple):
    """Where the results are, which tables were missing, and how much had been made before."""

    folder: Path
    missing: list[str]
    n_made: int
    n_reused: int
    seconds: float


class Ticks:
    """Called as an experiment proceeds; ``keep(label, compute)`` remembers a part of one that takes long."""

    def __init__(self, name, done, total, report, keep):
        self._name, self._done, self._total, self._report = name, done, total, report
        self.keep = keep

    def __call__(self):
        self._done += 1
        if self._report is not None:
            self._report(self._done, self._total, self._name)


def _classification(name, grid, at, connected) -> list[Experiment]:
    """What is asked of both tables with classes; `grid`, `at` and `connected` look the settings up in a plan."""
    return [
        Experiment(f"{name}_graph", name, lambda p: 1, lambda t, p, tick: run.graph(t, tick)),
        Experiment(
            f"{name}_risimap",
            name,
            lambda p: len(grid(p).ks),
            lambda t, p, tick: run.curves("risimap", t, grid(p), tick),
        ),
        Experiment(
            f"{name}_isostretch",
            name,
            lambda p: len(grid(p).ks),
            lambda t, p, tick: run.curves("isostretch", t, grid(p), tick, keep=tick.keep),
        ),
        Experiment(
            f"{name}_others",
            name,
            lambda p: 6,
            lambda t, p, tick: run.others(t, grid(p), at(p), connected(p), p.umap_dims, tick),
        ),
        Experiment(
            f"{name}_methods",
            name,
            lambda p: 8,
            lambda t, p, tick: run.compared(t, grid(p), at(p), connected(p), tick),
        ),
        Experiment(
            f"{name}_scaling",
            name,
            lambda p: 5 * len(_scaling_ks(name, p)),
            lambda t, p, tick: run.scalings(t, grid(p), _scaling_ks(name, p), tick),
        ),
    ]


def _scaling_ks(name, plan):
    return plan.scaling_ks if name == "arcene" else plan.ionosphere_at[:1]


EXPERIMENTS = [
    Experiment("roll", "roll", lambda p: 2, lambda t, p, tick: maps.roll(t, tick)),
    Experiment("faces", "faces", lambda p: 1, lambda t, p, tick: maps.faces(t, tick)),
    Experiment("digits", "digits", lambda p: 1, lambda t, p, tick: maps.digits(t, p.digits, tick)),
    *_classification("ionosphere", lambda p: p.ionosphere, lambda p: p.ionosphere_at, lambda p: p.ionosphere_at[0]),
    Experiment(
        "ionosphere_isomap",
        "ionosphere",
        lambda p: len(p.ionosphere.ks),
        lambda t, p, tick: run.same_as_isomap(t, p.ionosphere.ks, max(p.ionosphere.dims), tick),
    ),
    Experiment(
        "ionosphere_tuning",
        "ionosphere",
        lambda p: 2 * len(TUNED),
        lambda t, p, tick: run.tuning(t, TUNED, p.tuning_folds, tick),
    ),
    *_classification("arcene", lambda p: p.arcene, lambda p: p.arcene_at, lambda p: p.arcene_connected),
    Experiment(
        "arcene_gamma",
        "arcene",
        lambda p: 4,
        lambda t, p, tick: run.gammas(t, p.arcene, p.scaling_ks[0], (20, 60), p.gammas, tick),
    ),
    Experiment(
        "arcene_tuning",
        "arcene",
        lambda p: 2 * len(TUNED_ARCENE),
        lambda t, p, tick: run.tuning(t, TUNED_ARCENE, p.tuning_folds, tick),
    ),
    Experiment(
        "arcene_readings",
        "arcene",
        lambda p: 2 * len(p.readings),
        lambda t, p, tick: run.readings(t, p.arcene, p.readings, tick),
    ),
    Experiment(
        "arcene_challenge",
        "arcene",
        lambda p: 4,
        lambda t, p, tick: run.challenge(t, (p.arcene_at, SUBMITTED), tick),
    ),
    Experiment(
        "madelon",
        "madelon",
        lambda p: len(p.madelon_ks) + 1,
        lambda t, p, tick: run.madelon(t, p.madelon_ks, p.madelon_dims, p.madelon_rows, tick, tick.keep),
    ),
]


def reproduce_thesis(data=None, out="hyperplan-thesis", *, plan=FULL, report=None) -> Outcome:
    """Make the experiments of the thesis again and write what came out, with figures and a page that compares.

    Parameters
    ----------
    data : path, default=None
        Folder of the published tables, which are not part of this package; None means the variable HYPERPLAN_DATA.
        Experiments whose table is missing are left out, and named.
    out : path, default="hyperplan-thesis"
        Folder of ``README.md``, ``results.json``, ``curves.csv`` and figures.  Results of an earlier run with the same
        settings are kept.
    plan : Plan, default=FULL
        How much is tried; `QUICK` takes about a minute.
    report : callable, default=None
        Called as ``report(done, total, name)``.

    Returns
    -------
    Outcome
        Folder, missing tables, experiments made and reused, seconds.
    """
    began, folder = time.perf_counter(), data_folder(data)
    store, tables, missing = Store(out), {"roll": swiss_roll(plan.roll_rows)}, []
    for name in SOURCES:
        table = load(name, folder)
        if table is None:
            missing.append(name)
        else:
            tables[name] = table
    chosen = [one for one in EXPERIMENTS if one.needs in tables]
    store.keep_only([one.name for one in chosen])
    done, total, reused = 0, sum(one.ticks(plan) for one in chosen), 0
    for one in chosen:
        key = key_of(hyperplan.__version__, one.name, plan, list(tables[one.needs].X.shape))
        reused += store.has(one.name, key)
        tick = Ticks(one.name, done, total, report, functools.partial(store.part, one.name, key))
        store.once(one.name, key, lambda one=one, tick=tick: one.make(tables[one.needs], plan, tick))
        done += one.ticks(plan)
        if report is not None:
            report(done, total, one.name)
    draw(store.results(), tables, Path(out))
    write_page(store, missing, Path(out), plan)
    return Outcome(Path(out), missing, len(chosen) - reused, reused, time.perf_counter() - began)
