"""Many models as one: bagging, forests and boosting."""

__all__: list[str] = []
