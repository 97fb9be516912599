"""The answer in three sentences: which model and how good, which are tied with it, what to beware of."""

from hyperplan.report._document import SEVERITIES
from hyperplan.report._findings import by_severity
from hyperplan.report._names import readable
from hyperplan.report._wording import Wording, brief, decimals_for

SHOWN = 2  # findings that the answer names; the others are counted
OUT_OF_TIME = ("budget", "slow")  # reasons of candidates that another budget would have let finish
ENOUGH, TIMES_MORE = 60, 4  # seconds to ask for where a budget was too short, and how many times the budget


def answer_sentences(document: dict, language: str = "en") -> list[str]:
    """The three sentences that a report begins with and a terminal ends with.

    Parameters
    ----------
    document : dict
        The content of ``report.json``.
    language : {"en", "fr"}, default="en"

    Returns
    -------
    list of str
        Which model is chosen and how good it is against the baseline; which models are tied with the best and why this
        one was chosen; what to beware of.
    """
    wording = Wording(language)
    return sentences(readable(document, wording), wording)


def sentences(document: dict, wording: Wording) -> list[str]:
    """The three sentences of a readable document."""
    return [quality_sentence(document, wording), ties_sentence(document, wording), trust_sentence(document, wording)]


def score_decimals(score: dict) -> int:
    """Digits that the width of a score's interval justifies."""
    low, high = score["low"], score["high"]
    return decimals_for(high - low if low is not None and high is not None else None)


def finished(document: dict) -> list[dict]:
    """The candidates that have a score."""
    return [row for row in document["leaderboard"] if row["status"] == "ok"]


def best_row(document: dict) -> dict:
    """The candidate with the best score."""
    rows = finished(document)
    return next((row for row in rows if row["is_best"]), rows[0])


def best_baseline(document: dict) -> dict | None:
    """The baseline with the best score, if one finished."""
    rows = [row for row in finished(document) if row["is_baseline"]]
    sign = 1 if document["metric"]["greater_is_better"] else -1
    return max(rows, key=lambda row: sign * row["score"], default=None)


def best_model(document: dict) -> dict:
    """The candidate with the best score that is no baseline."""
    sign = 1 if document["metric"]["greater_is_better"] else -1
    return max((row for row in finished(document) if not row["is_baseline"]), key=lambda row: sign * row["score"])


def tied_rows(document: dict) -> list[dict]:
    """The candidates in the best one's group, the best one among them."""
    best = best_row(document)
    return [row for row in finished(document) if row is best or (best["group"] and row["group"] == best["group"])]


def beats_baseline(document: dict) -> bool:
    """True unless a baseline is chosen or tied with the best."""
    return not any(row["is_baseline"] for row in tied_rows(document)) and not chosen_row(document)["is_baseline"]


def chosen_row(document: dict) -> dict:
    """The row of the leaderboard that was chosen."""
    rows = finished(document)
    named = [row for row in rows if row["name"] == document["chosen"]["name"]]
    return next((row for row in rows if row["is_chosen"]), named[0] if named else rows[0])


def is_compared(document: dict) -> bool:
    """False if candidates were tested on one split only: nobody then knows how uncertain scores are."""
    return best_row(document)["group"] is not None


def was_cut_short(document: dict) -> bool:
    """True if time did not suffice for all the folds that were planned."""
    protocol = document["protocol"]
    return protocol["planned"] is not None and protocol["folds"] < protocol["planned"]


def splits_done(document: dict) -> int:
    """On how many splits into training and test rows each candidate was tested."""
    protocol = document["protocol"]
    return int(protocol["splits"] or protocol["folds"] * protocol["repeats"])


def splits_planned(document: dict) -> int:
    """How many splits there would have been with enough time."""
    protocol = document["protocol"]
    return int(protocol["planned_splits"] or max(splits_done(document), protocol["planned"] or 0))


def splits_text(document: dict, wording: Wording) -> str:
    """On how many splits candidates were tested, and how many were planned if that is more."""
    done, planned = splits_done(document), splits_planned(document)
    if done < planned:
        return wording.say("protocol.splits_some", splits=done, planned=planned)
    return wording.say("protocol.splits", splits=done)


def rope_text(document: dict, wording: Wording) -> str:
    """The largest difference that is taken not to matter."""
    return wording.compact(document["protocol"]["rope"] or 0.0)


def chosen_name(document: dict, wording: Wording) -> str:
    """The name of the chosen model; of a mixture, with its members."""
    label, members = brief(document["chosen"]["label"]), chosen_members(document)
    if len(members) < 2:
        return label
    return wording.say("answer.mixture", model=label, members=wording.listing(map(brief, members.values())))


def chosen_members(document: dict) -> dict[str, str]:
    """Class and label of the candidates that a chosen mixture is made of: its settings begin with their classes."""
    labels = {row["name"]: row["label"] for row in finished(document)}
    names = dict.fromkeys(key.partition(".")[0] for key in document["chosen"]["settings"] or {})
    return {name: labels[name] for name in names} if all(name in labels for name in names) else {}


def gap_closed(document: dict) -> float | None:
    """The share of the way from the baseline to a perfect score that the chosen model has gone."""
    baseline, perfect = best_baseline(document), document["metric"]["best"]
    if baseline is None or perfect is None or perfect == baseline["score"]:
        return None
    return (document["chosen"]["score"]["value"] - baseline["score"]) / (perfect - baseline["score"])


def quality_sentence(document: dict, wording: Wording) -> str:
    """Which model, how good, and what that means against the baseline."""
    chosen, metric, baseline = document["chosen"], document["metric"], best_baseline(document)
    decimals = score_decimals(chosen["score"])
    values = {
        "model": chosen_name(document, wording),
        "metric": metric["label"],
        "target": brief(document["data"]["target"]["name"]),
        "score": with_unit(wording.number(chosen["score"]["value"], decimals), metric),
        "interval": _interval_clause(wording, document, decimals),
    }
    if baseline is None:
        return wording.say("answer.alone", **values)
    if all(row["is_baseline"] for row in finished(document)):
        return _only_baselines(document, wording, values)
    values["baseline"] = with_unit(wording.number(baseline["score"], decimals), metric)
    if chosen_row(document)["is_baseline"]:
        rival = best_model(document)
        shown = with_unit(wording.number(rival["score"], decimals), metric)
        return wording.say("answer.baseline_chosen", **values, rival=brief(rival["label"]), rival_score=shown)
    if not beats_baseline(document):
        if was_cut_short(document):
            few = {"tests": splits_done(document), "planned": splits_planned(document)}
            return wording.say("answer.too_few_tests", **values, **few)
        return wording.say("answer.nothing_beats_baseline", **values)
    share = gap_closed(document)
    if share is None or share <= 0:
        return wording.say("answer.good", **values)
    kind = "gap" if metric["greater_is_better"] else "error"
    return wording.say(f"answer.good_{kind}", **values, share=wording.percent(min(share, 1.0)))


def _only_baselines(document: dict, wording: Wording, values: dict) -> str:
    """That no model has a score: the budget was too short for each of them, or some failed."""
    budget = document["protocol"]["budget"]
    reasons = [row["reason"] for row in document["leaderboard"] if row["status"] != "ok"]
    if budget is None or not reasons or not set(reasons) <= set(OUT_OF_TIME):
        return wording.say("answer.only_baselines", **values)
    more = str(max(ENOUGH, round(TIMES_MORE * budget)))
    return wording.say("answer.too_short", **values, budget=wording.seconds(budget), more=more)


def with_unit(shown: str, metric: dict) -> str:
    """A number with the metric's unit, if it has one."""
    return f"{shown}\u00a0{metric['unit']}" if metric["unit"] else shown


def _interval_clause(wording: Wording, document: dict, decimals: int) -> str:
    score = document["chosen"]["score"]
    if score["low"] is None or score["high"] is None:
        return ""
    level = score["level"] or document["protocol"]["level"]
    interval = wording.interval(score["low"], score["high"], decimals)
    return wording.say("answer.interval", level=wording.percent(level, 0), interval=interval)


def ties_sentence(document: dict, wording: Wording) -> str:
    """Which candidates are tied with the best, and why the chosen one was chosen."""
    rows, tied, best, chosen = finished(document), tied_rows(document), best_row(document), chosen_row(document)
    others = [brief(row["label"]) for row in tied if row is not best]
    tests = splits_done(document)
    values = {"model": brief(chosen["label"]), "best": brief(best["label"]), "tied": wording.listing(others)}
    if len(rows) == 1:
        return wording.say("answer.only", **values)
    if not is_compared(document):
        return wording.say("answer.uncompared", **values)
    if not others:
        return wording.count("answer.ahead", len(rows) - 1, **values, tests=tests)
    kind = "best" if chosen is best else "simplest"
    if not _is_simplest(chosen, tied):
        kind += "_near"
    return wording.count(f"answer.tied_{kind}", len(others), **values, tests=tests, rope=rope_text(document, wording))


def _is_simplest(chosen: dict, tied: list[dict]) -> bool:
    """True unless a tied candidate is simpler: one that is tied but not within one standard error of the best."""
    ranks = [row["simplicity"] for row in tied if row["simplicity"] is not None]
    return chosen["simplicity"] is None or not ranks or chosen["simplicity"] <= min(ranks)


def trust_sentence(document: dict, wording: Wording) -> str:
    """The gravest findings, or that there are none; and the score on rows set aside, if there are any."""
    found = [
        finding
        for area in ("audit", "diagnosis")
        for finding in by_severity(wording, area, document[area])
        if finding["severity"] != "info"
    ]
    found.sort(key=lambda finding: SEVERITIES.index(finding["severity"]))
    held = _holdout_clause(document, wording)
    if not found:
        return wording.say("answer.sound" if is_compared(document) else "answer.sound_data", holdout=held)
    names = [_name(wording, finding) for finding in found[:SHOWN]]
    if len(found) > SHOWN:
        names.append(wording.count("answer.more_findings", len(found) - SHOWN))
    return wording.say("answer.beware", findings=wording.listing(names), holdout=held)


def _name(wording: Wording, finding: dict) -> str:
    if finding["title"] == finding["code"]:
        return finding["code"]
    return wording.say("answer.named", title=finding["title"], code=finding["code"])


def _holdout_clause(document: dict, wording: Wording) -> str:
    held = document["chosen"]["holdout"]
    if held is None:
        return ""
    decimals = score_decimals(held)
    score = with_unit(wording.number(held["value"], decimals), document["metric"])
    return wording.say("answer.holdout", rows=held["rows"], metric=document["metric"]["label"], score=score)
