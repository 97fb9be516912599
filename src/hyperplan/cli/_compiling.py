"""What compiling took and where its results are kept, in a sentence: it is no part of a budget."""

from hyperplan._core.cache_folder import CACHE_VARIABLE, cache_home, cache_place
from hyperplan._core.compiling import compile_watch

NOTICEABLE = 0.5  # seconds


def compiling_note(language: str) -> str:
    """How long this command compiled, and whether it will again; "" if it did not."""
    from hyperplan._texts import text

    seconds = compile_watch.seconds
    if seconds < NOTICEABLE:
        return ""
    place, words = cache_place(), {"seconds": f"{seconds:.0f}", "variable": CACHE_VARIABLE}
    if place.home is None:
        return text("compete.compiling.lost", language, folder=cache_home(), reason=place.trouble, **words)
    if compile_watch.trouble:
        return text("compete.compiling.lost", language, folder=place.home, reason=compile_watch.trouble, **words)
    if place.trouble:
        values = {"folder": place.home, "usual": cache_home(), "reason": place.trouble}
        return text("compete.compiling.elsewhere", language, **values, **words)
    return text("compete.compiling.kept", language, folder=place.home, seconds=words["seconds"])
