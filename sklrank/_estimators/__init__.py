"""Common parts of all estimators: base class, callbacks, scikit-learn's private names, texts.

`sklearn` imports the private names of scikit-learn that several modules use. `callbacks` are the
tasks that a callback follows, `texts` fills shared texts into docstrings, `smooth` minimizes
functions, `display` is the base class of the displays. The names below are what other rooms may
take.
"""

from sklrank._estimators.base import BaseEstimator, failed_weight_checks, unchanged_on_error
from sklrank._estimators.callbacks import _fit_context, print_progress, with_task_tree
from sklrank._estimators.display import Display
from sklrank._estimators.random import (
    MAX_FEATURES,
    MAX_FEATURES_OR_AUTO,
    StrOptions,
    apart_from_siblings,
    check_random_source,
    draw_features,
    draw_frequencies,
    draw_seed,
    seed_parameters,
    set_random_states,
)
from sklrank._estimators.sklearn import (
    ADAPTERS_MANAGER,
    N_JOBS,
    HasMethods,
    Interval,
    _BaseComposition,
    _check_monotonic_cst,
    _num_samples,
    _safe_indexing,
    available_if,
    has_method,
    one_blas_thread,
    parallel,
    parallel_results,
    runs_on_dask,
)
from sklrank._estimators.smooth import minimize_smooth
from sklrank._estimators.texts import of_labels, shares_text
from sklrank._estimators.weights import fit_weighted
