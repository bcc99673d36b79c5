"""The names that the package takes from scikit-learn's private modules, all of them.

Other packages build on these too; an import that breaks in a new release is mended here.
"""

from numbers import Integral

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _check_feature_names_in, _num_samples

__all__ = [
    "N_JOBS",
    "HasMethods",
    "Interval",
    "StrOptions",
    "_BaseComposition",
    "_check_feature_names_in",
    "_fit_context",
    "_num_samples",
    "_safe_indexing",
]

# Made of them: what each `n_jobs` may be.
N_JOBS = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, None, closed="left"),
    None,
]
