"""How much the trees of histogram boosting use each feature."""

import numpy as np

from hyperplan._base import check_is_fitted


class ImportancesMixin:
    """Gives an estimator its importances by gain and by count."""

    def importances(self, importance_type="gain"):
        """How much the trees use each feature.

        Parameters
        ----------
        importance_type : {'gain', 'count'}, default='gain'
            'gain' adds up by how much the splits on a feature lower the second-order objective of the training rows,
            'count' counts the splits.  See `permutation_importance` for importances on other rows.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            Sums over all splits of all trees, not normalised.
        """
        check_is_fitted(self, "_model")
        if importance_type not in ("gain", "count"):
            raise ValueError(f"importance_type must be 'gain' or 'count', got {importance_type!r}.")
        total = np.zeros(self.n_features_in_)
        source = self._model.columns.feature_of_columns()
        for tree in (tree for trees in self._model.trees for tree in trees):
            inner = tree.left >= 0
            feature = tree.feature[inner] if source is None else source[tree.feature[inner]]
            np.add.at(total, feature, 0.5 * tree.gain[inner] if importance_type == "gain" else 1.0)
        return total

    @property
    def feature_importances_(self):
        """Importances by gain that add up to 1 (0 without any split)."""
        gains = self.importances()
        return gains / max(gains.sum(), np.finfo(np.float64).tiny)
