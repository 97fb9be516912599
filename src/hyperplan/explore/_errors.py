"""What can be wrong with a table that is to be explored."""

from hyperplan.compete._errors import SpokenError


class ExploreError(SpokenError):
    """A table that cannot be explored; the message says why, and what to do.

    Examples
    --------
    >>> import pandas
    >>> from hyperplan.explore import ExploreError, explore
    >>> try:
    ...     explore(pandas.DataFrame({"size": [1.5, 2.5], "weight": [3.5, 4.0]}))
    ... except ExploreError as error:
    ...     print(error)
    the table has 2 rows; at least 10 are needed to look for groups
    """

    area = "explore"
