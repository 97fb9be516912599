"""What a budget can bear, known before the work begins: it follows from the budget and the table, not from the clock.

So the same call gives the same columns and rows on any machine.  Costs were measured on one core of a small server, on
tables of 50 to 800 rows and 1 000 columns, of 20 000 rows and a column of 5 000 categories, and on 5 000 to 20 000
points of 5 to 50 dimensions.
"""

import numpy as np

ARENA, LEAST_ARENA = 1500, 400  # rows that groups are looked for on
ARENA_SECONDS = 30.0  # budget from which on it is the larger number
COLUMNS_PER_SECOND, LEAST_COLUMNS = 100, 400  # about 3 ms each: its kind, its scale, its part in tables without groups
COMPONENT_CELLS, COMPONENT_ROWS = 2.5e6, (2_000, 20_000)  # per second; components of 10^8 cells, sparse, take 2 s
OUTLIER_SECONDS = 1.6e-10  # of local outlier factors, for each pair of rows and dimension
OUTLIER_ROWS = (1_000, 20_000)
OUTLIER_SHARE = 0.06  # of the budget


def arena_size(seconds: float) -> int:
    """Rows that groups are looked for on: fewer for a short budget."""
    return int(np.clip(ARENA * np.sqrt(seconds / ARENA_SECONDS), LEAST_ARENA, ARENA))


def component_rows(seconds: float, width: int) -> int:
    """Rows that principal components are learnt on, of a matrix of so many columns."""
    return int(np.clip(COMPONENT_CELLS * seconds / max(width, 1), *COMPONENT_ROWS))


def outlier_rows(seconds: float, n_dimensions: int) -> int:
    """Rows whose neighbourhoods are learnt."""
    rows = np.sqrt(OUTLIER_SHARE * seconds / (OUTLIER_SECONDS * max(n_dimensions, 1)))
    return int(np.clip(rows, *OUTLIER_ROWS))


def outlier_cost(n_rows: int, n_dimensions: int) -> float:
    """Seconds that local outlier factors of so many rows take."""
    return OUTLIER_SECONDS * n_rows**2 * n_dimensions


def columns_within(names: list[str], settings) -> list[int]:
    """Positions of the columns that are looked at: all, or as many as the budget allows.

    Those that a setting names come first, then others at random, then those that are left out anyway.
    """
    most = max(LEAST_COLUMNS, int(COLUMNS_PER_SECOND * settings.time))
    if len(names) <= most:
        return list(range(len(names)))
    asked = {settings.colour, *settings.columns, *settings.formats, *settings.missing, *settings.spellings}
    dropped, order = set(settings.drop), np.random.default_rng(settings.seed).permutation(len(names)).tolist()
    order.sort(key=lambda place: 0 if names[place] in asked else 2 if names[place] in dropped else 1)
    return sorted(order[:most])
