"""What goes wrong with model files, as one error and one warning."""


class ModelFileError(ValueError):
    """A model that cannot be saved, or a file that is not, or no longer, a model this version can load."""


class ModelVersionWarning(UserWarning):
    """The file holds objects of scikit-learn that another version of scikit-learn made."""
