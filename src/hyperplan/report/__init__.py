"""Reports: one self-contained page from one JSON document."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.report._answer import answer_sentences
    from hyperplan.report._document import check_document
    from hyperplan.report._page import render_report, write_report

__getattr__, __dir__, __all__ = lazy_names(__name__)
