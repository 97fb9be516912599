"""The page of an exploration: the report's frame, style and parts with sections of its own."""

from pathlib import Path

from hyperplan.explore._form import readable
from hyperplan.explore._views import make_views
from hyperplan.report._page import render, write_page
from hyperplan.report._wording import Wording

TEMPLATES = Path(__file__).parent / "templates"


def write_report(document: dict, path, language: str = "en", *, force: bool = False) -> Path:
    """Write the report of an exploration: one HTML page that needs nothing else; whole or not at all.

    An older report is replaced; any other file is a `FileExistsError` unless `force` says otherwise.
    """
    return write_page(render_report(document, language), path, force)


def render_report(document: dict, language: str = "en") -> str:
    """The HTML page of an exploration's document; a `ValueError` names the first key that is missing or wrong."""
    wording = Wording(language, "explore")
    document = readable(document)
    views = make_views(document, wording)
    return render(TEMPLATES, "explore.html", wording, document=document, sections=_sections(views, wording), **views)


def _sections(views: dict, wording: Wording) -> list[tuple[str, str]]:
    """``(id, title)`` of the sections that the page has, in order."""
    names = ["answer", "maps"]
    names += ["dimension"] if views["dimension"] else []
    names += ["clusterings"] + (["groups"] if views["groups"] else []) + ["outliers", "audit", "data", "protocol"]
    return [(name, wording.say(f"{name}.title")) for name in names]
