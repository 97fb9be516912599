"""Where the shipped tables lie, as files, for whatever reads tables."""

import pathlib

FOLDER = pathlib.Path(__file__).parent / "data"


def table_path(name: str) -> str:
    """Path of a shipped table as it was published: categories as words, missing values as ``NA``.

    Parameters
    ----------
    name : {"penguins"}
        The table; sources and licences stand in ``README.md`` beside the files.

    Returns
    -------
    path : str
        A gzipped CSV file with a header line.

    Examples
    --------
    >>> import gzip
    >>> from hyperplan.datasets import table_path
    >>> with gzip.open(table_path("penguins"), "rt") as lines:
    ...     print(next(lines).split(",")[:3])
    ['species', 'island', 'bill_length_mm']
    """
    path = FOLDER / f"{name}.csv.gz"
    if not path.is_file():
        known = ", ".join(sorted(file.name.removesuffix(".csv.gz") for file in FOLDER.glob("*.csv.gz")))
        raise ValueError(f"no shipped table is called {name!r}; there is: {known}")
    return str(path)
