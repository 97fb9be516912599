"""How good a fit is: objectives recomputed from the coefficients, and scores on rows not seen."""

import numpy as np


def _linear(model):
    return np.ravel(model.coef_).astype(np.float64), float(np.ravel(getattr(model, "intercept_", 0.0))[0])


def _scores(model, data):
    coef, intercept = _linear(model)
    return data.X @ coef + intercept, coef


def r2(model, data, output):
    """Share of explained variance on the test rows."""
    output = np.ravel(output)
    return {"r2": 1 - np.mean((data.yt - output) ** 2) / data.yt.var()}


def squares(l1_ratio, scale=1.0):
    """``||y - Xw - b||^2 / 2n + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)`` and the number of non-zeros."""

    def quality(model, data, output):
        fitted, coef = _scores(model, data)
        penalty = l1_ratio * np.abs(coef).sum() + 0.5 * (1 - l1_ratio) * coef @ coef
        loss = np.mean((data.y - fitted) ** 2) / 2
        return {"objective": loss + scale * data.alpha * penalty, "nonzero": int((coef != 0).sum())}

    return quality


def path(model, data, output):
    """Sum of the Lasso objectives along the path, the intercept at its best."""
    total = 0.0
    for alpha, coef in zip(model.alphas, np.asarray(model.coefs).T):
        residual = data.y - data.X @ coef
        total += residual.var() / 2 + alpha * np.abs(coef).sum()
    return {"objective": total, "nonzero": int((model.coefs[:, -1] != 0).sum())}


MARGIN_LOSSES = {
    "log": lambda m: np.logaddexp(0, -m),
    "squared hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "hinge": lambda m: np.maximum(0, 1 - m),
}


def margin(loss, penalty="l2"):
    """Mean loss + penalty / (C n), and the accuracy on the test rows."""

    def quality(model, data, output):
        scores, coef = _scores(model, data)
        size = np.abs(coef).sum() if penalty == "l1" else 0.5 * coef @ coef
        objective = MARGIN_LOSSES[loss]((2 * data.y - 1) * scores).mean() + size / (data.C * len(scores))
        return {"objective": objective, "accuracy": np.mean(np.ravel(output) == data.yt)}

    return quality


def softmax(model, data, output):
    """Penalised training loss of softmax regression with C = 1 and the accuracy on the test rows."""
    scores = data.X.astype(np.float64) @ np.asarray(model.coef_, dtype=np.float64).T + model.intercept_
    scores -= scores.max(axis=1, keepdims=True)
    log_norm = np.log(np.exp(scores).sum(axis=1))
    loss = np.mean(log_norm - scores[np.arange(len(scores)), data.y])
    return {
        "objective": loss + 0.5 * float(np.sum(np.asarray(model.coef_, dtype=np.float64) ** 2)) / len(scores),
        "accuracy": np.mean(output == data.yt),
    }


def tube(epsilon, C):
    """Epsilon-insensitive objective ``C mean(max(0, |r| - epsilon)) + |w|^2 / 2n`` and R2 on the test rows."""

    def quality(model, data, output):
        fitted, coef = _scores(model, data)
        loss = np.maximum(0, np.abs(data.y - fitted) - epsilon).mean()
        return {"objective": C * loss + 0.5 * coef @ coef / len(fitted), **r2(model, data, output)}

    return quality


def poisson(model, data, output):
    """Mean Poisson loss ``mu - y log mu`` of the training rows."""
    fitted, _ = _scores(model, data)
    return {"objective": float(np.mean(np.exp(fitted) - data.y * fitted))}


def huber(epsilon):
    """Huber's criterion with its own scale estimate, per row, at the fitted scale."""

    def quality(model, data, output):
        fitted, _ = _scores(model, data)
        z = np.abs(data.y - fitted) / model.scale_
        loss = np.where(z < epsilon, z**2, 2 * epsilon * z - epsilon**2)
        return {"objective": float(model.scale_ * np.mean(1 + loss)), **r2(model, data, output)}

    return quality


def pinball(quantile):
    """Mean pinball loss of the training rows."""

    def quality(model, data, output):
        residual = data.y - _scores(model, data)[0]
        return {"objective": float(np.mean(np.maximum(quantile * residual, (quantile - 1) * residual)))}

    return quality


def moments(model, data, output):
    """Largest error of the standardised columns' mean and deviation."""
    shift, spread = np.abs(output.mean(axis=0)).max(), np.abs(output.std(axis=0) - 1).max()
    return {"error": float(max(shift, spread, 1e-9))}


def best_fold_error(model, data, output):
    """Smallest mean squared error over the path, averaged over the folds."""
    return {"cv_mse": float(np.asarray(model.mse_path_).mean(axis=-1).min())}
