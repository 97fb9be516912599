"""Peers whose interface differs from scikit-learn's, each with `fit` and, where it predicts, `predict`."""

from types import SimpleNamespace

import numpy as np


class Glmnet:
    """python-glmnet (Fortran) at one penalty, reached along a short path as its authors advise."""

    def __init__(self, alpha, l1_ratio=1.0, logistic=False, tol=1e-9):
        self.alpha, self.l1_ratio, self.logistic, self.tol = alpha, l1_ratio, logistic, tol

    def fit(self, X, y):
        import glmnet

        # glmnet standardises y: its ridge part is divided by the deviation of y
        scale = 1.0 if self.logistic else y.std()
        lasso, ridge = self.alpha * self.l1_ratio, self.alpha * (1 - self.l1_ratio) * scale
        options = {
            "alpha": lasso / (lasso + ridge),
            "lambda_path": (lasso + ridge) * 2.0 ** np.arange(4, -1, -1),
            "n_splits": 0,
            "standardize": False,
            "tol": self.tol,
            "fit_intercept": not self.logistic,
        }
        model = (glmnet.LogitNet if self.logistic else glmnet.ElasticNet)(**options)
        model.fit(X, y)
        path = np.asarray(model.coef_path_)
        self.coef_ = path.reshape(-1, path.shape[-1])[:, -1]
        self.intercept_ = float(np.ravel(model.intercept_path_)[-1])
        return self

    def predict(self, X):
        scores = X @ self.coef_ + self.intercept_
        return (scores > 0).astype(np.int64) if self.logistic else scores


class Path:
    """A path function as an object: centres as its library wants, keeps `alphas` and `coefs`."""

    def __init__(self, run):
        self.run = run

    def fit(self, X, y):
        self.alphas, self.coefs = self.run(X, y)[:2]
        return self


def scikit_path(module, alphas, tol):
    """`lasso_path` of scikit-learn or of a drop-in, which expects centred data."""
    import importlib

    lasso_path = importlib.import_module(f"{module}.linear_model").lasso_path

    def run(X, y):
        centred = np.asfortranarray(X - X.mean(axis=0))
        return lasso_path(centred, y - y.mean(), alphas=alphas, tol=tol, max_iter=20_000)

    return Path(run)


def celer_path(alphas, tol):
    from celer import celer_path as path

    def run(X, y):
        return path(np.asfortranarray(X - X.mean(axis=0)), y - y.mean(), "lasso", alphas=alphas, tol=tol, prune=True)

    return Path(run)


def skglm_path(alphas, tol):
    import skglm

    def run(X, y):
        model = skglm.Lasso(tol=tol, fit_intercept=False)
        return model.path(np.asfortranarray(X - X.mean(axis=0)), y - y.mean(), alphas)

    return Path(run)


def glmnet_path(alphas, tol):
    import glmnet

    def run(X, y):
        model = glmnet.ElasticNet(alpha=1, lambda_path=alphas, n_splits=0, standardize=False, tol=tol).fit(X, y)
        return model.lambda_path_, model.coef_path_

    return Path(run)


class FoldedPath:
    """Five-fold cross-validation of a path function, as the libraries' own `LassoCV` do it: threads over the folds.

    `path` builds a `Path` from penalties; the grid is scikit-learn's for the same `eps`.
    """

    def __init__(self, path, eps, threads):
        self.path, self.eps, self.threads = path, eps, threads

    def fit(self, X, y):
        from joblib import Parallel, delayed
        from sklearn.model_selection import KFold

        largest = np.abs(X.T @ (y - y.mean())).max() / len(y)  # a centred y makes centring X superfluous
        alphas = np.geomspace(largest, self.eps * largest, 100)
        folds = Parallel(self.threads, prefer="threads")(
            delayed(self._errors)(X, y, alphas, train, test) for train, test in KFold(5).split(X)
        )
        self.mse_path_ = np.array(folds).T
        best = int(self.mse_path_.mean(axis=1).argmin())
        self.alpha_ = alphas[best]
        self.coef_ = self.path(alphas[: best + 1]).fit(X, y).coefs[:, -1]
        self.intercept_ = y.mean() - X.mean(axis=0) @ self.coef_
        return self

    def _errors(self, X, y, alphas, train, test):
        coefs = self.path(alphas).fit(X[train], y[train]).coefs
        residual = (X[test] - X[train].mean(axis=0)) @ coefs + y[train].mean() - y[test, None]
        return (residual**2).mean(axis=0)


class Statsmodels:
    """A statsmodels model behind `fit` and `predict`."""

    def __init__(self, fit):
        self._fit = fit

    def fit(self, X, y):
        params = np.asarray(self._fit(np.column_stack([np.ones(len(X)), X]), y))
        self.intercept_, self.coef_ = float(params[0]), params[1:]
        return self

    def predict(self, X):
        return X @ self.coef_ + self.intercept_


def statsmodels_poisson():
    import statsmodels.api as sm

    model = Statsmodels(lambda X, y: sm.GLM(y, X, family=sm.families.Poisson()).fit(tol=1e-8).params)
    plain = model.predict
    model.predict = lambda X: np.exp(plain(X))
    return model


def statsmodels_quantile(quantile):
    import statsmodels.api as sm

    return Statsmodels(lambda X, y: sm.QuantReg(y, X).fit(q=quantile, max_iter=5000).params)


def numpy_one_pass():
    """No model, as its quality shows: the product X'X alone, which direct least squares cannot do without."""

    def fit(X, y):
        model.gram = X.T @ X
        return model

    model = SimpleNamespace(fit=fit)
    model.predict = lambda X: np.zeros(X.shape[0])
    return model


def scipy_least_squares():
    """LAPACK's least squares by divide and conquer, on centred columns."""
    from scipy.linalg import lstsq

    def fit(X, y):
        mean = X.mean(axis=0)
        model.coef_ = lstsq(X - mean, y - y.mean(), overwrite_a=True, check_finite=False)[0]
        model.intercept_ = y.mean() - mean @ model.coef_
        return model

    model = SimpleNamespace(fit=fit)
    model.predict = lambda X: X @ model.coef_ + model.intercept_
    return model
