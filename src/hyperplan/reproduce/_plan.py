"""How much is tried: neighbourhoods, dimensions, folds and seeds of each experiment."""

from typing import NamedTuple


class Grid(NamedTuple):
    """Neighbourhoods and dimensions of a curve, and how its errors are estimated."""

    ks: tuple[int, ...]
    dims: tuple[int, ...]
    folds: int
    seeds: int  # each shuffles the rows into folds anew


class Plan(NamedTuple):
    """All experiments of the thesis; ``k`` and ``d`` are the setting at which methods are compared."""

    arcene: Grid
    arcene_at: tuple[int, int]
    arcene_connected: int  # neighbours that connect the graph without bridges
    ionosphere: Grid
    ionosphere_at: tuple[int, int]
    umap_dims: tuple[int, ...]
    scaling_ks: tuple[int, ...]
    gammas: int  # points of the curve of error against gamma
    tuning_folds: int
    readings: tuple[tuple[int, int], ...]
    madelon_ks: tuple[int, ...]
    madelon_dims: tuple[int, ...]
    madelon_rows: int  # size of the table whose time is measured, filled up with drawn rows
    roll_rows: int
    digits: int


FULL = Plan(
    arcene=Grid((5, 6, 10, 15, 19, 30, 40, 100), (2, 5, 10, 15, 20, 30, 40, 60, 80, 100), 40, 5),
    arcene_at=(19, 30),
    arcene_connected=48,
    ionosphere=Grid((3, 5, 10, 15, 20, 30, 200), (2, 3, 5, 7, 10, 12, 15, 20, 25, 30, 40, 60), 10, 5),
    ionosphere_at=(15, 15),
    umap_dims=(2, 5, 10, 20, 30),
    scaling_ks=(6, 19, 40),
    gammas=17,
    tuning_folds=15,
    readings=((6, 30), (6, 60)),
    madelon_ks=(6, 15, 40),
    madelon_dims=(2, 5, 10, 20, 60, 200),
    madelon_rows=4400,
    roll_rows=1000,
    digits=1000,
)
QUICK = Plan(
    arcene=Grid((6, 19), (5, 20, 30, 60), 10, 2),
    arcene_at=(19, 30),
    arcene_connected=48,
    ionosphere=Grid((5, 15), (2, 5, 15, 30), 10, 2),
    ionosphere_at=(15, 15),
    umap_dims=(2, 15),
    scaling_ks=(6,),
    gammas=5,
    tuning_folds=5,
    readings=((6, 30),),
    madelon_ks=(15,),
    madelon_dims=(5, 20),
    madelon_rows=2600,
    roll_rows=600,
    digits=400,
)
