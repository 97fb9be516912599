"""Models as files without code in them."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.persistence._allowed import register_class
    from hyperplan.persistence._describe import describe
    from hyperplan.persistence._errors import ModelFileError, ModelVersionWarning
    from hyperplan.persistence._files import load, save

__getattr__, __dir__, __all__ = lazy_names(__name__)
