"""Base class of all estimators."""

from abc import ABCMeta
from contextlib import contextmanager
from copy import deepcopy

import numpy as np
import sklearn.base
import sklearn.utils

from sklrank._compiled import with_format, without_format
from sklrank._estimators.sklearn import CallbackSupportMixin, parallel, parallel_results

# The address is also that of the documentation in pyproject.toml.
DOCUMENTATION = "https://sklrank.readthedocs.io/en/latest/"


def failed_weight_checks(reason):
    """Return the checks that a weight of 2 is as two samples, which fail for a reason."""
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


class BaseEstimator(CallbackSupportMixin, sklearn.base.BaseEstimator, metaclass=ABCMeta):
    """Base class of all estimators, which may have abstract methods and report steps to callbacks.

    Models are saved with the state format and the version. Loading one raises an error if this
    version of sklrank cannot read its state. HTML representations link to the documentation.
    """

    _doc_link_module = "sklrank"
    _doc_link_template = f"{DOCUMENTATION}generated/{{estimator_module}}.{{estimator_name}}.html"

    # Tasks of the current call of a training method. It is None if there are no callbacks.
    _task_tree = None
    # Whether training changes the attributes of a model, instead of replacing them.
    _changes_in_place = False
    # Whether `X` may be sparse, and have missing values.
    _accepts_sparse = _accepts_nan = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.allow_nan = self._accepts_sparse, self._accepts_nan
        return tags

    def __getstate__(self):
        return with_format(super().__getstate__())

    def __setstate__(self, state):
        super().__setstate__(without_format(state, type(self).__name__))

    def _attributes_so_far(self):
        """Return the attributes of a copy that predicts as if training had stopped now."""
        return self._copied_attributes() if self._changes_in_place else {}

    def _copied_attributes(self, memo=None):
        """Return copies of the attributes of the model, without parameters and callbacks."""
        parameters = self.get_params(deep=False)
        memo = {} if memo is None else memo
        # One call of deepcopy, since attributes may refer to the same objects. If an attribute is
        # the object of a parameter, such as a generator of random numbers, the copy is it, too.
        # Likewise for this object, to which metadata requests of scikit-learn refer.
        memo.update({id(value): value for value in (*parameters.values(), self)})
        return deepcopy(
            {
                name: value
                for name, value in vars(self).items()
                if name not in parameters and name != "_task_tree" and "callback" not in name
            },
            memo,
        )

    def _track(self, items, name, *, n_items=None, state=None, may_stop=True):
        """Return an iterator over `items` that reports each to callbacks, as a task of this name.

        `n_items` is the maximum number of tasks in this loop and later ones, by default that of the
        items. `state()`, by default `_attributes_so_far`, returns the attributes of a copy that
        predicts as if training had stopped now, or None if no model predicts yet. If `may_stop`, a
        callback may end the loop.
        """
        if self._task_tree is None:
            return items
        if n_items is None:
            n_items = len(items)
        state = state or self._attributes_so_far
        return self._task_tree.track(items, name, n_items, state, may_stop)

    def _track_parallel(self, calls, name, *, n_items=None, state=None, may_stop=True, **options):
        """Run a list of delayed calls by joblib, with these options, and return their results.

        Each call is a task. `state` is a function of the list of results so far, which is returned
        if a callback requests to stop; if None, no model predicts before the last call.
        """
        if self._task_tree is None:
            return parallel(**options)(calls)
        results, stopped = [], False
        arriving = parallel_results((call for call in calls if not stopped), **options)
        try:
            for _ in self._track(
                calls,
                name,
                n_items=n_items,
                state=lambda: None if state is None else state(list(results)),
                may_stop=may_stop,
            ):
                results.append(next(arriving))
        finally:
            # No more calls are dispatched. Wait for the others, since joblib would warn that their
            # results are not used.
            stopped = True
            for _ in arriving:
                pass
        return results


@contextmanager
def unchanged_on_error(estimator, *, draws=True):
    """Restore the attributes of `estimator` if the body of the `with` statement raises.

    So are the states of its random number generators, but for NumPy's global one. Saving a state
    takes as long as learning several samples: pass `draws=False` if the body draws no numbers.
    """
    before = vars(estimator).copy()
    shared = np.random.mtrand._rand
    generators = [
        value
        for value in (before.values() if draws else ())
        if isinstance(value, np.random.RandomState) and value is not shared
    ]
    states = [generator.get_state(legacy=False) for generator in generators]
    try:
        yield
    except BaseException:
        # A single assignment, which a second Ctrl-C cannot interrupt halfway.
        estimator.__dict__ = before
        for generator, state in zip(generators, states):
            generator.set_state(state)
        raise
