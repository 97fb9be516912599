"""The format of the document of an exploration, ``report.json``, and a check that names what is wrong."""

from hyperplan.report._document import COLUMN, FINDING, SEVERITIES, check_form, completed

SCHEMA = "hyperplan/explore/1"
VERDICTS = ("real", "chance", "unstable", "one_group", "untested", "behind", "failed", "late")

CLUSTERING = {
    "name": "text",
    "settings": "table",
    "verdict": "text",
    "is_chosen": "flag",
    "is_best": "flag",
    "groups": "number",
    "grouped": "number",
    "silhouette": "number",
    "calinski_harabasz": "number",
    "separation": "number",
    "stability?": "number",
    "stability_low?": "number",
    "stability_high?": "number",
    "null_silhouette?": {"mean": "number", "low": "number", "high": "number"},
    "null_separation?": {"mean": "number", "low": "number", "high": "number"},
    "excess?": "number",
    "telling?": "text",
    "agreement?": "number",
    "seconds?": "number",
    "reason?": "text",
}
FACT = {
    "column": "text",
    "kind": "text",
    "effect": "number",
    "value": "number",
    "others": "number",
    "level?": "text",
    "by?": "text",
}
DOCUMENT = {
    "schema": "text",
    "hyperplan": "text",
    "created": "text",
    "title": "text",
    "data": {"rows": "number", "unseen?": "number", "columns": [COLUMN]},
    "space": {
        "features": "number",
        "dimensions": "number",
        "kept": "number",
        "used": "number",
        "learnt_on?": "number",
    },
    "sample": "number",
    "clusterings": [CLUSTERING],
    "groups": [{"group": "number", "rows": "number", "facts": [FACT]}],
    "undescribed?": "number",
    "ungrouped": "number",
    "differences": [{"name": "text", "kind": "text", "share": "number"}],
    "like_groups?": [{"name": "text", "agreement": "number", "used": "flag"}],
    "shown": {"rows": ["number"], "groups": ["number"]},
    "colour?": {
        "name": "text",
        "kind": "text",
        "used": "flag",
        "codes": ["number"],
        "levels?": ["text"],
        "edges?": ["number"],
        "agreement?": "number",
    },
    "maps": [
        {"name": "text", "learnt_on": "number", "placed": "number", "values": "table", "x": ["number"], "y": ["number"]}
    ],
    "absent_maps": [{"name": "text", "reason": "text"}],
    "dimension": {
        "estimate?": "number",
        "by?": "text",
        "local?": "number",
        "curves": [{"name": "text", "values": ["number"]}],
    },
    "outliers": {
        "limit": "number",
        "count": "number",
        "judged": "number",
        "learnt_on": "number",
        "expected?": "number",
        "rows": [
            {"row": "number", "factor": "number", "group": "number", "columns": [{"name": "text", "value": "text"}]}
        ],
    },
    "audit": [FINDING],
    "protocol": {
        "seed": "number",
        "jobs": "number",
        "budget": "number",
        "used": "number",
        "refits": "number",
        "draws": "number",
        "stable": "number",
        "separated": "number",
        "was_interrupted": "flag",
    },
    "receipt": {"data_sha256": "text", "machine?": "text", "python?": "text", "packages?": "table"},
}
CHOICES = {
    "schema": (SCHEMA,),
    "clusterings[].verdict": VERDICTS,
    "clusterings[].telling": ("separation", "silhouette"),
    "audit[].severity": SEVERITIES,
}


def readable(document: dict) -> dict:
    """A document, checked and with every optional key present; a `ValueError` names the first key that is wrong."""
    check_form(document, DOCUMENT, CHOICES)
    return completed(document, DOCUMENT)
