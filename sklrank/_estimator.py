"""Base class of all estimators."""

import sklearn.base

from sklrank._state import with_format, without_format

__all__ = ["BaseEstimator"]


class BaseEstimator(sklearn.base.BaseEstimator):
    """Base class of all estimators, which are saved with the state format and the version.

    Loading a model raises an error if this version of sklrank cannot read its state, instead of
    returning a model that fails later.
    """

    def __getstate__(self):
        return with_format(super().__getstate__())

    def __setstate__(self, state):
        super().__setstate__(without_format(state, type(self).__name__))
