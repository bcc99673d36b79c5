"""Label ranking, document ranking and learning from partial feedback, the scikit-learn way.

Every estimator follows scikit-learn's conventions; see the subpackages:

- :mod:`sklrank.online_boosting`: boosting that learns row by row and ranks labels.
- :mod:`sklrank.tree`: incremental decision trees.
- :mod:`sklrank.linear_model`: online linear models.
- :mod:`sklrank.metrics`: ranking losses and their scorers.
- :mod:`sklrank.model_selection`: progressive (prequential) validation.
- :mod:`sklrank.datasets`: readers of benchmark files, and synthetic streams.
"""

__version__ = "0.1.0"
__all__ = ["__version__"]
