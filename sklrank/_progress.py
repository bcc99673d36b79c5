"""Progress of training: callbacks of scikit-learn, and the lines that `verbose` prints.

scikit-learn 1.9 has callbacks (`sklearn.callback`, SLEP 23), which follow training as a tree of
tasks. The root is the call of `fit`, `partial_fit`, `progressive_fit` or `partial_fit_feedback`.
Its subtasks are the steps of the loops in this call, such as passes and their batches, rounds of
boosting, or fits of inner estimators. A loop reports its steps by one line: ::

    for batch in self._track(batches, "batch"):

Without callbacks `_track` returns its argument. In earlier releases of scikit-learn the estimators
have no method `set_callbacks`.

The hooks of callbacks run in the process and thread of the training method, between steps. So an
error in a hook, or Ctrl-C, has the effect of an error in the loop. If inner estimators are fitted
by joblib, a hook runs when the fit has returned from its worker, and a callback need not be
pickled. Callbacks are not propagated to inner estimators.

A hook may request `fitted_estimator`, a copy that predicts as if training had stopped after the
task. It does not change when training continues. The attributes are copied only for callbacks that
request it.
"""

from contextlib import nullcontext
from copy import deepcopy
from functools import wraps
from inspect import signature

from sklearn.utils.parallel import Parallel

from sklrank._call_guard import CallGuard, ExclusiveCalls
from sklrank._validation import unchanged_on_error

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:
        """Empty base class."""

    def with_callbacks(method):
        """Return the method."""
        return method


__all__ = ["IterativeMixin", "print_progress", "with_guarded_callbacks", "with_task_tree"]

# Arguments of training methods that scorers of callbacks need in addition to X and y.
METADATA = ("sample_weight", "qid")


def print_progress(name, done, figures):
    """Print a line of `verbose`.

    Parameters
    ----------
    name : str
        Name of the estimator or function.
    done : str
        What has been done so far, such as "round 3 of 100".
    figures : dict of str to number, or str
        Named values, such as the loss so far, or another text.
    """
    if not isinstance(figures, str):
        figures = ", ".join(
            f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
    print(f"[{name}] {done}: {figures}")


class TaskTree:
    """The tasks of one call of a training method, which are reported to callbacks.

    Parameters
    ----------
    estimator : estimator
        Estimator that has callbacks.
    method : str
        Name of the training method.
    arguments : dict
        Arguments of the method, which the hooks receive as the user passed them.
    """

    def __init__(self, estimator, method, arguments):
        metadata = {name: arguments[name] for name in METADATA if arguments.get(name) is not None}
        self._arguments = {
            "estimator": estimator,
            "X": arguments.get("X"),
            "y": arguments.get("y"),
            "metadata": metadata,
        }
        # The root is always in the list, followed by the tasks that have begun and not ended.
        self._contexts = [estimator._init_callback_context(task_name=method)]
        self._root_has_begun = False

    def track(self, items, name, n_items, n_subtasks, state, may_stop):
        """Yield the items. Each is a subtask of the innermost task that has begun."""
        parent = self._contexts[-1]
        if not self._root_has_begun:
            self._begin_root(n_items)
        for item in items:
            context = parent.subcontext(task_name=name, max_subtasks=n_subtasks)
            self._contexts.append(context)
            context.call_on_fit_task_begin(**self._arguments)
            yield item
            self._contexts.pop()
            if self._end(context, state) and may_stop:
                break

    def end(self, state):
        """Report the end of the root, after the training method has returned."""
        if not self._root_has_begun:
            self._begin_root(0)
        self._end(self._contexts[0], state)

    def _begin_root(self, n_subtasks):
        self._root_has_begun = True
        # It is known only now: the root is created before the data are checked.
        self._contexts[0].max_subtasks = n_subtasks
        self._contexts[0].call_on_fit_task_begin(**self._arguments)

    def _end(self, context, state):
        def attributes():
            values = state()
            return None if values is None else {**values, "_task_tree": None}

        return context.call_on_fit_task_end(**self._arguments, reconstruction_attributes=attributes)


class IterativeMixin(CallbackSupportMixin):
    """Mixin of estimators whose training methods report their steps to callbacks."""

    # Tasks of the current call of a training method. It is None if there are no callbacks.
    _task_tree = None
    # Whether training changes the attributes of a model, instead of replacing them.
    _changes_in_place = False

    def _attributes_so_far(self):
        """Return the attributes of a copy that predicts as if training had stopped now.

        The copy shares all other attributes with this estimator.
        """
        if not self._changes_in_place:
            return {}
        # One call of deepcopy, since attributes may refer to the same objects.
        parameters = self.get_params(deep=False)
        return deepcopy(
            {
                name: value
                for name, value in vars(self).items()
                if name not in parameters and name != "_task_tree" and "callback" not in name
            }
        )

    def _track(self, items, name, *, n_items=None, n_subtasks=0, state=None, may_stop=True):
        """Return an iterator over `items` that reports each of them as a task to callbacks.

        Parameters
        ----------
        items : iterable
            Items of a loop.
        name : str
            Name of the tasks.
        n_items : int, default=None
            Maximum number of tasks in this loop and later loops of the same level. If None, it is
            the length of `items`.
        n_subtasks : int, default=0
            Maximum number of subtasks of each task.
        state : callable, default=None
            Function that returns the attributes of a copy that predicts as if training had stopped
            now, or None if there is no model yet that predicts. The default is
            `_attributes_so_far`.
        may_stop : bool, default=True
            Whether the loop may end before the last item if a callback requests it.
        """
        if self._task_tree is None:
            return items
        if n_items is None:
            n_items = len(items)
        state = state or self._attributes_so_far
        return self._task_tree.track(items, name, n_items, n_subtasks, state, may_stop)

    def _track_parallel(self, calls, name, *, n_items=None, state=None, may_stop=True, **options):
        """Run a list of delayed calls by joblib, with these options, and return their results.

        Each call is a task. `state` is a function of the list of results so far; if None, there is
        no model that predicts before the last call. If a callback requests to stop, the list has
        the results so far.
        """
        if self._task_tree is None:
            return Parallel(**options)(calls)
        results, stopped = [], False
        arriving = Parallel(**options, return_as="generator")(call for call in calls if not stopped)
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


def with_task_tree(method):
    """Decorate a training method: report its tasks to the callbacks of the estimator, if any."""

    @wraps(method)
    def tracked(estimator, *args, **kwargs):
        # The attribute exists only if callbacks are set. A training method may call another one.
        if "_skl_callbacks" in estimator.__dict__ and estimator._task_tree is None:
            return _call_with_task_tree(estimator, method, args, kwargs)
        return method(estimator, *args, **kwargs)

    return tracked


def with_guarded_callbacks(method):
    """Decorate a training method: refuse calls of other threads before callbacks are set up.

    scikit-learn keeps the callbacks of a call as attributes of the estimator. A second call, which
    the guard of the estimator refuses later, would replace and delete those of the first call.
    """

    @wraps(method)
    def guarded(estimator, *args, **kwargs):
        if "_skl_callbacks" in estimator.__dict__ and isinstance(estimator, CallGuard):
            with ExclusiveCalls([estimator]):
                return method(estimator, *args, **kwargs)
        return method(estimator, *args, **kwargs)

    return guarded


@with_callbacks
def _call_with_task_tree(estimator, method, args, kwargs):
    arguments = signature(method).bind(estimator, *args, **kwargs).arguments
    estimator._task_tree = TaskTree(estimator, method.__name__, arguments)
    # `fit` replaces the model, which is restored if a hook raises at its end. The other methods
    # have updated the model then.
    replaces = method.__name__ == "fit"
    try:
        with unchanged_on_error(estimator) if replaces else nullcontext():
            result = method(estimator, *args, **kwargs)
            estimator._task_tree.end(estimator._attributes_so_far)
    finally:
        vars(estimator).pop("_task_tree", None)
    return result
