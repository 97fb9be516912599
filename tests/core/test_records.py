"""Certificate, Trace and Status: the records that solvers hand back."""

import dataclasses
import math
import pickle

import pytest

from hyperplan._core.certificate import Certificate, gap_certificate
from hyperplan._core.status import Status
from hyperplan._core.trace import Step, Trace


def test_a_certificate_holds_exactly_when_value_is_within_bound():
    assert Certificate("k", "g", 1.0, 1.0).holds
    assert not Certificate("k", "g", 1.1, 1.0).holds
    assert not Certificate("k", "g", math.nan, 1.0).holds
    assert Certificate("k", "g", 1.0, 2.0).holds is True  # a plain bool, not numpy's


def test_a_certificate_cannot_be_changed_and_survives_pickle():
    certificate = Certificate("k", "g", 1.0, 2.0, details={"n": 3})
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.value = 0.0
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_a_certificate_explains_itself():
    text = str(Certificate("duality gap", "near the optimum", 2.0, 1.0, "X is finite", "a book", {"primal": 3.0}))
    for piece in ("duality gap: near the optimum", "2 > 1", "primal: 3.0", "assuming X is finite", "reference: a book"):
        assert piece in text


def test_a_certificate_shows_the_ends_of_long_details():
    details = {"errors": list(range(50)), "few": [1, 2], "word": "a long sentence", "map": dict.fromkeys(range(9))}
    text = str(Certificate("k", "g", 1.0, 2.0, details=details))
    assert "errors: 0, 1, ... 49 (50 values)" in text and "few: [1, 2]" in text
    assert "word: a long sentence" in text and f"map: {details['map']}" in text


def test_gap_certificate_is_relative_and_never_negative():
    certificate = gap_certificate(10.5, 10.0, 0.1, 5.0)
    assert certificate.value == pytest.approx(0.1)  # (10.5 - 10) / 5, exact up to rounding
    assert certificate.details == {"primal": 10.5, "dual": 10.0}
    assert gap_certificate(10.0, 10.0 + 1e-12, 1e-4, 5.0).value == 0.0  # rounding can put the dual above
    assert gap_certificate(0.0, 0.0, 1e-4, 0.0).holds  # y = 0: nothing to gain


def test_trace_records_and_passes_on_every_step():
    seen = []
    trace = Trace(seen.append, lambda step: step.iteration == 2)
    assert [trace(i, 1.0 / i, 0.5) for i in (1, 2, 3)] == [False, True, False]
    assert seen == trace.steps == [Step(1, 1.0, 0.5), Step(2, 0.5, 0.5), Step(3, 1.0 / 3, 0.5)]
    assert trace.objectives == [1.0, 0.5, 1.0 / 3] and trace.residuals == [0.5] * 3 and len(trace) == 3


def test_every_observer_hears_even_when_an_earlier_one_stops():
    heard = []
    assert Trace(lambda step: True, heard.append)(1, 2.0) is True
    assert len(heard) == 1 and math.isnan(heard[0].residual)


def test_status_ok_means_as_good_as_asked():
    assert {status for status in Status if status.ok} == {
        Status.CONVERGED,
        Status.EXACT,
        Status.RANK_DEFICIENT,
        Status.STOPPED,
    }
    assert Status(2) is Status.MAX_ITER and not Status.MAX_ITER.ok
