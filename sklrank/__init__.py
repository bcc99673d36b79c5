"""Label ranking, document ranking and learning from partial feedback, the scikit-learn way.

Every estimator follows scikit-learn's conventions. Threads may share a model to predict; while one
of them lets it learn, no other may use it. The subpackages:

- :mod:`sklrank.online_boosting`: boosting that learns row by row and ranks labels.
- :mod:`sklrank.boosting`: boosting on whole data: documents of queries, few labels.
- :mod:`sklrank.label_ranking`: rankings of the labels as targets.
- :mod:`sklrank.tree`: Hoeffding trees, which learn from streams, honest regression trees and
  forests, and stumps.
- :mod:`sklrank.linear_model`: online linear models.
- :mod:`sklrank.feedback`: exploration, propensities and the record of what was shown.
- :mod:`sklrank.metrics`: ranking losses and their scorers.
- :mod:`sklrank.model_selection`: progressive (prequential) validation, and validation by query.
- :mod:`sklrank.datasets`: readers of benchmark files, synthetic rankings and streams.
"""

import importlib

__version__ = "0.1.0"

_SUBPACKAGES = (
    "boosting",
    "datasets",
    "feedback",
    "label_ranking",
    "linear_model",
    "metrics",
    "model_selection",
    "online_boosting",
    "tree",
)
__all__ = ["__version__", *_SUBPACKAGES]

try:
    import sklrank._online_learner  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"This copy of sklrank, {__path__[0]!r}, is not compiled. Python found the source folder "
        "first: leave the checkout to use the installed package, or install it in place by "
        "pip install -e ."
    ) from error


def __getattr__(name):
    if name in _SUBPACKAGES:
        return importlib.import_module(f"sklrank.{name}")
    raise AttributeError(f"module 'sklrank' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
