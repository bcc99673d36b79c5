"""The tasks of training, which callbacks of scikit-learn follow, and the lines of `verbose`.

scikit-learn 1.9 has callbacks (`sklearn.callback`, SLEP 23), which follow training as a tree of
tasks. The root is the call of `fit`, `partial_fit`, `progressive_fit` or `partial_fit_feedback`.
Its subtasks are the steps of the outermost loop in this call: passes, batches, rounds of boosting,
or fits of inner estimators. A loop reports its steps by one line, which has no effect without
callbacks, or inside of another loop: ::

    for batch in self._track(batches, "batch"):

Hooks run in the process and thread of the training method, between steps, or when the fit of an
inner estimator has returned from its worker. So an error in a hook, or Ctrl-C, has the effect of an
error in the loop, and callbacks need not be pickled. They are not propagated to inner estimators.

A hook may request `fitted_estimator`, a copy that predicts as if training had stopped after the
task. The attributes are copied only for callbacks that request it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING

from sklrank._checks import check_row_labels
from sklrank._compiled import exclusive_call
from sklrank._estimators.base import unchanged_on_error
from sklrank._estimators.sklearn import with_callbacks
from sklrank._typing import Method

if TYPE_CHECKING:
    # scikit-learn does not annotate its decorator: decorated methods would lose their types.
    def _fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]: ...

else:
    from sklearn.base import _fit_context as _scikit_learn_fit_context

    def _fit_context(*, prefer_skip_nested_validation):
        """Decorate a training method as scikit-learn does; it excludes calls of other threads.

        It also compares the row labels of the arguments, and reports its tasks to callbacks, which
        scikit-learn keeps as attributes of the estimator: other threads are excluded before.
        """
        decorate = _scikit_learn_fit_context(
            prefer_skip_nested_validation=prefer_skip_nested_validation
        )

        def excluding(method):
            locked = exclusive_call(decorate(with_task_tree(method)))
            names = tuple(signature(method).parameters)[1:]

            # The routing of metadata looks for Python functions, and `locked` is compiled.
            @wraps(method)
            def call(estimator, *args, **kwargs):
                check_row_labels(dict(zip(names, args)) | kwargs)
                return locked(estimator, *args, **kwargs)

            return call

        return excluding


# Arguments of training methods that scorers of callbacks need in addition to X and y.
METADATA = ("sample_weight", "qid")


def print_progress(name, done, figures):
    """Print a line of `verbose`: what `name` has `done`, with a dict of figures or a text."""
    if not isinstance(figures, str):
        figures = ", ".join(
            f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
    print(f"[{name}] {done}: {figures}")


class TaskTree:
    """The tasks of one call of a training method, which are reported to callbacks.

    Hooks receive the arguments of the method as the user passed them.
    """

    def __init__(self, estimator, method, arguments):
        metadata = {name: arguments[name] for name in METADATA if arguments.get(name) is not None}
        self._arguments = {
            "estimator": estimator,
            "X": arguments.get("X"),
            "y": arguments.get("y"),
            "metadata": metadata,
        }
        self._root = estimator._init_callback_context(task_name=method)
        self._root_has_begun = self._in_loop = False

    def track(self, items, name, n_items, state, may_stop):
        """Yield the items. Each is a task, unless this loop is inside of another one."""
        if self._in_loop:
            yield from items
            return
        self._begin_root(n_items)
        for item in items:
            task = self._root.subcontext(task_name=name, max_subtasks=0)
            task.call_on_fit_task_begin(**self._arguments)
            self._in_loop = True
            yield item
            self._in_loop = False
            if self._end(task, state) and may_stop:
                break

    def end(self, state):
        """Report the end of the root, after the training method has returned."""
        self._begin_root(0)
        self._end(self._root, state)

    def _begin_root(self, n_subtasks):
        if not self._root_has_begun:
            self._root_has_begun = True
            # It is known only now: the root is created before the data are checked.
            self._root.max_subtasks = n_subtasks
            self._root.call_on_fit_task_begin(**self._arguments)

    def _end(self, context, state):
        def attributes():
            values = state()
            return None if values is None else {**values, "_task_tree": None}

        return context.call_on_fit_task_end(**self._arguments, reconstruction_attributes=attributes)


def with_task_tree(method: Method) -> Method:
    """Decorate a training method: report its tasks to the callbacks of the estimator, if any."""

    @wraps(method)
    def tracked(estimator, *args, **kwargs):
        # Only if callbacks are set. A training method may call another one.
        if "_skl_callbacks" in estimator.__dict__ and estimator._task_tree is None:
            return _call_with_task_tree(estimator, method, args, kwargs)
        return method(estimator, *args, **kwargs)

    return tracked


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
