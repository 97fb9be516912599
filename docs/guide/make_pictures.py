"""Draw the pictures of the guide, or those that are named: ``python docs/guide/make_pictures.py [linear trees ...]``.

Every number comes from a fit of this package with a fixed seed; colours are those of Okabe and Ito, which people with
any colour vision can tell apart, and lines also differ by style.  The competition's report is photographed by Chromium,
which must be installed; all others are drawn by matplotlib.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hyperplan.calibration import CalibratedClassifierCV, calibration_curve
from hyperplan.cluster import DBSCAN, OPTICS, KMeans, NumberOfClusters
from hyperplan.compete import compete
from hyperplan.datasets import load_penguins, table_path
from hyperplan.decomposition import PCA
from hyperplan.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from hyperplan.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hyperplan.evaluation import corrected_t_interval, score_models, tied_groups
from hyperplan.explore import explore
from hyperplan.kernels import KernelRidge
from hyperplan.linalg import eigh, jacobi, lanczos, qr_iteration
from hyperplan.linear_model import Lasso, LassoCV, LinearRegression, RidgeClassifier
from hyperplan.manifold import RISIMAP, UMAP, Isomap, LocallyLinearEmbedding
from hyperplan.mixture import GaussianMixtureIC, MixtureClassifier
from hyperplan.naive_bayes import GaussianNB
from hyperplan.neighbors import DensityModes, KernelDensity, KNeighborsClassifier, NadarayaWatsonRegressor
from hyperplan.preprocessing import StandardScaler
from hyperplan.random_projection import SparseRandomProjection, johnson_lindenstrauss_dimension
from hyperplan.svm import SVC, SVR
from hyperplan.tree import DecisionTreeClassifier, plot_tree

FOLDER = Path(__file__).resolve().parent
INK, GRID = "#33475b", "#e4e7eb"
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#aa4499"


def linear():
    """Coefficients with and without a penalty; the certificate beside the truth."""
    table = load_penguins(target="body_mass_g")
    X, y = StandardScaler().fit_transform(table.data), table.target
    figure, (left, right) = panels()
    summary, chosen = LinearRegression().fit(X, y).summary(), LassoCV(random_state=0).fit(X, y)
    stronger = Lasso(alpha=20.0).fit(X, y).coef_
    rows = np.arange(X.shape[1])
    interval = summary.interval[1:]
    left.axvline(0, color=INK, lw=0.8)
    left.hlines(rows, interval[:, 0], interval[:, 1], color=BLUE, lw=2)
    left.plot(summary.coef[1:], rows, "o", color=BLUE, ms=7, label="least squares, 95 % interval")
    left.plot(chosen.coef_, rows, "D", color=ORANGE, ms=6, mfc="none", label=f"LassoCV (alpha {chosen.alpha_:.1f})")
    left.plot(stronger, rows, "x", color=INK, ms=8, mew=2, label="Lasso(alpha=20)")
    left.set_yticks(rows, [name.replace("_", " ") for name in table.feature_names])
    left.set_ylim(len(rows) + 1.3, -0.6)  # room for the legend
    left.set_xlabel("grams per standard deviation of the feature")
    dress(left, "What makes a penguin heavy", "x")
    left.legend(frameon=False, loc="lower right", fontsize=10)

    best = objective(Lasso(alpha=20.0, tol=1e-14, max_iter=100_000).fit(X, y), X, y)
    tolerances = np.logspace(0, -9, 19)
    fits = [Lasso(alpha=20.0, tol=tol, max_iter=100_000).fit(X, y) for tol in tolerances]
    scale = (y - y.mean()) @ (y - y.mean()) / y.size
    excess = [max(objective(fit, X, y) - best, 0.0) / scale for fit in fits]
    right.loglog(tolerances, tolerances, ":", color=INK, label="tol: what was asked")
    right.loglog(
        tolerances, [fit.certificate_.value for fit in fits], "-o", color=BLUE, label="certificate: what is proved"
    )
    right.loglog(
        tolerances, np.maximum(excess, 1e-16), "--x", color=ORANGE, mew=2, label="truth: distance to the optimum"
    )
    right.invert_xaxis()
    right.set_xlabel("tol (stricter to the right)")
    right.set_ylabel("relative excess of the objective")
    dress(right, "A certificate is never below the truth", "both")
    right.legend(frameon=False, loc="lower left", fontsize=10)
    return figure


def objective(model, X, y):
    residual = y - model.predict(X)
    return residual @ residual / (2 * y.size) + model.alpha * np.abs(model.coef_).sum()


def trees():
    """A small tree, and what pruning does to the error."""
    table = load_penguins()
    small = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(table.data, table.target)
    figure, (left, right) = panels(widths=(1.35, 1))
    names = [name.replace("_", " ") for name in table.feature_names]
    plot_tree(small, feature_names=names, class_names=table.target_names, filled=True, impurity=False, ax=left)
    left.set_title("Four leaves tell the species", loc="left", weight="bold", color=INK)

    leaves, learned, fresh = pruning_errors()
    right.plot(leaves, learned, "--", color=BLUE, drawstyle="steps-post", lw=2, label="training rows")
    right.plot(leaves, fresh, "-", color=ORANGE, drawstyle="steps-post", lw=2, label="other rows")
    best = int(np.argmin(fresh))
    right.plot(leaves[best], fresh[best], "o", color=ORANGE, ms=9)
    right.annotate(
        f"{leaves[best]} leaves", (leaves[best], fresh[best]), (12, -20), textcoords="offset points", color=ORANGE
    )
    right.set_xscale("log")
    plain_ticks(right, (1, 3, 10, 30, 100))
    right.set_xlabel("leaves of the pruned tree")
    right.set_ylabel("share of wrong answers")
    right.set_ylim(bottom=0)
    dress(right, "Pruning: the whole path (noisy data)", "y")
    right.legend(frameon=False, loc="lower left", fontsize=10)
    return figure


def pruning_errors():
    """(leaves, training error, error on new rows) along the cost-complexity path of a noisy problem."""
    X, y = noisy_classes(600, seed=0)
    X_new, y_new = noisy_classes(5000, seed=1)
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
    models = [DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(X, y) for alpha in path.ccp_alphas]
    leaves = np.array([model.get_n_leaves() for model in models])
    learned = np.array([1 - model.score(X, y) for model in models])
    return leaves, learned, np.array([1 - model.score(X_new, y_new) for model in models])


def noisy_classes(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 4))
    inside = (X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6) ^ (rng.random(n) < 0.15)  # 15 % of the labels are wrong
    return X, inside.astype(int)


def forests():
    """Error against the number of trees, and intervals that hold."""
    X, y = spheres(1000, seed=0)
    figure, (left, right) = panels()
    options = {"n_estimators": 300, "oob_score": True, "random_state": 0}
    families = {
        "bagged trees": (BaggingClassifier(**options), BLUE, ":"),
        "random forest": (RandomForestClassifier(**options), ORANGE, "-"),
        "extra trees": (ExtraTreesClassifier(bootstrap=True, **options), GREEN, "--"),
    }
    for name, (model, colour, style) in families.items():
        curve = model.fit(X, y).oob_error_curve()
        label = f"{name} (rho {model.certificate_.details['rho']:.2f})"
        left.plot(np.arange(5, 301), curve[4:], style, color=colour, lw=2, label=label)
    left.set_xscale("log")
    plain_ticks(left, (5, 10, 30, 100, 300))
    left.set_xlabel("number of trees")
    left.set_ylabel("out-of-bag share of wrong answers")
    dress(left, "Less alike members, smaller error", "both")
    left.legend(frameon=False, fontsize=10)

    table = load_penguins(target="body_mass_g")
    order = np.random.default_rng(1).permutation(table.target.size)
    train, fresh = order[:233], order[233:]
    model = RandomForestRegressor(300, min_samples_leaf=10, random_state=0).fit(table.data[train], table.target[train])
    ends, truth = model.predict_interval(table.data[fresh], coverage=0.9), table.target[fresh]
    inside = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    rank = np.argsort(np.argsort(model.predict(table.data[fresh]), kind="stable"))
    right.vlines(rank, ends[:, 0] / 1000, ends[:, 1] / 1000, color=BLUE, lw=2, alpha=0.45)
    right.plot(rank[inside], truth[inside] / 1000, "o", color=INK, ms=4, label=f"inside: {inside.sum()} of 100")
    right.plot(rank[~inside], truth[~inside] / 1000, "X", color=ORANGE, ms=8, label=f"outside: {(~inside).sum()}")
    right.set_xlabel("100 unseen penguins, by predicted mass")
    right.set_ylabel("body mass (kg)")
    dress(right, "predict_interval(X, coverage=0.9), one split", "y")
    right.legend(frameon=False, loc="upper left", fontsize=10)
    return figure


def wave(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)


def boosting():
    """AdaBoost's certificate round by round, and the trade between learning rate and rounds."""
    X, y = spheres(1000, seed=2)
    X_new, y_new = spheres(5000, seed=3)
    weak = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostClassifier(weak, n_estimators=120, variant="discrete", random_state=0).fit(X, y)
    details, rounds = model.certificate_.details, np.arange(1, 121)
    edges = 0.5 - np.asarray(details["errors"])
    figure, (left, right) = panels()
    left.plot(rounds, np.exp(-2 * np.cumsum(edges**2)), ":", color=INK, lw=2, label="bound by the edges")
    left.plot(rounds, np.cumprod(details["factors"]), "-.", color=PURPLE, lw=2, label="product bound")
    left.plot(rounds, staged_errors(model, X, y), "--", color=BLUE, lw=2, label="training error")
    left.plot(rounds, staged_errors(model, X_new, y_new), "-", color=ORANGE, lw=2, label="error on new rows")
    left.set_xlabel("rounds")
    left.set_ylabel("share of wrong answers")
    left.set_ylim(0, 1)
    dress(left, "AdaBoost (trees of depth 3): the certificate by rounds", "y")
    left.legend(frameon=False, fontsize=10)

    X, y = wave(1500, seed=0)
    X_new, y_new = wave(5000, seed=1)
    for rate, colour, style in ((1.0, BLUE, ":"), (0.3, GREEN, "--"), (0.05, ORANGE, "-")):
        booster = HistGradientBoostingRegressor(learning_rate=rate, max_iter=1000, early_stopping=False).fit(X, y)
        errors = [float(((stage - y_new) ** 2).mean()) for stage in booster.staged_predict(X_new)]
        right.plot(np.arange(1, 1001), errors, style, color=colour, lw=2, label=f"learning_rate={rate:g}")
        best = int(np.argmin(errors))
        right.plot(best + 1, errors[best], "o", color=colour, ms=8)
    right.set_xscale("log")
    plain_ticks(right, (1, 10, 100, 1000))
    right.set_xlabel("rounds (dot: the best number)")
    right.set_ylabel("mean squared error on new rows")
    dress(right, "Small steps go further, and need more rounds", "both")
    right.legend(frameon=False, fontsize=10)
    return figure


def kernels():
    """Three widths of one kernel on the same points, and the error that chooses among them."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 10.0, size=(80, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=80)
    fine = np.linspace(0.0, 10.0, 1000)[:, None]
    figure, (left, right) = panels()
    left.plot(X[:, 0], y, "o", color=INK, ms=4, alpha=0.6, label="80 points")
    for gamma, colour, style in ((0.003, GREEN, "--"), (0.3, BLUE, "-"), (300.0, ORANGE, ":")):
        model = KernelRidge(kernel="rbf", gamma=gamma, alpha=0.1).fit(X, y)
        left.plot(fine[:, 0], model.predict(fine), style, color=colour, lw=2, label=f"gamma={gamma:g}")
    left.set_ylim(-1.7, 2.6)
    left.set_xlabel("x")
    dress(left, 'KernelRidge(kernel="rbf", alpha=0.1)', "y")
    left.legend(frameon=False, loc="upper right", ncols=2, fontsize=10)

    gammas, errors = np.logspace(-3, 3, 37), []
    for gamma in gammas:
        model = KernelRidge(kernel="rbf", gamma=gamma, alpha=0.1, leave_one_out=True).fit(X, y)
        errors.append([np.mean((answer - y) ** 2) for answer in (model.loo_prediction_, model.predict(X))])
    loo, seen = np.array(errors).T
    right.plot(gammas, loo, "-", color=BLUE, lw=2, label="leave-one-out error")
    right.plot(gammas, seen, "--", color=ORANGE, lw=2, label="training error")
    right.axhline(0.04, color=INK, ls=":", lw=1.5, label="variance of the noise")
    right.plot(gammas[loo.argmin()], loo.min(), "o", color=BLUE, ms=8)
    right.set_xscale("log")
    right.set_ylim(0, 0.7)
    right.set_xlabel("gamma (dot: the best one)")
    right.set_ylabel("mean squared error")
    dress(right, "Which width? Rows that were left out tell", "both")
    right.legend(frameon=False, loc="upper center", fontsize=10)
    return figure


def calibration():
    """How often what was foretold came true, before and after; and the functions that make the difference."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=8000)
    X = rng.normal(size=(8000, 2)) + 0.7 * y[:, None]
    X = np.repeat(X, 4, axis=1) + 0.3 * rng.normal(size=(8000, 8))  # four nearly equal copies: naive Bayes counts all
    train, fresh = slice(0, 4000), slice(4000, 8000)
    figure, (left, right) = panels()
    left.plot([0, 1], [0, 1], color=INK, lw=1, ls=":")
    raw = GaussianNB().fit(X[train], y[train])
    models = {"naive Bayes": (raw, ORANGE, "s--")}
    for method, colour, style in (("sigmoid", BLUE, "o-"), ("isotonic", GREEN, "^-")):
        model = CalibratedClassifierCV(GaussianNB(), method=method, ensemble=False).fit(X[train], y[train])
        models[method] = (model, colour, style)
    for name, (model, colour, style) in models.items():
        observed, said = calibration_curve(y[fresh], model.predict_proba(X[fresh])[:, 1], n_bins=10)
        left.plot(said, observed, style, color=colour, ms=6, lw=1.8, label=name)
    left.set_xlabel("probability foretold")
    left.set_ylabel("share that came true")
    dress(left, "Ten bins of 4000 unseen rows", "both")
    left.legend(frameon=False, loc="upper left", fontsize=10)

    scores = np.linspace(0.0, 1.0, 1001)
    for name, (model, colour, _) in list(models.items())[1:]:
        calibrator = model.calibrated_classifiers_[0].calibrators[0]
        right.plot(scores, calibrator.predict(scores), color=colour, lw=2, label=name)
    right.plot(scores, scores, color=INK, lw=1, ls=":", label="no change")
    right.set_xlabel("probability of naive Bayes")
    right.set_ylabel("calibrated probability")
    dress(right, "What the calibrators do", "both")
    right.legend(frameon=False, loc="upper left", fontsize=10)
    return figure


def densities():
    """A local mean with three bandwidths; a density of penguins and its modes."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 10.0, size=(120, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=120)
    fine = np.linspace(0.0, 10.0, 1000)[:, None]
    chosen = NadarayaWatsonRegressor().fit(X, y)
    figure, (left, right) = panels()
    left.plot(X[:, 0], y, "o", color=INK, ms=4, alpha=0.5)
    for factor, colour, style in ((0.15, ORANGE, ":"), (1.0, BLUE, "-"), (6.0, GREEN, "--")):
        model = NadarayaWatsonRegressor(factor * chosen.bandwidth_).fit(X, y)
        label = f"h = {model.bandwidth_:.2f}" + (" (least leave-one-out error)" if factor == 1 else "")
        left.plot(fine[:, 0], model.predict(fine), style, color=colour, lw=2, label=label)
    left.set_ylim(-2.0, 2.8)
    left.set_xlabel("x")
    dress(left, "Local means of 120 points", "y")
    left.legend(frameon=False, loc="upper right", fontsize=10)

    table = load_penguins(target="species")
    columns = [list(table.feature_names).index(name) for name in ("bill_length_mm", "bill_depth_mm")]
    rows = table.data[:, columns]
    spread = rows.std(axis=0)
    modes = DensityModes(0.35).fit(rows / spread)
    density = KernelDensity(bandwidth=0.35).fit(rows / spread)
    low, high = rows.min(axis=0) - spread, rows.max(axis=0) + spread
    a, b = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    heights = np.exp(density.score_samples(np.column_stack([a.ravel(), b.ravel()]) / spread)).reshape(a.shape)
    right.contourf(a, b, heights, levels=12, cmap="Blues")
    right.plot(rows[:, 0], rows[:, 1], ".", color=INK, ms=3, alpha=0.6)
    places = modes.modes_ * spread
    right.plot(places[:, 0], places[:, 1], "X", color=ORANGE, ms=11, mec="white", label=f"{modes.n_modes_} modes")
    right.set_xlabel("bill length (mm)")
    right.set_ylabel("bill depth (mm)")
    dress(right, "Density of 333 penguins", "both")
    right.legend(frameon=False, loc="upper left", fontsize=10)
    return figure


def neighbors():
    """Borders of one and of fifteen neighbours on two bill measures; leave-one-out error against K."""
    table = load_penguins()
    columns = [table.feature_names.index(name) for name in ("bill_length_mm", "bill_depth_mm")]
    X = StandardScaler().fit_transform(table.data[:, columns])
    y = np.unique(table.target, return_inverse=True)[1]
    figure, (left, right) = panels((1.1, 1))
    grid = np.stack(np.meshgrid(*(np.linspace(low - 0.3, high + 0.3, 160) for low, high in zip(X.min(0), X.max(0)))))
    for k, style, colour in ((1, ":", PURPLE), (15, "-", INK)):
        answer = KNeighborsClassifier(k).fit(X, y).predict(grid.reshape(2, -1).T).reshape(grid.shape[1:])
        left.contour(*grid, answer, levels=[0.5, 1.5], colors=colour, linestyles=style, linewidths=1.6)
        left.plot([], [], style, color=colour, label=f"border of {k} neighbour{'s' if k > 1 else ''}")
    for code, (colour, mark) in enumerate(zip((BLUE, ORANGE, GREEN), "osD")):
        left.plot(*X[y == code].T, mark, color=colour, ms=4, alpha=0.7, label=np.unique(table.target)[code])
    left.set_xlabel("bill length (standard deviations)")
    left.set_ylabel("bill depth (standard deviations)")
    dress(left, "Three species, two measures", "both")
    left.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, columnspacing=1.0)

    counts = np.unique(np.geomspace(1, 120, 24).astype(int))
    for weights, style, colour in (("uniform", "o-", BLUE), ("distance", "D--", ORANGE)):
        errors = [100 * (1 - KNeighborsClassifier(k, weights=weights).fit(X, y).score(None, y)) for k in counts]
        right.plot(counts, errors, style, color=colour, ms=4, label=f'weights="{weights}"')
    right.set_xscale("log")
    plain_ticks(right, [1, 3, 10, 30, 100])
    right.set_ylim(bottom=0)
    right.set_xlabel("neighbours K")
    right.set_ylabel("leave-one-out error in %")
    dress(right, "Few follow the noise, many blur", "y")
    right.legend(frameon=False)
    return figure


def evaluation():
    """Naive and corrected intervals of four models, and how often either contains the truth."""
    X, y = load_penguins(target="sex", return_X_y=True)
    models = {
        "stump": DecisionTreeClassifier(max_depth=1),
        "ridge": RidgeClassifier(),
        "tree": DecisionTreeClassifier(random_state=0),
        "forest": RandomForestClassifier(n_estimators=50, random_state=0),
    }
    scores = score_models(models, X, y, cv=5, n_repeats=5)
    letters = {name: g.letter for g in tied_groups(scores, scores.test_share, rope=0.01) for name in g.models}
    figure, (left, right) = panels()
    for height, (name, values) in enumerate(sorted(scores.table.items(), key=lambda item: item[1].mean())):
        wide, thin = (corrected_t_interval(values, share) for share in (scores.test_share, 0.0))
        left.plot([wide.low, wide.high], [height] * 2, "-", color=BLUE, lw=7, alpha=0.35, solid_capstyle="butt")
        left.plot([thin.low, thin.high], [height] * 2, "-", color=ORANGE, lw=2.5, solid_capstyle="butt")
        left.plot(wide.value, height, "o", color=INK, ms=6)
        left.annotate(letters[name], (0.985, height), color=INK, weight="bold", va="center", ha="center")
    left.set_yticks(range(4), sorted(models, key=lambda name: scores.table[name].mean()))
    left.set_ylim(-0.6, 4.3)
    left.set_xlim(0.6, 1.0)
    left.plot([], [], "-", color=BLUE, lw=7, alpha=0.35, label="corrected 95 % interval")
    left.plot([], [], "-", color=ORANGE, lw=2.5, label="naive 95 % interval")
    left.set_xlabel("accuracy, 5 x 5 folds (letters: groups of ties)")
    dress(left, "Female or male penguin?", "x")
    left.legend(frameon=False, loc="upper left", fontsize=10)

    levels = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
    for share, colour, style, label in ((0.25, BLUE, "-o", "corrected"), (0.0, ORANGE, "--s", "naive")):
        right.plot(levels, interval_coverage(levels, share), style, color=colour, lw=2, label=label)
    right.plot([0.5, 1], [0.5, 1], ":", color=INK, label="as promised")
    right.set_xlabel("level of the interval")
    right.set_ylabel("share of intervals that contain the truth")
    right.set_ylim(0, 1.02)
    dress(right, "What the levels are worth (2000 tables)", "both")
    right.legend(frameon=False, loc="lower right", fontsize=10)
    return figure


def interval_coverage(levels, share, n_tables=2000):
    """How often intervals from 10 x 5 folds contain the expected squared error of the mean of 48 normal numbers."""
    rng = np.random.default_rng(0)
    truth = 1 + 1 / 48  # noise, and the variance of the mean
    inside = np.zeros(levels.size)
    for _ in range(n_tables):
        y = rng.normal(size=60)
        folds = np.array([rng.permutation(60).reshape(5, 12) for _ in range(10)]).reshape(50, 12)
        means = (y.sum() - y[folds].sum(axis=1)) / 48
        losses = ((y[folds] - means[:, None]) ** 2).mean(axis=1)
        inside += [truth in corrected_t_interval(losses, share, level=level) for level in levels]
    return inside / n_tables


def svm():
    """The street between two classes, and the tube around a wave."""
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal((-1.1, 0.0), 0.75, size=(45, 2)), rng.normal((1.1, 0.4), 0.75, size=(45, 2))])
    y = np.repeat([0, 1], 45)
    figure, (left, right) = panels()
    street(left, SVC(C=1.0, gamma=0.35).fit(X, y), X, y)
    t = np.sort(rng.uniform(0, 6, size=70))
    tube(right, SVR(C=10.0, epsilon=0.25, gamma=0.8), t, np.sin(t) + 0.25 * rng.normal(size=70))
    return figure


def street(axes, model, X, y):
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, along = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    score = model.decision_function(np.column_stack([across.ravel(), along.ravel()])).reshape(across.shape)
    axes.contourf(across, along, score, levels=[-1, 1], colors=[GRID], alpha=0.8)
    axes.contour(
        across, along, score, levels=[-1, 0, 1], colors=INK, linestyles=["--", "-", "--"], linewidths=[1, 2, 1]
    )
    status = model.point_status(X, y)
    for label, colour, marker in ((0, BLUE, "o"), (1, ORANGE, "s")):
        rows = y == label
        axes.scatter(*X[rows].T, s=26, color=colour, marker=marker, alpha=0.9, lw=0)
    for kind, marker, size in (("on margin", "o", 130), ("inside", "D", 110), ("wrong", "X", 110)):
        rows = status == kind
        axes.scatter(
            *X[rows].T, s=size, facecolors="none", edgecolors=INK, marker=marker, lw=1.1, label=f"{kind} ({rows.sum()})"
        )
    dress(axes, f"{model.support_.size} of {len(y)} rows hold the street", "both")
    axes.legend(frameon=False, loc="lower right", fontsize=9)


def tube(axes, model, t, y):
    model.fit(t[:, None], y)
    grid = np.linspace(t[0], t[-1], 300)
    curve = model.predict(grid[:, None])
    axes.fill_between(grid, curve - model.epsilon_, curve + model.epsilon_, color=GRID, label="no loss within the tube")
    axes.plot(grid, curve, color=INK, lw=2)
    is_support = np.isin(np.arange(t.size), model.support_)
    axes.plot(t[~is_support], y[~is_support], "o", color=BLUE, ms=5, label="inside: no coefficient")
    axes.plot(t[is_support], y[is_support], "s", color=ORANGE, ms=5, label="support vectors")
    dress(axes, f"Regression: {is_support.sum()} of {t.size} rows count", "y")
    axes.legend(frameon=False, loc="lower left", fontsize=9)


def spheres(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 10))
    return X, np.where((X**2).sum(axis=1) > 9.34, 1, -1)


def staged_errors(model, X, y):
    return [float(np.mean(stage != y)) for stage in model.staged_predict(X)]


def probabilistic():
    """Borders of four models of the classes; the criterion that chooses the number of Gaussians."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 0, 1], 130)
    centres = np.repeat([[-2.2, -1.0], [2.2, 1.0], [0.0, 0.0]], 130, axis=0)
    X = rng.normal(size=(390, 2)) * np.array([[0.6, 0.6], [0.6, 0.6], [0.4, 1.2]])[np.repeat([0, 1, 2], 130)] + centres
    models = (
        ("linear analysis", LinearDiscriminantAnalysis(), GREEN, ":"),
        ("naive Bayes", GaussianNB(), PURPLE, "--"),
        ("quadratic analysis", QuadraticDiscriminantAnalysis(), ORANGE, "-."),
        ("mixtures of two", MixtureClassifier(2, random_state=0), BLUE, "-"),
    )
    figure, (left, right) = panels()
    for label, marker in ((0, "o"), (1, "^")):
        left.plot(*X[y == label].T, marker, color=INK, ms=4, alpha=0.35, mfc="none" if label else INK)
    across, up = np.meshgrid(np.linspace(-4.5, 4.5, 300), np.linspace(-4.2, 7.2, 300))
    points = np.column_stack([across.ravel(), up.ravel()])
    for name, model, colour, style in models:
        model.fit(X, y)
        share = model.predict_proba(points)[:, 1].reshape(across.shape)
        left.contour(across, up, share, levels=[0.5], colors=colour, linestyles=style, linewidths=2)
        left.plot([], [], style, color=colour, lw=2, label=f"{name}: {100 * (1 - model.score(X, y)):.0f} % wrong")
    left.set_xlabel("first column")
    left.set_ylabel("second column")
    dress(left, "Dots of two clumps, triangles of one", "both")
    left.legend(frameon=True, edgecolor="none", framealpha=1, loc="upper center", ncols=2, fontsize=9)

    numbers, kinds = range(1, 8), ("spherical", "diag", "tied", "full")
    choice = GaussianMixtureIC(n_components=numbers, covariance_type=kinds, n_init=5, random_state=0).fit(X)
    styles = ((GREEN, ":s"), (PURPLE, "--D"), (ORANGE, "-.^"), (BLUE, "-o"))
    for kind, values, (colour, style) in zip(kinds, choice.criteria_, styles):
        right.plot(numbers, values, style, color=colour, lw=2, label=kind)
    right.plot(choice.n_components_, choice.criterion_, "o", color=INK, ms=16, mfc="none", mew=2)
    right.set_xlabel("number of Gaussians (circle: the choice)")
    right.set_ylabel("BIC, lower is better")
    dress(right, "The same rows without labels: how many clumps?", "both")
    right.legend(frameon=False, loc="upper right", fontsize=10, title="covariances")
    return figure


def projections():
    """Penguins on two principal axes; random projections and the lemma; eigen-solvers step by step."""
    figure = Figure(figsize=(14.5, 4.6), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    left, middle, right = figure.subplots(1, 3)
    principal_plane(left)
    kept_distances(middle)
    shrinking_residuals(right)
    return figure


def principal_plane(axes):
    """Four standardised measures on two axes, and the measures as arrows."""
    table = load_penguins()
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    X = StandardScaler().fit_transform(table.data[:, [table.feature_names.index(name) for name in names]])
    model = PCA(2).fit(X)
    places = model.transform(X)
    for species, colour, mark in zip(np.unique(table.target), (BLUE, ORANGE, GREEN), "osD"):
        axes.plot(*places[table.target == species].T, mark, color=colour, ms=4, alpha=0.6, label=species)
    for name, tip, side in zip(names, 3.2 * model.components_.T, ("bottom", "bottom", "top", "bottom")):
        axes.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.5})
        label, shift = name.rsplit("_", 1)[0].replace("_", " "), 0.08 if side == "bottom" else -0.08
        axes.text(tip[0], tip[1] + shift, label, color=INK, ha="center", va=side, fontsize=9)
    shares = 100 * model.explained_variance_ratio_
    axes.set_xlabel(f"first axis ({shares[0]:.0f} % of the variance)")
    axes.set_ylabel(f"second axis ({shares[1]:.0f} %)")
    axes.set_ylim(top=places[:, 1].max() + 1.6)  # room for the legend
    dress(axes, "333 penguins, four measures", "both")
    axes.legend(frameon=False, loc="upper right", fontsize=9, ncols=3, columnspacing=0.8, handletextpad=0.1)


def kept_distances(axes):
    """Extreme ratios of squared distances after sparse projections, and the band of the lemma."""
    rows = np.random.default_rng(0).normal(size=(500, 5000))
    counts = np.unique(np.geomspace(20, 4000, 15).astype(int))
    found = [SparseRandomProjection(int(k), random_state=0).fit(rows).certificate_.details for k in counts]
    eps = np.linspace(0.11, 0.99, 100)
    needed = johnson_lindenstrauss_dimension(len(rows), eps=eps)
    axes.fill_between(needed, 1 - eps, 1 + eps, color=BLUE, alpha=0.15, lw=0, label="promised by the lemma, 500 rows")
    for name, style in (("largest", "o-"), ("smallest", "D--")):
        label = f"{name} ratio of 2016 measured pairs"
        axes.plot(counts, [one[f"{name}_ratio"] for one in found], style, color=ORANGE, ms=4, label=label)
    axes.axhline(1, color=INK, lw=0.8)
    axes.set_xscale("log")
    plain_ticks(axes, [20, 100, 500, 2000])
    axes.set_ylim(0, 2.9)
    axes.set_xlabel("components of 5000")
    axes.set_ylabel("squared distance after / before")
    dress(axes, "Random projections keep distances", "both")
    axes.legend(frameon=False, fontsize=9, loc="upper right")


def shrinking_residuals(axes):
    """What is left off the diagonal, or as residual, of a covariance of sixty columns."""
    factors = np.random.default_rng(0).normal(size=(60, 60))
    A = factors @ np.diag(0.8 ** np.arange(60)) @ factors.T
    size = np.linalg.norm(A)
    runs = (
        ("Jacobi, sweeps", jacobi(A), "o-", BLUE),
        ("plain QR, steps", qr_iteration(A), "-", ORANGE),
        ("Lanczos, 3 pairs, products", lanczos(A, 3, basis_size=8, tol=1e-14), "D--", GREEN),
    )
    for label, result, style, colour in runs:
        steps = [(step.iteration, step.residual / size) for step in result.trace.steps if step.iteration]
        axes.loglog(*np.transpose(steps), style, color=colour, ms=4, lw=2, label=label)
    mean = eigh(A).n_iter / len(A)
    axes.plot([], [], " ", label=f"(QL with shifts: {mean:.1f} steps per eigenvalue)")
    axes.set_ylim(1e-17, 1e5)  # room for the legend
    axes.set_xlabel("iteration")
    axes.set_ylabel("residual, relative to |A|")
    dress(axes, "Eigen-solvers of a 60 x 60 matrix", "both")
    axes.legend(frameon=False, fontsize=9, loc="upper right")


def clusters():
    """K-means and DBSCAN on moons and a cloud; the reachability plot of OPTICS; how many clusters."""
    figure = Figure(figsize=(13.5, 8.2), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    (one, two), (three, four) = figure.subplots(2, 2)
    X = moons_and_cloud()
    halves, shapes = KMeans(3, random_state=0).fit(X), DBSCAN(eps=0.16, min_samples=8).fit(X)
    coloured(one, X, halves.labels_)
    one.plot(*halves.cluster_centers_.T, "X", color=INK, ms=13, mec="white", mew=1.5, label="centres")
    one.legend(frameon=False, loc="upper right")
    dress(one, "K-means, 3 clusters: cells around centres", "both")
    coloured(two, X, shapes.labels_)
    dress(two, "DBSCAN: as dense as asked, of any form", "both")
    two.legend(frameon=False, loc="upper right")
    reachability(three, X)
    table = load_penguins()
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    measures = StandardScaler().fit_transform(table.data[:, [table.feature_names.index(name) for name in names]])
    choices(four, NumberOfClusters(range(1, 9), random_state=0).fit(measures))
    return figure


def manifolds():
    """A rolled sheet and what four maps make of it, one of them in pieces; residual variance against dimension."""
    figure = Figure(figsize=(14.5, 8.2), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.12)
    panels = figure.subplots(2, 3).ravel()
    X, arc = rolled_sheet(1500, 0)
    isomap = Isomap(n_neighbors=10, n_components=2).fit(X)
    lle = LocallyLinearEmbedding(n_neighbors=12, method="modified", random_state=0).fit(X)
    umap = UMAP(n_neighbors=15, random_state=0).fit(X)
    kept = np.abs(arc - 9.5) > 0.25  # a strip of the sheet is missing, narrower than the gap between turns
    torn = RISIMAP(n_neighbors=8, n_components=2).fit(X[kept])
    sheet(panels[0], X[:, [0, 2]], arc, "1500 rows on a rolled sheet, from the side")
    sheet(panels[1], isomap.embedding_, arc, "Isomap, 10 neighbours: rolled out")
    sheet(panels[2], lle.embedding_, arc, "Locally linear (modified): scales are free")
    sheet(panels[3], umap.embedding_, arc, "UMAP, 15 neighbours: local order, no lengths")
    sheet(panels[4], torn.embedding_, arc[kept], "RISIMAP where a strip is missing: one bridge")
    for pair in torn.bridges_:
        panels[4].plot(*torn.embedding_[torn.unique_rows_[pair]].T, "-", color=INK, lw=2.5, label="bridge")
    panels[4].legend(frameon=False, loc="upper right")
    bends(panels[5], X, isomap)
    return figure


def rolled_sheet(n, seed):
    """Rows on a Swiss roll, and how far along it each lies."""
    rng = np.random.default_rng(seed)
    turn, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    return np.column_stack([turn * np.cos(turn), height, turn * np.sin(turn)]), turn


def sheet(axes, Y, arc, title):
    """Places, coloured along the sheet."""
    axes.scatter(*Y.T, c=arc, cmap="cividis", s=9, lw=0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    dress(axes, title, "both")


def bends(axes, X, isomap):
    """What 1, 2, ... dimensions leave unexplained, along the sheet and in straight lines."""
    curve = isomap.residual_curve(5)
    straight = Isomap(n_neighbors=len(X) - 1, n_components=3).fit(X).residual_variance_
    axes.plot(curve.dimensions, curve.residual, "o-", color=BLUE, lw=2, label="geodesics (Isomap)")
    axes.plot(np.arange(1, 4), straight, "s--", color=ORANGE, lw=2, label="straight lines (classical scaling)")
    axes.set(xlabel="dimension", ylabel="residual variance", ylim=(-0.02, None))
    plain_ticks(axes, curve.dimensions.tolist())
    axes.legend(frameon=False)
    dress(axes, f"Along the sheet {curve.dimension} dimensions are enough", "y")


def moons_and_cloud():
    """Two moons, a round cloud, some rows that belong nowhere."""
    rng = np.random.default_rng(4)
    angle, upper = rng.uniform(0, np.pi, 500), np.arange(500) % 2 == 0
    moons = np.column_stack([np.cos(angle), np.sin(angle)])
    moons[~upper] = [1.0, 0.5] - moons[~upper]
    moons += 0.05 * rng.normal(size=moons.shape)
    cloud = [2.9, 1.0] + 0.22 * rng.normal(size=(250, 2))
    return np.concatenate([moons, cloud, rng.uniform([-1.3, -0.8], [3.7, 1.9], (40, 2))])


def coloured(axes, X, labels):
    """Rows in the colour and the mark of their cluster; noise in grey."""
    for label, (colour, mark) in enumerate(zip((BLUE, ORANGE, GREEN, PURPLE), "osD^")):
        axes.plot(*X[labels == label].T, mark, color=colour, ms=4, alpha=0.7)
    if (labels < 0).any():
        axes.plot(*X[labels < 0].T, "x", color="#8795a1", ms=5, label="noise")
    axes.set_xlim(-1.45, 4.6)
    axes.set_aspect("equal", adjustable="datalim")


def reachability(axes, X):
    """Rows in the order of OPTICS; valleys are clusters, and a level is the cut of DBSCAN."""
    model = OPTICS(min_samples=8).fit(X)
    heights, order = model.reachability_[model.ordering_], model.ordering_
    labels = DBSCAN(eps=0.16, min_samples=8).fit(X).labels_[order]
    for label, colour in zip((-1, 0, 1, 2), ("#8795a1", BLUE, ORANGE, GREEN)):
        chosen = np.flatnonzero((labels == label) & np.isfinite(heights))
        axes.vlines(chosen, 0, heights[chosen], color=colour, lw=0.9)
    axes.axhline(0.16, color=INK, lw=1.5, ls="--")
    axes.text(len(X) / 2, 0.165, "eps = 0.16", color=INK, ha="center", va="bottom")
    axes.set_ylim(0, 0.5)
    axes.set_xlabel("rows in the order of OPTICS")
    axes.set_ylabel("reached at")
    dress(axes, "OPTICS: all levels at once", "y")


def choices(axes, found):
    """The three curves, each as a share of its largest value, with its choice."""
    curves = (
        ("inertia, the elbow", found.inertias_, "elbow", "o-", BLUE),
        ("mean silhouette", found.silhouettes_, "silhouette", "D--", ORANGE),
        ("Calinski-Harabasz", found.calinski_harabasz_, "calinski_harabasz", "s-.", GREEN),
    )
    for name, values, rule, style, colour in curves:
        chosen, share = found.choices_[rule], values / np.nanmax(values)
        axes.plot(found.numbers_, share, style, color=colour, lw=2, ms=5, label=f"{name}: {chosen}")
        place = int(np.flatnonzero(found.numbers_ == chosen)[0])
        axes.plot(chosen, share[place], "o", color=colour, ms=15, mfc="none", mew=2)
    axes.set_ylim(0, 1.35)  # room for the legend
    axes.set_xlabel("clusters")
    axes.set_ylabel("share of the largest value")
    dress(axes, "How many? 333 penguins of three species", "y")
    axes.legend(frameon=False, loc="upper right", ncols=3, fontsize=9)


def panels(widths=(1, 1)):
    figure = Figure(figsize=(11.5, 4.6), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return figure, figure.subplots(1, 2, width_ratios=widths)


def plain_ticks(axes, values):
    axes.set_xticks(values, [str(value) for value in values])
    axes.minorticks_off()


def dress(axes, title, grid):
    axes.set_title(title, loc="left", weight="bold", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(axis=grid, color=GRID, lw=0.8)
    axes.set_axisbelow(True)


def write(name, figure):
    """Beside its place first, then renamed: never half a picture."""
    beside = FOLDER / f".{name}.{os.getpid()}"
    figure.savefig(beside, format="png", metadata={"Software": None})
    beside.replace(FOLDER / f"{name}.png")


def competition():
    """The example of the command line, and the first screen of its report."""
    with tempfile.TemporaryDirectory() as folder:
        result = compete(table_path("penguins"), target="sex", title="penguins.csv.gz")
        photograph(result.report(Path(folder) / "report.html"), FOLDER / "competition.png")


def exploration():
    """The same for the exploration."""
    with tempfile.TemporaryDirectory() as folder:
        result = explore(table_path("penguins"), title="penguins.csv.gz")
        photograph(result.report(Path(folder) / "report.html"), FOLDER / "explore.png", height=1290)


def photograph(page, picture, width=1280, height=1130):
    """The top of a page as a desktop shows it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("the picture of the report needs Chromium")
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]
    quiet += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with tempfile.TemporaryDirectory() as profile:
        where = [f"--user-data-dir={profile}", f"--window-size={width},{height}", f"--screenshot={picture}"]
        subprocess.run([browser, *quiet, *where, Path(page).as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    drawn = {"linear": linear, "trees": trees, "forests": forests, "boosting": boosting, "evaluation": evaluation}
    drawn |= {"probabilistic": probabilistic, "calibration": calibration, "densities": densities, "kernels": kernels}
    drawn |= {"neighbors": neighbors, "projections": projections}
    drawn |= {"svm": svm, "clusters": clusters, "manifolds": manifolds}
    pages = {"competition": competition, "explore": exploration}
    for chosen in sys.argv[1:] or [*drawn, *pages]:
        pages[chosen]() if chosen in pages else write(chosen, drawn[chosen]())
