"""Base class of all estimators."""

from abc import ABCMeta

import sklearn.base

from sklrank._state import with_format, without_format

# The address is also that of the documentation in pyproject.toml.
DOCUMENTATION = "https://sklrank.readthedocs.io/en/latest/"


def failed_weight_checks(reason):
    """Return the checks that a weight of 2 has the effect of two samples, which fail for a reason.

    See `expected_failed_checks`.
    """
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


class BaseEstimator(sklearn.base.BaseEstimator, metaclass=ABCMeta):
    """Base class of all estimators, which may have abstract methods.

    Models are saved with the state format and the version. Loading a model raises an error if this
    version of sklrank cannot read its state, instead of returning a model that fails later. HTML
    representations link to the documentation.
    """

    _doc_link_module = "sklrank"
    _doc_link_template = f"{DOCUMENTATION}generated/{{estimator_module}}.{{estimator_name}}.html"

    def __getstate__(self):
        return with_format(super().__getstate__())

    def __setstate__(self, state):
        super().__setstate__(without_format(state, type(self).__name__))
