"""One certificate for several fits: it holds if and only if the certificates of all of them do."""

import math

from hyperplan._core.certificate import Certificate


def gathered_certificate(members) -> Certificate:
    """The certificate of the member that comes closest to breaking its promise, with a count of those that keep it.

    Raises `AttributeError` where a member has no certificate: then there is nothing to vouch for.

    >>> from types import SimpleNamespace as Fit
    >>> good = Fit(certificate_=Certificate("duality gap", "close", 1e-6, 1e-4))
    >>> poor = Fit(certificate_=Certificate("duality gap", "not close", 1e-3, 1e-4))
    >>> gathered_certificate([good, good]).holds, gathered_certificate([good, poor]).holds
    (True, False)
    """
    certificates = [member.certificate_ for member in members]
    shares = [_share_of_bound(certificate) for certificate in certificates]
    worst = max(range(len(shares)), key=shares.__getitem__)
    chosen = certificates[worst]
    return Certificate(
        kind=f"{chosen.kind}, worst of {len(certificates)} fits",
        guarantee=chosen.guarantee,
        value=chosen.value,
        bound=chosen.bound,
        assumption=chosen.assumption,
        reference=chosen.reference,
        details={"fits": len(certificates), "holding": sum(c.holds for c in certificates), "worst": worst},
    )


def _share_of_bound(certificate):
    """How much of the bound is used: above 1 if and only if the certificate does not hold."""
    if not certificate.holds:
        excess = certificate.value / certificate.bound if certificate.bound > 0 else math.inf
        return math.inf if math.isnan(excess) else excess
    return certificate.value / certificate.bound if 0 < certificate.bound < math.inf else 0.0
