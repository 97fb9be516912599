"""The audit of a table before anything is learnt from it: numbered findings, each with its numbers.

Severities: "error" means that a result would not be worth having (the target itself among the columns, one class only,
columns missing in the test file), "warning" that something should be decided, "info" a fact.
"""

import numpy as np

from hyperplan._base.finding import SEVERITIES, Finding
from hyperplan.compete._audit_columns import column_findings
from hyperplan.compete._audit_drift import drift_findings
from hyperplan.compete._audit_leaks import leak_findings
from hyperplan.compete._audit_order import order_findings
from hyperplan.compete._audit_rows import row_findings
from hyperplan.compete._audit_sample import Patience, Sample, draw_rows, draw_sample, sample_size
from hyperplan.compete._audit_target import target_findings
from hyperplan.compete._audit_values import rare_findings, unknown_findings, value_findings
from hyperplan.compete._columns_blocks import without_notes
from hyperplan.compete._columns_task import read_target, typed_target

LEAK_CODES = ("A03", "A04")  # columns that only the user's consent leaves out
BLOCKING_CODES = ("A22", "A23", "A24", "A27")  # with severity "error": no competition is possible


def audit(
    frame,
    columns,
    target: str,
    task: str,
    *,
    test=None,
    folds=5,
    group=None,
    time_column=None,
    seed=0,
    deadline=None,
    reading=None,
    rare=None,
):
    """Look for what spoils a comparison of models: leaks, repeated rows, drift, order, empty and odd columns.

    The work is bounded: a table of 10 000 columns or of a million rows is looked at on a sample, except for what needs
    every row (repeated rows, the target).

    Parameters
    ----------
    frame : pandas.DataFrame
        The table, target included.
    columns : sequence of Column
        The other columns (`guess_columns`).
    target : str
        Name of the target.
    task : {"classification", "regression"}
    test : pandas.DataFrame, default=None
        The test file; its target, if any, is not looked at.
    folds : int, default=5
        Parts of the cross-validation to come.
    group, time_column : str, default=None
        Known groups and time: they are not suspected again.
    seed : int, default=0
        Of the samples.
    deadline : float, default=None
        Of `working_time`: checks that have not begun then are left out, and A29 names them; None for no limit.
    reading : Column, default=None
        How the values of the target are read (`read_target`); guessed if it is not given.
    rare : RareClasses, default=None
        Classes with too few rows: those that were set aside count as no class.

    Returns
    -------
    findings : list of Finding
        The worst first; words by code in ``_texts/<language>/audit.toml``, explanations in ``docs/checks_audit.md``.

    Examples
    --------
    >>> from hyperplan.compete import audit, guess_columns, read_table
    >>> from hyperplan.datasets import table_path
    >>> table = read_table(table_path("penguins"))
    >>> findings = audit(table, guess_columns(table, "sex"), "sex", "classification")
    >>> [(finding.code, finding.values["rows"]) for finding in findings if finding.code == "A10"]
    [('A10', 11)]
    """
    frame, test = without_notes(frame), None if test is None else without_notes(test)
    columns = [column for column in columns if column.name != target]
    reading = reading or read_target(frame[target], task)
    y = typed_target(frame[target], task, reading)
    findings = rare_findings(target, rare) + value_findings(frame, [reading, *columns])
    if rare is not None and rare.is_aside.any():
        findings += target_findings(target, y[~rare.is_aside], task, folds)
        y = np.where(rare.is_aside, None, y)
    else:
        findings += target_findings(target, y, task, folds)
    sample = draw_sample(frame, columns, draw_rows(len(frame), sample_size(len(columns)), seed))
    patience = Patience(deadline)
    findings += column_findings(frame, columns, sample, patience)
    findings += [] if patience.ends("A01", "A02", "A25") else row_findings(frame, columns, y, task, test)
    if not any(finding.severity == "error" for finding in findings):
        kept = [column for column in columns if column.name not in (group, time_column)]
        findings += leak_findings(*_labelled(sample, y, task, kept), task, seed, patience)
        if not patience.ends("A14", "A15", "A16"):
            context = {"group": group, "time_column": time_column, "test": test}
            findings += order_findings(frame, columns, target, y, task, **context)
    if test is not None and target in test.columns and task == "classification":
        classes = {value for value in y if value is not None}
        findings += unknown_findings(target, typed_target(test[target], task, reading), classes)
    if test is not None:
        findings += drift_findings(frame, test, columns, sample, target, seed, patience)
    findings += [Finding("A29", "warning", (), {"codes": ", ".join(patience.left_out)})] if patience.left_out else []
    return sorted(findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.code))


def _labelled(sample: Sample, y, task: str, columns) -> tuple[Sample, np.ndarray]:
    """The rows of a sample that have a target, and their targets as codes or floats."""
    import pandas

    target = y[sample.rows]
    codes = pandas.factorize(target, sort=True)[0] if task == "classification" else target
    known = codes >= 0 if task == "classification" else np.isfinite(codes)
    names = {column.name for column in columns}
    used = tuple(column for column in sample.columns if column.name in names)
    values = {column.name: sample.values[column.name][known] for column in used}
    return Sample(sample.rows[known], used, values), codes[known]


def leaking_columns(findings: list[Finding]) -> list[str]:
    """Columns that ``--drop-leaks`` leaves out."""
    return list(dict.fromkeys(name for f in findings if f.code in LEAK_CODES for name in f.columns))


def blocking_findings(findings: list[Finding]) -> list[Finding]:
    """Findings that make a competition impossible."""
    return [finding for finding in findings if finding.code in BLOCKING_CODES and finding.severity == "error"]
