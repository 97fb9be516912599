"""The page: sentences, tables and charts of a checked document, put into the template and written in one piece."""

import functools
from pathlib import Path

from hyperplan._core.safe_files import write_file
from hyperplan._texts.extras import required
from hyperplan.report._answer import finished, is_compared, score_decimals, sentences, tied_rows
from hyperplan.report._findings import by_severity
from hyperplan.report._names import readable
from hyperplan.report._next import next_steps
from hyperplan.report._views_data import created, data_view, protocol_view
from hyperplan.report._views_insight import (
    bias_variance_view,
    dependence_note,
    dependence_view,
    importances_view,
    learning_view,
)
from hyperplan.report._views_models import certificates_view, chosen_view, leaderboard_view, ties_view
from hyperplan.report._views_quality import classification_view, regression_view
from hyperplan.report._wording import Wording, breakable, brief, capital, whole_options

TEMPLATES = Path(__file__).parent / "templates"
GENERATOR, HEAD = b'<meta name="generator" content="hyperplan ', 2000  # stands in the first bytes of each page


def write_report(document: dict, path, language: str = "en", matrix: str | None = None, *, force: bool = False) -> Path:
    """Write a competition's report: one HTML page that needs nothing else.

    The page appears whole or not at all: it is written beside its place and then moved there.

    Parameters
    ----------
    document : dict
        The content of ``report.json``.
    path : str or path-like
        The HTML file; an older report is replaced, anything else is a `FileExistsError`.
    language : {"en", "fr"}, default="en"
    matrix : str, optional
        Name of a file beside the page that holds the whole confusion matrix; the page links to it.
    force : bool, default=False
        Replace any other file, too.

    Returns
    -------
    pathlib.Path
        The file.
    """
    return write_page(render_report(document, language, matrix), path, force)


def write_page(page: str, path, force: bool = False) -> Path:
    """Write a page beside its place and put it there; of what is there already only pages of ours are replaced."""

    def write(beside: Path) -> None:
        beside.write_text(page, encoding="utf-8", newline="\n")

    return write_file(path, write, force=force, is_ours=_is_page)


def _is_page(path: Path) -> bool:
    """Whether a file is a report: the first lines of each say what wrote it."""
    with path.open("rb") as file:
        return GENERATOR in file.read(HEAD)


def render_report(document: dict, language: str = "en", matrix: str | None = None) -> str:
    """The HTML page of a competition's report.

    Parameters
    ----------
    document : dict
        The content of ``report.json``; a `ValueError` names the first key that is missing or wrong.
    language : {"en", "fr"}, default="en"
    matrix : str, optional
        Name of a file beside the page that holds the whole confusion matrix; the page links to it.

    Returns
    -------
    str
        The page: styles, charts and a little script inside it, nothing outside.
    """
    wording = Wording(language)
    document = readable(document, wording)
    views = _views(document, wording) | {"sentences": sentences(document, wording)}
    sections = _sections(views, wording)
    return render(TEMPLATES, "report.html", wording, document=document, sections=sections, matrix=matrix, **views)


def render(folder: Path, template: str, wording: Wording, **values) -> str:
    """A page from a template of a folder, which may use the parts of the report's templates."""
    return _environment(folder).get_template(template).render(t=wording.say, word=wording.word, **values)


def _views(document: dict, wording: Wording) -> dict:
    """Everything the template shows, by the name it uses."""
    protocol = document["protocol"]
    return {
        "level": wording.percent(protocol["level"], 0),
        "created": created(document, wording),
        "used": wording.seconds(protocol["used"]) if protocol["used"] is not None else "",
        "budget": wording.seconds(protocol["budget"]) if protocol["budget"] is not None else "",
        "tied": wording.number(len(tied_rows(document)) - 1 if is_compared(document) else None),
        "is_compared": is_compared(document),
        "candidates": wording.count("answer.key_candidates", len(finished(document))),
        "leaderboard": leaderboard_view(document, wording),
        "ties": ties_view(document, wording),
        "chosen": chosen_view(document, wording),
        "classification": classification_view(document, wording),
        "regression": regression_view(document, wording),
        "importances": importances_view(document, wording),
        "dependence": dependence_view(document, wording),
        "dependence_note": dependence_note(document, wording),
        "learning": learning_view(document, wording),
        "bias_variance": bias_variance_view(document, wording),
        "certificates": certificates_view(document, wording),
        "diagnosis": by_severity(
            wording, "diagnosis", document["diagnosis"], score_decimals(document["chosen"]["score"])
        ),
        "next_steps": next_steps(document, wording),
        "audit": by_severity(wording, "audit", document["audit"]),
        "data": data_view(document, wording),
        "protocol": protocol_view(document, wording),
    }


def _sections(views: dict, wording: Wording) -> list[tuple[str, str]]:
    """``(id, title)`` of the sections that the page has, in order."""
    titles = {name: f"{name}.title" for name in ("answer", "leaderboard", "ties", "chosen")}
    if views["classification"] or views["regression"]:
        titles["quality"] = "quality.classification"
    titles["importances"] = "importances.title"
    if views["dependence"]:
        titles["dependence"] = "dependence.title"
    if views["learning"] or views["bias_variance"]:
        titles["learning"] = "learning.title"
    titles |= {name: f"{name}.title" for name in ("certificates", "diagnosis", "audit", "data", "protocol")}
    return [(name, wording.say(key)) for name, key in titles.items()]


@functools.cache
def _environment(folder: Path):
    jinja2 = required("jinja2")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"brief": brief, "breakable": breakable, "capital": capital, "whole_options": whole_options}
    return environment
