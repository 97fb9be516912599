"""Decision trees."""

__all__: list[str] = []
