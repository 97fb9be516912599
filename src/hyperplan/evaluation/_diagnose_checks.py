"""The numbered checks of a diagnosis: measurements in, findings out.

"Better" means that the mean difference is at least 1 % of the way from the baseline to a perfect score, and that the
corrected t-test over the splits says so (one-sided, 5 % divided by the number of rivals tried).  Where a perfect score
is known, the test looks at the logarithm of what is missing to it, plus that 1 %: a few splits on which a wild model is
wrong by orders of magnitude would otherwise hide what all splits agree about.
"""

import numpy as np

from hyperplan._base.finding import Finding
from hyperplan.evaluation._advice import advice, memorises
from hyperplan.evaluation._corrected_t import corrected_t_interval, corrected_t_test

ALPHA = 0.05
WORTH = 0.01  # share of the way from baseline to perfect below which a difference does not matter
WIDE_GAP = 0.3  # share of what the model seems to have learned that does not carry over to new rows
MOSTLY_LOST = 0.5  # the same, where less than a proof that a simpler fit is better will do
UNSTEADY = 0.2  # share of the squared error that an average over many samples would remove
ALONE = 0.98  # share of the way to perfect that one column may not go alone
CARRIES = 0.9  # share of all importance that one column may not have
PERFECT = 0.995  # share of the way to perfect that is too good to be true
VAGUE = 0.5  # half of the interval, as a share of the gain over the baseline
MISJUDGED, SURE = 0.03, 3.0  # mean probability against share of hits: difference that matters, standard errors
NOTHING = "-"  # where no move is known


class Case:
    """Measurements of one model with what the checks derive from them."""

    def __init__(self, model, found, level=0.95):
        self.model, self.found, self.level = model, found, level
        self.score, self.train = (float(found.scores[name].mean()) for name in ("model", "train"))
        self.baseline = float(found.scores["baseline"].mean()) if "baseline" in found.scores else np.nan
        self.reach = found.perfect - self.baseline  # NaN when either end is not known
        self.worth = WORTH * self.reach if self.reach > 0 else 0.0

    def interval(self, values):
        """Corrected interval of a mean over the splits."""
        return corrected_t_interval(values, self.found.test_share, level=self.level)

    def shown(self, score) -> float:
        """A score as people know it: a loss without the sign that makes larger better."""
        return float(self.found.sign * score)

    def shown_interval(self) -> dict:
        """The model's score on new rows with its interval, as people know it."""
        own = self.interval(self.found.scores["model"])
        low, high = sorted((self.shown(own.low), self.shown(own.high)))
        return {"score": self.shown(own.value), "low": low, "high": high, "level": 100 * self.level}

    def gain(self, name):
        """How much better something scores than the model, split by split."""
        return self.found.scores[name] - self.found.scores["model"]

    def rival(self, *kinds):
        """(name, mean gain) of the best rival of some kinds if it is better than the model, else None."""
        names = self.rivals(*kinds)
        proven = [name for name in names if self._is_better(name, len(names))]
        best = max(proven, key=lambda name: self.gain(name).mean(), default=None)
        return None if best is None else (best, float(self.gain(best).mean()))

    def rivals(self, *kinds):
        """Names of all rivals of some kinds."""
        return [name for name in self.found.labels if name.split()[0] in kinds and name in self.found.scores]

    def _is_better(self, name, n_rivals):
        return float(self.gain(name).mean()) > self.worth and self.exceeds(name, "model", ALPHA / n_rivals)

    def exceeds(self, name, other, alpha=ALPHA) -> bool:
        """Whether the scores of one are shown to be higher than those of another."""
        high, low = self.found.scores[name], self.found.scores[other]
        if self.worth > 0:
            missing = [np.maximum(self.found.perfect - scores, 0.0) + self.worth for scores in (high, low)]
            differences = np.log(missing[1] / missing[0])
        else:  # the best or the baseline's score is not known
            differences = high - low
        t, p = corrected_t_test(differences, self.found.test_share)
        return t > 0 and p / 2 < alpha

    def skill(self, score):
        """Share of the way from baseline to perfect; NaN if that is not known."""
        return (score - self.baseline) / self.reach if self.reach > 0 else np.nan

    def moves(self, problem):
        """Advice as one string."""
        return ", ".join(advice(self.model, problem)) or NOTHING

    @property
    def gap(self):
        """Training minus validation score, split by split."""
        return self.found.scores["train"] - self.found.scores["model"]

    @property
    def gap_share(self):
        """The gap as a share of what the training score is above the baseline."""
        learned = self.train - self.baseline
        return float(self.gap.mean()) / learned if learned > 0 else 0.0


def check_all(case) -> list[Finding]:
    """Findings of all checks, in the order of their numbers."""
    found = [
        against_baseline(case),
        *fit_of(case),
        instability(case),
        lone_columns(case),
        perfection(case),
        gap(case),
        vagueness(case),
        learning_curve(case),
        convergence(case),
        calibration(case),
        lone_carrier(case),
    ]
    findings = [finding for finding in found if finding is not None]
    if not any(finding.severity != "info" for finding in findings):
        findings.append(Finding("D13", "info", (), {"score": case.shown(case.score)}))
    return sorted(findings, key=lambda finding: finding.code)


def against_baseline(case):
    """D01: the score with its interval, and whether it beats an answer that ignores the columns.

    If another fit beats both, the columns are of use, and it is the model that should change: see D02, D03.
    """
    if np.isnan(case.baseline):
        return None
    gain = case.interval(-case.gain("baseline"))
    rival = case.rival("simpler", "flexible", "reference")
    is_useful = case.exceeds("model", "baseline") or (rival is not None and case.exceeds(rival[0], "baseline"))
    values = {**case.shown_interval(), "baseline": case.shown(case.baseline)}
    values |= {"gain": gain.value, "gain_low": gain.low, "gain_high": gain.high}
    return Finding("D01", "info" if is_useful else "warning", (), values)


def fit_of(case) -> list:
    """D02, D03, D10: too stiff, too flexible, or beaten by another kind of model."""
    simpler, flexible, other = case.rival("simpler"), case.rival("flexible"), case.rival("reference")
    gap_is_real = case.exceeds("train", "model")
    tried = [float(case.gain(name).mean()) for name in case.rivals("simpler")]
    if simpler and gap_is_real and (not flexible or simpler[1] >= flexible[1]):
        return [_fit_finding(case, "D03", "overfit", simpler)]
    if flexible:
        return [_fit_finding(case, "D02", "underfit", flexible)]
    if not other:
        return _likely_overfit(case, gap_is_real)
    if not gap_is_real or case.gap_share < WIDE_GAP:
        return [_fit_finding(case, "D02", "underfit", other)]
    if not memorises(case.model) and (not tried or max(tried) > case.worth):
        return [_fit_finding(case, "D03", "overfit", other)]
    return [_fit_finding(case, "D10", "underfit", other, severity="info")]


def _likely_overfit(case, gap_is_real) -> list:
    """D03 where the splits prove no rival better: most of what was learnt is lost, a simpler fit looks better, and the
    best rival is better by more than one standard error."""
    gains = {name: float(case.gain(name).mean()) for name in case.rivals("simpler")}
    best = max(gains, key=lambda name: gains[name], default=None)
    if best is None or not gap_is_real or case.gap_share < MOSTLY_LOST or memorises(case.model):
        return []
    rivals = [case.gain(name) for name in case.rivals("simpler", "reference")]
    surest = max(corrected_t_test(gain, case.found.test_share)[0] for gain in rivals)
    if gains[best] <= case.worth or surest <= 1:
        return []
    return [_fit_finding(case, "D03", "overfit", (best, gains[best]))]


def _fit_finding(case, code, problem, rival, severity="warning"):
    name, gain = rival
    values = {"train": case.shown(case.train), "validation": case.shown(case.score), "rival": case.found.labels[name]}
    moves, instead = case.moves(problem), f"→ {case.found.labels[name]}"
    if code == "D02" and name == "reference" and instead not in moves:  # nothing else was seen to help
        moves = instead if moves == NOTHING else f"{moves}, {instead}"
    values |= {"rival_score": case.shown(case.score + gain), "gain": gain, "moves": moves}
    return Finding(code, severity, (), values)


def instability(case):
    """D04: how much of the squared error comes from the accident of which rows were drawn.

    What is next to nothing beside the variance of the target itself is not worth a word.
    """
    share = case.found.variance / case.found.error if case.found.error > 0 else 0.0
    if not (share >= UNSTEADY and case.found.variance >= WORTH * case.found.total):
        return None
    values = {"share": 100 * share, "variance": case.found.variance, "error": case.found.error}
    return Finding("D04", "warning", (), {**values, "moves": case.moves("unstable")})


def lone_columns(case):
    """D05: columns that predict (nearly) everything by themselves."""
    skills = {name: case.skill(score) for name, score in case.found.columns.items()}
    columns = sorted((name for name, skill in skills.items() if skill >= ALONE), key=lambda name: -skills[name])
    if not columns:
        return None
    best = columns[0]
    values = {"best": best, "best_score": case.shown(case.found.columns[best]), "score": case.shown(case.score)}
    return Finding("D05", "error", tuple(columns), {**values, "share": 100 * skills[best]})


def perfection(case):
    """D06: a score that is too good to be true."""
    skill = case.skill(case.score)
    if not skill >= PERFECT:
        return None
    return Finding("D06", "warning", (), {"score": case.shown(case.score), "perfect": case.shown(case.found.perfect)})


def gap(case):
    """D07: training against validation score."""
    rounding = 1e-12 * max(abs(case.train), abs(case.score))  # equal scores may differ in their last bits
    between = case.interval(np.where(np.abs(case.gap) <= rounding, 0.0, case.gap))
    values = {"train": case.shown(case.train), "validation": case.shown(case.score), "gap": between.value}
    values |= {"gap_low": between.low, "gap_high": between.high}
    return Finding("D07", "info", (), values)


def vagueness(case):
    """D08: an interval too wide to say how good the model is."""
    shown, folds = case.shown_interval(), case.found.scores["model"]
    half, gain = (shown["high"] - shown["low"]) / 2, case.score - case.baseline
    if not half > VAGUE * abs(gain):
        return None
    values = {name: shown[name] for name in ("low", "high", "level")}
    values |= {"worst": case.shown(folds.min()), "best": case.shown(folds.max()), "n": folds.size}
    return Finding("D08", "info", (), values)


def learning_curve(case):
    """D09: whether the last doubling of the rows still helped."""
    curve = case.found.curve
    if not {0.5, 1.0} <= curve.keys():
        return None
    last = case.interval(curve[1.0] - curve[0.5])
    if last.low <= 0 or last.value <= case.worth:
        return None
    values = {"half": case.shown(curve[0.5].mean()), "full": case.shown(curve[1.0].mean())}
    return Finding("D09", "info", (), {**values, "gain": last.value, "gain_low": last.low, "gain_high": last.high})


def convergence(case):
    """D11: fits that ended before they reached their goal."""
    told = [ending for ending in case.found.endings if "holds" in ending]
    open_ended = [ending for ending in told if not ending["holds"]]
    if not open_ended:
        return None
    worst = max(open_ended, key=lambda ending: ending["value"])
    values = {"failed": len(open_ended), "fits": len(told)}
    values |= {name: f"{worst[name]:.3g}" for name in ("value", "bound")}  # as text, because it may be infinite
    return Finding("D11", "warning", (), values)


def calibration(case):
    """D12: probabilities that promise more or less than they keep."""
    sure, right = case.found.confidence, case.found.accuracy
    if np.isnan(sure):
        return None
    error = np.sqrt(max(right * (1 - right), sure * (1 - sure)) / case.found.n_rows)
    if abs(sure - right) <= max(MISJUDGED, SURE * error):
        return None
    values = {"confidence": 100 * sure, "accuracy": 100 * right, "difference": 100 * (sure - right)}
    return Finding("D12", "warning", (), values)


def lone_carrier(case):
    """D14: a model that hangs on one of its columns; with a nearly perfect score that column is suspected of a leak."""
    gains = {name: max(0.0, gain) for name, gain in case.found.importances.items()}
    total = sum(gains.values())
    if len(gains) < 2 or not total > 0:
        return None
    best = max(gains, key=lambda name: gains[name])
    if gains[best] < CARRIES * total:
        return None
    values = {"share": 100 * gains[best] / total, "drop": gains[best], "score": case.shown(case.score)}
    return Finding("D14", "warning" if case.skill(case.score) >= ALONE else "info", (best,), values)
