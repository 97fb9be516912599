"""Results in a notebook: the answer, and a table with the chosen row marked, readable on light and dark pages.

Everything is styled in place and takes the colour of the text around it: notebooks cut out style sheets and scripts.
"""

from html import escape

from hyperplan._texts import area_texts, text
from hyperplan.report._names import readable
from hyperplan.report._views_models import common_decimals
from hyperplan.report._wording import Wording

GREEN = "#2e9d53"  # has contrast with white and with black
CELL = "padding:0.15em 0.9em 0.15em 0;white-space:nowrap;text-align:{align};background:none;border:none"
STRIP = 150  # pixels of the drawn intervals


def competition_view(document: dict, answer: list[str], language: str) -> str:
    """The answer, and the leaderboard with its intervals in numbers and drawn on one scale."""
    words, wording = area_texts("compete", language)["table"], Wording(language)
    document = readable(document, wording)
    metric = document["metric"]["label"]
    done = [row for row in document["leaderboard"] if row["status"] == "ok"]
    decimals, strips = common_decimals(done), _strips(done)
    n_splits = max((len(row["folds"]) for row in done), default=0)
    title = text("compete.table.title", language, metric=metric, level=95, splits=n_splits)
    rows = []
    for row, strip in zip(done, strips):
        interval = "" if row["low"] is None else wording.interval(row["low"], row["high"], decimals)
        note = next((words[key] for key in ("chosen", "best", "baseline") if row[f"is_{key}"]), "")
        rows.append((row["is_chosen"], [row["label"], wording.number(row["score"], decimals), interval, strip,
                                        row["group"] or "", note]))  # fmt: skip
    return notebook_table(answer, title, [words["model"], metric, words["interval"], "", words["group"], ""], rows)


class Drawing(str):
    """A cell that is HTML already."""


def notebook_table(answer: list[str], title: str, heads: list[str], rows: list[tuple[bool, list[str]]]) -> str:
    """Sentences and a table as HTML; each row says whether it is marked."""
    said = "".join(f'<p style="margin:0.3em 0">{escape(sentence)}</p>' for sentence in answer)
    head = "".join(f'<th scope="col" style="{_cell(k)}{_indent(k)};font-weight:600;opacity:0.75">{escape(name)}</th>'
                   for k, name in enumerate(heads))  # fmt: skip
    body = "".join(_row(is_marked, cells) for is_marked, cells in rows)
    caption = (
        f'<caption style="caption-side:top;text-align:left;padding:0.5em 0;opacity:0.75">{escape(title)}</caption>'
    )
    return (
        f'<div style="color:inherit">{said}<table style="border-collapse:collapse;margin:0;font-variant-numeric:'
        f'tabular-nums;font-size:0.95em;color:inherit">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
        "</table></div>"
    )


def _cell(column: int) -> str:
    return CELL.format(align="left" if column in (0, 5) else "right")


def _indent(column: int) -> str:
    return ";padding-left:0.7em" if column == 0 else ""


def _row(is_marked: bool, cells: list[str]) -> str:
    style = f"box-shadow:inset 3px 0 0 {GREEN};background:{GREEN}26;font-weight:600" if is_marked else "background:none"
    inner = []
    for column, cell in enumerate(cells):
        shown = cell if isinstance(cell, Drawing) else escape(cell)
        inner.append(f'<td style="{_cell(column)}{_indent(column)};color:inherit">{shown}</td>')
    return f'<tr style="{style}">{"".join(inner)}</tr>'


def _strips(rows: list[dict]) -> list[Drawing]:
    """Interval and score of each row, drawn on one scale."""
    ends = [row[key] for row in rows for key in ("low", "high", "score") if row[key] is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    width = (high - low) or 1.0

    def place(value: float) -> float:
        return 5 + (STRIP - 10) * (value - low) / width

    strips = []
    for row in rows:
        bar, colour = "", GREEN if row["is_chosen"] else "currentColor"
        if row["low"] is not None and row["high"] is not None:
            bar = (f'<line x1="{place(row["low"]):.1f}" x2="{place(row["high"]):.1f}" y1="7" y2="7" '
                   f'stroke="{colour}" stroke-width="2" opacity="0.6"/>')  # fmt: skip
        dot = "" if row["score"] is None else f'<circle cx="{place(row["score"]):.1f}" cy="7" r="3.5" fill="{colour}"/>'
        strips.append(Drawing(f'<svg width="{STRIP}" height="14" aria-hidden="true">{bar}{dot}</svg>'))
    return strips
