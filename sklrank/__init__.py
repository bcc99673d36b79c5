"""Label ranking, document ranking and learning from partial feedback with the scikit-learn API.

All estimators follow scikit-learn's conventions. Several threads may predict with the same model.
While one thread updates an online model or an online booster, calls of other threads wait. The
package has the following subpackages:

- :mod:`sklrank.online_boosting`: online boosting for multilabel ranking, with full information or
  top-k feedback.
- :mod:`sklrank.boosting`: batch boosting for document ranking, and refinement of rankings.
- :mod:`sklrank.semi_supervised`: classifiers of labeled and unlabeled samples.
- :mod:`sklrank.label_ranking`: label ranking, where the targets are rankings of the labels.
- :mod:`sklrank.linear_model`: online linear models with full information or bandit feedback.
- :mod:`sklrank.tree`: Hoeffding trees for data streams, honest trees and forests, and histogram
  trees.
- :mod:`sklrank.feedback`: exploration schemes, propensities and logs of bandit feedback.
- :mod:`sklrank.off_policy`: values of policies, and learning, from logs of other policies.
- :mod:`sklrank.metrics`: ranking losses and scores, and scorers for scikit-learn's tools.
- :mod:`sklrank.model_selection`: progressive (prequential) validation, and validation by query.
- :mod:`sklrank.pipeline`: pipelines that learn in parts.
- :mod:`sklrank.streaming`: training on batches of files, data frames and arrays.
- :mod:`sklrank.dask`: training on the workers of a dask cluster. It requires dask.
- :mod:`sklrank.datasets`: readers of benchmark files, synthetic rankings and streams.

:func:`sklrank.show_versions` prints what a bug report should contain, and
:func:`sklrank.expected_failed_checks` names the checks of scikit-learn that an estimator fails.
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
    "off_policy",
    "online_boosting",
    "pipeline",
    "semi_supervised",
    "streaming",
    "tree",
)
__all__ = ["__version__", *_SUBPACKAGES, "expected_failed_checks", "show_versions"]

try:
    import sklrank._compiled  # noqa: F401
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("sklrank."):
        raise  # A dependency is missing, not a compiled module.
    raise ImportError(
        f"This copy of sklrank, {__path__[0]!r}, is not compiled. Python imported the source "
        "folder: run Python outside of the checkout to use the installed package, or install the "
        "checkout in place with pip install -e ."
    ) from error


def expected_failed_checks(estimator: object) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator fails by design, with the reasons.

    An online learner cannot pass the check that a weight of two has the effect of two samples,
    since each update depends on the samples before. A semi-supervised classifier reads the label
    -1, which is a class in one of the checks. All other checks pass; refiners need a `base_ranker`
    for them, such as 0.

    Parameters
    ----------
    estimator : estimator
        Estimator of this package.

    Returns
    -------
    dict of str to str
        Reason by the name of the check. Pass it to scikit-learn:
        ``check_estimator(model, expected_failed_checks=expected_failed_checks(model))``.

    Examples
    --------
    >>> from sklrank import expected_failed_checks
    >>> from sklrank.online_boosting import AdaOLMR
    >>> for check in expected_failed_checks(AdaOLMR()):
    ...     print(check)
    check_sample_weight_equivalence_on_dense_data
    check_sample_weight_equivalence_on_sparse_data
    """
    return dict(getattr(estimator, "_failed_checks", {}))


def show_versions() -> None:
    """Print the versions of the package and of its dependencies, for a bug report.

    See Also
    --------
    sklearn.show_versions : The same for scikit-learn.

    Examples
    --------
    >>> import sklrank
    >>> sklrank.show_versions()
    <BLANKLINE>
    sklrank: ...
    """
    import sklearn

    print(f"\nsklrank: {__version__}")
    sklearn.show_versions()


def __getattr__(name):
    if name in (*_SUBPACKAGES, "dask"):
        return importlib.import_module(f"sklrank.{name}")
    raise AttributeError(f"module 'sklrank' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
