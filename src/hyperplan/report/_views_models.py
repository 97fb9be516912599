"""What the sections about the candidates show: leaderboard, tied groups, the chosen model, certificates."""

from statistics import median

from hyperplan.report._answer import (
    best_baseline,
    best_row,
    chosen_members,
    chosen_row,
    finished,
    is_compared,
    score_decimals,
    with_unit,
)
from hyperplan.report._charts_strips import strip, strip_axis, strip_scale
from hyperplan.report._wording import UNKNOWN, Wording, brief, decimals_for

LEADERS = 0.4  # share of the scale that the intervals of the better half of the models have at least
FEWEST = 3  # of the better half
MIXTURE = "TableBlend"  # the candidate that is made of others


def common_decimals(rows: list[dict]) -> int:
    """The same digits for a column of scores, from the interval of middling width."""
    widths = [row["high"] - row["low"] for row in rows if row["low"] is not None and row["high"] is not None]
    widths = [width for width in widths if width > 0]
    return decimals_for(median(widths)) if widths else 3


def leaderboard_view(document: dict, wording: Wording) -> dict:
    """Rows with texts, sort keys and an interval each, on one scale; candidates that did not finish apart."""
    rows = finished(document)
    decimals, scale = common_decimals(rows), score_scale(document)
    baseline = best_baseline(document)
    reference = baseline["score"] if baseline else None
    shown = [_leaderboard_row(document, wording, row, decimals, scale, reference) for row in rows]
    for before, row in zip([None, *shown], shown):
        row["starts_group"] = before is not None and before["group"] != row["group"]
    return {
        "rows": shown,
        "failed": _failed(document, wording),
        "is_compared": is_compared(document),
        "axis": strip_axis(wording, scale),
        "has_mixture": any(row["name"] == MIXTURE for row in rows),
        "has_baseline": baseline is not None and scale.holds(baseline["score"]),
        "goes_beyond": not all(scale.holds(row["score"]) for row in rows),
        "corrected": _corrected(document, wording, decimals),
    }


def _failed(document: dict, wording: Wording) -> list[dict]:
    """The candidates without a score; those with the same fate share a row."""
    fates: dict[tuple[str, str], list[str]] = {}
    for row in document["leaderboard"]:
        if row["status"] != "ok":
            reason = wording.known("compete.reasons", row["reason"] or "")
            fates.setdefault((wording.word("status", row["status"]), reason), []).append(brief(row["label"]))
    return [
        {"label": wording.listing(labels, at_most=len(labels)), "status": status, "reason": reason}
        for (status, reason), labels in fates.items()
    ]


def _corrected(document: dict, wording: Wording, decimals: int) -> str:
    """Why the answer has another score than the leaderboard, if it has."""
    row, score = chosen_row(document), document["chosen"]["score"]
    shown, honest = (wording.number(value, decimals) for value in (row["score"], score["value"]))
    if shown == honest or score["method"] != "bootstrap_bias_corrected":
        return ""
    return wording.say("leaderboard.corrected", model=brief(row["label"]), shown=shown, honest=honest)


def score_scale(document: dict):
    """A scale on which the better half of the models can be told apart; what is far worse is marked at its end."""
    rows, baseline = finished(document), best_baseline(document)
    sign = 1 if document["metric"]["greater_is_better"] else -1
    if baseline:
        kept = [row for row in rows if sign * row["score"] >= sign * baseline["score"]]
        rows = kept if len(kept) > 1 else rows
    low, high = min(_bounds(rows)), max(_bounds(rows))
    models = sorted((row for row in rows if not row["is_baseline"]), key=lambda row: -sign * row["score"])
    leaders = _bounds(models[: max(FEWEST, (len(models) + 1) // 2)])
    widest = (max(leaders) - min(leaders)) / LEADERS if leaders else 0.0
    if widest and is_compared(document):  # without intervals, a close look would make much of little
        low, high = (max(low, high - widest), high) if sign > 0 else (low, min(high, low + widest))
    return strip_scale(low, high)


def _bounds(rows: list[dict]) -> list[float]:
    return [bound for row in rows for bound in (row["low"], row["score"], row["high"]) if bound is not None]


def _leaderboard_row(document, wording: Wording, row: dict, decimals: int, scale, reference) -> dict:
    interval = wording.interval(row["low"], row["high"], decimals) if row["low"] is not None else UNKNOWN
    score = wording.number(row["score"], decimals)
    kind = "chosen" if row["is_chosen"] else "baseline" if row["is_baseline"] else ""
    tip = wording.say("leaderboard.tip", model=row["label"], score=score, interval=interval)
    difference = row["difference"]
    return row | {
        "score_text": score,
        "interval_text": interval,
        "strip": strip(wording, scale, row["low"], row["score"], row["high"], tip, kind, reference),
        "difference_text": wording.signed(difference["mean"], decimals) if difference else UNKNOWN,
        "difference_value": difference["mean"] if difference else 0.0,
        "fit_text": wording.seconds(row["fit_seconds"]),
        "predict_text": wording.seconds(row["predict_seconds"]),
        "family_text": _family(row, wording),
        "settings_text": settings_text(row["settings"], _labels(document), wording),
        "tried_text": wording.count("tried", row["tried"]) if row["tried"] else "",
    }


def settings_text(settings: dict | None, labels: dict[str, str], wording: Wording) -> str:
    """``learning_rate=0.1, max_depth=6``, of each member of a mixture by its name; "defaults" where nothing differs."""
    default, parts = wording.say("chosen.default"), member_settings(settings, labels)
    shown = {label: ", ".join(f"{name}={value}" for name, value in part.items()) for label, part in parts.items()}
    if "" in shown or not shown:
        return shown.get("") or default
    return "; ".join(wording.say("chosen.member", name=name, settings=part or default) for name, part in shown.items())


def member_settings(settings: dict | None, labels: dict[str, str]) -> dict[str, dict]:
    """Settings by the member that they belong to: of a mixture its label, of a committee of one model its number.

    Those of a model by itself stand under no name.
    """
    found: dict[str, dict] = {}
    for key, value in (settings or {}).items():
        member, _, name = key.partition(".")
        label = labels.get(member, member if member.isdigit() else "")
        part = found.setdefault(label, {})
        if name or not label:
            part[name if label else key] = value
    return found


def _family(row: dict, wording: Wording) -> str:
    """What kind of model a candidate is, as far as its family says so."""
    if row["is_baseline"]:
        return wording.word("family", "baseline")
    if row["name"] == MIXTURE:
        return wording.word("family", "mixture")
    return wording.word("family", row["family"]) if row["family"] not in (None, "compete") else ""


def ties_view(document: dict, wording: Wording) -> dict:
    """Paired differences from the best with the region of practical equivalence, and the groups."""
    best = best_row(document)
    rows = [row for row in finished(document) if row["difference"]]
    verdicts = [_verdict(row, best) for row in rows]
    level = document["protocol"]["level"]
    rope = document["protocol"]["rope"] or 0.0
    scale = _difference_scale(rows, rope)
    decimals = common_decimals([row["difference"] for row in rows])
    return {
        "best": brief(best["label"]),
        "rows": [
            _difference_row(wording, row, decimals, scale, rope) | {"verdict": wording.word("verdict", verdict)}
            for row, verdict in zip(rows, verdicts)
        ],
        "is_compared": is_compared(document),
        "alpha": wording.number(1 - level, decimals_for(2 * (1 - level)) - 1),
        "has_unsettled": "unsettled" in verdicts,
        "axis": strip_axis(wording, scale),
        "rope": wording.number(rope, max(decimals_for(2 * rope) - 1, 0)) if rope else "",
        "groups": _groups(document),
    }


def _difference_scale(rows: list[dict], rope: float):
    """Wide enough for the rows tied with the best and the middling ones; baselines far away are marked at its end."""
    reaches = {id(row): max(abs(row["difference"]["low"]), abs(row["difference"]["high"])) for row in rows}
    tied = [reaches[id(row)] for row in rows if row["difference"]["verdict"] in ("tied", "equivalent")]
    reach = max([3 * rope, *(1.1 * value for value in tied)], default=0.0)
    reach = max(reach, 1.6 * median(reaches.values())) if reaches else reach or 1.0
    bounds = [bound for row in rows for bound in (row["difference"]["low"], row["difference"]["high"])]
    return strip_scale(max(min([*bounds, -rope]), -reach), min(max([*bounds, rope]), reach))


def _verdict(row: dict, best: dict) -> str:
    """The verdict of the test; "unsettled" for a model that it does not call worse but that ranks below one it does."""
    verdict = row["difference"]["verdict"]
    return "unsettled" if verdict == "tied" and row["group"] != best["group"] else verdict


def _difference_row(wording: Wording, row: dict, decimals: int, scale, rope: float) -> dict:
    difference = row["difference"]
    shown = wording.signed(difference["mean"], decimals)
    interval = wording.interval(difference["low"], difference["high"], decimals)
    tip = wording.say("leaderboard.tip", model=row["label"], score=shown, interval=interval)
    kind = "chosen" if row["is_chosen"] else "baseline" if row["is_baseline"] else ""
    values = (difference["low"], difference["mean"], difference["high"])
    return {
        "label": row["label"],
        "is_chosen": row["is_chosen"],
        "group": row["group"],
        "difference": shown,
        "interval": interval,
        "p": wording.probability(difference["p_adjusted"] if difference["p_adjusted"] is not None else difference["p"]),
        "strip": strip(wording, scale, *values, tip, kind, 0.0, (-rope, rope) if rope else None),
    }


def _groups(document: dict) -> list[dict]:
    """The groups with their members from simple to complex."""
    groups: dict[str, list[dict]] = {}
    for row in finished(document):
        if row["group"]:
            groups.setdefault(row["group"], []).append(row)
    simplest_first = lambda row: (row["simplicity"] is None, row["simplicity"] or 0)  # noqa: E731
    return [
        {"name": name, "rows": [row | {"label": brief(row["label"])} for row in sorted(rows, key=simplest_first)]}
        for name, rows in sorted(groups.items())
    ]


def chosen_view(document: dict, wording: Wording) -> dict:
    """Key figures of the chosen model and its scores by other metrics."""
    chosen, metric = document["chosen"], document["metric"]
    score, baseline = chosen["score"], best_baseline(document)
    decimals = score_decimals(score)
    held = chosen["holdout"]
    others = [
        {
            "label": other["label"],
            "value": wording.number(other["value"], score_decimals(other)),
            "interval": wording.interval(other["low"], other["high"], score_decimals(other))
            if other["low"] is not None
            else UNKNOWN,
        }
        for other in chosen["other_metrics"] or ()
    ]
    return {
        "label": chosen["label"],
        "name": chosen["name"],
        "is_baseline": chosen_row(document)["is_baseline"],
        "score": with_unit(wording.number(score["value"], decimals), metric),
        "interval": wording.interval(score["low"], score["high"], decimals) if score["low"] is not None else "",
        "level": wording.percent(score["level"] or document["protocol"]["level"], 0),
        "baseline": with_unit(wording.number(baseline["score"], decimals), metric) if baseline else "",
        "baseline_label": brief(baseline["label"]) if baseline else "",
        "settings": _chosen_settings(document, wording),
        "members": list(chosen_members(document).values()) if len(chosen_members(document)) > 1 else [],
        "others": others,
        "holdout": with_unit(wording.number(held["value"], score_decimals(held)), metric) if held else "",
        "holdout_interval": wording.interval(held["low"], held["high"], score_decimals(held))
        if held and held["low"] is not None
        else "",
        "holdout_rows": int(held["rows"]) if held else 0,
        "method": wording.word("method", score["method"]) if score["method"] else "",
    }


def _chosen_settings(document: dict, wording: Wording) -> list[tuple[str, str]]:
    """Names and values; of a mixture the names of its members, each with its settings."""
    settings, labels = document["chosen"]["settings"], _labels(document)
    if settings and all(label for label in member_settings(settings, labels)):
        return [
            (label, ", ".join(f"{name}={value}" for name, value in part.items()) or wording.say("chosen.default"))
            for label, part in member_settings(settings, labels).items()
        ]
    return [(name, str(value)) for name, value in (settings or {}).items()]


def _labels(document: dict) -> dict[str, str]:
    """Names for people of all candidates, by class."""
    return {row["name"]: row["label"] for row in document["leaderboard"]}


def certificates_view(document: dict, wording: Wording) -> list[dict]:
    """The fits that theory vouches for, the chosen one first."""
    rows = [row for row in finished(document) if row["certificate"]]
    rows.sort(key=lambda row: not row["is_chosen"])
    return [
        {
            "label": row["label"],
            "is_chosen": row["is_chosen"],
            "holds": row["certificate"]["holds"],
            "summary": _certificate_text(row["certificate"], wording),
        }
        for row in rows
    ]


def _certificate_text(certificate: dict, wording: Wording) -> str:
    """The measured number and what it must not exceed; the summary if they are not known."""
    kind, value, bound = (certificate[name] for name in ("kind", "value", "bound"))
    if kind is None or value is None or bound is None:
        return certificate["summary"]
    values = {"value": wording.compact(value), "bound": wording.compact(bound)}
    return wording.say("certificates.measured", kind=wording.word("certificate", kind), **values)
